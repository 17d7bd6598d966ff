//! Rigs: bones that joints hold to each other, motions that they follow, and skins around them.
//!
//! Readers of rigs fill a [`Rig`]; [`Rig::write`] makes bodies, joints and tracks of it, [`flesh::add`] flesh around the bones. World axes, z-up,
//! metres, kilograms. A bone's body frame is that of its joint: its origin is where the bone begins.

mod flesh;
mod joints;
mod model;
mod repair;
mod sizes;
mod wrap;

pub use self::model::RigOptions;

pub(crate) use self::flesh::add as add_flesh;
pub(crate) use self::model::{BoneWeights, Rig, RigBone, RigMotion, RigSkin, unique_names};
pub(crate) use self::sizes::{bone_shapes, bounds, extent, lowest, size_bones};
