//! A skin and its joints as a rig: bones, the vertices around them, and what an animation makes of them.
//!
//! Bones are placed as the mesh was bound: joint `j` at `A B_j⁻¹` with its inverse bind matrix `B_j`, and `A = G_r B_r` of the first joint `r`, which is at `G_r`
//! in the file; vertices are at `A x`. So the skin is just as it was drawn, without any bend. Joints whose skin and whose descendants' skin have no
//! vertex are only the ends of the bones above. A joint that no other one holds is held by the one that shares most skin with it.
//!
//! Animations are sampled thirty times a second and more slowly if they are long. Bones turn and keep their lengths; the root moves, too.

use std::collections::BTreeMap;

use glam::{DMat4, DQuat};
use sinew_math::Pose;

use super::accessor::numbers;
use super::animation::NodeAnimation;
use super::document::Document;
use super::json::JsonItem;
use super::nodes::{Nodes, rigid};
use crate::error::ImportFault;
use crate::report::{FilePlace, ImportReport, Outcome};
use crate::rig::{Rig, RigBone, RigMotion, RigSkin, extent, unique_names};

/// Most joints of a skin.
const MAX_JOINTS: usize = 1000;
/// A bone counts as stretched if its length changes by more than this share of the rig's size.
const STRETCHED: f64 = 0.01;

/// A skin with its joints.
pub(super) struct SkinnedRig {
    pub(super) rig: Rig,
    pub(super) skin: RigSkin,
    /// The node of each bone.
    nodes: Vec<usize>,
}

/// What a skin is, as the file has it.
struct Bound {
    /// The node of each joint.
    joints: Vec<usize>,
    /// `world_from_joint` as bound.
    worlds: Vec<DMat4>,
    /// Weights by joint.
    skin: RigSkin,
}

impl SkinnedRig {
    /// The skin `item`, with the meshes that it moves.
    pub(super) fn read(
        (document, nodes): (&Document<'_>, &Nodes),
        item: &JsonItem<'_>,
        meshes: &[RigSkin],
    ) -> Result<Self, ImportFault> {
        let bound = Bound::read((document, nodes), item, meshes)?;
        let parents = bound.parents(nodes);
        let used = bound.used(&parents);
        let order = ordered(&parents);
        let bones: Vec<usize> = order.into_iter().filter(|&joint| used[joint]).collect();
        let Some(&root) = bones.first() else {
            return Err(item.fault("no vertex follows its joints: bind the mesh to the armature"));
        };
        let number: BTreeMap<usize, usize> =
            bones.iter().enumerate().map(|(bone, &joint)| (joint, bone)).collect();
        let names = unique_names(bones.iter().map(|&joint| nodes.nodes[bound.joints[joint]].name.clone()));
        let bone = |(&joint, name)| bound.bone((joint, root), &parents, name, &number);
        let rig = Rig { bones: bones.iter().zip(names).map(bone).collect() };
        let mut skin = bound.skin;
        for weight in skin.weights.iter_mut().flatten() {
            weight.0 = number.get(&weight.0).copied().unwrap_or(0);
        }
        let nodes = bones.iter().map(|&joint| bound.joints[joint]).collect();
        Ok(Self { rig, skin, nodes })
    }

    /// Where bones are in the file.
    pub(super) fn places(&self, nodes: &Nodes) -> Vec<FilePlace> {
        self.nodes.iter().map(|&node| nodes.nodes[node].place.clone()).collect()
    }

    /// What bones are called in the file.
    pub(super) fn names<'a>(&'a self, nodes: &'a Nodes) -> impl Iterator<Item = &'a str> {
        self.nodes.iter().map(|&node| nodes.nodes[node].name.as_str())
    }

    /// The motion that an animation gives the bones; none if it moves none of them.
    pub(super) fn motion(
        &self,
        nodes: &Nodes,
        animation: &NodeAnimation,
        (item, report): (&JsonItem<'_>, &mut ImportReport),
    ) -> Option<RigMotion> {
        if !self.moved_by(animation, nodes) {
            return None;
        }
        let n = animation.samples(nodes.nodes.len());
        let mut motion = RigMotion { turns: vec![Vec::new(); self.nodes.len()], ..RigMotion::default() };
        let mut stretched = vec![0.0_f64; self.nodes.len()];
        for sample in 0..n {
            let time = animation.end * sample as f64 / (n - 1) as f64;
            let worlds = nodes.worlds(|node| animation.placed(nodes, node, time));
            let poses: Vec<Pose> = self.nodes.iter().map(|&node| rigid(&worlds[node])).collect();
            motion.times.push(time);
            motion.root.extend(poses.first());
            self.push_turns(&poses, &mut motion.turns, &mut stretched);
        }
        self.note_stretched(&stretched, (item, report));
        Some(motion)
    }

    /// Adds how bones at these places are turned, and by how much each is stretched if that is more than before.
    fn push_turns(&self, poses: &[Pose], turns: &mut [Vec<DQuat>], stretched: &mut [f64]) {
        for (bone, at) in self.rig.bones.iter().enumerate() {
            let Some(parent) = at.parent else {
                turns[bone].push(DQuat::IDENTITY);
                continue;
            };
            turns[bone].push(between(&poses[parent], &poses[bone]));
            let length = poses[bone].translation.distance(poses[parent].translation);
            let bound = at.pose.translation.distance(self.rig.bones[parent].pose.translation);
            stretched[bone] = stretched[bone].max((length - bound).abs());
        }
    }

    /// Whether an animation moves a bone, or a node above one.
    fn moved_by(&self, animation: &NodeAnimation, nodes: &Nodes) -> bool {
        let mut seen = vec![false; nodes.nodes.len()];
        self.nodes.iter().any(|&bone| {
            let mut at = Some(bone);
            while let Some(node) = at.filter(|&node| !std::mem::replace(&mut seen[node], true)) {
                if animation.moves(node) {
                    return true;
                }
                at = nodes.nodes[node].parent;
            }
            false
        })
    }

    /// Tells of bones whose length an animation changes, and by how much at most.
    fn note_stretched(&self, stretched: &[f64], (item, report): (&JsonItem<'_>, &mut ImportReport)) {
        let size = extent(self.skin.positions.iter());
        let stretched = self.rig.bones.iter().zip(stretched).filter(|(_, by)| **by > STRETCHED * size);
        for (bone, by) in stretched {
            let what = format!(
                "the animation stretches `{}` by up to {by:.3} m; bones keep their lengths",
                bone.name
            );
            report.note(Outcome::Approximated, item.place(), what);
        }
    }
}

/// Rotation of one frame in another.
fn between(parent: &Pose, child: &Pose) -> DQuat {
    (parent.rotation.conjugate() * child.rotation).normalize()
}

impl Bound {
    /// The bone of a joint; joints that none holds are held by the root.
    fn bone(
        &self,
        (joint, root): (usize, usize),
        parents: &[Option<usize>],
        name: String,
        number: &BTreeMap<usize, usize>,
    ) -> RigBone {
        let pose = |joint: usize| rigid(&self.worlds[joint]);
        let parent = if joint == root { None } else { parents[joint].or(Some(root)) };
        let ends = (0..parents.len()).filter(|&other| parents[other] == Some(joint) && other != root);
        RigBone {
            name,
            parent: parent.map(|parent| number[&parent]),
            pose: pose(joint),
            relaxed: parent.map_or(DQuat::IDENTITY, |parent| between(&pose(parent), &pose(joint))),
            hinge: None,
            ends: ends.map(|joint| pose(joint).translation).collect(),
            shapes: Vec::new(),
            load: (0.0, pose(joint).translation, 0.0),
        }
    }

    fn read(
        (document, nodes): (&Document<'_>, &Nodes),
        item: &JsonItem<'_>,
        meshes: &[RigSkin],
    ) -> Result<Self, ImportFault> {
        let joints = item.indices("joints")?;
        if joints.is_empty() || joints.iter().any(|&joint| joint >= nodes.nodes.len()) {
            return Err(item.fault("its joints are no nodes"));
        }
        if joints.len() > MAX_JOINTS {
            return Err(item.fault(format!("it has {} joints, more than {MAX_JOINTS}", joints.len())));
        }
        let rest = nodes.rest();
        let inverse = match item.index("inverseBindMatrices")? {
            Some(accessor) => numbers::<16>(document, accessor, item)?,
            None => joints.iter().map(|&joint| (rest[joint].inverse()).to_cols_array()).collect(),
        };
        if inverse.len() < joints.len() {
            return Err(item.fault(format!(
                "it has {} bind matrices for {} joints",
                inverse.len(),
                joints.len()
            )));
        }
        let inverse: Vec<DMat4> = inverse.iter().map(DMat4::from_cols_array).collect();
        let world_from_mesh = rest[joints[0]] * inverse[0];
        let worlds: Vec<DMat4> =
            inverse.iter().take(joints.len()).map(|inverse| world_from_mesh * inverse.inverse()).collect();
        let skin = joined(meshes, &world_from_mesh);
        let finite = worlds.iter().all(DMat4::is_finite) && skin.positions.iter().all(|x| x.is_finite());
        if !finite || skin.triangles.is_empty() {
            return Err(item.fault("its bind matrices cannot be inverted, or it moves no triangles"));
        }
        if skin.weights.iter().flatten().any(|&(joint, _)| joint >= joints.len()) {
            return Err(item.fault("a vertex follows a joint that is not there"));
        }
        Ok(Self { joints, worlds, skin })
    }

    /// The joint that holds each one.
    fn parents(&self, nodes: &Nodes) -> Vec<Option<usize>> {
        let number: BTreeMap<usize, usize> =
            self.joints.iter().enumerate().map(|(joint, &node)| (node, joint)).collect();
        let above = |joint: usize| {
            let mut node = nodes.nodes[self.joints[joint]].parent;
            while let Some(at) = node {
                if let Some(&holder) = number.get(&at).filter(|&&holder| holder != joint) {
                    return Some(holder);
                }
                node = nodes.nodes[at].parent;
            }
            None
        };
        let mut parents: Vec<Option<usize>> = (0..self.joints.len()).map(above).collect();
        self.join(&mut parents);
        parents
    }

    /// Joins trees of joints where they share most skin, beginning with the one that moves most.
    fn join(&self, parents: &mut [Option<usize>]) {
        let mut root_of = roots(parents);
        let mut shared: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        let mut moved = vec![0.0; parents.len()];
        for weights in &self.skin.weights {
            for &(a, one) in weights {
                moved[root_of[a]] += one;
                for &(b, other) in weights.iter().filter(|(b, _)| root_of[*b] != root_of[a]) {
                    *shared.entry((a, b)).or_default() += one * other;
                }
            }
        }
        let roots = (0..parents.len()).filter(|&joint| parents[joint].is_none());
        let Some(main) = roots.max_by(|&a, &b| moved[a].total_cmp(&moved[b])) else { return };
        loop {
            let across = shared
                .iter()
                .filter(|((holder, joint), _)| root_of[*holder] == main && root_of[*joint] != main);
            let Some((&(holder, joint), _)) = across.max_by(|a, b| a.1.total_cmp(b.1)) else { break };
            let joined = root_of[joint];
            parents[joined] = Some(holder);
            root_of.iter_mut().filter(|root| **root == joined).for_each(|root| *root = main);
        }
    }

    /// Whether a joint, or one that it holds, moves vertices.
    fn used(&self, parents: &[Option<usize>]) -> Vec<bool> {
        let mut used = vec![false; parents.len()];
        for &(joint, _) in self.skin.weights.iter().flatten() {
            let mut at = Some(joint);
            while let Some(joint) = at.filter(|&joint| !used[joint]) {
                used[joint] = true;
                at = parents[joint];
            }
        }
        used
    }
}

/// The root above each joint.
fn roots(parents: &[Option<usize>]) -> Vec<usize> {
    let mut root_of: Vec<usize> = (0..parents.len()).collect();
    for root in &mut root_of {
        while let Some(above) = parents[*root] {
            *root = above;
        }
    }
    root_of
}

/// Meshes together, in the world.
fn joined(meshes: &[RigSkin], world_from_mesh: &DMat4) -> RigSkin {
    let mut skin = RigSkin::default();
    for mesh in meshes {
        let first = skin.positions.len() as u32;
        skin.positions.extend(mesh.positions.iter().map(|&x| world_from_mesh.transform_point3(x)));
        skin.triangles.extend(mesh.triangles.iter().map(|corners| corners.map(|corner| corner + first)));
        skin.weights.extend(mesh.weights.iter().cloned());
    }
    skin
}

/// Joints with those that hold them first; those of the largest tree before all others.
fn ordered(parents: &[Option<usize>]) -> Vec<usize> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    for (joint, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent {
            below[*parent].push(joint);
        }
    }
    let tree = |root: usize| {
        let mut tree = vec![root];
        let mut next = 0;
        while let Some(&joint) = tree.get(next) {
            tree.extend(&below[joint]);
            next += 1;
        }
        tree
    };
    let mut trees: Vec<Vec<usize>> =
        (0..parents.len()).filter(|&joint| parents[joint].is_none()).map(tree).collect();
    trees.sort_by_key(|tree| std::cmp::Reverse(tree.len()));
    trees.concat()
}
