//! The scene document: plain data without behaviour, one struct per item of a scene.
//!
//! Units are SI and radians throughout; suffixes such as `_s` and `_m` mark the few numbers whose unit
//! is not obvious from the name. Positions, directions and velocities are in world axes unless a field
//! says otherwise. The body frame is the frame in which shapes, mass properties and local joint frames
//! are written; its origin need not be the centre of mass.
//!
//! Every struct refuses unknown fields, and a field that is left out takes the value of `Default`: see `document!`.

#[macro_use]
mod omit;

mod body;
mod camera;
mod change;
mod character;
mod contact;
mod expect;
mod flesh;
mod generator;
mod joint;
mod motion;
mod pose;
mod scene;
mod score;
mod shape;
mod solve;
mod surface;

pub use body::{BodyDoc, BodyKindDoc, InertiaDoc, MassDoc, MassPropertiesDoc, VelocityDoc};
pub use camera::CameraDoc;
pub use change::ChangeDoc;
pub use character::{CharacterDoc, FollowDoc};
pub use contact::{ColliderDoc, ColliderShapeDoc, ContactDoc, FirmnessDoc};
pub use expect::{ExpectBodyDoc, ExpectDoc, ExpectFleshDoc, ExpectMotionDoc, MeasureDoc};
pub use flesh::{
    AttachDoc, AttachedDoc, CharacterKindDoc, DisturbanceDoc, ExtensionDoc, FleshDoc, FleshMaterialDoc,
    FleshMeshDoc, FleshSolverDoc, FleshSteppingDoc,
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
pub use scene::{SamplesDoc, SceneDoc, SweepDoc};
pub use score::{
    ControlDoc, GoalDoc, GuideDoc, KeyDoc, KeyframesDoc, LandDoc, LevelDoc, PhaseDoc, PoseGoalDoc, ReachDoc,
    RootControlDoc, ScoreDoc, StyleDoc, WantDoc, WarpDoc,
};
pub use shape::ShapeDoc;
pub use solve::{
    DisplacementDoc, ExplicitDoc, ExplicitMethodDoc, GyroscopicDoc, ImplicitDoc, JacobianPoseDoc,
    KrylovMethodDoc, LoopSolverDoc, LoopsDoc, ReducedDoc, ReducedMethodDoc, RotationStepDoc, StabilizeDoc,
    StepperDoc, TreeSolverDoc,
};
pub use surface::SurfaceDoc;
