//! Tetrahedral meshes whose faults have been found.
//!
//! A [`TetMesh`] has at least one tetrahedron; every index is in range, every coordinate finite, every node used, no
//! tetrahedron repeats a node or is flat, and `(x₁−x₀)·(x₂−x₀)×(x₃−x₀) > 0` for each. Metres, any frame. Checking costs
//! one pass over nodes and tetrahedra; the first fault is returned as an error that names it.

use crate::FemError;
use glam::{DMat3, DVec3};

/// A tetrahedral mesh at rest: positive, non-degenerate tetrahedra over finite nodes that are all used.
#[derive(Clone, Debug, PartialEq)]
pub struct TetMesh {
    positions: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
}

/// A tetrahedron is flat when its volume is below this times the product of its three edges at the first node.
const FLAT: f64 = 1e-13;

impl TetMesh {
    /// Checks a mesh; tetrahedra of negative volume are errors.
    ///
    /// # Errors
    /// [`FemError`] names the first node or tetrahedron at fault.
    pub fn new(positions: Vec<DVec3>, tets: Vec<[u32; 4]>) -> Result<Self, FemError> {
        let mesh = Self { positions, tets };
        mesh.check_nodes()?;
        for tet in 0..mesh.tets.len() {
            let volume_m3 = mesh.checked_volume(tet)?;
            if volume_m3 < 0.0 {
                return Err(FemError::Inverted { tet, volume_m3 });
            }
        }
        Ok(mesh)
    }

    /// Checks a mesh and swaps two nodes of each tetrahedron of negative volume; also how many were swapped.
    ///
    /// # Errors
    /// [`FemError`] names the first node or tetrahedron at fault.
    pub fn with_repaired_winding(
        positions: Vec<DVec3>,
        tets: Vec<[u32; 4]>,
    ) -> Result<(Self, usize), FemError> {
        let mut mesh = Self { positions, tets };
        mesh.check_nodes()?;
        let mut n_repaired = 0;
        for tet in 0..mesh.tets.len() {
            if mesh.checked_volume(tet)? < 0.0 {
                mesh.tets[tet].swap(2, 3);
                n_repaired += 1;
            }
        }
        Ok((mesh, n_repaired))
    }

    /// Rest positions, m.
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// The four nodes of each tetrahedron.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// Pairs of nodes that a tetrahedron connects, each once, the smaller number first, in ascending order.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        const SIDES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let of_tet = |tet: &[u32; 4]| SIDES.map(|[a, b]| [tet[a].min(tet[b]), tet[a].max(tet[b])]);
        let mut edges: Vec<[u32; 2]> = self.tets.iter().flat_map(of_tet).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Deformation gradient of a tetrahedron whose nodes are at `positions`.
    ///
    /// # Panics
    /// If there is no such tetrahedron, or not one position per node.
    pub fn deformation(&self, tet: usize, positions: &[DVec3]) -> DMat3 {
        let [a, b, c, d] = self.tets[tet].map(|node| positions[node as usize]);
        DMat3::from_cols(b - a, c - a, d - a) * self.rest_edges(tet).inverse()
    }

    /// Edges from the first node to the other three, as columns: `D_m` of tetrahedron `tet`.
    pub(crate) fn rest_edges(&self, tet: usize) -> DMat3 {
        let [a, b, c, d] = self.tets[tet].map(|node| self.positions[node as usize]);
        DMat3::from_cols(b - a, c - a, d - a)
    }

    /// Volume of a tetrahedron, m³.
    pub fn volume(&self, tet: usize) -> f64 {
        self.rest_edges(tet).determinant() / 6.0
    }

    fn check_nodes(&self) -> Result<(), FemError> {
        let n_nodes = self.positions.len();
        if self.tets.is_empty() {
            return Err(FemError::NoElements);
        }
        let count = n_nodes.max(self.tets.len());
        if u32::try_from(count).is_err() {
            return Err(FemError::TooLarge { count });
        }
        if let Some(node) = self.positions.iter().position(|x| !x.is_finite()) {
            return Err(FemError::NotFinite { node });
        }
        let mut used = vec![false; n_nodes];
        for (tet, nodes) in self.tets.iter().enumerate() {
            for (k, &node) in nodes.iter().enumerate() {
                match used.get_mut(node as usize) {
                    None => return Err(FemError::NodeOutOfRange { tet, node, n_nodes }),
                    Some(_) if nodes[..k].contains(&node) => {
                        return Err(FemError::RepeatedNode { tet, node });
                    }
                    Some(used) => *used = true,
                }
            }
        }
        match used.iter().position(|used| !used) {
            Some(node) => Err(FemError::UnreferencedNode { node }),
            None => Ok(()),
        }
    }

    /// Signed volume, if it is one that can be inverted.
    fn checked_volume(&self, tet: usize) -> Result<f64, FemError> {
        let edges = self.rest_edges(tet);
        let determinant = edges.determinant();
        let size = edges.x_axis.length() * edges.y_axis.length() * edges.z_axis.length();
        let volume_m3 = determinant / 6.0;
        let usable = determinant.abs() > FLAT * size && edges.inverse().is_finite();
        if usable { Ok(volume_m3) } else { Err(FemError::ZeroVolume { tet, volume_m3 }) }
    }
}
