//! Faces and edges of solids as polygons, with corner numbers that persist from step to step. Metres.

use glam::DVec3;

/// Set in the numbers of corners made by cutting.
const CUT: u64 = 1 << 39;

/// A corner with a number that persists as long as the same corner, or the same two edges, form it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaceCorner {
    pub(crate) point: DVec3,
    pub(crate) id: u64,
}

/// A polygon, counter-clockwise about its normal; a segment has two corners and no normal.
#[derive(Clone, Debug, Default)]
pub(crate) struct FacePolygon {
    pub(crate) corners: Vec<FaceCorner>,
    pub(crate) normal: Option<DVec3>,
    pub(crate) id: u64,
    /// Of the solid around the polygon (m).
    pub(crate) radius: f64,
}

impl FaceCorner {
    /// The number of the corner where an edge is cut by the plane of another edge.
    pub(crate) fn cut(from: &Self, to: &Self, edge: u64) -> u64 {
        let (low, high) = (from.id.min(to.id), from.id.max(to.id));
        CUT | (low.wrapping_mul(0x9e37).wrapping_add(high).wrapping_mul(0x85eb).wrapping_add(edge)
            & (CUT - 1))
    }
}

impl FacePolygon {
    /// Approximate largest extent (m).
    pub(crate) fn size(&self) -> f64 {
        match self.corners.as_slice() {
            [first, .., last] => first.point.distance(last.point),
            _ => 0.0,
        }
    }

    /// (m²); zero for a segment.
    pub(crate) fn area(&self) -> f64 {
        let Some(first) = self.corners.first() else { return 0.0 };
        let fan = self.corners.windows(2).map(|w| (w[0].point - first.point).cross(w[1].point - first.point));
        0.5 * fan.sum::<DVec3>().length()
    }
}
