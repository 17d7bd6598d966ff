//! A worm of seven bones in a row, with six hinges about y.

use glam::DVec3;
use sinew_math::ops;

use super::character::{Character, DENSITY, made, row_of_bones};
use crate::embed::{EmbeddedBody, Filling};
use crate::lattice::{Cells, Lattice, Pattern};
use crate::loft::{Ring, loft};

/// Length of a bone, and of the flesh beyond the first and last (m).
const BONE: f64 = 0.1;
const CAP: f64 = 0.04;
/// Half its height (m).
const RADIUS: f64 = 0.06;

/// A worm 78 cm long of 210 nodes and 666 tetrahedra, 262 vertices and 520 triangles (KP08: 224 and 714, 262 and 520).
pub fn worm() -> Character {
    worm_with_cells([13, 3, 3])
}

/// The same worm with `cells` bricks of six tetrahedra along its length, width and height.
///
/// # Panics
/// If there are no or too many cells, see [`crate::MAX_CELLS`].
pub fn worm_with_cells(cells: [u32; 3]) -> Character {
    let points: Vec<DVec3> = (0..8).map(|k| DVec3::X * (BONE * f64::from(k))).collect();
    let (bones, joints) = row_of_bones(&points, 0.012, DVec3::Y, 1.2);
    let half_length = 3.5 * BONE + CAP;
    let middle = DVec3::X * (3.5 * BONE);
    // 20 rings of 13: blunt ends, a ring of grooves at every joint
    let ring = |k: u32| {
        let s = 2.0 * (f64::from(k) + 0.5) / 20.0 - 1.0;
        let x = half_length * s * (1.0 - 0.02 * s * s);
        let end = (1.0 - s * s * s * s * s * s).sqrt();
        let groove = 1.0 - 0.04 * ops::cos((x + 3.5 * BONE) / BONE * std::f64::consts::TAU);
        let half = RADIUS * end * groove;
        Ring { centre: middle + DVec3::X * x, half: [half, half], squareness: 0.7 }
    };
    let rings: Vec<Ring> = (0..20).map(ring).collect();
    let surface = made(loft([middle - DVec3::X * half_length, middle + DVec3::X * half_length], &rings, 13));
    let lattice = Lattice { cells: Cells::Each(cells), pattern: Pattern::Bricks };
    let filling = Filling { density: DENSITY, mass_floor: 0.05 };
    let flesh = made(EmbeddedBody::in_lattice(surface, &lattice, &filling));
    Character::new("worm", bones, joints, flesh, 0.03)
}
