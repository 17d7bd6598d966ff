//! Loop refinement: iterative solution of the multipliers that close the loops of a factored tree.
//!
//! **What.** With `v_a` the solution of the tree alone, rows `J v + D λ = b`, and `T` the reaction of the tree to
//! impulses (Fau99 eq. 13, signs of [`LoopRows`]):
//! ```text
//! (Â + D) λ = b̂ = b − J v_a,   Â = J T Jᵀ,        then  v = v_a + T Jᵀ λ
//! ```
//! `Â` is symmetric and positive semidefinite. The tree's own constraints hold to rounding for every `λ`.
//!
//! **Stopping.** A solve ends when the largest `|b̂ − (Â + D)λ|` is below the precision, when the residual cannot
//! shrink further ([`LoopStop::LeastSquares`]), when the iterations are used up, or when the caller asks. A converged
//! solve then computes its residual again from `λ` (Fau99 §3.3; optional, see [`LoopSettings::verify`]). If that
//! residual exceeds 10 times the precision, the solve restarts from there, a few times at most.
//!
//! **Redundant and contradictory rows.** With redundant, consistent rows many `λ` give the same motion; a solve from
//! zero without preconditioner finds the one of least norm. With contradictory rows the conjugate residual minimizes
//! `rᵀCr`, where `C` is the preconditioner (`C = 1` without it and with equal weights). The other iterative methods
//! diverge on such rows and return their best iterate (docs/errata.md).
//!
//! **Weights.** The weight of a block multiplies its part of `C`. Heavy blocks converge first, and have the smallest
//! errors where rows contradict each other. Converged solutions of consistent rows do not depend on weights. A block of
//! weight 0 is switched off: its `λ` is 0, and its rows are ignored.
//!
//! **Cost.** Per iteration one response of the surroundings (BiCG: two) and about 60 flops per row; one more response
//! to verify. No allocation once the largest problem has been seen, except by the dense method.
//!
//! **Failure.** Never panics on numbers and never returns a `λ` that is not finite; [`LoopStop::Breakdown`] reports
//! that precision was lost.

#[cfg(feature = "dense")]
use super::dense;
use super::direct::{self, DirectScratch};
use super::graph::LoopGraph;
use super::krylov::{Krylov, conjugate_gradient, conjugate_residual};
use super::operator::{Operator, Ports};
use super::responder::{FreeMass, Responder};
use super::settings::{LOOP_DRIFT, LoopMethod, LoopReport, LoopSettings, LoopStop};
use super::{precondition::Preconditioner, rows::LoopRows};
use crate::vector::largest;

/// Scratch of [`refine`]; grows on first use.
#[derive(Clone, Debug, Default)]
pub struct LoopScratch {
    ports: Ports,
    preconditioner: Preconditioner,
    vectors: Vec<f64>,
    verified: Vec<f64>,
    pub(crate) direct: DirectScratch,
}

impl LoopScratch {
    /// Empty scratch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the last [`refine`] has factored its rows, for [`Self::solve_again`] and [`crate::ClosedTree`].
    pub fn is_factored(&self) -> bool {
        self.direct.is_factored()
    }

    /// Solves the rows that the last [`refine`] has factored for another right-hand side.
    ///
    /// # Panics
    /// If the vectors do not have one entry per row.
    pub fn solve_again(&mut self, rhs: &[f64], lambda: &mut [f64]) {
        self.direct.solve_again(rhs, lambda);
    }
}

/// The loop equations `(Â + D) λ = rhs`.
pub struct LoopProblem<'a> {
    /// The rows `J` and `D`.
    pub rows: &'a LoopRows,
    /// The surroundings of the loops: their reaction `T` to impulses at the ports.
    pub responder: &'a mut dyn Responder,
    /// Mass of the body at a port as if it were free, for the preconditioner.
    pub free_mass: &'a dyn Fn(u32) -> FreeMass,
    /// One entry per row.
    pub rhs: &'a [f64],
    /// Rows and bodies as a graph, where that is cheaper than many iterations; its first rows are `rows`.
    pub graph: Option<&'a mut LoopGraph>,
}

/// Solves `(Â + D) λ = rhs`.
///
/// `lambda` holds the start on entry (the multipliers of the last step, or zero) and the multipliers on return, one
/// entry per row. `keep_going` gets the iterations done and the residual before every iteration; `false` ends the
/// solve.
pub fn refine(
    problem: LoopProblem<'_>,
    lambda: &mut [f64],
    settings: &LoopSettings,
    scratch: &mut LoopScratch,
    keep_going: &mut dyn FnMut(u32, f64) -> bool,
) -> LoopReport {
    let LoopProblem { rows, responder, free_mass, rhs, graph } = problem;
    assert_eq!([rhs.len(), lambda.len()], [rows.len(); 2], "vectors must have one entry per row");
    let LoopScratch { ports, preconditioner, vectors, verified, direct } = scratch;
    direct.forget();
    let mut report = LoopReport { rows: rows.len() as u32, ..LoopReport::default() };
    if rows.is_empty() {
        return report;
    }
    let graph = graph.filter(|_| matches!(settings.method, LoopMethod::Auto | LoopMethod::Direct));
    let is_direct = graph.is_some() || settings.is_direct(rows.len(), responder.is_slow());
    let mut operator = Operator::new(rows, responder, ports);
    if !largest(lambda).is_finite() {
        lambda.fill(0.0);
    }
    operator.switch_off(lambda);
    if is_direct {
        if settings.iterations == 0 || !keep_going(0, f64::INFINITY) {
            report.stop = if settings.iterations == 0 { LoopStop::Budget } else { LoopStop::Asked };
            report.residual = operator.residual(rhs, lambda, direct.residual(rhs.len()));
            return report;
        }
        report.iterations = 1;
        (report.stop, report.residual) = match graph {
            Some(graph) => {
                direct::solve_graph((&mut operator, graph), free_mass, settings, direct, rhs, lambda)
            }
            None => direct::solve(&mut operator, free_mass, settings, direct, rhs, lambda),
        };
        report.dependent = direct.dependent;
        if report.stop != LoopStop::Breakdown {
            return report;
        }
        if !largest(rhs).is_finite() {
            return LoopReport { residual: f64::INFINITY, ..report };
        }
    }
    verified.clear();
    verified.extend_from_slice(lambda);
    preconditioner.fill(rows, free_mass, settings.precondition);
    let mut krylov = Krylov::new(vectors, rows.len(), preconditioner, settings, keep_going);
    report.residual = operator.residual(rhs, lambda, krylov.residual_mut());
    krylov.scale = largest(rhs).max(report.residual);
    let mut solve = LoopSolve { operator, krylov, free_mass, rhs, lambda, verified, report };
    while solve.starts_again() {}
    let mut report = solve.report;
    if !report.residual.is_finite() {
        report.residual = f64::INFINITY;
    }
    report
}

/// A solve between two starts of its method.
struct LoopSolve<'a> {
    operator: Operator<'a>,
    krylov: Krylov<'a>,
    #[cfg_attr(not(feature = "dense"), expect(dead_code, reason = "for the dense method"))]
    free_mass: &'a dyn Fn(u32) -> FreeMass,
    rhs: &'a [f64],
    lambda: &'a mut [f64],
    /// The last multipliers whose residual was computed from them.
    verified: &'a mut Vec<f64>,
    report: LoopReport,
}

impl LoopSolve<'_> {
    /// Runs the method once from the present residual, until it stops.
    fn run_method(&mut self) -> LoopStop {
        let Self { operator, krylov, lambda, .. } = self;
        match krylov.settings.method {
            _ if !self.report.residual.is_finite() => LoopStop::Breakdown,
            LoopMethod::Auto | LoopMethod::Direct | LoopMethod::ConjugateResidual => {
                conjugate_residual(krylov, operator, lambda)
            }
            LoopMethod::ConjugateGradient => conjugate_gradient::<false>(krylov, operator, lambda),
            LoopMethod::BiConjugateGradient => conjugate_gradient::<true>(krylov, operator, lambda),
            #[cfg(feature = "dense")]
            LoopMethod::Dense => dense::solve(krylov, operator, self.free_mass, self.rhs, lambda),
        }
    }

    /// Runs the method once and verifies its residual; true if it is to start again from there.
    fn starts_again(&mut self) -> bool {
        let stop = self.run_method();
        let Self { operator, krylov, rhs, lambda, verified, report, .. } = self;
        let settings = krylov.settings;
        let before = report.residual;
        let unchanged = report.iterations == krylov.iterations;
        report.iterations = krylov.iterations;
        report.stop = stop;
        if unchanged {
            return false;
        }
        if !settings.verify && stop == LoopStop::Converged && largest(lambda).is_finite() {
            report.residual = largest(krylov.residual_mut());
            return false;
        }
        let residual = operator.residual(rhs, lambda, krylov.residual_mut());
        if !residual.is_finite() || !largest(lambda).is_finite() {
            lambda.copy_from_slice(verified);
            report.stop = LoopStop::Breakdown;
            return false;
        }
        report.residual = residual;
        if stop != LoopStop::Converged || residual <= LOOP_DRIFT * settings.precision {
            return false;
        }
        // A restart that gained less than half will not gain the rest.
        if report.restarts >= settings.restarts || (report.restarts > 0 && residual > 0.5 * before) {
            report.stop = LoopStop::Breakdown;
            return false;
        }
        verified.copy_from_slice(lambda);
        report.restarts += 1;
        true
    }
}
