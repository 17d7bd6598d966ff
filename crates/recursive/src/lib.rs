#![doc = include_str!("../README.md")]

mod articulated;
mod error;
mod hybrid;
mod joint_space;
mod kinematics;
mod probe;
mod state;
mod tree;

pub use error::RecursiveError;
pub use hybrid::{Command, Dynamics, Mode, SweepReport};
pub use state::TreeState;
pub use tree::{LinkId, Tree};
