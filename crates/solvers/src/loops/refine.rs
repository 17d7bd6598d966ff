//! Loop refinement: the multipliers that close the loops of a solved tree, at a cost the caller bounds.
//!
//! **What.** The tree solve gave `v_a`; with rows `J v + D λ = b` and `T` the reaction of the tree (Fau99 §3.1,
//! signs of [`LoopRows`]):
//! ```text
//! (Â + D) λ = b̂ = b − J v_a,   Â = J T Jᵀ,        then  v = v_a + T Jᵀ λ
//! ```
//! `Â` is symmetric and positive semidefinite. Whatever `λ` is, the tree's own constraints hold to rounding.
//!
//! **Stops.** The largest `|b̂ − (Â + D)λ|` is below the precision; the residual can shrink no further
//! ([`LoopStop::LeastSquares`]); the iterations are used up; the caller says so. At the end the residual is
//! computed anew (unless the caller does so, see [`LoopSettings::verify`]); if a solve that thought it had converged missed by more than 10 times the precision it starts
//! again from there, a few times at most.
//!
//! **Redundant and contradictory rows.** Redundant, consistent rows converge to one of many `λ` with the same
//! motion: the one of least norm if cold and not preconditioned. Contradictory rows end in least squares: the
//! conjugate residual minimizes `rᵀCr` with `C` of the preconditioner (`C = 1` without it and with equal
//! weights); the other iterative methods diverge there, and return their best iterate (docs/errata.md).
//!
//! **Weights.** A block's weight multiplies its part of `C`: heavy blocks close first and give way least where
//! rows contradict each other; converged solutions of consistent rows do not depend on it. A block of weight 0 is
//! switched off: its `λ` is 0 and its rows count nowhere.
//!
//! **Cost.** One response of the surroundings and about 60 flops per row in an iteration (BiCG: two responses);
//! one more response to verify. No allocation once the largest problem has been seen, except by the dense method.
//!
//! **Failure.** Never panics on numbers, never returns a `λ` that is not finite; [`LoopStop::Breakdown`] says
//! that numbers were lost.

use super::krylov::{Krylov, conjugate_gradient, conjugate_residual};
use super::operator::{Operator, Ports, largest};
use super::precondition::Preconditioner;
use super::responder::{FreeMass, Responder};
use super::rows::LoopRows;

/// How the loop equations are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum LoopMethod {
    /// Conjugate residual: the residual only shrinks; ends in least squares where rows contradict.
    #[default]
    ConjugateResidual,
    /// Conjugate gradient: for consistent rows.
    ConjugateGradient,
    /// Biconjugate gradient as in Fau99, with two responses: the iterates of the conjugate gradient.
    BiConjugateGradient,
    /// The matrix written out and factored: one response per row, allocates.
    #[cfg(feature = "dense")]
    Dense,
}

/// What to do, and when to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoopSettings {
    /// How to solve.
    pub method: LoopMethod,
    /// Whether the blocks of `J M⁻¹Jᵀ + D` precondition the iteration.
    pub precondition: bool,
    /// The residual that is small enough, in the units of the rows: m/s and rad/s in an implicit step, m/s² and rad/s² between
    /// accelerations, m and rad between displacements (docs/maths/loops.md §3).
    pub precision: f64,
    /// The most updates of `λ`, all restarts together.
    pub iterations: u32,
    /// How often a solve may start again because its residual had drifted.
    pub restarts: u32,
    /// Whether a solve that has converged computes its residual anew, with one more response; if not, the caller should.
    /// A step of a mechanism always knows it, whatever is written here.
    pub verify: bool,
}

impl Default for LoopSettings {
    fn default() -> Self {
        Self {
            method: LoopMethod::default(),
            precondition: true,
            precision: 1e-10,
            iterations: 200,
            restarts: 3,
            verify: true,
        }
    }
}

/// Why a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum LoopStop {
    /// There are no loops.
    #[default]
    None,
    /// The residual is as small as asked, up to a factor of 10.
    Converged,
    /// The rows contradict each other and the residual is the smallest possible; or rows that may open yield and are still
    /// on their way.
    LeastSquares,
    /// The iterations are used up.
    Budget,
    /// The caller asked to stop.
    Asked,
    /// The residual grew to 1e4 times its minimum; the multipliers are those of the minimum.
    Diverged,
    /// Input or intermediate numbers were not finite, or rounding keeps the residual above ten times the
    /// precision; the multipliers are the best that were verified.
    Breakdown,
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoopReport {
    /// Scalar rows.
    pub rows: u32,
    /// Updates of `λ`.
    pub iterations: u32,
    /// Starts after the first.
    pub restarts: u32,
    /// The largest `|b̂ − (Â + D)λ|`, computed from the `λ` returned; infinite if it is not a number.
    pub residual: f64,
    /// Why it ended.
    pub stop: LoopStop,
}

/// What [`refine`] works in; grows on first use.
#[derive(Clone, Debug, Default)]
pub struct LoopScratch {
    ports: Ports,
    preconditioner: Preconditioner,
    vectors: Vec<f64>,
    verified: Vec<f64>,
}

impl LoopScratch {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A converged residual may exceed the precision by this factor when computed anew.
pub const LOOP_DRIFT: f64 = 10.0;

/// Solves `(Â + D) λ = rhs`.
///
/// `lambda` holds the start on entry (of the last step, or zero) and the multipliers on return. `free_mass` gives
/// the bodies as if nothing held them, for the preconditioner. `keep_going` gets the iterations done and the
/// residual before every iteration. `rhs` and `lambda` have one entry per row.
#[expect(clippy::too_many_arguments, reason = "the problem, its start, its limits and its memory")]
pub fn refine(
    rows: &LoopRows,
    responder: &mut dyn Responder,
    free_mass: &dyn Fn(u32) -> FreeMass,
    rhs: &[f64],
    lambda: &mut [f64],
    settings: &LoopSettings,
    scratch: &mut LoopScratch,
    keep_going: &mut dyn FnMut(u32, f64) -> bool,
) -> LoopReport {
    assert_eq!([rhs.len(), lambda.len()], [rows.len(); 2], "one entry per row");
    let LoopScratch { ports, preconditioner, vectors, verified } = scratch;
    let mut report = LoopReport { rows: rows.len() as u32, ..LoopReport::default() };
    if rows.is_empty() {
        return report;
    }
    let mut operator = Operator::new(rows, responder, ports);
    if !largest(lambda).is_finite() {
        lambda.fill(0.0);
    }
    operator.switch_off(lambda);
    verified.clear();
    verified.extend_from_slice(lambda);
    preconditioner.fill(rows, free_mass, settings.precondition);
    let mut krylov = Krylov::new(vectors, rows.len(), preconditioner, settings, keep_going);
    report.residual = operator.residual(rhs, lambda, krylov.residual_mut());
    krylov.scale = largest(rhs).max(report.residual);
    loop {
        let stop = match settings.method {
            _ if !report.residual.is_finite() => LoopStop::Breakdown,
            LoopMethod::ConjugateResidual => conjugate_residual(&mut krylov, &mut operator, lambda),
            LoopMethod::ConjugateGradient => conjugate_gradient::<false>(&mut krylov, &mut operator, lambda),
            LoopMethod::BiConjugateGradient => conjugate_gradient::<true>(&mut krylov, &mut operator, lambda),
            #[cfg(feature = "dense")]
            LoopMethod::Dense => super::dense::solve(&mut krylov, &mut operator, free_mass, rhs, lambda),
        };
        let before = report.residual;
        let unchanged = report.iterations == krylov.iterations;
        report.iterations = krylov.iterations;
        report.stop = stop;
        if unchanged {
            break;
        }
        if !settings.verify && stop == LoopStop::Converged && largest(lambda).is_finite() {
            report.residual = largest(krylov.residual_mut());
            break;
        }
        let residual = operator.residual(rhs, lambda, krylov.residual_mut());
        if !residual.is_finite() || !largest(lambda).is_finite() {
            lambda.copy_from_slice(verified);
            report.stop = LoopStop::Breakdown;
            break;
        }
        report.residual = residual;
        let missed = stop == LoopStop::Converged && residual > LOOP_DRIFT * settings.precision;
        // A restart that gained less than half will not gain the rest.
        if !missed || report.restarts >= settings.restarts || (report.restarts > 0 && residual > 0.5 * before)
        {
            if missed {
                report.stop = LoopStop::Breakdown;
            }
            break;
        }
        verified.copy_from_slice(lambda);
        report.restarts += 1;
    }
    if !report.residual.is_finite() {
        report.residual = f64::INFINITY;
    }
    report
}
