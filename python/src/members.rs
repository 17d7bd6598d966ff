//! The members of a batch: many states of one scene, stepped on all cores.
//!
//! Members share the model, the recorded inputs and one workspace per thread; each has its state. A member takes the steps that a world of its own would
//! take, to the bit. Cost of a step: the sum of the steps, divided by the threads. Members with a model of their own make a thread fit its workspace to
//! each of them.

use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;
use sinew_mechanism::Input;
use sinew_sim::{ContactPartner, Model, Settings, State, Workspace, World, step};

use crate::given::Given;
use crate::layout::Layout;

/// A member.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) state: State,
    /// Its own model; none if it has that of the batch.
    pub(crate) model: Option<Arc<Model>>,
    /// Its own gravity.
    pub(crate) gravity: Option<DVec3>,
    /// Whether its last step could not be made, or left something that is not finite.
    pub(crate) is_lost: bool,
    /// Whether its last step told no warning.
    pub(crate) is_good: bool,
    /// Forces of contacts on its bodies in the last step, if they are kept.
    pub(crate) contact_forces: Vec<f64>,
}

/// What one thread needs.
struct Lane {
    workspace: Workspace,
    /// The model that it fits.
    model: Arc<Model>,
    /// What the scene has recorded, and for which time.
    recorded: Input,
    time: Option<f64>,
    /// That and what is given.
    input: Input,
}

impl Lane {
    fn new(model: &Arc<Model>) -> Self {
        let (workspace, model) = (Workspace::new(model), Arc::clone(model));
        Self { workspace, model, recorded: Input::default(), time: None, input: Input::default() }
    }

    /// Makes the workspace fit the model of a member.
    fn fit(&mut self, model: &Arc<Model>) {
        if !Arc::ptr_eq(model, &self.model) {
            self.workspace.refit(model);
            self.model = Arc::clone(model);
        }
    }

    /// Reads the recorded input. That of two members at the same time is the same, unless forces act on points of bodies.
    fn read(&mut self, world: &World, state: &State) {
        let time = state.bodies.time;
        let is_here = self.time.is_some_and(|known| known.to_bits() == time.to_bits());
        if !(is_here && self.recorded.wrenches.is_empty()) {
            world.fill_input(state, &mut self.recorded);
            self.time = Some(time);
        }
    }
}

/// Members of one scene.
pub(crate) struct Members {
    pub(crate) world: World,
    pub(crate) layout: Arc<Layout>,
    /// The state where members begin.
    start: State,
    pub(crate) all: Vec<Member>,
    lanes: Vec<Lane>,
    model: Arc<Model>,
    /// Members that are done begin anew by themselves; the time (s) after which they are.
    pub(crate) auto_reset: Option<f64>,
    pub(crate) keeps_contacts: bool,
}

/// What all members share during a step.
struct Shared<'a> {
    world: &'a World,
    layout: &'a Layout,
    model: &'a Arc<Model>,
    start: &'a State,
    settings: Settings,
    given: Option<&'a Given>,
    auto_reset: Option<f64>,
    keeps_contacts: bool,
}

impl Members {
    pub(crate) fn new(world: World, n: usize) -> Self {
        let start = world.checkpoint();
        let member = Member {
            state: start.clone(),
            model: None,
            gravity: None,
            is_lost: false,
            is_good: true,
            contact_forces: Vec::new(),
        };
        Self {
            layout: Arc::new(Layout::of(&world)),
            model: world.shared_model(),
            start,
            all: vec![member; n],
            lanes: Vec::new(),
            auto_reset: None,
            keeps_contacts: false,
            world,
        }
    }

    /// The model of a member.
    pub(crate) fn model_of(&self, member: usize) -> &Arc<Model> {
        self.all[member].model.as_ref().unwrap_or(&self.model)
    }

    /// Lets a member begin anew.
    pub(crate) fn reset(&mut self, member: usize) {
        let Self { all, start, model, .. } = self;
        all[member].begin(start, model);
    }

    /// Whether a member is done: lost, or at the end of its time.
    pub(crate) fn is_done(&self, member: usize) -> bool {
        self.all[member].is_done(self.auto_reset, self.world.settings().dt)
    }

    /// One step of every member.
    pub(crate) fn step(&mut self, given: Option<&Given>) {
        let Self { world, layout, start, all, lanes, model, auto_reset, keeps_contacts } = self;
        let n_lanes = rayon::current_num_threads().clamp(1, all.len().max(1));
        while lanes.len() < n_lanes {
            lanes.push(Lane::new(model));
        }
        let (auto_reset, keeps_contacts, settings) = (*auto_reset, *keeps_contacts, *world.settings());
        let shared = &Shared { world, layout, model, start, settings, given, auto_reset, keeps_contacts };
        let length = all.len().div_ceil(n_lanes).max(1);
        all.par_chunks_mut(length).zip(lanes.par_iter_mut()).enumerate().for_each(|(k, (members, lane))| {
            for (i, member) in members.iter_mut().enumerate() {
                member.step(shared, k * length + i, lane);
            }
        });
    }
}

impl Member {
    fn is_done(&self, auto_reset: Option<f64>, dt: f64) -> bool {
        self.is_lost || auto_reset.is_some_and(|limit| self.state.bodies.time + 0.5 * dt >= limit)
    }

    fn begin(&mut self, start: &State, shared: &Arc<Model>) {
        self.state.clone_from(start);
        self.state.model = self.model.as_ref().unwrap_or(shared).identity();
        (self.is_lost, self.is_good) = (false, true);
        self.contact_forces.fill(0.0);
    }

    /// One step; one that is done begins anew instead.
    fn step(&mut self, shared: &Shared<'_>, number: usize, lane: &mut Lane) {
        if shared.auto_reset.is_some() && self.is_done(shared.auto_reset, shared.settings.dt) {
            self.begin(shared.start, shared.model);
            return;
        }
        let model = self.model.as_ref().unwrap_or(shared.model);
        lane.fit(model);
        lane.read(shared.world, &self.state);
        let Lane { workspace, recorded, input, .. } = lane;
        let input = match shared.given {
            None => &*recorded,
            Some(given) => {
                input.clone_from(recorded);
                given.add(number, shared.layout, (model.mechanism(), &self.state.bodies), input);
                &*input
            }
        };
        let mut settings = shared.settings;
        settings.gravity = self.gravity.unwrap_or(settings.gravity);
        let report = step(model, &mut self.state, input, &settings, workspace);
        self.is_good = report.health.is_good();
        self.is_lost = report.health.refused || report.health.non_finite.is_some();
        if shared.keeps_contacts {
            keep_contacts(&mut self.contact_forces, model, workspace);
        }
    }
}

/// Sums up the forces of contacts per body.
fn keep_contacts(forces: &mut Vec<f64>, model: &Model, workspace: &Workspace) {
    forces.clear();
    forces.resize(3 * model.mechanism().n_bodies(), 0.0);
    for contact in workspace.contacts(model) {
        let partners = [(Some(contact.on), contact.force), (contact.by, -contact.force)];
        for (partner, force) in partners {
            let Some(body) = partner.and_then(ContactPartner::body) else { continue };
            for (sum, part) in forces[3 * body.index()..][..3].iter_mut().zip(force.to_array()) {
                *sum += part;
            }
        }
    }
}
