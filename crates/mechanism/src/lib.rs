#![doc = include_str!("../README.md")]

mod assembly;
mod block_step;
mod body;
mod builder;
mod checks;
mod companion;
mod displacement;
mod edit;
mod error;
mod explicit;
mod force;
mod fused;
mod geometric;
mod ids;
mod implicit;
mod input;
mod iterate;
mod joint;
mod loops;
mod measure;
mod misfit;
mod model;
mod outside;
mod point_solver;
mod rows;
mod settings;
mod spec;
mod state;
mod step;
mod stops;
mod sweep;
mod tables;
mod twin;
mod workspace;

pub use assembly::{AssemblyOutcome, AssemblyReport, assemble};
pub use body::{BodyKind, BodySpec};
pub use builder::{MechanismBuilder, Structure};
pub use companion::{Companion, Moment, Outside, PointLaw};
pub use edit::{Edited, ModelEdit};
pub use error::MechanismError;
pub use force::{Limit, Motor, MotorTarget, RotationForce, ScalarForce, Spring};
pub use ids::{BodyId, JointId};
pub use implicit::move_kinematic;
pub use input::{Grab, Input};
pub use measure::{
    Energy, JointReading, Violation, energy, joint_forces, joint_reading, momentum, violation,
};
pub use model::Model;
pub use outside::{Response, arrive_kinematic, outside_wrenches};
pub use settings::{
    Assembly, CarriedRotation, Displacement, Explicit, Gyroscopic, Implicit, JacobianAt, Loops, Order,
    RungeKutta, Scheme, Settings, TreeForm,
};
pub use sinew_solvers::{Attached, CgReport, CgSettings, CgStop, Load, Reaction};
pub use sinew_solvers::{LoopMethod, LoopReport, LoopSettings, LoopStop};
pub use spec::{JointSpec, PointSpringSpec};
pub use state::{History, LoopState, State};
pub use step::{Stage, StepReport, Watch, step, step_observed, step_together};
pub use workspace::Workspace;

pub use joint::{Drive, DriveCoordinate, JointFrames, JointKind, rotation_to_axis};
pub use rows::{
    PairState, RelativeState, RowForm, Rows, evaluate_rows, relative_rotation, swing_gradient, swing_vector,
    twist_angle, twist_gradient, unwrap_angle,
};
