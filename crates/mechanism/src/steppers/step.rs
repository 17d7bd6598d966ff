//! One step of a mechanism: the stepper that the settings name, then the stabilization.
//!
//! Stepping never fails. A step that cannot be made (no length, a state of another model) is refused and reported.

use crate::assembly::stabilize;
use crate::loops::Refinement;
use crate::prepare::first_non_finite;
use crate::steppers::{ActiveStep, StepTask, displacement, explicit, implicit};
use crate::{
    Companion, Input, Model, Scheme, Settings, Stage, State, StepReport, Watch, Workspace, is_step_length,
};

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
    step_coupled(model, state, input, settings, workspace, StepHooks { watch, companion: None })
}

/// What takes part in a step from outside.
pub struct StepHooks<'a> {
    /// Sees the stages, and may end the refinement of the loops.
    pub watch: &'a mut dyn Watch,
    /// Is solved along with the bodies.
    pub companion: Option<&'a mut dyn Companion>,
}

/// [`step_observed`] with a companion, which is solved along with the bodies by the implicit scheme; other schemes do not see
/// it. The pair form is used.
pub fn step_coupled(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    hooks: StepHooks<'_>,
) -> StepReport {
    let StepHooks { watch, companion } = hooks;
    if !(is_step_length(settings.dt) && state.fits(model)) {
        return StepReport { refused: true, ..StepReport::default() };
    }
    if !workspace.fits(model) {
        *workspace = Workspace::new(model);
    }
    let task = StepTask { model, input, settings };
    let mut run = Refinement::new(&settings.loops, input, watch);
    let mut step = ActiveStep { task, state, workspace, run: &mut run };
    let mut report = match &settings.scheme {
        Scheme::Implicit(scheme) => implicit::step(&mut step, scheme, companion),
        Scheme::Explicit(scheme) => explicit::step(&mut step, scheme),
        Scheme::Displacement(scheme) => displacement::step(&mut step, scheme),
    };
    if let Some(assembly) = &settings.stabilize {
        let solved = run.report;
        report.assembly_iterations = stabilize(model, state, input, assembly, workspace, &mut run);
        run.judge_by(solved);
        report.non_finite = first_non_finite(state);
        run.done(Stage::Stabilize);
    }
    report.loops = run.report;
    report
}
