//! Scores: commands of actuators over time (KP08 §3).

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{omit::is_default, pose::RotationDoc};

document! {
    /// What actuators do over time. Needs the stepper `Implicit` or `Reduced`.
    ///
    /// Phases follow each other; before the first one nothing is commanded. All times are score times; `warp` maps the
    /// time of the run to them.
    pub struct ScoreDoc {
        /// Whether joints to the world are actuators too.
        [omit] pub root: RootControlDoc,
        /// Joints that can be commanded; if none is named, every joint between two bodies, and with an active root the
        /// joints of those bodies to the world.
        [omit] pub actuators: Vec<String>,
        /// Joints that move less (above 1) or more (below 1) than others where goals leave a choice, with their weight.
        [omit] pub weights: Vec<(String, f64)>,
        /// Torque limits of joints (N·m, N); joints at their limit are reported.
        [omit] pub torque_limits: Vec<(String, f64)>,
        /// How the time of the run becomes the time of the score.
        [omit] pub warp: WarpDoc,
        /// The phases, in order of time.
        pub phases: Vec<PhaseDoc>,
    }
}

/// Whether the root of a character is actuated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RootControlDoc {
    /// The root is passive: it moves by reaction and contact only.
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

document! {
    /// A part of a score, until the next one begins.
    pub struct PhaseDoc {
        /// When it begins (s).
        pub from_s: f64,
        /// What is done.
        pub control: ControlDoc,
    }
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

document! {
    /// Bones guided in space (KP08 §3.1, 3.2).
    pub struct GuideDoc {
        /// The norm that is minimized among all commands that reach the goals.
        pub style: StyleDoc,
        /// The goals.
        pub goals: Vec<GoalDoc>,
        /// A pose that is approached as far as the goals allow.
        [omit] pub pose: Option<PoseGoalDoc>,
        /// Levels from the most important down; goals of levels that are not listed are ignored.
        #[serde(skip_serializing_if = "is_order")]
        pub levels: Vec<LevelDoc> = usual_order(),
    }
}

fn usual_order() -> Vec<LevelDoc> {
    vec![LevelDoc::Constraints, LevelDoc::Drags, LevelDoc::Limits, LevelDoc::Pose]
}

fn is_order(levels: &[LevelDoc]) -> bool {
    levels == usual_order()
}

/// The norm that is minimized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StyleDoc {
    /// Joint accelerations: all joints bend.
    #[default]
    Acceleration,
    /// Torques: motion starts near the root.
    Torque,
    /// Joint velocities: slow motion.
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

document! {
    /// A goal of one bone.
    pub struct GoalDoc {
        /// Name of the body.
        pub bone: String,
        /// The point that is guided, in the body frame (m).
        [omit] pub point: DVec3,
        /// What the goal asks.
        pub want: WantDoc = WantDoc::KeepPosition,
        /// Acceleration per distance (1/s²).
        pub stiffness: f64 = 400.0,
        /// Acceleration per velocity (1/s).
        pub damping: f64 = 40.0,
    }
}

/// What a goal asks of a bone. Kept quantities keep their value from the start of the phase.
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
    /// The point stays at its height, against gravity.
    KeepHeight,
    /// The bone does not turn.
    KeepOrientation,
    /// The point comes to rest.
    Stop,
    /// The point keeps its velocity.
    Coast,
}

document! {
    /// A target pose: accelerations `−stiffness (q − q_ref) − damping q̇` of the joints.
    pub struct PoseGoalDoc {
        /// Coordinates of joints (rad, m; a rotation vector for balls); the others are as when the scene begins.
        [omit] pub joints: Vec<(String, Vec<f64>)>,
        /// 1/s².
        pub stiffness: f64 = 100.0,
        /// 1/s.
        pub damping: f64 = 20.0,
    }
}

document! {
    /// Poses over time, from the one at the beginning of the phase, joined by a smooth curve that ends at rest (KP08
    /// §3.3).
    pub struct KeyframesDoc {
        /// The poses; without any the joints stand still.
        pub keys: Vec<KeyDoc>,
    }
}

document! {
    /// A pose at a time.
    pub struct KeyDoc {
        /// When (s after the beginning of the phase), above 0 and increasing.
        pub at_s: f64,
        /// Coordinates of joints (rad, m; a rotation vector for balls); the others are as in the key before, in the
        /// first one as when the scene begins.
        [omit] pub joints: Vec<(String, Vec<f64>)>,
        /// Where bones should be; the joints are found by inverse kinematics, within their limits.
        [omit] pub reach: Vec<ReachDoc>,
    }
}

document! {
    /// Where a bone should be, in the body frame of the root bone.
    pub struct ReachDoc {
        /// Name of the body.
        pub bone: String,
        /// A point of it, in its body frame (m).
        [omit] pub point: DVec3,
        /// Where that point should be (m).
        [omit] pub position: Option<DVec3>,
        /// How the bone should be turned.
        [omit] pub rotation: Option<RotationDoc>,
    }
}

document! {
    /// Springs and dampers on all actuators, relaxed as when the scene begins.
    #[derive(Copy)]
    pub struct LandDoc {
        /// N·m/rad, N/m.
        pub stiffness: f64 = 10.0,
        /// N·m·s/rad, N·s/m.
        pub damping: f64 = 0.5,
    }
}
