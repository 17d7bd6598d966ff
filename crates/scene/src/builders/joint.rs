//! Joints, springs and ropes in code. World coordinates unless a method says otherwise; m, rad, N, N·m.

use std::f64::consts::PI;

use glam::DVec3;
use sinew_math::JointKind;

use crate::doc::{
    BreakLoadDoc, ConeLimitDoc, EndDoc, FrameDoc, JointDoc, JointFramesDoc, JointSpringDoc, LimitsDoc,
    LocalFramesDoc, MotorDoc, PositionMotorDoc, PriorityDoc, RopeDoc, SpringDoc, TargetDoc, VelocityMotorDoc,
};

impl JointDoc {
    /// A joint of a body to the world, at the world's origin along x. Without a name, a world gives it one.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_scene::{JointDoc, JointKind};
    ///
    /// let knee = JointDoc::new(JointKind::Hinge, "knee", "shin").parent("thigh").at(DVec3::Z * 0.5).axis(DVec3::Y);
    /// assert_eq!((knee.child.as_str(), knee.parent.as_deref()), ("shin", Some("thigh")));
    /// ```
    pub fn new(kind: JointKind, name: impl Into<String>, child: impl Into<String>) -> Self {
        Self { name: name.into(), kind, child: child.into(), ..Self::default() }
    }

    /// The body that it holds its child to, instead of the world.
    #[must_use]
    pub fn parent(self, parent: impl Into<String>) -> Self {
        Self { parent: Some(parent.into()), ..self }
    }

    /// Where it is: a point of the world, its bodies being where they are when the joint is made.
    #[must_use]
    pub fn at(mut self, anchor: DVec3) -> Self {
        self.world_frame().anchor = anchor;
        self
    }

    /// Its main axis in world axes, its bodies being where they are when the joint is made.
    #[must_use]
    pub fn axis(mut self, axis: DVec3) -> Self {
        self.world_frame().axis = axis;
        self
    }

    /// One frame per body, each in the coordinates of its body frame, instead of one in the world.
    #[must_use]
    pub fn local(self, child: FrameDoc, parent: FrameDoc) -> Self {
        Self { frames: JointFramesDoc::Local(LocalFramesDoc { child, parent }), ..self }
    }

    fn world_frame(&mut self) -> &mut FrameDoc {
        if let JointFramesDoc::Local(_) = self.frames {
            self.frames = JointFramesDoc::default();
        }
        match &mut self.frames {
            JointFramesDoc::World(frame) => frame,
            JointFramesDoc::Local(frames) => &mut frames.child,
        }
    }

    /// The range of its twist or slide (rad or m).
    #[must_use]
    pub fn limits(self, min: f64, max: f64) -> Self {
        let before = self.limits.unwrap_or_default();
        Self { limits: Some(LimitsDoc { min, max, ..before }), ..self }
    }

    /// The largest tilt of its main axis (rad).
    #[must_use]
    pub fn cone_limit(self, angle: f64) -> Self {
        let before = self.cone_limit.unwrap_or_default();
        Self { cone_limit: Some(ConeLimitDoc { angle: angle.min(PI), ..before }), ..self }
    }

    /// A spring towards where its frames coincide (N·m/rad or N/m), and its damping.
    #[must_use]
    pub fn spring(self, stiffness: f64, damping: f64) -> Self {
        let before = self.spring.unwrap_or_default();
        Self { spring: Some(JointSpringDoc { stiffness, damping, ..before }), ..self }
    }

    /// Viscous damping (N·m·s/rad or N·s/m).
    #[must_use]
    pub fn damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    /// A motor.
    #[must_use]
    pub fn motor(self, motor: MotorDoc) -> Self {
        Self { motor: Some(motor), ..self }
    }

    /// It breaks if it has to transmit more than this force (N).
    #[must_use]
    pub fn breaks_at_force(self, force: f64) -> Self {
        let before = self.breaks_at.unwrap_or_default();
        Self { breaks_at: Some(BreakLoadDoc { force: Some(force), ..before }), ..self }
    }

    /// It breaks if it has to transmit more than this torque (N·m).
    #[must_use]
    pub fn breaks_at_torque(self, torque: f64) -> Self {
        let before = self.breaks_at.unwrap_or_default();
        Self { breaks_at: Some(BreakLoadDoc { torque: Some(torque), ..before }), ..self }
    }

    /// It closes a loop, and may open where joints contradict each other.
    #[must_use]
    pub fn secondary(self) -> Self {
        Self { priority: PriorityDoc::Secondary, ..self }
    }
}

impl MotorDoc {
    /// A motor that pulls towards a position (rad or m) with these gains.
    pub fn position(target: f64, stiffness: f64, damping: f64) -> Self {
        Self::Position(PositionMotorDoc {
            target: TargetDoc::Value(target),
            stiffness,
            damping,
            ..PositionMotorDoc::default()
        })
    }

    /// A motor that pulls towards a velocity (rad/s or m/s) with this gain.
    pub fn velocity(target: f64, damping: f64) -> Self {
        let target = TargetDoc::Value(target);
        Self::Velocity(VelocityMotorDoc { target, damping, ..VelocityMotorDoc::default() })
    }

    /// Its largest force (N·m or N).
    #[must_use]
    pub fn max_force(mut self, force: f64) -> Self {
        match &mut self {
            Self::Position(motor) => motor.max_force = Some(force),
            Self::Velocity(motor) => motor.max_force = Some(force),
        }
        self
    }

    /// It also holds what hangs on the joint against gravity, within its largest force.
    #[must_use]
    pub fn with_gravity_compensation(mut self) -> Self {
        match &mut self {
            Self::Position(motor) => motor.gravity_compensation = true,
            Self::Velocity(motor) => motor.gravity_compensation = true,
        }
        self
    }
}

impl EndDoc {
    /// A point of a body, in its body frame (m).
    pub fn on(body: impl Into<String>, point: DVec3) -> Self {
        Self::Body { name: body.into(), point }
    }

    /// The name of the body; none for the world.
    pub fn body(&self) -> Option<&str> {
        match self {
            Self::World(_) => None,
            Self::Body { name, .. } => Some(name),
        }
    }

    /// The same, to be changed.
    pub(crate) fn body_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::World(_) => None,
            Self::Body { name, .. } => Some(name),
        }
    }

    /// The point, in the frame of its body or in the world (m).
    pub fn point(&self) -> DVec3 {
        let (Self::World(point) | Self::Body { point, .. }) = self;
        *point
    }
}

impl From<DVec3> for EndDoc {
    /// A point of the world (m).
    fn from(point: DVec3) -> Self {
        Self::World(point)
    }
}

impl SpringDoc {
    /// A spring of rest length 0 between two points (N/m).
    pub fn new(
        name: impl Into<String>,
        from: impl Into<EndDoc>,
        to: impl Into<EndDoc>,
        stiffness: f64,
    ) -> Self {
        Self { name: name.into(), from: from.into(), to: to.into(), stiffness, ..Self::default() }
    }

    /// Its damping along the line (N·s/m).
    #[must_use]
    pub fn damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    /// Its length without force (m).
    #[must_use]
    pub fn rest_length(self, rest_length: f64) -> Self {
        Self { rest_length, ..self }
    }
}

impl RopeDoc {
    /// A rope through these points, as long as its path is at first.
    pub fn new(name: impl Into<String>, path: impl IntoIterator<Item = EndDoc>) -> Self {
        Self { name: name.into(), path: path.into_iter().collect(), ..Self::default() }
    }

    /// Its length (m).
    #[must_use]
    pub fn length(self, length: f64) -> Self {
        Self { length: Some(TargetDoc::Value(length)), ..self }
    }

    /// A track that gives its length: a winch.
    #[must_use]
    pub fn wound_by(self, track: impl Into<String>) -> Self {
        Self { length: Some(TargetDoc::Track(track.into())), ..self }
    }
}
