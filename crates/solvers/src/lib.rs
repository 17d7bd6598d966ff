#![doc = include_str!("../README.md")]

mod dense;
mod error;
mod kernels;
mod layout;
mod system;
mod threads;
mod tree_ldlt;

pub use dense::DenseReference;
pub use error::FactorError;
pub use system::BlockSystem;
pub use tree_ldlt::TreeLdlt;

mod pair;

pub use pair::{
    EffectiveMass, Load, PairFactor, PairFactorView, PairJoint, PointJoint, shift_force, shift_motion,
};
