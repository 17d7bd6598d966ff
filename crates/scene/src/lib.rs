#![doc = include_str!("../README.md")]

mod changes;
mod doc;
mod edit;
mod error;
mod files;
mod generate;
mod load;
mod outline;
mod outline_parser;
mod path;
mod read;
mod resolve;
mod suggest;
mod track;
mod validate;
mod version;

pub use changes::Steps;
pub use doc::{
    AttachDoc, AttachedDoc, BodyDoc, BodyKindDoc, CameraDoc, ChainDoc, ChangeDoc, CharacterDoc,
    CharacterKindDoc, CircleDoc, ColliderDoc, ColliderShapeDoc, ConeLimitDoc, ContactDoc, ControlDoc,
    CoordinateDoc, CurveDoc, DisplacementDoc, DisturbanceDoc, EndDoc, ExpectBodyDoc, ExpectDoc,
    ExpectFleshDoc, ExpectMotionDoc, ExplicitDoc, ExplicitMethodDoc, ExtensionDoc, FirmnessDoc, FleshDoc,
    FleshMaterialDoc, FleshMeshDoc, FleshSolverDoc, FleshSteppingDoc, FollowDoc, FrameDoc, GeneratorDoc,
    GoalDoc, GrabDoc, GuideDoc, GyroscopicDoc, ImplicitDoc, InertiaDoc, InputDoc, InterpolationDoc,
    JacobianPoseDoc, JointDoc, JointForcesDoc, JointFramesDoc, JointSpringDoc, KeyDoc, KeyframesDoc,
    KinematicDoc, KrylovMethodDoc, LadderDoc, LadderPoseDoc, LandDoc, LevelDoc, LimitsDoc, LocalFramesDoc,
    LoopSolverDoc, LoopsDoc, MassDoc, MassPropertiesDoc, MeasureDoc, MeshDoc, MotorDoc, PhaseDoc, PoseDoc,
    PoseGoalDoc, PositionMotorDoc, PriorityDoc, ReachDoc, ReducedDoc, ReducedMethodDoc, RootControlDoc,
    RootDoc, RotationDoc, RotationStepDoc, SamplesDoc, SceneDoc, ScoreDoc, ShapeDoc, SineDoc, SpringDoc,
    StabilizeDoc, StepperDoc, StyleDoc, SurfaceDoc, SweepDoc, TargetDoc, TrackDoc, TreeDoc, TreeSolverDoc,
    VelocityDoc, VelocityMotorDoc, WantDoc, WarpDoc, WrenchDoc,
};
pub use error::{SceneError, SceneErrors, SceneIssue, SceneIssueKind};
pub use load::SceneSource;
pub use resolve::ForceCoordinate;
pub use sinew_math::{JointKind, Shape};
pub use suggest::{no_such_scene, suggestion};
pub use track::{Track, TrackPoint};
pub use validate::validate;
