#![doc = include_str!("../README.md")]

mod boxes;
pub mod characters;
mod clip;
mod embed;
mod error;
mod implicit;
mod intersect;
mod lattice;
mod loft;
mod obj;
mod part;
mod quality;
mod sets;
mod solid;
mod stl;
#[cfg(feature = "serde")]
mod store;
mod surface;
mod tetgen;
mod tets;

pub use embed::{Anchor, EmbeddedBody, Filling, overlap_shares};
pub use error::MeshError;
pub use implicit::{Shape, mesh_shapes};
pub use lattice::{Cells, Lattice, MAX_CELLS, Pattern};
pub use quality::Quality;
pub use surface::Surface;
pub use tetgen::TetGen;
pub use tets::TetMesh;
