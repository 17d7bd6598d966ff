//! One step, with the input checked first.
//!
//! An input is whatever a mouse, a tracker or a network sends. The mechanism leaves alone what makes no sense (not finite,
//! a negative gain, a body or joint that is not there or cannot take it); here such entries are counted in
//! [`Health::ignored_inputs`], so that nothing is hidden. Cost: one look at each entry; nothing is allocated.

use sinew_flesh::{
    ExplicitFlesh, Flesh, FleshModel, FleshReport, FleshWorkspace, finish_explicit, predict_bodies,
    rigid_wrenches, step_explicit,
};
use sinew_mechanism::{Input, Order, Scheme, Settings, Stage, Watch, step_together};

use crate::reduced::{self, Met, Reduced, ReducedWorkspace};
use crate::report::Effort;
use crate::whole::{Acted, Apart};
use crate::world::copy_input;
use crate::{Health, Model, State, StepReport, Workspace};

/// Advances a state by one step of `settings.dt`; the same arguments give the same bits, whatever steps of this model the
/// workspace was used for before and however many threads there are. Another model wants a workspace of its own.
///
/// A step length that is not positive and a state of another model are refused, see [`Health::refused`].
pub fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
) -> StepReport {
    step_observed(model, state, input, settings, workspace, &mut |_: Stage| {})
}

/// [`step`], watched: told when each stage has ended, and asked whether to go on refining loops. The library reads no
/// clock: whoever wants times, or has a time budget, reads it there.
pub fn step_observed(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    watch: &mut dyn Watch,
) -> StepReport {
    let ignored_inputs = input.n_unusable(model);
    workspace.acted = Acted::Nothing;
    if !(settings.has_length() && state.fits(model)) {
        let health = Health { refused: true, ignored_inputs, ..Health::default() };
        return StepReport { time: state.time, health, ..StepReport::default() };
    }
    let met = match model.reduced() {
        Some(reduced) => step_reduced(model, reduced, state, input, settings, workspace, watch),
        None => {
            let (mechanism, flesh) = advance(model, state, input, settings, workspace, watch);
            Met { mechanism, flesh, effort: Effort::default(), ignored: 0 }
        }
    };
    let Met { mechanism, flesh, effort, ignored } = met;
    let health = Health {
        ignored_inputs: ignored_inputs + ignored,
        regularized: mechanism.regularized,
        non_finite: mechanism.non_finite,
        non_finite_tet: flesh.elements.non_finite,
        refused: mechanism.refused,
    };
    StepReport {
        index: step_index(state.time, settings.dt),
        time: state.time,
        mechanism,
        flesh,
        effort,
        health,
    }
}

/// In joint coordinates.
fn step_reduced(
    model: &Model,
    reduced: &Reduced,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    watch: &mut dyn Watch,
) -> Met {
    let Workspace { reduced: work, apart, acted, .. } = workspace;
    *acted = Acted::Apart;
    let work = work.get_or_insert_with(|| Box::new(ReducedWorkspace::new(reduced, &state.bodies)));
    let explicit = model.flesh().map(|flesh| &mut Apart::of(apart, flesh, &state.bodies).explicit);
    reduced::step(model, reduced, state, input, settings, (work, explicit), watch)
}

/// Bodies, joints, flesh and contacts together if the scheme is implicit.
fn advance(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    watch: &mut dyn Watch,
) -> (sinew_mechanism::StepReport, FleshReport) {
    if let (Some(flesh), Some(substeps)) = (model.flesh(), model.substeps_under(&settings.scheme)) {
        return advance_apart(model, flesh, substeps, state, input, settings, workspace, watch);
    }
    let State { bodies, flesh: soft, .. } = state;
    let Workspace { mechanism, flesh: work, acted, .. } = workspace;
    let mut companion = None;
    if let (Some(flesh), Scheme::Implicit(implicit)) = (model.flesh(), &settings.scheme) {
        let work = work.get_or_insert_with(|| Box::new(FleshWorkspace::new(flesh)));
        if soft
            .history
            .iter()
            .zip(&soft.nodes)
            .any(|(past, now)| past.increments.len() != now.positions.len())
        {
            // Flesh that was stepped in another way has no past: then neither have the bodies.
            bodies.forget_history();
        }
        *acted = Acted::Together;
        companion = Some(Flesh::new(flesh, soft, work, implicit.order == Order::Second));
    }
    let together = companion.as_mut().map(|companion| companion as _);
    let report = step_together(model, bodies, input, settings, mechanism, watch, together);
    let felt = companion.map_or_else(FleshReport::default, |companion| companion.finish(bodies));
    (report, felt)
}

/// Flesh in substeps between bodies that go where their twists lead, then the bodies under what it did to them.
#[expect(clippy::too_many_arguments, reason = "all that a step depends on")]
fn advance_apart(
    model: &Model,
    flesh: &FleshModel,
    substeps: u32,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    watch: &mut dyn Watch,
) -> (sinew_mechanism::StepReport, FleshReport) {
    let State { bodies, flesh: soft, .. } = state;
    workspace.acted = Acted::Apart;
    let Apart { explicit, ahead, input: pushed, wrenches, more } =
        Apart::of(&mut workspace.apart, flesh, bodies);
    let rigid = rigid_wrenches(flesh, bodies, settings.dt, &mut soft.body_anchors, explicit, more);
    predict_bodies(bodies, settings.dt, ahead);
    let (dt, gravity) = (settings.dt, settings.gravity);
    let how = ExplicitFlesh { dt, gravity, substeps, ..ExplicitFlesh::default() };
    let found = step_explicit(flesh, [bodies, ahead], &how, soft, explicit, wrenches);
    copy_input(input, pushed);
    pushed.wrenches.extend(wrenches.iter().chain(&*more).copied());
    let report =
        sinew_mechanism::step_observed(model, bodies, pushed, settings, &mut workspace.mechanism, watch);
    finish_explicit(flesh, bodies, soft, explicit);
    let contacts = found.contacts.with(rigid);
    let felt = FleshReport {
        elements: found.elements,
        contacts,
        n_solves: found.substeps,
        ..FleshReport::default()
    };
    (report, felt)
}

/// Number of the step that ends at `time`; 0 at the start.
pub(crate) fn step_index(time: f64, dt: f64) -> u64 {
    (time / dt).round() as u64
}
