//! The joints of a mechanism as one graph, for the direct solution of many loops (`sinew_solvers::LoopGraph`).
//!
//! The rows of the loops are there already. Added are those of the tree joints with the forces inside them, as if they were outside the
//! tree, and the block of every body in the implicit system, inverted. Chosen once for a model, where the factor takes fewer flops than
//! iterations could. World axes at centres of mass. Cost: linear in the joints; no allocation once warm.

use glam::DVec3;
use sinew_math::{Force, Sym6, quat_to_mat3};
use sinew_solvers::{AllRows, Load, LoopGraph, LoopRows};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::loops::{ForceRows, INACTIVE, PointPair, rigid_rows, spring_rows};
use crate::model::{LoopModel, Model, WORLD};
use crate::tree::{JointAt, LinearizationPoint, TreeReport, TreeSystem, add_geometric, add_own, transmit};

/// The joints of a mechanism as one graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointGraph {
    pub(crate) graph: LoopGraph,
    pub(crate) all: AllRows,
    /// The tree joints, as if they were outside the tree.
    joints: Vec<LoopModel>,
    /// Per pair.
    loads: Vec<Load>,
    /// Force that the joint of each pair transmits.
    pub(crate) pulls: Vec<DVec3>,
    /// Whether the numbers are those of the present linearization point.
    pub(crate) is_filled: bool,
    /// Errors of the tree joints there.
    pub(crate) seen: TreeReport,
    /// Whether all tree joints do nothing but hold points together.
    holds_points: bool,
    /// Whether rows of the present step depend on each other, so that the tree must be solved first.
    pub(crate) needs_tree: bool,
}

/// Flops of one iteration on the loops, per body.
const PER_BODY: f64 = 300.0;

impl JointGraph {
    /// For a model with many loops, if the direct method is worth it: an iterative one needs up to one iteration per row.
    pub(crate) fn new(model: &Model) -> Option<Box<Self>> {
        if !model.derived.has_many_loops {
            return None;
        }
        let joints: Vec<LoopModel> = model
            .pairs
            .iter()
            .filter(|pair| pair.joint != WORLD)
            .map(|pair| model.as_loop(pair.joint))
            .collect();
        let mut graph = LoopGraph::default();
        for looped in model.loops.iter().chain(&joints) {
            let rows = [INACTIVE; 6];
            graph.rows.push(looped.ports, &rows[..model.joints[looped.joint as usize].n_rows()], 1.0);
        }
        let limit = PER_BODY * model.n_loop_multipliers() as f64 * model.pairs.len() as f64;
        let has_spring =
            |looped: &LoopModel| !model.springs_across(&model.joints[looped.joint as usize]).is_empty();
        let holds_points = joints.iter().all(|looped| looped.is_point && !has_spring(looped));
        (graph.flops() <= limit).then(|| Box::new(Self { graph, joints, holds_points, ..Self::default() }))
    }

    /// Whether the rows of all joints may be solved at once, without the tree.
    pub(crate) fn may_stand_alone(&self) -> bool {
        self.holds_points && !self.needs_tree
    }

    /// Takes the rows of the loops, and linearizes the tree joints and the bodies at the same point.
    pub(crate) fn fill(&mut self, at: &TreeSystem<'_>, loops: &LoopRows) {
        let Self { graph, joints, .. } = self;
        let mut seen = TreeReport::default();
        graph.rows.copy_blocks(loops, loops.blocks().len());
        let points = at.point.by_island();
        for looped in &*joints {
            let joint = &at.point.model.joints[looped.joint as usize];
            push_joint(points.at(&[joint.body1, joint.body2]), looped, &mut graph.rows, &mut seen);
        }
        self.seen = seen;
        self.fill_masses(at);
        self.is_filled = true;
    }

    /// Inverts the blocks of the bodies, with the geometric stiffness of the tree joints.
    fn fill_masses(&mut self, at: &TreeSystem<'_>) {
        let Self { graph, loads, pulls, .. } = self;
        let model = at.point.model;
        loads.resize(model.pairs.len(), Load::ZERO);
        for ((k, pair), load) in model.pairs.iter().enumerate().zip(&mut *loads) {
            let fallen = at.fallen_at(k);
            let at = fallen.as_ref().unwrap_or(at);
            let rotation = quat_to_mat3(at.point.poses[pair.body as usize].rotation);
            *load = Load::ZERO;
            add_own(at, k, pair, &rotation, load);
        }
        let is_pulled = !at.joint_forces.is_empty();
        if is_pulled {
            transmit(model, at.joint_forces, pulls);
        }
        graph.momenta.resize(loads.len(), Force::ZERO);
        graph.inverse_masses.resize(loads.len(), Sym6::ZERO);
        let blocks = graph.momenta.iter_mut().zip(&mut graph.inverse_masses);
        for ((k, pair), (momentum, inverse)) in model.pairs.iter().enumerate().zip(blocks) {
            if is_pulled {
                let fallen = at.fallen_at(k);
                let at = fallen.as_ref().unwrap_or(at);
                let (pull, strength) = (pulls[k], pulls[k].length());
                let arm = at.point.pose(pair.body).rotation * pair.own.point;
                add_geometric(&at.point, pair.body, &mut loads[k], (arm, pair.own.anchor), (pull, strength));
                if pair.parent != NONE {
                    let parent = pair.parent as usize;
                    let arm = at.point.pose(pair.parent_body).rotation * pair.other.point;
                    let end = (arm, pair.other.anchor);
                    add_geometric(&at.point, pair.parent_body, &mut loads[parent], end, (-pull, strength));
                }
            }
            // Pairs come before their parents: nothing more is added to this one.
            let load = &loads[k];
            *momentum = load.momentum;
            *inverse = load.mass.inverse().unwrap_or(Sym6::ZERO);
        }
    }
}

/// The rows of a tree joint, of the forces inside it and of the springs across it. Right-hand sides matter only where all joints hold points;
/// their errors are noted.
fn push_joint(at: &LinearizationPoint<'_>, looped: &LoopModel, rows: &mut LoopRows, seen: &mut TreeReport) {
    let joint = &at.model.joints[looped.joint as usize];
    if looped.is_point {
        let points = [joint.frames.point1, joint.frames.point2];
        let pair = PointPair::new(at, looped.ports, [joint.body1, joint.body2], points);
        rows.push_point(looped.ports, pair.arms, pair.given - pair.gap * at.step.per_h, 1.0);
        seen.see_errors(pair.gap.length_squared(), 0.0);
    } else {
        let here = JointAt::new(at, looped.joint);
        rows.push(looped.ports, &rigid_rows(at, &here, 0.0).0, 1.0);
        let mut forces = ForceRows { shift: here.shift, rows: SmallVec::new(), constant: Force::ZERO };
        here.add_forces(&mut forces);
        if !forces.rows.is_empty() {
            rows.push(looped.ports, &forces.rows, 1.0);
        }
    }
    for spring in at.model.springs_across(joint) {
        rows.push(looped.ports, &spring_rows(at, spring), 1.0);
    }
}
