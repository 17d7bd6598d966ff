//! A finger of five bones with a soft tip around the last one. The root moves in the plane y = 0; all coordinates are
//! driven.

use glam::DVec3;
use sinew_math::{JointKind, ops};
use std::f64::consts::PI;

use super::character::{Character, CharacterJoint, DENSITY, made, row_of_bones};
use crate::embed::{EmbeddedBody, Filling};
use crate::lattice::{Cells, Lattice, Pattern};
use crate::loft::{Ring, loft};

/// Where bones meet (m): the wrist, the joints of the finger, the end of the last bone.
const POINTS: [f64; 6] = [0.0, 0.06, 0.12, 0.165, 0.195, 0.212];

/// A finger with a fleshy tip of 54 nodes and 120 tetrahedra, 152 vertices and 300 triangles (KP08: 52 and 119, 157 and
/// 276). The root is driven in its plane (3 coordinates), as are the four hinges about y.
pub fn finger() -> Character {
    let points: Vec<DVec3> = POINTS.iter().map(|&x| DVec3::X * x).collect();
    let (bones, mut joints) = row_of_bones(&points, 0.005, DVec3::Y, 1.5);
    joints.insert(
        0,
        CharacterJoint {
            name: "root".into(),
            kind: JointKind::Planar,
            parent: None,
            child: 0,
            anchor: DVec3::ZERO,
            axis: DVec3::Y,
            limits: None,
            driven: true,
        },
    );
    // 15 rings of 10 around the last two bones: round in front, a flat pad below
    let (start, end) = (0.15, 0.222);
    let ring = |k: u32| {
        let s = -ops::cos(PI * (f64::from(k) + 1.0) / 16.0);
        let round = (1.0 - s * s * s * s).sqrt();
        let half = 0.0095 * round * (1.0 - 0.1 * s);
        let centre = DVec3::new(start + 0.5 * (end - start) * (s + 1.0), 0.0, -0.0015 * round);
        Ring { centre, half: [half, half], squareness: 0.25 }
    };
    let rings: Vec<Ring> = (0..15).map(ring).collect();
    let surface = made(loft([DVec3::X * start, DVec3::X * end], &rings, 10));
    let lattice = Lattice { cells: Cells::Each([5, 2, 2]), pattern: Pattern::Bricks };
    let filling = Filling { density: DENSITY, mass_floor: 0.05 };
    let flesh = made(EmbeddedBody::in_lattice(surface, &lattice, &filling));
    Character::new("finger", bones, joints, flesh, 0.0105)
}
