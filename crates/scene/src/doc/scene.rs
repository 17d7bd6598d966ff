//! The whole scene: settings, and one list per kind of item.

use std::collections::BTreeMap;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::flesh::{FleshDoc, FleshSolverDoc};
use super::motion::{InputDoc, SpringDoc, TrackDoc};
use super::solve::{GyroscopicDoc, LoopsDoc, SleepDoc, StabilizeDoc, StepperDoc};
use super::transmission::{GearDoc, RopeDoc};
use crate::limits::SceneLimits;

use super::{
    body::BodyDoc,
    camera::CameraDoc,
    change::ChangeDoc,
    contact::{ColliderDoc, PairDoc},
    expect::ExpectDoc,
    generator::GeneratorDoc,
    joint::JointDoc,
    score::ScoreDoc,
    surface::SurfaceDoc,
};

document! {
    /// A whole scene, as written in one RON file.
    ///
    /// Joints act between two bodies, or between a body and the world; bodies, joints, springs, surfaces, flesh, tracks, cameras
    /// and generators each have their own set of unique names, ropes and gears one together.
    pub struct SceneDoc {
        /// Format version; the only one so far is 1.
        pub format: u32 = crate::version::FORMAT,
        /// Short name, used in reports and file names.
        pub name: String,
        /// What the scene shows or proves.
        [omit] pub description: String,
        /// Acceleration of gravity (m/s²), world axes.
        pub gravity: DVec3 = DVec3::new(0.0, 0.0, -9.81),
        /// Time step (s), 1e-12 to 1e6.
        pub dt: f64 = 1.0 / 60.0,
        /// How long to simulate (s), at most 1e12 steps.
        pub duration_s: f64 = 1.0,
        /// When the state is recorded.
        pub samples: SamplesDoc,
        /// How time is stepped.
        pub stepper: StepperDoc,
        /// How the gyroscopic torque −ω × Iω is treated.
        [omit] pub gyroscopic: GyroscopicDoc,
        /// How closed loops are solved; of no effect without loops.
        [omit] pub loops: LoopsDoc,
        /// Whether the initial poses are brought together before the run, as far as the joints allow, and the
        /// velocities made to fit.
        [omit] pub assemble: bool,
        /// Poses brought together again after every step; not done if left out.
        [omit] pub stabilize: Option<StabilizeDoc>,
        /// When bodies that rest fall asleep.
        [omit] pub sleep: SleepDoc,
        /// The bodies.
        [omit] pub bodies: Vec<BodyDoc>,
        /// The joints.
        [omit] pub joints: Vec<JointDoc>,
        /// Linear springs between points.
        [omit] pub springs: Vec<SpringDoc>,
        /// Ropes over pulleys.
        [omit] pub ropes: Vec<RopeDoc>,
        /// Gears between joints.
        [omit] pub gears: Vec<GearDoc>,
        /// Surfaces to be drawn through points of bodies.
        [omit] pub surfaces: Vec<SurfaceDoc>,
        /// Flesh: tetrahedra around bones.
        [omit] pub flesh: Vec<FleshDoc>,
        /// What can be touched, apart from flesh.
        [omit] pub colliders: Vec<ColliderDoc>,
        /// Friction and restitution of certain pairs.
        [omit] pub pairs: Vec<PairDoc>,
        /// How flesh and bodies are solved together; of no effect without flesh that is stepped implicitly.
        [omit] pub flesh_solver: FleshSolverDoc,
        /// Recipes for many bodies and joints; `SceneDoc::expanded` writes them out.
        [omit] pub generators: Vec<GeneratorDoc>,
        /// Curves over time that inputs, springs, motors and drives refer to by name.
        [omit] pub tracks: Vec<TrackDoc>,
        /// Recorded inputs: what a user or a tracker does during the run.
        [omit] pub inputs: Vec<InputDoc>,
        /// What actuators do over time; nothing if left out.
        [omit] pub score: Option<ScoreDoc>,
        /// Other settings from certain times on, in order of time.
        [omit] pub changes: Vec<ChangeDoc>,
        /// From where the scene can be seen.
        [omit] pub cameras: Vec<CameraDoc>,
        /// Values for a runner to iterate over, one run per value (several entries: every combination).
        [omit] pub sweep: Vec<SweepDoc>,
        /// What must hold at the end of the run: the scene is its own test.
        [omit] pub expect: ExpectDoc,
        /// Contents of the files that flesh names, by the name as written. Loading a scene from a file fills it;
        /// whoever reads a scene from text does so by hand.
        #[serde(skip)]
        pub files: BTreeMap<String, Vec<u8>>,
        /// How much it may ask for.
        #[serde(skip)]
        pub limits: SceneLimits,
    }
}

/// When the state is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SamplesDoc {
    /// This many equal intervals, 1 to 1,000,000: `Count(4)` of a 2 s run records at 0.5, 1, 1.5 and 2 s.
    Count(u32),
    /// At these times (s), increasing.
    Times(Vec<f64>),
}

impl Default for SamplesDoc {
    fn default() -> Self {
        Self::Count(10)
    }
}

/// Values for a runner to iterate over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepDoc {
    /// The value to replace, as in `SceneDoc::set`, for instance `generators[0].joint.spring.stiffness`.
    pub path: String,
    /// The numbers to put there.
    pub values: Vec<f64>,
}
