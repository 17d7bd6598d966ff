//! Direct solution of the loop equations for few rows, with the rank decided by scale.
//!
//! **What.** `A = Â + D` is assembled column by column through the responder. Rows that depend on each other where the
//! joints are met become weakly independent when the joints are slightly open; resolving them would lock the mechanism
//! (docs/maths/loops.md). So the proximal equations are solved, and repeated on the residual:
//! ```text
//! λ += E A E (b̂ − A λ),   E = (A + ε P/w)⁻¹          at most 6 times
//! ```
//! A direction with the eigenvalue `σ` of `A` in terms of `P` gets the factor `σ/(σ + ε)²`: `1/σ` where the rows tell what
//! moves, nothing where they are dependent or contradict each other.
//! `P` is diagonal: that of `J M⁻¹Jᵀ` for free bodies, times the share of it that the tree leaves to the joint (the larger
//! one of its translation and rotation rows); `w` is the weight of the joint. A direction whose `A` is below `ε P` stays out, any other converges by `ε P/A` per
//! repeat. A joint whose rows do not depend on each other, however far joints are open ([`LoopRows::mark_whole`](crate::LoopRows::mark_whole)), has its block of
//! `J M⁻¹Jᵀ` in `P`: of a body that is nearly a point, the diagonal tells nothing of what the rows leave each other. Joints that are open by a share `δ` of their bodies' size give dependent rows eigenvalues of order `δ²`, so
//! `ε = 10⁶ δ²` (10⁴ δ² on a graph, and only where rows contradict each other), between 1e-10 and 1e-4 ([`LoopSettings::openness`]). Light and heavy bodies may then meet in one joint as
//! long as joints are closed.
//!
//! **Rank.** By LDLᵀ with diagonal pivoting. Rows whose pivot falls below [`ZERO`] of their diagonal entry, or of that for free bodies, move
//! nothing that other rows do not move; their `λ` is 0.
//!
//! **Cost.** One response per row, `n³/3` flops; no allocation once warm. The same bits on every machine.
//!
//! **Failure.** Numbers that are not finite give [`LoopStop::Breakdown`].

use super::graph::LoopGraph;
use super::operator::Equations;
use super::settings::{LOOP_DRIFT, LoopSettings, LoopStop};
use super::table::LoopBlock;
use crate::vector::largest;

/// `ε/δ²` for few rows, and on a graph, where long chains of joints have weak directions of their own.
const SHARE: f64 = 1e6;
const GRAPH_SHARE: f64 = 1e4;

/// Bounds of `ε`.
const LEAST: f64 = 1e-10;
const MOST: f64 = 1e-4;

/// Share that the tree leaves to a joint, by `δ²`, up to which it leaves nothing: the joint is in the tree already, and stays out.
const HELD: f64 = 10.0;
const MOST_HELD: f64 = 1e-4;

/// Share of what a joint asks for that the tree leaves open where it holds it.
const CLOSED: f64 = 0.5;

/// Repeats on the residual; more of them on a graph, where the factor takes most of the time.
const REPEATS: usize = 6;
const GRAPH_REPEATS: usize = 12;

/// A repeat that leaves more than this share of the residual has left what no repeat will remove.
const STALLED: f64 = 0.9;

/// Share of the residual that rows hold back by the proximal term where none of them depend on each other.
pub(super) const NOTHING: f64 = 1e-6;

/// A pivot below this fraction of its diagonal entry is rounding.
const ZERO: f64 = 1e-11;

/// Share of a right-hand side that is rounding.
const ROUNDING: f64 = 1e-14;

/// A pivot below this many `ε` is mostly that of the proximal term: its row depends on those before it.
const DEPENDENT: f64 = 10.0;

/// Scratch of the direct method.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectScratch {
    /// `A`, row by row.
    matrix: Vec<f64>,
    /// `A + ε P/w`, then its factor, in the order of the pivots.
    factor: Vec<f64>,
    /// Row of each pivot.
    order: Vec<u32>,
    /// Diagonal for free bodies, then what pivots are compared with.
    free: Vec<f64>,
    residual: Vec<f64>,
    step: Vec<f64>,
    /// Number of pivots; `None` if there is no factor of the last rows.
    rank: Option<usize>,
    /// First row that depends on others.
    pub(crate) dependent: Option<u32>,
    /// One row or column at a time.
    column: Vec<f64>,
}

/// Solves `(Â + D) λ = rhs` from the multipliers given; returns how it ended and the largest residual.
pub(super) fn solve<'e>(
    operator: &mut impl Equations<'e>,
    settings: &LoopSettings,
    scratch: &mut DirectScratch,
    rhs: &[f64],
    lambda: &mut [f64],
) -> (LoopStop, f64) {
    let n = lambda.len();
    scratch.resize(n);
    operator.fill_free_diagonal(&mut scratch.free);
    scratch.assemble(operator, settings, rhs, lambda);
    let rank = scratch.decompose(n);
    scratch.rank = Some(rank);
    scratch.dependent = scratch.find_dependent(rank, DEPENDENT * epsilon(settings, SHARE));
    scratch.subtract(rhs, lambda);
    operator.rows().switch_off(&mut scratch.residual);
    let mut residual = largest(&scratch.residual);
    for _ in 0..REPEATS {
        if residual < settings.precision || !residual.is_finite() {
            break;
        }
        scratch.advance(rank, lambda);
        scratch.subtract(rhs, lambda);
        operator.rows().switch_off(&mut scratch.residual);
        residual = largest(&scratch.residual);
    }
    let (stop, residual) = judge(residual, settings, lambda);
    if stop == LoopStop::Breakdown {
        scratch.rank = None;
    }
    (stop, residual)
}

/// [`solve`] on a graph: `E` is its factor, and `A E = 1 − ε P E`.
pub(super) fn solve_graph<'e>(
    (operator, graph): (&mut impl Equations<'e>, &mut LoopGraph),
    settings: &LoopSettings,
    scratch: &mut DirectScratch,
    rhs: &[f64],
    lambda: &mut [f64],
) -> (LoopStop, f64) {
    let n = lambda.len();
    let DirectScratch { free: proximal, residual: r, step, column, .. } = scratch;
    for vector in [&mut *r, step, column] {
        vector.clear();
        vector.resize(n, 0.0);
    }
    operator.fill_free_diagonal(proximal);
    for block in &operator.rows().blocks {
        proximal[block.rows()].iter_mut().for_each(|p| *p *= LEAST / block.weight.max(f64::MIN_POSITIVE));
    }
    graph.factor(proximal);
    // Rows that agree need no more than that, however far joints are open.
    let mut wider = Some(epsilon(settings, GRAPH_SHARE) / LEAST).filter(|&wider| wider > 1.0);
    let mut residual = operator.residual(rhs, lambda, r);
    for _ in 0..GRAPH_REPEATS {
        if residual < settings.precision || !residual.is_finite() {
            break;
        }
        let mut hold = |graph: &mut LoopGraph, proximal: &[f64]| {
            step.copy_from_slice(r);
            graph.solve(step);
            column.iter_mut().zip(&*step).zip(proximal).for_each(|((c, y), p)| *c = p * y);
            largest(column)
        };
        let mut held = hold(graph, proximal);
        if let Some(wider) = wider.take().filter(|_| held > NOTHING * residual) {
            proximal.iter_mut().for_each(|p| *p *= wider);
            graph.factor(proximal);
            held = hold(graph, proximal);
        }
        lambda.iter_mut().zip(&*step).for_each(|(l, y)| *l += y);
        // `E (1 − ε P E) r`: the second term tells dependent directions apart, and is nothing where there are none.
        if held > NOTHING * residual {
            graph.solve(column);
            lambda.iter_mut().zip(&*column).for_each(|(l, z)| *l -= z);
        }
        operator.rows().switch_off(lambda);
        let before = residual;
        residual = operator.residual(rhs, lambda, r);
        if residual > STALLED * before {
            break;
        }
    }
    judge(residual, settings, lambda)
}

/// `ε`, by how far joints are open.
fn epsilon(settings: &LoopSettings, share: f64) -> f64 {
    (share * settings.openness * settings.openness).clamp(LEAST, MOST)
}

/// How a solve with a residual has ended; multipliers that are not finite are dropped.
fn judge(residual: f64, settings: &LoopSettings, lambda: &mut [f64]) -> (LoopStop, f64) {
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
    /// Forgets the factor.
    pub(crate) fn forget(&mut self) {
        (self.rank, self.dependent) = (None, None);
    }

    /// Whether there is a factor of the last rows.
    pub(crate) fn is_factored(&self) -> bool {
        self.rank.is_some()
    }

    /// `λ` of the factored equations for another right-hand side; rows that are switched off must be zero there. A symmetric, linear map
    /// but for rounding.
    pub(crate) fn solve_again(&mut self, rhs: &[f64], lambda: &mut [f64]) {
        lambda.fill(0.0);
        let Some(rank) = self.rank else { return };
        self.residual.copy_from_slice(rhs);
        let rounding = ROUNDING * largest(rhs);
        for _ in 0..REPEATS {
            if largest(&self.residual) <= rounding {
                return;
            }
            self.advance(rank, lambda);
            self.subtract(rhs, lambda);
        }
    }

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
        for vector in [&mut self.residual, &mut self.step, &mut self.column] {
            vector.clear();
            vector.resize(n, 0.0);
        }
    }

    /// `A` and `A + ε P/w`, with ones on the diagonal of rows that are switched off. Joints that the tree holds already get no multipliers: they would
    /// resolve by how far they are open, and push against the tree.
    fn assemble<'e>(
        &mut self,
        operator: &mut impl Equations<'e>,
        settings: &LoopSettings,
        rhs: &[f64],
        lambda: &mut [f64],
    ) {
        let Self { matrix, factor, free, column, .. } = self;
        let rows = operator.rows();
        let n = rows.len();
        let held = (HELD * settings.openness * settings.openness).min(MOST_HELD);
        for block in &rows.blocks {
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
            let left = [false, true].map(|is_turn| {
                let own = block.rows().filter(|&row| operator.is_turn(block, row) == is_turn);
                let sum = own.fold([0.0; 2], |[a, b], row| [a + matrix[row * n + row], b + free[row]]);
                if sum[1] > 0.0 { sum[0] / sum[1] } else { 0.0 }
            });
            let left = left[0].max(left[1]);
            let mut share = left * epsilon(settings, SHARE) / block.weight;
            let is_rigid = block.rows().all(|row| rows.compliance[row] == 0.0);
            // A stiff motor leaves as little to a light body, but does not close the joint.
            let is_closed = || largest(&rhs[block.rows()]) <= CLOSED * largest(&rows.rhs[block.rows()]);
            if left <= held && is_rigid && is_closed() {
                lambda[block.rows()].fill(0.0);
                share = 1.0;
            }
            if block.is_whole && share < 1.0 {
                hold_back_whole(operator, block, share, factor);
            } else {
                block.rows().for_each(|row| factor[row * n + row] = share * free[row]);
            }
            for row in block.rows() {
                matrix[row * n + row] += rows.compliance[row];
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
        let Self { factor, order, free, .. } = self;
        // Rows that the tree holds already leave only noise, which shows only relative to the values for free bodies.
        (0..n).for_each(|i| free[i] = factor[i * n + i].max(free[i]));
        for k in 0..n {
            // The largest pivot relative to its reference: rows have different units.
            let share = |i: usize| factor[i * n + i] / free[i];
            let mut best = k;
            for i in k + 1..n {
                if share(i) > share(best) || share(best).is_nan() {
                    best = i;
                }
            }
            let is_pivot = share(best) > ZERO;
            if !is_pivot {
                return k;
            }
            swap(factor, n, k, best);
            order.swap(k, best);
            free.swap(k, best);
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

    /// The first row without a pivot of its own; pivots up to a share of the entries for free bodies do not count.
    fn find_dependent(&self, rank: usize, share: f64) -> Option<u32> {
        let n = self.order.len();
        let is_weak = |&k: &usize| k >= rank || self.factor[k * n + k] <= share * self.free[k];
        (0..n).filter(is_weak).map(|k| self.order[k]).min()
    }

    /// `λ += E A E r`.
    fn advance(&mut self, rank: usize, lambda: &mut [f64]) {
        let n = lambda.len();
        let Self { matrix, factor, order, residual, step, column, .. } = self;
        solve_factored(factor, order, rank, residual, step, column);
        for (out, row) in residual.iter_mut().zip(matrix.chunks_exact(n)) {
            *out = sinew_math::dot(row, column);
        }
        solve_factored(factor, order, rank, residual, step, column);
        lambda.iter_mut().zip(&*column).for_each(|(l, d)| *l += d);
    }

    /// `r = b − A λ`.
    fn subtract(&mut self, rhs: &[f64], lambda: &[f64]) {
        let n = lambda.len();
        for ((r, b), row) in self.residual.iter_mut().zip(rhs).zip(self.matrix.chunks_exact(n)) {
            *r = b - sinew_math::dot(row, lambda);
        }
    }
}

/// `ε P` of a joint whose rows do not depend on each other: its block of `J M⁻¹Jᵀ`.
fn hold_back_whole<'e>(operator: &impl Equations<'e>, block: &LoopBlock, share: f64, factor: &mut [f64]) {
    let (rows, (whole, _)) = (operator.rows(), operator.free_block(block));
    let n = rows.len();
    for (i, row) in block.rows().enumerate() {
        for (j, column) in block.rows().enumerate() {
            let soft = if i == j { rows.compliance[row] } else { 0.0 };
            factor[row * n + column] = share * (whole.entry(i, j) - soft);
        }
    }
}

/// `x = E b` by the factor; rows without a pivot get 0.
fn solve_factored(factor: &[f64], order: &[u32], rank: usize, b: &[f64], step: &mut [f64], x: &mut [f64]) {
    let n = order.len();
    for i in 0..rank {
        step[i] = b[order[i] as usize] - sinew_math::dot(&factor[i * n..][..i], &step[..i]);
    }
    x.fill(0.0);
    for i in (0..rank).rev() {
        let known: f64 = (i + 1..rank).map(|j| factor[j * n + i] * x[order[j] as usize]).sum();
        x[order[i] as usize] = step[i] / factor[i * n + i] - known;
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
