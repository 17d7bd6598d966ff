//! The scene document: plain data, one struct per thing a user writes, no behaviour.
//!
//! Units are SI and radians throughout; suffixes such as `_s` and `_m` mark the few numbers whose unit
//! is not obvious from the name. Positions, directions and velocities are in world axes unless a field
//! says otherwise. The body frame is the frame in which shapes, mass properties and local joint frames
//! are written; its origin need not be the centre of mass.
//!
//! Every struct refuses unknown fields, and a field that is left out takes the value of `Default`.

mod body;
mod camera;
mod change;
mod character;
mod flesh;
mod generator;
mod joint;
mod motion;
mod pose;
mod score;
mod shape;
mod solve;
mod surface;

pub use body::{BodyDoc, BodyKindDoc, InertiaDoc, MassDoc, MassPropertiesDoc, VelocityDoc};
pub use camera::CameraDoc;
pub use change::ChangeDoc;
pub use character::{CharacterDoc, CharacterKindDoc, FollowDoc};
pub use flesh::{
    AttachDoc, AttachedDoc, ColliderDoc, ColliderShapeDoc, ContactDoc, DisturbanceDoc, ExtensionDoc,
    FirmnessDoc, FleshDoc, FleshMaterialDoc, FleshMeshDoc, FleshSolverDoc, FleshSteppingDoc,
};
pub use generator::{ChainDoc, GeneratorDoc, LadderDoc, LadderPoseDoc, MeshDoc, RootDoc, TreeDoc};
pub use joint::{
    ConeLimitDoc, CoordinateDoc, FrameDoc, JointDoc, JointFramesDoc, JointSpringDoc, LimitsDoc,
    LocalFramesDoc, MotorDoc, PositionMotorDoc, PriorityDoc, TargetDoc, VelocityMotorDoc,
};
pub use motion::{
    CircleDoc, CurveDoc, EndDoc, GrabDoc, InputDoc, InterpolationDoc, JointForcesDoc, KinematicDoc, SineDoc,
    SpringDoc, TrackDoc, WrenchDoc,
};
pub use pose::{PoseDoc, RotationDoc};
pub use score::{
    ControlDoc, ExpectMotionDoc, GoalDoc, GuideDoc, KeyDoc, KeyframesDoc, LandDoc, LevelDoc, MeasureDoc,
    PhaseDoc, PoseGoalDoc, ReachDoc, RootControlDoc, ScoreDoc, StyleDoc, WantDoc, WarpDoc,
};
pub use shape::ShapeDoc;
pub use solve::{
    DisplacementDoc, ExplicitDoc, ExplicitMethodDoc, GyroscopicDoc, ImplicitDoc, JacobianPoseDoc,
    KrylovMethodDoc, LoopSolverDoc, LoopsDoc, ReducedDoc, ReducedMethodDoc, RotationStepDoc, StabilizeDoc,
    StepperDoc, TreeSolverDoc,
};
pub use surface::SurfaceDoc;

use std::collections::BTreeMap;

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A whole scene, as written in one RON file.
///
/// Joints act between two bodies, or between a body and the world; bodies, joints, springs, surfaces, flesh, tracks,
/// cameras and generators each have their own set of unique names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SceneDoc {
    /// Format version; the only one so far is 1.
    pub format: u32,
    /// Short name, used in reports and file names.
    pub name: String,
    /// What the scene shows or proves.
    #[serde(skip_serializing_if = "is_default")]
    pub description: String,
    /// Acceleration of gravity (m/s²), world axes.
    pub gravity: DVec3,
    /// Time step (s), 1e-12 to 1e6.
    pub dt: f64,
    /// How long to simulate (s), at most 1e12 steps.
    pub duration_s: f64,
    /// When the state is recorded.
    pub samples: SamplesDoc,
    /// How time is stepped.
    pub stepper: StepperDoc,
    /// How the gyroscopic torque −ω × Iω is treated.
    #[serde(skip_serializing_if = "is_default")]
    pub gyroscopic: GyroscopicDoc,
    /// How closed loops are solved; of no effect without loops.
    #[serde(skip_serializing_if = "is_default")]
    pub loops: LoopsDoc,
    /// Whether the initial poses are brought together before the run, as far as the joints allow, and the velocities
    /// made to fit.
    #[serde(skip_serializing_if = "is_default")]
    pub assemble: bool,
    /// Poses brought together again after every step; not done if left out.
    #[serde(skip_serializing_if = "is_default")]
    pub stabilize: Option<StabilizeDoc>,
    /// The bodies.
    #[serde(skip_serializing_if = "is_default")]
    pub bodies: Vec<BodyDoc>,
    /// The joints.
    #[serde(skip_serializing_if = "is_default")]
    pub joints: Vec<JointDoc>,
    /// Linear springs between points.
    #[serde(skip_serializing_if = "is_default")]
    pub springs: Vec<SpringDoc>,
    /// Surfaces to be drawn through points of bodies.
    #[serde(skip_serializing_if = "is_default")]
    pub surfaces: Vec<SurfaceDoc>,
    /// Flesh: tetrahedra around bones.
    #[serde(skip_serializing_if = "is_default")]
    pub flesh: Vec<FleshDoc>,
    /// What can be touched, apart from flesh.
    #[serde(skip_serializing_if = "is_default")]
    pub colliders: Vec<ColliderDoc>,
    /// How flesh and bodies are solved together; of no effect without flesh that is stepped implicitly.
    #[serde(skip_serializing_if = "is_default")]
    pub flesh_solver: FleshSolverDoc,
    /// Recipes for many bodies and joints; `SceneDoc::expanded` writes them out.
    #[serde(skip_serializing_if = "is_default")]
    pub generators: Vec<GeneratorDoc>,
    /// Curves over time that inputs, springs, motors and drives refer to by name.
    #[serde(skip_serializing_if = "is_default")]
    pub tracks: Vec<TrackDoc>,
    /// Recorded inputs: what a user or a tracker does during the run.
    #[serde(skip_serializing_if = "is_default")]
    pub inputs: Vec<InputDoc>,
    /// What actuators do over time; nothing if left out.
    #[serde(skip_serializing_if = "is_default")]
    pub score: Option<ScoreDoc>,
    /// Other settings from certain times on, in order of time.
    #[serde(skip_serializing_if = "is_default")]
    pub changes: Vec<ChangeDoc>,
    /// From where the scene can be seen.
    #[serde(skip_serializing_if = "is_default")]
    pub cameras: Vec<CameraDoc>,
    /// Values for a runner to iterate over, one run per value (several entries: every combination).
    #[serde(skip_serializing_if = "is_default")]
    pub sweep: Vec<SweepDoc>,
    /// What must hold at the end of the run: the scene is its own test.
    #[serde(skip_serializing_if = "is_default")]
    pub expect: ExpectDoc,
    /// Contents of the files that flesh names, by the name as written. Loading a scene from a file fills it; whoever
    /// reads a scene from text does so by hand.
    #[serde(skip)]
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Default for SceneDoc {
    fn default() -> Self {
        Self {
            format: crate::version::FORMAT,
            name: String::new(),
            description: String::new(),
            gravity: DVec3::new(0.0, 0.0, -9.81),
            dt: 1.0 / 60.0,
            duration_s: 1.0,
            samples: SamplesDoc::default(),
            stepper: StepperDoc::default(),
            gyroscopic: GyroscopicDoc::default(),
            loops: LoopsDoc::default(),
            assemble: false,
            stabilize: None,
            bodies: Vec::new(),
            joints: Vec::new(),
            springs: Vec::new(),
            surfaces: Vec::new(),
            flesh: Vec::new(),
            colliders: Vec::new(),
            flesh_solver: FleshSolverDoc::default(),
            generators: Vec::new(),
            tracks: Vec::new(),
            inputs: Vec::new(),
            score: None,
            changes: Vec::new(),
            cameras: Vec::new(),
            sweep: Vec::new(),
            expect: ExpectDoc::default(),
            files: BTreeMap::new(),
        }
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

/// What must hold over the run; whatever is left out is not checked. Every run must also stay finite.
///
/// Energies are compared relative to the largest kinetic energy of the run, so that the height at which
/// potential energy is zero does not matter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectDoc {
    /// Largest distance by which a joint may come apart at any time (m).
    #[serde(skip_serializing_if = "is_default")]
    pub max_position_error_m: Option<f64>,
    /// Largest angle by which locked joint directions may disagree at any time (rad).
    #[serde(skip_serializing_if = "is_default")]
    pub max_rotation_error_rad: Option<f64>,
    /// Largest of both among the joints of the tree, which never open, at any time (m, rad).
    #[serde(skip_serializing_if = "is_default")]
    pub max_tree_error: Option<f64>,
    /// Largest |E(t) − E(0)|, relative to the largest kinetic energy of the run.
    #[serde(skip_serializing_if = "is_default")]
    pub energy_drift: Option<f64>,
    /// Largest E(t) − E(0), relative to the largest kinetic energy of the run; 0 forbids any gain.
    #[serde(skip_serializing_if = "is_default")]
    pub energy_gain: Option<f64>,
    /// Largest speed of any centre of mass at any time (m/s).
    #[serde(skip_serializing_if = "is_default")]
    pub max_speed_m_per_s: Option<f64>,
    /// Largest angular speed of any body at any time (rad/s).
    #[serde(skip_serializing_if = "is_default")]
    pub max_angular_speed_rad_per_s: Option<f64>,
    /// Where bodies must be.
    #[serde(skip_serializing_if = "is_default")]
    pub bodies: Vec<ExpectBodyDoc>,
    /// Most tetrahedra that may be inverted at the end.
    #[serde(skip_serializing_if = "is_default")]
    pub max_inverted: Option<u32>,
    /// Deepest contact at any time (m).
    #[serde(skip_serializing_if = "is_default")]
    pub max_penetration_m: Option<f64>,
    /// Largest distance of any node of flesh from its place at rest at the end (m), once the flesh as a whole is moved
    /// and turned to fit.
    #[serde(skip_serializing_if = "is_default")]
    pub flesh_rest_m: Option<f64>,
    /// Where nodes of flesh must be.
    #[serde(skip_serializing_if = "is_default")]
    pub flesh: Vec<ExpectFleshDoc>,
    /// What the motion must show.
    #[serde(skip_serializing_if = "is_default")]
    pub motions: Vec<ExpectMotionDoc>,
}

/// Where a body must be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectBodyDoc {
    /// Name of the body (generated names included).
    pub body: String,
    /// When (s); the end of the run if left out.
    #[serde(skip_serializing_if = "is_default")]
    pub at_s: Option<f64>,
    /// A point of the body, in its body frame (m).
    #[serde(skip_serializing_if = "is_default")]
    pub point: DVec3,
    /// Where that point must be, in the world (m).
    pub position: DVec3,
    /// Largest distance allowed (m).
    pub tolerance_m: f64,
}

/// Where a node of flesh must be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectFleshDoc {
    /// Name of the flesh (generated names included).
    pub flesh: String,
    /// The node, counted from 0.
    pub node: u32,
    /// When (s); the end of the run if left out.
    #[serde(skip_serializing_if = "is_default")]
    pub at_s: Option<f64>,
    /// Where it must be, in the world (m).
    pub position: DVec3,
    /// Largest distance allowed (m).
    pub tolerance_m: f64,
}

/// Whether a field has the value it would have if it were left out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
