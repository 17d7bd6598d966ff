//! Tetrahedral meshes that are known to be good, and plain solids made of them.
//!
//! Properties that hold: at least one tetrahedron, finite nodes, existing indices, every node used, every volume
//! `(x₁ − x₀) × (x₂ − x₀) · (x₃ − x₀) / 6` positive beyond rounding. Nodes in metres. Checks are linear in the mesh.

use glam::{DMat3, DVec3};

use crate::MeshError;

/// A volume below this fraction of the product of three edges is rounding error.
const FLAT: f64 = 1e-14;

/// The faces of a tetrahedron, each opposite the node of its place, counter-clockwise seen from outside.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// A checked tetrahedral mesh.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "TetDoc", into = "TetDoc"))]
pub struct TetMesh {
    nodes: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
}

impl TetMesh {
    /// Checks a mesh of nodes (m) and tetrahedra.
    ///
    /// # Errors
    /// [`MeshError`] names the first node or tetrahedron that is not as it should be; inverted tetrahedra included.
    pub fn new(nodes: Vec<DVec3>, tets: Vec<[u32; 4]>) -> Result<Self, MeshError> {
        check_indices(&nodes, &tets)?;
        for (tet, &corners) in tets.iter().enumerate() {
            if let (volume, -1) = volume(&nodes, tet, corners)? {
                return Err(MeshError::InvertedTetrahedron { tet, volume });
            }
        }
        Ok(Self { nodes, tets })
    }

    /// Checks a mesh and turns its inverted tetrahedra; also returns how many there were.
    ///
    /// # Errors
    /// As [`TetMesh::new`], inverted tetrahedra excepted.
    pub fn repaired(nodes: Vec<DVec3>, mut tets: Vec<[u32; 4]>) -> Result<(Self, usize), MeshError> {
        check_indices(&nodes, &tets)?;
        let mut n_turned = 0;
        for (tet, corners) in tets.iter_mut().enumerate() {
            if volume(&nodes, tet, *corners)?.1 < 0 {
                corners.swap(2, 3);
                n_turned += 1;
            }
        }
        Ok((Self { nodes, tets }, n_turned))
    }

    /// A box from the origin to `lengths` (m), cut into `cells` bricks of six tetrahedra along a diagonal.
    ///
    /// # Errors
    /// Lengths that are not positive and finite, zero or too many cells.
    pub fn beam(lengths: DVec3, cells: [u32; 3]) -> Result<Self, MeshError> {
        if let Some(value) = lengths.to_array().into_iter().find(|l| !(l.is_finite() && *l > 0.0)) {
            return Err(MeshError::Setting { what: "a length", value, allowed: "positive and finite (m)" });
        }
        crate::lattice::check_cells(cells)?;
        let step = lengths / DVec3::from_array(cells.map(f64::from));
        Ok(crate::lattice::bricks(DVec3::ZERO, step, cells))
    }

    /// A cube from the origin, `side` long (m), cut into `cells` cubes along each side.
    ///
    /// # Errors
    /// As [`TetMesh::beam`].
    pub fn cube(side: f64, cells: u32) -> Result<Self, MeshError> {
        Self::beam(DVec3::splat(side), [cells; 3])
    }

    /// One tetrahedron: the origin and the ends of three legs of length `leg` (m) along the axes.
    ///
    /// # Errors
    /// A leg that is not positive and finite.
    pub fn single(leg: f64) -> Result<Self, MeshError> {
        Self::new(vec![DVec3::ZERO, DVec3::X * leg, DVec3::Y * leg, DVec3::Z * leg], vec![[0, 1, 2, 3]])
    }

    /// Node positions (m).
    pub fn nodes(&self) -> &[DVec3] {
        &self.nodes
    }

    /// Node indices of every tetrahedron, positively oriented.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// Volume of the tetrahedron `tet` (m³).
    pub fn volume(&self, tet: usize) -> f64 {
        let [a, b, c] = edges(&self.nodes, self.tets[tet]);
        a.dot(b.cross(c)) / 6.0
    }

    /// Triangles that belong to one tetrahedron only, counter-clockwise seen from outside, with node indices.
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

    /// Keeps the tetrahedra with `keep[tet]` and the nodes they use, in order.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        let mut keep = keep.iter();
        self.tets.retain(|_| keep.next().copied().unwrap_or(false));
        let mut used = vec![false; self.nodes.len()];
        self.tets.iter().flatten().for_each(|&i| used[i as usize] = true);
        let name = new_names(&used);
        self.tets.iter_mut().flatten().for_each(|i| *i = name[*i as usize]);
        let mut used = used.iter();
        self.nodes.retain(|_| used.next().copied().unwrap_or(false));
    }

    /// A mesh made by this crate, good by construction.
    pub(crate) fn trusted(nodes: Vec<DVec3>, tets: Vec<[u32; 4]>) -> Self {
        Self { nodes, tets }
    }

    /// The corners of the tetrahedron `tet`.
    pub(crate) fn corners(&self, tet: usize) -> [DVec3; 4] {
        self.tets[tet].map(|i| self.nodes[i as usize])
    }
}

/// The places of what is kept once the rest is gone.
pub(crate) fn new_names(keep: &[bool]) -> Vec<u32> {
    let count = |n: &mut u32, &kept: &bool| {
        let name = *n;
        *n += u32::from(kept);
        Some(name)
    };
    keep.iter().scan(0, count).collect()
}

/// The map from world to the last three barycentric coordinates of a tetrahedron: `φ = inverse (x − origin)`.
#[derive(Clone, Copy)]
pub(crate) struct Barycentric {
    pub(crate) origin: DVec3,
    inverse: DMat3,
}

impl Barycentric {
    pub(crate) fn new([a, b, c, d]: [DVec3; 4]) -> Self {
        Self { origin: a, inverse: DMat3::from_cols(b - a, c - a, d - a).inverse() }
    }

    /// The coordinates φ₁, φ₂, φ₃; φ₀ is what they lack to 1.
    pub(crate) fn of(&self, x: DVec3) -> DVec3 {
        self.inverse * (x - self.origin)
    }

    /// All four, and the least of them.
    pub(crate) fn all(&self, x: DVec3) -> ([f64; 4], f64) {
        let p = self.of(x);
        let first = 1.0 - p.x - p.y - p.z;
        ([first, p.x, p.y, p.z], first.min(p.min_element()))
    }
}

fn edges(nodes: &[DVec3], tet: [u32; 4]) -> [DVec3; 3] {
    let [o, a, b, c] = tet.map(|i| nodes[i as usize]);
    [a - o, b - o, c - o]
}

/// The volume of a tetrahedron and its sign, which is certain.
fn volume(nodes: &[DVec3], tet: usize, corners: [u32; 4]) -> Result<(f64, i8), MeshError> {
    let [a, b, c] = edges(nodes, corners);
    let volume = a.dot(b.cross(c)) / 6.0;
    let tiny = FLAT * a.length() * b.length() * c.length();
    if volume > tiny {
        Ok((volume, 1))
    } else if volume < -tiny {
        Ok((volume, -1))
    } else {
        let at = corners.map(|i| nodes[i as usize]).iter().sum::<DVec3>() / 4.0;
        Err(MeshError::FlatTetrahedron { tet, at, volume })
    }
}

fn check_indices(nodes: &[DVec3], tets: &[[u32; 4]]) -> Result<(), MeshError> {
    for (what, n) in [("nodes", nodes.len()), ("tetrahedra", tets.len())] {
        if n >= u32::MAX as usize / 4 {
            return Err(MeshError::TooMany { what, n });
        }
    }
    if tets.is_empty() {
        return Err(MeshError::NoTetrahedra);
    }
    if let Some(node) = nodes.iter().position(|x| !x.is_finite()) {
        return Err(MeshError::NonFiniteNode { node });
    }
    let mut used = vec![false; nodes.len()];
    for (tet, corners) in tets.iter().enumerate() {
        for &node in corners {
            match used.get_mut(node as usize) {
                Some(used) => *used = true,
                None => return Err(MeshError::MissingNode { tet, node, n_nodes: nodes.len() }),
            }
        }
    }
    match used.iter().position(|&used| !used) {
        Some(node) => Err(MeshError::UnusedNode { node }),
        None => Ok(()),
    }
}

#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct TetDoc {
    nodes: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
}

#[cfg(feature = "serde")]
impl TryFrom<TetDoc> for TetMesh {
    type Error = MeshError;

    fn try_from(doc: TetDoc) -> Result<Self, MeshError> {
        Self::new(doc.nodes, doc.tets)
    }
}

#[cfg(feature = "serde")]
impl From<TetMesh> for TetDoc {
    fn from(mesh: TetMesh) -> Self {
        Self { nodes: mesh.nodes, tets: mesh.tets }
    }
}
