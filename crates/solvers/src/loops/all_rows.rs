//! The rows of all joints solved at once, on free bodies, where no tree has been solved before.
//!
//! **What.** With the momenta `p` and masses `M` of bodies on their own, and `J`, `D`, `b` the rows of tree joints and loops alike:
//! ```text
//! v = W (p + Jᵀλ),   J v + D λ = b,   W = M⁻¹     →     (J W Jᵀ + D) λ = b − J W p
//! ```
//! by the factor of [`LoopGraph`], repeated on the residual. Only the rows of the loops can depend on others; they alone have a proximal
//! term, and where it holds anything back the rows are left to the iteration on the tree.
//!
//! **Cost.** One factor, and a solve and two passes over the rows per repeat; no allocation once warm.
//!
//! **Failure.** `None`: rows depend on each other, the residual does not fall, or numbers are not finite.

use super::direct::NOTHING;
use super::graph::LoopGraph;
use super::ingredients::apply;
use super::settings::LOOP_DRIFT;
use crate::vector::largest;
use sinew_math::{Force, Motion};

/// `ε`: small enough to be nothing for rows that tell what moves, and far above rounding.
const EPSILON: f64 = 1e-12;

/// Repeats on the residual; the first is the solve itself.
const REPEATS: usize = 4;

/// Share of the residual that a repeat may leave.
const GAIN: f64 = 0.5;

/// Multipliers and scratch of the rows of all joints.
#[derive(Clone, Debug, Default)]
pub struct AllRows {
    /// Of the last solve, one per row.
    pub lambda: Vec<f64>,
    residual: Vec<f64>,
    change: Vec<f64>,
    impulses: Vec<Force>,
}

impl AllRows {
    /// Solves the rows of all joints for the twists of the bodies; the first blocks are the loops. Returns the largest residual.
    pub fn solve(
        &mut self,
        graph: &mut LoopGraph,
        n_loops: usize,
        precision: f64,
        motions: &mut [Motion],
    ) -> Option<f64> {
        let n_loop_rows = graph.n_loop_rows(n_loops) as usize;
        graph.factor_with(|row, free| if row < n_loop_rows { EPSILON * free } else { 0.0 });
        let Self { lambda, residual, change, .. } = self;
        lambda.clear();
        lambda.resize(graph.rows.len(), 0.0);
        residual.resize(lambda.len(), 0.0);
        change.resize(lambda.len(), 0.0);
        self.impulses.clone_from(&graph.momenta);
        let mut before = self.measure(graph, motions);
        for repeat in 0..REPEATS {
            self.change.copy_from_slice(&self.residual);
            graph.solve(&mut self.change);
            if repeat == 0 && graph.held(&self.change[..n_loop_rows]) > NOTHING * before {
                return None;
            }
            self.lambda.iter_mut().zip(&self.change).for_each(|(l, x)| *l += x);
            graph.rows.scatter(&self.change, &mut self.impulses);
            let left = self.measure(graph, motions);
            if left <= precision {
                return Some(left);
            }
            // Not a number is no gain.
            let has_gained = left <= GAIN * before;
            if !has_gained {
                return (left <= LOOP_DRIFT * precision).then_some(left);
            }
            before = left;
        }
        (before <= LOOP_DRIFT * precision).then_some(before)
    }

    /// `v = W (p + Jᵀλ)` by the impulses `p + Jᵀλ`, and the largest entry of `b − J v − D λ`.
    fn measure(&mut self, graph: &LoopGraph, motions: &mut [Motion]) -> f64 {
        let Self { lambda, residual, impulses, .. } = self;
        for ((motion, mass), &impulse) in motions.iter_mut().zip(&graph.inverse_masses).zip(&*impulses) {
            *motion = apply(mass, impulse);
        }
        graph.rows.gather(motions, residual);
        let known = graph.rows.rhs().iter().zip(graph.rows.compliance()).zip(&*lambda);
        residual.iter_mut().zip(known).for_each(|(r, ((b, d), l))| *r = b - *r - d * l);
        graph.rows.switch_off(residual);
        largest(residual)
    }
}
