//! Characters of bones and flesh, made here, at the sizes of KP08 Table 2: worm, fish, finger; and a hand (Her11 Figure 1).
//!
//! A character is plain data: bones, joints between them, flesh around them at rest, and for each node of the flesh the bone
//! that holds it, or that it refers to. Metres, kilograms, radians, z up; bones along x unless said otherwise.

mod finger;
mod fish;
mod hand;
mod worm;

use glam::DVec3;
use sinew_math::{JointKind, Pose, exp_so3, ops};

use crate::{EmbeddedBody, MeshError};

pub use finger::finger;
pub use fish::fish;
pub use hand::hand;
pub use worm::{worm, worm_with_cells};

/// Density of flesh and bones (kg/m³).
const DENSITY: f64 = 1050.0;

/// A skeleton inside flesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Character {
    /// What it is called.
    pub name: &'static str,
    /// Rigid bones.
    pub bones: Vec<Bone>,
    /// Joints between bones, or between a bone and the world.
    pub joints: Vec<Joint>,
    /// The flesh at rest.
    pub flesh: EmbeddedBody,
    /// For every node of the flesh, the bone it belongs to.
    pub holds: Vec<Hold>,
}

impl Character {
    /// Flesh around bones: nodes closer to a bone than `reach` (m) move with it.
    fn new(
        name: &'static str,
        bones: Vec<Bone>,
        joints: Vec<Joint>,
        flesh: EmbeddedBody,
        reach: f64,
    ) -> Self {
        let holds = hold_by_distance(&flesh, &bones, reach);
        Self { name, bones, joints, flesh, holds }
    }

    /// How many coordinates are driven.
    pub fn n_actuators(&self) -> usize {
        self.joints.iter().filter(|joint| joint.driven).map(|joint| joint.kind.free_dimension()).sum()
    }

    /// How many nodes move with a bone.
    pub fn n_held(&self) -> usize {
        self.holds.iter().filter(|hold| hold.fixed).count()
    }
}

/// A rigid bone.
#[derive(Clone, Debug, PartialEq)]
pub struct Bone {
    /// Unique in its character.
    pub name: String,
    /// `world_from_bone` at rest; the origin is the middle of the bone.
    pub pose: Pose,
    /// Its form.
    pub shape: BoneShape,
    /// Its density (kg/m³).
    pub density: f64,
}

/// The form of a bone, centred on its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoneShape {
    /// A capsule along x.
    Capsule {
        /// Between the centres of its caps (m).
        length: f64,
        /// Radius (m).
        radius: f64,
    },
    /// A box with sides along the axes.
    Box {
        /// Lengths of its sides (m).
        size: DVec3,
    },
}

impl Bone {
    /// A capsule between two points (m), with x pointing from the first to the second.
    pub fn between(name: impl Into<String>, ends: [DVec3; 2], radius: f64) -> Self {
        let along = ends[1] - ends[0];
        let length = along.length();
        let x = along / length;
        // the shortest turn of x to the bone; half a turn about z if it points backwards
        let (sin, cos) = (DVec3::X.cross(x).length(), DVec3::X.dot(x));
        let axis = if sin > 0.0 { DVec3::X.cross(x) / sin } else { DVec3::Z };
        let pose = Pose::new(exp_so3(axis * ops::atan2(sin, cos)), (ends[0] + ends[1]) * 0.5);
        Self { name: name.into(), pose, shape: BoneShape::Capsule { length, radius }, density: DENSITY }
    }

    /// The middles of the caps of a capsule, or of the ends of a box along x, in the world (m).
    pub fn ends(&self) -> [DVec3; 2] {
        let half = match self.shape {
            BoneShape::Capsule { length, .. } => 0.5 * length,
            BoneShape::Box { size } => 0.5 * size.x,
        };
        [-half, half].map(|x| self.pose.rotation * (DVec3::X * x) + self.pose.translation)
    }

    /// Distance of a point of the world from the axis of a capsule, or from the middle plate of a box (m).
    pub fn distance(&self, x: DVec3) -> f64 {
        let local = self.pose.rotation.conjugate() * (x - self.pose.translation);
        let core = match self.shape {
            BoneShape::Capsule { length, .. } => DVec3::X * (0.5 * length),
            BoneShape::Box { size } => (size - DVec3::splat(size.min_element())) * 0.5,
        };
        (local.abs() - core).max(DVec3::ZERO).length()
    }
}

/// A joint at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Unique in its character.
    pub name: String,
    /// What it leaves free.
    pub kind: JointKind,
    /// The bone nearer to the root, or none for the world.
    pub parent: Option<u32>,
    /// The bone that it moves.
    pub child: u32,
    /// A point of it in the world (m).
    pub anchor: DVec3,
    /// Its axis in the world, a unit vector.
    pub axis: DVec3,
    /// Least and greatest angle about the axis (rad), if there are any.
    pub limits: Option<[f64; 2]>,
    /// Whether actuators drive it.
    pub driven: bool,
}

/// How a node of the flesh hangs on the skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The bone.
    pub bone: u32,
    /// Whether the node moves with it; else it is only referred to.
    pub fixed: bool,
}

/// The bone of every node, nearest to the skin that its tetrahedra carry (or to the node, if they carry none): not to the
/// node, which may lie in the next finger. Nodes within `reach` (m) of the axis or plate of
/// their bone move with it.
pub fn hold_by_distance(flesh: &EmbeddedBody, bones: &[Bone], reach: f64) -> Vec<Hold> {
    let mut skin = vec![(DVec3::ZERO, 0.0); flesh.nodes().len()];
    for (anchor, &x) in flesh.anchors().iter().zip(flesh.surface().positions()) {
        for &node in &flesh.tets()[anchor.tet as usize] {
            let (sum, n) = &mut skin[node as usize];
            (*sum, *n) = (*sum + x, *n + 1.0);
        }
    }
    let hold = |(&node, (sum, n)): (&DVec3, (DVec3, f64))| {
        let middle = if n > 0.0 { sum / n } else { node };
        let by_distance = |a: &(u32, f64), b: &(u32, f64)| a.1.total_cmp(&b.1);
        let distances = (0u32..).zip(bones).map(|(bone, b)| (bone, b.distance(middle)));
        let bone = distances.min_by(by_distance).map_or(0, |(bone, _)| bone);
        Hold { bone, fixed: bones.get(bone as usize).is_some_and(|b| b.distance(node) <= reach) }
    };
    flesh.nodes().iter().zip(skin).map(hold).collect()
}

/// Bones in a row between points, and hinges about `axis` where they meet.
fn row_of_bones(points: &[DVec3], radius: f64, axis: DVec3, limit: f64) -> (Vec<Bone>, Vec<Joint>) {
    let bones: Vec<Bone> = points
        .windows(2)
        .enumerate()
        .map(|(k, ends)| Bone::between(format!("bone_{k}"), [ends[0], ends[1]], radius))
        .collect();
    let hinge = |k: usize| Joint {
        name: format!("hinge_{k}"),
        kind: JointKind::Hinge,
        parent: Some(k as u32 - 1),
        child: k as u32,
        anchor: points[k],
        axis,
        limits: Some([-limit, limit]),
        driven: true,
    };
    let joints = (1..bones.len()).map(hinge).collect();
    (bones, joints)
}

/// A result of settings in the code, which are good.
fn made<T>(result: Result<T, MeshError>) -> T {
    #[expect(clippy::expect_used, reason = "settings in the code; every character is built in the tests")]
    result.expect("the character is good")
}
