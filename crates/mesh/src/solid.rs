//! The inside of a surface, cell by cell of a grid, for exact integrals over parts of it.
//!
//! A closed surface is cut by the planes of the grid, halving the range of cells each time. What lies in a range of cells is
//! bounded by pieces of the surface and by caps in the six sides of the range; a cap is known by its outline alone, a closed
//! chain of segments. A plane splits pieces into pieces and outlines into outlines: a cut outline is closed along the line of
//! the cut, where it leaves and comes back, and these lines together with the cuts of the pieces are the outline of the new
//! cap, the same for both halves. Finally a cap is a fan of triangles from one of its points to its segments, with sign:
//! where the fan folds over itself the signs cancel. Nothing is ever asked to be inside or outside: rounding moves the
//! result by rounding, however the surface lies to the planes. A range without pieces is full or empty as a whole.
//!
//! Over one tetrahedron K (KP08 §4; docs/maths, embedding): with the barycentric coordinates u = (φ₁, φ₂, φ₃) as space, the
//! part of a chain beyond φ₀ = 0 is cut off and closed by a fan as above, the rest clipped by uᵢ ≥ 0 without closing,
//! because all three planes contain the apex u = 0 of the signed tetrahedra (0, a, b, c) that are summed:
//! `V(K ∩ solid)/V(K) = Σ det(a, b, c)`, `∫φᵢ/V(K) = Σ det(a, b, c) (aᵢ + bᵢ + cᵢ)/4`.
//!
//! Coordinates in metres. Cost O(n log cells) to build; per tetrahedron, the pieces in the cells it touches.

use glam::DVec3;

use crate::Surface;
use crate::boxes::Bounds;
use crate::tets::Barycentric;

/// A box that reaches into a cell by less than this share of it only touches it.
const TOUCH: f64 = 1e-12;

/// Equal boxes side by side: the planes of axis `a` lie at `origin[a] + i step[a]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) origin: DVec3,
    pub(crate) step: DVec3,
    pub(crate) cells: [u32; 3],
}

impl Grid {
    pub(crate) fn corner(&self, [i, j, k]: [u32; 3]) -> DVec3 {
        self.origin + self.step * DVec3::new(f64::from(i), f64::from(j), f64::from(k))
    }

    fn index(&self, [i, j, k]: [u32; 3]) -> usize {
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

/// What a cell holds of the solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Empty,
    Full,
    /// A closed chain of triangles, a range of `Solid::pieces`.
    Cut {
        first: u32,
        end: u32,
    },
}

/// The inside of a surface, cut along the cells of a grid around it.
pub(crate) struct Solid {
    pub(crate) grid: Grid,
    cells: Vec<Cell>,
    pieces: Vec<[DVec3; 3]>,
}

/// The part of the solid in a range of cells.
#[derive(Default)]
struct Part {
    /// Pieces of the surface, oriented outward.
    pieces: Vec<[DVec3; 3]>,
    /// Outlines of the caps in the sides of the range, below and above for each axis, counter-clockwise seen from outside.
    outlines: [[Vec<[DVec3; 2]>; 2]; 3],
}

impl Solid {
    /// Cuts the inside of a surface; the grid must enclose the surface. `progress` hears the share of cells done.
    pub(crate) fn new(surface: &Surface, grid: Grid, progress: &mut dyn FnMut(f64)) -> Self {
        let mut solid = Self { grid, cells: vec![Cell::Empty; grid.n_cells()], pieces: Vec::new() };
        let whole = Part { pieces: surface.facets().collect(), ..Part::default() };
        let mut n_done = 0;
        solid.cut([0; 3], grid.cells, whole, &mut |n| {
            n_done += n;
            progress(n_done as f64 / grid.n_cells() as f64);
        });
        solid
    }

    pub(crate) fn cell(&self, at: [u32; 3]) -> Cell {
        self.cells[self.grid.index(at)]
    }

    /// Fills the cells `lo..hi` with a part of the solid.
    fn cut(&mut self, lo: [u32; 3], hi: [u32; 3], part: Part, done: &mut dyn FnMut(usize)) {
        let extent: [u32; 3] = std::array::from_fn(|a| hi[a] - lo[a]);
        let n_cells = extent.iter().map(|&n| n as usize).product();
        if part.pieces.is_empty() {
            let (near, far) = (self.grid.corner(lo), self.grid.corner(hi));
            if part.volume(near) > 0.5 * (far - near).element_product() {
                self.fill(lo, hi);
            }
            return done(n_cells);
        }
        if n_cells == 1 {
            let first = self.pieces.len() as u32;
            self.pieces.extend(part.triangles());
            let index = self.grid.index(lo);
            self.cells[index] = Cell::Cut { first, end: self.pieces.len() as u32 };
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

    fn fill(&mut self, lo: [u32; 3], hi: [u32; 3]) {
        for i in lo[0]..hi[0] {
            for j in lo[1]..hi[1] {
                let row = self.grid.index([i, j, lo[2]])..self.grid.index([i, j, hi[2] - 1]) + 1;
                self.cells[row].fill(Cell::Full);
            }
        }
    }

    /// Integrals of the four barycentric coordinates over the common part of a tetrahedron and the solid, divided by the
    /// volume of the tetrahedron; their sum is the fill ratio.
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
        if cells().all(|at| self.cell(at) == Cell::Empty) {
            return [0.0; 4];
        }
        let enclosed = bounds.lo.cmpge(self.grid.corner([0; 3])).all()
            && bounds.hi.cmple(self.grid.corner(self.grid.cells)).all();
        if enclosed && cells().all(|at| self.cell(at) == Cell::Full) {
            return [0.25; 4];
        }
        let map = Barycentric::new(corners);
        let mut sum = Sum::default();
        for at in cells() {
            match self.cell(at) {
                Cell::Empty => {}
                Cell::Full => {
                    let (near, far) = (self.grid.corner(at), self.grid.corner(at.map(|i| i + 1)));
                    box_triangles(near, far).for_each(|t| sum.add(t.map(|p| map.of(p))));
                }
                Cell::Cut { first, end } => {
                    let pieces = &self.pieces[first as usize..end as usize];
                    pieces.iter().for_each(|t| sum.add(t.map(|p| map.of(p))));
                }
            }
        }
        sum.nodal()
    }
}

/// The twelve outward triangles of a box.
fn box_triangles(lo: DVec3, hi: DVec3) -> impl Iterator<Item = [DVec3; 3]> {
    let corner = move |bits: usize| {
        let pick = |axis: usize| if bits >> axis & 1 == 1 { hi[axis] } else { lo[axis] };
        DVec3::new(pick(0), pick(1), pick(2))
    };
    const QUADS: [[usize; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    QUADS.into_iter().flat_map(move |[a, b, c, d]| [[a, b, c], [a, c, d]].map(|t| t.map(corner)))
}

impl Part {
    /// The closed surface of the part: pieces, and caps as fans.
    fn triangles(&self) -> impl Iterator<Item = [DVec3; 3]> {
        let fans = self.outlines.iter().flatten().flat_map(|outline| {
            let hub = outline.first().map_or(DVec3::ZERO, |segment| segment[0]);
            let fan = outline.iter().map(move |&[from, to]| [hub, from, to]);
            fan.filter(|&[hub, from, to]| hub != from && hub != to && from != to)
        });
        self.pieces.iter().copied().chain(fans)
    }

    /// Its volume, measured from a point nearby.
    fn volume(&self, from: DVec3) -> f64 {
        let signed = |t: [DVec3; 3]| {
            let [a, b, c] = t.map(|p| p - from);
            a.dot(b.cross(c)) / 6.0
        };
        self.triangles().map(signed).sum()
    }

    /// Its halves below and above `x[axis] = plane`.
    fn split(self, axis: usize, plane: f64) -> [Self; 2] {
        let (mut low, mut high) = (Self::default(), Self::default());
        // the outline of the cap of the lower half
        let mut outline = Vec::new();
        for corners in self.pieces {
            let above = corners.map(|p| p[axis] >= plane);
            match above.iter().filter(|&&a| a).count() {
                0 => low.pieces.push(corners),
                3 => high.pieces.push(corners),
                n => {
                    // turned so that the corner alone on its side comes first
                    let lone = above.iter().position(|&a| a == (n == 1)).unwrap_or(0);
                    let [a, b, c] = std::array::from_fn(|k| corners[(lone + k) % 3]);
                    let (ab, ca) = (crossing(a, b, axis, plane), crossing(a, c, axis, plane));
                    let (one, two) = if n == 1 {
                        (&mut high.pieces, &mut low.pieces)
                    } else {
                        (&mut low.pieces, &mut high.pieces)
                    };
                    one.push([a, ab, ca]);
                    two.extend([[ab, b, c], [ab, c, ca]]);
                    outline.push(if n == 1 { [ab, ca] } else { [ca, ab] });
                }
            }
        }
        for (across, sides) in self.outlines.into_iter().enumerate() {
            if across == axis {
                let [below, above] = sides;
                (low.outlines[axis][0], high.outlines[axis][1]) = (below, above);
                continue;
            }
            for (side, segments) in sides.into_iter().enumerate() {
                // the free coordinate of the line of the cut
                let along = 3 - axis - across;
                let [below, above, line] = split_outline(segments, axis, plane, along);
                outline.extend(line.iter().map(|&[from, to]| [to, from]));
                (low.outlines[across][side], high.outlines[across][side]) = (below, above);
            }
        }
        high.outlines[axis][0] = outline.iter().map(|&[from, to]| [to, from]).collect();
        low.outlines[axis][1] = outline;
        [low, high]
    }
}

/// Cuts a closed outline at `x[axis] = plane`: its closed halves, and the segments that close the lower one, along the line of
/// the cut, whose free coordinate is `along`.
fn split_outline(outline: Vec<[DVec3; 2]>, axis: usize, plane: f64, along: usize) -> [Vec<[DVec3; 2]>; 3] {
    let (mut low, mut high) = (Vec::new(), Vec::new());
    // −1 where the outline leaves the lower half, 1 where it comes back
    let mut ends: Vec<(DVec3, i32)> = Vec::new();
    for [from, to] in outline {
        match (from[axis] >= plane, to[axis] >= plane) {
            (false, false) => low.push([from, to]),
            (true, true) => high.push([from, to]),
            (leaves_high, _) => {
                let x = crossing(from, to, axis, plane);
                let (first, second) = if leaves_high { (&mut high, &mut low) } else { (&mut low, &mut high) };
                first.push([from, x]);
                second.push([x, to]);
                ends.push((x, if leaves_high { 1 } else { -1 }));
            }
        }
    }
    ends.sort_by(|a, b| a.0[along].total_cmp(&b.0[along]));
    let mut line = Vec::new();
    let mut sum = 0;
    for pair in ends.windows(2) {
        let (here, next) = (pair[0].0, pair[1].0);
        sum += pair[0].1;
        if here != next {
            let segment = if sum < 0 { [here, next] } else { [next, here] };
            line.extend((0..sum.abs()).map(|_| segment));
        }
    }
    low.extend(&line);
    high.extend(line.iter().map(|&[from, to]| [to, from]));
    [low, high, line]
}

/// Where an edge crosses a plane: the same bits from whichever end it is seen.
fn crossing(p: DVec3, q: DVec3, axis: usize, plane: f64) -> DVec3 {
    let (low, high) = if p[axis] < q[axis] { (p, q) } else { (q, p) };
    let mut x = low + (high - low) * ((plane - low[axis]) / (high[axis] - low[axis]));
    x[axis] = plane;
    x
}

/// The running integrals over one tetrahedron, in its barycentric coordinates.
#[derive(Default)]
struct Sum {
    fill: f64,
    first: DVec3,
}

impl Sum {
    /// Adds what a triangle of a closed chain contributes.
    fn add(&mut self, corners: [DVec3; 3]) {
        let near = corners.map(|p| first_coordinate(p) >= 0.0);
        let outside = |axis: usize| corners.iter().all(|p| p[axis] <= 0.0);
        if near == [true; 3] {
            if !(outside(0) || outside(1) || outside(2)) {
                self.add_within(Polygon::new(corners));
            }
            return;
        }
        if near == [false; 3] {
            return;
        }
        let mut part = Polygon::new(corners);
        let cut = part.clip(first_coordinate);
        self.add_within(part);
        if let Some([leaves, returns]) = cut {
            // the fan from the node (1, 0, 0): flat, thus empty, against the two planes through it
            let miss = |axis: usize| leaves[axis] <= 0.0 && returns[axis] <= 0.0;
            if !(miss(1) || miss(2)) {
                self.add_within(Polygon::new([DVec3::X, returns, leaves]));
            }
        }
    }

    /// Adds the signed tetrahedra between the origin and the part of a polygon with no negative coordinate.
    fn add_within(&mut self, mut polygon: Polygon) {
        for axis in 0..3 {
            polygon.clip(|p| p[axis]);
        }
        for k in 2..polygon.n {
            let [a, b, c] = [polygon.corners[0], polygon.corners[k - 1], polygon.corners[k]];
            let det = a.dot(b.cross(c));
            self.fill += det;
            self.first += (a + b + c) * (0.25 * det);
        }
    }

    fn nodal(&self) -> [f64; 4] {
        let Self { fill, first } = *self;
        [fill - first.x - first.y - first.z, first.x, first.y, first.z]
    }
}

/// φ₀ from the other three.
fn first_coordinate(p: DVec3) -> f64 {
    1.0 - p.x - p.y - p.z
}

/// A triangle clipped by up to four planes: at most seven corners, thirteen if rounding dents it at every cut.
struct Polygon {
    corners: [DVec3; 16],
    n: usize,
}

impl Polygon {
    fn new(triangle: [DVec3; 3]) -> Self {
        let mut corners = [DVec3::ZERO; 16];
        corners[..3].copy_from_slice(&triangle);
        Self { corners, n: 3 }
    }

    /// Keeps the part where `level` is not negative; returns where the outline leaves it and where it comes back.
    fn clip(&mut self, level: impl Fn(DVec3) -> f64) -> Option<[DVec3; 2]> {
        let old = self.corners;
        let n_old = std::mem::replace(&mut self.n, 0);
        let (mut leaves, mut returns) = (None, None);
        for k in 0..n_old {
            let (p, q) = (old[k], old[(k + 1) % n_old]);
            let (at_p, at_q) = (level(p), level(q));
            if at_p >= 0.0 {
                self.push(p);
            }
            if (at_p >= 0.0) != (at_q >= 0.0) {
                let x = if at_p < at_q {
                    p + (q - p) * (at_p / (at_p - at_q))
                } else {
                    q + (p - q) * (at_q / (at_q - at_p))
                };
                self.push(x);
                *(if at_p >= 0.0 { &mut leaves } else { &mut returns }) = Some(x);
            }
        }
        Some([leaves?, returns?])
    }

    fn push(&mut self, p: DVec3) {
        self.corners[self.n] = p;
        self.n += 1;
    }
}
