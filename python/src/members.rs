//! The members of a batch: many states of one scene, stepped on all cores.
//!
//! Members share the model, the recorded inputs and one workspace per thread; each has its state. A member takes the steps that a world of its own would
//! take, to the bit. Cost of a step: the sum of the steps, divided by the threads, which take a few members at a time from those that are left. Several steps are
//! made member by member, while its state is in the cache. A thread has to fit its workspace to members whose models differ in more than numbers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::DVec3;
use rayon::prelude::*;
use sinew_mechanism::{Grab, Input};
use sinew_sim::{ContactPartner, Model, SceneVariants, State, Workspace, World, step};

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

/// Most steps that a member makes in a row, and of how many times a thread keeps what the scene has recorded.
pub(crate) const STRIDE: usize = 16;

/// Portions of members per thread: more let threads even out, fewer cost less.
const PORTIONS: usize = 8;

/// What one thread needs.
struct Lane {
    workspace: Workspace,
    /// The model that it fits.
    model: Arc<Model>,
    /// What the scene has recorded, by the bits of the time.
    recorded: Vec<(u64, Input)>,
    /// Which of them was read last.
    last: usize,
    /// That and what is given.
    input: Input,
}

impl Lane {
    fn new(model: &Arc<Model>) -> Self {
        let (workspace, model) = (Workspace::new(model), Arc::clone(model));
        Self { workspace, model, recorded: Vec::new(), last: 0, input: Input::default() }
    }

    /// Makes the workspace fit the model of a member.
    fn fit(&mut self, model: &Arc<Model>) {
        if !Arc::ptr_eq(model, &self.model) {
            if !model.is_like(&self.model) {
                self.workspace.refit(model);
            }
            self.model = Arc::clone(model);
        }
    }

    /// Reads the recorded input. That of two members at the same time is the same, unless forces act on points of bodies.
    fn read(&mut self, world: &World, state: &State) {
        let time = state.bodies.time.to_bits();
        match self.recorded.iter().position(|(known, _)| *known == time) {
            Some(found) => {
                self.last = found;
                if self.recorded[found].1.wrenches.is_empty() {
                    return;
                }
            }
            None if self.recorded.len() < STRIDE => {
                self.last = self.recorded.len();
                self.recorded.push((time, Input::default()));
            }
            None => self.last = (self.last + 1) % STRIDE,
        }
        let (known, input) = &mut self.recorded[self.last];
        *known = time;
        world.fill_input(state, input);
    }
}

/// What acts on the members beside what the scene has recorded.
#[derive(Clone, Copy)]
pub(crate) struct GivenToAll<'a> {
    pub(crate) arrays: Option<&'a Given>,
    /// Per member; empty without any.
    pub(crate) grabs: &'a [Vec<Grab>],
}

/// Members of one scene.
pub(crate) struct Members {
    pub(crate) world: World,
    pub(crate) layout: Arc<Layout>,
    /// The state where members begin.
    start: State,
    pub(crate) all: Vec<Member>,
    /// Those that no thread uses.
    lanes: Vec<Lane>,
    /// What varied members share, once there are some.
    pub(crate) variants: Option<Arc<SceneVariants>>,
    /// Members that are done begin anew by themselves; the time (s) after which they are.
    pub(crate) auto_reset: Option<f64>,
    pub(crate) keeps_contacts: bool,
}

/// What all members share during a step.
struct Shared<'a> {
    world: &'a World,
    layout: &'a Layout,
    start: &'a State,
    given: GivenToAll<'a>,
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
            start,
            all: vec![member; n],
            lanes: Vec::new(),
            variants: None,
            auto_reset: None,
            keeps_contacts: false,
            world,
        }
    }

    /// The model of a member at its present time.
    pub(crate) fn model_of(&self, member: usize) -> &Arc<Model> {
        self.all[member].model_in(&self.world)
    }

    /// The gravity of a member at its present time, m/s².
    pub(crate) fn gravity_of(&self, member: usize) -> DVec3 {
        let Member { gravity, state, .. } = &self.all[member];
        gravity.unwrap_or_else(|| self.world.in_force_at(state.bodies.time).1.gravity)
    }

    /// Lets a member begin anew.
    pub(crate) fn reset(&mut self, member: usize) {
        let Self { all, start, world, .. } = self;
        all[member].begin(start, world);
    }

    /// Whether a member is done: lost, or at the end of its time.
    pub(crate) fn is_done(&self, member: usize) -> bool {
        self.all[member].is_done(self.auto_reset, self.world.settings().dt)
    }

    /// So many steps of every member.
    pub(crate) fn step(&mut self, given: GivenToAll<'_>, n_steps: usize) {
        let Self { world, layout, start, all, lanes, auto_reset, keeps_contacts, .. } = self;
        let (auto_reset, keeps_contacts) = (*auto_reset, *keeps_contacts);
        let shared = &Shared { world, layout, start, given, auto_reset, keeps_contacts };
        let length = all.len().div_ceil(PORTIONS * rayon::current_num_threads()).max(1);
        let idle = Mutex::new(std::mem::take(lanes));
        all.par_chunks_mut(length).enumerate().for_each(|(k, members)| {
            let known = lock(&idle).pop();
            let mut lane = known.unwrap_or_else(|| Lane::new(shared.world.in_force_at(0.0).0));
            for (i, member) in members.iter_mut().enumerate() {
                (0..n_steps).for_each(|_| member.step(shared, k * length + i, &mut lane));
            }
            lock(&idle).push(lane);
        });
        *lanes = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
}

fn lock(lanes: &Mutex<Vec<Lane>>) -> MutexGuard<'_, Vec<Lane>> {
    lanes.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Member {
    fn model_in<'a>(&'a self, world: &'a World) -> &'a Arc<Model> {
        self.model.as_ref().unwrap_or_else(|| world.in_force_at(self.state.bodies.time).0)
    }

    fn is_done(&self, auto_reset: Option<f64>, dt: f64) -> bool {
        self.is_lost || auto_reset.is_some_and(|limit| self.state.bodies.time + 0.5 * dt >= limit)
    }

    fn begin(&mut self, start: &State, world: &World) {
        self.state.clone_from(start);
        self.state.model = self.model_in(world).identity();
        (self.is_lost, self.is_good) = (false, true);
        self.contact_forces.fill(0.0);
    }

    /// One step; one that is done begins anew instead.
    fn step(&mut self, shared: &Shared<'_>, number: usize, lane: &mut Lane) {
        let world = shared.world;
        let (model, settings) = world.in_force_at(self.state.bodies.time);
        if shared.auto_reset.is_some() && self.is_done(shared.auto_reset, settings.dt) {
            self.begin(shared.start, world);
            return;
        }
        world.wake_if_changed(&mut self.state);
        let model = self.model.as_ref().unwrap_or(model);
        lane.fit(model);
        lane.read(world, &self.state);
        let Lane { workspace, recorded, last, input, .. } = lane;
        let recorded = &recorded[*last].1;
        let grabs = shared.given.grabs.get(number).map_or(&[][..], Vec::as_slice);
        let input = if shared.given.arrays.is_none() && grabs.is_empty() {
            recorded
        } else {
            input.clone_from(recorded);
            if let Some(given) = shared.given.arrays {
                given.add(number, shared.layout, (model.mechanism(), &self.state.bodies), input);
            }
            input.grabs.extend_from_slice(grabs);
            &*input
        };
        let mut settings = *settings;
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
