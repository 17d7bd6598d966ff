//! The multipliers of the loops, and the motions with them.
//!
//! TwoJoints that may open come last among the rows. If the solve of all rows does not converge, the others are solved once
//! more, for `b − J v_a − J T J₂ᵀλ₂` with the multipliers `λ₂` of those held.
//!
//! On a tree the motions are one substitution with the impulses of the loops, and tell how well the rows are met:
//! `b − J v − D λ` is the residual, so the solve before need not compute it. If it misses the precision by more than the solve
//! allows, which a residual that is only updated may do, the solve goes on from there and does. Cost and failures: see
//! [`sinew_solvers::refine`].

use glam::DVec3;
use sinew_math::{Force, Motion, Pose};
use sinew_solvers::{
    FreeBodies, FreeMass, LOOP_DRIFT, LoopRows, LoopScratch, LoopStop, PairFactor, Responder, TreeResponder,
};
use sinew_topology::NONE;

use crate::loops::masses::free_mass;
use crate::loops::refinement::Refinement;
use crate::loops::surroundings::Surroundings;
use crate::loops::work::LoopWork;
use crate::model::mechanism::Model;

impl LoopWork {
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
        let Self { rows, lambda, rhs, impulses, reactions, parents, active, reaction, .. } = self;
        rhs.resize(rows.len(), 0.0);
        self.spare.resize(rows.len(), 0.0);
        rows.gather(motions, rhs);
        rhs.iter_mut().zip(rows.rhs()).for_each(|(x, b)| *x = b - *x);

        let mut unknowns = Unknowns {
            rows,
            primary: self.primary,
            lambda,
            rhs,
            impulses,
            reactions,
            primary_rows: &mut self.primary_rows,
            spare: &mut self.spare,
            scratch: &mut self.scratch,
        };
        let mut free = FreeBodies { masses: &self.masses };
        let other: Option<&mut dyn Responder> = match surroundings {
            Surroundings::Pairs => None,
            Surroundings::Free => Some(&mut free),
            Surroundings::Other(other) => Some(other),
        };
        if let Some(responder) = other {
            unknowns.solve(responder, &free_mass, true, run);
            unknowns.respond(responder, motions);
        } else {
            let above =
                |k: usize| given.get(model.pairs[k].parent_body as usize).copied().unwrap_or(Motion::ZERO);
            // Without restarts a solve that missed is to say so.
            let mut verifies = run.settings.solve.restarts == 0;
            loop {
                let mut pairs = TreeResponder { factor, parents, active, scratch: reaction };
                let stop = unknowns.solve(&mut pairs, &free_mass, verifies, run);
                let mut all = TreeResponder { active: &self.everything, ..pairs };
                unknowns.rows.scatter(unknowns.lambda, unknowns.impulses);
                all.resolve(unknowns.impulses, above, motions);
                if verifies || stop != LoopStop::Converged {
                    break;
                }
                run.report.residual = unknowns.residual(motions);
                if run.report.residual <= LOOP_DRIFT * run.settings.solve.precision {
                    break;
                }
                unknowns.rows.clear_ports(unknowns.impulses);
                run.report.restarts += 1;
                verifies = true;
            }
        }
        self.judge(run);
        for (pull, &block) in self.pulls.iter_mut().zip(&self.blocks) {
            *pull = if block == NONE {
                DVec3::ZERO
            } else {
                self.rows.impulse_on_first(block as usize, &self.lambda).linear
            };
        }
        true
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
}

/// The equations of the loops, and where they are solved.
struct Unknowns<'a> {
    rows: &'a LoopRows,
    /// Blocks and rows of joints that may not open.
    primary: (usize, usize),
    lambda: &'a mut [f64],
    /// `b − J v_a`.
    rhs: &'a [f64],
    impulses: &'a mut [Force],
    reactions: &'a mut [Motion],
    primary_rows: &'a mut LoopRows,
    /// One number per row.
    spare: &'a mut [f64],
    scratch: &'a mut LoopScratch,
}

impl Unknowns<'_> {
    /// Solves for the multipliers; returns how the solve of all rows ended. Without `verifies` a converged residual is not
    /// computed anew.
    fn solve(
        &mut self,
        responder: &mut dyn Responder,
        free_mass: &dyn Fn(u32) -> FreeMass,
        verifies: bool,
        run: &mut Refinement<'_>,
    ) -> LoopStop {
        let Self { rows, lambda, rhs, impulses, scratch, primary_rows, spare, .. } = self;
        let stop = run.solve(rows, responder, free_mass, (rhs, lambda), verifies, scratch);
        let (n_blocks, n_first) = self.primary;
        if stop != LoopStop::Converged && n_first > 0 && n_first < rows.len() {
            primary_rows.copy_blocks(rows, n_blocks);
            rows.scatter_from(n_blocks, lambda, impulses);
            responder.respond(impulses, self.reactions);
            rows.clear_ports(impulses);
            let primary_rhs = &mut spare[..n_first];
            primary_rows.gather(self.reactions, primary_rhs);
            primary_rhs.iter_mut().zip(rhs.iter()).for_each(|(x, b)| *x = b - *x);
            let open = run.report;
            let primary = (&*primary_rhs, &mut lambda[..n_first]);
            run.solve(primary_rows, responder, free_mass, primary, true, scratch);
            // What is left open is what the report is about.
            run.judge_by(open);
        }
        stop
    }

    /// Adds what the multipliers do to the motions.
    fn respond(&mut self, responder: &mut dyn Responder, motions: &mut [Motion]) {
        self.rows.scatter(self.lambda, self.impulses);
        responder.respond(self.impulses, self.reactions);
        motions.iter_mut().zip(self.reactions.iter()).for_each(|(v, dv)| *v += *dv);
    }

    /// The largest `|b − J v − D λ|`; infinite if it is not a number.
    fn residual(&mut self, motions: &[Motion]) -> f64 {
        let Self { rows, lambda, spare: found, .. } = self;
        rows.gather(motions, found);
        let of_row = |row: usize| (rows.rhs()[row] - found[row] - rows.compliance()[row] * lambda[row]).abs();
        let counted = rows.blocks().iter().filter(|block| block.weight > 0.0).flat_map(|block| block.rows());
        let worse = |worst: f64, error: f64| if error <= worst { worst } else { error };
        let largest = counted.map(of_row).fold(0.0, worse);
        if largest.is_nan() { f64::INFINITY } else { largest }
    }
}
