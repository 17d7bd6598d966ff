//! Boxes of tetrahedra: a grid of bricks, each cut into six tetrahedra.
//!
//! A brick is cut into six tetrahedra around the diagonal from its lowest to its highest corner. The cut is the same in
//! every brick, so neighbours share their faces. Nodes are numbered in order of first use. Metres; linear in bricks, of
//! which there are at most [`MAX_CELLS`].

use glam::DVec3;
use sinew_math::TetMesh;

use crate::error::MeshError;

/// The largest number of bricks.
pub const MAX_CELLS: u64 = 1 << 24;

/// A box from the origin to `lengths` (m), cut into `cells` bricks of six tetrahedra each.
///
/// # Errors
/// Lengths that are not positive and finite, or no or too many cells.
pub fn beam(lengths: DVec3, cells: [u32; 3]) -> Result<TetMesh, MeshError> {
    if let Some(value) = lengths.to_array().into_iter().find(|l| !(l.is_finite() && *l > 0.0)) {
        return Err(MeshError::Setting { what: "a box length", value, allowed: "positive and finite (m)" });
    }
    check_cells(cells)?;
    let step = lengths / DVec3::from_array(cells.map(f64::from));
    let (nodes, tets) = bricks(DVec3::ZERO, step, cells);
    Ok(TetMesh::new(nodes, tets)?)
}

/// A cube from the origin, `side` long (m), cut into `cells` cubes along each side.
///
/// # Errors
/// As [`beam`].
pub fn cube(side: f64, cells: u32) -> Result<TetMesh, MeshError> {
    beam(DVec3::splat(side), [cells; 3])
}

/// One tetrahedron: the origin, and the ends of three edges of length `edge` (m) along the axes.
///
/// # Errors
/// An edge length that is not positive and finite.
pub fn single_tet(edge: f64) -> Result<TetMesh, MeshError> {
    let corners = vec![DVec3::ZERO, DVec3::X * edge, DVec3::Y * edge, DVec3::Z * edge];
    Ok(TetMesh::new(corners, vec![[0, 1, 2, 3]])?)
}

/// Between 1 and [`MAX_CELLS`] bricks.
pub(crate) fn check_cells(cells: [u32; 3]) -> Result<(), MeshError> {
    let n = cells.iter().map(|&n| f64::from(n)).product::<f64>();
    if (1.0..=MAX_CELLS as f64).contains(&n) {
        return Ok(());
    }
    Err(MeshError::Setting { what: "the number of cells", value: n, allowed: "from 1 to 16,777,216" })
}

/// Nodes and tetrahedra of a block of bricks of size `step`.
pub(crate) fn bricks(origin: DVec3, step: DVec3, cells: [u32; 3]) -> (Vec<DVec3>, Vec<[u32; 4]>) {
    let mut nodes = GridNodes::new(origin, step, cells.map(|n| n + 1));
    let tets =
        all(cells).flat_map(|[i, j, k]| six_tets(|[a, b, c]| nodes.at([i + a, j + b, k + c]))).collect();
    (nodes.positions, tets)
}

/// Six tetrahedra of a brick; `node` gives the node at each of its corners.
pub(crate) fn six_tets(mut node: impl FnMut([u32; 3]) -> u32) -> [[u32; 4]; 6] {
    // paths along three edges from the lowest to the highest corner; the last three are mirror images
    const PATHS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    std::array::from_fn(|path| {
        let mut at = [0; 3];
        let mut tet = [node(at); 4];
        for (k, axis) in PATHS[path].into_iter().enumerate() {
            at[axis] = 1;
            tet[k + 1] = node(at);
        }
        if path >= 3 {
            tet.swap(2, 3);
        }
        tet
    })
}

/// Nodes of a grid, each made when it is first used.
pub(crate) struct GridNodes {
    origin: DVec3,
    step: DVec3,
    counts: [u32; 3],
    indices: Vec<u32>,
    pub(crate) positions: Vec<DVec3>,
}

impl GridNodes {
    pub(crate) fn new(origin: DVec3, step: DVec3, counts: [u32; 3]) -> Self {
        let n = counts.iter().map(|&n| n as usize).product();
        Self { origin, step, counts, indices: vec![u32::MAX; n], positions: Vec::new() }
    }

    /// The node at a grid place.
    pub(crate) fn at(&mut self, [i, j, k]: [u32; 3]) -> u32 {
        let [_, n, m] = self.counts.map(|n| n as usize);
        let index = &mut self.indices[(i as usize * n + j as usize) * m + k as usize];
        if *index == u32::MAX {
            *index = self.positions.len() as u32;
            let place = DVec3::new(f64::from(i), f64::from(j), f64::from(k));
            self.positions.push(self.origin + self.step * place);
        }
        *index
    }
}

/// All triples below `n`, the last index fastest.
pub(crate) fn all(n: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..n[0]).flat_map(move |i| (0..n[1]).flat_map(move |j| (0..n[2]).map(move |k| [i, j, k])))
}
