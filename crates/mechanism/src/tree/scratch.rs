//! Scratch memory of a tree solve, and the stack on which loads and joint forces wait for the parent of their body.
//!
//! The pair table is in depth-first post-order: the first child pushes, later children add, the parent pops.

use glam::DVec3;
use sinew_math::Motion;
use sinew_solvers::{Load, PairFactor, PairFactorView};
use sinew_topology::{NONE, Schedule};

use crate::model::{Model, PairModel};

/// Pairs per parallel task: large enough to pay for a hand-over of some microseconds.
const GRAIN: usize = 512;

/// Factor and solution of the tree, in elimination order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeScratch {
    pub(crate) factor: PairFactor,
    /// Solved twists.
    pub(crate) motions: Vec<Motion>,
    /// Continuous twist angles of tree joints where they were linearized.
    pub(crate) twists: Vec<f64>,
    /// Independent subtrees, for several threads.
    pub(crate) schedule: Schedule,
    /// One per task of the schedule, and one more for the trunk.
    pub(crate) stacks: Vec<SweepStack>,
}

/// What one task of the backward sweep owns.
#[derive(Clone, Debug, Default)]
pub(crate) struct SweepStack {
    /// Loads of eliminated children that wait for their parent.
    pub(crate) loads: Vec<Load>,
    /// Force that the joint above must transmit, in step with `loads`.
    pub(crate) joint_forces: Vec<DVec3>,
    /// Of this part of the tree.
    pub(crate) report: TreeReport,
}

impl SweepStack {
    /// Room for as many waiting loads as the tree needs at once.
    fn with_capacity(n: usize) -> Self {
        let (loads, joint_forces) = (Vec::with_capacity(n), Vec::with_capacity(n));
        Self { loads, joint_forces, report: TreeReport::default() }
    }

    /// Forgets the last sweep.
    pub(crate) fn clear(&mut self) {
        self.report = TreeReport::default();
        self.loads.clear();
        self.joint_forces.clear();
    }
}

impl TreeScratch {
    /// Makes it fit a model, with a schedule for several threads. Keeps its memory.
    pub(crate) fn refit(&mut self, model: &Model) {
        let n = model.pairs.len();
        self.factor.refit(model.pairs.iter().map(|p| usize::from(p.free)));
        self.motions.resize(n, Motion::ZERO);
        self.twists.resize(n, 0.0);
        self.schedule = model.structure.plan.schedule(GRAIN);
        let depth = stack_depth(model);
        // A task cannot have more waiting loads than pairs.
        let bounds = self.schedule.tasks.iter().map(|task| task.pairs.len().min(depth)).chain([depth]);
        self.stacks.clear();
        self.stacks.extend(bounds.map(|bound| SweepStack::with_capacity(bound + 1)));
    }

    /// Leaves the continuous twist angles of the last solve in those of the joints.
    pub(crate) fn store_twists(&self, model: &Model, twists: &mut [f64]) {
        for &(joint, pair) in &model.twist_joints {
            twists[joint as usize] = self.twists[pair as usize];
        }
    }

    /// The stack of the trunk, which is that of the whole tree where there are no tasks.
    pub(crate) fn trunk(stacks: &mut [SweepStack]) -> &mut SweepStack {
        stacks.last_mut().expect("one stack belongs to the trunk")
    }
}

/// The pair `k` of a factor, and the load that waits for it.
pub(crate) type PairLoad<'a, 'b> = (&'a mut PairFactorView<'b>, usize, &'a mut Load);

/// Largest number of loads that wait on the stack at once.
fn stack_depth(model: &Model) -> usize {
    let (mut open, mut deepest) = (0usize, 1usize);
    for pair in &model.pairs {
        open -= usize::from(pair.has_children);
        open += usize::from(pair.first_child);
        deepest = deepest.max(open);
    }
    deepest
}

/// The load that waits for a pair: that of its children, or none yet.
#[inline]
pub(crate) fn waiting_load<'a>(pair: &PairModel, loads: &'a mut Vec<Load>) -> &'a mut Load {
    if !pair.has_children {
        loads.push(Load::ZERO);
    }
    loads.last_mut().expect("children leave their load on the stack")
}

/// Leaves the load or the joint force of an eliminated pair where its parent finds it.
#[inline]
pub(crate) fn hand_up<T>(pair: &PairModel, waiting: &mut Vec<T>, add: impl Fn(&mut T, &T)) {
    if !pair.first_child {
        // What a root has goes nowhere; a later child's joins that of its siblings below it on the stack.
        let up = waiting.pop();
        if pair.parent != NONE
            && let (Some(up), Some(below)) = (up, waiting.last_mut())
        {
            add(below, &up);
        }
    }
}

/// The force that the joint of this pair transmits to its body: the balance of its whole subtree.
#[inline]
pub(crate) fn transmitted_force(joint_forces: &[DVec3], pair: &PairModel, waiting: &mut Vec<DVec3>) -> DVec3 {
    let own = joint_forces[pair.body as usize];
    match waiting.last_mut() {
        Some(sum) if pair.has_children => {
            *sum += own;
            *sum
        }
        _ => {
            waiting.push(own);
            own
        }
    }
}

/// What the backward sweep saw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TreeReport {
    /// Squared largest anchor distance, m².
    pub(crate) gap_squared: f64,
    /// Squared largest rotation error, rad².
    pub(crate) lean_squared: f64,
    /// Pivots and rows that had to be softened.
    pub(crate) regularized: u32,
}

impl TreeReport {
    /// Notes what one pair showed.
    pub(crate) fn see(&mut self, found: &Found, regularized: u32) {
        self.see_errors(found.gap_squared, found.lean_squared);
        self.regularized += regularized;
    }

    /// Notes what another part of the tree, or the loops, showed.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.see_errors(other.gap_squared, other.lean_squared);
        self.regularized += other.regularized;
    }

    /// Notes squared errors.
    #[inline]
    pub(crate) fn see_errors(&mut self, gap_squared: f64, lean_squared: f64) {
        self.gap_squared = self.gap_squared.max(gap_squared);
        self.lean_squared = self.lean_squared.max(lean_squared);
    }
}

/// Errors and twist angle found on the way.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    /// Squared anchor distance, m².
    pub(crate) gap_squared: f64,
    /// Squared axis misalignment, rad².
    pub(crate) lean_squared: f64,
    /// Continuous twist angle, rad.
    pub(crate) twist: f64,
}

impl Found {
    /// From errors in m and rad, and a twist angle.
    pub(crate) fn new(gap: f64, lean: f64, twist: f64) -> Self {
        Self { gap_squared: gap * gap, lean_squared: lean * lean, twist }
    }
}
