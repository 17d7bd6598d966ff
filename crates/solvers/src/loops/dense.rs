//! Dense solution of the loop equations: a reference, and a fallback for small ill-conditioned problems.
//!
//! **What.** `A = Â + D` is assembled column by column through the responder and made symmetric. If it is safely
//! positive definite it is solved by LLᵀ, otherwise by the pseudo-inverse from the eigenvalues of `S A S`. For
//! contradictory rows the pseudo-inverse with `S = √w` gives the least squares of `Σ w r²`. A compliant row can always
//! be met, so its scale is free, and `S` removes its compliance: `S = √(w Â/(Â + D))`.
//!
//! **Cost.** One response per row, `n²` numbers, `n³/3` (LLᵀ) or about `10 n³` flops; allocates. The factorizations are
//! those of faer, whose kernels depend on the machine: bits may differ between processors.
//!
//! **Failure.** Numbers that are not finite give [`LoopStop::Breakdown`].

use super::settings::{LOOP_DRIFT, LoopStop};
use super::table::RowTable;
use super::{krylov::Krylov, operator::Equations};
use crate::vector::largest;
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};

/// A pivot of LLᵀ below this fraction of its diagonal entry means that rows are dependent.
const DEPENDENT: f64 = 1e-11;

/// Eigenvalues below this fraction of the largest, and of the value for free bodies, count as zero.
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
    if !a.col_iter().all(|column| column.iter().all(|entry| entry.is_finite())) {
        return LoopStop::Breakdown;
    }
    let n = lambda.len();
    // Rows that the tree holds already leave only noise, which shows only relative to the values for free bodies.
    let mut free = Vec::new();
    operator.fill_free_diagonal(&mut free);
    let mut stop = LoopStop::Converged;
    let factor = Llt::new(a.as_ref(), Side::Lower).ok().filter(|factor| {
        let pivot = |i: usize| factor.L()[(i, i)] * factor.L()[(i, i)];
        (0..n).all(|i| pivot(i) > DEPENDENT * a[(i, i)] && pivot(i) > ZERO * free[i])
    });
    let pseudo = if factor.is_some() { None } else { PseudoInverse::new(operator.rows(), &a, &free) };
    // A second pass removes what rounding left.
    for _ in 0..2 {
        let r = krylov.residual_mut();
        let r = Mat::from_fn(n, 1, |i, _| r[i]);
        let step = match (&factor, &pseudo) {
            (Some(factor), _) => factor.solve(&r),
            (None, Some(pseudo)) => pseudo.solve(&r),
            (None, None) => return LoopStop::Breakdown,
        };
        lambda.iter_mut().enumerate().for_each(|(i, l)| *l += step[(i, 0)]);
        let residual = operator.residual(rhs, lambda, krylov.residual_mut());
        let missed = residual > LOOP_DRIFT * krylov.settings.precision;
        stop = if missed && pseudo.is_some() { LoopStop::LeastSquares } else { LoopStop::Converged };
    }
    krylov.iterations += 1;
    stop
}

/// `A`, symmetric, with ones on the diagonal of rows that are switched off.
fn assemble<'e>(operator: &mut impl Equations<'e>) -> Mat<f64> {
    let n = operator.rows().len();
    let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
    let mut a = Mat::zeros(n, n);
    let rows = operator.rows();
    for block in &rows.blocks {
        for j in block.rows() {
            if block.weight > 0.0 {
                unit[j] = 1.0;
                operator.apply(&unit, &mut column);
                unit[j] = 0.0;
                (0..n).for_each(|i| a[(i, j)] = column[i]);
            } else {
                a[(j, j)] = 1.0;
            }
        }
    }
    Mat::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
}

/// `S (S A S)⁺ S`.
struct PseudoInverse {
    scale: Vec<f64>,
    vectors: Mat<f64>,
    inverse: Vec<f64>,
}

impl PseudoInverse {
    fn new(rows: &RowTable, a: &Mat<f64>, free: &[f64]) -> Option<Self> {
        let n = a.nrows();
        let mut scale = vec![1.0; n];
        for block in &rows.blocks {
            for i in block.rows() {
                let (entry, compliance) = (a[(i, i)], rows.compliance[i]);
                let rigid = if compliance > 0.0 { (entry - compliance).max(0.0) / entry } else { 1.0 };
                // A compliant row that moves nothing is scaled by its own entry.
                let rigid = if rigid > 0.0 { rigid } else { 1.0 / entry };
                scale[i] = (block.weight * rigid).sqrt();
            }
        }
        let scaled = Mat::from_fn(n, n, |i, j| scale[i] * a[(i, j)] * scale[j]);
        let eigen = scaled.self_adjoint_eigen(Side::Lower).ok()?;
        let values: Vec<f64> = (0..n).map(|i| eigen.S()[i]).collect();
        let at_free = scale.iter().zip(free).map(|(s, d)| s * s * d).fold(0.0, f64::max);
        let threshold = ZERO * largest(&values).max(at_free);
        let inverse = values.iter().map(|&v| if v > threshold { 1.0 / v } else { 0.0 }).collect();
        Some(Self { scale, vectors: eigen.U().to_owned(), inverse })
    }

    fn solve(&self, r: &Mat<f64>) -> Mat<f64> {
        let n = self.scale.len();
        let scaled = Mat::from_fn(n, 1, |i, _| self.scale[i] * r[(i, 0)]);
        let along = self.vectors.transpose() * &scaled;
        let along = Mat::from_fn(n, 1, |i, _| self.inverse[i] * along[(i, 0)]);
        let back = &self.vectors * &along;
        Mat::from_fn(n, 1, |i, _| self.scale[i] * back[(i, 0)])
    }
}
