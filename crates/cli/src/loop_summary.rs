//! Statistics of the loop solver over all steps of a run: iterations, residuals, gaps (m).

use serde::{Deserialize, Serialize};
use sinew_sim::{AssemblyOutcome, AssemblyReport, LoopStop, StepReport};

use crate::text::quantity;

/// Sums and maxima over the steps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LoopSummary {
    /// Steps with loop rows.
    pub(crate) steps: u64,
    /// Total number of iterations.
    pub(crate) iterations: u64,
    pub(crate) max_iterations: u32,
    /// Largest residual of a step (m/s, rad/s; m/s² and rad/s² with the explicit stepper).
    pub(crate) max_residual: f64,
    /// Largest position error of a loop joint or a grab at the start of a step (m).
    pub(crate) max_gap: f64,
    /// Largest error of a tree joint (m, rad).
    pub(crate) max_tree_error: f64,
    /// Steps that ended with a least-squares solution: loop rows contradict each other or are compliant.
    pub(crate) least_squares: u64,
    /// Steps that used up their iterations, were cut short, or became non-finite.
    pub(crate) unfinished: u64,
    /// Result of the assembly of initial poses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) assembly: Option<AssemblyReport>,
}

impl LoopSummary {
    /// Adds a step.
    pub(crate) fn note(&mut self, report: &StepReport) {
        let loops = &report.mechanism.loops;
        self.max_gap = self.max_gap.max(report.mechanism.loop_error);
        if loops.stop == LoopStop::None {
            return;
        }
        self.steps += 1;
        self.iterations += u64::from(loops.iterations);
        self.max_iterations = self.max_iterations.max(loops.iterations);
        self.max_residual = self.max_residual.max(loops.residual);
        match loops.stop {
            LoopStop::Converged => {}
            LoopStop::LeastSquares => self.least_squares += 1,
            _ => self.unfinished += 1,
        }
    }

    /// Adds another run.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.steps += other.steps;
        self.iterations += other.iterations;
        self.max_iterations = self.max_iterations.max(other.max_iterations);
        self.max_residual = self.max_residual.max(other.max_residual);
        self.max_gap = self.max_gap.max(other.max_gap);
        self.max_tree_error = self.max_tree_error.max(other.max_tree_error);
        self.least_squares += other.least_squares;
        self.unfinished += other.unfinished;
    }

    /// Lines of the report; none without loops.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.assembly.iter().map(assembly_line).collect();
        if self.steps > 0 {
            let mean = quantity(self.iterations as f64 / self.steps as f64);
            let (most, residual) = (self.max_iterations, quantity(self.max_residual));
            lines.push(format!(
                "  loops          {mean} iterations per step (up to {most}), residual up to {residual}, gaps up to {} m",
                quantity(self.max_gap)
            ));
            let odd = [(self.least_squares, "in least squares"), (self.unfinished, "not converged")];
            let odd: Vec<String> =
                odd.iter().filter(|(n, _)| *n > 0).map(|(n, how)| format!("{n} {how}")).collect();
            if !odd.is_empty() {
                let (tree, of) = (quantity(self.max_tree_error), self.steps);
                lines.push(format!(
                    "                 of {of} steps, {}; tree joints open by up to {tree} m or rad",
                    odd.join(", ")
                ));
            }
        }
        lines
    }
}

fn assembly_line(report: &AssemblyReport) -> String {
    let (steps, left) = (report.iterations, quantity(report.position_error.max(report.rotation_error)));
    match report.outcome {
        AssemblyOutcome::Assembled => {
            format!("  assembled      joints closed before the start, after {steps} corrections")
        }
        _ => format!("  NOT ASSEMBLED  {steps} corrections leave joints open by {left} m or rad"),
    }
}
