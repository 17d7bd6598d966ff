//! Colliders and how surfaces touch. World, or body frame for colliders on bodies; m.

use pyo3::prelude::*;
use sinew_scene::{ColliderDoc, ColliderShapeDoc, ContactDoc};

use super::body::PyShape;
use super::document_class;
use crate::vectors::Vec3;

document_class! {
    /// How a surface touches: friction (0.5 without a word), restitution, groups.
    ///
    /// >>> from sinew import ContactDoc
    /// >>> ice = ContactDoc(friction=0.02).restitution(0.5)
    PyContactDoc(ContactDoc) as "ContactDoc"
}

#[pymethods]
impl PyContactDoc {
    #[new]
    #[pyo3(signature = (friction=0.5))]
    fn new(friction: f64) -> Self {
        Self(ContactDoc::with_friction(friction))
    }

    /// Speed after an impact over the speed before it, 0 to 1.
    fn restitution(&self, restitution: f64) -> Self {
        Self(self.0.restitution(restitution))
    }

    /// The groups it belongs to and those it touches, one bit each.
    fn groups(&self, groups: u32, touches: u32) -> Self {
        Self(self.0.groups(groups, touches))
    }
}

document_class! {
    /// Something to touch: ``ColliderDoc.floor``, ``ColliderDoc.plane`` or ``ColliderDoc.solid``, of the world or on a body. Shapes of bodies need none:
    /// ``BodyDoc.touching`` is enough.
    ///
    /// >>> from sinew import ColliderDoc, Shape
    /// >>> step = ColliderDoc.solid(Shape.box([1, 1, 0.2])).named("step")
    PyColliderDoc(ColliderDoc) as "ColliderDoc"
}

#[pymethods]
impl PyColliderDoc {
    /// The plane z = ``height`` (m), free above.
    #[staticmethod]
    #[pyo3(signature = (height=0.0))]
    fn floor(height: f64) -> Self {
        Self(ColliderDoc::floor(height))
    }

    /// A plane through a point (m), free on the side of its normal.
    #[staticmethod]
    fn plane(point: Vec3, normal: Vec3) -> Self {
        Self(ColliderDoc::new(ColliderShapeDoc::Plane { point: point.0, normal: normal.0 }))
    }

    /// A solid in the frame of the body it is put on, or of the world.
    #[staticmethod]
    fn solid(shape: &PyShape) -> Self {
        Self(ColliderDoc::solid(shape.0))
    }

    /// Puts it on a body.
    fn on(&self, body: String) -> Self {
        Self(self.0.clone().on(body))
    }

    /// What events and rules call it.
    fn named(&self, name: String) -> Self {
        Self(self.0.clone().named(name))
    }

    /// How its surface touches.
    fn contact(&self, contact: &PyContactDoc) -> Self {
        Self(self.0.clone().contact(contact.0))
    }

    /// It only feels what overlaps it.
    fn sensing(&self) -> Self {
        Self(self.0.clone().sensing())
    }
}
