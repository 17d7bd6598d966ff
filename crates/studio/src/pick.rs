//! Picking: the nearest shape or flesh surface that a ray hits.
//!
//! Intersections with shapes are exact: boxes by slabs, balls and ellipsoids by a quadratic equation, cylinders by a quadratic
//! equation and two discs, capsules by a cylinder and two balls. A test against the bounding ball comes first. Surfaces of flesh
//! are tested triangle by triangle. Cost: linear in shapes and triangles.

use glam::DVec3;
use sinew_sim::{BodyId, DrawList, DrawShape, DrawSolid};

use crate::camera::Ray;
use crate::snapshot::Snapshot;

/// What a ray hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PickTarget {
    /// A shape of a body.
    Body(BodyId),
    /// A surface of flesh, by index.
    Flesh(usize),
}

/// Intersection of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// What was hit.
    pub target: PickTarget,
    /// Point of intersection (m).
    pub point: DVec3,
    /// Distance from the origin of the ray (m).
    pub distance: f64,
}

impl Hit {
    /// Replaces flesh by its nearest bone, if it has bones, so that dragging skin drags the bone.
    #[must_use]
    pub fn on_bone(self, snapshot: &Snapshot) -> Self {
        let PickTarget::Flesh(flesh) = self.target else { return self };
        let bones = snapshot.overview.flesh.get(flesh).into_iter().flat_map(|card| &card.bones);
        let distance = |bone: &BodyId| {
            snapshot
                .poses
                .get(bone.index())
                .map_or(f64::INFINITY, |pose| pose.translation.distance(self.point))
        };
        let nearest = bones.copied().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(self, |bone| Self { target: PickTarget::Body(bone), ..self })
    }
}

/// The nearest intersection of a ray. If `through` is set, bodies take precedence over the flesh around them.
pub fn pick(list: &DrawList, ray: &Ray, through: bool) -> Option<Hit> {
    let near = |solid: &&DrawSolid| is_near(&solid.shape, solid.world_from_shape.translation, ray);
    let bodies = list.solids.iter().filter(near).filter_map(|solid| {
        let local = solid.world_from_shape.inverse();
        let moved = Ray {
            origin: local.transform_point(ray.origin),
            direction: local.transform_vector(ray.direction),
        };
        meet_shape(&solid.shape, &moved).map(|distance| (PickTarget::Body(solid.body), distance))
    });
    let body = nearest(bodies);
    if through && body.is_some() {
        return body.map(|(target, distance)| Hit { target, point: ray.at(distance), distance });
    }
    let surfaces = list.flesh.iter().enumerate().flat_map(|(i, flesh)| {
        let corners = |triangle: &[u32; 3]| triangle.map(|corner| flesh.points[corner as usize]);
        let meet = move |triangle: &[u32; 3]| meet_triangle(corners(triangle), ray);
        flesh.triangles.iter().filter_map(meet).map(move |distance| (PickTarget::Flesh(i), distance))
    });
    let found = nearest(body.into_iter().chain(nearest(surfaces)));
    found.map(|(target, distance)| Hit { target, point: ray.at(distance), distance })
}

fn nearest(hits: impl Iterator<Item = (PickTarget, f64)>) -> Option<(PickTarget, f64)> {
    hits.filter(|hit| hit.1.is_finite()).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Whether a ray hits the bounding ball of a shape with this centre; false if anything is not finite.
fn is_near(shape: &DrawShape, center: DVec3, ray: &Ray) -> bool {
    let radius = match *shape {
        DrawShape::Box { size } => 0.5 * size.length(),
        DrawShape::Sphere { radius } => radius,
        DrawShape::Ellipsoid { semi_axes } => semi_axes.max_element(),
        DrawShape::Cylinder { radius, length } | DrawShape::Capsule { radius, length } => {
            radius + 0.5 * length
        }
    };
    let off = (center - ray.origin).cross(ray.direction);
    off.length_squared() <= radius * radius * ray.direction.length_squared()
}

/// Distance at which a ray enters a shape, both in the frame of the shape; zero if it starts inside.
fn meet_shape(shape: &DrawShape, ray: &Ray) -> Option<f64> {
    match *shape {
        DrawShape::Box { size } => meet_box(0.5 * size, ray),
        DrawShape::Sphere { radius } => meet_ball(DVec3::ZERO, radius, ray),
        DrawShape::Ellipsoid { semi_axes } => {
            // Scale the ellipsoid to a unit ball; the ray parameter does not change.
            let scaled = Ray { origin: ray.origin / semi_axes, direction: ray.direction / semi_axes };
            meet_ball(DVec3::ZERO, 1.0, &scaled)
        }
        DrawShape::Cylinder { radius, length } => meet_cylinder(radius, 0.5 * length, ray),
        DrawShape::Capsule { radius, length } => {
            let ends = [-0.5, 0.5].map(|side| meet_ball(DVec3::X * (side * length), radius, ray));
            let parts = ends.into_iter().chain([meet_cylinder(radius, 0.5 * length, ray)]);
            parts.flatten().min_by(f64::total_cmp)
        }
    }
}

/// The smallest s ≥ 0 with `a s² + 2 b s + c ≤ 0`.
fn enter(a: f64, b: f64, c: f64) -> Option<f64> {
    if c <= 0.0 {
        return Some(0.0);
    }
    let root = b * b - a * c;
    (root >= 0.0 && b < 0.0).then(|| (-b - root.sqrt()) / a)
}

fn meet_ball(center: DVec3, radius: f64, ray: &Ray) -> Option<f64> {
    let from = ray.origin - center;
    enter(ray.direction.length_squared(), from.dot(ray.direction), from.length_squared() - radius * radius)
}

fn meet_box(half: DVec3, ray: &Ray) -> Option<f64> {
    let (mut first, mut last) = (0.0f64, f64::INFINITY);
    for axis in 0..3 {
        let (place, speed) = (ray.origin[axis], ray.direction[axis]);
        if speed == 0.0 {
            if place.abs() > half[axis] {
                return None;
            }
            continue;
        }
        let (a, b) = ((-half[axis] - place) / speed, (half[axis] - place) / speed);
        (first, last) = (first.max(a.min(b)), last.min(a.max(b)));
    }
    (first <= last).then_some(first)
}

fn meet_cylinder(radius: f64, half: f64, ray: &Ray) -> Option<f64> {
    let (from, way) = (ray.origin, ray.direction);
    let inside = |point: DVec3| point.y * point.y + point.z * point.z <= radius * radius;
    if inside(from) && from.x.abs() <= half {
        return Some(0.0);
    }
    let discs = [-half, half].into_iter().filter_map(|x| {
        let distance = (x - from.x) / way.x;
        (distance >= 0.0 && inside(ray.at(distance))).then_some(distance)
    });
    let (a, b) = (way.y * way.y + way.z * way.z, from.y * way.y + from.z * way.z);
    let c = from.y * from.y + from.z * from.z - radius * radius;
    let side = enter(a, b, c).filter(|&distance| c > 0.0 && ray.at(distance).x.abs() <= half);
    discs.chain(side).min_by(f64::total_cmp)
}

/// Möller–Trumbore intersection, two-sided.
fn meet_triangle([a, b, c]: [DVec3; 3], ray: &Ray) -> Option<f64> {
    let (e1, e2, from) = (b - a, c - a, ray.origin - a);
    let p = ray.direction.cross(e2);
    let q = from.cross(e1);
    let determinant = e1.dot(p);
    let (u, v) = (from.dot(p) / determinant, ray.direction.dot(q) / determinant);
    let distance = e2.dot(q) / determinant;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0).then_some(distance)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::ops;
    use sinew_sim::DrawShape;

    use super::{Ray, is_near, meet_shape, meet_triangle};

    /// Distance outside a shape, by its definition.
    fn outside(shape: &DrawShape, p: DVec3) -> bool {
        let across = (p.y * p.y + p.z * p.z).sqrt();
        match *shape {
            DrawShape::Box { size } => (p.abs() - 0.5 * size).max_element() > 0.0,
            DrawShape::Sphere { radius } => p.length() > radius,
            DrawShape::Ellipsoid { semi_axes } => (p / semi_axes).length() > 1.0,
            DrawShape::Cylinder { radius, length } => across > radius || p.x.abs() > 0.5 * length,
            DrawShape::Capsule { radius, length } => {
                p.distance(DVec3::X * p.x.clamp(-0.5 * length, 0.5 * length)) > radius
            }
        }
    }

    #[test]
    fn shapes_are_entered_where_small_steps_along_the_ray_enter_them() {
        let shapes = [
            DrawShape::Box { size: DVec3::new(1.0, 0.6, 0.4) },
            DrawShape::Sphere { radius: 0.5 },
            DrawShape::Ellipsoid { semi_axes: DVec3::new(0.7, 0.4, 0.3) },
            DrawShape::Cylinder { radius: 0.3, length: 0.9 },
            DrawShape::Capsule { radius: 0.25, length: 0.6 },
        ];
        let mut n_hits = 0;
        for shape in &shapes {
            for i in 0..100 {
                let t = f64::from(i);
                let origin = DVec3::new(ops::sin(0.7 * t), ops::cos(1.3 * t), ops::sin(0.37 * t)) * 2.0;
                let aim = DVec3::new(ops::cos(2.1 * t), ops::sin(1.9 * t), ops::cos(0.9 * t)) * 0.4;
                let ray = Ray { origin, direction: (aim - origin).normalize() };
                assert!(
                    meet_shape(shape, &ray).is_none() || is_near(shape, DVec3::ZERO, &ray),
                    "{shape:?} {i}"
                );
                let marched = (0..8_000).map(|k| f64::from(k) * 5e-4).find(|&s| !outside(shape, ray.at(s)));
                match (meet_shape(shape, &ray), marched) {
                    (Some(found), Some(wanted)) => {
                        n_hits += 1;
                        assert!((found - wanted).abs() < 1e-3, "{shape:?} {i}: {found} {wanted}");
                    }
                    // A ray that only just touches may be missed by the small steps.
                    (Some(found), None) => assert!(outside(shape, ray.at(found + 1e-2)), "{shape:?} {i}"),
                    (None, found) => assert_eq!(found, None, "{shape:?} {i}"),
                }
            }
        }
        assert!(n_hits > 150, "{n_hits}");
    }

    #[test]
    fn triangles_are_met_from_both_sides_and_only_inside() {
        let triangle = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let down = |x: f64, y: f64| Ray { origin: DVec3::new(x, y, 2.0), direction: DVec3::NEG_Z };
        let up = |x: f64, y: f64| Ray { origin: DVec3::new(x, y, -2.0), direction: DVec3::Z };
        for (x, y, inside) in [(0.2, 0.2, true), (0.6, 0.6, false), (-0.1, 0.2, false), (0.2, -0.1, false)] {
            assert_eq!(meet_triangle(triangle, &down(x, y)).is_some(), inside, "{x} {y}");
            assert_eq!(meet_triangle(triangle, &up(x, y)), inside.then_some(2.0));
        }
        assert_eq!(meet_triangle([DVec3::NAN; 3], &down(0.2, 0.2)), None);
    }
}
