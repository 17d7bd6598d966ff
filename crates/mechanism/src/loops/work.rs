//! Work memory of the joints and springs that close loops. The tree is solved exactly first; then the impulses `λ` of the
//! loops are found (Fau99, Her11).
//!
//! `J` are the velocity rows of the loops, `D` their compliance, `b` their right-hand side. With `v_a` the solution of the tree and `T` its
//! reaction to impulses, the rows `J v + D λ = b` give
//! ```text
//! (J T Jᵀ + D) λ = b − J v_a,     v = v_a + T Jᵀ λ
//! ```
//! Rigid rows have `D = 0`, soft joints `D = compliance/h²`. A force outside the tree with impulse `q − κ G v` is the
//! row `G v + λ/κ = q/κ`. Tree rows hold to rounding whatever `λ` is. Rows of joints that may open come last
//! (`opening`).
//!
//! World axes at centres of mass. `λ` is an impulse (N·s, N·m·s); the state keeps forces. Cost: per iteration one pass
//! up and down the part of the tree that loops touch, and one over the whole tree at the end. No allocation once warm.

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, Pose, Sym3};
use sinew_solvers::{FreeMass, Load, LoopRows, LoopScratch, Responder};
use sinew_topology::NONE;

use crate::input_index::StepInput;
use crate::loops::{JointGraph, free_mass, loaded_mass};
use crate::model::{LoopState, Model, WORLD};
use crate::tree::{ReactingTree, TreeScratch, TreeSystem};

/// Hard grabs that need no allocation.
const HELD_ROOM: usize = 16;

/// Scratch of the loops of one model.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopWorkspace {
    /// At the present linearization point.
    pub(crate) rows: LoopRows,
    /// Multipliers, warm or new: impulses in a step, forces in accelerations.
    pub(crate) lambda: Vec<f64>,
    /// `b − J v_a`.
    pub(crate) rhs: Vec<f64>,
    /// Of the multipliers, per pair; zero between solves.
    pub(crate) impulses: Vec<Force>,
    /// Of the tree to them, per pair.
    pub(crate) reactions: Vec<Motion>,
    /// Touched by the loops.
    pub(crate) tree: ReactingTree,
    pub(crate) primary: PrimaryRows,
    /// One number per row.
    pub(crate) spare: Vec<f64>,
    /// Ports of hard grabs that `tree` is touched at.
    pub(crate) held: Vec<u32>,
    /// Blocks of hard grabs.
    pub(crate) grabbed: std::ops::Range<usize>,
    pub(crate) scratch: LoopScratch,
    /// Inverse masses of free bodies, where there is no tree.
    pub(crate) masses: Vec<FreeMass>,
    /// Linear part of what each joint outside the tree does to its body 1.
    pub(crate) joint_impulses: Vec<DVec3>,
    /// Rows of blocks that yield, from and to.
    pub(crate) yielded: Vec<(u32, u32)>,
    /// What else is known of each joint outside the tree.
    pub(crate) terms: Vec<LoopTerms>,
    /// For the direct solution of many loops.
    pub(crate) graph: Option<Box<JointGraph>>,
}

/// A joint outside the tree at the present linearization point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoopTerms {
    /// Block of its rigid rows, if it has any.
    pub(crate) rigid: Option<u32>,
    /// Its blocks, from and to.
    pub(crate) span: (u32, u32),
    /// Impulse on its body 1 at its centre of mass: what no row has, and all of it.
    pub(crate) constant: Force,
    pub(crate) impulse: Force,
    /// Twist angle where it was measured, rad.
    pub(crate) twist: f64,
}

/// The rows of joints that may not open; they come first.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrimaryRows {
    pub(crate) n_blocks: usize,
    pub(crate) n_rows: usize,
    /// Copied where the other rows contradict them.
    pub(crate) rows: LoopRows,
}

impl PrimaryRows {
    /// All rows so far.
    pub(crate) fn end_at(&mut self, rows: &LoopRows) {
        (self.n_blocks, self.n_rows) = (rows.blocks().len(), rows.len());
    }
}

impl LoopWorkspace {
    /// Scratch for a model, with room for a few hard grabs.
    pub(crate) fn new(model: &Model, tree: &TreeScratch) -> Self {
        let n = model.pairs.len();
        let mut rows = LoopRows::new();
        rows.reserve_ports(n);
        Self {
            rows,
            lambda: vec![0.0; model.n_loop_multipliers()],
            impulses: vec![Force::ZERO; n],
            reactions: vec![Motion::ZERO; n],
            tree: ReactingTree::new(model, tree, model.loop_ports()),
            held: Vec::with_capacity(HELD_ROOM),
            joint_impulses: vec![DVec3::ZERO; model.loops.len()],
            yielded: Vec::with_capacity(model.loops.len() + HELD_ROOM),
            terms: vec![LoopTerms::default(); model.loops.len()],
            graph: JointGraph::new(model),
            ..Self::default()
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
        if let Some(graph) = &mut self.graph {
            graph.needs_tree = false;
        }
    }

    /// Forgets the rows and impulses of the last solve.
    pub(crate) fn clear(&mut self) {
        self.rows.clear_ports(&mut self.impulses);
        self.rows.clear();
        if let Some(graph) = &mut self.graph {
            graph.is_filled = false;
        }
    }

    /// Makes the graph of the joints ready for a direct solve, if the model has one.
    pub(crate) fn fill_graph(&mut self, at: &TreeSystem<'_>) {
        if let Some(graph) = self.graph.as_mut().filter(|graph| !graph.is_filled) {
            graph.fill(at, &self.rows);
        }
    }

    /// Visits what hard grabs hold, too.
    pub(crate) fn activate(&mut self, model: &Model, input: StepInput<'_>) {
        let held = input.hard_grabs(model).map(|g| model.port(g.body.index() as u32));
        // The set of visited pairs is made anew only when grabs have changed.
        if !self.held.iter().copied().eq(held.clone()) {
            self.held.clear();
            self.held.extend(held);
            self.tree.touch(model.loop_ports().chain(self.held.iter().copied()));
        }
    }

    /// Inverse masses of bodies that no tree joint holds; false if there is a tree after all, or a load that couples
    /// rotation and translation.
    pub(crate) fn are_bodies_free(&mut self, at: &TreeSystem<'_>) -> bool {
        let is_free = at.point.model.is_loose() && at.loads.loads.iter().all(is_decoupled);
        if is_free {
            self.masses.clear();
            self.masses.extend((0..at.point.model.pairs.len()).map(|k| loaded_mass(at, k)));
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
    pub(crate) fn take_out(&self, model: &Model, per_h: impl Fn(usize) -> f64, forces: &mut [DVec3]) {
        for port in self.rows.touched_ports() {
            let body = model.pairs[port as usize].body as usize;
            forces[body] -= self.impulses[port as usize].linear * per_h(body);
        }
    }

    /// Leaves the continuous twist angles in the state.
    pub(crate) fn store_twists(&self, model: &Model, twists: &mut [f64]) {
        for (looped, terms) in model.loops.iter().zip(&self.terms) {
            if model.joints[looped.joint as usize].tracks_twist {
                twists[looped.joint as usize] = terms.twist;
            }
        }
    }

    /// Leaves the forces for the next step.
    pub(crate) fn store(&self, state: &mut LoopState, per_h: f64) {
        for (force, lambda) in state.forces.iter_mut().zip(&self.lambda) {
            *force = lambda * per_h;
        }
        for (force, impulse) in state.pulls.iter_mut().zip(&self.joint_impulses) {
            *force = *impulse * per_h;
        }
    }

    /// Impulse of each joint outside the tree on its body 1 at its centre of mass, forces inside included.
    pub(crate) fn joint_wrenches<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (u32, Force)> + 'a {
        model.loops.iter().zip(&self.terms).map(|(looped, terms)| (looped.joint, terms.impulse))
    }

    /// Impulses of the hard grabs on their bodies, in the order of the input.
    pub(crate) fn grab_impulses(&self) -> impl Iterator<Item = Force> + '_ {
        self.grabbed.clone().map(|block| self.rows.impulse_on_first(block, &self.lambda))
    }
}

impl Model {
    /// Whether a step has anything to refine.
    pub(crate) fn has_loops(&self, input: StepInput<'_>) -> bool {
        !self.loops.is_empty()
            || !self.springs.in_loops.is_empty()
            || !self.springs.transmissions.is_empty()
            || input.hard_grabs(self).next().is_some()
    }

    /// Whether there is anything that may open.
    pub(crate) fn may_open(&self, input: StepInput<'_>) -> bool {
        self.loops.iter().any(|l| !l.is_primary) || input.hard_grabs(self).next().is_some()
    }

    /// Pairs that joints and springs outside the tree act on.
    pub(crate) fn loop_ports(&self) -> impl Iterator<Item = u32> + '_ {
        // A joint without rows touches nothing.
        let joints = self.loops.iter().filter(|l| self.loop_multipliers(l) > 0).flat_map(|l| l.ports);
        let springs = self.springs.in_loops.iter().flat_map(|s| s.ports);
        joints.chain(springs).chain(self.transmission_ports()).filter(|&port| port != NONE)
    }

    /// Whether no joint is in the tree.
    pub(crate) fn is_loose(&self) -> bool {
        self.pairs.iter().all(|p| p.joint == WORLD)
    }
}

/// Whether a load couples no rotation with translation and weighs the same in all directions.
fn is_decoupled(load: &Load) -> bool {
    let m = &load.mass;
    m.coupling == DMat3::ZERO && m.linear == Sym3::diagonal(DVec3::splat(m.linear.xx))
}

/// What reacts to the impulses of the loops.
pub(crate) enum Surroundings<'a> {
    /// The factored pairs.
    Pairs,
    /// Bodies on their own, see [`LoopWorkspace::are_bodies_free`].
    Free,
    /// Another factored system: the block form, or the pairs together with a companion.
    Other(&'a mut dyn Responder),
}
