//! Separating axis of two boxes: of fifteen candidates, the one with the least overlap or the largest gap.
//!
//! The faces of the first box are preferred to those of the second, and faces to edges, unless another axis is better
//! by more than a small part of the sizes. So resting boxes keep their features from step to step.

use crate::placed::{NearestPoints, WorldShape};
use crate::{capsule_pair::nearest, shape::ContactShape};
use glam::DVec3;
use sinew_math::Shape;

/// Advantage that a later axis needs, relative to the smaller box.
const PREFERENCE: f64 = 1e-4;
/// Edges whose sine is smaller count as parallel and are skipped.
const PARALLEL: f64 = 1e-3;
/// Set in features of two edges.
const EDGES: u64 = 1 << 59;

pub(crate) enum Separation {
    /// Farther apart than the margin.
    Apart,
    /// A face of the first or the second box; the normal is from the first to the second.
    Face { normal: DVec3, of_second: bool },
    /// An edge of each, with their feature.
    Edges(NearestPoints, u64),
}

/// Axes as unit vectors (world), half edges and centre of a box.
struct BoxFrame {
    axes: [DVec3; 3],
    half: DVec3,
    centre: DVec3,
}

impl BoxFrame {
    fn of(solid: WorldShape<'_>) -> Option<Self> {
        let ContactShape::Solid(Shape::Box { size }) = solid.shape else { return None };
        let m = solid.placed.axes;
        Some(Self {
            axes: [m.x_axis, m.y_axis, m.z_axis],
            half: *size * 0.5,
            centre: solid.placed.pose.translation,
        })
    }

    /// Half the extent along a direction.
    fn reach(&self, n: DVec3) -> f64 {
        (0..3).map(|i| self.half[i] * self.axes[i].dot(n).abs()).sum()
    }

    /// The middle of the edge along axis `i` that is farthest along `n`, and which of the four it is.
    fn edge(&self, i: usize, n: DVec3) -> (DVec3, u64) {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let side = |axis: usize| self.axes[axis].dot(n) >= 0.0;
        let offset =
            |axis: usize| self.axes[axis] * if side(axis) { self.half[axis] } else { -self.half[axis] };
        let which = (i as u64) << 2 | u64::from(side(j)) << 1 | u64::from(side(k));
        (self.centre + offset(j) + offset(k), which)
    }
}

pub(crate) fn boxes(a: WorldShape<'_>, b: WorldShape<'_>, margin: f64) -> Separation {
    let (Some(a), Some(b)) = (BoxFrame::of(a), BoxFrame::of(b)) else { return Separation::Apart };
    let towards = b.centre - a.centre;
    let measure = |axis: DVec3| {
        let along = axis.dot(towards);
        let normal = if along < 0.0 { -axis } else { axis };
        (along.abs() - a.reach(axis) - b.reach(axis), normal)
    };
    let better = PREFERENCE * a.half.min_element().min(b.half.min_element());
    let mut best = (f64::NEG_INFINITY, DVec3::X, false);
    for (of_second, frame) in [(false, &a), (true, &b)] {
        for (i, &axis) in frame.axes.iter().enumerate() {
            let (gap, normal) = measure(axis);
            if gap > margin {
                return Separation::Apart;
            }
            let handicap = if of_second && !best.2 { better } else { 0.0 };
            if (i == 0 && !of_second) || gap > best.0 + handicap {
                best = (gap, normal, of_second);
            }
        }
    }
    let mut edges: Option<(f64, DVec3, usize, usize)> = None;
    for i in 0..3 {
        for j in 0..3 {
            let cross = a.axes[i].cross(b.axes[j]);
            let sine = cross.length();
            if sine < PARALLEL {
                continue;
            }
            let (gap, normal) = measure(cross / sine);
            if gap > margin {
                return Separation::Apart;
            }
            if gap > edges.map_or(best.0 + better, |(gap, ..)| gap) {
                edges = Some((gap, normal, i, j));
            }
        }
    }
    let Some((_, normal, i, j)) = edges else {
        return Separation::Face { normal: best.1, of_second: best.2 };
    };
    let ((middle_a, edge_a), (middle_b, edge_b)) = (a.edge(i, normal), b.edge(j, -normal));
    let (u, v) = (a.axes[i] * a.half[i], b.axes[j] * b.half[j]);
    let (s, t) = nearest(middle_a - u - (middle_b - v), u * 2.0, v * 2.0);
    let nearby = NearestPoints {
        first: middle_a + u * (2.0 * s - 1.0),
        second: middle_b + v * (2.0 * t - 1.0),
        normal,
    };
    Separation::Edges(nearby, EDGES | edge_a << 8 | edge_b)
}
