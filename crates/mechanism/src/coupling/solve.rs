//! Solving bodies and a companion together.
//!
//! The companion's unknowns and the impulses on the bodies it touches are one symmetric system, solved by conjugate gradients
//! with the factored tree as the bodies' part of the preconditioner. Every iterate meets the rows of the tree. The result is one
//! more substitution of the tree, with the companion's impulses (docs/maths/flesh.md). Cost: per iteration one reaction of the
//! touched part of the tree, and the companion's own. A solve that does not converge is reported to the companion.
//!
//! Loops that are few are part of the tree here ([`ClosedRows`]); others are iterated on top, each iteration with a solve ([`CoupledTree`]).

use std::ops::Range;

use sinew_math::{Force, Motion, Sym6};
use sinew_solvers::{
    BareTree, CgReport, CgScratch, CgSettings, ClosedScratch, ClosedTree, ConvexScratch, ConvexSettings,
    LoadedTree, LoopRows, LoopScratch, OnTree, OnTreeScratch, PairFactor, Responder, TouchedTree,
    TreeResponder, conjugate_gradient, minimize,
};

use crate::tree::{ReactingTree, TreeScratch};
use crate::{Companion, Model};

/// Scratch of the solves with a companion.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompanionScratch {
    /// Of the last solve; reactions for the loops are more precise.
    precision: CgSettings,
    /// Residual at the start of the first solve of the step.
    size: f64,
    /// Touched at the ports of the companion and of closed loops.
    tree: ReactingTree,
    ports: Vec<u32>,
    /// Of closed loops.
    loop_ports: Vec<u32>,
    system: SystemScratch,
    /// Changes of the companion's unknowns.
    own: Vec<f64>,
    /// Zeros.
    still: Vec<f64>,
    /// Of the companion's own rows.
    residual: Vec<f64>,
    /// Twists at the ports.
    touched: Vec<Motion>,
    /// Impulses at the ports where a solve starts.
    start: Vec<Force>,
    /// Impulses of loops and companion together.
    sum: Vec<Force>,
    /// What the companion does to each pair beyond its loads.
    impulses: Vec<Force>,
    best_impulses: Vec<Force>,
    body_motions: Vec<Motion>,
    /// Of forces between bodies.
    touching: (ConvexScratch, LoadedTree),
}

/// Scratch of the conjugate gradients.
#[derive(Clone, Debug, Default)]
struct SystemScratch {
    on_tree: OnTreeScratch,
    closed: ClosedScratch,
    cg: CgScratch,
    rhs: Vec<f64>,
    /// Of the last solve: changes of unknowns, then impulses on ports.
    solution: Vec<f64>,
}

/// Loops that the tree closes whatever the companion does: their rows, and the factor of these on the tree alone.
pub(crate) struct ClosedRows<'a> {
    pub(crate) rows: &'a LoopRows,
    pub(crate) factored: &'a mut LoopScratch,
}

/// How a companion is solved.
#[derive(Clone, Copy)]
pub(crate) struct CompanionSolve {
    pub(crate) settings: CgSettings,
    /// Whether it is the first solve of a step.
    pub(crate) is_first: bool,
}

impl CompanionScratch {
    /// Scratch for a model; the sizes of a companion are taken at every solve, because contacts come and go.
    pub(crate) fn new(model: &Model, tree: &TreeScratch) -> Self {
        let tree = ReactingTree::new(model, tree, std::iter::empty());
        Self { tree, impulses: vec![Force::ZERO; model.pairs.len()], ..Self::default() }
    }

    /// What the companion does to pairs beyond its loads, N·s.
    pub(crate) fn impulses(&self) -> impl Iterator<Item = (usize, Force)> + '_ {
        self.ports.iter().map(|&port| (port as usize, self.impulses[port as usize]))
    }

    /// Remembers the present impulses as those of the best solution.
    pub(crate) fn keep(&mut self) {
        self.best_impulses.clone_from(&self.impulses);
    }

    /// Takes up the impulses of the best solution.
    pub(crate) fn take_best(&mut self) {
        self.impulses.clone_from(&self.best_impulses);
    }

    /// Takes the ports and the number of unknowns of the companion, and the ports of loops that are closed with it.
    pub(crate) fn activate(
        &mut self,
        companion: &dyn Companion,
        loop_ports: impl Iterator<Item = u32> + Clone,
    ) {
        if self.ports != companion.ports() || !self.loop_ports.iter().copied().eq(loop_ports.clone()) {
            self.ports.clear();
            self.ports.extend_from_slice(companion.ports());
            self.loop_ports.clear();
            self.loop_ports.extend(loop_ports);
            self.tree.touch(self.ports.iter().chain(&self.loop_ports).copied());
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
        known: (&Model, &[Motion]),
        tree: &mut TreeScratch,
        companion: &mut dyn Companion,
        how: CompanionSolve,
    ) {
        self.activate(companion, std::iter::empty());
        if !self.own.is_empty() || companion.touches() {
            self.respond((&tree.factor, &tree.motions), companion, how, None);
            self.resolve(known, tree, None);
        }
    }

    /// Solves for the companion's unknowns and its impulses, given the motions of the tree without them; [`Self::activate`] has been called.
    pub(crate) fn respond(
        &mut self,
        (factor, motions): (&PairFactor, &[Motion]),
        companion: &mut dyn Companion,
        CompanionSolve { settings, is_first }: CompanionSolve,
        loops: Option<ClosedRows<'_>>,
    ) {
        self.touch(motions);
        if companion.touches() {
            self.touch_bodies(factor, companion, loops);
            return;
        }
        companion.start(&self.touched, &mut self.residual, &mut self.start);
        // Later solves of a step begin near their solution: the precision is relative to the residual of the first.
        let size = self.residual.iter().map(|r| r * r).sum::<f64>().sqrt();
        if is_first {
            self.size = size;
        }
        let precision = (settings.precision * self.size / size).clamp(settings.precision, LOOSEST);
        self.precision = CgSettings { precision, ..settings };
        let report = self.iterate(companion, (factor, loops), &self.precision.clone(), true);
        companion.solved(report);
        self.adopt();
    }

    /// Solves for the impulses of forces between bodies, on a tree whose loops are closed.
    fn touch_bodies(
        &mut self,
        factor: &PairFactor,
        companion: &mut dyn Companion,
        loops: Option<ClosedRows<'_>>,
    ) {
        let Self { tree, ports, system, touching: (convex, loaded), touched, impulses, .. } = self;
        let SystemScratch { on_tree, closed, .. } = system;
        let forces = companion.touching(&mut convex.impulses);
        let settings = ConvexSettings::default();
        let report = match loops {
            None => {
                let mut tree = TreeOfIslands {
                    tree,
                    factor,
                    on_tree,
                    ports,
                    chosen: 0..0,
                    loaded,
                    is_loaded: None,
                    was_loaded: false,
                };
                minimize(forces, &mut tree, touched, &settings, convex)
            }
            Some(ClosedRows { rows, factored }) => {
                let tree = &mut tree.touched(factor);
                let tree = ClosedTree { tree, rows, factored, ports, scratch: closed };
                let mut tree = TreeWithLoops { tree, on_tree, n_ports: factor.len() };
                minimize(forces, &mut tree, touched, &settings, convex)
            }
        };
        companion.touched(report);
        for (&port, impulse) in ports.iter().zip(&convex.impulses) {
            impulses[port as usize] = *impulse;
        }
    }

    /// `tree.motions` becomes the solution of the tree with the impulses of the companion, and of loops if there are any.
    pub(crate) fn resolve(
        &mut self,
        (model, given): (&Model, &[Motion]),
        tree: &mut TreeScratch,
        of_loops: Option<&[Force]>,
    ) {
        let above =
            |k: usize| given.get(model.pairs[k].parent_body as usize).copied().unwrap_or(Motion::ZERO);
        let Self { tree: reacting, impulses, sum, .. } = self;
        let impulses = match of_loops {
            Some(of_loops) => {
                sum.clear();
                sum.extend(impulses.iter().zip(of_loops).map(|(&own, &other)| own + other));
                &*sum
            }
            None => &*impulses,
        };
        reacting.all(&tree.factor).resolve(impulses, above, &mut tree.motions);
    }

    /// The reaction of the tree alone, touched at the ports of companion and loops.
    pub(crate) fn tree<'a>(&'a mut self, factor: &'a PairFactor) -> TreeResponder<'a> {
        self.tree.touched(factor)
    }

    /// Adds the last solution to the companion's changes and to its impulses.
    pub(crate) fn adopt(&mut self) {
        self.own.iter_mut().zip(&self.system.solution).for_each(|(own, x)| *own += x);
        let carried = OnTree::carried(self.own.len(), &self.system.solution);
        for (&port, impulse) in self.ports.iter().zip(carried) {
            self.impulses[port as usize] += impulse;
        }
    }

    /// Solves for `residual` and `start`, on a tree that is new or was there before.
    fn iterate(
        &mut self,
        companion: &mut dyn Companion,
        (factor, loops): (&PairFactor, Option<ClosedRows<'_>>),
        settings: &CgSettings,
        is_new: bool,
    ) -> CgReport {
        let Self { tree, ports, system, .. } = self;
        let SystemScratch { on_tree, closed, cg, rhs, solution } = system;
        OnTree::fill(&self.residual, &self.start, rhs);
        solution.clear();
        solution.resize(rhs.len(), 0.0);
        on_tree.touch(ports, factor.len());
        let (mut tree, mut closed_tree) = (tree.touched(factor), None);
        let tree = with_loops(&mut tree, loops, (ports, closed), &mut closed_tree);
        let mut system = OnTree { attached: companion, tree, scratch: on_tree };
        if is_new {
            system.prepare();
        }
        conjugate_gradient(&mut system, rhs, solution, settings, cg)
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
        (model, given): (&Model, &[Motion]),
        motions: &[Motion],
        companion: &mut dyn Companion,
        solves_left: u32,
    ) -> bool {
        self.body_motions.clear();
        let bodies = model.pair_of_body.iter().zip(given);
        self.body_motions
            .extend(bodies.map(|(&pair, given)| motions.get(pair as usize).copied().unwrap_or(*given)));
        companion.review(&self.own, &self.body_motions, solves_left)
    }
}

/// Joints between a body and its root with which it is pushed on its own: each push walks along all of them.
const SHALLOW: u32 = 32;

/// A tree under bodies that touch each other, one island at a time.
struct TreeOfIslands<'a> {
    tree: &'a mut ReactingTree,
    factor: &'a PairFactor,
    on_tree: &'a mut OnTreeScratch,
    ports: &'a [u32],
    chosen: Range<usize>,
    /// The tree with more on its bodies; whether it acts, if that is allowed.
    loaded: &'a mut LoadedTree,
    is_loaded: Option<bool>,
    /// Whether it was loaded since the island was chosen.
    was_loaded: bool,
}

impl TreeOfIslands<'_> {
    fn port(&self, body: usize) -> usize {
        self.ports[self.chosen.start + body] as usize
    }
}

impl TouchedTree for TreeOfIslands<'_> {
    fn has_islands(&self) -> bool {
        true
    }

    fn select(&mut self, bodies: Range<usize>) {
        let ports = &self.ports[bodies.clone()];
        self.tree.select(ports);
        self.on_tree.touch(ports, self.factor.len());
        (self.chosen, self.is_loaded, self.was_loaded) = (bodies, None, false);
    }

    fn react(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        let factor = if self.is_loaded == Some(true) { self.loaded.factor() } else { self.factor };
        self.on_tree.respond(&mut self.tree.island(factor), impulses, motions);
    }

    fn can_factor(&self) -> bool {
        self.is_loaded.is_some()
    }

    fn factor(&mut self, diagonal: &[Sym6]) {
        let ports = self.ports[self.chosen.clone()].iter().copied();
        let TreeResponder { parents, active, .. } = self.tree.island(self.factor);
        let masses = ports.zip(diagonal.iter().copied());
        self.loaded.load(self.factor, (parents, active), masses, self.was_loaded);
        (self.is_loaded, self.was_loaded) = (Some(true), true);
    }

    fn bare(&mut self) -> Option<&mut dyn BareTree> {
        self.is_loaded = Some(false);
        Some(self)
    }
}

impl BareTree for TreeOfIslands<'_> {
    fn forces(&self, _: &[Motion], _: &[Motion], _: &mut [Force]) -> bool {
        false
    }

    fn is_shallow(&self) -> bool {
        self.tree.island_depth() <= SHALLOW
    }

    fn release(&mut self) {
        self.loaded.release(self.factor);
    }

    fn push(&mut self, body: usize, impulse: Force) {
        self.loaded.push(self.factor, self.tree.parents(), self.port(body), impulse);
    }

    fn pushed(&mut self, body: usize) -> Motion {
        self.loaded.pushed(self.factor, self.tree.parents(), self.port(body))
    }

    fn response(&mut self, body: usize) -> Sym6 {
        self.loaded.response(self.factor, self.tree.parents(), self.port(body))
    }
}

/// A tree with its loops closed under bodies that touch each other.
struct TreeWithLoops<'a> {
    tree: ClosedTree<'a>,
    on_tree: &'a mut OnTreeScratch,
    n_ports: usize,
}

impl TouchedTree for TreeWithLoops<'_> {
    fn has_islands(&self) -> bool {
        false
    }

    fn select(&mut self, bodies: Range<usize>) {
        self.on_tree.touch(&self.tree.ports[bodies], self.n_ports);
    }

    fn react(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        self.on_tree.respond(&mut self.tree, impulses, motions);
    }
}

/// The tree, with its loops closed if there are any; `slot` is where that is put.
fn with_loops<'a, 'b: 'a>(
    tree: &'b mut TreeResponder<'_>,
    loops: Option<ClosedRows<'b>>,
    (ports, scratch): (&'b [u32], &'b mut ClosedScratch),
    slot: &'a mut Option<ClosedTree<'b>>,
) -> &'a mut dyn Responder {
    match loops {
        Some(ClosedRows { rows, factored }) => {
            slot.insert(ClosedTree { tree, rows, factored, ports, scratch })
        }
        None => tree,
    }
}

/// A tree with its companion, as the surroundings of loops. What the companion does in answer to the last impulses waits for
/// [`CompanionScratch::adopt`].
pub(crate) struct CoupledTree<'a> {
    pub(crate) factor: &'a PairFactor,
    pub(crate) scratch: &'a mut CompanionScratch,
    pub(crate) companion: &'a mut dyn Companion,
}

/// No solve asks for less than this.
const LOOSEST: f64 = 1e-3;

/// Reactions are computed more precisely than the step itself by this factor, for the sake of the loop solver.
const FINER: f64 = 1e-4;

/// No solve asks for more than this.
const FINEST: f64 = 1e-13;

impl Responder for CoupledTree<'_> {
    fn is_slow(&self) -> bool {
        true
    }

    fn respond(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        let Self { factor, scratch, companion } = self;
        scratch.tree.all(factor).respond(impulses, motions);
        scratch.touch(motions);
        // Minus what the companion does when its bodies move and it does not.
        let CompanionScratch { still, residual, start, touched, .. } = &mut **scratch;
        companion.apply(still, touched, residual, start);
        residual.iter_mut().for_each(|r| *r = -*r);
        start.iter_mut().for_each(|f| *f = *f * -1.0);
        let CgSettings { precision, iterations } = scratch.precision;
        let settings = CgSettings { precision: (precision * FINER).max(FINEST), iterations };
        scratch.iterate(*companion, (*factor, None), &settings, false);
        let mut all = std::mem::take(&mut scratch.sum);
        all.clear();
        all.extend_from_slice(impulses);
        for (&port, impulse) in
            scratch.ports.iter().zip(OnTree::carried(scratch.own.len(), &scratch.system.solution))
        {
            all[port as usize] += impulse;
        }
        scratch.tree.all(factor).respond(&all, motions);
        scratch.sum = all;
    }
}
