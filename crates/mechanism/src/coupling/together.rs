//! Bodies, companion and loops in one solve, where the loops have few rows.
//!
//! The rows `J v + D λ = b` of the loops act on bodies only. So they are eliminated with the tree, before the companion: `A = J T Jᵀ + D` is
//! factored on the tree alone, and the conjugate gradients of the companion run on the tree with its loops closed
//! ([`sinew_solvers::ClosedTree`]). Every iterate closes the loops, and the number of rows does not change the number of solves:
//! ```text
//! v_a, λ_a         tree and loops alone
//! x, q             companion on T' = T − T Jᵀ A⁺ J T, starting at v_a
//! λ = λ_a − A⁺ J T q,     v = T (z + q + Jᵀλ)        z: impulses of the tree itself
//! ```
//! If the rows contradict each other and those of one level may open, the others are solved once more with the multipliers of these held, as
//! on a tree (`loops::closing`). World axes at centres of mass; multipliers are impulses. Cost: one reaction of the tree per row, two per
//! iteration of the companion, one solve of the companion (two if rows contradict each other). No allocation once warm.

use sinew_math::{Motion, Pose};
use sinew_solvers::{LOOP_DRIFT, LoopMethod, LoopRows, LoopStop};

use crate::coupling::solve::{ClosedRows, CompanionScratch, CompanionSolve};
use crate::loops::{LoopWorkspace, Refinement, free_mass};
use crate::tree::TreeScratch;
use crate::{Companion, Model};

/// What is solved together.
pub(crate) struct Together<'a> {
    pub(crate) model: &'a Model,
    pub(crate) poses: &'a [Pose],
    /// Twists of bodies that nothing moves, per body.
    pub(crate) given: &'a [Motion],
    /// Solved without companion and loops.
    pub(crate) tree: &'a mut TreeScratch,
    pub(crate) loops: &'a mut LoopWorkspace,
    pub(crate) scratch: &'a mut CompanionScratch,
    pub(crate) companion: &'a mut dyn Companion,
    pub(crate) how: CompanionSolve,
}

/// Share of what the companion has opened that is too little to ask it again.
const UNNOTICED: f64 = 1e-6;

/// Which rows are solved; the others keep their multipliers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    All,
    Primary,
}

impl Together<'_> {
    /// `tree.motions` becomes the solution with the companion and closed loops.
    pub(crate) fn solve(&mut self, run: &mut Refinement<'_>) {
        let asked = std::mem::replace(&mut run.settings.solve.method, LoopMethod::Direct);
        let stop = self.solve_level(Level::All, run);
        let n_primary = self.loops.primary.n_rows;
        if stop != LoopStop::Converged && n_primary > 0 && n_primary < self.loops.rows.len() {
            let LoopWorkspace { rows, primary, .. } = &mut *self.loops;
            primary.rows.copy_blocks(rows, primary.n_blocks);
            let open = run.report;
            self.solve_level(Level::Primary, run);
            run.judge_by(open);
        }
        run.settings.solve.method = asked;
        self.loops.conclude(run);
    }

    /// Solves with the rows of a level; returns how well they are met.
    fn solve_level(&mut self, level: Level, run: &mut Refinement<'_>) -> LoopStop {
        self.scratch.activate(self.companion, self.loops.rows.touched_ports());
        let n_blocks = self.loops.primary.n_blocks;
        if level == Level::Primary {
            let LoopWorkspace { rows, lambda, impulses, .. } = &mut *self.loops;
            rows.clear_ports(impulses);
            rows.scatter_from(n_blocks, lambda, impulses);
            self.resolve();
        }
        let mut stop = self.close_tree(level, run);
        self.push();
        let Self { tree, loops, scratch, companion, how, .. } = self;
        let LoopWorkspace { rows, rhs, primary, scratch: factored, .. } = &mut **loops;
        let rows = level_rows(level, rows, &primary.rows);
        rows.gather(&tree.motions, rhs);
        let is_factored = factored.is_factored();
        let closed = is_factored.then_some(ClosedRows { rows, factored });
        scratch.respond((&tree.factor, &tree.motions), *companion, *how, closed);
        self.resolve();
        if is_factored {
            self.close_again(level);
        }
        run.report.residual = self.loops.residual(&self.tree.motions);
        if is_factored {
            let is_met = run.report.residual <= LOOP_DRIFT * run.settings.solve.precision;
            stop = if is_met { LoopStop::Converged } else { LoopStop::LeastSquares };
            run.report.stop = stop;
        }
        stop
    }

    /// Closes the loops on the tree as it is without them, and leaves their factor.
    fn close_tree(&mut self, level: Level, run: &mut Refinement<'_>) -> LoopStop {
        let LoopWorkspace { rows, lambda, rhs, primary, scratch: factored, .. } = &mut *self.loops;
        let rows = level_rows(level, rows, &primary.rows);
        rhs.resize(rows.len(), 0.0);
        rows.gather(&self.tree.motions, rhs);
        rhs.iter_mut().zip(rows.rhs()).for_each(|(x, b)| *x = b - *x);
        let (model, poses) = (self.model, self.poses);
        let free_mass = |port: u32| free_mass(model, poses, port);
        let mut tree = self.scratch.tree(&self.tree.factor);
        let unknowns = (rows, &rhs[..], &mut lambda[..rows.len()]);
        run.solve(unknowns, (&mut tree, None), &free_mass, true, factored)
    }

    /// Closes what the companion has opened since `loops.rhs` was gathered. A small rest is closed once more, with the companion as it is.
    fn close_again(&mut self, level: Level) {
        let LoopWorkspace { rows, rhs, spare, primary, .. } = &mut *self.loops;
        let rows = level_rows(level, rows, &primary.rows);
        spare.resize(rows.len(), 0.0);
        rows.gather(&self.tree.motions, spare);
        // Not what was open before: rows that depend on each other may stay so, and the companion has been solved for that.
        rhs.iter_mut().zip(&*spare).for_each(|(r, after)| *r -= after);
        let opened = self.advance(level);
        let left = self.loops.residual(&self.tree.motions);
        if left > 0.0 && left < UNNOTICED * opened {
            let LoopWorkspace { rows, lambda, rhs, primary, .. } = &mut *self.loops;
            let rows = level_rows(level, rows, &primary.rows);
            rows.gather(&self.tree.motions, rhs);
            for (row, r) in rhs.iter_mut().enumerate() {
                *r = rows.rhs()[row] - *r - rows.compliance()[row] * lambda[row];
            }
            self.advance(level);
        }
    }

    /// Adds the multipliers for `loops.rhs`, and what they do; returns the largest entry.
    fn advance(&mut self, level: Level) -> f64 {
        let LoopWorkspace { rows, lambda, rhs, spare, primary, scratch: factored, .. } = &mut *self.loops;
        let rows = level_rows(level, rows, &primary.rows);
        rows.switch_off(rhs);
        spare.resize(rows.len(), 0.0);
        factored.solve_again(rhs, spare);
        lambda.iter_mut().zip(&*spare).for_each(|(l, d)| *l += d);
        let largest = rhs.iter().fold(0.0, |most: f64, r| most.max(r.abs()));
        self.push();
        largest
    }

    /// The motions with the impulses of all multipliers.
    fn push(&mut self) {
        let LoopWorkspace { rows, lambda, impulses, .. } = &mut *self.loops;
        rows.clear_ports(impulses);
        rows.scatter(lambda, impulses);
        self.resolve();
    }

    /// The motions with the present impulses.
    fn resolve(&mut self) {
        self.scratch.resolve((self.model, self.given), self.tree, Some(&self.loops.impulses));
    }
}

/// The rows of a level.
fn level_rows<'a>(level: Level, all: &'a LoopRows, primary: &'a LoopRows) -> &'a LoopRows {
    match level {
        Level::All => all,
        Level::Primary => primary,
    }
}
