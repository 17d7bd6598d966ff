#![doc = include_str!("../README.md")]

mod derivatives;
mod error;
mod hybrid;
mod integrate;
mod joint_space;
mod kinematics;
mod mass_matrix;
mod particles;
mod state;
mod tree;

pub use derivatives::{Derivatives, Row};
pub use error::RecursiveError;
pub use hybrid::{Command, Dynamics, Mode, SweepReport};
pub use integrate::{Action, Integrator, Springs, StageAction, resisted};
pub use particles::{Bone, Particle, ParticleState, add_reactions};
pub use state::TreeState;
pub use tree::{LinkId, Tree};
