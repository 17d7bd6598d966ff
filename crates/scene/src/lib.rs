#![doc = include_str!("../README.md")]

mod doc;
mod error;
mod files;
mod generate;
mod load;
mod path;
mod read;
mod resolve;
mod suggest;
mod text;
mod track;
mod validate;
mod version;

pub use doc::{
    AttachDoc, AttachedDoc, BodyDoc, BodyKindDoc, BoxDoc, CapsuleDoc, ChainDoc, CharacterDoc,
    CharacterKindDoc, CircleDoc, ColliderDoc, ColliderShapeDoc, ConeLimitDoc, ContactDoc, CoordinateDoc,
    CurveDoc, CylinderDoc, DisplacementDoc, DisturbanceDoc, EllipsoidDoc, EndDoc, ExpectBodyDoc, ExpectDoc,
    ExpectFleshDoc, ExplicitDoc, ExplicitMethodDoc, ExtensionDoc, FirmnessDoc, FleshDoc, FleshMaterialDoc,
    FleshMeshDoc, FleshSolverDoc, FleshSteppingDoc, FollowDoc, FrameDoc, GeneratorDoc, GrabDoc,
    GyroscopicDoc, ImplicitDoc, InertiaDoc, InputDoc, InterpolationDoc, JacobianPoseDoc, JointDoc,
    JointForcesDoc, JointFramesDoc, JointKindDoc, JointSpringDoc, KinematicDoc, KrylovMethodDoc, LadderDoc,
    LadderPoseDoc, LimitsDoc, LocalFramesDoc, LoopSolverDoc, LoopsDoc, MassDoc, MassPropertiesDoc, MeshDoc,
    MotorDoc, PoseDoc, PositionMotorDoc, PriorityDoc, RootDoc, RotationDoc, RotationStepDoc, SamplesDoc,
    SceneDoc, ShapeDoc, SineDoc, SphereDoc, SpringDoc, StabilizeDoc, StepperDoc, SweepDoc, TargetDoc,
    TrackDoc, TreeDoc, TreeSolverDoc, VelocityDoc, VelocityMotorDoc, WrenchDoc,
};
pub use error::{SceneError, SceneErrors, SceneIssue, SceneIssueKind};
pub use load::SceneSource;
pub use resolve::ForceCoordinate;
pub use suggest::suggestion;
pub use track::{Track, TrackPoint};
pub use validate::validate;
