//! The immutable model: what the user describes, checked, planned and laid out for the step.
//!
//! Specs (`spec`) are checked (`checks`), turned into records (`records`) and laid out in elimination order (`layout`).
//! `builder` makes a model, `edit` makes another one from it, `carry` takes a state along. `state` is the plain data that a step changes.

mod builder;
mod carried;
mod carry;
mod checks;
mod edit;
mod error;
mod general_joint;
mod ids;
mod islands;
mod layout;
mod mechanism;
mod merge;
mod names;
mod records;
mod rotor;
mod spec;
mod state;
mod transmission;
mod transmission_table;
mod tree_extent;

pub use builder::{MechanismBuilder, Structure};
pub(crate) use builder::{endpoints, n_rows};
pub use carry::Moves;
pub(crate) use checks::{
    Checked, check_body, check_joint, check_names, check_spring, check_transmission, label,
};
pub use edit::{Edited, ModelEdit};
pub use error::MechanismError;
pub use general_joint::{COORDINATE_NAMES, JointCoordinate, JointPart, general_joint};
pub use ids::{BodyId, JointId, MuscleId, TransmissionId};
pub(crate) use islands::Islands;
pub(crate) use layout::{Records, lay_out};
pub use mechanism::Model;
pub(crate) use mechanism::{DerivedTables, ModelNames, ModelSprings, ModelStructure};
pub(crate) use names::NameTable;
pub(crate) use records::{
    AnchorInertia, BodyInertia, BodyModel, Carried, JointModel, JointSide, LinearInertia, LoopModel,
    LoopSpring, PairForces, PairModel, PairPath, RotorModel, SECONDARY, WORLD, motion_of, pose_of,
};
pub use spec::{BodyKind, BodySpec, BreakLoad, JointSpec, PointSpringSpec};
pub use state::{History, IslandReserve, LoopState, State};
pub use transmission::{GearSpec, RopeSpec, TransmissionSpec};
pub(crate) use transmission::{Quantity, TransmissionModel, path_length};
pub(crate) use tree_extent::TreeExtent;
