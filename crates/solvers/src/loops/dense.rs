//! Dense solution of the loop equations: a reference, and a fallback for small ill-conditioned problems.
//!
//! **What.** `A = Â + D` is assembled column by column through the responder and made symmetric. If it is safely
//! positive definite it is solved by LLᵀ, otherwise by a pseudo-inverse of `S A S`. For
//! contradictory rows the pseudo-inverse with `S = √w` gives the least squares of `Σ w r²`. A compliant row can always
//! be met, so its scale is free, and `S` removes its compliance: `S = √(w Â/(Â + D))`. With `r` pivots, the largest first,
//! ```text
//! S A S = G Gᵀ   (G is n × r, of full rank)      (S A S)⁺ = G (GᵀG)⁻¹ (GᵀG)⁻¹ Gᵀ
//! ```
//!
//! **Cost.** One response per row, `n²` numbers, `n³/3` (LLᵀ) or about `2 n r²` multiply-adds; allocates.
//!
//! **Failure.** Numbers that are not finite give [`LoopStop::Breakdown`].

use sinew_math::{add_scaled, dot};

use super::settings::{LOOP_DRIFT, LoopStop};
use super::table::RowTable;
use super::{krylov::Krylov, operator::Equations};
use crate::cholesky::{cholesky, solve_cholesky};
use crate::vector::largest;

/// A pivot of LLᵀ below this fraction of its diagonal entry means that rows are dependent.
const DEPENDENT: f64 = 1e-11;

/// Pivots below this fraction of the largest, and of the value for free bodies, count as zero.
const ZERO: f64 = 1e-12;

/// Solves for the present residual and adds the solution to `lambda`; counts as one iteration.
pub(super) fn solve<'e>(
    krylov: &mut Krylov<'_>,
    operator: &mut impl Equations<'e>,
    rhs: &[f64],
    lambda: &mut [f64],
) -> LoopStop {
    let residual = largest(krylov.residual_mut());
    if let Some(stop) = krylov.halt(residual) {
        return stop;
    }
    let a = assemble(operator);
    if !a.iter().all(|entry| entry.is_finite()) {
        return LoopStop::Breakdown;
    }
    let n = lambda.len();
    // Rows that the tree holds already leave only noise, which shows only relative to the values for free bodies.
    let mut free = Vec::new();
    operator.fill_free_diagonal(&mut free);
    let mut factor = a.clone();
    cholesky(&mut factor, n, DEPENDENT);
    let pivot = |i: usize| factor[i * n + i] * factor[i * n + i];
    let is_definite = (0..n).all(|i| pivot(i) > ZERO * free[i]);
    let pseudo = (!is_definite).then(|| PseudoInverse::new(operator.rows(), a, &free));
    let mut stop = LoopStop::Converged;
    // A second pass removes what rounding left.
    for _ in 0..2 {
        let mut step = krylov.residual_mut().to_vec();
        match &pseudo {
            Some(pseudo) => step = pseudo.solve(&step),
            None => solve_cholesky(&factor, &mut step),
        }
        add_scaled(lambda, 1.0, &step);
        let residual = operator.residual(rhs, lambda, krylov.residual_mut());
        let missed = residual > LOOP_DRIFT * krylov.settings.precision;
        stop = if missed && pseudo.is_some() { LoopStop::LeastSquares } else { LoopStop::Converged };
    }
    krylov.iterations += 1;
    stop
}

/// `A` by columns, symmetric, with ones on the diagonal of rows that are switched off.
fn assemble<'e>(operator: &mut impl Equations<'e>) -> Vec<f64> {
    let n = operator.rows().len();
    let mut unit = vec![0.0; n];
    let mut a = vec![0.0; n * n];
    let rows = operator.rows();
    for block in &rows.blocks {
        for j in block.rows() {
            let column = &mut a[j * n..(j + 1) * n];
            if block.weight > 0.0 {
                unit[j] = 1.0;
                operator.apply(&unit, column);
                unit[j] = 0.0;
            } else {
                column[j] = 1.0;
            }
        }
    }
    for j in 0..n {
        for i in j + 1..n {
            let mean = 0.5 * (a[j * n + i] + a[i * n + j]);
            (a[j * n + i], a[i * n + j]) = (mean, mean);
        }
    }
    a
}

/// `S (S A S)⁺ S`.
struct PseudoInverse {
    scale: Vec<f64>,
    /// `G`, by columns.
    root: Vec<f64>,
    /// The Cholesky factor of `GᵀG`.
    gram: Vec<f64>,
}

impl PseudoInverse {
    fn new(rows: &RowTable, mut a: Vec<f64>, free: &[f64]) -> Self {
        let n = free.len();
        let scale = scale_of(rows, &a, n);
        for (column, s) in a.chunks_exact_mut(n).zip(&scale) {
            column.iter_mut().zip(&scale).for_each(|(entry, own)| *entry *= own * s);
        }
        let at_free = scale.iter().zip(free).map(|(s, d)| s * s * d).fold(0.0, f64::max);
        let root = pivoted_root(&a, n, ZERO * at_free);
        let columns = || root.chunks_exact(n);
        let mut gram: Vec<f64> =
            columns().flat_map(|one| columns().map(move |other| dot(one, other))).collect();
        cholesky(&mut gram, columns().len(), 0.0);
        Self { scale, root, gram }
    }

    fn solve(&self, r: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = self.scale.iter().zip(r).map(|(s, r)| s * r).collect();
        let columns = self.root.chunks_exact(r.len());
        let mut along: Vec<f64> = columns.clone().map(|column| dot(column, &scaled)).collect();
        solve_cholesky(&self.gram, &mut along);
        solve_cholesky(&self.gram, &mut along);
        let mut back = vec![0.0; r.len()];
        columns.zip(&along).for_each(|(column, &value)| add_scaled(&mut back, value, column));
        back.iter_mut().zip(&self.scale).for_each(|(value, s)| *value *= s);
        back
    }
}

/// `S`.
fn scale_of(rows: &RowTable, a: &[f64], n: usize) -> Vec<f64> {
    let mut scale = vec![1.0; n];
    for block in &rows.blocks {
        for i in block.rows() {
            let (entry, compliance) = (a[i * n + i], rows.compliance[i]);
            let rigid = if compliance > 0.0 { (entry - compliance).max(0.0) / entry } else { 1.0 };
            // A compliant row that moves nothing is scaled by its own entry.
            let rigid = if rigid > 0.0 { rigid } else { 1.0 / entry };
            scale[i] = (block.weight * rigid).sqrt();
        }
    }
    scale
}

/// `G` with `a = G Gᵀ` but for pivots at or below `least` or [`ZERO`] times the first, by columns: the largest pivot first.
fn pivoted_root(a: &[f64], n: usize, least: f64) -> Vec<f64> {
    let mut rest: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    let mut root: Vec<f64> = Vec::new();
    let mut threshold = least;
    while root.len() < n * n {
        let (pivot, largest) =
            rest.iter().copied().enumerate().fold((0, f64::NEG_INFINITY), |best, (i, value)| {
                if value > best.1 { (i, value) } else { best }
            });
        threshold = threshold.max(ZERO * largest);
        if largest <= threshold {
            break;
        }
        let mut column = a[pivot * n..(pivot + 1) * n].to_vec();
        root.chunks_exact(n).for_each(|before| add_scaled(&mut column, -before[pivot], before));
        let inverse = 1.0 / largest.sqrt();
        column.iter_mut().for_each(|entry| *entry *= inverse);
        rest.iter_mut().zip(&column).for_each(|(rest, entry)| *rest -= entry * entry);
        rest[pivot] = f64::NEG_INFINITY;
        root.extend(column);
    }
    root
}
