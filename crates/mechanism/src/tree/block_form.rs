//! The implicit system in the paper's block form: bodies and joints as separate nodes (Her11 §3.3–4).
//!
//! The same linearization as the pair form, written out as `A v = b + Jᵀλ`, `J v = b_λ` with parent blocks
//! `J_a`, `J_b = −J_a X` and grandparent blocks `A_ab = −K X`; see docs/maths/elimination.md §1. It is the reference
//! for the pair form, slower by several times.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym6, quat_to_mat3, shift_force, shift_motion};
use sinew_solvers::{BlockSystem, Load, Responder, TreeLdlt};
use sinew_topology::NONE;

use crate::model::{PairModel, WORLD, motion_of};
use crate::tree::{
    LinearizedJoint, TreeReport, TreeScratch, TreeSystem, add_geometric, add_own, hand_up, seen_from_body2,
    transmitted_force,
};
use crate::{Model, Stage, TreeForm};

/// System and factor of the block form.
#[derive(Clone, Debug)]
pub(crate) struct BlockScratch {
    system: BlockSystem,
    factor: TreeLdlt,
    /// Twists and multipliers, in the order of the system.
    solution: Vec<f64>,
    /// Joint forces that wait for the parent of their body.
    waiting: Vec<DVec3>,
}

impl BlockScratch {
    /// Room for the system of a model.
    fn new(model: &Model) -> Self {
        let system = BlockSystem::new(&model.structure.plan);
        let solution = vec![0.0; system.n_unknowns()];
        Self {
            system,
            factor: TreeLdlt::new(&model.structure.plan),
            solution,
            waiting: Vec::with_capacity(model.pairs.len()),
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let waiting = self.waiting.capacity() * size_of::<DVec3>();
        self.system.bytes() + self.factor.bytes() + self.solution.len() * 8 + waiting
    }

    /// Takes the twists of the pairs from the solution.
    fn read_motions(&self, model: &Model, motions: &mut [Motion]) {
        for (pair, motion) in model.structure.plan.pairs().iter().zip(motions) {
            let range = self.system.variable_range(pair.variable);
            *motion = Motion::from_array(std::array::from_fn(|i| self.solution[range.start + i]));
        }
    }
}

/// The reaction of the factored block system to impulses.
pub(crate) struct BlockResponder<'a> {
    model: &'a Model,
    scratch: &'a mut BlockScratch,
}

impl<'a> BlockResponder<'a> {
    /// `None` unless a block system was solved.
    pub(crate) fn new(
        model: &'a Model,
        form: TreeForm,
        scratch: &'a mut Option<Box<BlockScratch>>,
    ) -> Option<Self> {
        let scratch = scratch.as_deref_mut().filter(|_| form == TreeForm::Block)?;
        Some(Self { model, scratch })
    }
}

impl Responder for BlockResponder<'_> {
    fn respond(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        let BlockScratch { system, factor, solution, .. } = &mut *self.scratch;
        solution.fill(0.0);
        for (pair, impulse) in self.model.structure.plan.pairs().iter().zip(impulses) {
            solution[system.variable_range(pair.variable)].copy_from_slice(&impulse.to_array());
        }
        factor.solve(solution);
        self.scratch.read_motions(self.model, motions);
    }
}

/// Compliance put on joint rows when a pivot is singular: `h²` times this in m/N or rad/(N·m).
const REGULARIZATION: f64 = 1e-9;

/// Solves the tree at a linearization point, as [`crate::sweep::solve`] does.
pub(crate) fn solve(
    at: &TreeSystem<'_>,
    tree: &mut TreeScratch,
    scratch: &mut Option<Box<BlockScratch>>,
    done: &mut dyn FnMut(Stage),
) -> TreeReport {
    let scratch = scratch.get_or_insert_with(|| Box::new(BlockScratch::new(at.point.model)));
    let mut report = TreeReport::default();
    fill(at, scratch, &mut tree.twists, &mut report, 0.0);
    if scratch.factor.factor(&scratch.system).is_err() {
        report = TreeReport { regularized: 1, ..TreeReport::default() };
        fill(at, scratch, &mut tree.twists, &mut report, REGULARIZATION);
        // A second failure leaves a non-finite solution, which the report of the step names.
        if scratch.factor.factor(&scratch.system).is_err() {
            tree.motions.fill(Motion::from_array([f64::NAN; 6]));
            return report;
        }
    }
    done(Stage::Eliminate);
    scratch.solution.copy_from_slice(scratch.system.rhs());
    scratch.factor.solve(&mut scratch.solution);
    scratch.read_motions(at.point.model, &mut tree.motions);
    done(Stage::Substitute);
    report
}

/// Writes the whole system; `compliance` softens the rows of joints.
fn fill(
    at: &TreeSystem<'_>,
    scratch: &mut BlockScratch,
    twists: &mut [f64],
    report: &mut TreeReport,
    compliance: f64,
) {
    let BlockScratch { system, waiting, .. } = scratch;
    system.clear();
    waiting.clear();
    for (k, pair) in at.point.model.pairs.iter().enumerate() {
        let fallen = at.fallen_at(k);
        let at = fallen.as_ref().unwrap_or(at);
        let mut own = Load::ZERO;
        let rotation = quat_to_mat3(at.point.poses[pair.body as usize].rotation);
        add_own(at, k, pair, &rotation, &mut own);
        if !at.joint_forces.is_empty() {
            let pull = transmitted_force(at.joint_forces, pair, waiting);
            let strength = pull.length();
            let arm = |body: u32, point: DVec3| at.point.pose(body).rotation * point;
            let end = (arm(pair.body, pair.own.point), pair.own.anchor);
            add_geometric(&at.point, pair.body, &mut own, end, (pull, strength));
            if pair.parent != NONE {
                let mut other = Load::ZERO;
                let end = (arm(pair.parent_body, pair.other.point), pair.other.anchor);
                add_geometric(&at.point, pair.parent_body, &mut other, end, (-pull, strength));
                add_body(at.point.model, system, pair.parent as usize, &other);
            }
            hand_up(pair, waiting, |sum, force| *sum += *force);
        }
        add_body(at.point.model, system, k, &own);
        if pair.joint != WORLD {
            let joint = LinearizedJoint::new(&at.point, pair);
            twists[k] = joint.found.twist;
            report.see(&joint.found, joint.degenerate);
            fill_joint(at, system, k, pair, &joint, compliance);
        }
    }
}

/// Adds a 6×6 block and its right-hand side to a body.
fn add_body(model: &Model, system: &mut BlockSystem, pair: usize, load: &Load) {
    let variable = model.structure.plan.pairs()[pair].variable;
    for (entry, value) in system.variable_mut(variable).iter_mut().zip(dense(&load.mass).as_flattened()) {
        *entry += value;
    }
    for (entry, value) in system.variable_rhs_mut(variable).iter_mut().zip(load.momentum.to_array()) {
        *entry += value;
    }
}

/// Rows, coupling and reaction of one tree joint. Rows that the joint does not use now are idle: `λ = 0`.
fn fill_joint(
    at: &TreeSystem<'_>,
    system: &mut BlockSystem,
    k: usize,
    pair: &PairModel,
    joint: &LinearizedJoint,
    compliance: f64,
) {
    let planned = at.point.model.structure.plan.pairs()[k];
    let Some(constraint) = planned.constraint else { return };
    let n_rows = at.point.model.joints[pair.joint as usize].n_rows();
    let d = joint.shift;
    // The parent's twist is an unknown, or known and moved to the right-hand side.
    let has_parent = pair.parent != NONE;
    let known = if has_parent {
        Motion::ZERO
    } else {
        shift_motion(motion_of(at.point.motions, pair.parent_body), d)
    };

    let mut own = joint.inside;
    own.momentum += own.mass.mul(known);
    add_body(at.point.model, system, k, &own);
    let mut own_rows = [[0.0; 6]; 6];
    let mut parent_rows = [[0.0; 6]; 6];
    for i in 0..n_rows {
        if i < joint.n {
            own_rows[i] = joint.rows[i];
            // J_b = −J_a X
            parent_rows[i] = (shift_force(Force::from_array(joint.rows[i]), d) * -1.0).to_array();
        }
        let diagonal = &mut system.compliance_mut(constraint)[i * n_rows + i];
        *diagonal = if i < joint.n { compliance } else { 1.0 };
    }
    for (i, entry) in system.constraint_rhs_mut(constraint).iter_mut().enumerate() {
        *entry = if i < joint.n { joint.rhs[i] + Force::from_array(joint.rows[i]).dot(known) } else { 0.0 };
    }
    let own_rows = &own_rows.as_flattened()[..6 * n_rows];
    if !has_parent {
        system.set_jacobians(constraint, own_rows, &[]);
        return;
    }
    let parent_rows = &parent_rows.as_flattened()[..6 * n_rows];
    // A_bb += XᵀKX, b_b −= Xᵀq, A_ab = −K X
    add_body(at.point.model, system, pair.parent as usize, &seen_from_body2(&joint.inside, d));
    let mut coupling = [[0.0; 6]; 6];
    for column in 0..6 {
        let mut unit = [0.0; 6];
        unit[column] = 1.0;
        let image = joint.inside.mass.mul(shift_motion(Motion::from_array(unit), d)).to_array();
        for row in 0..6 {
            let (r, c) = if planned.flipped { (column, row) } else { (row, column) };
            coupling[r][c] = -image[row];
        }
    }
    if planned.flipped {
        system.set_jacobians(constraint, parent_rows, own_rows);
    } else {
        system.set_jacobians(constraint, own_rows, parent_rows);
    }
    system.set_coupling(constraint, coupling.as_flattened());
}

/// Rows of a symmetric 6×6 matrix.
fn dense(m: &Sym6) -> [[f64; 6]; 6] {
    std::array::from_fn(|i| {
        let mut unit = [0.0; 6];
        unit[i] = 1.0;
        m.mul(Motion::from_array(unit)).to_array()
    })
}
