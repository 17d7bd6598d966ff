#![doc = include_str!("../README.md")]

mod barycentric;
mod boxes;
mod brick_tets;
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

pub use brick_tets::{MAX_CELLS, beam, cube, single_tet};
pub use embed::{EmbeddedBody, Filling, overlap_shares};
pub use error::MeshError;
pub use implicit::{Shape, mesh_shapes};
pub use lattice::{Cells, Lattice, Pattern};
pub use quality::Quality;
pub use sinew_math::{SurfacePoint, TetMesh, TetMeshError};
pub use surface::Surface;
pub use tetgen::TetGen;
