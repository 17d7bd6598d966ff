//! Joints and springs outside the tree, refined on top of the tree's exact solution (Fau99 on Her11).
//!
//! With `v_a` the tree's solution and `T` its reaction to impulses, the rows `J v + D λ = b` of the loops give
//! ```text
//! (J T Jᵀ + D) λ = b − J v_a,     v = v_a + T Jᵀ λ
//! ```
//! Rigid rows have `D = 0`; a force with impulse `q − κ G v` outside the tree is the row `G v + λ/κ = q/κ`; a soft joint has
//! `D = compliance/h²`. Tree rows hold to rounding whatever `λ` is. Joints that may open (secondary ones and grabs) come
//! last: where they contradict the others, the others are solved once more with the secondary multipliers held.
//! What they do while they are open: `opening`.
//!
//! World axes at centres of mass. `λ` is an impulse (N·s, N·m·s); the state keeps forces. Cost: one pass up and down the
//! part of the tree that loops touch per iteration, and one over the whole tree at the end. No allocation once warm.

mod acceleration_rows;
mod closing;
mod force_rows;
mod opening;
mod refinement;
mod step_rows;

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, Pose, Sym3, quat_to_mat3};
use sinew_solvers::{ActivePairs, FreeMass, Load, LoopRows, LoopScratch, Responder, TreeReaction};
use sinew_topology::NONE;

pub(crate) use force_rows::{INACTIVE, force_row};
pub(crate) use opening::{Extent, Opened};
pub(crate) use refinement::Refinement;

use crate::companion::{Companion, CompanionWork, Tie};
use crate::iterate::Iterate;
use crate::model::{JointModel, LoopModel, Model, WORLD};
use crate::workspace::TreeScratch;
use crate::{Input, LoopState};

/// Hard grabs that need no allocation.
const HELD_ROOM: usize = 16;

/// Weight of a joint that may open, next to one that may not.
const SECONDARY: f64 = 1e-2;

/// Scratch of the loops of one model.
#[derive(Clone, Debug)]
pub(crate) struct LoopWork {
    rows: LoopRows,
    /// Blocks and rows of joints that may not open.
    primary: (usize, usize),
    /// Multipliers, warm or new: impulses in a step, forces in accelerations.
    pub(crate) lambda: Vec<f64>,
    rhs: Vec<f64>,
    impulses: Vec<Force>,
    reactions: Vec<Motion>,
    parents: Vec<u32>,
    /// The rows of joints that may not open, where the others contradict them.
    primary_rows: LoopRows,
    spare: Vec<f64>,
    /// Pairs that a response must visit to know the reaction of the loops.
    active: ActivePairs,
    /// Ports of hard grabs and ties that `active` was made for.
    held: Vec<u32>,
    /// Blocks of hard grabs.
    grabbed: std::ops::Range<usize>,
    everything: ActivePairs,
    reaction: TreeReaction,
    scratch: LoopScratch,
    masses: Vec<FreeMass>,
    /// Linear part of what each joint outside the tree does to its body 1.
    pub(crate) pulls: Vec<DVec3>,
    /// Block of the rigid rows of each joint outside the tree, `NONE` if it has none.
    blocks: Vec<u32>,
    /// Rows of blocks that yield, from and to.
    yielded: Vec<(u32, u32)>,
    /// Twist angle of each joint outside the tree where it was linearized.
    twists: Vec<f64>,
}

/// What reacts to the impulses of the loops.
pub(crate) enum Surroundings<'a> {
    /// The factored pairs.
    Pairs,
    /// Bodies on their own, see [`LoopWork::are_bodies_free`].
    Free,
    /// The factored block system.
    Block(&'a mut dyn Responder),
    /// The factored pairs and what is solved with them.
    Together(&'a mut CompanionWork, &'a mut dyn Companion),
}

impl LoopWork {
    pub(crate) fn new(model: &Model, tree: &TreeScratch) -> Self {
        let n = model.pairs.len();
        let parents: Vec<u32> = model.pairs.iter().map(|p| p.parent).collect();
        let mut rows = LoopRows::new();
        rows.reserve_ports(n);
        Self {
            rows,
            primary: (0, 0),
            lambda: vec![0.0; model.n_loop_multipliers()],
            rhs: Vec::new(),
            impulses: vec![Force::ZERO; n],
            reactions: vec![Motion::ZERO; n],
            active: ActivePairs::new(&parents, model.loop_ports()),
            held: Vec::with_capacity(HELD_ROOM),
            grabbed: 0..0,
            primary_rows: LoopRows::default(),
            spare: Vec::new(),
            everything: ActivePairs::new(&parents, 0..n as u32),
            parents,
            reaction: TreeReaction::new(&tree.factor),
            scratch: LoopScratch::default(),
            masses: Vec::new(),
            pulls: vec![DVec3::ZERO; model.loops.len()],
            blocks: vec![NONE; model.loops.len()],
            yielded: Vec::with_capacity(model.loops.len() + HELD_ROOM),
            twists: vec![0.0; model.loops.len()],
        }
    }

    /// The scratch, made if needed; `None` if there is nothing to refine.
    pub(crate) fn of<'a>(
        model: &Model,
        is_needed: bool,
        tree: &TreeScratch,
        slot: &'a mut Option<Box<Self>>,
    ) -> Option<&'a mut Self> {
        is_needed.then(|| &mut **slot.get_or_insert_with(|| Box::new(Self::new(model, tree))))
    }

    /// Multipliers to start from: the forces of the last step times `h`, or nothing.
    pub(crate) fn start(&mut self, state: &LoopState, warm: bool, h: f64) {
        self.lambda.clear();
        self.lambda.extend(state.forces.iter().map(|f| if warm { f * h } else { 0.0 }));
    }

    /// Forgets the rows and impulses of the last solve.
    fn clear(&mut self) {
        self.rows.clear_ports(&mut self.impulses);
        self.rows.clear();
    }

    /// Visits what hard grabs and ties hold, too.
    fn activate(&mut self, model: &Model, input: &Input, ties: &[Tie]) {
        let grabbed = input.hard_grabs(model).map(|g| model.port(g.body.index() as u32));
        let held = grabbed.chain(ties.iter().flat_map(|tie| tie.ports));
        if !self.held.iter().copied().eq(held.clone()) {
            self.held.clear();
            self.held.extend(held);
            self.active.refill(&self.parents, model.loop_ports().chain(self.held.iter().copied()));
        }
    }

    /// Inverse masses of bodies that no tree joint holds; false if there is a tree after all, or a load that couples
    /// rotation and translation.
    pub(crate) fn are_bodies_free(&mut self, at: &Iterate<'_>) -> bool {
        let is_free = at.model.is_loose() && at.extras.iter().all(is_decoupled);
        if is_free {
            self.masses.clear();
            self.masses.extend((0..at.model.pairs.len()).map(|k| loaded_mass(at, k)));
        }
        is_free
    }

    /// What reacts at the acceleration level: bodies on their own if there is no tree. An armature in a joint is a row of
    /// its own there.
    pub(crate) fn surroundings_at(&mut self, model: &Model, poses: &[Pose]) -> Surroundings<'static> {
        if !model.is_loose() {
            return Surroundings::Pairs;
        }
        self.masses.clear();
        self.masses.extend((0..model.pairs.len() as u32).map(|port| free_mass(model, poses, port)));
        Surroundings::Free
    }

    /// Takes the impulses of the loops out of the net joint forces of the bodies.
    pub(crate) fn settle(&self, model: &Model, per_h: f64, pulls: &mut [DVec3]) {
        for port in self.rows.touched_ports() {
            let body = model.pairs[port as usize].body as usize;
            pulls[body] -= self.impulses[port as usize].linear * per_h;
        }
    }

    /// Leaves the continuous twist angles in the state.
    pub(crate) fn store_twists(&self, model: &Model, twists: &mut [f64]) {
        for (looped, twist) in model.loops.iter().zip(&self.twists) {
            if model.joints[looped.joint as usize].tracks_twist {
                twists[looped.joint as usize] = *twist;
            }
        }
    }

    /// Leaves the forces for the next step.
    pub(crate) fn store(&self, state: &mut LoopState, per_h: f64) {
        for (force, lambda) in state.forces.iter_mut().zip(&self.lambda) {
            *force = lambda * per_h;
        }
        for (to, pull) in state.pulls.iter_mut().zip(&self.pulls) {
            *to = *pull * per_h;
        }
    }

    /// Impulses of the hard grabs on their bodies, in the order of the input.
    pub(crate) fn grab_impulses(&self) -> impl Iterator<Item = Force> + '_ {
        self.grabbed.clone().map(|block| self.rows.impulse_on_first(block, &self.lambda))
    }
}

/// Idle rows for a joint that is let go, which keep no force of the steps before.
fn release(rows: &mut LoopRows, lambda: &mut [f64], joint: &JointModel) {
    let first = rows.len();
    force_rows::idle(rows, joint.n_rows());
    lambda[first..rows.len()].fill(0.0);
}

impl LoopModel {
    fn weight(&self, joint: &JointModel) -> f64 {
        joint.weight * if self.is_primary { 1.0 } else { SECONDARY }
    }
}

impl Model {
    /// Whether a step has anything to refine.
    pub(crate) fn has_loops(&self, input: &Input) -> bool {
        !self.loops.is_empty() || !self.loop_springs.is_empty() || input.hard_grabs(self).next().is_some()
    }

    /// Whether there is anything that may open.
    pub(crate) fn may_open(&self, input: &Input) -> bool {
        self.loops.iter().any(|l| !l.is_primary) || input.hard_grabs(self).next().is_some()
    }

    /// Pairs that joints and springs outside the tree act on.
    pub(crate) fn loop_ports(&self) -> impl Iterator<Item = u32> + '_ {
        // A joint without rows touches nothing.
        let joints = self.loops.iter().filter(|l| self.loop_multipliers(l) > 0).flat_map(|l| l.ports);
        joints.chain(self.loop_springs.iter().flat_map(|s| s.ports)).filter(|&port| port != NONE)
    }

    /// Whether no joint is in the tree.
    fn is_loose(&self) -> bool {
        self.pairs.iter().all(|p| p.joint == WORLD)
    }
}

/// Whether a load couples no rotation with translation and weighs the same in all directions.
fn is_decoupled(load: &Load) -> bool {
    let m = &load.mass;
    m.coupling == DMat3::ZERO && m.linear == Sym3::diagonal(DVec3::splat(m.linear.xx))
}

/// Inverse mass of a body on its own; what a preconditioner needs.
fn free_mass(model: &Model, poses: &[Pose], port: u32) -> FreeMass {
    if port == NONE {
        return FreeMass::IMMOVABLE;
    }
    let pair = &model.pairs[port as usize];
    let rotation = quat_to_mat3(poses[pair.body as usize].rotation);
    let inertia = Sym3::diagonal(pair.inertia.moments).rotated_by(&rotation);
    FreeMass { inverse_mass: 1.0 / pair.mass, inverse_inertia: inertia.inverse().unwrap_or(Sym3::ZERO) }
}

/// Inverse of all that a free body's block of the implicit system holds.
fn loaded_mass(at: &Iterate<'_>, k: usize) -> FreeMass {
    let pair = &at.model.pairs[k];
    let rotation = quat_to_mat3(at.poses[pair.body as usize].rotation);
    let mut load = Load::ZERO;
    crate::sweep::add_own(at, k, pair, &rotation, &mut load);
    FreeMass {
        inverse_mass: 1.0 / load.mass.linear.xx,
        inverse_inertia: load.mass.angular.inverse().unwrap_or(Sym3::ZERO),
    }
}
