//! One step of a whole model.
//!
//! | scheme | flesh coupled | flesh explicit |
//! |---|---|---|
//! | implicit | one solve of bodies, flesh and contacts | flesh in substeps, then the bodies under its wrenches |
//! | explicit, displacement | – | the same |
//! | reduced | – | the same in joint coordinates, see the module `reduced` |
//!
//! An input is whatever a mouse, a tracker or a network sends. The mechanism leaves out what makes no sense (not finite, a negative
//! gain, a body or joint that does not exist or cannot take it); such entries are counted in [`Health::ignored_inputs`]. Cost: one
//! look at each entry, then the step; nothing allocates once warm.

use sinew_flesh::{ExplicitFlesh, Flesh, FleshModel, FleshReport, FleshState, FleshWorkspace};
use sinew_mechanism::{Input, Order, StepHooks, step_coupled};

use crate::explicit_flesh::{FleshSubsteps, flesh_stage};
use crate::input::copy_input;
use crate::model::Model;
use crate::reduced::{ReducedStep, ReducedWorkspace};
use crate::reduced_model::ReducedModel;
use crate::report::{Health, StepReport};
use crate::settings::{Reduced, Scheme, Settings};
use crate::state::State;
use crate::watch::{BodiesWatch, Stage, Watch};
use crate::workspace::{LastStep, Workspace};

/// Advances a state by one step of `settings.dt`. The same arguments give the same bits, at any number of threads, with a new
/// workspace of the model or a used one.
///
/// A step that cannot be made is refused, see [`Health::refused`].
pub fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
) -> StepReport {
    step_observed(model, state, input, settings, workspace, &mut |_: Stage| {})
}

/// [`step`] with an observer: it is told when each stage has ended, and asked whether to go on refining loops. The library reads
/// no clock; the observer may.
pub fn step_observed(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    watch: &mut dyn Watch,
) -> StepReport {
    workspace.forget_last_step();
    let mut report = StepReport { time: state.bodies.time, ..StepReport::default() };
    let n_unusable = input.n_unusable(model.mechanism());
    let is_possible = settings.has_length() && state.fits(model);
    let Some(stepper) = Stepper::of(model, settings).filter(|_| is_possible) else {
        report.health = Health { refused: true, ignored_inputs: n_unusable, ..Health::default() };
        return report;
    };
    let call = StepCall { model, input, settings };
    match stepper {
        Stepper::Coupled(bodies) => call.step_coupled(&bodies, state, workspace, &mut report, watch),
        Stepper::ExplicitFlesh(split) => {
            call.step_explicit_flesh(&split, state, workspace, &mut report, watch);
        }
        Stepper::Reduced(reduced, how) => {
            call.step_reduced((reduced, how), state, workspace, &mut report, watch);
        }
    }
    report.health = health(&report, n_unusable);
    report.time = state.bodies.time;
    report.index = step_index(report.time, settings.dt);
    report
}

/// What was wrong, from the reports of bodies and flesh.
fn health(report: &StepReport, n_unusable: u32) -> Health {
    Health {
        ignored_inputs: n_unusable + report.health.ignored_inputs,
        regularized: report.mechanism.regularized,
        non_finite: report.mechanism.non_finite,
        non_finite_tet: report.flesh.elements.non_finite,
        refused: report.mechanism.refused,
    }
}

/// Number of the step that ends at `time`; 0 at the start.
pub fn step_index(time: f64, dt: f64) -> u64 {
    (time / dt).round() as u64
}

/// The stepper of a step, with what it needs.
enum Stepper<'a> {
    /// Bodies, and flesh solved with them by the implicit scheme.
    Coupled(sinew_mechanism::Settings),
    /// Flesh in explicit substeps, then bodies.
    ExplicitFlesh(SplitStep<'a>),
    /// The same in joint coordinates.
    Reduced(&'a ReducedModel, Reduced),
}

impl<'a> Stepper<'a> {
    /// The stepper that the settings choose; `None` if the model lacks what it needs.
    fn of(model: &'a Model, settings: &Settings) -> Option<Self> {
        if let Scheme::Reduced(how) = settings.scheme {
            return Some(Self::Reduced(model.reduced()?, how));
        }
        let bodies = settings.mechanism()?;
        Some(match (model.flesh(), settings.flesh_substeps()) {
            (Some(flesh), Some(substeps)) => Self::ExplicitFlesh(SplitStep { bodies, flesh, substeps }),
            _ => Self::Coupled(bodies),
        })
    }
}

/// A step of flesh, then of bodies.
struct SplitStep<'a> {
    bodies: sinew_mechanism::Settings,
    flesh: &'a FleshModel,
    substeps: u32,
}

/// What a step is given.
struct StepCall<'a> {
    model: &'a Model,
    input: &'a Input,
    settings: &'a Settings,
}

impl StepCall<'_> {
    fn step_coupled(
        &self,
        settings: &sinew_mechanism::Settings,
        state: &mut State,
        workspace: &mut Workspace,
        report: &mut StepReport,
        watch: &mut dyn Watch,
    ) {
        let State { bodies, flesh: soft, .. } = state;
        let Workspace { mechanism, flesh: work, last, .. } = workspace;
        let mut companion = None;
        if let (Some(flesh), Scheme::Implicit(implicit)) = (self.model.flesh(), self.settings.scheme) {
            let work = work.get_or_insert_with(|| Box::new(FleshWorkspace::new(flesh)));
            if lacks_history(soft) {
                // Flesh that was stepped in another way has no past: then neither have the bodies.
                bodies.forget_history();
            }
            *last = LastStep::Coupled;
            companion = Some(Flesh::new(flesh, soft, work, implicit.order == Order::Second));
        }
        let mut watch = BodiesWatch { watch };
        let hooks =
            StepHooks { watch: &mut watch, companion: companion.as_mut().map(|companion| companion as _) };
        let model = self.model.mechanism();
        report.mechanism = step_coupled(model, bodies, self.input, settings, mechanism, hooks);
        report.flesh = companion.map_or_else(FleshReport::default, |companion| companion.report());
    }

    fn step_explicit_flesh(
        &self,
        split: &SplitStep<'_>,
        state: &mut State,
        workspace: &mut Workspace,
        report: &mut StepReport,
        watch: &mut dyn Watch,
    ) {
        let SplitStep { bodies: settings, flesh, substeps } = *split;
        let State { bodies, flesh: soft, .. } = state;
        let Workspace { mechanism, explicit, input, last, .. } = workspace;
        *last = LastStep::ExplicitFlesh;
        let explicit = FleshSubsteps::in_slot(explicit, flesh, bodies);
        report.flesh = explicit.advance(flesh, bodies, soft, &settings_of_flesh(&settings, substeps));
        copy_input(self.input, input);
        input.wrenches.extend(explicit.flesh_wrenches.iter().chain(&explicit.contact_wrenches).copied());
        watch.done(flesh_stage(flesh));
        let mut watch = BodiesWatch { watch };
        let model = self.model.mechanism();
        report.mechanism =
            sinew_mechanism::step_observed(model, bodies, input, &settings, mechanism, &mut watch);
        explicit.finish(flesh, bodies, soft);
    }

    fn step_reduced(
        &self,
        (reduced, how): (&ReducedModel, Reduced),
        state: &mut State,
        workspace: &mut Workspace,
        report: &mut StepReport,
        watch: &mut dyn Watch,
    ) {
        let Workspace { reduced: work, explicit, last, .. } = workspace;
        *last = LastStep::Reduced;
        let Self { model, input, settings } = *self;
        let work = work.get_or_insert_with(|| Box::new(ReducedWorkspace::new(reduced, &state.bodies)));
        let explicit = model.flesh().map(|flesh| FleshSubsteps::in_slot(explicit, flesh, &state.bodies));
        let step = ReducedStep { model, reduced, input, settings, how };
        step.advance(state, work, explicit, report, watch);
    }
}

fn settings_of_flesh(bodies: &sinew_mechanism::Settings, substeps: u32) -> ExplicitFlesh {
    ExplicitFlesh { dt: bodies.dt, gravity: bodies.gravity, substeps, ..ExplicitFlesh::default() }
}

/// Whether flesh has no increments of the last step.
fn lacks_history(flesh: &FleshState) -> bool {
    let mut pairs = flesh.history.iter().zip(&flesh.nodes);
    pairs.any(|(past, now)| past.increments.len() != now.positions.len())
}
