//! One step of a mechanism.

use sinew_solvers::LoopReport;

use crate::loops::Refinement;
use crate::{
    BodyId, Companion, Input, Model, Scheme, Settings, State, Workspace, assembly, displacement, explicit,
    implicit,
};

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

/// The stages of a step, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// Inputs, motor goals, extrapolation.
    Prepare,
    /// Linearization and elimination, leaves to roots.
    Eliminate,
    /// Substitution, roots to leaves.
    Substitute,
    /// Refinement of the loops.
    Refine,
    /// New poses and twists.
    Integrate,
    /// Assembly after the step.
    Stabilize,
}

impl Stage {
    /// All stages.
    pub const ALL: [Self; 6] =
        [Self::Prepare, Self::Eliminate, Self::Substitute, Self::Refine, Self::Integrate, Self::Stabilize];

    /// Name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Eliminate => "eliminate",
            Self::Substitute => "substitute",
            Self::Refine => "refine",
            Self::Integrate => "integrate",
            Self::Stabilize => "stabilize",
        }
    }
}

/// What a caller sees of a step while it runs, and what it may stop. Any `FnMut(Stage)` is one.
pub trait Watch {
    /// A stage has ended: the library itself never reads a clock.
    fn done(&mut self, stage: Stage) {
        let _ = stage;
    }

    /// Asked before every further iteration on the loops, with the iterations made in this step and the largest residual
    /// (units as in [`crate::LoopSettings::precision`]): `false` ends the refinement of the step. To replay such a step, put the iterations of its report
    /// into [`Input::loop_iterations`].
    fn keep_refining(&mut self, iterations: u32, residual: f64) -> bool {
        let _ = (iterations, residual);
        true
    }
}

impl<F: FnMut(Stage)> Watch for F {
    fn done(&mut self, stage: Stage) {
        self(stage);
    }
}

/// Advances the state by one step; the same inputs give the same bits.
///
/// A workspace of another model is made anew; a step length that is not positive, or a state of another model, is
/// refused and reported.
pub fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
) -> StepReport {
    step_observed(model, state, input, settings, workspace, &mut |_: Stage| {})
}

/// [`step`], watched.
pub fn step_observed(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    watch: &mut dyn Watch,
) -> StepReport {
    step_together(model, state, input, settings, workspace, watch, None)
}

/// [`step_observed`] with a companion, which is solved along with the bodies by the implicit scheme; other schemes do not see
/// it. The pair form is used.
pub fn step_together(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    watch: &mut dyn Watch,
    companion: Option<&mut dyn Companion>,
) -> StepReport {
    if !(settings.has_length() && state.fits(model)) {
        return StepReport { refused: true, ..StepReport::default() };
    }
    if !workspace.fits(model) {
        *workspace = Workspace::new(model);
    }
    let mut run = Refinement::new(&settings.loops, input, watch);
    let mut report = match &settings.scheme {
        Scheme::Implicit(scheme) => {
            implicit::step(model, state, input, settings, scheme, workspace, &mut run, companion)
        }
        Scheme::Explicit(scheme) => {
            explicit::step(model, state, input, settings, scheme, workspace, &mut run)
        }
        Scheme::Displacement(scheme) => {
            displacement::step(model, state, input, settings, scheme, workspace, &mut run)
        }
    };
    if let Some(assembly) = &settings.stabilize {
        let solved = run.report;
        report.assembly_iterations = assembly::stabilize(model, state, input, assembly, workspace, &mut run);
        run.judge_by(solved);
        report.non_finite = implicit::first_non_finite(state);
        run.done(Stage::Stabilize);
    }
    report.loops = run.report;
    report
}
