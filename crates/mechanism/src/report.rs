//! What a step did.

use sinew_solvers::LoopReport;

use crate::model::ids::BodyId;

/// What a step did. Stepping never fails: trouble is reported here.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StepReport {
    /// Largest anchor distance at the last linearization point, m: for a one-solve first-order step the error of
    /// the state the step began with. [`crate::violation`] measures any state.
    pub position_error: f64,
    /// Largest rotation error there, rad.
    pub rotation_error: f64,
    /// Largest anchor distance there among joints outside the tree and hard grabs, m.
    pub loop_error: f64,
    /// Linear solves made.
    pub iterations: u32,
    /// Pivots or rows that had to be regularized by compliance.
    pub regularized: u32,
    /// How the loops were closed, all solves of the step together; the residual is that of the last one.
    pub loops: LoopReport,
    /// Iterations of the assembly after the step.
    pub assembly_iterations: u32,
    /// First body whose state is no longer finite.
    pub non_finite: Option<BodyId>,
    /// Nothing was done: the step length is not a positive number, or the state belongs to another model.
    pub refused: bool,
}
