//! Explicit sub-steps of flesh beside bodies that another scheme moves.

mod bone_rate;
mod contact_forces;
mod contact_list;
mod flesh_scratch;
mod outside_step;
mod step;
mod workspace;

pub use contact_forces::rigid_wrenches;
pub use step::{ExplicitFlesh, ExplicitReport, finish_explicit, predict_bodies, step_explicit};
pub use workspace::ExplicitWorkspace;
