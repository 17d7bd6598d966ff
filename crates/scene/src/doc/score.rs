//! Scores: what the actuators of a character do over time, so that every motion is a file (KP08 §3).

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{RotationDoc, is_default};

/// What actuators do over time. Wants the stepper `Reduced`.
///
/// Phases follow each other; before the first one nothing is commanded. All times are those of the score, which `warp` makes
/// from the time of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScoreDoc {
    /// Whether joints to the world are actuators too.
    #[serde(skip_serializing_if = "is_default")]
    pub root: RootControlDoc,
    /// Joints that can be commanded; if none is named, every joint between two bodies, and with an active root the
    /// joints of those bodies to the world.
    #[serde(skip_serializing_if = "is_default")]
    pub actuators: Vec<String>,
    /// Joints that move less (above 1) or more (below 1) than others where goals leave a choice, with their weight.
    #[serde(skip_serializing_if = "is_default")]
    pub weights: Vec<(String, f64)>,
    /// Largest torque of joints (N·m, N); what would need more yields, and is reported.
    #[serde(skip_serializing_if = "is_default")]
    pub torque_limits: Vec<(String, f64)>,
    /// How the time of the run becomes the time of the score.
    #[serde(skip_serializing_if = "is_default")]
    pub warp: WarpDoc,
    /// The phases, in order of time.
    pub phases: Vec<PhaseDoc>,
}

/// Who moves the root of a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RootControlDoc {
    /// Nobody: it moves by reaction and contact only.
    #[default]
    Passive,
    /// Its joint to the world is an actuator.
    Active,
}

/// A map of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum WarpDoc {
    /// Time as it is.
    #[default]
    None,
    /// `t + amplitude sin(2πt/duration)` up to the duration, unchanged after it (KP08 figure 1).
    Sine {
        /// Largest shift (s), less than the duration over 2π.
        amplitude_s: f64,
        /// Length (s).
        duration_s: f64,
    },
    /// Smooth through pairs (time of the run, time of the score), both increasing (s); at least two.
    Through(Vec<(f64, f64)>),
}

/// A part of a score, until the next one begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PhaseDoc {
    /// When it begins (s).
    pub from_s: f64,
    /// What is done.
    pub control: ControlDoc,
}

/// What actuators do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum ControlDoc {
    /// No torque.
    #[default]
    Passive,
    /// Bones are guided in space; joints follow.
    Guide(GuideDoc),
    /// Joints follow poses as perfect servos.
    Keyframes(KeyframesDoc),
    /// Springs and dampers on the actuators, for a soft landing.
    Land(LandDoc),
}

/// Bones guided in space (KP08 §3.1, 3.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GuideDoc {
    /// What is smallest among all commands that reach the goals.
    pub style: StyleDoc,
    /// The goals.
    pub goals: Vec<GoalDoc>,
    /// A pose that is sought as far as the goals leave room.
    #[serde(skip_serializing_if = "is_default")]
    pub pose: Option<PoseGoalDoc>,
    /// Levels from the most important down; what is not named is not done.
    #[serde(skip_serializing_if = "is_order")]
    pub levels: Vec<LevelDoc>,
}

impl Default for GuideDoc {
    fn default() -> Self {
        Self { style: StyleDoc::default(), goals: Vec::new(), pose: None, levels: usual_order() }
    }
}

fn usual_order() -> Vec<LevelDoc> {
    vec![LevelDoc::Constraints, LevelDoc::Drags, LevelDoc::Limits, LevelDoc::Pose]
}

fn is_order(levels: &[LevelDoc]) -> bool {
    levels == usual_order()
}

/// What is smallest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StyleDoc {
    /// Accelerations of joints: bends all over.
    #[default]
    Acceleration,
    /// Torques: throws and waves.
    Torque,
    /// Velocities of joints: slow and careful.
    Velocity,
}

/// A level of goals. The motion of a passive root always comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LevelDoc {
    /// Goals that keep something.
    Constraints,
    /// Goals that follow a track.
    Drags,
    /// Joints back within their limits.
    Limits,
    /// The pose.
    Pose,
}

/// A goal of one bone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoalDoc {
    /// Name of the body.
    pub bone: String,
    /// The point that is guided, in the body frame (m).
    #[serde(skip_serializing_if = "is_default")]
    pub point: DVec3,
    /// What is wanted.
    pub want: WantDoc,
    /// Acceleration per distance (1/s²).
    pub stiffness: f64,
    /// Acceleration per velocity (1/s).
    pub damping: f64,
}

impl Default for GoalDoc {
    fn default() -> Self {
        Self {
            bone: String::new(),
            point: DVec3::ZERO,
            want: WantDoc::KeepPosition,
            stiffness: 400.0,
            damping: 40.0,
        }
    }
}

/// What is wanted of a bone. To keep means: as it was when the phase began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum WantDoc {
    /// The point follows a track.
    Follow {
        /// Name of a track of points, in the time of the score.
        track: String,
        /// Whether the track is added to where the point was when the phase began.
        #[serde(default, skip_serializing_if = "is_default")]
        relative: bool,
    },
    /// The bone turns with a track.
    Turn {
        /// Name of a track of poses, in the time of the score.
        track: String,
    },
    /// The point stays.
    KeepPosition,
    /// The point stays at its height: along z.
    KeepHeight,
    /// The bone does not turn.
    KeepOrientation,
    /// The point comes to rest.
    Stop,
    /// The point goes on as it goes.
    Coast,
}

/// A pose that is sought: accelerations `−stiffness (q − q_ref) − damping q̇` of the joints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoseGoalDoc {
    /// Coordinates of joints (rad, m; a rotation vector for balls); the others are as when the scene begins.
    #[serde(skip_serializing_if = "is_default")]
    pub joints: Vec<(String, Vec<f64>)>,
    /// 1/s².
    pub stiffness: f64,
    /// 1/s.
    pub damping: f64,
}

impl Default for PoseGoalDoc {
    fn default() -> Self {
        Self { joints: Vec::new(), stiffness: 100.0, damping: 20.0 }
    }
}

/// Poses over time, from the one at the beginning of the phase, joined by a smooth curve that ends at rest (KP08 §3.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeyframesDoc {
    /// The poses; without any the joints stand still.
    pub keys: Vec<KeyDoc>,
}

/// A pose at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeyDoc {
    /// When (s after the beginning of the phase), above 0 and increasing.
    pub at_s: f64,
    /// Coordinates of joints (rad, m; a rotation vector for balls); the others are as in the key before, in the first one as when
    /// the scene begins.
    #[serde(skip_serializing_if = "is_default")]
    pub joints: Vec<(String, Vec<f64>)>,
    /// Where bones should be; the joints are found by inverse kinematics, within their limits.
    #[serde(skip_serializing_if = "is_default")]
    pub reach: Vec<ReachDoc>,
}

/// Where a bone should be, in the frame of the root bone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReachDoc {
    /// Name of the body.
    pub bone: String,
    /// A point of it, in its body frame (m).
    #[serde(skip_serializing_if = "is_default")]
    pub point: DVec3,
    /// Where that point should be (m).
    #[serde(skip_serializing_if = "is_default")]
    pub position: Option<DVec3>,
    /// How the bone should be turned.
    #[serde(skip_serializing_if = "is_default")]
    pub rotation: Option<RotationDoc>,
}

/// Springs and dampers on all actuators, relaxed as when the scene begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LandDoc {
    /// N·m/rad, N/m.
    pub stiffness: f64,
    /// N·m·s/rad, N·s/m.
    pub damping: f64,
}

impl Default for LandDoc {
    fn default() -> Self {
        Self { stiffness: 10.0, damping: 0.5 }
    }
}

/// What a motion must show: a measure of the whole run between two bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectMotionDoc {
    /// What is measured.
    pub measure: MeasureDoc,
    /// Smallest value allowed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at_least: Option<f64>,
    /// Largest value allowed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at_most: Option<f64>,
}

/// A measure of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum MeasureDoc {
    /// Longest time without a break (s) during which every surface point of a flesh is higher than this.
    Airborne {
        /// Name of the flesh.
        flesh: String,
        /// Height above z = 0 (m).
        clearance_m: f64,
    },
    /// Greatest height that the lowest surface point of a flesh reaches (m).
    Apex {
        /// Name of the flesh.
        flesh: String,
    },
    /// Angle by which a body has turned about an axis of the world, at most at any time, in either direction (rad).
    Turned {
        /// Name of the body.
        body: String,
        /// The axis, of any length but zero.
        axis: DVec3,
    },
    /// Angle by which a body has turned about an axis of the world at the end, in either direction (rad).
    NetTurn {
        /// Name of the body.
        body: String,
        /// The axis, of any length but zero.
        axis: DVec3,
    },
    /// Horizontal distance of a body at the end from where it began (m).
    Travelled {
        /// Name of the body.
        body: String,
    },
    /// Lowest height of the centre of mass of a body at any time (m).
    Lowest {
        /// Name of the body.
        body: String,
    },
    /// Root mean square of the actuators' torques (N·m, N).
    Torque,
    /// Root mean square of the actuators' accelerations (rad/s², m/s²).
    Acceleration,
}
