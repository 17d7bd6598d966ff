#![doc = include_str!("../README.md")]

// Modules of one group use each other, and those of the groups above.
mod barycentric;
mod box_tree;
mod error;
mod triangles;

mod self_intersection;
mod surface;

mod brick_tets;
mod loft;
mod obj;
mod ply;
mod stl;
mod surface_file;
mod tet_file;

mod implicit;
mod overlap_integral;
mod solid_part;

mod cut_solid;

mod lattice;

mod embed;

#[cfg(feature = "serde")]
mod body_document;
mod quality;

pub mod characters;

pub use brick_tets::{MAX_CELLS, beam, cube, single_tet};
pub use embed::{EmbeddedBody, Filling, overlap_shares};
pub use error::MeshError;
pub use implicit::{RoundShape, mesh_shapes};
pub use lattice::{Cells, Lattice, Pattern};
pub use quality::Quality;
pub use sinew_math::{SurfacePoint, TetMesh, TetMeshError, Triangles};
pub use surface::Surface;
pub use surface_file::{SURFACE_ENDINGS, read_triangles};
pub use tet_file::{TET_FILE_ENDINGS, TetFile, gmsh_text, tetgen_text, vtk_text};
pub use triangles::weld;
