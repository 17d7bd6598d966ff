//! Boxes of tetrahedra: a grid of bricks, each cut into six tetrahedra.
//!
//! A brick is cut into six tetrahedra around a diagonal. Neighbours are mirror images of each other, so they share their
//! faces, and boxes of an even number of bricks are symmetric: with the same cut in every brick, a beam under a straight
//! load bends sideways. Nodes are numbered in order of first use. Metres; linear in bricks, of
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
    let grid = GridNodes::new(DVec3::ZERO, step, cells.map(|n| n + 1));
    let (nodes, tets) = cut(grid, cells, |cell| cell);
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

/// Nodes and tetrahedra of a block of bricks of size `step`, all cut alike.
pub(crate) fn bricks(origin: DVec3, step: DVec3, cells: [u32; 3]) -> (Vec<DVec3>, Vec<[u32; 4]>) {
    cut(GridNodes::new(origin, step, cells.map(|n| n + 1)), cells, |_| [0; 3])
}

/// Nodes and tetrahedra of a block of bricks, each cut as the brick at the place that `cut_as` gives.
fn cut(
    mut nodes: GridNodes,
    cells: [u32; 3],
    cut_as: impl Fn([u32; 3]) -> [u32; 3],
) -> (Vec<DVec3>, Vec<[u32; 4]>) {
    let mut tets = Vec::new();
    for cell in all(cells) {
        let mut node = |corner: [u32; 3]| nodes.at([0, 1, 2].map(|axis| cell[axis] + corner[axis]));
        // Numbers in the same order whichever way the brick is cut.
        six_tets([0; 3], &mut node);
        tets.extend(six_tets(cut_as(cell), node));
    }
    (nodes.positions, tets)
}

/// Six tetrahedra of the brick at a place of the grid; `node` gives the node at each of its corners.
pub(crate) fn six_tets(cell: [u32; 3], mut node: impl FnMut([u32; 3]) -> u32) -> [[u32; 4]; 6] {
    // paths along three edges from the lowest to the highest corner; the last three are mirror images
    const PATHS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    // in every second brick along each axis the mirror image, so that faces match and no direction is preferred
    let odd = cell.map(|place| place % 2);
    let mut node = |at: [u32; 3]| node([at[0] ^ odd[0], at[1] ^ odd[1], at[2] ^ odd[2]]);
    let is_mirrored = (odd[0] + odd[1] + odd[2]) % 2 == 1;
    std::array::from_fn(|path| {
        let mut at = [0; 3];
        let mut tet = [node(at); 4];
        for (k, axis) in PATHS[path].into_iter().enumerate() {
            at[axis] = 1;
            tet[k + 1] = node(at);
        }
        if (path >= 3) != is_mirrored {
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
