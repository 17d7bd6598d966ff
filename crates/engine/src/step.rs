//! One step of a whole model.
//!
//! | scheme | flesh coupled | flesh explicit |
//! |---|---|---|
//! | implicit | one solve of bodies, flesh and contacts | flesh in substeps, then the bodies under its wrenches with their own contacts |
//! | explicit, displacement | – | flesh in substeps, then the bodies; islands in contact by the implicit scheme, see the module `touched` |
//! | implicit, with a score | the same under commands, see the module `scored` | the same |
//! | reduced | – | the same in joint coordinates, see the module `reduced`; bodies of a score that touch something by the implicit scheme |
//!
//! An input is whatever a mouse, a tracker or a network sends. The mechanism leaves out what makes no sense (not finite, a negative
//! gain, a body or joint that does not exist or cannot take it); such entries are counted in [`Health::ignored_inputs`]. Cost: one
//! look at each entry, then the step; nothing allocates once warm.

use sinew_flesh::{ExplicitFlesh, Flesh, FleshModel, FleshReport, FleshState, FleshWorkspace};
use sinew_mechanism::{
    BodyId, Grab, Implicit, Input, LoopStop, Order, Stage, StepHooks, Watch, fill_part_input, is_step_length,
    past_limit, step_coupled,
};

use crate::explicit_flesh::{FleshSubsteps, flesh_stage};
use crate::overlap::ContactOverlap;
use crate::touched::{TouchedIslands, with_contacts};
use crate::workspace::LastStep;
use crate::{Health, Model, ReducedModel, Scheme, Settings, State, StepReport, Workspace};

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
    workspace.events.begin(model, state);
    workspace.passages.begin(model, state);
    let n_unusable = input.n_unusable(model.mechanism())
        + fill_activations(model, input, workspace)
        + model.flesh().map_or(input.skin.n_entries(), |flesh| flesh.n_unusable(&input.skin));
    let is_possible = is_step_length(settings.dt) && state.fits(model);
    let report = StepReport { time: state.bodies.time, ..StepReport::default() };
    let mut call = StepCall { model, input, settings, state, workspace, watch, report };
    if !is_possible || call.make().is_none() {
        call.report.health = Health { refused: true, ignored_inputs: n_unusable, ..Health::default() };
        return call.report;
    }
    let mut report = call.report;
    model.mechanism().count_turns(&mut state.bodies, settings.dt);
    workspace.note_events(model, state);
    let is_first = step_index(report.time, settings.dt) == 0;
    report.overlap = ContactOverlap::worst(workspace.contacts(model), &model.thickness, is_first);
    report.health = health(&report, n_unusable);
    report.health.deep_flesh = workspace.flesh_inside(model, state);
    report.health.passed_through = workspace.passages.first(model, state);
    report.past_limit = past_limit(model.mechanism(), &state.bodies, settings.dt);
    report.open_grab = open_grab(model, state, input);
    report.asleep = state.sleep.n_asleep() as u32;
    report.time = state.bodies.time;
    report.index = step_index(report.time, settings.dt);
    report
}

/// Relative error of the forces of flesh and contacts from which they count as not solved.
const UNSOLVED: f64 = 0.01;

/// Share of the radius of gyration of a body from which a hard grab is open.
const OPEN_GRAB: f64 = 0.01;

/// The first body that a hard grab does not hold where it should.
fn open_grab(model: &Model, state: &State, input: &Input) -> Option<BodyId> {
    let is_open = |grab: &&Grab| {
        let at = model.mechanism().body_pose(&state.bodies, grab.body).transform_point(grab.point);
        at.distance(grab.target) > OPEN_GRAB * model.gyration[grab.body.index()]
    };
    input.hard_grabs(model.mechanism()).find(is_open).map(|grab| grab.body)
}

/// Writes the activations of all muscles; returns the number of entries that are left out.
fn fill_activations(model: &Model, input: &Input, workspace: &mut Workspace) -> u32 {
    match model.flesh() {
        Some(flesh) => flesh.fill_activations(&input.activations, &mut workspace.activations),
        None => input.activations.len() as u32,
    }
}

/// What was wrong, from the reports of bodies and flesh.
fn health(report: &StepReport, n_unusable: u32) -> Health {
    Health {
        ignored_inputs: n_unusable + report.health.ignored_inputs,
        regularized: report.mechanism.regularized,
        open_joint: report.mechanism.worst_joint,
        open_rope: report.mechanism.noticed.open_rope,
        mended: report.mechanism.noticed.mended,
        gaining: report.mechanism.noticed.gaining,
        deep_contact: report.overlap.filter(ContactOverlap::is_deep).map(|overlap| overlap.bodies),
        unsolved_loops: matches!(report.mechanism.loops.stop, LoopStop::Diverged | LoopStop::Breakdown),
        unsolved_flesh: report.flesh.solve.is_some_and(|solve| solve.residual > UNSOLVED),
        unsolved_contacts: report.flesh.touched.is_some_and(|touched| touched.residual > UNSOLVED),
        non_finite: report.mechanism.non_finite,
        non_finite_tet: report.flesh.elements.non_finite,
        refused: report.mechanism.refused,
        ..Health::default()
    }
}

/// Number of the step that ends at `time`; 0 at the start.
pub fn step_index(time: f64, dt: f64) -> u64 {
    (time / dt).round() as u64
}

/// A step under way: what it is given, and what it changes.
pub(crate) struct StepCall<'a> {
    pub(crate) model: &'a Model,
    pub(crate) input: &'a Input,
    pub(crate) settings: &'a Settings,
    pub(crate) state: &'a mut State,
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) watch: &'a mut dyn Watch,
    pub(crate) report: StepReport,
}

impl StepCall<'_> {
    /// Makes the step; `None` if the model lacks what the scheme needs.
    fn make(&mut self) -> Option<()> {
        if let Scheme::Reduced(how) = self.settings.scheme {
            let reduced = self.model.reduced()?;
            match reduced.controller() {
                Some(_) if self.meets() => self.step_met(reduced)?,
                _ => self.step_reduced(reduced, how),
            }
            return Some(());
        }
        let bodies = self.settings.mechanism()?;
        match self.model.reduced().filter(|reduced| reduced.controller().is_some()) {
            Some(reduced) if matches!(self.settings.scheme, Scheme::Implicit(_)) => {
                self.step_scored(reduced, &bodies);
            }
            _ => self.step_bodies(&bodies),
        }
        Some(())
    }

    /// Whether bodies of a model without flesh may touch something in the step.
    fn meets(&mut self) -> bool {
        let Some(flesh) = self.model.flesh().filter(|flesh| flesh.is_of_bodies_only()) else { return false };
        let work = self.workspace.flesh.get_or_insert_with(|| Box::new(FleshWorkspace::new(flesh)));
        work.are_near(flesh, &self.state.bodies, self.settings.dt, self.settings.gravity)
    }

    /// A step under a score that contacts act in: the implicit one, for contacts are stiff and begin within the step.
    fn step_met(&mut self, reduced: &ReducedModel) -> Option<()> {
        let settings = Settings { scheme: Scheme::Implicit(Implicit::default()), ..*self.settings };
        let bodies = settings.mechanism()?;
        let Self { model, input, state, workspace, watch, report, .. } = self;
        state.bodies.forget_history();
        let mut call =
            StepCall { model, input, settings: &settings, state, workspace, watch: *watch, report: *report };
        call.step_scored(reduced, &bodies);
        *report = call.report;
        Some(())
    }

    /// Bodies and flesh by the scheme of the mechanism.
    fn step_bodies(&mut self, bodies: &sinew_mechanism::Settings) {
        match (self.model.flesh(), self.settings.flesh_substeps()) {
            (Some(flesh), Some(substeps)) => self.step_explicit_flesh(bodies, flesh, substeps),
            _ => self.step_coupled(bodies),
        }
    }

    /// Makes the step under the laws of its input; returns what it reports.
    pub(crate) fn made_without_score(mut self, bodies: &sinew_mechanism::Settings) -> StepReport {
        self.step_bodies(bodies);
        self.report
    }

    /// Bodies, and flesh solved with them by the implicit scheme.
    fn step_coupled(&mut self, settings: &sinew_mechanism::Settings) {
        let how = self.settings.sleep_of(self.model);
        self.workspace.sleep.begin(how, self.model, (self.state, self.input), settings.gravity);
        let State { bodies, flesh: soft, sleep, .. } = &mut *self.state;
        let Workspace { mechanism, flesh: work, last, activations, parted, .. } = &mut *self.workspace;
        let mut companion = None;
        if let (Some(flesh), Scheme::Implicit(implicit)) = (self.model.flesh(), self.settings.scheme) {
            let work = work.get_or_insert_with(|| Box::new(FleshWorkspace::new(flesh)));
            if lacks_history(soft) {
                // Flesh that was stepped in another way has no past: then neither have the bodies.
                bodies.forget_history();
            }
            *last = LastStep::Coupled;
            parted.begin(self.model, (flesh, work), bodies);
            let keeps_history = implicit.order == Order::Second;
            companion = Some(Flesh::new(flesh, soft, work, keeps_history).with_activations(activations));
            companion =
                companion.map(|flesh| flesh.with_skin_input(&self.input.skin).with_parted(&parted.pairs));
            if sleep.n_asleep() > 0 {
                companion = companion.map(|flesh| flesh.with_sleepers(&sleep.groups));
            }
        }
        let hooks = StepHooks { watch: self.watch, companion: companion.as_mut().map(|flesh| flesh as _) };
        let model = self.model.mechanism();
        self.report.mechanism = step_coupled(model, bodies, self.input, settings, mechanism, hooks);
        self.report.flesh = companion.map_or_else(FleshReport::default, |flesh| flesh.report());
        let Workspace { flesh: work, sleep, .. } = &mut *self.workspace;
        if let (Some(how), Some(work)) = (how, work) {
            sleep.end(self.model, (self.state, self.input), how, work);
            self.report.flesh.contacts = self.report.flesh.contacts.with(sleep.summary());
        }
    }

    /// Flesh in explicit substeps, then bodies with their contacts; in parts that resolve how bones vibrate in the flesh.
    fn step_explicit_flesh(
        &mut self,
        settings: &sinew_mechanism::Settings,
        flesh: &FleshModel,
        substeps: u32,
    ) {
        let mechanism = self.model.mechanism();
        let explicit =
            FleshSubsteps::in_slot(&mut self.workspace.explicit, (mechanism, flesh), &self.state.bodies);
        let parts = explicit.n_parts(settings.dt, substeps);
        if parts == 1 {
            self.workspace.input.clone_from(self.input);
            return self.step_explicit_part(settings, flesh, substeps);
        }
        let (end, dt) = (self.state.bodies.time + settings.dt, settings.dt / f64::from(parts));
        let mut whole = self.report;
        let mut shorter = *settings;
        shorter.dt = dt;
        for k in 0..parts {
            let (share, left) = (1.0 / f64::from(parts - k), dt * f64::from(parts - 1 - k));
            let Workspace { input: part, .. } = &mut *self.workspace;
            fill_part_input(mechanism, &self.state.bodies, self.input, [share, left], part);
            self.step_explicit_part(&shorter, flesh, substeps);
            whole = whole.followed_by_part(&self.report);
            if self.report.mechanism.non_finite.is_some() {
                break;
            }
        }
        self.report = whole;
        self.state.bodies.time = end;
    }

    /// A part of such a step; what acts on bodies in it is in the input of the workspace.
    fn step_explicit_part(
        &mut self,
        settings: &sinew_mechanism::Settings,
        flesh: &FleshModel,
        substeps: u32,
    ) {
        let State { bodies, flesh: soft, .. } = &mut *self.state;
        self.workspace.last = LastStep::ExplicitFlesh;
        let mechanism = self.model.mechanism();
        let explicit = FleshSubsteps::in_slot(&mut self.workspace.explicit, (mechanism, flesh), bodies);
        let &sinew_mechanism::Settings { dt, gravity, .. } = settings;
        let activations = &self.workspace.activations;
        let skin = Some(&self.input.skin);
        let how = ExplicitFlesh { dt, gravity, substeps, activations, skin, ..ExplicitFlesh::default() };
        self.report.flesh = explicit.advance(flesh, bodies, soft, &how, false);
        self.workspace.input.wrenches.extend(explicit.flesh_wrenches.iter().copied());
        self.watch.done(flesh_stage(flesh));
        match self.settings.scheme {
            Scheme::Implicit(implicit) => self.step_touching(settings, implicit.order),
            _ => self.step_touched(settings),
        }
        let State { bodies, flesh: soft, .. } = &mut *self.state;
        if let Some(explicit) = &mut self.workspace.explicit {
            explicit.finish(flesh, bodies, soft);
        }
    }

    /// Bodies by the implicit scheme, solved with their contacts.
    fn step_touching(&mut self, settings: &sinew_mechanism::Settings, order: Order) {
        let State { bodies, flesh: soft, .. } = &mut *self.state;
        let Workspace { mechanism, touching: work, input, touched, parted, .. } = &mut *self.workspace;
        *touched = None;
        let model = self.model.mechanism();
        let Some(touching) = self.model.touching() else {
            *work = None;
            self.report.mechanism =
                sinew_mechanism::step_observed(model, bodies, input, settings, mechanism, self.watch);
            return;
        };
        let work = work.get_or_insert_with(|| Box::new(FleshWorkspace::new(touching)));
        parted.begin(self.model, (touching, work), bodies);
        let anchors = std::mem::take(&mut soft.body_anchors);
        let mut memory = FleshState { anchors, ..FleshState::default() };
        let companion = Flesh::new(touching, &mut memory, work, order == Order::Second);
        let mut companion = companion.with_parted(&parted.pairs);
        let hooks = StepHooks { watch: self.watch, companion: Some(&mut companion) };
        self.report.mechanism = step_coupled(model, bodies, input, settings, mechanism, hooks);
        self.report.flesh = with_contacts(self.report.flesh, companion.report());
        soft.body_anchors = memory.anchors;
    }

    /// Bodies by another scheme; islands that something touches by the implicit one.
    fn step_touched(&mut self, settings: &sinew_mechanism::Settings) {
        let State { bodies, flesh: soft, .. } = &mut *self.state;
        let Workspace { mechanism, touching, input, touched, .. } = &mut *self.workspace;
        *touching = None;
        let touched = TouchedIslands::begin(touched, self.model, bodies, input);
        let model = self.model.mechanism();
        self.report.mechanism =
            sinew_mechanism::step_observed(model, bodies, input, settings, mechanism, self.watch);
        if let Some((touched, touching)) = touched {
            let places = (bodies, &mut soft.body_anchors);
            let part = Settings { dt: settings.dt, ..*self.settings };
            let (implicit, found) = touched.settle((model, touching), &part, places, self.watch);
            touched.give_reactions(model, mechanism);
            self.report.take_touched(implicit, found, &self.state.bodies);
        }
    }
}

/// Whether flesh has no increments of the last step.
fn lacks_history(flesh: &FleshState) -> bool {
    let mut pairs = flesh.history.iter().zip(&flesh.nodes);
    pairs.any(|(past, now)| past.increments.len() != now.positions.len())
}
