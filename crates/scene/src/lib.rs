#![doc = include_str!("../README.md")]

mod doc;
mod error;
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
    BodyDoc, BodyKindDoc, BoxDoc, CapsuleDoc, ChainDoc, CircleDoc, ConeLimitDoc, CoordinateDoc, CurveDoc,
    CylinderDoc, EllipsoidDoc, EndDoc, ExpectBodyDoc, ExpectDoc, ExplicitDoc, ExplicitMethodDoc, FrameDoc,
    GeneratorDoc, GrabDoc, GyroscopicDoc, ImplicitDoc, InertiaDoc, InputDoc, InterpolationDoc, JointDoc,
    JointForcesDoc, JointFramesDoc, JointKindDoc, JointSpringDoc, KinematicDoc, LimitsDoc, LocalFramesDoc,
    MassDoc, MassPropertiesDoc, MotorDoc, PoseDoc, PositionMotorDoc, PriorityDoc, RootDoc, RotationDoc,
    SamplesDoc, SceneDoc, ShapeDoc, SineDoc, SphereDoc, SpringDoc, StepperDoc, SweepDoc, TargetDoc, TrackDoc,
    TreeDoc, TreeSolverDoc, VelocityDoc, VelocityMotorDoc, WrenchDoc,
};
pub use error::{SceneError, SceneErrors, SceneIssue, SceneIssueKind};
pub use load::SceneSource;
pub use resolve::ForceCoordinate;
pub use suggest::suggestion;
pub use track::TrackPoint;
pub use validate::validate;
