//! Closed surfaces of rings around the x axis, between two poles.
//!
//! `n_rings × n_around + 2` vertices and `2 n_rings n_around` triangles; the topology is that of a sphere. Metres.

use glam::DVec3;
use sinew_math::ops;
use std::f64::consts::TAU;

use crate::{error::MeshError, surface::Surface};

/// A ring: an oval in the plane `x`, with half axes along y and z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ring {
    pub(crate) centre: DVec3,
    pub(crate) half: [f64; 2],
    /// 0 is an ellipse, 1 the rectangle around it, negative values approach the rhombus inside it.
    pub(crate) squareness: f64,
}

/// A surface through rings at increasing x, closed by the two poles; all lengths in metres.
pub(crate) fn loft(poles: [DVec3; 2], rings: &[Ring], n_around: u32) -> Result<Surface, MeshError> {
    let mut positions = vec![poles[0]];
    for ring in rings {
        positions.extend((0..n_around).map(|k| {
            let (sin, cos) = ops::sin_cos(TAU * f64::from(k) / f64::from(n_around));
            // pushed outwards, at squareness 1 as far as the rectangle
            let push = 1.0 + ring.squareness * (1.0 / cos.abs().max(sin.abs()) - 1.0);
            ring.centre + DVec3::new(0.0, cos * ring.half[0], sin * ring.half[1]) * push
        }));
    }
    positions.push(poles[1]);
    let n_rings = rings.len() as u32;
    let last = n_rings * n_around + 1;
    let at = |ring: u32, k: u32| 1 + ring * n_around + k % n_around;
    let mut triangles = Vec::new();
    for k in 0..n_around {
        triangles.push([0, at(0, k + 1), at(0, k)]);
        for ring in 1..n_rings {
            let [a, b, c, d] = [at(ring - 1, k), at(ring - 1, k + 1), at(ring, k + 1), at(ring, k)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([last, at(n_rings - 1, k), at(n_rings - 1, k + 1)]);
    }
    Surface::new(positions, triangles)
}
