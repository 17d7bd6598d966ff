#![doc = include_str!("../README.md")]

// Floors, the lowest first: a module uses its own floor and those above it in this list.
mod joints;

mod forces;

mod model;

mod input;
mod input_index;
mod prepare;
mod skin_input;

mod cubic_path;
mod effort;

mod settings;
mod watch;

mod measure;
mod reactions;
mod sources;
mod turns;

mod tree;

mod loops;

mod coupling;

mod workspace;

mod assembly;
mod replace_islands;

mod steppers;

pub use assembly::{AssemblyOutcome, AssemblyReport, assemble, past_limit};
pub use coupling::{Companion, CompanionLoads, CouplingPoint, PointLaw, SolveOutcome};
pub use forces::{Limit, Motor, MotorTarget, Response, RotationForce, ScalarForce, Spring};
pub use input::{Grab, Input, Servo};
pub use joints::{
    Drive, JointFrames, PairState, RelativeState, RowForm, Rows, evaluate_rows, relative_rotation,
    rotation_to_axis, swing_gradient, swing_vector, twist_angle, twist_gradient, unwrap_angle,
};
pub use measure::{
    Energy, JointReading, TransmissionReading, Violation, energy, joint_forces, joint_reading, momentum,
    transmission_reading, violation,
};
pub use model::{
    BodyId, BodyKind, BodySpec, BreakLoad, COORDINATE_NAMES, Edited, GearSpec, History, IslandReserve,
    JointCoordinate, JointId, JointPart, JointSpec, LoopState, MechanismBuilder, MechanismError, Model,
    ModelEdit, Moves, MuscleId, PointSpringSpec, RopeSpec, State, Structure, TransmissionId,
    TransmissionSpec, general_joint,
};
pub use prepare::{coasting, first_non_finite, move_kinematic, place_kinematic};
pub use replace_islands::{mark_islands, passive_bodies};
pub use settings::{
    Assembly, CarriedRotation, Displacement, Explicit, Gyroscopic, Implicit, JacobianAt, Loops, Order,
    RungeKutta, Scheme, Settings, TreeForm, is_step_length,
};
pub use sinew_math::{DriveCoordinate, JointKind};
pub use sinew_solvers::{
    Attached, BareTree, CgReport, CgSettings, CgStop, ConvexForces, ConvexReport, Load, Reaction,
};
pub use sinew_solvers::{LoopMethod, LoopReport, LoopSettings, LoopStop};
pub use skin_input::{FleshGrab, SkinInput, SkinPressure, SkinWind};
pub use sources::EnergySources;
pub use steppers::{
    BodiesAsOne, JointDemand, MotorGoals, StepHooks, external_wrenches, fill_part_input, step, step_coupled,
    step_observed,
};
pub use watch::{Noticed, Stage, StepReport, Watch};
pub use workspace::Workspace;
