//! A right hand around the 16 bones of the fixture `hand` (Her11, Figures 1 and 5).
//!
//! At rest the palm faces down: x towards the fingers, y towards the thumb, z to the back of the hand.

use glam::DVec3;
use sinew_math::{JointKind, Pose, Shape, exp_so3};

use super::character::{Character, CharacterBone, CharacterJoint, made};
use crate::embed::{EmbeddedBody, Filling};
use crate::implicit::{RoundShape, mesh_shapes};
use crate::lattice::{Cells, Lattice, Pattern};

/// Density of the fixture (kg/m³).
const DENSITY: f64 = 1100.0;
/// Size of the bricks that mesh the skin (m), thin enough for the gaps between fingers, and the blend length of shapes
/// (m).
const SKIN_CELL: DVec3 = DVec3::new(0.007, 0.0028, 0.006);
const BLEND: f64 = 0.003;
/// Bricks along the hand: about two across a finger.
const CELLS: u32 = 20;

/// A bone of the fixture: name, parent, position of its middle, rotation vector, radius, length, limits of its hinge.
type BoneRow = (&'static str, u32, [f64; 3], [f64; 3], f64, f64, [f64; 2]);

const THUMB: [f64; 3] = [0.0, 0.246879, 0.785523];
const INDEX: [f64; 3] = [0.0, 0.0, 0.059928];
const MIDDLE: [f64; 3] = [0.0, 0.0, 0.0];
const RING: [f64; 3] = [0.0, 0.0, -0.039979];
const LITTLE: [f64; 3] = [0.0, 0.0, -0.099669];

/// The axis of the thumb's hinges, across the palm; those of the fingers are y of their bones.
const THUMB_AXIS: DVec3 = DVec3::new(-0.51305, 0.239319, -0.824321);

/// All bones but the palm, which is bone 0.
const BONES: [BoneRow; 15] = [
    ("thumb_metacarpal", 0, [-0.009366, 0.052094, -0.011058], THUMB, 0.011, 0.046, [-0.3, 0.9]),
    ("thumb_near", 1, [0.017143, 0.079383, -0.019635], THUMB, 0.01, 0.032, [-0.1, 1.0]),
    ("thumb_far", 2, [0.035496, 0.098275, -0.025572], THUMB, 0.009, 0.022, [-0.2, 1.3]),
    ("index_near", 0, [0.062464, 0.031198, 0.0], INDEX, 0.009, 0.04, [-0.35, 1.57]),
    ("index_middle", 4, [0.093408, 0.033055, 0.0], INDEX, 0.008, 0.022, [0.0, 1.9]),
    ("index_far", 5, [0.112374, 0.034192, 0.0], INDEX, 0.007, 0.016, [0.0, 1.4]),
    ("middle_near", 0, [0.066, 0.01, 0.0], MIDDLE, 0.009, 0.045, [-0.35, 1.57]),
    ("middle_middle", 7, [0.1015, 0.01, 0.0], MIDDLE, 0.008, 0.026, [0.0, 1.9]),
    ("middle_far", 8, [0.123, 0.01, 0.0], MIDDLE, 0.007, 0.017, [0.0, 1.4]),
    ("ring_near", 0, [0.061984, -0.010819, 0.0], RING, 0.009, 0.041, [-0.35, 1.57]),
    ("ring_middle", 10, [0.095457, -0.012158, 0.0], RING, 0.008, 0.026, [0.0, 1.9]),
    ("ring_far", 11, [0.11694, -0.013018, 0.0], RING, 0.007, 0.017, [0.0, 1.4]),
    ("little_near", 0, [0.052418, -0.030642, 0.0], LITTLE, 0.008, 0.033, [-0.35, 1.57]),
    ("little_middle", 13, [0.077792, -0.033179, 0.0], LITTLE, 0.007, 0.018, [0.0, 1.9]),
    ("little_far", 14, [0.094707, -0.034871, 0.0], LITTLE, 0.006, 0.016, [0.0, 1.4]),
];

/// A hand of a few thousand tetrahedra. Fingers closer than a brick still move independently.
pub fn hand() -> Character {
    let mut bones = vec![palm()];
    let mut joints = Vec::new();
    for (name, parent, position, rotation, radius, length, limits) in BONES {
        let pose = Pose::new(exp_so3(DVec3::from_array(rotation)), DVec3::from_array(position));
        bones.push(CharacterBone {
            name: name.into(),
            pose,
            shape: Shape::Capsule { length, radius },
            density: DENSITY,
            seen: Vec::new(),
        });
        joints.push(CharacterJoint {
            name: name.into(),
            kind: JointKind::Hinge,
            parent: Some(parent),
            child: joints.len() as u32 + 1,
            anchor: bones[joints.len() + 1].ends()[0],
            axis: if name.starts_with("thumb") { THUMB_AXIS } else { pose.rotation * DVec3::Y },
            limits: Some(limits),
            driven: true,
        });
    }
    let skin = |bone: &CharacterBone| match bone.shape {
        Shape::Capsule { radius, .. } => {
            RoundShape::Capsule { ends: bone.ends(), radii: [radius + 0.0002; 2] }
        }
        other => RoundShape::Ellipsoid { centre: bone.pose.translation, half: other.half_extents() * 1.2 },
    };
    let mut shapes: Vec<RoundShape> = bones.iter().map(skin).collect();
    // the ball of the thumb and the back of the hand: from the wrist to every knuckle
    for joint in joints.iter().filter(|joint| joint.parent == Some(0)) {
        let wrist = DVec3::new(-0.04, 0.4 * joint.anchor.y, 0.0);
        shapes.push(RoundShape::Capsule { ends: [wrist, joint.anchor], radii: [0.014, 0.0125] });
    }
    let surface = made(mesh_shapes(&shapes, BLEND, SKIN_CELL));
    let filling = Filling { density: DENSITY, mass_floor: 0.05 };
    let flesh = made(EmbeddedBody::in_lattice(
        surface,
        &Lattice { cells: Cells::Longest(CELLS), pattern: Pattern::Bricks },
        &filling,
    ));
    Character::new("hand", bones, joints, flesh.with_fill_floor(filling.mass_floor), 0.008)
}

/// The palm: a box, whose corners are outside the flesh. What is seen are the four bones in it, from the wrist to the knuckles.
fn palm() -> CharacterBone {
    let shape = Shape::Box { size: DVec3::new(0.085, 0.08, 0.025) };
    let knuckles = BONES.iter().filter(|bone| bone.1 == 0 && !bone.0.starts_with("thumb"));
    let seen = knuckles.map(|&(_, _, position, rotation, _, length, _)| {
        let knuckle =
            DVec3::from_array(position) - exp_so3(DVec3::from_array(rotation)) * DVec3::X * (0.5 * length);
        let wrist = DVec3::new(-0.034, 0.4 * knuckle.y, 0.0);
        let bone = CharacterBone::between("", [wrist, wrist.lerp(knuckle, 0.85)], 0.007);
        (bone.pose, bone.shape)
    });
    CharacterBone { name: "palm".into(), pose: Pose::IDENTITY, shape, density: DENSITY, seen: seen.collect() }
}
