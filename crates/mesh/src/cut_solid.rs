//! The inside of a surface, cut along the cells of a grid, for exact integrals over tetrahedra.
//!
//! A closed surface is cut by the planes of the grid (`solid_part.rs`), halving the range of cells each time. A range
//! without pieces of the surface is full or empty as a whole. In a single cell, connected components become separate
//! shards.
//!
//! Coordinates in metres. Building takes O(n log cells); a tetrahedron takes the pieces in the cells that it touches.

use glam::DVec3;

use crate::overlap_integral::{OverlapSum, box_triangles};
use crate::solid_part::{CapSide, SolidPart};
use crate::{barycentric::Barycentric, box_tree::Bounds, surface::Surface};

/// A box that overlaps a cell by less than this share of the cell does not count as reaching it.
const TOUCH: f64 = 1e-12;

/// Equal boxes side by side: the planes of axis `a` lie at `origin[a] + i step[a]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellGrid {
    pub(crate) origin: DVec3,
    pub(crate) step: DVec3,
    pub(crate) cells: [u32; 3],
}

impl CellGrid {
    pub(crate) fn corner(&self, [i, j, k]: [u32; 3]) -> DVec3 {
        self.origin + self.step * DVec3::new(f64::from(i), f64::from(j), f64::from(k))
    }

    pub(crate) fn index(&self, [i, j, k]: [u32; 3]) -> usize {
        (i as usize * self.cells[1] as usize + j as usize) * self.cells[2] as usize + k as usize
    }

    fn n_cells(&self) -> usize {
        self.cells.iter().map(|&n| n as usize).product()
    }

    /// The cells that a box reaches into, as ranges per axis.
    fn reached(&self, bounds: &Bounds) -> [std::ops::Range<u32>; 3] {
        std::array::from_fn(|a| {
            let place = |x: f64| (x - self.origin[a]) / self.step[a];
            // a float outside the range of u32 becomes its nearest end
            let first = (place(bounds.lo[a]) + TOUCH).floor() as u32;
            let end = (place(bounds.hi[a]) - TOUCH).ceil() as u32;
            first.min(self.cells[a])..end.min(self.cells[a])
        })
    }
}

/// The part of the solid in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CellContent {
    Empty,
    Full,
    /// Partly full: a range of shards.
    Cut {
        first: u32,
        end: u32,
    },
}

/// A connected part of the solid in a cell.
pub(crate) struct Shard {
    /// Its closed surface, a range of `CutSolid::pieces`.
    first: u32,
    end: u32,
    /// Its caps towards the next cells, below and above for each axis.
    pub(crate) sides: [[CapSide; 2]; 3],
    /// The triangles of the surface that pass through it, in order.
    pub(crate) sources: Vec<u32>,
}

/// The inside of a surface, cut along the cells of a grid around it.
pub(crate) struct CutSolid {
    pub(crate) grid: CellGrid,
    cells: Vec<CellContent>,
    shards: Vec<Shard>,
    pieces: Vec<[DVec3; 3]>,
}

impl CutSolid {
    /// Cuts the inside of a surface; the grid must enclose the surface. Calls `progress` with the share of cells done.
    pub(crate) fn new(surface: &Surface, grid: CellGrid, progress: &mut dyn FnMut(f64)) -> Self {
        let cells = vec![CellContent::Empty; grid.n_cells()];
        let mut solid = Self { grid, cells, shards: Vec::new(), pieces: Vec::new() };
        let mut n_done = 0;
        solid.cut([0; 3], grid.cells, SolidPart::whole(surface.facets()), &mut |n| {
            n_done += n;
            progress(n_done as f64 / grid.n_cells() as f64);
        });
        solid
    }

    pub(crate) fn shard(&self, shard: u32) -> &Shard {
        &self.shards[shard as usize]
    }

    pub(crate) fn cell(&self, at: [u32; 3]) -> CellContent {
        self.cells[self.grid.index(at)]
    }

    /// Fills the cells `lo..hi` with a part of the solid.
    fn cut(&mut self, lo: [u32; 3], hi: [u32; 3], part: SolidPart, done: &mut dyn FnMut(usize)) {
        let extent: [u32; 3] = std::array::from_fn(|a| hi[a] - lo[a]);
        let n_cells = extent.iter().map(|&n| n as usize).product();
        if part.is_plain() {
            let (near, far) = (self.grid.corner(lo), self.grid.corner(hi));
            if part.volume(near) > 0.5 * (far - near).element_product() {
                self.fill(lo, hi);
            }
            return done(n_cells);
        }
        if n_cells == 1 {
            self.keep(lo, part);
            return done(1);
        }
        let axis = (0..3).max_by_key(|&a| extent[a]).unwrap_or(0);
        let middle = lo[axis] + extent[axis] / 2;
        let (mut below, mut above) = (hi, lo);
        (below[axis], above[axis]) = (middle, middle);
        let [low, high] = part.split(axis, self.grid.corner([middle; 3])[axis]);
        self.cut(lo, below, low, done);
        self.cut(above, hi, high, done);
    }

    /// Stores the shards of a cut cell.
    fn keep(&mut self, at: [u32; 3], part: SolidPart) {
        let first = self.shards.len() as u32;
        for part in part.apart() {
            let start = self.pieces.len() as u32;
            self.pieces.extend(part.triangles());
            let end = self.pieces.len() as u32;
            self.shards.push(Shard { first: start, end, sides: part.sides(), sources: part.sources() });
        }
        let index = self.grid.index(at);
        self.cells[index] = CellContent::Cut { first, end: self.shards.len() as u32 };
    }

    fn fill(&mut self, lo: [u32; 3], hi: [u32; 3]) {
        for i in lo[0]..hi[0] {
            for j in lo[1]..hi[1] {
                let row = self.grid.index([i, j, lo[2]])..self.grid.index([i, j, hi[2] - 1]) + 1;
                self.cells[row].fill(CellContent::Full);
            }
        }
    }

    /// Integrals of the four barycentric coordinates over the common part of a tetrahedron and the solid, divided by
    /// the volume of the tetrahedron; their sum is the fill ratio.
    pub(crate) fn integrate(&self, corners: [DVec3; 4]) -> [f64; 4] {
        let bounds = Bounds::of(corners);
        let [x, y, z] = self.grid.reached(&bounds);
        let cells = || {
            let (x, y, z) = (x.clone(), y.clone(), z.clone());
            x.flat_map(move |i| {
                let z = z.clone();
                y.clone().flat_map(move |j| z.clone().map(move |k| [i, j, k]))
            })
        };
        if cells().all(|at| self.cell(at) == CellContent::Empty) {
            return [0.0; 4];
        }
        let enclosed = bounds.lo.cmpge(self.grid.corner([0; 3])).all()
            && bounds.hi.cmple(self.grid.corner(self.grid.cells)).all();
        if enclosed && cells().all(|at| self.cell(at) == CellContent::Full) {
            return [0.25; 4];
        }
        let map = Barycentric::new(corners);
        let mut sum = OverlapSum::default();
        for at in cells() {
            match self.cell(at) {
                CellContent::Empty => {}
                CellContent::Full => {
                    let (near, far) = (self.grid.corner(at), self.grid.corner(at.map(|i| i + 1)));
                    box_triangles(near, far).for_each(|t| sum.add(t.map(|p| map.of(p))));
                }
                CellContent::Cut { first, end } => {
                    (first..end).for_each(|shard| self.add_shard(shard, &map, &mut sum))
                }
            }
        }
        sum.nodal()
    }

    /// The same over one shard only.
    pub(crate) fn integrate_shard(&self, corners: [DVec3; 4], shard: u32) -> [f64; 4] {
        let mut sum = OverlapSum::default();
        self.add_shard(shard, &Barycentric::new(corners), &mut sum);
        sum.nodal()
    }

    fn add_shard(&self, shard: u32, map: &Barycentric, sum: &mut OverlapSum) {
        let Shard { first, end, .. } = self.shards[shard as usize];
        self.pieces[first as usize..end as usize].iter().for_each(|t| sum.add(t.map(|p| map.of(p))));
    }
}
