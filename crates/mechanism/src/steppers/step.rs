//! One step of a mechanism.

use crate::assembly::assemble::stabilize;
use crate::coupling::companion::Companion;
use crate::input::Input;
use crate::loops::refinement::Refinement;
use crate::model::mechanism::Model;
use crate::model::state::State;
use crate::poses::first_non_finite;
use crate::report::StepReport;
use crate::settings::{Scheme, Settings};
use crate::steppers::{displacement, explicit, implicit};
use crate::watch::{Stage, Watch};
use crate::workspace::Workspace;

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
        report.assembly_iterations = stabilize(model, state, input, assembly, workspace, &mut run);
        run.judge_by(solved);
        report.non_finite = first_non_finite(state);
        run.done(Stage::Stabilize);
    }
    report.loops = run.report;
    report
}
