//! Where a ray first meets the surface of a shape. Frame of the shape, metres; the direction has unit length.
//!
//! A ray that begins outside a solid meets it where it enters, one that begins inside where it leaves. The part of a line inside a convex solid is an
//! interval: of slabs for boxes, of a quadratic equation for round ones, of half-spaces for hulls. Capsules are the union of such intervals. Triangle meshes use
//! their tree, height fields the triangles under the ray, one after the other: over each, the height of the ray above the ground is linear. Cost:
//! constant; O(faces) for hulls, O(log n) for meshes, O(cells under the ray) for height fields.

use crate::convex_hull::ConvexHull;
use crate::height_field::HeightField;
use crate::primitives::nearest;
use crate::ray_triangle::LocalRay;
use crate::shape::ContactShape;
use glam::DVec3;
use sinew_math::Shape;

/// Where a ray meets a surface: the way along it (m), and the outward normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RayTouch {
    pub(crate) way: f64,
    pub(crate) normal: DVec3,
}

/// The first place where a ray meets the surface of a shape, at most `reach` along it.
pub(crate) fn ray_touch(shape: &ContactShape, ray: &LocalRay, reach: f64) -> Option<RayTouch> {
    let touch = match shape {
        ContactShape::Plane => {
            let way = -ray.origin.z / ray.direction.z;
            (way >= 0.0 && way.is_finite()).then_some(RayTouch { way, normal: DVec3::Z })
        }
        ContactShape::Solid(Shape::Box { size }) => box_touch(*size * 0.5, ray),
        ContactShape::Solid(solid) => {
            let (way, _) = round_span(solid, ray)?.first()?;
            nearest(solid, ray.at(way)).map(|near| RayTouch { way, normal: near.normal })
        }
        ContactShape::Convex(hull) => hull_touch(hull, ray),
        ContactShape::Field(field) => field_touch(field, ray, reach),
        ContactShape::Mesh(mesh) => {
            let (way, normal) = mesh.first_crossing(ray, reach)?;
            let is_turned = !mesh.is_solid() && normal.dot(ray.direction) > 0.0;
            Some(RayTouch { way, normal: if is_turned { -normal } else { normal } })
        }
    };
    touch.filter(|touch| touch.way <= reach)
}

/// The part of a line that is inside a convex solid.
#[derive(Clone, Copy)]
struct RaySpan {
    enters: f64,
    leaves: f64,
}

impl RaySpan {
    /// The first end that is not behind the beginning of the ray, and whether the ray enters there.
    fn first(self) -> Option<(f64, bool)> {
        let enters = self.enters >= 0.0;
        let way = if enters { self.enters } else { self.leaves };
        (self.enters <= self.leaves && way >= 0.0 && way.is_finite()).then_some((way, enters))
    }

    /// Of the slab `|x| ≤ half`.
    fn slab(x: f64, along: f64, half: f64) -> Self {
        if along == 0.0 {
            let is_inside = x.abs() <= half;
            return if is_inside { Self::LINE } else { Self::NOWHERE };
        }
        let (a, b) = ((-half - x) / along, (half - x) / along);
        Self { enters: a.min(b), leaves: a.max(b) }
    }

    /// Of what is at most `radius` from the origin, for a line from `from` along `along`, both in the space of the distance.
    fn round(from: DVec3, along: DVec3, radius: f64) -> Self {
        let square = along.length_squared();
        if square == 0.0 {
            return if from.length() <= radius { Self::LINE } else { Self::NOWHERE };
        }
        let middle = -from.dot(along) / square;
        // from the foot of the perpendicular: no cancellation however far away the ray begins
        let foot = from + along * middle;
        let half = (radius * radius - foot.length_squared()) / square;
        if half < 0.0 {
            return Self::NOWHERE;
        }
        let half = half.sqrt();
        Self { enters: middle - half, leaves: middle + half }
    }

    const LINE: Self = Self { enters: f64::NEG_INFINITY, leaves: f64::INFINITY };
    const NOWHERE: Self = Self { enters: f64::INFINITY, leaves: f64::NEG_INFINITY };

    fn and(self, other: Self) -> Self {
        Self { enters: self.enters.max(other.enters), leaves: self.leaves.min(other.leaves) }
    }

    /// Both together; they overlap, or one is nowhere.
    fn or(self, other: Self) -> Self {
        let (a, b) = (self.filled(), other.filled());
        Self { enters: a.enters.min(b.enters), leaves: a.leaves.max(b.leaves) }
    }

    fn filled(self) -> Self {
        if self.enters <= self.leaves { self } else { Self::NOWHERE }
    }
}

fn round_span(solid: &Shape, ray: &LocalRay) -> Option<RaySpan> {
    let (from, along) = (ray.origin, ray.direction);
    let across = |v: DVec3| DVec3::new(0.0, v.y, v.z);
    let tube = |radius: f64, length: f64| {
        RaySpan::round(across(from), across(along), radius).and(RaySpan::slab(from.x, along.x, 0.5 * length))
    };
    Some(match *solid {
        Shape::Sphere { radius } => RaySpan::round(from, along, radius),
        Shape::Cylinder { radius, length } => tube(radius, length),
        Shape::Capsule { radius, length } => {
            let end = DVec3::X * (0.5 * length);
            let ends =
                RaySpan::round(from - end, along, radius).or(RaySpan::round(from + end, along, radius));
            ends.or(tube(radius, length))
        }
        Shape::Box { .. } | Shape::Ellipsoid { .. } => return None,
    })
}

fn box_touch(half: DVec3, ray: &LocalRay) -> Option<RayTouch> {
    let spans = [0, 1, 2].map(|i| RaySpan::slab(ray.origin[i], ray.direction[i], half[i]));
    let all = spans[0].and(spans[1]).and(spans[2]);
    let (way, enters) = all.first()?;
    // the ray enters through the slab that it enters last, and leaves through that which it leaves first
    let later = |i: usize, j: usize| {
        if enters { spans[i].enters > spans[j].enters } else { spans[i].leaves < spans[j].leaves }
    };
    let axis = (1..3).fold(0, |best, i| if later(i, best) { i } else { best });
    let outward = if enters { -ray.direction[axis] } else { ray.direction[axis] };
    Some(RayTouch { way, normal: DVec3::AXES[axis] * 1f64.copysign(outward) })
}

fn hull_touch(hull: &ConvexHull, ray: &LocalRay) -> Option<RayTouch> {
    let (mut enters, mut leaves) = ((f64::NEG_INFINITY, DVec3::Z), (f64::INFINITY, DVec3::Z));
    for (height, normal) in hull.heights(ray.origin) {
        let rise = normal.dot(ray.direction);
        let way = -height / rise;
        if rise < 0.0 && way > enters.0 {
            enters = (way, normal);
        } else if rise > 0.0 && way < leaves.0 {
            leaves = (way, normal);
        } else if rise == 0.0 && height > 0.0 {
            return None;
        }
    }
    let (way, is_entry) = RaySpan { enters: enters.0, leaves: leaves.0 }.first()?;
    Some(RayTouch { way, normal: if is_entry { enters.1 } else { leaves.1 } })
}

fn field_touch(field: &HeightField, ray: &LocalRay, reach: f64) -> Option<RayTouch> {
    let (low, high) = field.bounds();
    let middle = 0.5 * (low + high);
    let half = 0.5 * (high - low);
    // no rounding may cut off the border
    let half = half + DVec3::splat(1e-12 * (half.length() + middle.length() + ray.origin.length()));
    let span = |i: usize| RaySpan::slab(ray.origin[i] - middle[i], ray.direction[i], half[i]);
    let span = span(0).and(span(1)).and(span(2));
    // not cut at the reach, so that the bits of the answer do not depend on it
    let (from, to) = (span.enters.max(0.0), span.leaves);
    if from > to || !from.is_finite() || !to.is_finite() {
        return None;
    }
    let mut found = None;
    field.pieces(ray.at(from), ray.direction, to - from, |start, end| {
        // between start and end one triangle is below: the height over it is linear
        let centre = 0.5 * (start + end);
        let place = ray.at(from + centre);
        let Some((ground, normal)) = field.surface(place.x, place.y) else { return true };
        let (over, rate) = ((place.z - ground) * normal.z, normal.dot(ray.direction));
        let way = centre - over / rate;
        let slack = 1e-9 * (end - start);
        let is_here = way >= start - slack && way <= end + slack;
        if is_here {
            found = Some(RayTouch { way: from + way.clamp(start, end), normal });
        }
        !is_here && from + end <= reach
    });
    found
}
