//! Ground given by heights over a rectangular grid.
//!
//! Each cell is two triangles that share the diagonal from the corner with the smallest x and y to the opposite corner. Bodies touch them as
//! triangles of a mesh (`field_facets.rs`).
//! The distance of a point is measured perpendicular to the triangle above or below it. Beyond the border there is no
//! ground. The ground is solid down to a depth of its larger side. Cost: constant per point.

use crate::error::ContactError;
use crate::nearest::{LocalBox, Nearest};
use crate::refit_tree::NodeBox;
use glam::{DVec2, DVec3};

/// Most vertices: keys of contacts hold no more.
const MOST: usize = 1 << 24;

/// Heights over a grid in the plane `z = 0` of the collider, centred on its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    pub(crate) n: [usize; 2],
    pub(crate) size: DVec2,
    heights: Vec<f64>,
    range: [f64; 2],
    /// The flat patch of each triangle.
    pub(crate) patches: Vec<u32>,
}

impl HeightField {
    /// `n[0] × n[1]` heights (m), x running fastest, spread over a rectangle of `size` (m).
    ///
    /// # Errors
    /// [`ContactError::Field`] for fewer than 2 × 2 heights, a wrong number of them, or numbers that are not finite.
    pub fn new(n: [usize; 2], size: DVec2, heights: Vec<f64>) -> Result<Self, ContactError> {
        if n[0] < 2 || n[1] < 2 {
            return Err(ContactError::Field("the grid needs at least two vertices along each side"));
        }
        if n[0].checked_mul(n[1]) != Some(heights.len()) {
            return Err(ContactError::Field("give one height per vertex of the grid"));
        }
        if heights.len() > MOST {
            return Err(ContactError::Field("there are too many heights; use a coarser grid"));
        }
        if !size.is_finite() || size.min_element() <= 0.0 {
            return Err(ContactError::Field("the size must be positive and finite"));
        }
        if !heights.iter().all(|h| h.is_finite()) {
            return Err(ContactError::Field("heights must be finite"));
        }
        let range = heights.iter().fold([f64::MAX, f64::MIN], |[low, high], &h| [low.min(h), high.max(h)]);
        let mut field = Self { n, size, heights, range, patches: Vec::new() };
        field.patches = field.find_patches();
        Ok(field)
    }

    /// Heights by a function of x and y (m, frame of the collider).
    ///
    /// # Errors
    /// As [`HeightField::new`].
    pub fn from_fn(
        n: [usize; 2],
        size: DVec2,
        height: impl Fn(f64, f64) -> f64,
    ) -> Result<Self, ContactError> {
        let at = |i: usize, axis: usize| size[axis] * (i as f64 / (n[axis].max(2) - 1) as f64 - 0.5);
        let heights =
            (0..n[1]).flat_map(|y| (0..n[0]).map(move |x| (x, y))).map(|(x, y)| height(at(x, 0), at(y, 1)));
        Self::new(n, size, heights.collect())
    }

    /// The height (m) and the unit normal at `x, y`, both of the collider's frame; none beyond the border.
    #[inline]
    pub fn surface(&self, x: f64, y: f64) -> Option<(f64, DVec3)> {
        let cells = DVec2::new((self.n[0] - 1) as f64, (self.n[1] - 1) as f64);
        let per_metre = cells / self.size;
        let at = (DVec2::new(x, y) + self.size * 0.5) * per_metre;
        if !(at.x >= 0.0 && at.y >= 0.0 && at.x <= cells.x && at.y <= cells.y) {
            return None;
        }
        let (i, j) = ((at.x as usize).min(self.n[0] - 2), (at.y as usize).min(self.n[1] - 2));
        let (fx, fy) = (at.x - i as f64, at.y - j as f64);
        let first = i + self.n[0] * j;
        let (h00, h10) = (self.heights[first], self.heights[first + 1]);
        let (h01, h11) = (self.heights[first + self.n[0]], self.heights[first + self.n[0] + 1]);
        let (dx, dy) = if fx >= fy { (h10 - h00, h11 - h10) } else { (h11 - h01, h01 - h00) };
        let slope = DVec3::new(-dx * per_metre.x, -dy * per_metre.y, 1.0);
        Some((h00 + dx * fx + dy * fy, slope / slope.length()))
    }

    pub(crate) fn distance(&self, point: DVec3) -> Option<Nearest> {
        let (height, normal) = self.surface(point.x, point.y)?;
        Some(Nearest { distance: (point.z - height) * normal.z, normal })
    }

    pub(crate) fn extent(&self) -> LocalBox {
        let (low, high) = (self.range[0] - self.size.max_element(), self.range[1]);
        let half = DVec3::new(0.5 * self.size.x, 0.5 * self.size.y, 0.5 * (high - low));
        LocalBox { centre: DVec3::Z * (0.5 * (low + high)), half }
    }

    /// Index and place of every grid vertex inside a box (frame of the collider); the box has no upper bound.
    pub(crate) fn vertices_in(&self, low: DVec3, high: DVec2) -> impl Iterator<Item = (usize, DVec3)> + '_ {
        let range = move |axis: usize| {
            let scale = (self.n[axis] - 1) as f64 / self.size[axis];
            let last = (self.n[axis] - 1) as f64;
            let from = ((low[axis] + 0.5 * self.size[axis]) * scale).ceil().clamp(0.0, last + 1.0);
            let to = ((high[axis] + 0.5 * self.size[axis]) * scale).floor().clamp(-1.0, last);
            from as usize..(to + 1.0) as usize
        };
        let indices = range(1).flat_map(move |j| range(0).map(move |i| i + self.n[0] * j));
        indices.filter(move |&v| self.heights[v] >= low.z).map(|v| (v, self.vertex(v)))
    }

    /// Gives `visit` every place along a segment (0 to 1, frame of the collider) where it crosses a line of the grid or a
    /// diagonal of a cell, without its ends.
    pub(crate) fn crossings(&self, ends: [DVec3; 2], mut visit: impl FnMut(f64)) {
        let step = self.step();
        let [from, to] = ends.map(|end| (end.truncate() + self.size * 0.5) / step);
        let last = [self.n[0] - 1, self.n[1] - 1].map(|n| n as f64);
        let lines = [(from.x, to.x, 0.0, last[0]), (from.y, to.y, 0.0, last[1])];
        // along a diagonal x − y is a whole number
        for (a, b, low, high) in lines.into_iter().chain([(from.x - from.y, to.x - to.y, -last[1], last[0])])
        {
            let (first, end) = (a.min(b).ceil().max(low), a.max(b).floor().min(high));
            let mut line = first;
            while line <= end {
                let at = (line - a) / (b - a);
                if at > 0.0 && at < 1.0 {
                    visit(at);
                }
                line += 1.0;
            }
        }
    }

    /// Gives `visit` the corners of every triangle whose cell overlaps a box along x and y (frame of the collider), counter-clockwise from above.
    pub(crate) fn triangles_in(&self, around: &NodeBox, visit: &mut dyn FnMut([DVec3; 3])) {
        let range = |axis: usize| {
            let scale = (self.n[axis] - 1) as f64 / self.size[axis];
            let cell = |x: f64| (x + 0.5 * self.size[axis]) * scale;
            let n = (self.n[axis] - 1) as f64;
            // not a number gives no cells
            let (from, to) = (cell(around.low[axis]).floor(), cell(around.high[axis]).floor());
            from.clamp(0.0, n) as usize..(to + 1.0).clamp(0.0, n) as usize
        };
        for j in range(1) {
            for i in range(0) {
                self.cell(i, j, visit);
            }
        }
    }

    /// Lowest and highest corner of the box around the surface (m).
    pub(crate) fn bounds(&self) -> (DVec3, DVec3) {
        let half = self.size * 0.5;
        ((-half).extend(self.range[0]), half.extend(self.range[1]))
    }

    /// Cuts a line from a place along a direction (frame of the collider) where another triangle begins below it, and gives `visit` where each piece
    /// begins and ends (lengths of the direction), as long as it asks for more.
    pub(crate) fn pieces(
        &self,
        from: DVec3,
        direction: DVec3,
        length: f64,
        mut visit: impl FnMut(f64, f64) -> bool,
    ) {
        let step = self.step();
        let (place, along) = ((from.truncate() + self.size * 0.5) / step, direction.truncate() / step);
        // the grid, and its diagonals, along which x − y is a whole number
        let lines = [(place.x, along.x), (place.y, along.y), (place.x - place.y, along.x - along.y)];
        let mut way = 0.0;
        let most = 4 * (self.n[0] + self.n[1]) + 8;
        for _ in 0..most {
            let next = lines.iter().map(|&(start, rate)| {
                let now = start + rate * way;
                let line = if rate > 0.0 { now.floor() + 1.0 } else { now.ceil() - 1.0 };
                let next = if rate == 0.0 { f64::INFINITY } else { (line - start) / rate };
                // rounding may leave it on the line that it is to leave
                if next > way { next } else { next + 1.0 / rate.abs() }
            });
            let end = next.fold(length, f64::min);
            if !visit(way, end) || end >= length {
                return;
            }
            way = end;
        }
    }

    /// Gives `visit` the triangles of the cells in a ring of this number about the cell nearest to a place; false if there are none.
    pub(crate) fn ring(&self, place: DVec3, ring: usize, visit: &mut dyn FnMut([DVec3; 3])) -> bool {
        let nearest = |axis: usize| {
            let cell = (place[axis] + 0.5 * self.size[axis]) / self.step()[axis];
            cell.floor().clamp(0.0, (self.n[axis] - 2) as f64) as usize
        };
        let (i, j) = (nearest(0), nearest(1));
        let range = |at: usize, axis: usize| at.saturating_sub(ring)..(at + ring + 1).min(self.n[axis] - 1);
        let mut is_any = false;
        for y in range(j, 1) {
            for x in range(i, 0).filter(|x| x.abs_diff(i).max(y.abs_diff(j)) == ring) {
                is_any = true;
                self.cell(x, y, visit);
            }
        }
        is_any
    }

    /// A lower bound of the squared distance of a place from a ring and those around it (m²).
    pub(crate) fn ring_distance_squared(&self, place: DVec3, ring: usize) -> f64 {
        let (low, high) = self.bounds();
        let outside = NodeBox { low, high }.distance_squared(place);
        let apart = self.step().min_element() * ring.saturating_sub(1) as f64;
        outside + apart * apart
    }

    /// Gives `visit` the two triangles of a cell, counter-clockwise from above.
    fn cell(&self, i: usize, j: usize, visit: &mut dyn FnMut([DVec3; 3])) {
        let first = i + self.n[0] * j;
        let corner = |right: usize, back: usize| self.vertex(first + right + self.n[0] * back);
        visit([corner(0, 0), corner(1, 0), corner(1, 1)]);
        visit([corner(0, 0), corner(1, 1), corner(0, 1)]);
    }

    /// The normal at a grid vertex, by central differences.
    pub(crate) fn vertex_normal(&self, vertex: usize) -> DVec3 {
        let (i, j) = (vertex % self.n[0], vertex / self.n[0]);
        let height = |i: usize, j: usize| self.heights[i + self.n[0] * j];
        let (left, right) = (i.saturating_sub(1), (i + 1).min(self.n[0] - 1));
        let (front, back) = (j.saturating_sub(1), (j + 1).min(self.n[1] - 1));
        let step = self.step();
        let dx = (height(right, j) - height(left, j)) / (step.x * (right - left) as f64);
        let dy = (height(i, back) - height(i, front)) / (step.y * (back - front) as f64);
        DVec3::new(-dx, -dy, 1.0).normalize()
    }

    pub(crate) fn vertex(&self, vertex: usize) -> DVec3 {
        let at = DVec2::new((vertex % self.n[0]) as f64, (vertex / self.n[0]) as f64);
        (at * self.step() - self.size * 0.5).extend(self.heights[vertex])
    }

    /// Distance of neighbouring vertices (m).
    fn step(&self) -> DVec2 {
        self.size / DVec2::new((self.n[0] - 1) as f64, (self.n[1] - 1) as f64)
    }
}
