//! Bodies, joints and springs as the user describes them. `builder` turns them into records.
//!
//! Points and frames are in body frames here, because those are what a user knows; a model stores them in central frames.

use std::sync::Arc;

use glam::DVec3;
use sinew_math::{DriveCoordinate, Force, JointKind, MassProperties, Motion, Pose};
use sinew_topology::Priority;

use crate::{BodyId, JointFrames, RotationForce, ScalarForce};

/// Who moves a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BodyKind {
    /// Forces move it.
    #[default]
    Dynamic,
    /// It never moves.
    Fixed,
    /// The input of each step moves it; nothing pushes it back (a tracker: null inverse mass).
    Kinematic,
}

/// A body before it joins a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BodySpec {
    /// Unique name; empty means unnamed.
    pub name: Arc<str>,
    /// Who moves it.
    pub kind: BodyKind,
    /// Pose of the body frame, `world_from_body`. The centre of mass may lie elsewhere, see [`Self::mass`].
    pub pose: Pose,
    /// Twist of the body at its centre of mass, world axes (rad/s, m/s).
    pub motion: Motion,
    /// Mass, centre of mass, and inertia about it, in the body frame. Ignored unless the body is dynamic: the central frame of other bodies
    /// is their body frame.
    pub mass: MassProperties,
    /// Linear drag rate, 1/s: force `−m d v`.
    pub linear_damping: f64,
    /// Angular drag rate, 1/s: torque `−I d ω`.
    pub angular_damping: f64,
}

impl BodySpec {
    /// A dynamic body at rest, its body frame at a pose of the world.
    pub fn dynamic(name: impl Into<Arc<str>>, pose: Pose, mass: MassProperties) -> Self {
        Self {
            name: name.into(),
            kind: BodyKind::Dynamic,
            pose,
            motion: Motion::ZERO,
            mass,
            linear_damping: 0.0,
            angular_damping: 0.0,
        }
    }

    /// A body that never moves, its body frame at a pose of the world.
    pub fn fixed(name: impl Into<Arc<str>>, pose: Pose) -> Self {
        Self { kind: BodyKind::Fixed, ..Self::dynamic(name, pose, MassProperties::default()) }
    }

    /// A body that the input moves, its body frame at first at a pose of the world.
    pub fn kinematic(name: impl Into<Arc<str>>, pose: Pose) -> Self {
        Self { kind: BodyKind::Kinematic, ..Self::dynamic(name, pose, MassProperties::default()) }
    }

    /// The same body with an initial twist (at the centre of mass, world axes).
    pub fn with_motion(self, motion: Motion) -> Self {
        Self { motion, ..self }
    }

    /// The same body with drag rates (1/s).
    pub fn with_damping(self, angular: f64, linear: f64) -> Self {
        Self { angular_damping: angular, linear_damping: linear, ..self }
    }
}

/// A joint before it joins a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JointSpec {
    /// Unique name; empty means unnamed.
    pub name: Arc<str>,
    /// Which directions it removes.
    pub kind: JointKind,
    /// Body 1.
    pub child: BodyId,
    /// Body 2, or the world.
    pub parent: Option<BodyId>,
    /// Frames on the two bodies, points from the **body frame** origins, body axes.
    pub frames: JointFrames,
    /// Whether it must, may or must not be in the tree.
    pub priority: Priority,
    /// Forces along the twist about `i` (hinge, cylindrical, planar, screw).
    pub twist: Option<ScalarForce>,
    /// Forces along the slide on `i` (prismatic, cylindrical, point on line).
    pub slide: Option<ScalarForce>,
    /// Forces on the whole relative rotation (ball, universal, free and other joints that turn freely).
    pub rotation: Option<RotationForce>,
    /// Coordinates that the input prescribes in every step (`c(t)`, Fau98 eq. 7–9).
    pub driven: Vec<DriveCoordinate>,
    /// Whether the input may give it laws ([`crate::Input::servos`]); it must then be in the tree.
    pub is_actuated: bool,
    /// Compliance of the rows, m/N and rad/(N·m): 0 is rigid.
    pub compliance: f64,
    /// Importance among the joints outside the tree, above 0: where a budget ends the refinement of loops, or loops
    /// contradict each other, heavier joints open less.
    pub weight: f64,
    /// What it takes to break the joint; none never breaks. A joint that may break is outside the tree, and only implicit steps take it.
    pub breaks_at: Option<BreakLoad>,
}

/// The load that breaks a joint: what it does to its bodies in a step, the forces inside it included, exceeds one of the two. A broken joint does
/// nothing any more ([`crate::State::broken`]).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BreakLoad {
    /// Length of the force, N; above 0, infinite if no force breaks it.
    pub force: f64,
    /// Length of the torque about the anchor on body 1, N·m; above 0, infinite if no torque breaks it.
    pub torque: f64,
}

impl BreakLoad {
    /// Whether a wrench at the anchor exceeds it.
    pub(crate) fn is_exceeded_by(&self, wrench: Force) -> bool {
        wrench.linear.length() > self.force || wrench.angular.length() > self.torque
    }
}

impl JointSpec {
    /// A joint without forces; frames in body frames.
    pub fn new(
        name: impl Into<Arc<str>>,
        kind: JointKind,
        child: BodyId,
        parent: Option<BodyId>,
        frames: JointFrames,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            child,
            parent,
            frames,
            priority: Priority::Auto,
            twist: None,
            slide: None,
            rotation: None,
            driven: Vec::new(),
            is_actuated: false,
            compliance: 0.0,
            weight: 1.0,
            breaks_at: None,
        }
    }

    /// With forces along the twist.
    pub fn with_twist(self, force: ScalarForce) -> Self {
        Self { twist: Some(force), ..self }
    }

    /// With forces along the slide.
    pub fn with_slide(self, force: ScalarForce) -> Self {
        Self { slide: Some(force), ..self }
    }

    /// With forces on the rotation.
    pub fn with_rotation(self, force: RotationForce) -> Self {
        Self { rotation: Some(force), ..self }
    }

    /// With another place in the constraint hierarchy.
    pub fn with_priority(self, priority: Priority) -> Self {
        Self { priority, ..self }
    }

    /// With soft rows.
    pub fn with_compliance(self, compliance: f64) -> Self {
        Self { compliance, ..self }
    }

    /// With another importance among the joints outside the tree.
    pub fn with_weight(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The same joint, which breaks under a load (N, N·m).
    pub fn breaking_at(self, force: f64, torque: f64) -> Self {
        Self { breaks_at: Some(BreakLoad { force, torque }), ..self }
    }

    /// Its place in the graph: one that may break is no part of the tree, which stays as it is.
    pub(crate) fn graph_priority(&self) -> Priority {
        if self.breaks_at.is_some() { Priority::Secondary } else { self.priority }
    }

    /// The same joint, able to take laws from the input.
    pub fn actuated(self) -> Self {
        Self { is_actuated: true, ..self }
    }

    /// With a prescribed coordinate.
    pub fn driven_by(mut self, coordinate: DriveCoordinate) -> Self {
        self.driven.push(coordinate);
        self
    }
}

/// A spring with rest length between points of two bodies, or of a body and the world. Across a tree joint, or to
/// something immovable, it is part of the exact tree solution; elsewhere it is refined with the loops.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PointSpringSpec {
    /// First body.
    pub body1: BodyId,
    /// Point from its body frame origin, body axes, m.
    pub point1: DVec3,
    /// Second body, or the world.
    pub body2: Option<BodyId>,
    /// Point from its body frame origin, body axes, or of the world, m.
    pub point2: DVec3,
    /// Length without force, m.
    pub rest_length: f64,
    /// N/m.
    pub stiffness: f64,
    /// N·s/m along the spring.
    pub damping: f64,
}

impl PointSpringSpec {
    /// A spring of zero rest length between points of two bodies, in their body frames, or of a body and of the world.
    pub fn new(
        body1: BodyId,
        point1: DVec3,
        body2: Option<BodyId>,
        point2: DVec3,
        stiffness: f64,
        damping: f64,
    ) -> Self {
        Self { body1, point1, body2, point2, rest_length: 0.0, stiffness, damping }
    }

    /// With a rest length, m.
    pub fn with_rest_length(self, rest_length: f64) -> Self {
        Self { rest_length, ..self }
    }
}
