//! The implicit system in the paper's block form: bodies and joints as separate nodes (Her11 §3.3–4).
//!
//! The same linearization as the pair form, written out as `A v + Jᵀλ = b`, `J v = b_λ` with parent blocks
//! `J_a`, `J_b = −J_a X` and grandparent blocks `A_ab = −K X`; see docs/maths/elimination.md §1. It is the reference
//! for the pair form, slower by several times.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym6, quat_to_mat3, shift_force, shift_motion};
use sinew_solvers::{BlockSystem, Load, Responder, TreeLdlt};
use sinew_topology::NONE;

use crate::model::{Model, PairModel, WORLD};
use crate::settings::TreeForm;
use crate::tree::{
    LinearizedJoint, TreeReport, TreeScratch, TreeSystem, add_geometric, add_own, hand_up_force,
    transmitted_force,
};
use crate::watch::Stage;

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
        let ranges =
            || self.model.structure.plan.pairs().iter().map(|pair| system.variable_range(pair.variable));
        for (range, impulse) in ranges().zip(impulses) {
            solution[range].copy_from_slice(&impulse.to_array());
        }
        factor.solve(solution);
        for (range, motion) in ranges().zip(motions) {
            *motion = Motion::from_array(std::array::from_fn(|i| solution[range.start + i]));
        }
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
    for (k, pair) in at.point.model.structure.plan.pairs().iter().enumerate() {
        let range = scratch.system.variable_range(pair.variable);
        let v: [f64; 6] = std::array::from_fn(|i| scratch.solution[range.start + i]);
        tree.motions[k] = Motion::from_array(v);
    }
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
        let mut own = Load::ZERO;
        let rotation = quat_to_mat3(at.point.poses[pair.body as usize].rotation);
        add_own(at, k, pair, &rotation, &mut own);
        if !at.joint_forces.is_empty() {
            let pull = transmitted_force(at.joint_forces, pair, waiting);
            let strength = pull.length();
            let arm = |body: u32, point: DVec3| at.point.pose(body).rotation * point;
            add_geometric(
                &at.point,
                pair.body,
                &mut own,
                (arm(pair.body, pair.own.point), pair.own.anchor),
                (pull, strength),
            );
            if pair.parent != NONE {
                let mut other = Load::ZERO;
                let parent_arm = arm(pair.parent_body, pair.other.point);
                let end = (parent_arm, pair.other.anchor);
                add_geometric(&at.point, pair.parent_body, &mut other, end, (-pull, strength));
                add_body(at.point.model, system, pair.parent as usize, &other);
            }
            hand_up_force(pair, waiting);
        }
        add_body(at.point.model, system, k, &own);
        if pair.joint != WORLD {
            let joint = LinearizedJoint::new(&at.point, pair);
            twists[k] = joint.twist;
            report.regularized += joint.degenerate;
            report.gap_squared = report.gap_squared.max(joint.position_error * joint.position_error);
            report.lean_squared = report.lean_squared.max(joint.rotation_error * joint.rotation_error);
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

/// Rows, coupling and reaction of one tree joint. Rows that the joint does not use now are idle: `−λ = 0`.
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
        shift_motion(at.point.motion(at.point.motions, pair.parent_body), d)
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
        let diagonal = &mut system.constraint_mut(constraint)[i * n_rows + i];
        *diagonal = if i < joint.n { -compliance } else { -1.0 };
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
    let reaction =
        Load { mass: joint.inside.mass.shifted(d), momentum: shift_force(joint.inside.momentum, d) * -1.0 };
    add_body(at.point.model, system, pair.parent as usize, &reaction);
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
