//! Direct solution of the loop equations for few rows, with the rank decided by scale.
//!
//! **What.** `A = Â + D` is assembled column by column through the responder. Rows that depend on each other where the
//! joints are met become weakly independent when the joints are slightly open; resolving them would lock the mechanism
//! (docs/maths/loops.md). So the proximal equations are solved, and repeated on the residual:
//! ```text
//! λ₀ = 0,   (A + ε P/w) δ = b̂ − A λ,   λ += δ          at most 4 times
//! ```
//! `P` is diagonal: the mean diagonal entry of `Â` over the translation rows of the joint, and over its rotation rows;
//! `w` is the weight of the joint. A direction whose `A` is below `ε P` stays out, any other converges by `ε P/A` per
//! repeat. Joints that are open by a share `δ` of their bodies' size give dependent rows eigenvalues of order `δ²`, so
//! `ε = 10⁶ δ²`, between 1e-10 and 1e-4 ([`LoopSettings::openness`]). Light and heavy bodies may then meet in one joint as
//! long as joints are closed.
//!
//! **Rank.** By LDLᵀ with diagonal pivoting. Rows whose pivot falls below [`ZERO`] of their diagonal entry move
//! nothing that other rows do not move; their `λ` is 0.
//!
//! **Cost.** One response per row, `n³/3` flops; no allocation once warm. The same bits on every machine.
//!
//! **Failure.** Numbers that are not finite give [`LoopStop::Breakdown`].

use super::operator::Operator;
use super::settings::{LOOP_DRIFT, LoopSettings, LoopStop};
use crate::vector::largest;

/// `ε/δ²`.
const SHARE: f64 = 1e6;

/// Bounds of `ε`.
const LEAST: f64 = 1e-10;
const MOST: f64 = 1e-4;

/// Repeats on the residual.
const REPEATS: usize = 4;

/// A pivot below this fraction of its diagonal entry is rounding.
const ZERO: f64 = 1e-11;

/// Scratch of the direct method.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectScratch {
    /// `A`, row by row.
    matrix: Vec<f64>,
    /// `A + ε P/w`, then its factor, in the order of the pivots.
    factor: Vec<f64>,
    /// Row of each pivot.
    order: Vec<u32>,
    diagonal: Vec<f64>,
    residual: Vec<f64>,
    step: Vec<f64>,
    /// One row or column at a time.
    column: Vec<f64>,
}

/// Solves `(Â + D) λ = rhs` from zero; returns how it ended and the largest residual.
pub(crate) fn solve(
    operator: &mut Operator<'_>,
    settings: &LoopSettings,
    scratch: &mut DirectScratch,
    rhs: &[f64],
    lambda: &mut [f64],
) -> (LoopStop, f64) {
    let n = lambda.len();
    scratch.resize(n);
    scratch.assemble(operator, (SHARE * settings.openness * settings.openness).clamp(LEAST, MOST));
    let rank = scratch.decompose(n);
    lambda.fill(0.0);
    scratch.residual.copy_from_slice(rhs);
    operator.switch_off(&mut scratch.residual);
    let mut residual = largest(&scratch.residual);
    for _ in 0..REPEATS {
        if residual < settings.precision || !residual.is_finite() {
            break;
        }
        scratch.advance(rank, lambda);
        scratch.subtract(rhs, lambda);
        operator.switch_off(&mut scratch.residual);
        residual = largest(&scratch.residual);
    }
    let stop = match residual {
        _ if !residual.is_finite() || !largest(lambda).is_finite() => {
            lambda.fill(0.0);
            LoopStop::Breakdown
        }
        _ if residual <= LOOP_DRIFT * settings.precision => LoopStop::Converged,
        _ => LoopStop::LeastSquares,
    };
    (stop, residual)
}

impl DirectScratch {
    /// Room for a residual.
    pub(crate) fn residual(&mut self, n: usize) -> &mut [f64] {
        self.residual.resize(n, 0.0);
        &mut self.residual
    }

    fn resize(&mut self, n: usize) {
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        self.factor.clear();
        self.factor.resize(n * n, 0.0);
        self.order.clear();
        self.order.extend(0..n as u32);
        for vector in [&mut self.diagonal, &mut self.residual, &mut self.step, &mut self.column] {
            vector.clear();
            vector.resize(n, 0.0);
        }
    }

    /// `A` and `A + ε P/w`, with ones on the diagonal of rows that are switched off.
    fn assemble(&mut self, operator: &mut Operator<'_>, epsilon: f64) {
        let Self { matrix, factor, column, .. } = self;
        let rows = operator.rows;
        let n = rows.len();
        for block in rows.blocks() {
            if block.weight <= 0.0 {
                for row in block.rows() {
                    factor[row * n + row] = 1.0;
                }
                continue;
            }
            for row in block.rows() {
                operator.respond_to_row(block, row, column);
                matrix[row * n..][..n].copy_from_slice(column);
            }
            let share = epsilon / block.weight;
            for is_turn in [false, true] {
                let own = block.rows().filter(|&row| rows.is_turn(block, row) == is_turn);
                let sum: f64 = own.clone().map(|row| matrix[row * n + row]).sum();
                let mean = sum / own.clone().count().max(1) as f64;
                own.for_each(|row| factor[row * n + row] = share * mean);
            }
            for row in block.rows() {
                matrix[row * n + row] += rows.compliance()[row];
            }
        }
        // Symmetric to rounding; made so exactly.
        for i in 0..n {
            for j in 0..=i {
                let mean = 0.5 * (matrix[i * n + j] + matrix[j * n + i]);
                let own = 0.5 * (factor[i * n + j] + factor[j * n + i]);
                (matrix[i * n + j], matrix[j * n + i]) = (mean, mean);
                (factor[i * n + j], factor[j * n + i]) = (mean + own, mean + own);
            }
        }
    }

    /// LDLᵀ of `factor` with diagonal pivoting; returns the number of pivots.
    fn decompose(&mut self, n: usize) -> usize {
        let Self { factor, order, diagonal, .. } = self;
        (0..n).for_each(|i| diagonal[i] = factor[i * n + i]);
        for k in 0..n {
            // The largest pivot relative to what the row began with: rows have different units.
            let share = |i: usize| factor[i * n + i] / diagonal[i];
            let mut best = k;
            for i in k + 1..n {
                if share(i) > share(best) || share(best).is_nan() {
                    best = i;
                }
            }
            if !(share(best) > ZERO) {
                return k;
            }
            swap(factor, n, k, best);
            order.swap(k, best);
            diagonal.swap(k, best);
            let pivot = 1.0 / factor[k * n + k];
            for i in k + 1..n {
                let l = factor[i * n + k] * pivot;
                if l != 0.0 {
                    for j in k + 1..=i {
                        factor[i * n + j] -= l * factor[j * n + k];
                    }
                }
            }
            for i in k + 1..n {
                factor[i * n + k] *= pivot;
            }
        }
        n
    }

    /// `λ += (A + ε P/w)⁻¹ r`.
    fn advance(&mut self, rank: usize, lambda: &mut [f64]) {
        let Self { factor, order, residual, step, .. } = self;
        let n = order.len();
        for i in 0..rank {
            let known: f64 = (0..i).map(|j| factor[i * n + j] * step[j]).sum();
            step[i] = residual[order[i] as usize] - known;
        }
        for i in 0..rank {
            step[i] /= factor[i * n + i];
        }
        for i in (0..rank).rev() {
            let known: f64 = (i + 1..rank).map(|j| factor[j * n + i] * step[j]).sum();
            step[i] -= known;
            lambda[order[i] as usize] += step[i];
        }
    }

    /// `r = b − A λ`.
    fn subtract(&mut self, rhs: &[f64], lambda: &[f64]) {
        let n = lambda.len();
        for ((r, b), row) in self.residual.iter_mut().zip(rhs).zip(self.matrix.chunks_exact(n)) {
            *r = b - sinew_math::dot(row, lambda);
        }
    }
}

/// Exchanges rows and columns `a ≤ b` of a symmetric matrix of which the lower half counts.
fn swap(matrix: &mut [f64], n: usize, a: usize, b: usize) {
    if a == b {
        return;
    }
    (0..a).for_each(|j| matrix.swap(a * n + j, b * n + j));
    (a + 1..b).for_each(|i| matrix.swap(i * n + a, b * n + i));
    (b + 1..n).for_each(|i| matrix.swap(i * n + a, i * n + b));
    matrix.swap(a * n + a, b * n + b);
}
