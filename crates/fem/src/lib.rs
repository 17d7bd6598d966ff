#![doc = include_str!("../README.md")]

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
mod select;
mod spectral;
mod stvk;
mod svd;
#[cfg(feature = "parallel")]
mod threads;

pub use diagonal::Extension;
pub use error::FemError;
pub use forces::{Diagonalize, FemReport, FemScratch, elastic_energy, elastic_forces, elastic_forces_scalar};
pub use material::{Band, Lame, Material};
pub use mesh::TetMesh;
pub use model::{FemModel, FemOptions};
