//! Attachment of nodes to bones.
//!
//! An attached node is fixed to a point of its bone (KP08 §4.1, §4.2). A free node may have a reference bone; its
//! damper acts on the velocity relative to that bone (§4.5). Bones are indices with poses here. An assignment is a list
//! with one entry per node. It is made by distance ([`nodes_within`], [`nearest_bones`]) or from lists of nodes
//! ([`paint`]), in any combination. World frame, m, rad/s; linear in nodes × capsules.

use crate::error::FemError;
use glam::DVec3;
use sinew_math::{Force, Motion, Pose};

/// A bone as a capsule, at rest in the frame of the mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneCapsule {
    /// The bone.
    pub bone: u32,
    /// One end of the axis, frame of the mesh, m.
    pub start: DVec3,
    /// The other end, frame of the mesh, m.
    pub end: DVec3,
    /// Radius, m.
    pub radius_m: f64,
}

impl BoneCapsule {
    /// Distance of a point (frame of the mesh) from the surface, m; negative inside.
    pub fn distance(&self, point: DVec3) -> f64 {
        let axis = self.end - self.start;
        let square = axis.length_squared();
        let t = if square > 0.0 { ((point - self.start).dot(axis) / square).clamp(0.0, 1.0) } else { 0.0 };
        (point - self.start - axis * t).length() - self.radius_m
    }
}

/// Pose and twist of a bone, in whichever frame of it [`Attachments`] was given: those around a mechanism have central frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneState {
    /// Pose of the bone's frame, `world_from_bone`.
    pub world_from_bone: Pose,
    /// Angular velocity and velocity of the frame's origin, world axes.
    pub twist: Motion,
}

impl BoneState {
    /// Velocity of the bone's material at a world point, world axes, m/s.
    #[inline]
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.twist.linear + self.twist.angular.cross(point - self.world_from_bone.translation)
    }
}

/// The bone whose capsule is nearest to each node, if it is at most `distance_m` away; the first of equals.
pub fn nodes_within(positions: &[DVec3], capsules: &[BoneCapsule], distance_m: f64) -> Vec<Option<u32>> {
    let nearest = |x: &DVec3| {
        let with_distance = capsules.iter().map(|capsule| (capsule.distance(*x), capsule.bone));
        with_distance
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(d, _)| *d <= distance_m)
            .map(|(_, bone)| bone)
    };
    positions.iter().map(nearest).collect()
}

/// The bone whose capsule is nearest to each node; none if there are no capsules.
pub fn nearest_bones(positions: &[DVec3], capsules: &[BoneCapsule]) -> Vec<Option<u32>> {
    nodes_within(positions, capsules, f64::INFINITY)
}

/// Assigns the listed nodes to a bone.
///
/// # Errors
/// [`FemError::EntryOutOfRange`] for a node that does not exist, [`FemError::AttachedTwice`] for one that already has
/// another bone.
pub fn paint(assignment: &mut [Option<u32>], nodes: &[u32], bone: u32) -> Result<(), FemError> {
    for (index, &node) in nodes.iter().enumerate() {
        match assignment.get_mut(node as usize) {
            None => {
                let (what, range) = ("painted node", "the number of a node of the mesh");
                return Err(FemError::EntryOutOfRange { what, index, value: f64::from(node), range });
            }
            Some(Some(first)) if *first != bone => {
                return Err(FemError::AttachedTwice { node, first: *first, second: bone });
            }
            Some(entry) => *entry = Some(bone),
        }
    }
    Ok(())
}

/// A node fixed to a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttachedNode {
    /// The node.
    pub node: u32,
    /// The bone.
    pub bone: u32,
    /// Its position in the frame of the bone, m.
    pub point_in_bone: DVec3,
}

/// A node that moves freely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeNode {
    /// The node.
    pub node: u32,
    /// The bone that its damper refers to; none is the world.
    pub reference: Option<u32>,
}

/// All nodes of a model, each attached or free, in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attachments {
    attached: Vec<AttachedNode>,
    free: Vec<FreeNode>,
    rest_poses: Vec<Pose>,
}

impl Attachments {
    /// No bones: all nodes are free and damped against the world.
    pub fn none(n_nodes: usize) -> Self {
        let free = (0..n_nodes as u32).map(|node| FreeNode { node, reference: None }).collect();
        Self { attached: vec![], free, rest_poses: vec![] }
    }

    /// From assignments: node `i` is attached to `bones[i]`, or free with the reference bone `references[i]`.
    ///
    /// `positions` are the nodes at rest in the world (m) and `poses` the bones at rest, `world_from_bone`, of any frame fixed to them. Flesh
    /// around a mechanism needs central frames: the poses of its state.
    ///
    /// # Errors
    /// [`FemError::WrongLength`] if a list does not have one entry per node, [`FemError::EntryOutOfRange`] for a bone
    /// that `poses` does not have.
    pub fn new(
        positions: &[DVec3],
        poses: &[Pose],
        bones: &[Option<u32>],
        references: &[Option<u32>],
    ) -> Result<Self, FemError> {
        let expected = positions.len();
        for (what, list) in [("bones", bones), ("reference bones", references)] {
            if list.len() != expected {
                return Err(FemError::WrongLength { what, found: list.len(), expected });
            }
        }
        let mut all = Self { rest_poses: poses.to_vec(), ..Self::default() };
        for (node, &position) in positions.iter().enumerate() {
            let (what, bone) = match bones[node] {
                Some(bone) => ("bone of node", Some(bone)),
                None => ("reference bone of node", references[node]),
            };
            let pose = bone.map(|bone| poses.get(bone as usize).ok_or(bone)).transpose();
            let pose = pose.map_err(|bone| FemError::EntryOutOfRange {
                what,
                index: node,
                value: f64::from(bone),
                range: "the number of a bone in the list",
            })?;
            let node = node as u32;
            match (bones[node as usize], pose) {
                (Some(bone), Some(pose)) => {
                    let point_in_bone = pose.inverse().transform_point(position);
                    all.attached.push(AttachedNode { node, bone, point_in_bone });
                }
                _ => all.free.push(FreeNode { node, reference: bone }),
            }
        }
        Ok(all)
    }

    /// Attached nodes, ascending.
    pub fn attached(&self) -> &[AttachedNode] {
        &self.attached
    }

    /// Free nodes, ascending.
    pub fn free(&self) -> &[FreeNode] {
        &self.free
    }

    /// The bones at rest, `world_from_bone`, as they were given.
    pub fn rest_poses(&self) -> &[Pose] {
        &self.rest_poses
    }

    /// Moves the attached nodes with their bones: positions (m) and velocities (m/s), world frame.
    ///
    /// # Panics
    /// If a bone or node is missing.
    pub fn prescribe(&self, bones: &[BoneState], positions: &mut [DVec3], velocities: &mut [DVec3]) {
        for attached in &self.attached {
            let (node, bone) = (attached.node as usize, &bones[attached.bone as usize]);
            positions[node] = bone.world_from_bone.transform_point(attached.point_in_bone);
            velocities[node] = bone.velocity_at(positions[node]);
        }
    }

    /// Adds the forces (N) on attached nodes to the wrenches of their bones: moment (N·m) about the origin of the
    /// bone's frame and force, world axes.
    ///
    /// # Panics
    /// If a bone or node is missing.
    pub fn add_wrenches(
        &self,
        bones: &[BoneState],
        positions: &[DVec3],
        forces: &[DVec3],
        wrenches: &mut [Force],
    ) {
        for attached in &self.attached {
            let (node, bone) = (attached.node as usize, attached.bone as usize);
            add_force(&mut wrenches[bone], &bones[bone], positions[node], forces[node]);
        }
    }
}

/// Adds a force at a world point to the wrench of a bone.
#[inline]
pub(crate) fn add_force(wrench: &mut Force, bone: &BoneState, point: DVec3, force: DVec3) {
    wrench.linear += force;
    wrench.angular += (point - bone.world_from_bone.translation).cross(force);
}
