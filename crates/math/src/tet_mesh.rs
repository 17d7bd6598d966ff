//! Validated tetrahedral meshes, and points inside them.
//!
//! A [`TetMesh`] has at least one tetrahedron. Every index exists, every coordinate is finite, every node is used, no
//! tetrahedron repeats a node or is flat, and the volume `(x₁−x₀)×(x₂−x₀)·(x₃−x₀)/6` of each is positive. Code that
//! receives a mesh checks nothing again.
//!
//! Metres, any frame; indices from 0. Checks are linear in nodes and tetrahedra. The first fault is an error that names
//! it.

use glam::{DMat3, DVec3};

/// A tetrahedron is flat when the determinant of its edges is below this times the product of their lengths.
const FLAT: f64 = 1e-13;

/// The corners of the six edges of a tetrahedron.
const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// The corners of the four faces of a tetrahedron, counter-clockwise seen from outside; face `i` is opposite corner
/// `i`.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// A validated tetrahedral mesh.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "TetMeshDoc"))]
pub struct TetMesh {
    #[cfg_attr(feature = "serde", serde(rename = "nodes"))]
    positions: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
}

/// A point inside a tetrahedron, such as a vertex of an embedded surface.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SurfacePoint {
    /// Index of the tetrahedron.
    pub tet: u32,
    /// Barycentric coordinates: the weights of the four corners, which sum to 1.
    pub weights: [f64; 4],
}

impl SurfacePoint {
    /// The weighted sum of the values at the four corners.
    #[inline]
    pub fn interpolate(&self, [a, b, c, d]: [DVec3; 4]) -> DVec3 {
        let weights = &self.weights;
        (a * weights[0] + b * weights[1]) + (c * weights[2] + d * weights[3])
    }
}

impl TetMesh {
    /// Checks a mesh of nodes (m) and tetrahedra. A tetrahedron of negative volume is an error.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_math::TetMesh;
    ///
    /// let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    /// let mesh = TetMesh::new(corners.clone(), vec![[0, 1, 2, 3]])?;
    /// assert_eq!((mesh.edges().len(), mesh.boundary().len()), (6, 4));
    ///
    /// let error = TetMesh::new(corners, vec![[0, 2, 1, 3]]).unwrap_err();
    /// assert!(error.to_string().starts_with("tetrahedron 0 is inverted"));
    /// # Ok::<(), sinew_math::TetMeshError>(())
    /// ```
    ///
    /// # Errors
    /// [`TetMeshError`] names the first faulty node or tetrahedron.
    pub fn new(positions: Vec<DVec3>, tets: Vec<[u32; 4]>) -> Result<Self, TetMeshError> {
        let mesh = Self { positions, tets };
        mesh.check_nodes()?;
        for tet in 0..mesh.tets.len() {
            let volume_m3 = mesh.checked_volume(tet)?;
            if volume_m3 < 0.0 {
                return Err(TetMeshError::Inverted { tet, volume_m3 });
            }
        }
        Ok(mesh)
    }

    /// Checks a mesh and swaps two nodes of each tetrahedron of negative volume. Also returns how many were swapped.
    ///
    /// # Errors
    /// As [`TetMesh::new`], except for inverted tetrahedra.
    pub fn with_repaired_winding(
        positions: Vec<DVec3>,
        tets: Vec<[u32; 4]>,
    ) -> Result<(Self, usize), TetMeshError> {
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

    /// Node positions (m).
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// The four nodes of each tetrahedron.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// Positions of the corners of a tetrahedron (m).
    pub fn corners(&self, tet: usize) -> [DVec3; 4] {
        self.tets[tet].map(|node| self.positions[node as usize])
    }

    /// Edges from the first corner to the other three, as columns (m): `D_m` of the finite element literature.
    pub fn edge_matrix(&self, tet: usize) -> DMat3 {
        edge_matrix(self.corners(tet))
    }

    /// Volume of a tetrahedron (m³).
    pub fn volume(&self, tet: usize) -> f64 {
        self.edge_matrix(tet).determinant() / 6.0
    }

    /// Deformation gradient of a tetrahedron whose nodes have moved to `positions`.
    ///
    /// # Panics
    /// If there is no such tetrahedron, or not one position per node.
    pub fn deformation(&self, tet: usize, positions: &[DVec3]) -> DMat3 {
        let moved = self.tets[tet].map(|node| positions[node as usize]);
        edge_matrix(moved) * self.edge_matrix(tet).inverse()
    }

    /// Where a point of the mesh is (m) when the nodes are at `positions`.
    ///
    /// # Panics
    /// If there is no such tetrahedron, or not one position per node.
    #[inline]
    pub fn point(&self, point: &SurfacePoint, positions: &[DVec3]) -> DVec3 {
        point.interpolate(self.tets[point.tet as usize].map(|node| positions[node as usize]))
    }

    /// Pairs of nodes that a tetrahedron connects: each once, the smaller index first, in ascending order.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let of_tet = |tet: &[u32; 4]| EDGES.map(|[a, b]| [tet[a].min(tet[b]), tet[a].max(tet[b])]);
        let mut edges: Vec<[u32; 2]> = self.tets.iter().flat_map(of_tet).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Triangles that belong to one tetrahedron only, counter-clockwise seen from outside, as node indices.
    pub fn boundary(&self) -> Vec<[u32; 3]> {
        // (sorted nodes, outward triangle): inner faces come in pairs
        let mut faces: Vec<([u32; 3], [u32; 3])> = Vec::with_capacity(4 * self.tets.len());
        for tet in &self.tets {
            faces.extend(FACES.map(|face| {
                let outward = face.map(|i| tet[i]);
                let mut key = outward;
                key.sort_unstable();
                (key, outward)
            }));
        }
        faces.sort_unstable();
        let single = faces.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1);
        single.map(|same| same[0].1).collect()
    }

    /// The tetrahedra with `keep[tet]` and the nodes that they use, in their old order.
    ///
    /// # Errors
    /// [`TetMeshError::Empty`] if nothing is kept.
    pub fn subset(&self, keep: &[bool]) -> Result<Self, TetMeshError> {
        let kept = self.tets.iter().zip(keep).filter(|(_, keep)| **keep);
        let mut tets: Vec<[u32; 4]> = kept.map(|(tet, _)| *tet).collect();
        if tets.is_empty() {
            return Err(TetMeshError::Empty);
        }
        let mut used = vec![false; self.positions.len()];
        tets.iter().flatten().for_each(|&node| used[node as usize] = true);
        let (mut new_index, mut positions) = (vec![0; used.len()], Vec::new());
        for (node, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            new_index[node] = positions.len() as u32;
            positions.push(self.positions[node]);
        }
        tets.iter_mut().flatten().for_each(|node| *node = new_index[*node as usize]);
        Ok(Self { positions, tets })
    }

    fn check_nodes(&self) -> Result<(), TetMeshError> {
        let n_nodes = self.positions.len();
        if self.tets.is_empty() {
            return Err(TetMeshError::Empty);
        }
        let count = n_nodes.max(self.tets.len());
        if u32::try_from(count).is_err() {
            return Err(TetMeshError::TooMany { count });
        }
        if let Some(node) = self.positions.iter().position(|x| !x.is_finite()) {
            return Err(TetMeshError::NonFiniteNode { node });
        }
        let mut used = vec![false; n_nodes];
        for (tet, nodes) in self.tets.iter().enumerate() {
            for (k, &node) in nodes.iter().enumerate() {
                match used.get_mut(node as usize) {
                    None => return Err(TetMeshError::MissingNode { tet, node, n_nodes }),
                    Some(_) if nodes[..k].contains(&node) => {
                        return Err(TetMeshError::RepeatedNode { tet, node });
                    }
                    Some(used) => *used = true,
                }
            }
        }
        match used.iter().position(|used| !used) {
            Some(node) => Err(TetMeshError::UnusedNode { node }),
            None => Ok(()),
        }
    }

    /// The signed volume (m³) of a tetrahedron that is not flat and whose edge matrix has a finite inverse.
    fn checked_volume(&self, tet: usize) -> Result<f64, TetMeshError> {
        let edges = self.edge_matrix(tet);
        let determinant = edges.determinant();
        let size = edges.x_axis.length() * edges.y_axis.length() * edges.z_axis.length();
        let volume_m3 = determinant / 6.0;
        if determinant.abs() > FLAT * size && edges.inverse().is_finite() {
            return Ok(volume_m3);
        }
        let at = self.corners(tet).iter().sum::<DVec3>() / 4.0;
        Err(TetMeshError::Flat { tet, at, volume_m3 })
    }
}

fn edge_matrix([a, b, c, d]: [DVec3; 4]) -> DMat3 {
    DMat3::from_cols(b - a, c - a, d - a)
}

/// What is wrong with a tetrahedral mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum TetMeshError {
    /// The mesh has no tetrahedra.
    Empty,
    /// More nodes or tetrahedra than 32-bit indices can count.
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// A node has a NaN or infinite coordinate.
    NonFiniteNode {
        /// Index of the node.
        node: usize,
    },
    /// A tetrahedron refers to a node that does not exist.
    MissingNode {
        /// Index of the tetrahedron.
        tet: usize,
        /// The node index that it uses.
        node: u32,
        /// How many nodes there are.
        n_nodes: usize,
    },
    /// A tetrahedron uses a node twice.
    RepeatedNode {
        /// Index of the tetrahedron.
        tet: usize,
        /// Index of the node.
        node: u32,
    },
    /// No tetrahedron uses a node.
    UnusedNode {
        /// Index of the node.
        node: usize,
    },
    /// A tetrahedron has no volume up to rounding, or is too small for its edge matrix to be inverted.
    Flat {
        /// Index of the tetrahedron.
        tet: usize,
        /// Its centre (m).
        at: DVec3,
        /// Its signed volume (m³).
        volume_m3: f64,
    },
    /// A tetrahedron has negative volume: it lists its nodes in the wrong order.
    Inverted {
        /// Index of the tetrahedron.
        tet: usize,
        /// Its signed volume (m³).
        volume_m3: f64,
    },
}

messages! {
    TetMeshError {
        Self::Empty => "the mesh has no tetrahedra";
        Self::TooMany { count } => "{count} nodes or tetrahedra are more than 32-bit indices can count";
        Self::NonFiniteNode { node } => "node {node} has a NaN or infinite coordinate";
        Self::MissingNode { tet, node, n_nodes } =>
            "tetrahedron {tet} refers to node {node}, but there are only {n_nodes}";
        Self::RepeatedNode { tet, node } => "tetrahedron {tet} uses node {node} twice";
        Self::UnusedNode { node } => "no tetrahedron uses node {node}";
        Self::Flat { tet, at, volume_m3 } => "tetrahedron {tet} at {at} is flat (volume {volume_m3} m³)";
        Self::Inverted { tet, volume_m3 } =>
            "tetrahedron {tet} is inverted (volume {volume_m3} m³); swap two of its nodes";
    }
}

/// The serialized form, not yet checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct TetMeshDoc {
    nodes: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
}

#[cfg(feature = "serde")]
impl TryFrom<TetMeshDoc> for TetMesh {
    type Error = TetMeshError;

    fn try_from(doc: TetMeshDoc) -> Result<Self, TetMeshError> {
        Self::new(doc.nodes, doc.tets)
    }
}
