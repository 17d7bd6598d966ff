#![doc = include_str!("../README.md")]

mod dense;
mod effective_mass;
mod error;
mod kernels;
mod layout;
mod pair;
mod pivot;
mod system;
mod threads;
mod tree_ldlt;

pub use dense::DenseReference;
pub use effective_mass::{EffectiveMass, Load, shift_force, shift_motion};
pub use error::FactorError;
pub use pair::{PairFactor, PairFactorView, PairJoint, PointJoint};
pub use system::BlockSystem;
pub use tree_ldlt::TreeLdlt;
