//! A ragdoll of 15 boxes, 1.7 m tall: six ball joints and eight hinges, without limits, springs or damping, so that every engine can have the same.
//!
//! It stands on the ground, looks along x, and has its left at y. Metres.

use glam::DVec3;
use sinew_math::Pose;

use crate::{overlap::PlacedBox, parts::PileJoint, parts::PileParts};

/// Middle of a standing doll.
const MIDDLE: DVec3 = DVec3::new(0.0, 0.0, 0.9);

/// A box: its parent, its middle, its sizes, where its joint is, whether that is a hinge about y. Limbs are on both sides.
type DollRow = (usize, [f64; 3], [f64; 3], [f64; 3], bool);

const TRUNK: [DollRow; 3] = [
    (0, [0.0, 0.0, 0.95], [0.18, 0.30, 0.18], [0.0; 3], false),
    (0, [0.0, 0.0, 1.25], [0.20, 0.32, 0.38], [0.0, 0.0, 1.05], false),
    (1, [0.0, 0.0, 1.60], [0.18, 0.16, 0.24], [0.0, 0.0, 1.46], false),
];
/// Arm and leg of a side; the parent of their first box is in the trunk, that of the others the box before.
const LIMBS: [[DollRow; 3]; 2] = [
    [
        (1, [0.0, 0.23, 1.26], [0.09, 0.09, 0.28], [0.0, 0.20, 1.40], false),
        (0, [0.0, 0.23, 0.97], [0.08, 0.08, 0.26], [0.0, 0.23, 1.11], true),
        (0, [0.0, 0.23, 0.74], [0.04, 0.08, 0.16], [0.0, 0.23, 0.83], true),
    ],
    [
        (0, [0.0, 0.09, 0.63], [0.14, 0.14, 0.40], [0.0, 0.09, 0.845], false),
        (0, [0.0, 0.09, 0.24], [0.11, 0.11, 0.36], [0.0, 0.09, 0.425], true),
        (0, [0.06, 0.09, 0.03], [0.24, 0.09, 0.05], [0.0, 0.09, 0.058], true),
    ],
];

/// Adds a doll whose middle is at a pose.
pub(crate) fn add_ragdoll(parts: &mut PileParts, world_from_doll: &Pose) {
    let first = parts.boxes.len();
    let at = |x: DVec3| world_from_doll.transform_point(x - MIDDLE);
    let mut add = |(parent, middle, size, anchor, is_hinge): DollRow, side: f64, is_root: bool| {
        let mirror = DVec3::new(1.0, side, 1.0);
        let child = parts.boxes.len();
        let pose = Pose::new(world_from_doll.rotation, at(DVec3::from_array(middle) * mirror));
        parts.boxes.push(PlacedBox { pose, half: 0.5 * DVec3::from_array(size) });
        if !is_root {
            let anchor = at(DVec3::from_array(anchor) * mirror);
            let axis = is_hinge.then(|| world_from_doll.rotation * DVec3::Y);
            parts.joints.push(PileJoint { parent, child, anchor, axis });
        }
        child
    };
    for (i, row) in TRUNK.into_iter().enumerate() {
        add((first + row.0, row.1, row.2, row.3, row.4), 1.0, i == 0);
    }
    for side in [1.0, -1.0] {
        for limb in LIMBS {
            let mut parent = first + limb[0].0;
            for (_, middle, size, anchor, is_hinge) in limb {
                parent = add((parent, middle, size, anchor, is_hinge), side, false);
            }
        }
    }
}
