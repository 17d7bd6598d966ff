//! Whatever moves along with the bodies and is solved in the same system: flesh, contacts.
//!
//! A companion is linearized at every linearization point of an implicit step ([`CouplingPoint`]). What it does to single bodies it
//! adds to their own blocks, what it does between two bodies becomes compliant rows among the loops, both through
//! [`Outside`]. What it has unknowns for, and every other coupling, it keeps for itself ([`Attached`]): then bodies, joints
//! and companion are one symmetric system, solved by conjugate gradients with the factored tree as the bodies' part of the
//! preconditioner. Every iterate meets the tree's rows, and the result is one more substitution of the tree, with the
//! companion's impulses (docs/maths/flesh.md).
//!
//! World axes at centres of mass. Cost: per iteration one reaction of the touched part of the tree, and the companion's own.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, Sym3, Sym6, shift_force};
use sinew_solvers::{
    ActivePairs, Attached, CgReport, CgScratch, CgSettings, Load, OnTree, OnTreeScratch, PairFactor,
    Responder, TreeReaction, TreeResponder, conjugate_gradient,
};
use sinew_topology::NONE;

use crate::loops::force_rows::{INACTIVE, force_row};
use crate::loops::tie::Tie;
use crate::model::mechanism::Model;
use crate::tree::loads::BodyLoads;
use crate::tree::point::Iterate;
use crate::tree::scratch::TreeScratch;

/// Where a step is linearized.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CouplingPoint<'a> {
    /// Poses of the centres of mass, per body: at the start of the step, or ahead of it if `is_ahead`.
    pub poses: &'a [Pose],
    /// Twists there.
    pub motions: &'a [Motion],
    /// Whether the poses contain a displacement: a further iteration, or a step of second order.
    pub is_ahead: bool,
    /// Whether this is a further iteration: the companion's unknowns have a value, too.
    pub is_again: bool,
    /// Whether this is the same point as before: only the laws that [`Companion::review`] replaced are new.
    pub is_same: bool,
    /// Effective length of the step, s: `β dt` in a step of second order.
    pub h: f64,
    /// Length of the step, s.
    pub dt: f64,
    /// Share of the last change that a step of second order carries on (γ of `implicit`); 0 in one of first order.
    pub carry: f64,
    /// `dt` over the last one; 0 in a step of first order.
    pub ratio: f64,
    /// m/s².
    pub gravity: DVec3,
}

/// Something that is solved together with the bodies in an implicit step.
pub trait Companion: Attached {
    /// Linearizes itself and says what it does to bodies.
    fn linearize(&mut self, moment: &CouplingPoint<'_>, outside: &mut Outside<'_>);

    /// The residual of its own rows and its impulses on the bodies of [`Attached::ports`] at the twists of the tree alone and
    /// at the value it starts from; its unknowns are changes of that value.
    fn start(&mut self, motions: &[Motion], residual: &mut [f64], impulses: &mut [Force]);

    /// Takes the solution: changes of its own unknowns, and the twists of all bodies, in the user's order. True if a law that
    /// it had guessed does not hold, for another solve at the same point; `solves_left` says how many there can be.
    fn review(&mut self, own: &[f64], motions: &[Motion], solves_left: u32) -> bool;

    /// Whether it may put rows between bodies.
    fn may_tie(&self) -> bool;

    /// Learns how the solve went.
    fn solved(&mut self, report: CgReport);
}

/// Solves at one linearization point: a contact that opens and closes for ever is left as it is.
pub(crate) const MOST_SOLVES: u32 = 6;

/// Where a companion puts what it does to bodies.
pub struct Outside<'a> {
    model: &'a Model,
    extras: &'a mut BodyLoads,
    ties: &'a mut Vec<Tie>,
}

impl<'a> Outside<'a> {
    pub(crate) fn new(at: &Iterate<'a>, extras: &'a mut BodyLoads, ties: &'a mut Vec<Tie>) -> Self {
        ties.clear();
        extras.held.resize(extras.slots.len(), false);
        Self { model: at.model, extras, ties }
    }

    /// Adds a symmetric positive semidefinite matrix and an impulse to a body; one that forces do not move ignores them.
    pub fn add(&mut self, body: usize, load: &Load) {
        if let Some(sum) = self.extras.on(self.model, body) {
            sum.add(load);
            self.extras.held[self.model.pair_of_body[body] as usize] = true;
        }
    }

    /// The impulse `q − B (u − away)` on a body, `u` the velocity at the end of the step of its point at `arm` from the
    /// centre of mass; `B` and `q` along three axes.
    pub fn push(&mut self, body: usize, arm: DVec3, law: &PointLaw, away: DVec3) {
        let (mut at_point, mut impulse) = (Sym3::ZERO, DVec3::ZERO);
        for ((&axis, &b), &q) in law.axes.iter().zip(&law.resistance).zip(&law.impulse) {
            at_point = at_point.add_outer(b, axis);
            impulse += axis * (q + b * axis.dot(away));
        }
        let mass = Sym6 { linear: at_point, ..Sym6::ZERO }.shifted(arm);
        let momentum = shift_force(Force::new(DVec3::ZERO, impulse), arm);
        self.add(body, &Load { mass, momentum });
    }

    /// The impulse `q − B (u₁ − u₂)` on the first of two bodies that forces move, and its opposite on the second, at the same
    /// point.
    pub fn tie(&mut self, bodies: [usize; 2], arms: [DVec3; 2], law: &PointLaw) {
        let ports = bodies.map(|body| self.model.port(body as u32));
        debug_assert!(!ports.contains(&NONE), "an immovable body is not tied but pushed against");
        let mut rows = [INACTIVE; 3];
        for (i, row) in rows.iter_mut().enumerate() {
            let axis = law.axes[i];
            let [on1, on2] = arms.map(|arm| Force::new(arm.cross(axis), axis));
            *row = force_row(on1, on2 * -1.0, law.impulse[i], law.resistance[i]);
        }
        // Bodies in contact do not spin freely.
        bodies.into_iter().for_each(|body| self.add(body, &Load::ZERO));
        self.ties.push(Tie { ports, rows });
    }
}

/// The impulse `q − B u` at a point: `q` and `B ≥ 0` along three orthonormal axes (N·s, kg).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointLaw {
    /// World axes.
    pub axes: [DVec3; 3],
    /// `B` along them.
    pub resistance: [f64; 3],
    /// `q` along them.
    pub impulse: [f64; 3],
}

/// Scratch of the solves with a companion.
#[derive(Clone, Debug)]
pub(crate) struct CompanionWork {
    pub(crate) ties: Vec<Tie>,
    precision: CgSettings,
    /// Residual at the start of the first solve of the step.
    size: f64,
    parents: Vec<u32>,
    /// Pairs whose reaction the companion needs, for these ports.
    active: ActivePairs,
    ports: Vec<u32>,
    everything: ActivePairs,
    reaction: TreeReaction,
    on_tree: OnTreeScratch,
    cg: CgScratch,
    rhs: Vec<f64>,
    solution: Vec<f64>,
    /// Changes of the companion's unknowns.
    own: Vec<f64>,
    /// Zeros.
    still: Vec<f64>,
    residual: Vec<f64>,
    touched: Vec<Motion>,
    start: Vec<Force>,
    sum: Vec<Force>,
    /// What the companion does to each pair beyond its loads.
    impulses: Vec<Force>,
    body_motions: Vec<Motion>,
}

impl CompanionWork {
    pub(crate) fn new(model: &Model, tree: &TreeScratch) -> Self {
        let n = model.pairs.len();
        let parents: Vec<u32> = model.pairs.iter().map(|p| p.parent).collect();
        Self {
            ties: Vec::new(),
            precision: CgSettings::default(),
            size: 0.0,
            active: ActivePairs::default(),
            ports: Vec::new(),
            everything: ActivePairs::new(&parents, 0..n as u32),
            parents,
            reaction: TreeReaction::new(&tree.factor),
            on_tree: OnTreeScratch::default(),
            cg: CgScratch::default(),
            rhs: Vec::new(),
            solution: Vec::new(),
            own: Vec::new(),
            still: Vec::new(),
            residual: Vec::new(),
            touched: Vec::new(),
            start: Vec::new(),
            sum: Vec::new(),
            impulses: vec![Force::ZERO; n],
            body_motions: Vec::new(),
        }
    }

    /// What the companion does to pairs beyond its loads, N·s.
    pub(crate) fn impulses(&self) -> impl Iterator<Item = (usize, Force)> + '_ {
        self.ports.iter().map(|&port| (port as usize, self.impulses[port as usize]))
    }

    fn activate(&mut self, companion: &dyn Companion) {
        if self.ports != companion.ports() {
            self.ports.clear();
            self.ports.extend_from_slice(companion.ports());
            self.active.refill(&self.parents, self.ports.iter().copied());
        }
        self.own.clear();
        self.own.resize(companion.n_unknowns(), 0.0);
        self.still.resize(companion.n_unknowns(), 0.0);
        self.residual.resize(companion.n_unknowns(), 0.0);
        self.touched.resize(self.ports.len(), Motion::ZERO);
        self.start.resize(self.ports.len(), Force::ZERO);
        self.impulses.fill(Force::ZERO);
    }

    /// `tree.motions` becomes the solution with the companion; `given` are the twists of bodies that nothing moves.
    pub(crate) fn solve(
        &mut self,
        model: &Model,
        given: &[Motion],
        tree: &mut TreeScratch,
        companion: &mut dyn Companion,
        settings: &CgSettings,
        is_first: bool,
    ) {
        self.activate(companion);
        if self.own.is_empty() {
            return;
        }
        self.touch(&tree.motions);
        companion.start(&self.touched, &mut self.residual, &mut self.start);
        // Later solves of a step begin near their solution: they are held to the scale of the first.
        let size = self.residual.iter().map(|r| r * r).sum::<f64>().sqrt();
        if is_first {
            self.size = size;
        }
        let precision = (settings.precision * self.size / size).clamp(settings.precision, LOOSEST);
        self.precision = CgSettings { precision, ..*settings };
        let report = self.iterate(companion, &tree.factor, &self.precision.clone(), true);
        companion.solved(report);
        self.adopt();
        let Self { parents, everything, reaction, impulses, .. } = self;
        let above =
            |k: usize| given.get(model.pairs[k].parent_body as usize).copied().unwrap_or(Motion::ZERO);
        let TreeScratch { factor, motions, .. } = tree;
        TreeResponder { factor, parents, active: everything, scratch: reaction }
            .resolve(impulses, above, motions);
    }

    /// Adds the last solution to the companion's changes and to its impulses.
    pub(crate) fn adopt(&mut self) {
        self.own.iter_mut().zip(&self.solution).for_each(|(own, x)| *own += x);
        let carried = OnTree::carried(self.own.len(), &self.solution);
        for (&port, impulse) in self.ports.iter().zip(carried) {
            self.impulses[port as usize] += impulse;
        }
    }

    /// Solves for `residual` and `start`, on a tree that is new or was there before.
    fn iterate(
        &mut self,
        companion: &mut dyn Companion,
        factor: &PairFactor,
        settings: &CgSettings,
        is_new: bool,
    ) -> CgReport {
        let Self { parents, active, reaction, on_tree, cg, rhs, solution, .. } = self;
        OnTree::fill(&self.residual, &self.start, rhs);
        solution.clear();
        solution.resize(rhs.len(), 0.0);
        let mut tree = TreeResponder { factor, parents, active, scratch: reaction };
        on_tree.touch(&self.ports, factor.len());
        let mut system = OnTree { attached: companion, tree: &mut tree, scratch: on_tree };
        if is_new {
            system.prepare();
        }
        conjugate_gradient(&mut system, rhs, solution, settings, cg)
    }

    /// The reaction of the tree alone, of all of it.
    fn answer_tree(&mut self, factor: &PairFactor, impulses: &[Force], motions: &mut [Motion]) {
        let Self { parents, everything, reaction, .. } = self;
        TreeResponder { factor, parents, active: everything, scratch: reaction }.respond(impulses, motions);
    }

    /// The twists of the bodies that the companion touches.
    fn touch(&mut self, motions: &[Motion]) {
        for (motion, &port) in self.touched.iter_mut().zip(&self.ports) {
            *motion = motions[port as usize];
        }
    }

    /// Shows the solution to the companion; true if another solve is needed.
    pub(crate) fn review(
        &mut self,
        model: &Model,
        given: &[Motion],
        tree: &TreeScratch,
        companion: &mut dyn Companion,
        solves_left: u32,
    ) -> bool {
        self.body_motions.clear();
        let bodies = model.pair_of_body.iter().zip(given);
        self.body_motions
            .extend(bodies.map(|(&pair, given)| tree.motions.get(pair as usize).copied().unwrap_or(*given)));
        companion.review(&self.own, &self.body_motions, solves_left)
    }
}

/// A tree with its companion, as the surroundings of loops. What the companion does in answer to the last impulses waits for
/// [`CompanionWork::adopt`].
pub(crate) struct Together<'a> {
    pub(crate) factor: &'a PairFactor,
    pub(crate) work: &'a mut CompanionWork,
    pub(crate) companion: &'a mut dyn Companion,
}

/// No solve asks for less than this.
const LOOSEST: f64 = 0.1;

/// Reactions are computed more precisely than the step itself by this factor, for the sake of the loop solver.
const FINER: f64 = 1e-4;

/// No solve asks for more than this.
const FINEST: f64 = 1e-13;

impl Responder for Together<'_> {
    fn respond(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        let Self { factor, work, companion } = self;
        work.answer_tree(factor, impulses, motions);
        work.touch(motions);
        // Minus what the companion does when its bodies move and it does not.
        let CompanionWork { still, residual, start, touched, .. } = &mut **work;
        companion.apply(still, touched, residual, start);
        residual.iter_mut().for_each(|r| *r = -*r);
        start.iter_mut().for_each(|f| *f = *f * -1.0);
        let CgSettings { precision, iterations } = work.precision;
        let settings = CgSettings { precision: (precision * FINER).max(FINEST), iterations };
        work.iterate(*companion, factor, &settings, false);
        let mut together = std::mem::take(&mut work.sum);
        together.clear();
        together.extend_from_slice(impulses);
        for (&port, impulse) in work.ports.iter().zip(OnTree::carried(work.own.len(), &work.solution)) {
            together[port as usize] += impulse;
        }
        work.answer_tree(factor, &together, motions);
        work.sum = together;
    }
}
