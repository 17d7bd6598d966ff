//! The nearest point of the surface of a shape: signed distance, negative inside, and outward normal. Frame of the shape, metres.
//!
//! The point itself is `p − n d`. For solids and meshes this is the distance that contact uses. That of a height field is measured along the normal of the
//! triangle below; here all of its triangles count, beyond its border too, in rings of cells about the point until none can be nearer.
//! Cost: that of the distance; for a height field the cells nearer than the surface.

use crate::height_field::HeightField;
use crate::shape::ContactShape;
use crate::tri_mesh::nearest_on;
use glam::DVec3;

/// Signed distance and outward normal.
pub(crate) fn nearest_point(shape: &ContactShape, point: DVec3) -> Option<(f64, DVec3)> {
    match shape {
        ContactShape::Field(field) => Some(nearest_of_field(field, point)),
        _ => shape.distance(point).map(|nearest| (nearest.distance, nearest.normal)),
    }
}

fn nearest_of_field(field: &HeightField, point: DVec3) -> (f64, DVec3) {
    let mut best = (f64::INFINITY, DVec3::ZERO, DVec3::Z);
    let mut ring = 0;
    while field.ring(point, ring, &mut |corners| {
        let place = nearest_on(corners, point).point;
        let square = place.distance_squared(point);
        if square < best.0 {
            let [a, b, c] = corners;
            best = (square, place, (b - a).cross(c - a).normalize_or_zero());
        }
    }) && field.ring_distance_squared(point, ring + 1) < best.0
    {
        ring += 1;
    }
    let (apart, distance) = (point - best.1, best.0.sqrt());
    let is_below = field.surface(point.x, point.y).is_some_and(|(height, _)| point.z < height);
    let sign = if is_below { -1.0 } else { 1.0 };
    let is_on = distance <= 1e-12 * (1.0 + point.length());
    (sign * distance, if is_on { best.2 } else { apart * (sign / distance) })
}
