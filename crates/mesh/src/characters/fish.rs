//! A fish of seven bones in a row from head to tail, with six hinges about z: it swims by bending sideways.

use glam::DVec3;
use sinew_math::ops;
use std::f64::consts::PI;

use super::character::{Character, DENSITY, made, row_of_bones};
use crate::embed::{EmbeddedBody, Filling};
use crate::lattice::{Cells, Lattice, Pattern};
use crate::loft::{Ring, loft};

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
    Character::new("fish", bones, joints, flesh, 0.036)
}
