#![doc = include_str!("../README.md")]

mod batch;
mod draw;
mod hash;
mod record;
mod report;
mod step;
mod world;

#[cfg(feature = "scene")]
mod build;
#[cfg(feature = "scene")]
mod error;
#[cfg(feature = "scene")]
mod expect;
#[cfg(feature = "scene")]
mod forces;
#[cfg(feature = "scene")]
mod script;

pub use batch::step_batch;
pub use draw::{DrawLine, DrawList, DrawPoint, DrawShape, DrawSolid, LineKind};
pub use hash::digest;
pub use record::Recording;
pub use report::{Health, StepReport};
pub use step::{step, step_observed};
pub use world::{StateMismatch, World};

#[cfg(feature = "scene")]
pub use build::SceneInfo;
#[cfg(feature = "scene")]
pub use error::BuildError;
#[cfg(feature = "scene")]
pub use expect::{ExpectMeter, ExpectOutcome, Expectation, RunOutcome, SweepRun, run_and_check, sweep_runs};
#[cfg(feature = "scene")]
pub use sinew_scene::{SceneDoc, SceneErrors, SceneSource};

pub use glam::{DQuat, DVec3};
pub use sinew_math::{Force, Motion, Pose};
pub use sinew_mechanism::{
    BodyId, BodyKind, Drive, DriveCoordinate, Energy, Explicit, Grab, Gyroscopic, Implicit, Input, JointId,
    JointKind, JointReading, MechanismBuilder, MechanismError, Model, MotorTarget, Order, RungeKutta, Scheme,
    Settings, Stage, State, TreeForm, Violation, Workspace, energy, joint_reading, momentum, violation,
};
