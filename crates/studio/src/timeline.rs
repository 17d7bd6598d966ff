//! The recording of a run: any recorded moment can be restored bit for bit.
//!
//! It stores a checkpoint (state) every `every` steps, the grabs of each step that has any, and each document with
//! the step at which it came into force. A step depends only on state, document and grabs, so stepping from a
//! checkpoint gives the same bits. Memory: when the checkpoints exceed their budget, every second one is dropped and
//! `every` doubles; the first one stays. Seeking costs at most `every − 1` steps and one build for each change of
//! document in between.

use std::{collections::BTreeMap, sync::Arc};

use sinew_scene::SceneDoc;
use sinew_sim::{FleshGrab, Grab, State};

/// Default memory of checkpoints in bytes: a quarter of a gigabyte.
pub const BUDGET: usize = 256 << 20;
/// Initial number of steps between checkpoints.
const EVERY: u64 = 8;

/// A grab with an identity that persists from step to step. The grabs of a step are sorted by number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbered<G> {
    /// Stays the same while only the target changes.
    pub number: u32,
    /// Body or flesh, point, target and gains.
    pub grab: G,
}

/// A grab of a body.
pub type NumberedGrab = Numbered<Grab>;
/// A grab of flesh.
pub type NumberedFleshGrab = Numbered<FleshGrab>;

/// The grabs of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepGrabs {
    /// Time at the start of the step (s).
    pub start: f64,
    /// Time at the end of the step (s).
    pub end: f64,
    /// The grabs of bodies.
    pub grabs: Vec<NumberedGrab>,
    /// The grabs of flesh.
    pub skin: Vec<NumberedFleshGrab>,
}

impl StepGrabs {
    fn n_grabs(&self) -> usize {
        self.grabs.len() + self.skin.len()
    }
}

/// A document and the step at which it came into force.
#[derive(Clone, Debug)]
pub struct Change {
    /// Number of steps before.
    pub step: u64,
    /// The document. A run of it from the start leads to the same state at this step.
    pub doc: Arc<SceneDoc>,
}

/// Checkpoints, grabs and documents of a run. Clones share the checkpoints.
#[derive(Clone, Debug)]
pub struct Timeline {
    n_steps: u64,
    every: u64,
    budget: usize,
    bytes_per_state: usize,
    /// States after `i · every` steps.
    checkpoints: Vec<Arc<State>>,
    grabs: BTreeMap<u64, StepGrabs>,
    /// Number of grabs of all steps.
    n_grabs: usize,
    /// In order of their steps; the first step is 0.
    changes: Vec<Change>,
}

impl Timeline {
    /// A recording that starts at a state. `budget` is the memory of the checkpoints in bytes; at least two are kept.
    pub fn new(start: &State, doc: Arc<SceneDoc>, budget: usize) -> Self {
        Self {
            n_steps: 0,
            every: EVERY,
            budget,
            bytes_per_state: bytes(start),
            checkpoints: vec![Arc::new(start.clone())],
            grabs: BTreeMap::new(),
            n_grabs: 0,
            changes: vec![Change { step: 0, doc }],
        }
    }

    /// Number of steps recorded.
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// Number of steps between checkpoints.
    pub fn every(&self) -> u64 {
        self.every
    }

    /// Memory of checkpoints and grabs in bytes.
    pub fn bytes(&self) -> usize {
        self.checkpoints.len() * self.bytes_per_state
            + self.n_grabs * size_of::<NumberedFleshGrab>()
            + self.grabs.len() * size_of::<(u64, StepGrabs)>()
    }

    /// The grabs of all steps that have any, by the number of steps before.
    pub fn grabs(&self) -> &BTreeMap<u64, StepGrabs> {
        &self.grabs
    }

    /// The grabs of the step after `step` steps.
    pub fn grabs_at(&self, step: u64) -> &[NumberedGrab] {
        self.grabs.get(&step).map_or(&[], |of_step| &of_step.grabs)
    }

    /// The grabs of flesh in the step after `step` steps.
    pub fn skin_at(&self, step: u64) -> &[NumberedFleshGrab] {
        self.grabs.get(&step).map_or(&[], |of_step| &of_step.skin)
    }

    /// The documents, in order of their steps.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Index of the document in force for the step after `step` steps.
    pub fn change_at(&self, step: u64) -> usize {
        self.changes.partition_point(|change| change.step <= step).saturating_sub(1)
    }

    /// Records a step: its grabs, if any, and the state after it.
    pub fn push(&mut self, made: StepGrabs, after: &State) {
        if made.n_grabs() > 0 {
            self.n_grabs += made.n_grabs();
            self.grabs.insert(self.n_steps, made);
        }
        self.n_steps += 1;
        if self.n_steps.is_multiple_of(self.every) {
            self.checkpoints.push(Arc::new(after.clone()));
            if self.checkpoints.len() > 2 && self.checkpoints.len() * self.bytes_per_state > self.budget {
                self.thin();
            }
        }
    }

    /// Records that a document is in force from the present step on. Replaces a document of the same step.
    pub fn change(&mut self, doc: Arc<SceneDoc>) {
        let step = self.n_steps;
        self.changes.retain(|change| change.step < step);
        self.changes.push(Change { step, doc });
    }

    /// Edits all documents; the edit must not affect the simulation.
    pub fn edit(&mut self, mut edit: impl FnMut(&mut SceneDoc)) {
        self.changes.iter_mut().for_each(|change| edit(Arc::make_mut(&mut change.doc)));
    }

    /// The last checkpoint at or before `step`, with its number of steps.
    pub fn before(&self, step: u64) -> (u64, &State) {
        let i = ((step / self.every) as usize).min(self.checkpoints.len() - 1);
        (i as u64 * self.every, &self.checkpoints[i])
    }

    /// Discards everything after `step` steps.
    pub fn truncate(&mut self, step: u64) {
        if step >= self.n_steps {
            return;
        }
        self.n_steps = step;
        self.checkpoints.truncate((step / self.every) as usize + 1);
        let discarded = self.grabs.split_off(&step);
        self.n_grabs -= discarded.values().map(StepGrabs::n_grabs).sum::<usize>();
        self.changes.retain(|change| change.step <= step);
    }

    fn thin(&mut self) {
        self.every *= 2;
        let mut i = 0;
        self.checkpoints.retain(|_| {
            i += 1;
            i % 2 == 1
        });
    }
}

/// Size of a state in bytes, including its lists.
fn bytes(state: &State) -> usize {
    let bodies = &state.bodies;
    let of_bodies = size_of_val(&bodies.poses[..])
        + size_of_val(&bodies.motions[..])
        + size_of_val(&bodies.twists[..])
        + size_of_val(&bodies.pulls[..])
        + size_of_val(&bodies.loops.forces[..])
        + size_of_val(&bodies.loops.pulls[..])
        // Filled by steps of second order.
        + 2 * size_of_val(&bodies.motions[..]);
    let nodes = state.flesh.nodes.iter().map(|nodes| 4 * size_of_val(&nodes.positions[..]));
    size_of::<State>() + of_bodies + nodes.sum::<usize>()
}
