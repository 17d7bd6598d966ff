//! Bodies and their shapes. Body frame, m, kg.

use glam::DVec3;
use pyo3::prelude::*;
use sinew_math::Shape;
use sinew_scene::{BodyDoc, ShapeDoc};

use super::contact::PyContactDoc;
use super::document_class;
use crate::vectors::{Rotation, Vec3, posed};

document_class! {
    /// A shape of a body: ``Shape.box``, ``Shape.sphere``, ``Shape.capsule``, ``Shape.cylinder`` or ``Shape.ellipsoid``, where ``at`` puts it. Shapes
    /// with an axis lie along x.
    ///
    /// >>> from sinew import Shape
    /// >>> bar = Shape.box([1, 0.1, 0.1]).at([0.5, 0, 0])
    /// >>> leg = Shape.capsule_between([0, 0, 0], [0, 0, -0.4], radius=0.05)
    PyShape(ShapeDoc) as "Shape"
}

#[pymethods]
impl PyShape {
    /// A box with these edges, m.
    #[staticmethod]
    #[pyo3(name = "box")]
    fn cuboid(size: Vec3) -> Self {
        Self(Shape::Box { size: size.0 }.into())
    }

    /// A ball, m.
    #[staticmethod]
    fn sphere(radius: f64) -> Self {
        Self(Shape::Sphere { radius }.into())
    }

    /// A cylinder along x with half balls at its ends; ``length`` does not count them, m.
    #[staticmethod]
    fn capsule(radius: f64, length: f64) -> Self {
        Self(Shape::Capsule { radius, length }.into())
    }

    /// A cylinder along x, m.
    #[staticmethod]
    fn cylinder(radius: f64, length: f64) -> Self {
        Self(Shape::Cylinder { radius, length }.into())
    }

    /// An ellipsoid with these half lengths along x, y and z, m.
    #[staticmethod]
    fn ellipsoid(semi_axes: Vec3) -> Self {
        Self(Shape::Ellipsoid { semi_axes: semi_axes.0 }.into())
    }

    /// A capsule around the line between two points of the body frame, m.
    #[staticmethod]
    fn capsule_between(start: Vec3, end: Vec3, radius: f64) -> Self {
        Self(ShapeDoc::capsule(start.0, end.0, radius))
    }

    /// A cylinder between two points of the body frame, m.
    #[staticmethod]
    fn cylinder_between(start: Vec3, end: Vec3, radius: f64) -> Self {
        Self(ShapeDoc::cylinder(start.0, end.0, radius))
    }

    /// The same shape elsewhere in the body frame: position (m), and quaternion x y z w.
    #[pyo3(signature = (position, rotation=None))]
    fn at(&self, position: Vec3, rotation: Option<Rotation>) -> Self {
        Self(self.0.at(posed(position, rotation)))
    }
}

document_class! {
    /// A body. ``BodyDoc(name)`` moves freely, ``BodyDoc.fixed`` never, ``BodyDoc.kinematic`` as ``world.input.kinematic`` or a track says.
    ///
    /// >>> from sinew import BodyDoc, Shape
    /// >>> ball = BodyDoc("ball").at([0, 0, 1]).shape(Shape.sphere(0.1)).mass(0.5).touching()
    PyBodyDoc(BodyDoc) as "BodyDoc"
}

#[pymethods]
impl PyBodyDoc {
    #[new]
    #[pyo3(signature = (name=String::new()))]
    fn new(name: String) -> Self {
        Self(BodyDoc::new(name))
    }

    /// A body that nobody moves.
    #[staticmethod]
    fn fixed(name: String) -> Self {
        Self(BodyDoc::fixed(name))
    }

    /// A body that a track or the program moves.
    #[staticmethod]
    fn kinematic(name: String) -> Self {
        Self(BodyDoc::kinematic(name))
    }

    /// Where its body frame is at first, in the world: position (m), and quaternion x y z w.
    #[pyo3(signature = (position, rotation=None))]
    fn at(&self, position: Vec3, rotation: Option<Rotation>) -> Self {
        Self(self.0.clone().at(posed(position, rotation)))
    }

    /// How it moves at first: velocity of its centre of mass, m/s, world axes.
    fn velocity(&self, linear: Vec3) -> Self {
        Self(self.0.clone().velocity(linear.0))
    }

    /// How it turns at first, rad/s, world axes.
    fn spin(&self, angular: Vec3) -> Self {
        Self(self.0.clone().spin(angular.0))
    }

    /// One more shape.
    fn shape(&self, shape: &PyShape) -> Self {
        Self(self.0.clone().shape(shape.0))
    }

    /// The mass of all its shapes together, kg.
    fn mass(&self, total: f64) -> Self {
        Self(self.0.clone().mass(total))
    }

    /// The density of its shapes, kg/m³; 1000 without a word.
    fn density(&self, density: f64) -> Self {
        Self(self.0.clone().density(density))
    }

    /// Rates at which its velocities decay, 1/s.
    fn damping(&self, linear: f64, angular: f64) -> Self {
        Self(self.0.clone().damping(linear, angular))
    }

    /// All its shapes touch, as by default.
    fn touching(&self) -> Self {
        Self(self.0.clone().touching())
    }

    /// All its shapes touch, as told.
    fn contact(&self, contact: &PyContactDoc) -> Self {
        Self(self.0.clone().contact(contact.0))
    }

    /// Its colour: red, green and blue from 0 to 1.
    fn color(&self, color: Vec3) -> Self {
        Self(self.0.clone().color(DVec3::clamp(color.0, DVec3::ZERO, DVec3::ONE)))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }
}
