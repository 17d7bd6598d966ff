//! Poses, shapes and bodies in code. Body frame, metres, kilograms.

use glam::{DQuat, DVec3};
use sinew_math::{Pose, Shape};

use crate::doc::{BodyDoc, BodyKindDoc, ContactDoc, FrameDoc, MassDoc, PoseDoc, RotationDoc, ShapeDoc};

impl From<DQuat> for RotationDoc {
    fn from(rotation: DQuat) -> Self {
        let DQuat { x, y, z, w } = rotation;
        if rotation == DQuat::IDENTITY { Self::Identity } else { Self::Quaternion { w, x, y, z } }
    }
}

impl From<DVec3> for PoseDoc {
    /// The frame with this origin, not turned.
    fn from(position: DVec3) -> Self {
        Self { position, ..Self::default() }
    }
}

impl From<Pose> for PoseDoc {
    fn from(pose: Pose) -> Self {
        Self { position: pose.translation, rotation: pose.rotation.into() }
    }
}

impl From<Shape> for ShapeDoc {
    /// A shape centred on the body frame.
    fn from(solid: Shape) -> Self {
        Self::centred(solid)
    }
}

impl ShapeDoc {
    /// A capsule around the line between two points of the body frame (m), with caps around both.
    pub fn capsule(from: DVec3, to: DVec3, radius: f64) -> Self {
        Self::along(Shape::Capsule { radius, length: from.distance(to) }, from, to)
    }

    /// A cylinder between two points of the body frame (m).
    pub fn cylinder(from: DVec3, to: DVec3, radius: f64) -> Self {
        Self::along(Shape::Cylinder { radius, length: from.distance(to) }, from, to)
    }

    /// A shape in the middle between two points, with its axis along their line.
    fn along(solid: Shape, from: DVec3, to: DVec3) -> Self {
        let axis = (to - from).normalize_or(DVec3::X);
        let frame = FrameDoc { anchor: from.midpoint(to), axis, reference: None };
        Self { solid, at: frame.to_pose().into() }
    }

    /// The same shape with its frame elsewhere in the body frame.
    #[must_use]
    pub fn at(self, at: impl Into<PoseDoc>) -> Self {
        Self { at: at.into(), ..self }
    }
}

impl BodyDoc {
    /// A dynamic body without shapes, at the origin. Without a name, a world gives it one.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_scene::{BodyDoc, SceneDoc, Shape};
    ///
    /// let ball = BodyDoc::new("ball").at(DVec3::Z).shape(Shape::Sphere { radius: 0.1 }).mass(0.5).touching();
    /// let text = r#"(format: 1, bodies: [(name: "ball", pose: (position: (0, 0, 1)), shapes: [Sphere(radius: 0.1)],
    ///   mass: Total(0.5), contact: ())])"#;
    /// assert_eq!(SceneDoc::from_ron(text, "ball.ron")?.bodies, [ball]);
    /// # Ok::<(), sinew_scene::SceneErrors>(())
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// A body that nobody moves.
    pub fn fixed(name: impl Into<String>) -> Self {
        Self { kind: BodyKindDoc::Fixed, ..Self::new(name) }
    }

    /// A body that a track or the program moves.
    pub fn kinematic(name: impl Into<String>) -> Self {
        Self { kind: BodyKindDoc::Kinematic, ..Self::new(name) }
    }

    /// Where its body frame is at first, in the world.
    #[must_use]
    pub fn at(self, pose: impl Into<PoseDoc>) -> Self {
        Self { pose: pose.into(), ..self }
    }

    /// How it moves at first: velocity of the centre of mass (m/s), world axes.
    #[must_use]
    pub fn velocity(mut self, linear: DVec3) -> Self {
        self.velocity.linear = linear;
        self
    }

    /// How it turns at first (rad/s), world axes.
    #[must_use]
    pub fn spin(mut self, angular: DVec3) -> Self {
        self.velocity.angular = angular;
        self
    }

    /// One more shape.
    #[must_use]
    pub fn shape(mut self, shape: impl Into<ShapeDoc>) -> Self {
        self.shapes.push(shape.into());
        self
    }

    /// The mass of all its shapes together (kg).
    #[must_use]
    pub fn mass(self, total: f64) -> Self {
        Self { mass: MassDoc::Total(total), ..self }
    }

    /// The density of its shapes (kg/m³).
    #[must_use]
    pub fn density(self, density: f64) -> Self {
        Self { mass: MassDoc::Density(density), ..self }
    }

    /// Rates at which its velocities decay (1/s).
    #[must_use]
    pub fn damping(self, linear: f64, angular: f64) -> Self {
        Self { linear_damping: linear, angular_damping: angular, ..self }
    }

    /// All its shapes touch, as by default.
    #[must_use]
    pub fn touching(self) -> Self {
        self.contact(ContactDoc::default())
    }

    /// All its shapes touch, as told.
    #[must_use]
    pub fn contact(self, contact: ContactDoc) -> Self {
        Self { contact: Some(contact), ..self }
    }

    /// Its colour: red, green, blue from 0 to 1.
    #[must_use]
    pub fn color(self, color: DVec3) -> Self {
        Self { color: Some(color), ..self }
    }
}
