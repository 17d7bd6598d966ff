//! Joints, springs and hard grabs outside the tree, refined on top of the tree's exact solution.
//!
//! `step_rows` and `acceleration_rows` write their rows, `closing` solves for the multipliers within the budget of `refinement`.
//! `opening` says what becomes of joints that may open while they are open.

mod acceleration_rows;
mod closing;
mod force_rows;
mod joint_graph;
mod opening;
mod point_pair;
mod refinement;
mod step_rows;
mod transmission_rows;
mod work;

pub(crate) use force_rows::{ForceRows, INACTIVE, force_row, idle, release, rigid_rows, spring_rows};
pub(crate) use joint_graph::JointGraph;
pub(crate) use opening::{OpeningPolicy, Treatment, free_mass, loaded_mass, soften};
pub(crate) use point_pair::PointPair;
pub(crate) use refinement::Refinement;
pub(crate) use step_rows::{Linearizer, LoopDemand};
pub(crate) use transmission_rows::TransmissionAt;
pub(crate) use work::{LoopTerms, LoopWorkspace, PrimaryRows, Surroundings};
