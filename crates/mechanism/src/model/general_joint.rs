//! A joint with six coordinates, each locked or free, with forces along the free ones.
//!
//! Coordinates are those of frame 1 in frame 2. Translations `x, y, z` are along the axes of frame 2. A rotation is the turn about one
//! axis that is left once the lean of this axis is taken away:
//! ```text
//! r_m = 2 atan2(q_m, q_w),   q = quaternion of R = B₂ᵀB₁,   m = x, y, z
//! ```
//! With one rotation free that is its angle, with two the angles of a universal joint, with three the half-angle tangents of Gibbs' vector.
//! Two free rotations are about the axis that comes first in `x, y, z` on body 1 and about the other one on body 2: `rx` and `ry` free
//! is `R = Ry Rx`, where `rz` is held by `i₁ ⊥ j₂`. Singular: half a turn (`q_w = 0`), where forces on rotations fade out; with two free
//! rotations where their axes are parallel, a quarter turn from zero: the pose counts as regularized.
//!
//! Masks become kinds of joints ([`JointKind::locking`]) in frames with permuted axes. Forces that the kind takes itself, along its main
//! axis, stay with the joint. Each other one is a joint of its own, free and parallel, called `name.x` to `name.rz`, which is solved with the
//! loops. Cost: one row per such force.

use glam::{DMat3, DVec3};
use sinew_math::DriveCoordinate;
use sinew_topology::Priority;

use crate::{JointKind, JointSpec, ScalarForce};

/// A coordinate of a general joint.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum JointCoordinate {
    /// Stays zero.
    #[default]
    Locked,
    /// Moves, under these forces.
    Free(ScalarForce),
}

/// Names of the coordinates of a general joint, in their order.
pub const COORDINATE_NAMES: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];

/// A joint that is part of a general joint.
#[derive(Clone, Debug, PartialEq)]
pub struct JointPart {
    /// To be added to a mechanism.
    pub spec: JointSpec,
    /// The coordinate whose motor it has, if any.
    pub motor: Option<usize>,
}

/// The joints that make up a general joint: the first one has its name and its locked directions, the others forces only.
///
/// `plain` gives name, bodies, frames, priority, weight and compliance; its kind and forces do not count. Coordinates are `x, y, z,
/// rx, ry, rz`, as explained at the top of this module.
pub fn general_joint(plain: &JointSpec, coordinates: &[JointCoordinate; 6]) -> Vec<JointPart> {
    let locked = coordinates.map(|coordinate| coordinate == JointCoordinate::Locked);
    let (axes, kind) = main_frame(&locked);
    let [main, ..] = axes;
    let spec = JointSpec {
        kind,
        frames: plain.frames.turned(turn_to(axes)),
        twist: None,
        slide: None,
        rotation: None,
        driven: Vec::new(),
        ..plain.clone()
    };
    let mut parts = vec![JointPart { spec, motor: None }];
    for (index, coordinate) in coordinates.iter().enumerate() {
        let JointCoordinate::Free(force) = coordinate else { continue };
        if *force == ScalarForce::default() {
            continue;
        }
        let (along, axis) = (coordinate_of(index), index % 3);
        let first = &mut parts[0];
        let has_room = force.motor.is_none() || first.motor.is_none();
        let takes = match along {
            DriveCoordinate::Twist => kind.has_twist(),
            DriveCoordinate::Slide => kind.can_drive(DriveCoordinate::Slide) || kind == JointKind::Free,
        };
        let motor = force.motor.map(|_| index);
        if axis == main && takes && has_room {
            first.motor = first.motor.or(motor);
            set_force(&mut first.spec, along, *force);
            continue;
        }
        let priority = if plain.priority == Priority::Primary { Priority::Auto } else { plain.priority };
        let name = format!("{}.{}", plain.name, COORDINATE_NAMES[index]);
        let frames = plain.frames.turned(turn_to([axis, (axis + 1) % 3]));
        let mut spec = JointSpec::new(name, JointKind::Free, plain.child, plain.parent, frames);
        spec.priority = priority;
        set_force(&mut spec, along, *force);
        parts.push(JointPart { spec, motor });
    }
    parts
}

/// Which axes become `i` and `j` of the joint, and its kind.
fn main_frame(locked: &[bool; 6]) -> ([usize; 2], JointKind) {
    let n_locked = locked[3..].iter().filter(|&&is_locked| is_locked).count() as u8;
    let mut free = (0..3).filter(|axis| !locked[3 + axis]);
    let kind = |[i, j]: [usize; 2]| JointKind::locking([locked[i], locked[j], locked[3 - i - j]], n_locked);
    let cycle = |i: usize| [i, (i + 1) % 3];
    let axes = match (n_locked, free.next(), free.next()) {
        (2, Some(axis), _) => cycle(axis),
        (1, Some(first), Some(second)) => [first, second],
        // Any order will do: one that has a name.
        _ => {
            (0..3).map(cycle).find(|&axes| !matches!(kind(axes), JointKind::Masked { .. })).unwrap_or([0, 1])
        }
    };
    (axes, kind(axes))
}

/// The right-handed frame with two axes in their order.
fn turn_to([i, j]: [usize; 2]) -> DMat3 {
    let (i, j) = (DVec3::AXES[i], DVec3::AXES[j]);
    DMat3::from_cols(i, j, i.cross(j))
}

fn coordinate_of(index: usize) -> DriveCoordinate {
    if index < 3 { DriveCoordinate::Slide } else { DriveCoordinate::Twist }
}

fn set_force(spec: &mut JointSpec, along: DriveCoordinate, force: ScalarForce) {
    *(match along {
        DriveCoordinate::Twist => &mut spec.twist,
        DriveCoordinate::Slide => &mut spec.slide,
    }) = Some(force);
}
