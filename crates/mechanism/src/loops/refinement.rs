//! The loop solves of one step share settings, an iteration budget and one report.
//!
//! The budget is shared, so that a replay with the iterations of the report gives the same bits however many solves a step makes.

use sinew_math::Motion;
use sinew_solvers::{
    AllRows, FreeMass, LoopGraph, LoopMethod, LoopProblem, LoopReport, LoopRows, LoopScratch, LoopSettings,
    LoopStop, Responder, refine,
};

use crate::{Input, Loops, Model, Stage, Watch};

/// The loop work of one step, over all its solves.
pub(crate) struct Refinement<'a> {
    /// Of the next solve. Every scheme measures how far joints are open where it takes their rows; assemblies change the precision.
    pub(crate) settings: Loops,
    /// Iterations that are left of the step's budget.
    left: u32,
    /// Of all solves so far.
    pub(crate) report: LoopReport,
    watch: &'a mut dyn Watch,
}

impl<'a> Refinement<'a> {
    /// A step with all of its budget.
    pub(crate) fn new(model: &Model, settings: &Loops, input: &Input, watch: &'a mut dyn Watch) -> Self {
        let left = input.loop_iterations.unwrap_or(u32::MAX);
        let mut settings = *settings;
        settings.solve.method = model.loop_method(settings.solve.method);
        Self { settings, left, report: LoopReport::default(), watch }
    }

    /// Whether the next solve may change the multipliers.
    pub(crate) fn may_solve(&self) -> bool {
        self.left.min(self.settings.solve.iterations) > 0
    }

    /// A stage has ended.
    pub(crate) fn done(&mut self, stage: Stage) {
        self.watch.done(stage);
    }

    /// One solve within what is left of the budget. Reports add up; the residual is that of the last solve.
    pub(crate) fn solve(
        &mut self,
        (rows, rhs, lambda): (&LoopRows, &[f64], &mut [f64]),
        (responder, graph): (&mut dyn Responder, Option<&mut LoopGraph>),
        free_mass: &dyn Fn(u32) -> FreeMass,
        verify: bool,
        scratch: &mut LoopScratch,
    ) -> LoopStop {
        let Self { left, report, watch, .. } = self;
        let solve = self.settings.solve;
        let settings = LoopSettings { iterations: solve.iterations.min(*left), verify, ..solve };
        let before = report.iterations;
        let mut keep_going = |n: u32, residual: f64| watch.keep_refining(before + n, residual);
        let problem = LoopProblem { rows, responder, free_mass, rhs, graph };
        let one = refine(problem, lambda, &settings, scratch, &mut keep_going);
        *left = if one.stop == LoopStop::Asked { 0 } else { left.saturating_sub(one.iterations) };
        let (restarts, was_asked) = (report.restarts, report.stop == LoopStop::Asked);
        *report = one;
        report.iterations += before;
        report.restarts += restarts;
        if was_asked {
            report.stop = LoopStop::Asked;
        }
        one.stop
    }

    /// One solve of the rows of all joints, of which the first blocks are the loops; false if it is not to be made, or has failed.
    pub(crate) fn solve_all(
        &mut self,
        (graph, all): (&mut LoopGraph, &mut AllRows),
        n_loops: usize,
        motions: &mut [Motion],
    ) -> bool {
        let Self { left, report, watch, settings } = self;
        let solve = settings.solve;
        let may_be_direct = matches!(solve.method, LoopMethod::Auto | LoopMethod::Direct);
        if !may_be_direct || solve.iterations.min(*left) == 0 {
            return false;
        }
        if !watch.keep_refining(report.iterations, f64::INFINITY) {
            return false;
        }
        let Some(residual) = all.solve(graph, n_loops, solve.precision, motions) else { return false };
        *left -= 1;
        if report.stop != LoopStop::Asked {
            report.stop = LoopStop::Converged;
        }
        report.iterations += 1;
        (report.rows, report.residual) = (graph.n_loop_rows(n_loops), residual);
        true
    }

    /// Judges the work so far by an earlier report; what was done stays counted, and a step that was cut short stays so.
    pub(crate) fn judge_by(&mut self, earlier: LoopReport) {
        let LoopReport { iterations, restarts, stop, .. } = self.report;
        self.report = earlier;
        (self.report.iterations, self.report.restarts) = (iterations, restarts);
        if stop == LoopStop::Asked {
            self.report.stop = stop;
        }
    }
}
