//! Rasterization of triangles: which samples of which pixels a triangle covers.
//!
//! Vertices lie on a grid of 1/256 pixel and edge functions are integers, hence exact: of two triangles that share an
//! edge, exactly one covers a sample on it. The edge function opposite to vertex i is e_i(x, y) = a_i x + b_i y +
//! c_i, not negative inside; e_i over twice the area is the barycentric coordinate. Both orientations are drawn.

use std::ops::Range;

use crate::project::UNIT;

/// Sample positions relative to the pixel centre, in 1/256 pixel: one sample per row and column of eighths.
pub(crate) const SAMPLES: [[i64; 2]; 8] =
    [[16, -48], [-16, 48], [80, 16], [-48, -80], [-80, 80], [-112, -16], [48, 112], [112, -112]];

/// Width in pixels above which the covered columns of each row are computed first.
const NARROW: i64 = 8;

/// Edge functions of a triangle with non-zero area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edges {
    a: [i64; 3],
    b: [i64; 3],
    c: [i64; 3],
    /// Twice its area, in squares of 1/256 pixel.
    area: i64,
    low: [i64; 2],
    high: [i64; 2],
}

impl Edges {
    /// `None` for a triangle without area.
    pub(crate) fn new(corners: [[i32; 2]; 3]) -> Option<Self> {
        let p = corners.map(|corner| corner.map(i64::from));
        let area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
        if area == 0 {
            return None;
        }
        let sign = area.signum();
        let (mut a, mut b, mut c) = ([0; 3], [0; 3], [0; 3]);
        for i in 0..3 {
            let (from, to) = (p[(i + 1) % 3], p[(i + 2) % 3]);
            a[i] = sign * (from[1] - to[1]);
            b[i] = sign * (to[0] - from[0]);
            c[i] = -(a[i] * from[0] + b[i] * from[1]);
        }
        let low = [0, 1].map(|k| p[0][k].min(p[1][k]).min(p[2][k]));
        let high = [0, 1].map(|k| p[0][k].max(p[1][k]).max(p[2][k]));
        Some(Self { a, b, c, area: sign * area, low, high })
    }

    /// Rows of pixels that the triangle may touch.
    pub(crate) fn rows(&self) -> Range<i64> {
        self.low[1].div_euclid(UNIT)..self.high[1].div_euclid(UNIT) + 1
    }

    fn columns(&self) -> Range<i64> {
        self.low[0].div_euclid(UNIT)..self.high[0].div_euclid(UNIT) + 1
    }

    /// Barycentric coordinates of a point, in 1/256 pixel.
    pub(crate) fn weights(&self, x: f64, y: f64) -> [f32; 3] {
        let scale = 1.0 / self.area as f64;
        [0, 1, 2].map(|i| ((self.a[i] as f64 * x + self.b[i] as f64 * y + self.c[i] as f64) * scale) as f32)
    }

    /// The linear function with these values at the vertices.
    pub(crate) fn slope(&self, values: [f32; 3]) -> LinearField {
        let [v0, v1, v2] = values.map(f64::from);
        let blend = |k: [i64; 3]| (k[1] as f64 * (v1 - v0) + k[2] as f64 * (v2 - v0)) / self.area as f64;
        LinearField { base: v0 + blend(self.c), x: blend(self.a), y: blend(self.b) }
    }

    /// Calls `visit(column, row, mask)` for each pixel in `rows` and the first `width` columns with a covered sample.
    /// Bit k of the mask stands for sample k.
    pub(crate) fn cover<const N: usize>(
        &self,
        samples: &[[i64; 2]; N],
        rows: Range<i64>,
        width: i64,
        mut visit: impl FnMut(i64, i64, u8),
    ) {
        let (mine, columns) = (self.rows(), self.columns());
        let (left, right) = (columns.start.max(0), columns.end.min(width));
        // A sample exactly on an edge belongs to the triangle on one side only.
        let owned = [0, 1, 2].map(|i| self.a[i] > 0 || (self.a[i] == 0 && self.b[i] > 0));
        let offsets =
            samples.map(|[x, y]| [0, 1, 2].map(|i| self.a[i] * x + self.b[i] * y - i64::from(!owned[i])));
        let largest = [0, 1, 2].map(|i| offsets.iter().map(|offset| offset[i]).max().unwrap_or(0));
        let smallest = [0, 1, 2].map(|i| offsets.iter().map(|offset| offset[i]).min().unwrap_or(0));
        let all = u8::MAX >> (8 - N);
        for row in rows.start.max(mine.start)..rows.end.min(mine.end) {
            let (x, y) = (left * UNIT + UNIT / 2, row * UNIT + UNIT / 2);
            let mut edge = [0, 1, 2].map(|i| self.a[i] * x + self.b[i] * y + self.c[i]);
            let (mut from, mut to) = (left, right);
            if right - left > NARROW {
                // Skip columns in which no sample can be covered.
                for i in 0..3 {
                    let (room, step) = (edge[i] + largest[i], self.a[i] * UNIT);
                    match step.signum() {
                        1 => from = from.max(left - room.div_euclid(step)),
                        -1 => to = to.min(left + room.div_euclid(-step) + 1),
                        _ => {}
                    }
                }
                (0..3).for_each(|i| edge[i] += self.a[i] * UNIT * (from - left));
            }
            for column in from..to {
                if (0..3).all(|i| edge[i] + smallest[i] >= 0) {
                    visit(column, row, all);
                } else if (0..3).all(|i| edge[i] + largest[i] >= 0) {
                    let mut mask = 0;
                    for (k, offset) in offsets.iter().enumerate() {
                        let [u, v, w] = [0, 1, 2].map(|i| edge[i] + offset[i]);
                        mask |= u8::from((u | v | w) >= 0) << k;
                    }
                    if mask != 0 {
                        visit(column, row, mask);
                    }
                }
                (0..3).for_each(|i| edge[i] += self.a[i] * UNIT);
            }
        }
    }
}

/// A linear function of the position in the picture, in 1/256 pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearField {
    pub(crate) base: f64,
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl LinearField {
    /// Value at the centre of a pixel.
    pub(crate) fn at_pixel(&self, x: i64, y: i64) -> f64 {
        self.base + self.x * (x * UNIT + UNIT / 2) as f64 + self.y * (y * UNIT + UNIT / 2) as f64
    }

    /// Differences between the samples of a pixel and its centre.
    pub(crate) fn offsets<const N: usize>(&self, samples: &[[i64; 2]; N]) -> [f64; N] {
        samples.map(|[x, y]| self.x * x as f64 + self.y * y as f64)
    }
}
