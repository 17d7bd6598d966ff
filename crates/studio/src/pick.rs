//! Picking: the nearest shape or flesh surface that a ray hits.
//!
//! Shapes are unions of scaled cubes, balls and cylinders, whose intersections are exact: cubes by slabs, balls by a
//! quadratic equation, cylinders by a quadratic equation and two discs. A test against the bounding ball comes first.
//! Surfaces of flesh are tested triangle by triangle. Cost: linear in shapes and triangles.

use glam::DVec3;
use sinew_math::{Shape, UnitSolid};
use sinew_show::{DrawList, DrawSolid};
use sinew_sim::BodyId;

use crate::{camera::Ray, snapshot::Snapshot};

/// What a ray hits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PickTarget {
    /// A shape of a body.
    Body(BodyId),
    /// A surface of flesh, by index.
    Flesh(usize),
}

/// Intersection of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
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

/// Whether a ray hits a ball around a shape with this centre; false if anything is not finite.
fn is_near(shape: &Shape, center: DVec3, ray: &Ray) -> bool {
    let off = (center - ray.origin).cross(ray.direction);
    off.length_squared() <= shape.half_extents().length_squared() * ray.direction.length_squared()
}

/// Distance at which a ray enters a shape, both in the frame of the shape; zero if it starts inside.
fn meet_shape(shape: &Shape, ray: &Ray) -> Option<f64> {
    let distances = shape.pieces().filter_map(|piece| {
        // Scale the piece to its unit solid; the ray parameter does not change.
        let origin = (ray.origin - DVec3::X * piece.x) / piece.scale;
        let scaled = Ray { origin, direction: ray.direction / piece.scale };
        match piece.solid {
            UnitSolid::Cube => meet_cube(&scaled),
            UnitSolid::Ball => meet_ball(&scaled),
            UnitSolid::Cylinder => meet_cylinder(&scaled),
        }
    });
    distances.min_by(f64::total_cmp)
}

/// The smallest s ≥ 0 with `a s² + 2 b s + c ≤ 0`.
fn enter(a: f64, b: f64, c: f64) -> Option<f64> {
    if c <= 0.0 {
        return Some(0.0);
    }
    let root = b * b - a * c;
    (root >= 0.0 && b < 0.0).then(|| (-b - root.sqrt()) / a)
}

/// Ball of radius 1.
fn meet_ball(ray: &Ray) -> Option<f64> {
    let (from, way) = (ray.origin, ray.direction);
    enter(way.length_squared(), from.dot(way), from.length_squared() - 1.0)
}

/// Cube with edges of length 1.
fn meet_cube(ray: &Ray) -> Option<f64> {
    let (mut first, mut last) = (0.0f64, f64::INFINITY);
    for axis in 0..3 {
        let (place, speed) = (ray.origin[axis], ray.direction[axis]);
        if speed == 0.0 {
            if place.abs() > 0.5 {
                return None;
            }
            continue;
        }
        let (a, b) = ((-0.5 - place) / speed, (0.5 - place) / speed);
        (first, last) = (first.max(a.min(b)), last.min(a.max(b)));
    }
    (first <= last).then_some(first)
}

/// Cylinder of radius 1 and length 1 along x.
fn meet_cylinder(ray: &Ray) -> Option<f64> {
    let (from, way) = (ray.origin, ray.direction);
    let inside = |point: DVec3| point.y * point.y + point.z * point.z <= 1.0;
    if inside(from) && from.x.abs() <= 0.5 {
        return Some(0.0);
    }
    let discs = [-0.5, 0.5].into_iter().filter_map(|x| {
        let distance = (x - from.x) / way.x;
        (distance >= 0.0 && inside(ray.at(distance))).then_some(distance)
    });
    let (a, b) = (way.y * way.y + way.z * way.z, from.y * way.y + from.z * way.z);
    let c = from.y * from.y + from.z * from.z - 1.0;
    let side = enter(a, b, c).filter(|&distance| c > 0.0 && ray.at(distance).x.abs() <= 0.5);
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
    use sinew_math::{Shape, ops};

    use super::{Ray, is_near, meet_shape, meet_triangle};

    /// Distance outside a shape, by its definition.
    fn outside(shape: &Shape, p: DVec3) -> bool {
        let across = (p.y * p.y + p.z * p.z).sqrt();
        match *shape {
            Shape::Box { size } => (p.abs() - 0.5 * size).max_element() > 0.0,
            Shape::Sphere { radius } => p.length() > radius,
            Shape::Ellipsoid { semi_axes } => (p / semi_axes).length() > 1.0,
            Shape::Cylinder { radius, length } => across > radius || p.x.abs() > 0.5 * length,
            Shape::Capsule { radius, length } => {
                p.distance(DVec3::X * p.x.clamp(-0.5 * length, 0.5 * length)) > radius
            }
        }
    }

    #[test]
    fn shapes_are_entered_where_small_steps_along_the_ray_enter_them() {
        let shapes = [
            Shape::Box { size: DVec3::new(1.0, 0.6, 0.4) },
            Shape::Sphere { radius: 0.5 },
            Shape::Ellipsoid { semi_axes: DVec3::new(0.7, 0.4, 0.3) },
            Shape::Cylinder { radius: 0.3, length: 0.9 },
            Shape::Capsule { radius: 0.25, length: 0.6 },
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
