//! Tetrahedra from files: TetGen, Gmsh and VTK. Metres.
//!
//! Whatever the format, nodes that no tetrahedron uses are left out, tetrahedra of negative volume are turned, and elements that are not tetrahedra
//! are counted. Of second-order tetrahedra only the four corners are used. Memory is taken as entries are read, never for a count alone.

mod gmsh;
mod tetgen;
mod vtk;
mod vtu;
mod words;
mod write;

use glam::DVec3;
use sinew_math::TetMesh;

use crate::error::MeshError;

pub use write::{gmsh_text, tetgen_text, vtk_text};

/// The content of a file of tetrahedra.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TetFile {
    /// The mesh; node and element numbers count from 0.
    pub mesh: TetMesh,
    /// The number of its region of every tetrahedron: TetGen's first attribute, Gmsh's first physical group; empty if the file has none.
    pub regions: Vec<f64>,
    /// How many inverted tetrahedra were turned.
    pub n_turned: usize,
    /// How many nodes no tetrahedron uses; they were left out.
    pub n_unused: usize,
    /// How many elements are no tetrahedra; they were left out.
    pub n_other: usize,
}

/// Endings of single files of tetrahedra.
pub const TET_FILE_ENDINGS: &[&str] = &["msh", "vtk", "vtu"];

impl TetFile {
    /// Reads a file by the ending of its name: `.msh` (Gmsh 2.2 or 4.1, text), `.vtk` (legacy, text or binary) or `.vtu` (XML).
    ///
    /// # Errors
    /// The line or the part that cannot be read, or a fault of the mesh as for [`TetMesh::with_repaired_winding`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, MeshError> {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some("msh") => Self::from_gmsh(bytes),
            Some("vtk") => Self::from_vtk(bytes),
            Some("vtu") => Self::from_vtu(bytes),
            _ => {
                let problem = format!("`{name}` is no file of tetrahedra: use .msh, .vtk or .vtu");
                Err(MeshError::Format { problem })
            }
        }
    }

    /// The mesh of tetrahedra that are read, without nodes that none of them uses.
    fn assembled(read: ReadTets) -> Result<Self, MeshError> {
        let ReadTets { nodes: all, tets, regions, n_other } = read;
        let mut name = vec![u32::MAX; all.len()];
        tets.iter().flatten().for_each(|&i| name[i as usize] = 0);
        let mut nodes = Vec::new();
        for (name, node) in name.iter_mut().zip(&all).filter(|(name, _)| **name == 0) {
            *name = nodes.len() as u32;
            nodes.push(*node);
        }
        let n_unused = all.len() - nodes.len();
        let tets = tets.iter().map(|tet| tet.map(|i| name[i as usize])).collect();
        let (mesh, n_turned) = TetMesh::with_repaired_winding(nodes, tets)?;
        Ok(Self { mesh, regions, n_turned, n_unused, n_other })
    }
}

/// What a reader finds: tetrahedra by the place of their nodes, all of which exist.
#[derive(Default)]
struct ReadTets {
    nodes: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
    /// One per tetrahedron, or none.
    regions: Vec<f64>,
    n_other: usize,
}
