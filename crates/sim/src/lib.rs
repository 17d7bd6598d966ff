#![doc = include_str!("../README.md")]

mod batch;
mod cast;
mod draw;
mod hash;
mod loads;
mod record;
mod reduced;
mod report;
mod step;
mod surface;
mod touches;
mod whole;
mod world;

#[cfg(feature = "scene")]
mod build;
#[cfg(feature = "scene")]
mod colliders;
#[cfg(feature = "scene")]
mod error;
#[cfg(feature = "scene")]
mod expect;
#[cfg(feature = "scene")]
mod flesh;
#[cfg(feature = "scene")]
mod forces;
#[cfg(feature = "scene")]
mod motions;
#[cfg(feature = "scene")]
mod scenery;
#[cfg(feature = "scene")]
mod score;
#[cfg(feature = "scene")]
mod script;
#[cfg(feature = "scene")]
mod settings;
#[cfg(feature = "scene")]
mod stages;

pub use batch::step_batch;
pub use cast::{Cast, FleshCast, SolidCast, extent};
pub use draw::{DrawFlesh, DrawLine, DrawList, DrawPoint, DrawShape, DrawSolid, LineKind, surface_stretches};
pub use hash::{digest, digest_bytes};
pub use record::Recording;
pub use reduced::{Reduced, ReducedMethod};
pub use report::{Effort, Health, StepReport};
pub use step::{step, step_observed};
pub use surface::DrawSurface;
pub use touches::{Contact, Touching};
pub use whole::{Model, State, Workspace};
pub use world::{StateMismatch, World};

#[cfg(feature = "scene")]
pub use build::SceneInfo;
#[cfg(feature = "scene")]
pub use error::BuildError;
#[cfg(feature = "scene")]
pub use expect::{
    Bound, ExpectMeter, ExpectOutcome, Expectation, RunOutcome, SweepRun, run_and_check, sweep_runs,
};
#[cfg(feature = "scene")]
pub use scenery::{Scenery, Sheet};
#[cfg(feature = "scene")]
pub use sinew_scene::{SceneDoc, SceneErrors, SceneSource};

pub use glam::{DQuat, DVec3};
pub use sinew_flesh::{FleshBody, FleshModel, FleshOptions, FleshReport, FleshState, SurfacePoint};
pub use sinew_math::{Force, MassProperties, Motion, Pose};
pub use sinew_mechanism::{
    Assembly, AssemblyOutcome, AssemblyReport, BodyId, BodyKind, BodySpec, CarriedRotation, Displacement,
    Drive, DriveCoordinate, Edited, Energy, Explicit, Grab, Gyroscopic, Implicit, Input, JacobianAt,
    JointFrames, JointId, JointKind, JointReading, JointSpec, Limit, LoopMethod, LoopReport, LoopSettings,
    LoopState, LoopStop, Loops, MechanismBuilder, MechanismError, ModelEdit, Motor, MotorTarget, Order,
    PointSpringSpec, RotationForce, RungeKutta, ScalarForce, Scheme, Settings, Spring, Stage, Structure,
    TreeForm, Violation, Watch, assemble, energy, joint_forces, joint_reading, momentum, rotation_to_axis,
    violation,
};
pub use sinew_topology::Priority;
