//! Meshes of basic solids, centred on their frame. Cylinders, capsules and cones have their axis along x. Lengths in
//! metres.
//!
//! `detail` is the number of sides of a full circle, at least 3.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::DVec3;
use sinew_math::ops;

use crate::{color::Color, mesh::Mesh};

impl Mesh {
    /// A box with these full edge lengths.
    pub fn cuboid(size: DVec3) -> Self {
        let mut mesh = Self::default();
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let unit = |i: usize| DVec3::AXES[i % 3];
                let (normal, across, along) = (sign * unit(axis), unit(axis + 1), sign * unit(axis + 2));
                let corner = |u: f64, v: f64| (0.5 * size * (normal + u * across + v * along), normal);
                let corners = [corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, -1.0), corner(1.0, 1.0)];
                mesh.push_grid(&corners, 2, WHITE);
            }
        }
        mesh
    }

    /// A ball.
    pub fn sphere(radius: f64, detail: usize) -> Self {
        Self::capsule(radius, 0.0, detail)
    }

    /// A capsule; `length` is the length of its cylindrical part.
    pub fn capsule(radius: f64, length: f64, detail: usize) -> Self {
        let half = detail.max(3).div_ceil(4);
        // Latitude of each ring, and the cap (−1 or 1) it belongs to.
        let end = |side: f64| {
            move |i: usize| {
                let part = i as f64 / half as f64;
                (FRAC_PI_2 * if side < 0.0 { part - 1.0 } else { part }, side)
            }
        };
        let first = (0..=half).map(end(-1.0));
        let second = (if length > 0.0 { 0 } else { 1 }..=half).map(end(1.0));
        Self::turned(
            detail,
            first.chain(second).map(|(latitude, side)| {
                let (sin, cos) = ops::sin_cos(latitude);
                let (place, normal) = ((0.5 * side * length + radius * sin, radius * cos), (sin, cos));
                (place, normal)
            }),
        )
    }

    /// An ellipsoid with these half lengths.
    pub fn ellipsoid(semi_axes: DVec3, detail: usize) -> Self {
        let mut mesh = Self::sphere(1.0, detail);
        for vertex in &mut mesh.vertices {
            vertex.position *= semi_axes;
            vertex.normal = (vertex.normal / semi_axes.max(DVec3::splat(1e-12))).normalize_or(DVec3::Z);
        }
        mesh
    }

    /// A circular cylinder.
    pub fn cylinder(radius: f64, length: f64, detail: usize) -> Self {
        let x = 0.5 * length;
        let mut mesh =
            Self::turned(detail, [((-x, 0.0), (-1.0, 0.0)), ((-x, radius), (-1.0, 0.0))].into_iter());
        mesh.push_painted(&Self::turned(
            detail,
            [((-x, radius), (0.0, 1.0)), ((x, radius), (0.0, 1.0))].into_iter(),
        ));
        mesh.push_painted(&Self::turned(
            detail,
            [((x, radius), (1.0, 0.0)), ((x, 0.0), (1.0, 0.0))].into_iter(),
        ));
        mesh
    }

    /// A cone with its tip at `+length/2`.
    pub fn cone(radius: f64, length: f64, detail: usize) -> Self {
        let x = 0.5 * length;
        let side = (radius * radius + length * length).sqrt().max(f64::MIN_POSITIVE);
        let slope = (radius / side, length / side);
        let mut mesh =
            Self::turned(detail, [((-x, 0.0), (-1.0, 0.0)), ((-x, radius), (-1.0, 0.0))].into_iter());
        mesh.push_painted(&Self::turned(detail, [((-x, radius), slope), ((x, 0.0), slope)].into_iter()));
        mesh
    }

    /// Surface of revolution about x. The curve gives positions and normals, each as (along x, away from x).
    fn turned(detail: usize, curve: impl Iterator<Item = ((f64, f64), (f64, f64))>) -> Self {
        let detail = detail.max(3);
        let mut points = Vec::new();
        for (place, normal) in curve {
            for i in 0..=detail {
                let (sin, cos) = ops::sin_cos(-TAU * (i % detail) as f64 / detail as f64);
                let at = |(along, across): (f64, f64)| DVec3::new(along, across * cos, across * sin);
                points.push((at(place), at(normal)));
            }
        }
        let mut mesh = Self::default();
        mesh.push_grid(&points, detail + 1, WHITE);
        // Triangles at the poles have no area.
        let vertices = &mesh.vertices;
        mesh.triangles.retain(|corners| {
            let [a, b, c] = corners.map(|i| vertices[i as usize].position);
            (b - a).cross(c - a) != DVec3::ZERO
        });
        mesh
    }
}

/// Colour of meshes before [`Mesh::push`] paints them.
const WHITE: Color = Color(glam::Vec3::ONE);
