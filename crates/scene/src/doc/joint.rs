//! Joints: kind, frames, and the forces along their coordinates. Plain data; m, rad, N, N·m.

use std::f64::consts::PI;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_math::JointKind;

document! {
    /// One joint, holding `child` relative to `parent`.
    ///
    /// Forces act on the coordinate of the joint, which is zero where its two frames coincide:
    ///
    /// | Kind | coordinate | forces |
    /// |---|---|---|
    /// | hinge, screw, planar, cylindrical | angle about the main axis | all but `cone_limit` |
    /// | prismatic, point on line, cylindrical with `coordinate: Slide` | slide along that axis | all but `cone_limit` |
    /// | ball, universal, free | the relative rotation | `spring`, `damping`, `cone_limit`, `armature`, `friction` |
    /// | ball, universal, free | its twist: the turn about the main axis that is left once the lean is taken away | `limits`, `motor` |
    /// | every other kind | none | none |
    ///
    /// A universal joint turns about x of the child's frame (the main axis, `axis`) and about y of the parent's (the `reference`).
    pub struct JointDoc {
        /// Unique among joints.
        pub name: String,
        /// Which motions it allows.
        pub kind: JointKind = JointKind::Hinge,
        /// Instead of a kind: the coordinates that are free. Those left out are locked. Forces are then given per coordinate.
        [omit] pub free: Option<FreeDoc>,
        /// Name of the first body.
        pub child: String,
        /// Name of the second body; the world if left out.
        [omit] pub parent: Option<String>,
        /// Where it sits on both bodies.
        [omit] pub frames: JointFramesDoc,
        /// Whether it belongs to the tree or closes a loop.
        [omit] pub priority: PriorityDoc,
        /// When it begins to hold (s); before, its bodies move as if it were not there. At that moment it closes
        /// whatever gap its frames have. Only for secondary joints that are rigid and have no forces; so is `to_s`.
        [omit] pub from_s: f64,
        /// When it lets go (s); never if left out.
        [omit] pub to_s: Option<f64>,
        /// How much an error of this joint counts when the loops it is part of cannot all be closed: loop joints of
        /// larger weight open less. Without meaning in the tree, which never opens.
        #[serde(skip_serializing_if = "is_one")]
        pub weight: f64 = 1.0,
        /// Which coordinate the forces act on, where the kind leaves a choice.
        [omit] pub coordinate: Option<CoordinateDoc>,
        /// Spring towards a rest position.
        [omit] pub spring: Option<JointSpringDoc>,
        /// Viscous damping (N·m·s/rad or N·s/m), in addition to that of the spring.
        [omit] pub damping: f64,
        /// Range of the twist or slide.
        [omit] pub limits: Option<LimitsDoc>,
        /// Largest tilt of the main axis.
        [omit] pub cone_limit: Option<ConeLimitDoc>,
        /// Motor.
        [omit] pub motor: Option<MotorDoc>,
        /// Inertia of the rotor, added along the coordinate (kg·m² or kg).
        [omit] pub armature: f64,
        /// Dry friction: largest force that opposes motion (N·m or N).
        [omit] pub friction: f64,
        /// Name of a scalar track that prescribes the coordinate exactly (scalar coordinates only).
        [omit] pub drive: Option<String>,
        /// Compliance of the locked directions (m/N, rad/(N·m)); 0 is rigid.
        [omit] pub compliance: f64,
        /// The load that breaks it; it never breaks if left out.
        [omit] pub breaks_at: Option<BreakLoadDoc>,
    }
}

document! {
    /// The load that breaks a joint: it breaks at the end of a step in which what it does to its bodies, the forces inside it included, exceeds
    /// one of both.
    #[derive(Copy)]
    pub struct BreakLoadDoc {
        /// Length of the force (N); no force breaks it if left out.
        [omit] pub force: Option<f64>,
        /// Length of the torque about the joint's origin on the child (N·m); no torque breaks it if left out.
        [omit] pub torque: Option<f64>,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
#[expect(clippy::float_cmp, reason = "exactly one is what is left out")]
fn is_one(value: &f64) -> bool {
    *value == 1.0
}

/// Where a joint sits on both bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JointFramesDoc {
    /// One frame in world coordinates, shared by both bodies at their initial poses.
    World(FrameDoc),
    /// One frame per body.
    Local(LocalFramesDoc),
}

impl Default for JointFramesDoc {
    fn default() -> Self {
        Self::World(FrameDoc::default())
    }
}

document! {
    /// One joint frame per body, each in the coordinates of its body frame (of the world for the world).
    pub struct LocalFramesDoc {
        /// Frame on the child.
        pub child: FrameDoc,
        /// Frame on the parent.
        pub parent: FrameDoc,
    }
}

document! {
    /// A joint frame: a point, the main axis x, and a direction that fixes y.
    #[derive(Copy)]
    pub struct FrameDoc {
        /// Origin (m).
        pub anchor: DVec3,
        /// Main axis, any non-zero length.
        pub axis: DVec3 = DVec3::X,
        /// Direction whose part across the main axis becomes y; if left out, the coordinate axis that
        /// follows, in the cycle x y z, the one nearest to the main axis.
        [omit] pub reference: Option<DVec3>,
    }
}

/// Whether a joint belongs to the spanning tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PriorityDoc {
    /// In the tree if it closes no loop, in the order of the scene.
    #[default]
    Auto,
    /// Must be in the tree: never opens.
    Primary,
    /// Always in the loop set: may open where joints contradict each other or iterations run out.
    Secondary,
}

/// A scalar coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoordinateDoc {
    /// Angle about the main axis (rad).
    Angle,
    /// Slide along the main axis (m).
    Slide,
}

document! {
    /// Spring along the coordinate of a joint.
    #[derive(Copy)]
    pub struct JointSpringDoc {
        /// Stiffness (N·m/rad or N/m).
        pub stiffness: f64,
        /// Damping (N·m·s/rad or N·s/m).
        [omit] pub damping: f64,
        /// Where it is relaxed: angle (rad) or slide (m).
        [omit] pub rest: f64,
        /// Where it is relaxed, if the coordinate is a rotation: rotation vector in the joint frame of the parent (rad). The
        /// rotation of the joint is then read from there.
        [omit] pub rest_rotation: DVec3,
    }
}

document! {
    /// Range of the twist or slide, kept by a one-sided spring.
    #[derive(Copy)]
    pub struct LimitsDoc {
        /// Smallest value (rad or m).
        pub min: f64 = -PI,
        /// Largest value (rad or m).
        pub max: f64 = PI,
        /// Stiffness outside the range (N·m/rad or N/m).
        pub stiffness: f64 = 1e3,
        /// Damping outside the range (N·m·s/rad or N·s/m).
        pub damping: f64 = 1.0,
        /// Width over which the stiffness sets in (rad or m); 0 is a sharp edge.
        pub ramp: f64 = 0.02,
    }
}

document! {
    /// Largest tilt between the main axes of the two frames, kept by a one-sided spring.
    #[derive(Copy)]
    pub struct ConeLimitDoc {
        /// Largest angle (rad), above 0 and at most π.
        pub angle: f64 = PI,
        /// Stiffness beyond it (N·m/rad).
        pub stiffness: f64 = 1e3,
        /// Damping beyond it (N·m·s/rad).
        pub damping: f64 = 1.0,
        /// Width over which the stiffness sets in (rad); 0 is a sharp edge.
        pub ramp: f64 = 0.02,
    }
}

document! {
    /// The free coordinates of a joint, of the child's frame in the parent's: three slides along the axes of the parent's
    /// frame (m) and three turns (rad). A turn about an axis is what is left of the rotation once the lean of that axis is taken away,
    /// `2 atan2(q_m, q_w)` with the quaternion `q` of the rotation. With two turns the first of them, in the order x, y, z, is about the
    /// child's axis and the other one about the parent's: a universal joint.
    ///
    /// | Singular pose | what happens |
    /// |---|---|
    /// | half a turn | forces on turns fade out |
    /// | two turns, a quarter turn of the child's axis towards the parent's | the joint counts as regularized |
    ///
    /// A force that a joint kind cannot have itself is a joint of its own, called `name.x` to `name.rz`.
    pub struct FreeDoc {
        /// Slide along the main axis of the parent's frame (m).
        [omit] pub x: Option<CoordinateForcesDoc>,
        /// Slide along its second axis (m).
        [omit] pub y: Option<CoordinateForcesDoc>,
        /// Slide along its third axis (m).
        [omit] pub z: Option<CoordinateForcesDoc>,
        /// Turn about the main axis (rad).
        [omit] pub rx: Option<CoordinateForcesDoc>,
        /// Turn about the second axis (rad).
        [omit] pub ry: Option<CoordinateForcesDoc>,
        /// Turn about the third axis (rad).
        [omit] pub rz: Option<CoordinateForcesDoc>,
    }
}

document! {
    /// Forces along a free coordinate; as the fields of a joint of the same names.
    pub struct CoordinateForcesDoc {
        /// Spring towards a rest position.
        [omit] pub spring: Option<JointSpringDoc>,
        /// Viscous damping (N·m·s/rad or N·s/m), in addition to that of the spring.
        [omit] pub damping: f64,
        /// Range.
        [omit] pub limits: Option<LimitsDoc>,
        /// Motor.
        [omit] pub motor: Option<MotorDoc>,
        /// Inertia of the rotor (kg·m² or kg).
        [omit] pub armature: f64,
        /// Dry friction: largest force that opposes motion (N·m or N).
        [omit] pub friction: f64,
    }
}

impl FreeDoc {
    /// Forces per coordinate, with the name of the field; `None` where it is locked.
    pub fn coordinates(&self) -> [(&'static str, Option<&CoordinateForcesDoc>); 6] {
        let Self { x, y, z, rx, ry, rz } = self;
        [("x", x), ("y", y), ("z", z), ("rx", rx), ("ry", ry), ("rz", rz)]
            .map(|(name, forces)| (name, forces.as_ref()))
    }
}

impl CoordinateForcesDoc {
    /// A joint with these forces alone.
    pub fn to_joint(&self) -> JointDoc {
        let Self { spring, damping, limits, motor, armature, friction } = self.clone();
        JointDoc { spring, damping, limits, motor, armature, friction, ..JointDoc::default() }
    }
}

/// A motor along the angle or slide of a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MotorDoc {
    /// Pulls towards a position.
    Position(PositionMotorDoc),
    /// Pulls towards a velocity.
    Velocity(VelocityMotorDoc),
}

document! {
    /// Proportional-derivative motor: force `stiffness · (target − q) + damping · (d target/dt − q̇)`.
    pub struct PositionMotorDoc {
        /// Where to go (rad or m).
        pub target: TargetDoc,
        /// Proportional gain (N·m/rad or N/m).
        pub stiffness: f64,
        /// Derivative gain (N·m·s/rad or N·s/m).
        pub damping: f64,
        /// Largest force (N·m or N); unlimited if left out.
        [omit] pub max_force: Option<f64>,
        /// Whether it also holds what hangs on the joint against gravity.
        [omit] pub gravity_compensation: bool,
    }
}

document! {
    /// Velocity motor: force `damping · (target − q̇)`.
    pub struct VelocityMotorDoc {
        /// How fast to go (rad/s or m/s).
        pub target: TargetDoc,
        /// Gain (N·m·s/rad or N·s/m).
        pub damping: f64,
        /// Largest force (N·m or N); unlimited if left out.
        [omit] pub max_force: Option<f64>,
        /// Whether it also holds what hangs on the joint against gravity.
        [omit] pub gravity_compensation: bool,
    }
}

/// The goal of a motor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TargetDoc {
    /// Always the same.
    Value(f64),
    /// Name of a scalar track.
    Track(String),
}

impl Default for TargetDoc {
    fn default() -> Self {
        Self::Value(0.0)
    }
}
