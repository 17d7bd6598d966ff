//! Solves for the multipliers of the loops, and adds their effect to the motions.
//!
//! Rows of joints that may open come last. If the solve of all rows does not converge, the other rows are solved once
//! more for `b − J v_a − J T J₂ᵀλ₂`, with the multipliers `λ₂` of the last rows held.
//!
//! On a tree, one substitution with the impulses of the loops gives the motions, and the true residual `b − J v − D λ`.
//! The residual of the solve is only updated and may drift. If the true one misses the precision by more than allowed,
//! the solve continues from there. Cost and failures: see [`sinew_solvers::refine`].

use glam::DVec3;
use sinew_math::{Motion, Pose};
use sinew_solvers::{FreeBodies, FreeMass, LOOP_DRIFT, LoopStop, PairFactor, Responder};

use crate::loops::{LoopWorkspace, PrimaryRows, Refinement, Surroundings, free_mass};
use crate::model::Model;
use crate::tree::{ReactingTree, TreeReport, TreeSystem};

/// Inverse masses of bodies on their own, by port.
type FreeMasses<'a> = &'a dyn Fn(u32) -> FreeMass;

impl LoopWorkspace {
    /// Closes the loops: `tree.motions` becomes the solution with their impulses. `given` are the twists of bodies that
    /// nothing moves, per body. False if there is nothing to close.
    pub(crate) fn close(
        &mut self,
        model: &Model,
        (poses, given): (&[Pose], &[Motion]),
        (factor, motions): (&PairFactor, &mut [Motion]),
        surroundings: Surroundings<'_>,
        run: &mut Refinement<'_>,
    ) -> bool {
        if self.rows.is_empty() {
            return false;
        }
        let free_mass = |port: u32| free_mass(model, poses, port);
        let Self { rows, rhs, spare, .. } = self;
        rhs.resize(rows.len(), 0.0);
        spare.resize(rows.len(), 0.0);
        rows.gather(motions, rhs);
        rhs.iter_mut().zip(rows.rhs()).for_each(|(x, b)| *x = b - *x);
        match surroundings {
            Surroundings::Pairs => {
                let above = |k: usize| {
                    given.get(model.pairs[k].parent_body as usize).copied().unwrap_or(Motion::ZERO)
                };
                let mut tree = std::mem::take(&mut self.tree);
                self.close_on_tree((&mut tree, factor), &above, motions, &free_mass, run);
                self.tree = tree;
            }
            Surroundings::Free => {
                let masses = std::mem::take(&mut self.masses);
                self.close_on(&mut FreeBodies { masses: &masses }, motions, &free_mass, run);
                self.masses = masses;
            }
            Surroundings::Other(other) => self.close_on(other, motions, &free_mass, run),
        }
        self.conclude(run);
        true
    }

    /// Judges the solution, and keeps what joints do to their bodies.
    pub(crate) fn conclude(&mut self, run: &mut Refinement<'_>) {
        self.judge(run);
        self.fill_joint_impulses();
    }

    /// Solves the joints of the tree and of the loops at once, for the twists of free bodies, where joints do nothing but hold points
    /// together: the tree need not be solved before. `None` if rows depend on each other or are not met.
    pub(crate) fn close_all(
        &mut self,
        at: &TreeSystem<'_>,
        motions: &mut [Motion],
        run: &mut Refinement<'_>,
    ) -> Option<TreeReport> {
        if self.rows.is_empty() || !self.graph.as_ref()?.may_stand_alone() {
            return None;
        }
        self.fill_graph(at);
        let Self { rows, lambda, graph, impulses, .. } = self;
        let graph = graph.as_mut()?;
        if !run.solve_all((&mut graph.graph, &mut graph.all), rows.blocks().len(), motions) {
            graph.needs_tree = true;
            return None;
        }
        let seen = graph.seen;
        lambda.copy_from_slice(&graph.all.lambda[..rows.len()]);
        rows.scatter(lambda, impulses);
        self.conclude(run);
        Some(seen)
    }

    /// Impulses of other multipliers at the same rows.
    pub(crate) fn apply_multipliers(&mut self) {
        let Self { rows, lambda, impulses, .. } = self;
        rows.clear_ports(impulses);
        rows.scatter(lambda, impulses);
        self.fill_joint_impulses();
    }

    /// What each joint does, by the multipliers.
    fn fill_joint_impulses(&mut self) {
        let Self { rows, lambda, terms, joint_impulses, .. } = self;
        let of_block = |block: u32| rows.impulse_on_first(block as usize, lambda);
        for (impulse, terms) in joint_impulses.iter_mut().zip(terms) {
            *impulse = terms.rigid.map_or(DVec3::ZERO, |block| of_block(block).linear);
            terms.impulse = (terms.span.0..terms.span.1).map(of_block).fold(terms.constant, |sum, i| sum + i);
        }
    }

    /// What yielding rows left open is as good as contradictory ones can get.
    fn judge(&self, run: &mut Refinement<'_>) {
        let left = self.yielded.iter().flat_map(|&(from, to)| from as usize..to as usize);
        let open = left.map(|row| (self.rows.compliance()[row] * self.lambda[row]).abs()).fold(0.0, f64::max);
        if open > run.settings.solve.precision {
            run.report.residual = run.report.residual.max(open);
            if run.report.stop == LoopStop::Converged {
                run.report.stop = LoopStop::LeastSquares;
            }
        }
    }

    /// Closes the loops on a factored tree. The motions with the impulses tell how well the rows are met.
    fn close_on_tree(
        &mut self,
        (tree, factor): (&mut ReactingTree, &PairFactor),
        above: &dyn Fn(usize) -> Motion,
        motions: &mut [Motion],
        free_mass: FreeMasses<'_>,
        run: &mut Refinement<'_>,
    ) {
        // Without restarts a solve that missed is to say so.
        let mut verifies = run.settings.solve.restarts == 0;
        loop {
            let stop = self.solve(&mut tree.touched(factor), verifies, free_mass, run);
            self.rows.scatter(&self.lambda, &mut self.impulses);
            // One more substitution of the whole tree gives the motions exactly, instead of adding up reactions.
            tree.all(factor).resolve(&self.impulses, above, motions);
            if verifies || stop != LoopStop::Converged {
                return;
            }
            run.report.residual = self.residual(motions);
            if run.report.residual <= LOOP_DRIFT * run.settings.solve.precision {
                return;
            }
            self.rows.clear_ports(&mut self.impulses);
            run.report.restarts += 1;
            verifies = true;
        }
    }

    /// Closes the loops on anything else that reacts.
    fn close_on(
        &mut self,
        responder: &mut dyn Responder,
        motions: &mut [Motion],
        free_mass: FreeMasses<'_>,
        run: &mut Refinement<'_>,
    ) {
        self.solve(responder, true, free_mass, run);
        self.rows.scatter(&self.lambda, &mut self.impulses);
        responder.respond(&self.impulses, &mut self.reactions);
        motions.iter_mut().zip(self.reactions.iter()).for_each(|(v, dv)| *v += *dv);
    }

    /// Solves for the multipliers; returns how the solve of all rows ended. Without `verifies` a converged residual is not
    /// computed anew.
    fn solve(
        &mut self,
        responder: &mut dyn Responder,
        verifies: bool,
        free_mass: FreeMasses<'_>,
        run: &mut Refinement<'_>,
    ) -> LoopStop {
        let Self { rows, lambda, rhs, impulses, reactions, scratch, primary, spare, graph, .. } = self;
        let graph = graph.as_mut().filter(|graph| graph.is_filled).map(|graph| &mut graph.graph);
        let stop = run.solve((rows, rhs, lambda), (responder, graph), free_mass, verifies, scratch);
        let &mut PrimaryRows { n_blocks, n_rows, rows: ref mut primary_rows } = primary;
        if stop != LoopStop::Converged && n_rows > 0 && n_rows < rows.len() {
            primary_rows.copy_blocks(rows, n_blocks);
            rows.scatter_from(n_blocks, lambda, impulses);
            responder.respond(impulses, reactions);
            rows.clear_ports(impulses);
            let primary_rhs = &mut spare[..n_rows];
            primary_rows.gather(reactions, primary_rhs);
            primary_rhs.iter_mut().zip(rhs.iter()).for_each(|(x, b)| *x = b - *x);
            let open = run.report;
            let unknowns = (&*primary_rows, &*primary_rhs, &mut lambda[..n_rows]);
            run.solve(unknowns, (responder, None), free_mass, true, scratch);
            // What is left open is what the report is about.
            run.judge_by(open);
        }
        stop
    }

    /// The largest `|b − J v − D λ|`; infinite if it is not a number.
    pub(crate) fn residual(&mut self, motions: &[Motion]) -> f64 {
        let Self { rows, lambda, spare: found, .. } = self;
        found.resize(rows.len(), 0.0);
        rows.gather(motions, found);
        let of_row = |row: usize| (rows.rhs()[row] - found[row] - rows.compliance()[row] * lambda[row]).abs();
        let counted = rows.blocks().iter().filter(|block| block.weight > 0.0).flat_map(|block| block.rows());
        let worse = |worst: f64, error: f64| if error <= worst { worst } else { error };
        let largest = counted.map(of_row).fold(0.0, worse);
        if largest.is_nan() { f64::INFINITY } else { largest }
    }
}
