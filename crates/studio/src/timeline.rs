//! What was done, step by step, so that any moment can be visited again to the bit.
//!
//! Kept are the state every `every` steps, the holds of each step that had any, and each document from the step on that it
//! was in force. A step depends on state, document and holds alone, so stepping again from a checkpoint gives the same bits.
//! Memory: when the checkpoints outgrow their budget, every second one is forgotten and `every` doubles; the first stays.
//! A visit costs at most `every − 1` steps and one build for each change of document between.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_scene::SceneDoc;
use sinew_sim::{Grab, State};

/// Bytes of checkpoints kept by default: a quarter of a gigabyte.
pub const BUDGET: usize = 256 << 20;
/// Steps between checkpoints at first.
const EVERY: u64 = 8;

/// A hold on a body in one step. Those of one step are in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// The same for as long as nothing but the target changes.
    pub number: u32,
    /// What is held, where to, and how.
    pub grab: Grab,
}

/// The holds of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Hands {
    /// Time at the beginning of the step, s.
    pub start: f64,
    /// Time at the end of the step, s.
    pub end: f64,
    /// The holds.
    pub holds: Vec<Hold>,
}

/// A document and the step before which it came into force.
#[derive(Clone, Debug)]
pub struct Change {
    /// Number of steps made before.
    pub step: u64,
    /// The document. A run of it from the beginning leads here as well.
    pub doc: Arc<SceneDoc>,
}

/// Checkpoints, holds and changes of a run. Copies share the checkpoints.
#[derive(Clone, Debug)]
pub struct Timeline {
    n_steps: u64,
    every: u64,
    budget: usize,
    bytes_per_state: usize,
    /// States after steps `i · every`.
    checkpoints: Vec<Arc<State>>,
    hands: BTreeMap<u64, Hands>,
    /// Holds of all steps together.
    n_holds: usize,
    /// In order of their steps, of which the first is 0.
    changes: Vec<Change>,
}

impl Timeline {
    /// Begins at a state; `budget` is the number of bytes that checkpoints may take, two at least being kept.
    pub fn new(start: &State, doc: Arc<SceneDoc>, budget: usize) -> Self {
        Self {
            n_steps: 0,
            every: EVERY,
            budget,
            bytes_per_state: bytes(start),
            checkpoints: vec![Arc::new(start.clone())],
            hands: BTreeMap::new(),
            n_holds: 0,
            changes: vec![Change { step: 0, doc }],
        }
    }

    /// Number of steps recorded.
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// Steps from checkpoint to checkpoint.
    pub fn every(&self) -> u64 {
        self.every
    }

    /// Bytes taken by checkpoints and holds.
    pub fn bytes(&self) -> usize {
        self.checkpoints.len() * self.bytes_per_state
            + self.n_holds * size_of::<Hold>()
            + self.hands.len() * size_of::<(u64, Hands)>()
    }

    /// The holds of all steps that had any, by the number of steps made before.
    pub fn hands(&self) -> &BTreeMap<u64, Hands> {
        &self.hands
    }

    /// The holds of the step after `step` steps.
    pub fn holds(&self, step: u64) -> &[Hold] {
        self.hands.get(&step).map_or(&[], |hands| &hands.holds)
    }

    /// The documents, in order of their steps.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Which document is in force for the step after `step` steps.
    pub fn change_at(&self, step: u64) -> usize {
        self.changes.partition_point(|change| change.step <= step).saturating_sub(1)
    }

    /// Notes a step: its holds, if there were any, and the state it led to.
    pub fn push(&mut self, hands: Hands, after: &State) {
        if !hands.holds.is_empty() {
            self.n_holds += hands.holds.len();
            self.hands.insert(self.n_steps, hands);
        }
        self.n_steps += 1;
        if self.n_steps.is_multiple_of(self.every) {
            self.checkpoints.push(Arc::new(after.clone()));
            if self.checkpoints.len() > 2 && self.checkpoints.len() * self.bytes_per_state > self.budget {
                self.thin();
            }
        }
    }

    /// Notes that a document is in force from here on; one that came into force at the same step is replaced.
    pub fn change(&mut self, doc: Arc<SceneDoc>) {
        let step = self.n_steps;
        self.changes.retain(|change| change.step < step);
        self.changes.push(Change { step, doc });
    }

    /// Edits what no run depends on in all documents.
    pub fn edit(&mut self, mut edit: impl FnMut(&mut SceneDoc)) {
        self.changes.iter_mut().for_each(|change| edit(Arc::make_mut(&mut change.doc)));
    }

    /// The last checkpoint that is not after `step` steps, and its number of steps.
    pub fn before(&self, step: u64) -> (u64, &State) {
        let i = ((step / self.every) as usize).min(self.checkpoints.len() - 1);
        (i as u64 * self.every, &self.checkpoints[i])
    }

    /// Forgets everything after `step` steps, so that the run can take another turn from there.
    pub fn truncate(&mut self, step: u64) {
        if step >= self.n_steps {
            return;
        }
        self.n_steps = step;
        self.checkpoints.truncate((step / self.every) as usize + 1);
        let forgotten = self.hands.split_off(&step);
        self.n_holds -= forgotten.values().map(|hands| hands.holds.len()).sum::<usize>();
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

/// Bytes of a state, lists included.
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
