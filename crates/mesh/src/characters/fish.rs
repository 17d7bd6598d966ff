//! A fish of seven bones in a row from head to tail, with six hinges about z: it swims by bending sideways.

use glam::DVec3;
use sinew_math::ops;
use std::f64::consts::PI;

use super::character::{Character, CharacterLook, DENSITY, made, row_of_bones};
use crate::embed::{EmbeddedBody, Filling};
use crate::lattice::{Cells, Lattice, Pattern};
use crate::loft::{Ring, loft};
use crate::surface::Surface;

/// Half its length, width and height (m).
const HALF: DVec3 = DVec3::new(0.2, 0.05, 0.09);

/// A fish 40 cm long of 115 nodes and 376 tetrahedra, 962 vertices and 1920 triangles (KP08: 107 and 415, 958 and
/// 1912).
pub fn fish() -> Character {
    let points: Vec<DVec3> = (0..8).map(|k| DVec3::X * (0.16 - 0.045 * f64::from(k))).collect();
    let (bones, joints) = row_of_bones(&points, 0.008, DVec3::Z, 0.7);
    // 30 rings of 32 from the tail to the nose, closer at the ends; a tail fin, and a ridge along back and belly
    let ring = |k: u32| {
        let s = -ops::cos(PI * (f64::from(k) + 1.0) / 31.0);
        let body = 1.0 - s * s;
        let tail = ((-0.7 - s) / 0.2).clamp(0.0, 1.0);
        let width = HALF.y * body.sqrt();
        let height = HALF.z * (body * (1.0 + 0.3 * s) + 0.85 * tail * body.sqrt());
        Ring { centre: DVec3::X * (HALF.x * s), half: [width, height], squareness: -0.3 }
    };
    let rings: Vec<Ring> = (0..30).map(ring).collect();
    let surface = made(loft([-DVec3::X * HALF.x, DVec3::X * HALF.x], &rings, 32));
    let lattice = Lattice { cells: Cells::Each([5, 3, 3]), pattern: Pattern::BodyCentred };
    let filling = Filling { density: DENSITY, mass_floor: 0.05 };
    let flesh = made(EmbeddedBody::in_lattice(surface, &lattice, &filling));
    Character { look: Some(look()), ..Character::new("fish", bones, joints, flesh, 0.036) }
}

/// A slender body with fins and eyes, nowhere much wider than the flesh.
fn look() -> CharacterLook {
    let body = lofted([-0.165, 0.2], 40, 32, |t| {
        let nose = 1.0 - ((t - 0.55).max(0.0) / 0.45).powi(2);
        let back = smooth(t / 0.62) * nose.sqrt() * nose.sqrt().sqrt();
        (DVec3::Z * (0.01 * (1.0 - t)), [0.010 + 0.039 * back, 0.014 + 0.064 * back])
    });
    // two lobes of the tail, from their tips to the root; fins along back and belly
    let fork = |t: f64| [0.042 - (0.12 * t).min(0.05), 0.085 - 0.075 * t].map(|z| z - 0.003);
    let tail = [1.0, -1.0].map(|side| fin([-0.2, -0.125], 0.0, move |t| fork(t).map(|z| 0.008 + side * z)));
    let back = fin([-0.05, 0.1], 0.0, |t| [0.035, 0.035 + 0.065 * smooth(1.6 * (1.0 - t))]);
    let belly = fin([-0.11, -0.02], 0.0, |t| [0.0, -0.03 - 0.035 * smooth(1.4 * (1.0 - t))]);
    let side = |side: f64| fin([0.03, 0.085], side * 0.0435, |t| [-0.02 - 0.028 * (1.0 - t), -0.016]);
    let eye = |side: f64| {
        lofted([0.138, 0.158], 8, 12, move |_| (DVec3::new(0.0, side * 0.029, 0.016), [0.006, 0.011]))
    };
    let pairs = [-1.0, 1.0].into_iter().flat_map(|s| [side(s), eye(s)]);
    CharacterLook::of([body, back, belly].into_iter().chain(tail).chain(pairs))
}

/// A plate beside the plane of x and z, between two ends along x (m) and two edges along z.
fn fin(ends: [f64; 2], y: f64, edges: impl Fn(f64) -> [f64; 2]) -> Surface {
    lofted(ends, 20, 16, |t| {
        let [a, b] = edges(t);
        (DVec3::new(0.0, y, 0.5 * (a + b)), [0.003, 0.5 * (b - a).abs()])
    })
}

/// A surface around x between two ends (m), rounded at both: middle and half axes by the share of the length.
fn lofted(ends: [f64; 2], n: u32, around: u32, form: impl Fn(f64) -> (DVec3, [f64; 2])) -> Surface {
    let [from, to] = ends;
    let pole = |t: f64| form(t).0 + DVec3::X * (from + t * (to - from));
    let ring = |k: u32| {
        let s = -ops::cos(PI * (f64::from(k) + 1.0) / f64::from(n + 1));
        let t = 0.5 + 0.5 * s;
        // a round cap over a twelfth of the length
        let cap = (1.0 - (1.0 - t.min(1.0 - t) * 12.0).max(0.0).powi(2)).sqrt();
        Ring { centre: pole(t), half: form(t).1.map(|half| half * cap), squareness: 0.0 }
    };
    let rings: Vec<Ring> = (0..n).map(ring).collect();
    made(loft([pole(0.0), pole(1.0)], &rings, around))
}

/// From 0 to 1, level at both ends.
fn smooth(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
