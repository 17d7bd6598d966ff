#![doc = include_str!("../README.md")]

mod attach;
#[cfg(target_arch = "x86_64")]
mod avx;
mod block;
mod diagonal;
mod error;
mod forces;
mod kernel;
mod lanes;
mod material;
mod mesh;
mod model;
mod neo_hookean;
mod pair;
mod select;
mod spectral;
mod step;
mod stvk;
mod svd;
mod tangent;
#[cfg(feature = "parallel")]
mod threads;

pub use attach::{
    AttachedNode, Attachments, BoneCapsule, BoneMotion, FreeNode, nearest_bones, nodes_within, paint,
};
pub use diagonal::Extension;
pub use error::FemError;
pub use forces::{Diagonalize, FemReport, FemScratch, elastic_energy, elastic_forces, elastic_forces_scalar};
pub use material::{Band, Lame, Material};
pub use mesh::TetMesh;
pub use model::{FemModel, FemOptions};
pub use step::{ExplicitStep, FemState, StepScratch, stable_dt, step_explicit};
pub use tangent::{ElementTangent, Projection, STIFFNESS_PAIRS, for_each_tangent};
