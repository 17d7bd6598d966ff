#![doc = include_str!("../README.md")]

mod error;
mod joint_space;
mod state;

mod joint_coordinates;

mod tree;

mod command;
mod link_motion;
mod moved_links;

mod composite;
mod dof_table;

mod dynamics;

mod kinematics;
mod subspace_change;

mod base_momentum;
mod conversion;
mod hybrid;
mod impulse;
mod mass_factor;
mod mass_matrix;

mod centroid;
mod derivatives;
mod dof_pairs;
mod drift;
mod from_model;
mod integrate;
mod joint_matrices;
mod particles;

mod added_wrenches;
mod closed_steps;
mod loop_derivatives;
mod loop_dynamics;
mod loop_inverse;
mod loop_projection;
mod loop_response;
mod loop_torques;
mod looped_tree;
mod rank_factor;

pub use closed_steps::LoopedIntegrator;
pub use command::{HybridCommand, HybridReport, JointMode, TreeLoads};
pub use derivatives::{DerivativeRow, Derivatives};
pub use dynamics::Dynamics;
pub use error::RecursiveError;
pub use integrate::{Action, Integrator, Springs, StageAction};
pub use joint_matrices::JointMatrices;
pub use loop_derivatives::LoopDerivatives;
pub use loop_dynamics::{ClosureReport, ClosureSettings, LoopDynamics};
pub use looped_tree::LoopedTree;
pub use particles::{Particle, ParticleBone, ParticleState, add_reactions};
pub use state::TreeState;
pub use tree::{LinkId, Tree};
