//! Colliders and flesh in code. Body frame, or world for colliders of the world; metres.

use glam::DVec3;

use crate::doc::{
    AttachDoc, BodyDoc, ColliderDoc, ColliderShapeDoc, ContactDoc, FleshDoc, FleshMaterialDoc, FleshMeshDoc,
    PoseDoc, SceneDoc, ShapeDoc,
};

impl ColliderDoc {
    /// A collider of the world. `Plane`, `HeightField` and meshes are given as they are, solids in world coordinates.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_scene::{BodyDoc, ColliderDoc, SceneDoc, Shape};
    ///
    /// let scene = SceneDoc::new("drop")
    ///     .with(ColliderDoc::floor(0.0).named("floor"))
    ///     .with(BodyDoc::new("ball").at(DVec3::Z).shape(Shape::Sphere { radius: 0.1 }).touching());
    /// assert_eq!(scene.colliders.len(), 1);
    /// ```
    pub fn new(shape: ColliderShapeDoc) -> Self {
        Self {
            name: String::new(),
            body: "world".to_owned(),
            shape,
            contact: ContactDoc::default(),
            sensor: false,
        }
    }

    /// The plane z = `height` (m), free above.
    pub fn floor(height: f64) -> Self {
        Self::new(ColliderShapeDoc::Plane { point: DVec3::Z * height, normal: DVec3::Z })
    }

    /// A solid in the frame of the body it is put on, or of the world.
    pub fn solid(shape: impl Into<ShapeDoc>) -> Self {
        Self::new(ColliderShapeDoc::Solid(shape.into()))
    }

    /// Puts it on a body.
    #[must_use]
    pub fn on(self, body: impl Into<String>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// What events and rules call it.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// How its surface touches.
    #[must_use]
    pub fn contact(self, contact: ContactDoc) -> Self {
        Self { contact, ..self }
    }

    /// It only feels what overlaps it.
    #[must_use]
    pub fn sensing(self) -> Self {
        Self { sensor: true, ..self }
    }
}

impl SceneDoc {
    /// The scene with one more collider for every body that touches with all its shapes, in the order of the bodies.
    #[must_use]
    pub fn with_body_colliders(mut self) -> Self {
        let of_body = |body: &BodyDoc| {
            let contact = body.contact?;
            Some(ColliderDoc::new(ColliderShapeDoc::OfBody).on(&body.name).contact(contact))
        };
        self.colliders.extend(self.bodies.iter().filter_map(of_body));
        self
    }
}

impl ContactDoc {
    /// The default surface with another coefficient of friction.
    pub fn with_friction(friction: f64) -> Self {
        Self { friction, ..Self::default() }
    }

    /// Speed after an impact over the speed before it, 0 to 1.
    #[must_use]
    pub fn restitution(self, restitution: f64) -> Self {
        Self { restitution, ..self }
    }

    /// The groups it belongs to and those it touches, one bit each.
    #[must_use]
    pub fn groups(self, groups: u32, touches: u32) -> Self {
        Self { groups, touches, ..self }
    }
}

impl FleshDoc {
    /// Flesh of a mesh, with the default material. It touches nothing until [`FleshDoc::touching`].
    pub fn new(name: impl Into<String>, mesh: FleshMeshDoc) -> Self {
        Self { name: name.into(), mesh, ..Self::default() }
    }

    /// Where its mesh is at first, in the world.
    #[must_use]
    pub fn at(self, pose: impl Into<PoseDoc>) -> Self {
        Self { pose: pose.into(), ..self }
    }

    /// Its material.
    #[must_use]
    pub fn material(self, material: FleshMaterialDoc) -> Self {
        Self { material, ..self }
    }

    /// Fixes nodes to a body.
    #[must_use]
    pub fn attach(mut self, attach: AttachDoc) -> Self {
        self.attach.push(attach);
        self
    }

    /// Its surface touches, as by default.
    #[must_use]
    pub fn touching(self) -> Self {
        self.contact(ContactDoc::default())
    }

    /// Its surface touches, as told.
    #[must_use]
    pub fn contact(self, contact: ContactDoc) -> Self {
        Self { contact: Some(contact), ..self }
    }
}
