//! The face or edge of a solid that is farthest in a direction (world axes).

use crate::ground_points::box_corner;
use crate::placed::PlacedShape;
use crate::shape::ContactShape;
use glam::DVec3;

/// Corners of the polygon that replaces the end of a cylinder: (cos, sin) of multiples of 45°.
const OCTAGON: [(f64, f64); 8] = {
    const S: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [(1.0, 0.0), (S, S), (0.0, 1.0), (-S, S), (-1.0, 0.0), (-S, -S), (0.0, -1.0), (S, -S)]
};
/// Along directions with at least this cosine to the axis, the face of a cylinder is its end.
const END: f64 = 0.7;
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

/// Writes the face of `solid` farthest along `direction`; on a round side, the edge next to `near`.
pub(crate) fn support_polygon(solid: PlacedShape<'_>, direction: DVec3, near: DVec3, out: &mut FacePolygon) {
    let local = solid.placed.axes.transpose() * direction;
    out.corners.clear();
    out.normal = None;
    out.radius = 0.0;
    match solid.shape {
        ContactShape::Box { edges } => box_face(*edges * 0.5, local, out),
        ContactShape::Cylinder { radius, length } if local.x.abs() >= END => {
            cylinder_end(*radius, (0.5 * length).copysign(local.x), out);
        }
        ContactShape::Cylinder { radius, length } => {
            let at = solid.placed.local(near);
            let radial = DVec3::new(0.0, at.y, at.z).try_normalize();
            let radial =
                radial.or_else(|| DVec3::new(0.0, local.y, local.z).try_normalize()).unwrap_or(DVec3::Z);
            segment(radial * *radius, 0.5 * length, out);
        }
        ContactShape::Capsule { radius, length } => {
            segment(DVec3::ZERO, 0.5 * length, out);
            out.radius = *radius;
        }
        ContactShape::Convex(hull) => {
            let (id, normal, corners) = hull.support_face(local);
            out.id = id as u64;
            out.normal = Some(normal);
            let corner = |&i: &u32| FaceCorner { point: hull.corners()[i as usize], id: u64::from(i) };
            out.corners.extend(corners.iter().map(corner));
        }
        ContactShape::Plane | ContactShape::Sphere { .. } | ContactShape::Field(_) => {}
    }
    out.normal = out.normal.map(|normal| solid.placed.axes * normal);
    out.corners.iter_mut().for_each(|corner| corner.point = solid.placed.pose.transform_point(corner.point));
}

fn segment(offset: DVec3, half: f64, out: &mut FacePolygon) {
    out.id = 0;
    out.corners.extend(
        [-half, half]
            .iter()
            .enumerate()
            .map(|(i, &x)| FaceCorner { point: offset + DVec3::X * x, id: i as u64 }),
    );
}

fn box_face(half: DVec3, direction: DVec3, out: &mut FacePolygon) {
    let size = direction.abs();
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let positive = direction[axis] >= 0.0;
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    // counter-clockwise about +axis; the other way round about −axis
    let turns = if positive { [0, 1, 3, 2] } else { [0, 2, 3, 1] };
    for turn in turns {
        let index = usize::from(positive) << axis | (turn & 1) << u | (turn >> 1) << v;
        out.corners.push(FaceCorner { point: box_corner(half, index), id: index as u64 });
    }
    out.id = (2 * axis + usize::from(positive)) as u64;
    out.normal = Some(DVec3::AXES[axis] * if positive { 1.0 } else { -1.0 });
}

fn cylinder_end(radius: f64, x: f64, out: &mut FacePolygon) {
    let base = if x > 0.0 { 8 } else { 0 };
    for k in 0..8 {
        // counter-clockwise about +x, the other way round about −x
        let i = if x > 0.0 { k } else { 7 - k };
        let (y, z) = OCTAGON[i];
        out.corners.push(FaceCorner { point: DVec3::new(x, y * radius, z * radius), id: (base + i) as u64 });
    }
    out.id = u64::from(x > 0.0) + 1;
    out.normal = Some(DVec3::X * 1f64.copysign(x));
}
