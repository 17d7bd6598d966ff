//! Characters as plain data: skeletons inside flesh.
//!
//! A character has bones, joints between them and flesh around them at rest. Each node of the flesh has a bone, to
//! which it is fixed or not. Metres, kilograms, radians; z is up; bones lie along x unless said otherwise.

use glam::DVec3;
use sinew_math::{JointKind, Pose, Shape, exp_so3, ops};

use crate::{embed::EmbeddedBody, error::MeshError, surface::Surface};

/// Density of flesh and bones (kg/m³).
pub(super) const DENSITY: f64 = 1050.0;

/// A skeleton inside flesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Character {
    /// Name.
    pub name: &'static str,
    /// Rigid bones.
    pub bones: Vec<CharacterBone>,
    /// Joints between bones, or between a bone and the world.
    pub joints: Vec<CharacterJoint>,
    /// The flesh at rest.
    pub flesh: EmbeddedBody,
    /// For every node of the flesh, the bone it belongs to.
    pub holds: Vec<NodeHold>,
    /// What is drawn instead of the surface of the flesh, in its tetrahedra.
    pub look: Option<CharacterLook>,
}

/// A skin that is only seen: it has no effect on the motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CharacterLook {
    /// Its points at rest, in the world (m).
    pub positions: Vec<DVec3>,
    /// Three points each, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl CharacterLook {
    /// Closed surfaces, which may overlap.
    pub(super) fn of(parts: impl IntoIterator<Item = Surface>) -> Self {
        let mut look = Self::default();
        for part in parts {
            let first = look.positions.len() as u32;
            look.positions.extend(part.positions());
            look.triangles.extend(part.triangles().iter().map(|corners| corners.map(|i| i + first)));
        }
        look
    }
}

impl Character {
    /// Flesh around bones; nodes within `reach` (m) of a bone are fixed to it.
    pub(super) fn new(
        name: &'static str,
        bones: Vec<CharacterBone>,
        joints: Vec<CharacterJoint>,
        flesh: EmbeddedBody,
        reach: f64,
    ) -> Self {
        let holds = hold_by_distance(&flesh, &bones, reach);
        Self { name, bones, joints, flesh, holds, look: None }
    }

    /// How many coordinates are driven.
    pub fn n_actuators(&self) -> usize {
        self.joints.iter().filter(|joint| joint.driven).map(|joint| joint.kind.free_dimension()).sum()
    }

    /// How many nodes are fixed to a bone.
    pub fn n_held(&self) -> usize {
        self.holds.iter().filter(|hold| hold.fixed).count()
    }
}

/// A rigid bone.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterBone {
    /// Unique in its character.
    pub name: String,
    /// `world_from_bone` at rest; the origin is the middle of the bone.
    pub pose: Pose,
    /// Its shape: a capsule or a box.
    pub shape: Shape,
    /// Its density (kg/m³).
    pub density: f64,
    /// Solids in the frame of the bone that are seen instead of its shape; it has the mass of its shape.
    pub seen: Vec<(Pose, Shape)>,
}

impl CharacterBone {
    /// A capsule between two points of the world (m), with x pointing from the first to the second.
    pub fn between(name: impl Into<String>, ends: [DVec3; 2], radius: f64) -> Self {
        let along = ends[1] - ends[0];
        let length = along.length();
        let x = along / length;
        // the shortest rotation of x to the bone; half a turn about z if the bone points backwards
        let (sin, cos) = (DVec3::X.cross(x).length(), DVec3::X.dot(x));
        let axis = if sin > 0.0 { DVec3::X.cross(x) / sin } else { DVec3::Z };
        let pose = Pose::new(exp_so3(axis * ops::atan2(sin, cos)), (ends[0] + ends[1]) * 0.5);
        Self {
            name: name.into(),
            pose,
            shape: Shape::Capsule { length, radius },
            density: DENSITY,
            seen: Vec::new(),
        }
    }

    /// The middles of the caps of a capsule, or of the ends of a box along x, in the world (m).
    pub fn ends(&self) -> [DVec3; 2] {
        let half = 0.5 * self.shape.length();
        [-half, half].map(|x| self.pose.rotation * (DVec3::X * x) + self.pose.translation)
    }

    /// Distance of a point of the world from the axis of a capsule, or from the middle plate of a box (m).
    pub fn distance(&self, x: DVec3) -> f64 {
        let local = self.pose.rotation.conjugate() * (x - self.pose.translation);
        let half = self.shape.half_extents();
        let core = match self.shape {
            Shape::Capsule { length, .. } => DVec3::X * (0.5 * length),
            _ => half - DVec3::splat(half.min_element()),
        };
        (local.abs() - core).max(DVec3::ZERO).length()
    }
}

/// A joint at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterJoint {
    /// Unique in its character.
    pub name: String,
    /// Its kind.
    pub kind: JointKind,
    /// The bone nearer to the root, or none for the world.
    pub parent: Option<u32>,
    /// The bone that it moves.
    pub child: u32,
    /// Position in the world (m).
    pub anchor: DVec3,
    /// Its axis in the world, a unit vector.
    pub axis: DVec3,
    /// Joint limits: smallest and largest angle about the axis (rad).
    pub limits: Option<[f64; 2]>,
    /// Whether actuators drive it.
    pub driven: bool,
}

/// The bone of a node of the flesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeHold {
    /// The bone.
    pub bone: u32,
    /// Whether the node is fixed to the bone; if not, the bone is only its reference.
    pub fixed: bool,
}

/// The bone of each node: the one nearest to the skin in its tetrahedra, or to the node itself if there is none. The
/// node may lie in the next finger, so the skin decides. Nodes within `reach` (m) of the axis or middle plate of their
/// bone are fixed to it.
pub fn hold_by_distance(flesh: &EmbeddedBody, bones: &[CharacterBone], reach: f64) -> Vec<NodeHold> {
    let mut skin = vec![(DVec3::ZERO, 0.0); flesh.nodes().len()];
    for (anchor, &x) in flesh.surface_points().iter().zip(flesh.surface().positions()) {
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
        NodeHold { bone, fixed: bones.get(bone as usize).is_some_and(|b| b.distance(node) <= reach) }
    };
    flesh.nodes().iter().zip(skin).map(hold).collect()
}

/// Bones in a row between points, and hinges about `axis` where they meet.
pub(super) fn row_of_bones(
    points: &[DVec3],
    radius: f64,
    axis: DVec3,
    limit: f64,
) -> (Vec<CharacterBone>, Vec<CharacterJoint>) {
    let bones: Vec<CharacterBone> = points
        .windows(2)
        .enumerate()
        .map(|(k, ends)| CharacterBone::between(format!("bone_{k}"), [ends[0], ends[1]], radius))
        .collect();
    let hinge = |k: usize| CharacterJoint {
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

/// The result of settings in this code, which are valid.
pub(super) fn made<T>(result: Result<T, MeshError>) -> T {
    #[expect(clippy::expect_used, reason = "settings in the code; every character is built in the tests")]
    result.expect("the character is good")
}
