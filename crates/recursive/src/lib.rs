#![doc = include_str!("../README.md")]

mod error;
mod joint_space;
mod state;

mod joint_coordinates;

mod tree;

mod command;
mod link_motion;

mod dynamics;

mod kinematics;

mod base_momentum;
mod conversion;
mod hybrid;
mod impulse;
mod mass_matrix;

mod derivatives;
mod drift;
mod from_model;
mod integrate;
mod particles;

pub use command::{HybridCommand, HybridReport, JointMode};
pub use derivatives::{DerivativeRow, Derivatives};
pub use dynamics::Dynamics;
pub use error::RecursiveError;
pub use integrate::{Action, Integrator, Springs, StageAction};
pub use particles::{Particle, ParticleBone, ParticleState, add_reactions};
pub use state::TreeState;
pub use tree::{LinkId, Tree};
