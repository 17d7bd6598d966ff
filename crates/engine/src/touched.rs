//! Contacts of bodies in schemes that are not implicit.
//!
//! Contact is stiff and begins within a step, so explicit forces would need steps of a fraction of a millisecond. Instead a second step of the
//! same length is made from the same start by the implicit scheme of first order, which solves bodies and contacts together. Islands (bodies
//! connected by joints, springs, ropes and gears) that a contact force acted on take its end; all others keep that of the scheme, to the
//! bit. Both are whole steps, because nothing else acts between islands.
//!
//! Characters with a controller are not touched this way: a command prescribes what the implicit step would have to find.
//! World axes, SI. Cost: an implicit step where anything is near; nothing allocates once warm.

use glam::DVec3;
use sinew_contact::{Anchors, ContactPoint, TouchPair};
use sinew_flesh::{Flesh, FleshModel, FleshReport, FleshState, FleshWorkspace};
use sinew_mechanism::{Implicit, Input, State, StepHooks, Watch, Workspace, mark_islands, step_coupled};

use crate::{Model, Reduced, ReducedMethod, Scheme, Settings};

/// The implicit step beside another one, and the islands that took it.
pub(crate) struct TouchedIslands {
    work: FleshWorkspace,
    pub(crate) mechanism: Workspace,
    /// Bodies where the step begins, and where the implicit one ends.
    start: State,
    end: State,
    /// What acts on bodies, with the wrenches of explicit flesh.
    pub(crate) input: Input,
    /// Per body: whether its island was touched in the last step.
    marked: Vec<bool>,
}

impl TouchedIslands {
    /// Begins a step; the scratch in the slot is made on first use, and removed if no body can be touched.
    pub(crate) fn begin<'a>(
        slot: &'a mut Option<Box<Self>>,
        model: &'a Model,
        bodies: &State,
        input: &Input,
    ) -> Option<(&'a mut Self, &'a FleshModel)> {
        let Some(touching) = model.touching() else {
            *slot = None;
            return None;
        };
        let this = slot.get_or_insert_with(|| {
            Box::new(Self {
                work: FleshWorkspace::new(touching),
                mechanism: Workspace::new(model.mechanism()),
                start: bodies.clone(),
                end: bodies.clone(),
                input: Input::default(),
                marked: Vec::new(),
            })
        });
        this.start.clone_from(bodies);
        this.input.clone_from(input);
        Some((this, touching))
    }

    /// Ends a step that took the bodies to `bodies` without contacts between them: touched islands take the implicit one. Returns what that
    /// reports, and the contacts; no report if nothing was touched.
    pub(crate) fn settle(
        &mut self,
        (model, touching): (&sinew_mechanism::Model, &FleshModel),
        settings: &Settings,
        (bodies, anchors): (&mut State, &mut Anchors),
        watch: &mut dyn Watch,
    ) -> (Option<sinew_mechanism::StepReport>, FleshReport) {
        let Self { work, mechanism, start, end, input, marked } = self;
        marked.clear();
        if !work.are_near(touching, start, settings.dt, settings.gravity) {
            anchors.clear();
            return Default::default();
        }
        let implicit = Settings { scheme: Scheme::Implicit(Implicit::default()), ..*settings };
        let Some(implicit) = implicit.mechanism() else { return Default::default() };
        end.clone_from(start);
        end.forget_history();
        let mut memory = FleshState { anchors: std::mem::take(anchors), ..FleshState::default() };
        let mut companion = Flesh::new(touching, &mut memory, work, false);
        if has_speeds_at_end(&settings.scheme) {
            companion = companion.with_speeds_at_end();
        }
        let hooks = StepHooks { watch, companion: Some(&mut companion) };
        let report = step_coupled(model, end, input, &implicit, mechanism, hooks);
        let found = companion.report();
        *anchors = memory.anchors;
        marked.resize(start.poses.len(), false);
        for contact in work.contacts().map(|(contact, _)| contact) {
            contact.bodies().into_iter().flatten().for_each(|body| marked[body] = true);
        }
        mark_islands(model, marked);
        bodies.take_islands(model, start, end, marked);
        (marked.contains(&true).then_some(report), found)
    }

    /// Joint wrenches and accelerations of the touched islands into the workspace of the scheme.
    pub(crate) fn give_reactions(&self, model: &sinew_mechanism::Model, to: &mut Workspace) {
        to.take_reactions(model, &self.mechanism, &self.marked);
    }

    /// Whether a body took the implicit step.
    pub(crate) fn has(&self, body: usize) -> bool {
        self.marked.get(body) == Some(&true)
    }

    /// The contacts that acted in the last step, their forces on the first side (N), and the lever arms of both sides (m).
    pub(crate) fn pushes(&self) -> impl Iterator<Item = (&ContactPoint, DVec3, [DVec3; 2])> {
        self.work.pushes()
    }

    /// What touched or was near in the last step.
    pub(crate) fn touches(&self) -> &[TouchPair] {
        self.work.touches()
    }
}

/// Whether the speeds of a scheme belong to the ends of steps, and are not means of them.
fn has_speeds_at_end(scheme: &Scheme) -> bool {
    matches!(scheme, Scheme::Explicit(_) | Scheme::Reduced(Reduced { method: ReducedMethod::Rk4, .. }))
}

/// A report of flesh with that of contacts of bodies.
pub(crate) fn with_contacts(mut flesh: FleshReport, bodies: FleshReport) -> FleshReport {
    flesh.contacts = flesh.contacts.with(bodies.contacts);
    flesh.touched = bodies.touched;
    flesh
}

impl std::fmt::Debug for TouchedIslands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TouchedIslands").field("marked", &self.marked).finish_non_exhaustive()
    }
}
