//! Coarse regular tetrahedra around a surface.
//!
//! The box around the surface is cut into equal bricks; empty ones are left out. There are two patterns:
//!
//! - *Bricks*: six tetrahedra around one diagonal, the same in every brick, so that faces match. Where several parts of
//!   the solid pass through one brick without touching there, such as two fingers, each gets its own brick, so that they
//!   can move apart. Several nodes may then have the same position.
//! - *Body-centred*: tetrahedra that join the centres of two neighbouring bricks with an edge of their common face, four
//!   per face. They are symmetric under every mirror of the grid, have a better shape, and reach half a brick beyond the
//!   box.
//!
//! Metres. Linear in bricks, of which there are at most [`crate::MAX_CELLS`].

use glam::DVec3;

use sinew_math::TetMesh;
use sinew_topology::DisjointSets;

use crate::brick_tets::{GridNodes, all, check_cells, six_tets};
use crate::cut_solid::{CellContent, CellGrid, CutSolid};
use crate::{box_tree::Bounds, error::MeshError, solid_part::CapSide};

/// Distance of the surface from the outer planes of the grid, in bricks, so that no vertex lies in them.
const MARGIN: f64 = 1e-3;

/// How fine a lattice is and how its bricks are cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Number of bricks.
    pub cells: Cells,
    /// How bricks become tetrahedra.
    pub pattern: Pattern,
}

impl Lattice {
    /// Cubes, `n` along the longest side of the surface, cut into body-centred tetrahedra.
    pub fn longest(n: u32) -> Self {
        Self { cells: Cells::Longest(n), pattern: Pattern::BodyCentred }
    }
}

/// Number of bricks along the sides of the box around a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Cubes; their number along the longest side.
    Longest(u32),
    /// Bricks; their numbers along x, y and z.
    Each([u32; 3]),
}

/// How bricks are cut into tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Six in every brick, around its diagonal. Parts of the solid that are not connected inside a brick get their own
    /// bricks.
    Bricks,
    /// Four at every face between two bricks, around the line between their centres.
    BodyCentred,
}

/// The grid of a lattice around a box.
pub(crate) fn grid_around(bounds: Bounds, cells: Cells) -> Result<CellGrid, MeshError> {
    let size = bounds.size();
    let (cells, step) = match cells {
        Cells::Longest(n) => {
            let step = size.max_element() / (f64::from(n.max(1)) - 2.0 * MARGIN);
            let count = |length: f64| (length / step + 2.0 * MARGIN - 1e-9).ceil().max(1.0) as u32;
            (if n == 0 { [0; 3] } else { size.to_array().map(count) }, DVec3::splat(step))
        }
        Cells::Each(cells) => {
            let counts = DVec3::from_array(cells.map(|n| f64::from(n.max(1)) - 2.0 * MARGIN));
            (cells, size / counts)
        }
    };
    check_cells(cells)?;
    let half = step * DVec3::from_array(cells.map(f64::from)) * 0.5;
    Ok(CellGrid { origin: bounds.centre() - half, step, cells })
}

/// A brick of a lattice around one connected part of the solid.
#[derive(Clone, Copy)]
pub(crate) struct Brick {
    cell: [u32; 3],
    /// The shard of the solid in it; none in a full cell.
    pub(crate) shard: Option<u32>,
}

/// Six tetrahedra for each brick, one brick after the other. Each shard of a cell has its own brick. Two bricks share
/// the nodes of the face between them if the solid continues from one to the other.
pub(crate) fn bricks_around(solid: &CutSolid) -> Result<(TetMesh, Vec<Brick>), MeshError> {
    let cells = solid.grid.cells;
    let (mut bricks, mut first) = (Vec::new(), Vec::new());
    for cell in all(cells) {
        first.push(bricks.len());
        match solid.cell(cell) {
            CellContent::Empty => {}
            CellContent::Full => bricks.push(Brick { cell, shard: None }),
            CellContent::Cut { first, end } => {
                bricks.extend((first..end).map(|s| Brick { cell, shard: Some(s) }))
            }
        }
    }
    first.push(bricks.len());
    let side = |brick: &Brick, axis: usize, above: usize| match brick.shard {
        Some(shard) => &solid.shard(shard).sides[axis][above],
        None => CapSide::FULL,
    };
    // corners of every brick, numbered by their places along x, y and z as binary digits
    let mut corners = DisjointSets::new(8 * bricks.len());
    for (low, brick) in bricks.iter().enumerate() {
        for axis in (0..3).filter(|&axis| brick.cell[axis] + 1 < cells[axis]) {
            let mut next = brick.cell;
            next[axis] += 1;
            let next = solid.grid.index(next);
            for high in first[next]..first[next + 1] {
                if !side(brick, axis, 1).meets(side(&bricks[high], axis, 0)) {
                    continue;
                }
                let bit = 1 << axis;
                for corner in (0..8).filter(|corner| corner & bit == 0) {
                    corners.join((8 * low + (corner | bit)) as u32, (8 * high + corner) as u32);
                }
            }
        }
    }
    let (names, n_nodes) = corners.numbered();
    let mut nodes = vec![DVec3::ZERO; n_nodes];
    for (slot, &name) in names.iter().enumerate() {
        let place = |axis: usize| bricks[slot / 8].cell[axis] + (slot >> axis & 1) as u32;
        nodes[name as usize] = solid.grid.corner([place(0), place(1), place(2)]);
    }
    let tets = (0..bricks.len())
        .flat_map(|brick| six_tets([0; 3], |[i, j, k]| names[8 * brick + (i + 2 * j + 4 * k) as usize]));
    Ok((TetMesh::new(nodes, tets.collect())?, bricks))
}

/// Four tetrahedra around every face between two cells of which at least one is not empty.
pub(crate) fn centred_around(solid: &CutSolid) -> Result<TetMesh, MeshError> {
    let CellGrid { origin, step, cells } = solid.grid;
    // one more brick on every side; nodes on a grid of half bricks: corners at even places, centres at odd ones
    let outer = cells.map(|n| n + 2);
    let mut nodes = GridNodes::new(origin - step, step * 0.5, outer.map(|n| 2 * n + 1));
    let holds = |cell: [u32; 3]| {
        let inside = (0..3).all(|a| (1..=cells[a]).contains(&cell[a]));
        inside && solid.cell(cell.map(|i| i - 1)) != CellContent::Empty
    };
    let mut tets = Vec::new();
    for low in all(outer) {
        for axis in 0..3 {
            let mut high = low;
            high[axis] += 1;
            if high[axis] == outer[axis] || !(holds(low) || holds(high)) {
                continue;
            }
            let ends = [low, high].map(|cell| nodes.at(cell.map(|i| 2 * i + 1)));
            // corners of the common face, counter-clockwise about the axis
            let ring = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[b, c]| {
                let mut corner = high.map(|i| 2 * i);
                corner[(axis + 1) % 3] += 2 * b;
                corner[(axis + 2) % 3] += 2 * c;
                nodes.at(corner)
            });
            tets.extend((0..4).map(|k| [ends[0], ring[k], ring[(k + 1) % 4], ends[1]]));
        }
    }
    Ok(TetMesh::new(nodes.positions, tets)?)
}
