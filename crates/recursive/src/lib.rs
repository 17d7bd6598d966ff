#![doc = include_str!("../README.md")]

mod command;
mod conversion;
mod derivatives;
mod dynamics;
mod error;
mod from_model;
mod hybrid;
mod integrate;
mod joint_coordinates;
mod joint_space;
mod kinematics;
mod link_motion;
mod mass_matrix;
mod particles;
mod state;
mod tree;

pub use command::{HybridCommand, HybridReport, JointMode};
pub use derivatives::{DerivativeRow, Derivatives};
pub use dynamics::Dynamics;
pub use error::RecursiveError;
pub use integrate::{Action, Integrator, Springs, StageAction, resisted};
pub use particles::{BoneMotion, Particle, ParticleState, add_reactions};
pub use state::TreeState;
pub use tree::{LinkId, Tree};
