//! The bodies of a scene as a tree that hangs on the world.
//!
//! Joints that a loop can do without become loops: the tree takes those that must be in it first, then those that no format closes loops with, then those with forces, each in the order
//! of the scene. What is not connected to the world floats, from its first body on. Nearly linear cost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sinew_math::{JointKind, MassProperties, Motion, Pose, exp_so3, normalize_quat};
use sinew_scene::{BodyDoc, BodyKindDoc, JointDoc, PriorityDoc, SceneDoc};

use super::joint::{MotionBelow, OutJoint, moves_of};
use super::read::OutScene;
use crate::export_report::ExportReport;

/// The bodies of a scene, and the joints between them.
pub(crate) struct OutTree<'a> {
    pub(crate) scene: &'a SceneDoc,
    /// In the order of the scene.
    pub(crate) bodies: Vec<OutBody<'a>>,
    /// Bodies, those above before those below.
    pub(crate) order: Vec<usize>,
    /// Joints that are not in the tree.
    pub(crate) loops: Vec<OutJoint<'a>>,
}

/// A body, and what holds it.
pub(crate) struct OutBody<'a> {
    pub(crate) doc: &'a BodyDoc,
    /// In the body frame.
    pub(crate) mass: MassProperties,
    /// `world_from_body`, at first.
    pub(crate) at: Pose,
    /// Angular velocity, and velocity of the origin of the body frame; world axes.
    pub(crate) motion: Motion,
    /// The joint to the body above; none if it floats or is held by the world.
    pub(crate) joint: Option<OutJoint<'a>>,
}

impl OutBody<'_> {
    /// Whether forces move it.
    pub(crate) fn moves(&self) -> bool {
        self.doc.kind == BodyKindDoc::Dynamic
    }

    /// The body above; none is the world.
    pub(crate) fn above(&self) -> Option<usize> {
        self.joint.as_ref().and_then(|joint| joint.upper)
    }

    /// What a report calls it.
    pub(crate) fn part(&self) -> String {
        format!("body `{}`", self.doc.name)
    }
}

impl<'a> OutTree<'a> {
    pub(crate) fn of(source: &'a OutScene, report: &mut ExportReport) -> Self {
        let scene = &source.doc;
        let body = |doc: &'a BodyDoc| {
            let id = source.world.body(&doc.name);
            let at = id.map_or_else(|| doc.pose.to_pose(), |id| source.world.pose(id));
            let motion = id.map_or(Motion::ZERO, |id| source.world.motion(id));
            OutBody { doc, mass: source.mass(doc), at, motion, joint: None }
        };
        let bodies: Vec<OutBody<'a>> = scene.bodies.iter().map(body).collect();
        let places = scene.bodies.iter().enumerate().map(|(at, body)| (body.name.as_str(), at)).collect();
        let mut tree = Self { scene, bodies, order: Vec::new(), loops: Vec::new() };
        let ends = ends_of(scene, &places);
        let is_in_tree = tree.spanning(&ends);
        tree.hang(&ends, &is_in_tree, report);
        for (at, doc) in scene.joints.iter().enumerate().filter(|(at, _)| !is_in_tree[*at]) {
            let [child, parent] = ends[at];
            if [child, parent].iter().any(|end| end.is_some_and(|body| tree.bodies[body].moves())) {
                let joint = tree.joint(doc, (parent, child), report);
                tree.loops.push(joint);
            } else {
                report.left_out(format!("joint `{}`", doc.name), "neither of its bodies moves");
            }
        }
        tree
    }

    /// Which joints are in the tree.
    fn spanning(&self, ends: &[[Option<usize>; 2]]) -> Vec<bool> {
        let joints = &self.scene.joints;
        let mut sorted: Vec<usize> = (0..joints.len()).filter(|at| can_be_in_tree(&joints[*at])).collect();
        let gears = &self.scene.gears;
        let geared: BTreeSet<&str> =
            gears.iter().flat_map(|gear| [gear.driver.as_str(), &gear.driven]).collect();
        sorted.sort_by_key(|at| (rank(&joints[*at], geared.contains(joints[*at].name.as_str())), *at));
        let ground = self.bodies.len();
        let node = |end: Option<usize>| end.filter(|body| self.bodies[*body].moves()).unwrap_or(ground);
        let mut sets: Vec<usize> = (0..=ground).collect();
        let mut is_in_tree = vec![false; joints.len()];
        for at in sorted {
            let [a, b] = ends[at].map(|end| find(&mut sets, node(end)));
            if a != b {
                sets[a.max(b)] = a.min(b);
                is_in_tree[at] = true;
            }
        }
        is_in_tree
    }

    /// Finds the body above each, from the world and from the first bodies of what floats on.
    fn hang(&mut self, ends: &[[Option<usize>; 2]], is_in_tree: &[bool], report: &mut ExportReport) {
        let n = self.bodies.len();
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); n + 1];
        for (at, ends) in ends.iter().enumerate().filter(|(at, _)| is_in_tree[*at]) {
            ends.iter().for_each(|end| near[end.unwrap_or(n)].push(at));
        }
        let mut is_known: Vec<bool> = self.bodies.iter().map(|body| !body.moves()).collect();
        let mut next: VecDeque<usize> = (0..n).filter(|body| is_known[*body]).collect();
        self.order.extend(&next);
        next.push_front(n);
        let mut floating = 0..n;
        loop {
            while let Some(upper) = next.pop_front() {
                for &at in &near[upper] {
                    let [child, parent] = ends[at].map(|end| end.unwrap_or(n));
                    let lower = if child == upper { parent } else { child };
                    if lower == n || is_known[lower] {
                        continue;
                    }
                    is_known[lower] = true;
                    let upper = (upper < n).then_some(upper);
                    self.bodies[lower].joint =
                        Some(self.joint(&self.scene.joints[at], (upper, Some(lower)), report));
                    self.order.push(lower);
                    next.push_back(lower);
                }
            }
            let Some(first) = floating.find(|body| !is_known[*body]) else { return };
            is_known[first] = true;
            self.order.push(first);
            next.push_back(first);
        }
    }

    /// A joint from the body above to the one below.
    fn joint(
        &self,
        doc: &'a JointDoc,
        (upper, lower): (Option<usize>, Option<usize>),
        report: &mut ExportReport,
    ) -> OutJoint<'a> {
        let place = |end: Option<usize>| end.map_or(Pose::IDENTITY, |body| self.bodies[body].at);
        let is_child = |end: Option<usize>| end.is_some_and(|body| self.bodies[body].doc.name == doc.child);
        let child_is_above = is_child(upper);
        let (child, parent) = if child_is_above { (upper, lower) } else { (lower, upper) };
        // Frames of the world are meant for the poses as they are written.
        let written =
            |end: Option<usize>| end.map_or(Pose::IDENTITY, |body| self.bodies[body].doc.pose.to_pose());
        let (on_child, mut on_parent) = doc.frames.in_bodies(&written(child), &written(parent));
        if let (Some(spring), None) = (doc.spring, &doc.free) {
            on_parent.rotation = normalize_quat(on_parent.rotation * exp_so3(spring.rest_rotation));
        }
        let frames = [place(child).compose(&on_child), place(parent).compose(&on_parent)];
        let motion = |end: Option<usize>, frame: &Pose| {
            let Some(body) = end.map(|body| &self.bodies[body]) else { return Motion::ZERO };
            let arm = frame.translation - body.at.translation;
            Motion::new(body.motion.angular, body.motion.linear + body.motion.angular.cross(arm))
        };
        let motions = [motion(child, &frames[0]), motion(parent, &frames[1])];
        let moves = moves_of(doc, &MotionBelow { frames, motions }, child_is_above, report);
        let (upper_from_joint, lower_from_joint) =
            if child_is_above { (on_child, on_parent) } else { (on_parent, on_child) };
        OutJoint { doc, upper, lower, upper_from_joint, lower_from_joint, moves }
    }

    /// Bodies below each, in their order; the last entry is for the world, with what floats and what is held.
    pub(crate) fn below(&self) -> Vec<Vec<usize>> {
        let n = self.bodies.len();
        let mut below = vec![Vec::new(); n + 1];
        for &body in &self.order {
            below[self.bodies[body].above().unwrap_or(n)].push(body);
        }
        below
    }

    /// How many bodies are above each other at most.
    pub(crate) fn depth(&self) -> usize {
        let mut depths = vec![0; self.bodies.len()];
        for &body in &self.order {
            depths[body] = 1 + self.bodies[body].above().map_or(0, |above| depths[above]);
        }
        depths.into_iter().max().unwrap_or(0)
    }
}

/// The bodies of each joint, child first; none is the world.
fn ends_of(scene: &SceneDoc, places: &BTreeMap<&str, usize>) -> Vec<[Option<usize>; 2]> {
    let place = |name: &str| places.get(name).copied();
    scene.joints.iter().map(|joint| [place(&joint.child), joint.parent.as_deref().and_then(place)]).collect()
}

/// Whether a joint holds from the beginning to the end.
fn can_be_in_tree(joint: &JointDoc) -> bool {
    joint.from_s == 0.0 && joint.to_s.is_none()
}

/// Joints of a smaller rank come into the tree first.
fn rank(joint: &JointDoc, is_geared: bool) -> (bool, u8) {
    let has_forces = is_geared
        || joint.spring.is_some()
        || joint.damping > 0.0
        || joint.limits.is_some()
        || joint.motor.is_some()
        || joint.drive.is_some()
        || joint.cone_limit.is_some();
    let closes =
        joint.free.is_none() && matches!(joint.kind, JointKind::Ball | JointKind::Fixed | JointKind::Hinge);
    let rank = match joint.priority {
        PriorityDoc::Primary => 0,
        _ if joint.kind == JointKind::Free => 4,
        _ if !closes => 1,
        _ if has_forces => 2,
        _ => 3,
    };
    (joint.priority == PriorityDoc::Secondary, rank)
}

/// The first member of a set of nodes.
fn find(sets: &mut [usize], mut node: usize) -> usize {
    while sets[node] != node {
        sets[node] = sets[sets[node]];
        node = sets[node];
    }
    node
}
