//! What the solvers and the material compute, drawn as it is: no world.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::Pose;
use sinew_show::{Drawing, Rgb, Shape, ShownLine, ShownSolid};

use crate::page::Outcome;
use crate::programs::{affine_chain, beads, own_material};
use crate::stills::{BLUE, GREY, RED, mixed};

/// Moments of a swing that are drawn on top of each other.
const MOMENTS: u32 = 6;

/// Beads on rods at moments of a swing.
pub(crate) fn beads() -> Outcome<(Drawing, String)> {
    let mut drawing = Drawing::default();
    for moment in 0..MOMENTS {
        let (beads, _) = beads::run(&[0.05; 20], 24 * moment)?;
        let color = mixed(GREY, BLUE, f64::from(moment) / f64::from(MOMENTS - 1));
        let mut from = DVec3::ZERO;
        for at in beads {
            drawing.lines.push(ShownLine { from, to: at, color, weight: 1.0 });
            drawing.solids.push(ball(at, 0.014, color));
            from = at;
        }
    }
    Ok((drawing, String::new()))
}

/// Affine bodies at moments of a swing.
pub(crate) fn affine() -> Outcome<(Drawing, String)> {
    let mut drawing = Drawing::default();
    for moment in 0..MOMENTS {
        let (links, _) = affine_chain::run(6, 1e5, 1e-3, 200 * moment)?;
        let color = mixed(GREY, BLUE, f64::from(moment) / f64::from(MOMENTS - 1));
        drawing.solids.extend(links.into_iter().map(|[at, x, y, z]| {
            let size = DVec3::from_array(affine_chain::LENGTHS_M);
            let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, z)).normalize();
            ShownSolid { shape: Shape::Box { size }, pose: Pose::new(rotation, at), color, is_bone: false }
        }));
    }
    Ok((drawing, String::new()))
}

/// A tetrahedron of rubber that takes its shape again: edges are blue, and red where they are twice too long.
pub(crate) fn material() -> Outcome<Vec<(Drawing, String)>> {
    let rest = [DVec3::ZERO, DVec3::X * 0.1, DVec3::Y * 0.1, DVec3::Z * 0.1];
    let still = |n_steps: u32| {
        let (corners, _) = own_material::run(n_steps)?;
        let mut drawing = Drawing::default();
        for [a, b] in [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [3, 1]] {
            let stretch = corners[a].distance(corners[b]) / rest[a].distance(rest[b]) - 1.0;
            let color = mixed(BLUE, RED, stretch.clamp(0.0, 1.0));
            drawing.lines.push(ShownLine { from: corners[a], to: corners[b], color, weight: 5.0 });
        }
        drawing.solids.extend(corners.iter().map(|&corner| ball(corner, 0.008, BLUE)));
        Ok((drawing, format!("{:.0} ms", 0.1 * f64::from(n_steps))))
    };
    [0, 40, 100, 10_000].into_iter().map(still).collect()
}

fn ball(at: DVec3, radius: f64, color: Rgb) -> ShownSolid {
    ShownSolid { shape: Shape::Sphere { radius }, pose: Pose::from_translation(at), color, is_bone: false }
}
