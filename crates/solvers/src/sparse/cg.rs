//! Preconditioned conjugate gradients for a symmetric positive definite system that is given by its products.
//!
//! ```text
//! z = C r,  ρ = r·z,  p = z + (ρ/ρ_old) p,  w = A p,  α = ρ/(p·w),  x += αp,  r −= αw
//! ```
//! (Hestenes & Stiefel 1952; Golub & Van Loan, alg. 11.5.1), until `‖r‖ ≤ precision ‖b‖` in the Euclidean norm. The
//! residual is then computed again from `x`, and the iteration continues from there if rounding had hidden a remainder.
//! The residual in the report is always that of the `x` returned.
//!
//! The methods of [`refine`](crate::refine) are for other systems: rows that may contradict each other, a matrix that
//! may be singular, least squares, interruption by the caller. Here the matrix must be definite.
//!
//! **Cost.** Per iteration one product, one preconditioning and about 12 flops per unknown in four passes. Nothing
//! allocates once the scratch has grown. **Failure.** Never panics on values: the report says what is wrong, and `x` is
//! the last good iterate.

use super::simd4::with_wide_simd;
use super::split::{NUMBERS, sum_slices};
use crate::threads::join;

/// A symmetric positive definite matrix `A`, and a matrix `C` close to its inverse.
pub trait SpdSystem {
    /// Number of unknowns.
    fn n_unknowns(&self) -> usize;

    /// `y = A x`.
    fn apply(&mut self, x: &[f64], y: &mut [f64]);

    /// Number of leading unknowns that count in the norm of residuals; the others follow from them, or contain parts
    /// that do not vanish.
    fn n_measured(&self) -> usize {
        self.n_unknowns()
    }

    /// `z = C r`, with a `C` that is symmetric, positive definite and the same throughout a solve.
    fn precondition(&mut self, r: &[f64], z: &mut [f64]);
}

/// Settings of [`conjugate_gradient`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CgSettings {
    /// Residual to reach, relative to the right-hand side.
    pub precision: f64,
    /// Largest number of iterations.
    pub iterations: u32,
}

impl Default for CgSettings {
    /// Precision 1e-5, at most 1,000 iterations.
    fn default() -> Self {
        Self { precision: 1e-5, iterations: 1000 }
    }
}

/// Why an iteration stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum CgStop {
    /// The residual is as small as asked.
    Converged,
    /// All iterations are used up.
    Budget,
    /// The residual is at rounding and no longer falls.
    Rounding,
    /// A direction with `p·A p ≤ 0`: the matrix is not positive definite.
    NegativeCurvature,
    /// A residual with `r·C r ≤ 0`: the preconditioner is not positive definite.
    Breakdown,
    /// A number is infinite or not a number.
    NonFinite,
}

/// How a solve went.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CgReport {
    /// Iterations made: products with `A`, but for one or two residuals.
    pub iterations: u32,
    /// `‖b − A x‖ / ‖b‖` of the `x` returned; 0 for `b = 0`.
    pub residual: f64,
    /// Why it stopped.
    pub stop: CgStop,
}

/// Reusable memory of [`conjugate_gradient`].
#[derive(Clone, Debug, Default)]
pub struct CgScratch {
    vectors: [Vec<f64>; 4],
}

impl CgScratch {
    /// Empty scratch; grows with the first solve.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Solves `A x = b` from the start `x` given.
///
/// # Panics
/// If the vectors do not have the length of the system.
pub fn conjugate_gradient(
    system: &mut impl SpdSystem,
    b: &[f64],
    x: &mut [f64],
    settings: &CgSettings,
    scratch: &mut CgScratch,
) -> CgReport {
    let n = system.n_unknowns();
    assert_eq!((b.len(), x.len()), (n, n), "vectors must have one entry per unknown");
    scratch.vectors.iter_mut().for_each(|vector| vector.resize(n, 0.0));
    let [r, z, p, w] = &mut scratch.vectors;

    // The measured part of b may be zero while the rest is not.
    let measured = system.n_measured().min(n);
    let measured = if b[..measured].iter().all(|&b| b == 0.0) { n } else { measured };
    let size = dot(&b[..measured], &b[..measured]).sqrt();
    let mut report = CgReport { iterations: 0, residual: f64::INFINITY, stop: CgStop::NonFinite };
    if !size.is_finite() {
        return report;
    }
    if size <= 0.0 {
        x.fill(0.0);
        return CgReport { residual: 0.0, stop: CgStop::Converged, ..report };
    }
    loop {
        // Once from the start given, and again from wherever the recurrence believed to be done.
        let before = report.residual;
        report.residual = residual(system, b, x, r, measured).sqrt() / size;
        if let Some(stop) = judge(&report, settings, before) {
            return CgReport { stop, ..report };
        }
        let goal = settings.precision * size;
        if let Some(stop) =
            iterate(system, x, [r, z, p, w], (measured, goal * goal), settings, &mut report.iterations)
        {
            report.residual = residual(system, b, x, r, measured).sqrt() / size;
            return CgReport { stop, ..report };
        }
    }
}

/// Whether to stop, given a residual that was computed from the solution and the one `before`.
fn judge(report: &CgReport, settings: &CgSettings, before: f64) -> Option<CgStop> {
    if !report.residual.is_finite() {
        Some(CgStop::NonFinite)
    } else if report.residual <= settings.precision {
        Some(CgStop::Converged)
    } else if report.iterations >= settings.iterations {
        Some(CgStop::Budget)
    } else if report.residual > 0.5 * before {
        Some(CgStop::Rounding)
    } else {
        None
    }
}

/// Iterates from the residual `r`. Returns `None` if its square reached `goal` or the iterations are used up, otherwise
/// what is wrong.
fn iterate(
    system: &mut impl SpdSystem,
    x: &mut [f64],
    [r, z, p, w]: [&mut [f64]; 4],
    (measured, goal): (usize, f64),
    settings: &CgSettings,
    iterations: &mut u32,
) -> Option<CgStop> {
    system.precondition(r, z);
    p.copy_from_slice(z);
    let mut rho = dot(r, z);
    loop {
        system.apply(p, w);
        let curvature = dot(p, w);
        let alpha = rho / curvature;
        if !(rho.is_finite() && curvature.is_finite()) {
            return Some(CgStop::NonFinite);
        }
        if rho <= 0.0 {
            return Some(CgStop::Breakdown);
        }
        if curvature <= 0.0 || !alpha.is_finite() {
            return Some(CgStop::NegativeCurvature);
        }
        let square = subtract(&mut r[..measured], &w[..measured], alpha);
        subtract(&mut r[measured..], &w[measured..], alpha);
        if !square.is_finite() {
            return Some(CgStop::NonFinite);
        }
        *iterations += 1;
        if square <= goal || *iterations >= settings.iterations {
            x.iter_mut().zip(&*p).for_each(|(x, p)| *x += alpha * p);
            return None;
        }
        system.precondition(r, z);
        let rho_old = std::mem::replace(&mut rho, dot(r, z));
        advance(x, p, z, alpha, rho / rho_old);
    }
}

/// `r = b − A x`; returns the measured part of `r·r`.
fn residual(system: &mut impl SpdSystem, b: &[f64], x: &[f64], r: &mut [f64], measured: usize) -> f64 {
    if x.iter().all(|&x| x == 0.0) {
        r.copy_from_slice(b);
    } else {
        system.apply(x, r);
        r.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
    }
    dot(&r[..measured], &r[..measured])
}

/// `a·b`.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    if a.len() <= NUMBERS {
        return with_wide_simd!(sinew_math::dot(a, b));
    }
    let ((a_low, a_high), (b_low, b_high)) = (a.split_at(a.len() / 2), b.split_at(a.len() / 2));
    let (low, high) = join(|| dot(a_low, b_low), || dot(a_high, b_high));
    low + high
}

/// `r −= α w`; returns `r·r`.
fn subtract(r: &mut [f64], w: &[f64], alpha: f64) -> f64 {
    sum_slices((0, r), NUMBERS, &|first, r| subtract_some(r, &w[first..first + r.len()], alpha))
}

/// The same with four sums.
fn subtract_some(r: &mut [f64], w: &[f64], alpha: f64) -> f64 {
    with_wide_simd!({
        let mut sums = [0.0; 4];
        let ((r4, r_rest), (w4, w_rest)) = (r.as_chunks_mut::<4>(), w.as_chunks::<4>());
        for (r, w) in r4.iter_mut().zip(w4) {
            for k in 0..4 {
                r[k] -= alpha * w[k];
                sums[k] += r[k] * r[k];
            }
        }
        let mut rest = 0.0;
        for (r, w) in r_rest.iter_mut().zip(w_rest) {
            *r -= alpha * w;
            rest += *r * *r;
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
    })
}

/// `x += αp`, then `p = z + βp`.
fn advance(x: &mut [f64], p: &mut [f64], z: &[f64], alpha: f64, beta: f64) {
    let n = x.len();
    if n <= NUMBERS {
        let (p, z) = (&mut p[..n], &z[..n]);
        return with_wide_simd!(for i in 0..n {
            x[i] += alpha * p[i];
            p[i] = z[i] + beta * p[i];
        });
    }
    let ((x_low, x_high), (p_low, p_high)) = (x.split_at_mut(n / 2), p.split_at_mut(n / 2));
    let (z_low, z_high) = z.split_at(n / 2);
    join(|| advance(x_low, p_low, z_low, alpha, beta), || advance(x_high, p_high, z_high, alpha, beta));
}
