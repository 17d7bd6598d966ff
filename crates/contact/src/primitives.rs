//! Contact geometry of the primitives, in the frame of the shape: distance of a point, points that can touch flat ground,
//! the face farthest in a direction, and the convex core for parry's GJK and EPA.
//!
//! Closed formulas, constant cost, lengths in metres. Where several faces are equally near, such as at the centre of a
//! sphere, a fixed rule chooses one, so that equal input gives equal bits. Shapes without [`Shape::is_touchable`] have
//! no distance, points, face or core; colliders refuse them.

use crate::face_polygon::{FaceCorner, FacePolygon};
use crate::nearest::Nearest;
use glam::{DQuat, DVec3};
use parry3d_f64::shape::{ConvexPolyhedron, Cuboid, Cylinder, Segment, SupportMap};
use sinew_math::Shape;

/// Corners of a polygon inscribed in the rim of a cylinder: (cos, sin) of multiples of 60°.
const HEXAGON: [(f64, f64); 6] = {
    const S: f64 = 0.866_025_403_784_438_6;
    [(1.0, 0.0), (0.5, S), (-0.5, S), (-1.0, 0.0), (-0.5, -S), (0.5, -S)]
};
/// Feature of the deepest point of the rim at `−x`; the other rim has the next one.
const DEEPEST: u64 = 12;

/// A cylinder whose axis is so close to level (cosine to the vertical, 15°) lies.
const LYING: f64 = 0.26;

/// The deepest point of a rim counts only if it is deeper than the six by this part of the radius. Otherwise a standing
/// cylinder would rock on a point that jumps from side to side.
const DEEPER: f64 = 1e-4;

/// Corners of the polygon that replaces the end of a cylinder: (cos, sin) of multiples of 45°.
const OCTAGON: [(f64, f64); 8] = {
    const S: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [(1.0, 0.0), (S, S), (0.0, 1.0), (-S, S), (-1.0, 0.0), (-S, -S), (0.0, -1.0), (S, -S)]
};
/// Along directions with at least this cosine to the axis, the face of a cylinder is its end.
const END: f64 = 0.7;
/// Rotates parry's axis of cylinders, y, to ours, x.
const AXIS: DQuat =
    DQuat::from_xyzw(0.0, 0.0, -std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2);

/// Distance of a point from a shape.
#[inline]
pub(crate) fn nearest(shape: &Shape, p: DVec3) -> Option<Nearest> {
    Some(match *shape {
        Shape::Box { size } => from_box(p, size * 0.5),
        Shape::Sphere { radius } => from_core(p, radius, DVec3::Z),
        Shape::Capsule { radius, length } => {
            let on_axis = DVec3::X * p.x.clamp(-0.5 * length, 0.5 * length);
            from_core(p - on_axis, radius, DVec3::Z)
        }
        Shape::Cylinder { radius, length } => from_cylinder(p, radius, 0.5 * length),
        Shape::Ellipsoid { .. } => return None,
    })
}

/// Gives `visit` the height of a point over planes along a shape and their outward normals: of faces, and of a round side those next to the
/// point and opposite.
pub(crate) fn sides(shape: &Shape, p: DVec3, mut visit: impl FnMut(f64, DVec3)) {
    let mut round = |offset: DVec3, radius: f64| {
        let length = offset.length();
        let outward = if length > 0.0 { offset / length } else { DVec3::Z };
        visit(length - radius, outward);
        visit(-length - radius, -outward);
    };
    let radial = DVec3::new(0.0, p.y, p.z);
    match *shape {
        Shape::Box { .. } => {}
        Shape::Sphere { radius } => round(p, radius),
        Shape::Capsule { radius, length } => {
            round(p - DVec3::X * p.x.clamp(-0.5 * length, 0.5 * length), radius);
        }
        Shape::Cylinder { radius, .. } => round(radial, radius),
        Shape::Ellipsoid { .. } => {}
    }
    let half = match *shape {
        Shape::Box { size } => size * 0.5,
        Shape::Cylinder { length, .. } => DVec3::X * (0.5 * length),
        Shape::Sphere { .. } | Shape::Capsule { .. } | Shape::Ellipsoid { .. } => DVec3::ZERO,
    };
    for axis in (0..3).filter(|&axis| half[axis] > 0.0) {
        for side in [-1.0, 1.0] {
            visit(side * p[axis] - half[axis], DVec3::AXES[axis] * side);
        }
    }
}

/// Gives `add` the number, place and radius of each ball that can touch flat ground: corners, centres and ends; on a
/// cylinder, six points per rim and the one deepest along `down`.
pub(crate) fn ground_points(shape: &Shape, down: DVec3, mut add: impl FnMut(u64, DVec3, f64)) {
    match *shape {
        Shape::Box { size } => (0..8).for_each(|i| add(i, box_corner(size * 0.5, i as usize), 0.0)),
        Shape::Sphere { radius } => add(0, DVec3::ZERO, radius),
        Shape::Capsule { radius, length } => {
            add(0, DVec3::X * (-0.5 * length), radius);
            add(1, DVec3::X * (0.5 * length), radius);
        }
        Shape::Cylinder { radius, length } => rim_points(radius, 0.5 * length, down, add),
        Shape::Ellipsoid { .. } => {}
    }
}

/// Whether a point of [`ground_points`] would keep a shape from rolling on flat ground along `down`: a lying cylinder touches with the deepest points
/// of its rims only.
pub(crate) fn hinders_rolling(shape: &Shape, down: DVec3, feature: u64) -> bool {
    matches!(shape, Shape::Cylinder { .. }) && down.x.abs() < LYING && feature < DEEPEST
}

fn rim_points(radius: f64, half: f64, down: DVec3, mut add: impl FnMut(u64, DVec3, f64)) {
    let radial = DVec3::new(0.0, down.y, down.z);
    let length = radial.length();
    // how much deeper than the six the deepest point is, for a radius of 1
    let six = HEXAGON.iter().fold(0.0, |most: f64, &(y, z)| most.max(y * down.y + z * down.z));
    let below = length - six;
    for (rim, x) in [-half, half].into_iter().enumerate() {
        for (k, (y, z)) in HEXAGON.into_iter().enumerate() {
            add((6 * rim + k) as u64, DVec3::new(x, y * radius, z * radius), 0.0);
        }
        if below > DEEPER || down.x.abs() < LYING {
            add(DEEPEST + rim as u64, DVec3::X * x + radial * (radius / length), 0.0);
        }
    }
}

/// Writes the face of a shape that looks along `direction`, on a round side the edge next to `near`.
pub(crate) fn face(shape: &Shape, direction: DVec3, near: impl FnOnce() -> DVec3, out: &mut FacePolygon) {
    match *shape {
        Shape::Box { size } => box_face(size * 0.5, direction, out),
        Shape::Cylinder { radius, length } if direction.x.abs() >= END => {
            cylinder_end(radius, (0.5 * length).copysign(direction.x), out);
        }
        Shape::Cylinder { radius, length } => {
            let near = near();
            let radial = DVec3::new(0.0, near.y, near.z).try_normalize();
            let radial = radial
                .or_else(|| DVec3::new(0.0, direction.y, direction.z).try_normalize())
                .unwrap_or(DVec3::Z);
            segment(radial * radius, 0.5 * length, out);
        }
        Shape::Capsule { radius, length } => {
            segment(DVec3::ZERO, 0.5 * length, out);
            out.radius = radius;
        }
        Shape::Sphere { .. } | Shape::Ellipsoid { .. } => {}
    }
}

/// A solid as parry knows it, without its radius if it is a capsule.
pub(crate) enum ConvexCore<'a> {
    Box(Cuboid),
    Cylinder(Cylinder),
    Segment(Segment),
    Hull(&'a ConvexPolyhedron),
}

impl ConvexCore<'_> {
    /// The core of a shape; none for balls, whose distance is known without it.
    pub(crate) fn of(shape: &Shape) -> Option<Self> {
        Some(match *shape {
            Shape::Box { size } => Self::Box(Cuboid::new(size * 0.5)),
            Shape::Cylinder { radius, length } => Self::Cylinder(Cylinder::new(0.5 * length, radius)),
            Shape::Capsule { length, .. } => {
                Self::Segment(Segment::new(DVec3::X * (-0.5 * length), DVec3::X * (0.5 * length)))
            }
            Shape::Sphere { .. } | Shape::Ellipsoid { .. } => return None,
        })
    }

    pub(crate) fn support(&self) -> &dyn SupportMap {
        match self {
            Self::Box(core) => core,
            Self::Cylinder(core) => core,
            Self::Segment(core) => core,
            Self::Hull(core) => *core,
        }
    }

    /// Gives the outward normals of all faces, in the axes of the core.
    pub(crate) fn for_each_normal(&self, mut give: impl FnMut(DVec3)) {
        match self {
            Self::Box(_) => {
                DVec3::AXES.into_iter().for_each(|axis| [axis, -axis].into_iter().for_each(&mut give))
            }
            Self::Cylinder(_) => [DVec3::Y, -DVec3::Y].into_iter().for_each(give),
            Self::Segment(_) => {}
            Self::Hull(core) => core.faces().iter().for_each(|face| give(face.normal)),
        }
    }

    /// The rotation of a shape in the axes of parry's core.
    pub(crate) fn turned(&self, rotation: DQuat) -> DQuat {
        if matches!(self, Self::Cylinder(_)) { rotation * AXIS } else { rotation }
    }
}

/// The radius that a core leaves out (m).
pub(crate) fn core_radius(shape: &Shape) -> f64 {
    if let Shape::Capsule { radius, .. } = *shape { radius } else { 0.0 }
}

fn from_core(offset: DVec3, radius: f64, otherwise: DVec3) -> Nearest {
    let length = offset.length();
    let normal = if length > 0.0 { offset / length } else { otherwise };
    Nearest { distance: length - radius, normal }
}

fn from_box(p: DVec3, half: DVec3) -> Nearest {
    let excess = p.abs() - half;
    if excess.max_element() > 0.0 {
        let out = excess.max(DVec3::ZERO);
        let distance = out.length();
        return Nearest { distance, normal: signed(out / distance, p) };
    }
    let axis = if excess.x >= excess.y && excess.x >= excess.z {
        DVec3::X
    } else if excess.y >= excess.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    Nearest { distance: excess.max_element(), normal: signed(axis, p) }
}

fn signed(v: DVec3, sign: DVec3) -> DVec3 {
    DVec3::new(v.x.copysign(sign.x), v.y.copysign(sign.y), v.z.copysign(sign.z))
}

fn from_cylinder(p: DVec3, radius: f64, half: f64) -> Nearest {
    let radial = DVec3::new(0.0, p.y, p.z);
    let from_axis = radial.length();
    let outward = if from_axis > 0.0 { radial / from_axis } else { DVec3::Z };
    let (side, end) = (from_axis - radius, p.x.abs() - half);
    if side > 0.0 && end > 0.0 {
        let distance = (side * side + end * end).sqrt();
        return Nearest { distance, normal: (outward * side + DVec3::X * end.copysign(p.x)) / distance };
    }
    if side >= end {
        Nearest { distance: side, normal: outward }
    } else {
        Nearest { distance: end, normal: DVec3::X * 1f64.copysign(p.x) }
    }
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

/// Corner `i` of a box: bits 0, 1, 2 choose the side along x, y, z.
fn box_corner(half: DVec3, i: usize) -> DVec3 {
    let side = |bit: usize, half: f64| if i >> bit & 1 == 1 { half } else { -half };
    DVec3::new(side(0, half.x), side(1, half.y), side(2, half.z))
}
