//! Goals on bones: positions, orientations, velocities, and the accelerations that lead to them.
//!
//! A goal becomes one row (a component) or three (a vector) with the wanted acceleration of KP08 §3.1, relative to its target and over a step
//! of length `h`. With `e` the displacement to the target, `w` the mean velocity in the step before, and `w_d`, `w_d⁺` those of the target in
//! the step before and in this one:
//!
//! ```text
//! position, orientation    a = (w_d⁺ − w_d)/h + (k_p (e + h ė) + k_d ė)/(1 + h k_d + h² k_p),     ė = w_d − w
//! velocity, spin           a = k_d (v_d − w)/(1 + h k_d)
//! acceleration, spin rate  a as given
//! ```
//!
//! The second term is the spring and the damper at the end of the step, so any gains are stable at any step. A bone on its target stays there.
//! On paths whose velocity jumps, the first term is left out.
//!
//! World axes, SI units; `e = x_d − x` for a point, `log(R_d Rᵀ)` for an orientation, which is within π: at half a turn the direction of
//! rotation is arbitrary. Displacements longer than the reach of the gains are cut to that length. Constant cost; nothing fails.

use glam::{DQuat, DVec3};
use sinew_math::{Motion, Pose, log_so3};
use sinew_recursive::{Dynamics, LinkId, Tree};

use crate::path::{PointPath, TurnPath};
use crate::{error::ControlError, levels};

/// Gains of a wanted acceleration.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Gains {
    /// `k_p`: acceleration per displacement, 1/s².
    pub stiffness: f64,
    /// `k_d`: acceleration per velocity, 1/s.
    pub damping: f64,
    /// Largest displacement that counts (m, rad): targets farther away pull no harder. Infinite by default.
    #[cfg_attr(feature = "serde", serde(default = "unlimited", skip_serializing_if = "is_unlimited"))]
    pub reach: f64,
}

#[cfg(feature = "serde")]
fn unlimited() -> f64 {
    f64::INFINITY
}

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that the derive calls")]
fn is_unlimited(reach: &f64) -> bool {
    reach.is_infinite()
}

impl Gains {
    pub(crate) const RANGE: &str = "finite and not negative, with a positive reach";

    /// Critical damping: displacements die out as `e^{−frequency·t}`; `frequency` in rad/s.
    pub const fn critical(frequency: f64) -> Self {
        Self { stiffness: frequency * frequency, damping: 2.0 * frequency, reach: f64::INFINITY }
    }

    /// Damping alone, at this rate (1/s).
    pub const fn damper(damping: f64) -> Self {
        Self { stiffness: 0.0, damping, reach: f64::INFINITY }
    }

    /// These gains with a largest displacement that counts (m, rad).
    #[must_use]
    pub const fn with_reach(self, reach: f64) -> Self {
        Self { reach, ..self }
    }

    /// Acceleration of a spring and a damper at the end of a step of `h` seconds, for a displacement and its rate at the beginning. Stable at
    /// any gains.
    pub(crate) fn pull(&self, displacement: f64, rate: f64, h: f64) -> f64 {
        let (k, c) = (self.stiffness, self.damping);
        (k * displacement + (c + h * k) * rate) / (1.0 + h * (c + h * k))
    }

    pub(crate) fn are_valid(&self) -> bool {
        let amount = |x: f64| x >= 0.0 && x.is_finite();
        amount(self.stiffness) && amount(self.damping) && self.reach > 0.0
    }
}

impl Default for Gains {
    /// Critically damped at 10 rad/s: about half a second to arrive.
    fn default() -> Self {
        Self::critical(10.0)
    }
}

/// Target of a point.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PointTarget {
    /// A fixed position in world axes (m).
    At(DVec3),
    /// Its position when the phase began.
    Held,
    /// Along a path, over the time of the score.
    Along(PointPath),
    /// Its position when the phase began, displaced along a path over the time of the score.
    Beside(PointPath),
}

impl PointTarget {
    /// Position at a time of the score (s), for a point that was at `held` when the phase began; world axes (m).
    pub fn at(&self, held: DVec3, time: f64) -> DVec3 {
        match self {
            Self::At(target) => *target,
            Self::Held => held,
            Self::Along(path) => path.at(time),
            Self::Beside(path) => held + path.at(time),
        }
    }

    /// Displacement from a point to the target, and the motion of the target.
    fn course(&self, point: DVec3, held: DVec3, step: &GoalTimes) -> TargetCourse {
        let [before, now, after] = step.score.map(|time| self.at(held, time));
        let is_smooth = match self {
            Self::At(_) | Self::Held => true,
            Self::Along(path) | Self::Beside(path) => path.is_smooth(),
        };
        TargetCourse::new(now - point, [now - before, after - now], is_smooth, step.dt)
    }
}

/// The step in which goals are sought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoalTimes {
    /// Times of the score a step before, at the beginning of the step, and at its end (s).
    pub(crate) score: [f64; 3],
    /// Length of the step (s).
    pub(crate) dt: f64,
    /// Unit vector against gravity, world axes.
    pub(crate) up: DVec3,
}

/// Where a target is and how it moves: m, m/s and m/s², or the same in rad.
#[derive(Clone, Copy, Debug)]
struct TargetCourse {
    displacement: DVec3,
    /// Mean velocity in the step before.
    velocity: DVec3,
    /// From the step before to this one.
    acceleration: DVec3,
}

impl TargetCourse {
    /// From the ways of the target in the step before and in this one.
    fn new(displacement: DVec3, [before, after]: [DVec3; 2], is_smooth: bool, dt: f64) -> Self {
        let acceleration = if is_smooth { (after - before) / (dt * dt) } else { DVec3::ZERO };
        Self { displacement, velocity: before / dt, acceleration }
    }

    /// Acceleration that leads to the target, for something with this mean velocity in the step before.
    fn pull(&self, gains: &Gains, velocity: DVec3, dt: f64) -> DVec3 {
        let (e, rate) = (self.displacement.clamp_length_max(gains.reach), self.velocity - velocity);
        let pull = |k: usize| gains.pull(e[k], rate[k], dt);
        self.acceleration + DVec3::new(pull(0), pull(1), pull(2))
    }
}

/// Target orientation of a bone.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Facing {
    /// This orientation of the body frame of the bone, `world_from_body`.
    At(DQuat),
    /// Its orientation when the phase began.
    Held,
    /// Along a path, over the time of the score.
    Along(TurnPath),
}

impl Facing {
    fn at(&self, held: DQuat, time: f64) -> DQuat {
        match self {
            Self::At(target) => target.normalize(),
            Self::Held => held,
            Self::Along(path) => path.at(time),
        }
    }

    /// Rotation vector from an orientation to the target, and the motion of the target.
    fn course(&self, facing: DQuat, held: DQuat, step: &GoalTimes) -> TargetCourse {
        let [before, now, after] = step.score.map(|time| self.at(held, time));
        let is_smooth = !matches!(self, Self::Along(path) if !path.is_smooth());
        let turn = |from: DQuat, to: DQuat| log_so3(to * from.conjugate());
        TargetCourse::new(turn(facing, now), [turn(before, now), turn(now, after)], is_smooth, step.dt)
    }
}

/// Which quantity of a bone is wanted, and its target; vectors in world axes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Aim {
    /// Position of the point: three rows.
    Position(PointTarget),
    /// One component of the position of the point, such as its height: one row.
    Component {
        /// Direction of the component, world axes, of any length but zero.
        axis: DVec3,
        /// Target whose component counts.
        place: PointTarget,
    },
    /// Height of the point, against gravity: one row. Along z where there is no gravity.
    Height(PointTarget),
    /// Orientation of the bone: three rows.
    Orientation(Facing),
    /// Velocity of the point, world axes (m/s): three rows.
    Velocity(DVec3),
    /// Angular velocity of the bone, world axes (rad/s): three rows.
    Spin(DVec3),
    /// Acceleration of the point, world axes (m/s²): three rows.
    Acceleration(DVec3),
    /// Angular acceleration of the bone, world axes (rad/s²): three rows.
    SpinRate(DVec3),
}

/// A goal for one bone.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Goal {
    /// The bone.
    pub bone: LinkId,
    /// A point of the bone in its body frame (m).
    pub point: DVec3,
    /// The wanted quantity and its target.
    pub aim: Aim,
    /// Gains of the pull towards the target.
    pub gains: Gains,
    /// Level of importance, smaller numbers first; see [`levels`](crate::levels).
    pub level: u8,
}

impl Goal {
    /// Whether it is about the rotation of its bone, not about a point.
    pub fn turns(&self) -> bool {
        matches!(self.aim, Aim::Orientation(_) | Aim::Spin(_) | Aim::SpinRate(_))
    }

    /// Whether it moves its point to a target.
    pub fn is_drag(&self) -> bool {
        matches!(self.aim, Aim::Position(PointTarget::Along(_) | PointTarget::Beside(_) | PointTarget::At(_)))
    }

    /// Drags a point of a bone (in its body frame, m) to a target, at the level of drags, with default gains.
    pub fn drag(bone: LinkId, point: DVec3, place: PointTarget) -> Self {
        Self { bone, point, aim: Aim::Position(place), gains: Gains::default(), level: levels::DRAG }
    }

    /// Constrains a bone at the origin of its body frame, at the level of constraints, with default gains.
    pub fn hold(bone: LinkId, aim: Aim) -> Self {
        Self { bone, point: DVec3::ZERO, aim, gains: Gains::default(), level: levels::HOLD }
    }

    /// This goal with other gains.
    #[must_use]
    pub fn with_gains(self, gains: Gains) -> Self {
        Self { gains, ..self }
    }

    /// This goal at another level.
    #[must_use]
    pub fn at_level(self, level: u8) -> Self {
        Self { level, ..self }
    }

    pub(crate) fn is_valid(&self) -> bool {
        let place = |place: &PointTarget| match place {
            PointTarget::At(target) => target.is_finite(),
            PointTarget::Held | PointTarget::Along(_) | PointTarget::Beside(_) => true,
        };
        let aim = match &self.aim {
            Aim::Position(target) | Aim::Height(target) => place(target),
            Aim::Component { axis, place: target } => {
                axis.is_finite() && axis.length_squared() > 0.0 && place(target)
            }
            Aim::Orientation(Facing::At(target)) => target.is_finite() && target.length_squared() > 0.0,
            Aim::Orientation(Facing::Held | Facing::Along(_)) => true,
            Aim::Velocity(v) | Aim::Spin(v) | Aim::Acceleration(v) | Aim::SpinRate(v) => v.is_finite(),
        };
        aim && self.point.is_finite() && self.gains.are_valid()
    }
}

/// What a valid goal is.
const GOAL: &str = "finite, with directions that are not zero and gains that are not negative";

/// Checks that the bones of goals exist and their numbers are valid.
pub(crate) fn check_goals(tree: &Tree, goals: &[Goal]) -> Result<(), ControlError> {
    for (index, goal) in goals.iter().enumerate() {
        let (bone, n_bones) = (goal.bone.index(), tree.n_links());
        if bone >= n_bones {
            return Err(ControlError::UnknownBone { what: "goal", index, bone, n_bones });
        }
        if !goal.is_valid() {
            return Err(ControlError::NotValid { what: "goal", index, range: GOAL });
        }
    }
    Ok(())
}

/// Pose and motion of the point of a goal: orientation of the bone, position and twist of the point; world axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoalPoint {
    pub(crate) pose: Pose,
    pub(crate) motion: Motion,
}

impl GoalPoint {
    /// From the present kinematics.
    pub(crate) fn new(tree: &Tree, dynamics: &Dynamics, goal: &Goal) -> Self {
        let mut pose = dynamics.body_pose(tree, goal.bone);
        pose.translation = pose.transform_point(goal.point);
        Self { pose, motion: dynamics.motion_at(goal.bone, pose.translation) }
    }
}

/// The rows of a goal, with error and wanted acceleration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoalRows {
    /// Directions of the rows, unit vectors in world axes.
    pub(crate) axes: [DVec3; 3],
    /// Number of rows in use.
    pub(crate) n_rows: usize,
    /// Whether the rows are on rotation.
    pub(crate) angular: bool,
    /// Error along each row: m or rad; m/s or rad/s for velocities; 0 for accelerations.
    pub(crate) error: [f64; 3],
    /// Wanted acceleration along each row: m/s² or rad/s².
    pub(crate) acceleration: [f64; 3],
}

impl GoalRows {
    /// Rows of `goal` in a step, for a point `now` (whose motion is the mean of the step before) and the pose `held` since the phase
    /// began.
    pub(crate) fn new(goal: &Goal, now: &GoalPoint, held: &Pose, step: &GoalTimes) -> Self {
        let Motion { angular: spin, linear: velocity } = now.motion;
        let (gains, dt) = (&goal.gains, step.dt);
        let to_place = |place: &PointTarget| place.course(now.pose.translation, held.translation, step);
        let slow = |misfit: DVec3| misfit * (gains.damping / (1.0 + dt * gains.damping));
        let component = |unit: DVec3, place: &PointTarget| {
            let whole = to_place(place);
            let along = whole.displacement.dot(unit);
            let course = TargetCourse { displacement: unit * along, ..whole };
            Self {
                axes: [unit; 3],
                n_rows: 1,
                angular: false,
                error: [along, 0.0, 0.0],
                acceleration: [course.pull(gains, velocity, dt).dot(unit), 0.0, 0.0],
            }
        };
        match &goal.aim {
            Aim::Position(place) => {
                let course = to_place(place);
                Self::vector(false, course.displacement, course.pull(gains, velocity, dt))
            }
            Aim::Component { axis, place } => component(axis.normalize(), place),
            Aim::Height(place) => component(step.up, place),
            Aim::Orientation(facing) => {
                let course = facing.course(now.pose.rotation, held.rotation, step);
                Self::vector(true, course.displacement, course.pull(gains, spin, dt))
            }
            Aim::Velocity(target) => Self::vector(false, *target - velocity, slow(*target - velocity)),
            Aim::Spin(target) => Self::vector(true, *target - spin, slow(*target - spin)),
            Aim::Acceleration(target) => Self::vector(false, DVec3::ZERO, *target),
            Aim::SpinRate(target) => Self::vector(true, DVec3::ZERO, *target),
        }
    }

    fn vector(angular: bool, error: DVec3, acceleration: DVec3) -> Self {
        let (error, acceleration) = (error.to_array(), acceleration.to_array());
        Self { axes: DVec3::AXES, n_rows: 3, angular, error, acceleration }
    }

    /// Length of the wanted acceleration (m/s² or rad/s²).
    pub(crate) fn wanted(&self) -> f64 {
        self.acceleration[..self.n_rows].iter().map(|a| a * a).sum::<f64>().sqrt()
    }

    /// Length of the error (m, rad, m/s or rad/s).
    pub(crate) fn distance(&self) -> f64 {
        self.error[..self.n_rows].iter().map(|e| e * e).sum::<f64>().sqrt()
    }
}
