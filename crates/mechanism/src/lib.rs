#![doc = include_str!("../README.md")]

// Floors, the lowest first: a module uses its own floor and those above it in this list.
mod joints;

mod forces;

mod model;

mod input;
mod poses;
mod prepare;
mod report;
mod settings;
mod watch;

mod measure;

mod tree;

mod loops;

mod coupling;

mod workspace;

mod assembly;

mod steppers;

pub use assembly::assemble::{AssemblyOutcome, AssemblyReport, assemble};
pub use coupling::companion::{Companion, CouplingPoint, Outside, PointLaw};
pub use forces::scalar::{Limit, Motor, MotorTarget, RotationForce, ScalarForce, Spring};
pub use input::{Grab, Input};
pub use joints::evaluate::evaluate_rows;
pub use joints::frames::{Drive, JointFrames, rotation_to_axis};
pub use joints::relative::{PairState, RelativeState, relative_rotation};
pub use joints::rows::{RowForm, Rows};
pub use joints::swing::{swing_gradient, swing_vector};
pub use joints::twist::{twist_angle, twist_gradient, unwrap_angle};
pub use measure::joint::{JointReading, joint_reading};
pub use measure::measures::{Energy, Violation, energy, joint_forces, momentum, violation};
pub use model::body::{BodyKind, BodySpec};
pub use model::builder::{MechanismBuilder, Structure};
pub use model::edit::{Edited, ModelEdit};
pub use model::error::MechanismError;
pub use model::ids::{BodyId, JointId};
pub use model::mechanism::Model;
pub use model::spec::{JointSpec, PointSpringSpec};
pub use model::state::{History, LoopState, State};
pub use prepare::move_kinematic;
pub use report::StepReport;
pub use settings::{
    Assembly, CarriedRotation, Displacement, Explicit, Gyroscopic, Implicit, JacobianAt, Loops, Order,
    RungeKutta, Scheme, Settings, TreeForm,
};
pub use sinew_math::{DriveCoordinate, JointKind};
pub use sinew_solvers::{Attached, CgReport, CgSettings, CgStop, Load, Reaction};
pub use sinew_solvers::{LoopMethod, LoopReport, LoopSettings, LoopStop};
pub use steppers::joint_space::{Response, arrive_kinematic, outside_wrenches};
pub use steppers::step::{step, step_observed, step_together};
pub use watch::{Stage, Watch};
pub use workspace::Workspace;
