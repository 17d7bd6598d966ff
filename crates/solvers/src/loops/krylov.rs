//! Preconditioned conjugate residual, conjugate gradient and biconjugate gradient for the loop equations.
//!
//! **What.** With `A = Â + D` and the block-diagonal `C` of the preconditioner:
//! ```text
//! CR:  z = C r,  u = A z,  s = C u,  ρ = z·u;   p = z + βp,  w = u + βw,  q = s + βq  with β = ρ/ρ_old;
//!      α = ρ/(w·q),  λ += αp,  r −= αw,  z −= αq                          minimizes rᵀCr
//! CG:  z = C r,  ρ = r̃·z;   p = z + βp,  w = A p,  α = ρ/(p̃·w),  λ += αp,  r −= αw
//! ```
//! with `r̃ = r`, `p̃ = p`; BiCG computes its shadow vectors `r̃`, `p̃` separately, from `r̃₀ = r₀`.
//!
//! **Least squares.** If rows contradict each other, `r` tends to a vector with `A C r = 0`. CR stops when `‖A C r‖` is
//! at rounding level relative to the size of `A` times `‖r‖` (all in the norm of `C`), or when it is small and no
//! longer shrinks, which is noise of the responder.
//!
//! **Cost.** A CR iteration takes one response, and per row about 35 flops in three passes over seven vectors.
//!
//! **Failure.** Numbers that are not finite end a method with [`LoopStop::Breakdown`].

use super::settings::{LoopSettings, LoopStop};
use super::{operator::Equations, precondition::Preconditioner};
use crate::vector::{larger, largest};
use sinew_math::dot;

/// Rounding level of `‖A C r‖` relative to the size of `A` times `‖r‖`, squared.
const LEAST_SQUARES: f64 = 1e-26;

/// The same ratio below which a value that no longer shrinks is noise.
const NOISE: f64 = 1e-18;

/// Iterations without a new minimum after which a value no longer shrinks.
const PATIENCE: u32 = 10;

/// A residual this small relative to the right-hand side is rounding if it no longer shrinks.
const ROUNDING: f64 = 1e-11;

/// Growth of the residual over its minimum at which CG and BiCG stop. On consistent rows they minimize the energy of
/// the error, and the residual may grow by up to the root of the condition number: more than tenfold on a ladder of 96
/// rungs with all joints as loops. On contradictory rows it grows without bound.
const DIVERGED: f64 = 1e4;

/// Number of vectors of the method that needs most.
const N_VECTORS: usize = 9;

/// State of a solve that is kept over restarts.
pub(crate) struct Krylov<'a> {
    vectors: [&'a mut [f64]; N_VECTORS],
    pub(crate) preconditioner: &'a Preconditioner,
    pub(crate) settings: &'a LoopSettings,
    keep_going: &'a mut dyn FnMut(u32, f64) -> bool,
    pub(crate) iterations: u32,
    /// Largest entry of the right-hand side or of the first residual.
    pub(crate) scale: f64,
}

impl<'a> Krylov<'a> {
    pub(crate) fn new(
        memory: &'a mut Vec<f64>,
        n: usize,
        preconditioner: &'a Preconditioner,
        settings: &'a LoopSettings,
        keep_going: &'a mut dyn FnMut(u32, f64) -> bool,
    ) -> Self {
        // One cache line apart, so that equal indices of the vectors do not fall into the same cache set.
        let stride = n + 8;
        memory.resize((stride * N_VECTORS).max(memory.len()), 0.0);
        let mut parts = memory.chunks_exact_mut(stride);
        let vectors = std::array::from_fn(|_| parts.next().map_or(Default::default(), |part| &mut part[..n]));
        Self { vectors, preconditioner, settings, keep_going, iterations: 0, scale: 0.0 }
    }

    /// The residual vector from which a method starts.
    pub(crate) fn residual_mut(&mut self) -> &mut [f64] {
        self.vectors[0]
    }

    /// Whether to stop before the next iteration.
    pub(crate) fn halt(&mut self, residual: f64) -> Option<LoopStop> {
        halt(self.settings, self.iterations, residual, self.keep_going)
    }
}

/// Whether to stop before the next iteration.
fn halt(
    settings: &LoopSettings,
    iterations: u32,
    residual: f64,
    keep_going: &mut dyn FnMut(u32, f64) -> bool,
) -> Option<LoopStop> {
    if residual < settings.precision {
        Some(LoopStop::Converged)
    } else if iterations >= settings.iterations {
        Some(LoopStop::Budget)
    } else if !keep_going(iterations, residual) {
        Some(LoopStop::Asked)
    } else {
        None
    }
}

/// Preconditioned conjugate residual from the residual vector given.
pub(super) fn conjugate_residual<'e>(
    krylov: &mut Krylov<'_>,
    operator: &mut impl Equations<'e>,
    lambda: &mut [f64],
) -> LoopStop {
    let Krylov { vectors, preconditioner, settings, keep_going, iterations, scale } = krylov;
    let [r, z, p, w, q, u, s, ..] = vectors;
    let mut rz = preconditioner.apply(operator.rows(), r, z);
    let mut residual = largest(r);
    [&mut *p, w, q].into_iter().for_each(|x| x.fill(0.0));
    let mut rho_old = f64::INFINITY;
    let mut size = preconditioner.size;
    let (mut least, mut waited) = (f64::INFINITY, 0);
    let (mut smallest, mut idle) = (f64::INFINITY, 0);
    loop {
        if let Some(stop) = halt(settings, *iterations, residual, keep_going) {
            return stop;
        }
        // At rounding level and no longer shrinking: more iterations would only add noise to λ.
        idle = if residual < 0.5 * smallest { 0 } else { idle + 1 };
        smallest = smallest.min(residual);
        if idle >= PATIENCE && smallest <= ROUNDING * *scale {
            return LoopStop::Converged;
        }
        operator.apply(z, u);
        let sigma = preconditioner.apply(operator.rows(), u, s);
        let rho = dot(z, u);
        if !(rho.is_finite() && sigma.is_finite() && rz.is_finite()) {
            return LoopStop::Breakdown;
        }
        // A C r = 0, to rounding or to the noise of the responder?
        if rz > 0.0 && sigma > size * size * rz {
            size = (sigma / rz).sqrt();
        }
        let bound = size * size * rz;
        waited = if sigma < least { 0 } else { waited + 1 };
        least = least.min(sigma);
        if rho <= 0.0 || sigma <= LEAST_SQUARES * bound || (waited >= PATIENCE && least <= NOISE * bound) {
            return LoopStop::LeastSquares;
        }
        let wq = advance([p, w, q], [z, u, s], rho / rho_old);
        let alpha = rho / wq;
        if !(wq > 0.0 && alpha.is_finite()) {
            return LoopStop::Breakdown;
        }
        (residual, rz) = descend(alpha, [lambda, r, z], [p, w, q]);
        rho_old = rho;
        *iterations += 1;
    }
}

/// Preconditioned conjugate gradient; with `SHADOW` the textbook biconjugate gradient.
pub(super) fn conjugate_gradient<'e, const SHADOW: bool>(
    krylov: &mut Krylov<'_>,
    operator: &mut impl Equations<'e>,
    lambda: &mut [f64],
) -> LoopStop {
    let Krylov { vectors, preconditioner, settings, keep_going, iterations, .. } = krylov;
    let [r, z, p, w, best, shadow_r, shadow_z, shadow_p, shadow_w] = vectors;
    p.fill(0.0);
    best.copy_from_slice(lambda);
    if SHADOW {
        shadow_r.copy_from_slice(r);
        shadow_p.fill(0.0);
    }
    let mut residual = largest(r);
    let mut least = residual;
    let mut rho_old = f64::INFINITY;
    let stop = loop {
        if let Some(stop) = halt(settings, *iterations, residual, keep_going) {
            break stop;
        }
        if residual > DIVERGED * least {
            break LoopStop::Diverged;
        }
        preconditioner.apply(operator.rows(), r, z);
        let rho = if SHADOW {
            preconditioner.apply(operator.rows(), shadow_r, shadow_z);
            dot(shadow_r, z)
        } else {
            dot(r, z)
        };
        let beta = rho / rho_old;
        add(p, z, beta);
        operator.apply(p, w);
        let pw = if SHADOW {
            add(shadow_p, shadow_z, beta);
            operator.apply(shadow_p, shadow_w);
            dot(shadow_p, w)
        } else {
            dot(p, w)
        };
        let alpha = rho / pw;
        if !(rho.is_finite() && pw.is_finite()) {
            break LoopStop::Breakdown;
        }
        // p·A p = 0: nothing moves in the direction of the residual.
        if !alpha.is_finite() {
            break LoopStop::LeastSquares;
        }
        subtract(lambda, p, -alpha);
        subtract(r, w, alpha);
        if SHADOW {
            subtract(shadow_r, shadow_w, alpha);
        }
        residual = largest(r);
        if !residual.is_finite() {
            break LoopStop::Breakdown;
        }
        if residual < least {
            least = residual;
            best.copy_from_slice(lambda);
        }
        rho_old = rho;
        *iterations += 1;
    };
    lambda.copy_from_slice(best);
    stop
}

/// `a = b + β a`.
fn add(a: &mut [f64], b: &[f64], beta: f64) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = b + beta * *a);
}

/// `a −= α b`.
fn subtract(a: &mut [f64], b: &[f64], alpha: f64) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a -= alpha * b);
}

/// `p = z + βp`, `w = u + βw`, `q = s + βq`; returns `w·q`.
fn advance([p, w, q]: [&mut [f64]; 3], [z, u, s]: [&[f64]; 3], beta: f64) -> f64 {
    let n = p.len();
    let (w, q, z, u, s) = (&mut w[..n], &mut q[..n], &z[..n], &u[..n], &s[..n]);
    for i in 0..n {
        p[i] = z[i] + beta * p[i];
        w[i] = u[i] + beta * w[i];
        q[i] = s[i] + beta * q[i];
    }
    dot(w, q)
}

/// `λ += αp`, `r −= αw`, `z −= αq`; returns `max|r|` and `r·z`.
fn descend(alpha: f64, [lambda, r, z]: [&mut [f64]; 3], [p, w, q]: [&[f64]; 3]) -> (f64, f64) {
    let n = r.len();
    let (lambda, z, p, w, q) = (&mut lambda[..n], &mut z[..n], &p[..n], &w[..n], &q[..n]);
    let mut residual = 0.0;
    for i in 0..n {
        lambda[i] += alpha * p[i];
        r[i] -= alpha * w[i];
        z[i] -= alpha * q[i];
        residual = larger(residual, r[i].abs());
    }
    (residual, dot(r, z))
}
