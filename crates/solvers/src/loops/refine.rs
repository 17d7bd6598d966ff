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

use super::dense;
use super::direct::{self, DirectScratch};
use super::graph::LoopGraph;
use super::krylov::{Krylov, conjugate_gradient, conjugate_residual};
use super::operator::{Equations, Ports, TwistEquations};
use super::responder::{FreeMass, Responder};
use super::settings::{LOOP_DRIFT, LoopMethod, LoopReport, LoopSettings, LoopStop};
use super::variable_rows::{VariableEquations, VariableRows, VariableScratch};
use super::{precondition::Preconditioner, rows::LoopRows};
use crate::vector::largest;
use crate::{system::BlockSystem, tree_solver::TreeSolver};

/// Scratch of [`refine`]; grows on first use.
#[derive(Clone, Debug, Default)]
pub struct LoopScratch {
    ports: Ports,
    variables: VariableScratch,
    pub(crate) methods: MethodScratch,
}

/// Scratch of the methods, whatever the rows act on.
#[derive(Clone, Debug, Default)]
pub(crate) struct MethodScratch {
    preconditioner: Preconditioner,
    vectors: Vec<f64>,
    verified: Vec<f64>,
    direct: DirectScratch,
}

impl LoopScratch {
    /// Empty scratch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the last [`refine`] has factored its rows, for [`Self::solve_again`] and [`crate::ClosedTree`].
    pub fn is_factored(&self) -> bool {
        self.methods.direct.is_factored()
    }

    /// Solves the rows that the last [`refine`] has factored for another right-hand side.
    ///
    /// # Panics
    /// If the vectors do not have one entry per row.
    pub fn solve_again(&mut self, rhs: &[f64], lambda: &mut [f64]) {
        self.methods.direct.solve_again(rhs, lambda);
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
    let equations = TwistEquations::new(rows, responder, free_mass, &mut scratch.ports);
    refine_equations(equations, (rhs, graph), lambda, settings, (&mut scratch.methods, keep_going))
}

/// The loop equations of rows on variables of any size: `(Â + D) λ = rhs` with `Â = J T Jᵀ`, `T` the inverse of a tree.
pub struct VariableProblem<'a> {
    /// The rows `J` and `D`.
    pub rows: &'a VariableRows,
    /// The system of the tree; its diagonal blocks are the masses for the preconditioner.
    pub system: &'a BlockSystem,
    /// The tree, factored.
    pub tree: &'a dyn TreeSolver,
    /// `b − J v_a` with the solution `v_a` of the tree alone, one entry per row.
    pub rhs: &'a [f64],
}

/// [`refine`] for rows on variables of any size. With the multipliers, `b + Jᵀλ` ([`VariableRows::scatter`]) is the right-hand side of the
/// tree for which it closes the loops.
///
/// ```
/// use sinew_solvers::{
///     BlockSystem, LoopScratch, LoopSettings, TreeLdlt, VariableProblem, VariableRows, refine_variables,
/// };
/// use sinew_topology::{GraphBuilder, plan};
///
/// // Two variables of 12 and of 2 unknowns, all of mass 1; the first and the last unknown are to move as one.
/// let mut builder = GraphBuilder::new();
/// let [a, b] = [12, 2].map(|dim| builder.add_variable(dim));
/// let plan = plan(&builder.finish()?)?;
/// let mut system = BlockSystem::new(&plan);
/// for (variable, dim) in [(a, 12), (b, 2)] {
///     (0..dim).for_each(|i| system.variable_mut(variable)[i * (dim + 1)] = 1.0);
/// }
/// system.variable_rhs_mut(a)[0] = 4.0;
/// let mut tree = TreeLdlt::new(&plan);
/// tree.factor(&system)?;
///
/// let mut on_a = [0.0; 12];
/// on_a[0] = 1.0;
/// let mut rows = VariableRows::new();
/// rows.push(&[(a, &on_a), (b, &[0.0, -1.0])], &[0.0], &[0.0], 1.0);
///
/// let mut v = system.rhs().to_vec();
/// tree.solve(&mut v);
/// let (mut gap, mut lambda) = ([0.0], [0.0]);
/// rows.gather(&system, &v, &mut gap);
/// let rhs = [rows.rhs()[0] - gap[0]];
/// let problem = VariableProblem { rows: &rows, system: &system, tree: &tree, rhs: &rhs };
/// refine_variables(problem, &mut lambda, &LoopSettings::default(), &mut LoopScratch::new(), &mut |_, _| true);
///
/// v.copy_from_slice(system.rhs());
/// rows.scatter(&system, &lambda, &mut v);
/// tree.solve(&mut v);
/// assert!((lambda[0] + 2.0).abs() < 1e-9 && (v[system.variable_range(b)][1] - 2.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn refine_variables(
    problem: VariableProblem<'_>,
    lambda: &mut [f64],
    settings: &LoopSettings,
    scratch: &mut LoopScratch,
    keep_going: &mut dyn FnMut(u32, f64) -> bool,
) -> LoopReport {
    let VariableProblem { rows, system, tree, rhs } = problem;
    let equations = VariableEquations::new(rows, system, tree, &mut scratch.variables);
    refine_equations(equations, (rhs, None), lambda, settings, (&mut scratch.methods, keep_going))
}

/// Solves the equations, whatever their rows act on.
fn refine_equations<'a, E: Equations<'a>>(
    mut operator: E,
    (rhs, graph): (&'a [f64], Option<&mut LoopGraph>),
    lambda: &'a mut [f64],
    settings: &'a LoopSettings,
    (scratch, keep_going): (&'a mut MethodScratch, &'a mut dyn FnMut(u32, f64) -> bool),
) -> LoopReport {
    let rows = operator.rows();
    assert_eq!([rhs.len(), lambda.len()], [rows.len(); 2], "vectors must have one entry per row");
    let MethodScratch { preconditioner, vectors, verified, direct } = scratch;
    direct.forget();
    let mut report = LoopReport { rows: rows.len() as u32, ..LoopReport::default() };
    if rows.len() == 0 {
        return report;
    }
    let graph = graph.filter(|_| matches!(settings.method, LoopMethod::Auto | LoopMethod::Direct));
    let is_direct = graph.is_some() || settings.is_direct(rows.len(), operator.is_slow());
    if !largest(lambda).is_finite() {
        lambda.fill(0.0);
    }
    rows.switch_off(lambda);
    if is_direct {
        if settings.iterations == 0 || !keep_going(0, f64::INFINITY) {
            report.stop = if settings.iterations == 0 { LoopStop::Budget } else { LoopStop::Asked };
            report.residual = operator.residual(rhs, lambda, direct.residual(rhs.len()));
            return report;
        }
        report.iterations = 1;
        (report.stop, report.residual) = match graph {
            Some(graph) => direct::solve_graph((&mut operator, graph), settings, direct, rhs, lambda),
            None => direct::solve(&mut operator, settings, direct, rhs, lambda),
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
    preconditioner.fill(&operator, settings.precondition);
    let mut krylov = Krylov::new(vectors, rows.len(), preconditioner, settings, keep_going);
    report.residual = operator.residual(rhs, lambda, krylov.residual_mut());
    krylov.scale = largest(rhs).max(report.residual);
    let mut solve = LoopSolve { operator, krylov, rhs, lambda, verified, report };
    while solve.starts_again() {}
    let mut report = solve.report;
    if !report.residual.is_finite() {
        report.residual = f64::INFINITY;
    }
    report
}

/// A solve between two starts of its method.
struct LoopSolve<'a, E> {
    operator: E,
    krylov: Krylov<'a>,
    rhs: &'a [f64],
    lambda: &'a mut [f64],
    /// The last multipliers whose residual was computed from them.
    verified: &'a mut Vec<f64>,
    report: LoopReport,
}

impl<'a, E: Equations<'a>> LoopSolve<'a, E> {
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
            LoopMethod::Dense => dense::solve(krylov, operator, self.rhs, lambda),
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
