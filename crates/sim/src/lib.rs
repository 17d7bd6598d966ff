#![doc = include_str!("../README.md")]

mod broken;
mod expect;
mod expectation;
mod meter;
mod motions;
mod recording;
mod save;
mod saved_files;
mod world;

pub use broken::BrokenJoint;
pub use expect::{ExpectOutcome, RunOutcome, run_and_check};
pub use expectation::{BoundKind, Expectation};
pub use meter::ExpectMeter;
pub use recording::{Recording, RewindError};
pub use save::{
    SavedError, SavedForm, recording_from_bytes, recording_from_text, recording_to_bytes, recording_to_text,
    state_from_bytes, state_from_text, state_to_bytes, state_to_text,
};
pub use world::World;
pub use world::frame::Frame;
pub use world::view::{BodyView, Identified, JointView, Viewed};

pub use glam::{DQuat, DVec3};
pub use sinew_compile::{BuildError, SceneInfo, SceneVariants, SceneVariation, SweptScene, sweep_runs};
pub use sinew_contact::{
    ContactEvent, ContactEvents, ContactShape, Groups, Probe, RayCast, SurfaceHit, TouchPhase, TouchSide,
};
pub use sinew_engine::{
    ActuatorEffort, Appearance, Contact, ContactOverlap, ContactPartner, Culprit, EnergyAccount,
    EnergyExcess, FleshStepping, Health, HealthNotice, Model, NoticeCount, NoticeCounts, Passage, Reduced,
    ReducedMethod, ReducedModel, RestoreError, Scheme, Settings, Sleep, SleepState, Stage, State, StepReport,
    Watch, Workspace, digest, digest_bytes, energy, momentum, step, step_batch, step_observed, violation,
};
pub use sinew_flesh::{FleshBody, FleshModel, FleshOptions, FleshReport, FleshState, SurfacePoint};
pub use sinew_math::{Force, MassProperties, Motion, Pose, Shape};
pub use sinew_mechanism::Model as Mechanism;
pub use sinew_mechanism::{
    Assembly, AssemblyOutcome, AssemblyReport, BodyId, BodyKind, BodySpec, CarriedRotation, Displacement,
    Drive, DriveCoordinate, Edited, Energy, Explicit, FleshGrab, GearSpec, Grab, Gyroscopic, Implicit, Input,
    JacobianAt, JointCoordinate, JointFrames, JointId, JointKind, JointPart, JointReading, JointSpec, Limit,
    LoopMethod, LoopReport, LoopSettings, LoopState, LoopStop, Loops, MechanismBuilder, MechanismError,
    ModelEdit, Motor, MotorTarget, MuscleId, Noticed, Order, PointSpringSpec, RopeSpec, RotationForce,
    RungeKutta, ScalarForce, SkinInput, SkinPressure, SkinWind, Spring, Structure, TransmissionId,
    TransmissionReading, TransmissionSpec, TreeForm, Violation, general_joint, joint_reading,
    rotation_to_axis, transmission_reading,
};
pub use sinew_scene;
/// The documents of scenes: parts, and what their fields are made of.
pub use sinew_scene::{
    AttachDoc, AttachedDoc, BodyDoc, BodyKindDoc, BreakLoadDoc, CameraDoc, ChainDoc, ChangeDoc, CharacterDoc,
    CharacterKindDoc, CircleDoc, ColliderDoc, ColliderShapeDoc, ConeLimitDoc, ContactDoc, ControlDoc,
    CoordinateDoc, CoordinateForcesDoc, CurveDoc, DecomposedDoc, DisplacementDoc, DisturbanceDoc, EndDoc,
    ExpectBodyDoc, ExpectDoc, ExpectFleshDoc, ExpectMotionDoc, ExplicitDoc, ExplicitMethodDoc, ExtensionDoc,
    FibresDoc, FirmnessDoc, FleshDoc, FleshGrabDoc, FleshMaterialDoc, FleshMeshDoc, FleshSolverDoc,
    FleshSteppingDoc, FollowDoc, ForceLengthDoc, FrameDoc, FreeDoc, GearDoc, GeneratorDoc, GoalDoc, GrabDoc,
    GuideDoc, GyroscopicDoc, HullDoc, ImplicitDoc, InertiaDoc, InputDoc, InterpolationDoc, JacobianPoseDoc,
    JointDoc, JointForcesDoc, JointFramesDoc, JointSpringDoc, KeyDoc, KeyframesDoc, KinematicDoc,
    KrylovMethodDoc, LadderDoc, LadderPoseDoc, LandDoc, LevelDoc, LimitsDoc, LocalFramesDoc, LoopSolverDoc,
    LoopsDoc, MassDoc, MassPropertiesDoc, MeasureDoc, MeshDoc, MotorDoc, MuscleDoc, PairDoc, PhaseDoc,
    PlasticDoc, PoseDoc, PoseGoalDoc, PositionMotorDoc, PressureDoc, PriorityDoc, ReachDoc, ReducedDoc,
    ReducedMethodDoc, RegionDoc, RegionTetsDoc, RestDoc, RootControlDoc, RootDoc, RopeDoc, RotationDoc,
    RotationStepDoc, SamplesDoc, SceneDoc, ScoreDoc, ShapeDoc, SineDoc, SleepDoc, SpringDoc, StabilizeDoc,
    StepperDoc, StrainDoc, StyleDoc, SurfaceDoc, SweepDoc, TargetDoc, TendonDoc, TrackDoc, TreeDoc,
    TreeSolverDoc, TriMeshDoc, VelocityDoc, VelocityMotorDoc, ViscousDoc, WantDoc, WarpDoc, WindDoc,
    WrenchDoc,
};
pub use sinew_scene::{EditableScene, Handle, SceneErrors, SceneHandles, ScenePart, SceneSource};
pub use sinew_topology::Priority;
