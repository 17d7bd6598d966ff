//! Flesh and contacts as the companion of an implicit step.
//!
//! The unknowns are corrections to the velocities of all nodes, three numbers each, one body of flesh after the other;
//! zero for fixed nodes. The matrix `E` is the sum of `elements.rs` and `contacts.rs`. After the step,
//! [`Companion::commit`] moves the nodes.

use glam::DVec3;
use sinew_contact::{ContactPoint, Owner, TouchPair};
use sinew_fem::{FemState, advance_flow};
use sinew_math::{Force, Motion, Pose};
use sinew_mechanism::{
    Attached, CgReport, Companion, CompanionLoads, ConvexForces, ConvexReport, CouplingPoint, Reaction,
    SkinInput, SolveOutcome, State,
};
use sinew_solvers::CarrierCoupling;

use super::couplings::{couple_bodies, couple_flesh, couple_skins};
use super::flow_point::{FlowPoint, FoundStep};
use super::gain::{EnergyGain, FoundEnd};
use super::{contacts::Contacts, elements::Elements, outside::Outside};
use crate::body::FleshBody;
use crate::model::{FleshModel, FleshReport, NO_SLOT};
use crate::node_vectors::{get_node, set_node, velocity_at};
use crate::state::{FleshState, NodeHistory};

/// Scratch of steps with flesh. Its content never changes a result.
#[derive(Clone)]
pub struct FleshWorkspace {
    pub(super) elements: Vec<Elements>,
    /// Where the cells of each body of flesh that yield are linearized.
    flowing: Vec<FlowPoint>,
    /// What acts on each body of flesh from outside.
    pub(super) outside: Vec<Outside>,
    pub(super) contacts: Contacts,
    /// Response of the bodies with the flesh on them; none if there are too many bodies.
    coupling: Option<CarrierCoupling>,
    /// Velocities at the end of the step, as the last solve gave them.
    pub(super) velocities: Vec<Vec<DVec3>>,
    best: BestSolution,
    pub(super) value: Vec<f64>,
    pub(super) balance: Balance,
    /// Twists of all bodies, at the linearization point or as solved.
    motions: Vec<Motion>,
    pub(super) lengths: StepLengths,
    keeps_history: bool,
    /// How many steps speeds lag behind positions.
    lag: f64,
    report: FleshReport,
    gain: EnergyGain,
}

/// Buffers of the correction in `balance.rs`.
#[derive(Clone, Debug, Default)]
pub(super) struct Balance {
    pub(super) product: Vec<f64>,
    pub(super) motions: Vec<Motion>,
    pub(super) impulses: Vec<Force>,
}

/// The step that is under way.
#[derive(Clone, Copy, Default)]
pub(super) struct StepLengths {
    /// Effective length of the step, and its length, s.
    h: f64,
    dt: f64,
    /// The factor of the last displacement in a scheme of second order.
    pub(super) carry: f64,
}

/// What a step with Newton iterations may come back to.
#[derive(Clone, Default)]
struct BestSolution {
    velocities: Vec<Vec<DVec3>>,
    motions: Vec<Motion>,
}

/// Solves of a step: of guesses at the laws of contacts with flesh; and of contacts of bodies, where each is a few iterations.
const MOST_SOLVES: u32 = 24;
const MOST_TOUCHING_SOLVES: u32 = 40;

/// Relative error of the contact forces at which it is worth looking where the bodies end.
const NEAR: f64 = 0.01;

/// Solves that what is found there may take.
const LEFT_TO_SOLVE: u32 = 8;

/// With more bodies than this, their coupling through the flesh (a dense matrix) is left out of the preconditioner.
const MAX_COUPLED: usize = 48;

impl FleshWorkspace {
    /// Scratch for a model.
    pub fn new(model: &FleshModel) -> Self {
        Self {
            elements: model.bodies.iter().map(|body| Elements::new(body, &model.slots)).collect(),
            flowing: vec![FlowPoint::default(); model.bodies.len()],
            outside: vec![Outside::default(); model.bodies.len()],
            contacts: Contacts::default(),
            coupling: (!model.bodies.is_empty() && model.ports.len() <= MAX_COUPLED)
                .then(|| CarrierCoupling::new(model.ports.len())),
            velocities: model.bodies.iter().map(|body| vec![DVec3::ZERO; body.fem.n_nodes()]).collect(),
            best: BestSolution::default(),
            value: Vec::new(),
            balance: Balance::default(),
            motions: Vec::new(),
            lengths: StepLengths::default(),
            keeps_history: false,
            lag: 0.5,
            report: FleshReport::default(),
            gain: EnergyGain::default(),
        }
    }

    /// Moves the free nodes of one body of flesh with their velocities at the end of the step.
    fn move_free_nodes(
        &self,
        body: &FleshBody,
        ends: &[DVec3],
        nodes: &mut FemState,
        history: &mut NodeHistory,
    ) {
        if self.keeps_history {
            history.velocities.clone_from(&nodes.velocities);
            history.increments.resize(nodes.positions.len(), DVec3::ZERO);
        }
        for free in body.attachments.free() {
            let node = free.node as usize;
            let x = nodes.positions[node];
            let end = history.carried(x, node, self.lengths.carry) + ends[node] * self.lengths.h;
            nodes.positions[node] = end;
            nodes.velocities[node] = ends[node];
            if self.keeps_history {
                history.increments[node] = end - x;
            }
        }
    }

    /// Finds out whether elements gain energy in the step that was found.
    fn find_gain(&mut self, model: &FleshModel, state: &FleshState, activations: &[f64]) {
        for (flesh, (body, elements)) in model.bodies.iter().zip(&mut self.elements).enumerate() {
            let (begin, ends) = (&state.nodes[flesh], &self.velocities[flesh][..]);
            let activations = model.activations_of(flesh, activations);
            self.gain.find(body, elements, &FoundEnd { h: self.lengths.h, begin, ends, activations });
        }
    }

    /// Moves to the end of the step where cells are linearized that yield there; whether they must be solved again.
    fn follow_flow(&mut self, model: &FleshModel, state: &FleshState) -> bool {
        let mut has_moved = false;
        for (flesh, (body, flowing)) in model.bodies.iter().zip(&mut self.flowing).enumerate() {
            let (nodes, elements) = (&state.nodes[flesh], &self.elements[flesh]);
            let step = FoundStep {
                h: self.lengths.h,
                dt: self.lengths.dt,
                ends: &self.velocities[flesh],
                before: &nodes.velocities,
            };
            let node = (|node| elements.begin(node, self.lengths.h), |node: usize| body.fem.masses()[node]);
            has_moved |= flowing.follow(&body.fem, &nodes.flow, &step, node);
        }
        has_moved
    }

    /// Takes the turns of cells from the solution; whether they must be solved again.
    fn follow_turns(&mut self, model: &FleshModel, motions: &[Motion]) -> bool {
        let mut has_moved = false;
        for (flesh, (body, elements)) in model.bodies.iter().zip(&mut self.elements).enumerate() {
            let found = (self.lengths.h, &self.velocities[flesh][..]);
            has_moved |= elements.follow_turns(body, found, |bone| motions[body.bones[bone]]);
        }
        has_moved
    }

    /// Moves the velocities from which a solve starts, of all nodes, to where pins are met.
    fn meet_pins(&mut self, value: &mut [f64]) {
        let mut rest = value;
        for (elements, outside) in self.elements.iter_mut().zip(&mut self.outside) {
            let (own, others) = rest.split_at_mut(elements.n_unknowns());
            rest = others;
            outside.meet(own);
            elements.value.iter_mut().enumerate().for_each(|(node, value)| *value = get_node(own, node));
        }
    }

    /// Removes what pins resist from the impulses on all nodes.
    fn project(&mut self, impulses: &mut [f64]) {
        let mut rest = impulses;
        for (elements, outside) in self.elements.iter().zip(&mut self.outside) {
            let (own, others) = rest.split_at_mut(elements.n_unknowns());
            rest = others;
            outside.project(own);
        }
    }

    /// Whether bodies are so near each other or the world that a step of length `dt` would find contacts. Forgets those of the last step.
    pub fn are_near(&mut self, model: &FleshModel, bodies: &State, dt: f64, gravity: DVec3) -> bool {
        self.contacts.are_near(model, bodies, dt, gravity)
    }

    /// The contacts that acted in the last step, and their forces on the first side (N, world).
    pub fn contacts(&self) -> impl Iterator<Item = (&ContactPoint, DVec3)> {
        self.pushes().map(|(contact, force, _)| (contact, force))
    }

    /// The same with the lever arms of both sides (m, world): from the centre of mass of a body to where the force acts on it, as the step was solved. Sides that are no body
    /// have the place itself.
    pub fn pushes(&self) -> impl Iterator<Item = (&ContactPoint, DVec3, [DVec3; 2])> {
        self.contacts.acting().map(|(contact, impulse, arms)| (contact, impulse / self.lengths.h, arms))
    }

    /// Groups of the bodies that slept through the last step ([`Flesh::with_sleepers`]); those that woke in it are awake.
    pub fn sleepers(&self) -> &[u32] {
        self.contacts.sleepers.groups()
    }

    /// The bodies on both sides of each contact that could act in the last step; none for the world.
    pub fn near(&self) -> impl Iterator<Item = [Option<usize>; 2]> + '_ {
        self.contacts.near()
    }

    /// Where the colliders of some pairs of owners overlap, whether they ignore each other or not; pairs in ascending order and sorted. Forgets the contacts of the last step.
    pub fn contacts_of_pairs(
        &mut self,
        model: &FleshModel,
        pairs: &[[Owner; 2]],
        poses: &[Pose],
    ) -> &[ContactPoint] {
        self.contacts.find_of_pairs(model, pairs, poses)
    }

    /// What touched or was near in the last step, all parts of it, in any order and with repetitions.
    pub fn touches(&self) -> &[TouchPair] {
        self.contacts.pairs()
    }
}

impl std::fmt::Debug for FleshWorkspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleshWorkspace").field("report", &self.report).finish_non_exhaustive()
    }
}

/// The flesh of a mechanism during one step.
pub struct Flesh<'a> {
    pub(super) model: &'a FleshModel,
    pub(super) state: &'a mut FleshState,
    pub(super) work: &'a mut FleshWorkspace,
    activations: &'a [f64],
    pub(super) skin: Option<&'a SkinInput>,
}

impl<'a> Flesh<'a> {
    /// Ready for one step; `keeps_history` if it is of second order.
    pub fn new(
        model: &'a FleshModel,
        state: &'a mut FleshState,
        work: &'a mut FleshWorkspace,
        keeps_history: bool,
    ) -> Self {
        work.report = FleshReport::default();
        work.contacts.forget_pairs();
        work.contacts.sleepers.begin(&[]);
        work.contacts.admit(&[]);
        work.outside.iter_mut().for_each(Outside::clear);
        work.keeps_history = keeps_history;
        work.lag = if keeps_history { 0.0 } else { 0.5 };
        Self { model, state, work, activations: &[], skin: None }
    }

    /// With the activation of every muscle ([`FleshModel::fill_activations`]); else all are relaxed.
    #[must_use]
    pub fn with_activations(mut self, activations: &'a [f64]) -> Self {
        self.activations = activations;
        self
    }

    /// With what acts on the flesh from outside.
    #[must_use]
    pub fn with_skin_input(mut self, skin: &'a SkinInput) -> Self {
        self.skin = Some(skin);
        self
    }

    /// With bodies that sleep, by the group of each body ([`AWAKE`](crate::AWAKE) if it does not); none may be jointed to one that is awake.
    #[must_use]
    pub fn with_sleepers(self, groups: &[u32]) -> Self {
        self.work.contacts.sleepers.begin(groups);
        self
    }

    /// With pairs of owners that touch although the model has them among those that ignore each other: what held them together is broken.
    #[must_use]
    pub fn with_parted(self, pairs: &[[Owner; 2]]) -> Self {
        self.work.contacts.admit(pairs);
        self
    }

    /// For a step beside one of a scheme whose speeds belong to the end of a step.
    #[must_use]
    pub fn with_speeds_at_end(self) -> Self {
        self.work.lag = 0.0;
        self
    }

    /// What was done in all parts of the step.
    pub fn report(&self) -> FleshReport {
        let Self { work, .. } = self;
        let elements = work.elements.iter().fold(work.report.elements, |sum, each| sum.with(each.report));
        FleshReport { elements, ..work.report }
    }

    /// Product with `E`; `given` are the twists of bones that are not unknowns.
    pub(super) fn times(
        &mut self,
        own: &[f64],
        motions: &[Motion],
        given: &dyn Fn(usize) -> Motion,
        out: &mut [f64],
        impulses: &mut [Force],
    ) {
        let Self { model, work, .. } = self;
        impulses.fill(Force::ZERO);
        let twist = |body: usize| match model.slots[body] {
            NO_SLOT => given(body),
            slot => motions[slot as usize],
        };
        let mut push = |body: usize, impulse: Force| {
            if let Some(sum) = impulses.get_mut(model.slots[body] as usize) {
                *sum += impulse;
            }
        };
        let FleshWorkspace { contacts, elements, .. } = &mut **work;
        for coupling in &contacts.couplings.between_bodies {
            couple_bodies(coupling, &twist, &mut push);
        }
        let mut first = 0;
        for (flesh, (body, elements)) in model.bodies.iter().zip(&mut *elements).enumerate() {
            let range = first..first + elements.n_unknowns();
            first = range.end;
            let (own, out) = (&own[range.clone()], &mut out[range]);
            let bone_twist = |bone: usize| twist(body.bones[bone]);
            elements.apply(body, own, bone_twist, out, |bone, impulse| push(body.bones[bone], impulse));
            for coupling in contacts.couplings.with_bodies.get(flesh).into_iter().flatten() {
                let felt = coupling.resistance.mul_vec(velocity_at(twist(coupling.body), coupling.arm));
                couple_flesh(coupling, body, elements, felt, out, &mut push);
            }
        }
        for coupling in &contacts.couplings.between_flesh {
            couple_skins(coupling, model, elements, out, &mut push);
        }
    }
}

impl Attached for Flesh<'_> {
    fn n_unknowns(&self) -> usize {
        self.work.elements.iter().map(Elements::n_unknowns).sum()
    }

    fn ports(&self) -> &[u32] {
        if self.model.bodies.is_empty() { self.work.contacts.touching.ports() } else { &self.model.ports }
    }

    fn apply(&mut self, own: &[f64], motions: &[Motion], own_out: &mut [f64], impulses: &mut [Force]) {
        self.times(own, motions, &|_| Motion::ZERO, own_out, impulses);
        self.work.project(own_out);
    }

    fn prepare(&mut self, tree: &mut Reaction<'_>) {
        let FleshWorkspace { elements, coupling, contacts, .. } = &mut *self.work;
        if let Some(coupling) = coupling {
            let slots = &self.model.slots;
            let links = contacts
                .couplings
                .between_bodies
                .iter()
                .map(|coupling| (coupling.bodies.map(|body| slots[body] as usize), coupling.block()));
            coupling.refresh(elements.iter().map(Elements::carried), links, true, tree);
        }
    }

    fn precondition(
        &mut self,
        tree: &mut Reaction<'_>,
        residual: &[f64],
        impulses: &mut [Force],
        out: &mut [f64],
        motions: &mut [Motion],
    ) {
        let FleshWorkspace { elements, outside, coupling, .. } = &mut *self.work;
        let mut rest = residual;
        for elements in &mut *elements {
            let (own, others) = rest.split_at(elements.n_unknowns());
            rest = others;
            elements.restrict(own, impulses);
        }
        if let Some(coupling) = coupling {
            coupling.react(impulses, motions);
        }
        // Joints may leave little freedom, and the coupling loses accuracy there: take the tree's response to the
        // impulses.
        tree(impulses, motions);
        let (mut rest, mut out) = (residual, out);
        for (elements, outside) in elements.iter_mut().zip(outside) {
            let (own, others) = rest.split_at(elements.n_unknowns());
            let (own_out, others_out) = out.split_at_mut(elements.n_unknowns());
            (rest, out) = (others, others_out);
            elements.prolong(own, motions, own_out);
            outside.project(own_out);
        }
    }
}

impl Companion for Flesh<'_> {
    fn linearize(&mut self, moment: &CouplingPoint<'_>, loads: &mut CompanionLoads<'_>) {
        let Self { model, state, work, activations, skin } = self;
        work.lengths = StepLengths { h: moment.h, dt: moment.dt, carry: moment.carry };
        work.report.touched = None;
        work.gain.gains = false;
        if !moment.is_same {
            moment.motions.clone_into(&mut work.motions);
        }
        let FleshWorkspace { elements, flowing, outside, contacts, lag, .. } = &mut **work;
        if !moment.is_again && !moment.is_same {
            contacts.find(model, (moment, *lag), state);
        }
        if !moment.is_same {
            contacts.begin_reviews();
        }
        for (flesh, (body, elements)) in model.bodies.iter().zip(&mut *elements).enumerate() {
            let begin = (&state.nodes[flesh], &state.history[flesh]);
            let how = (model.activations_of(flesh, activations), &mut flowing[flesh]);
            elements.linearize(body, moment, begin, how);
        }
        contacts.act(model, loads, &mut |flesh, node, impulse| {
            elements[flesh].push(&model.bodies[flesh], node, impulse);
        });
        for (flesh, (elements, outside)) in elements.iter_mut().zip(outside).enumerate() {
            if let Some(skin) = skin {
                let in_matrix = &mut contacts.couplings.in_matrix[flesh];
                outside.act((model, flesh), skin, moment.h, elements, in_matrix);
            }
        }
        for (flesh, (body, elements)) in model.bodies.iter().zip(elements).enumerate() {
            elements.finish_matrix(body, &contacts.couplings.in_matrix[flesh]);
            for (&bone, load) in body.bones.iter().zip(elements.bones.iter()) {
                loads.add(bone, &load);
            }
        }
    }

    fn start(&mut self, motions: &[Motion], residual: &mut [f64], impulses: &mut [Force]) {
        let mut value = std::mem::take(&mut self.work.value);
        value.clear();
        for elements in &self.work.elements {
            value.extend(elements.value.iter().flat_map(|v| v.to_array()));
        }
        self.work.meet_pins(&mut value);
        let given = std::mem::take(&mut self.work.motions);
        self.times(&value, motions, &|body| given[body], residual, impulses);
        let Self { model, work, .. } = self;
        work.motions = given;
        work.value = value;
        let mut first = 0;
        for (body, elements) in model.bodies.iter().zip(&work.elements) {
            for (node, &is_fixed) in body.is_fixed.iter().enumerate() {
                let left = elements.constant[node] - get_node(residual, first + node);
                set_node(residual, first + node, if is_fixed { DVec3::ZERO } else { left });
            }
            first += body.fem.n_nodes();
        }
        work.project(residual);
        impulses.iter_mut().for_each(|impulse| *impulse = *impulse * -1.0);
    }

    fn review(&mut self, own: &[f64], motions: &[Motion], solves_left: u32) -> bool {
        let Self { model, state, work, .. } = self;
        if model.bodies.is_empty() {
            motions.clone_into(&mut work.motions);
            work.report.n_solves += 1;
            let Some(report) = work.report.touched.filter(|_| solves_left > 0) else { return false };
            let may_look = report.residual <= NEAR && solves_left >= LEFT_TO_SOLVE;
            if may_look && work.contacts.look_ahead(model, motions, &state.anchors) {
                return true;
            }
            // Not solved yet: the next solve goes on from here, with the tree factored for the slopes found.
            if !report.has_converged {
                work.contacts.touching.refresh(motions);
            }
            return !report.has_converged;
        }
        let mut first = 0;
        for ((body, elements), ends) in model.bodies.iter().zip(&work.elements).zip(&mut work.velocities) {
            for (node, end) in ends.iter_mut().enumerate() {
                *end = match body.attached_bone(node) {
                    None => elements.value[node] + get_node(own, first + node),
                    Some(bone) => elements.velocity_with(motions[body.bones[bone]], node),
                };
            }
            first += ends.len();
        }
        self.balance(motions);
        let Self { model, state, work, activations, .. } = self;
        motions.clone_into(&mut work.motions);
        work.report.n_solves += 1;
        let nodes = |flesh: usize, node: usize| work.velocities[flesh][node];
        let mut has_changed = solves_left > 0
            && model.contact.is_some()
            && work.contacts.review(model, motions, &nodes, solves_left == 1);
        if solves_left > 0 {
            has_changed |= work.follow_flow(model, state);
        }
        if solves_left > 0 && !has_changed {
            has_changed = work.follow_turns(model, motions);
        }
        if !has_changed {
            work.find_gain(model, state, activations);
        }
        // The next solve starts from this solution.
        for (elements, ends) in work.elements.iter_mut().zip(&work.velocities) {
            elements.value.copy_from_slice(ends);
        }
        has_changed
    }

    fn keep(&mut self) {
        let FleshWorkspace { best, velocities, motions, contacts, .. } = &mut *self.work;
        best.velocities.clone_from(velocities);
        best.motions.clone_from(motions);
        contacts.keep();
    }

    fn take_best(&mut self) {
        let FleshWorkspace { best, velocities, motions, contacts, .. } = &mut *self.work;
        velocities.clone_from(&best.velocities);
        motions.clone_from(&best.motions);
        contacts.take_best();
    }

    fn commit(&mut self, bodies: &State) {
        let Self { model, state, work, .. } = self;
        if model.contact.is_some() {
            let nodes = |flesh: usize, node: usize| work.velocities[flesh][node];
            work.report.contacts = work.contacts.finish(model, &work.motions, &nodes, &mut state.anchors);
        }
        for (((body, nodes), history), ends) in
            model.bodies.iter().zip(&mut state.nodes).zip(&mut state.history).zip(&work.velocities)
        {
            work.move_free_nodes(body, ends, nodes, history);
        }
        model.follow(bodies, state);
        for (body, nodes) in model.bodies.iter().zip(&mut state.nodes) {
            advance_flow(&body.fem, &nodes.positions, work.lengths.dt, &mut nodes.flow);
        }
    }

    fn outcome(&self) -> SolveOutcome {
        if self.work.gain.gains { SolveOutcome::TooLong } else { self.work.contacts.outcome() }
    }

    fn most_solves(&self) -> u32 {
        if self.model.bodies.is_empty() { MOST_TOUCHING_SOLVES } else { MOST_SOLVES }
    }

    fn solved(&mut self, report: CgReport) {
        self.work.report.iterations += report.iterations;
        self.work.report.solve = Some(report);
    }

    fn jolted(&mut self, bodies: &State, dt: f64, gravity: DVec3) -> Option<usize> {
        self.work.contacts.jolted(self.model, bodies, dt, gravity)
    }

    fn may_touch(&self, body: usize) -> bool {
        self.model.slots[body] != NO_SLOT
    }

    fn touches(&self) -> bool {
        !self.work.contacts.touching.ports().is_empty()
    }

    fn touching(&mut self, start: &mut Vec<Force>) -> &mut dyn ConvexForces {
        let FleshWorkspace { contacts, motions, .. } = &mut *self.work;
        contacts.touching.start(motions, start);
        &mut contacts.touching
    }

    fn touched(&mut self, report: ConvexReport) {
        self.work.report.iterations += report.products;
        self.work.report.touched = Some(report);
    }
}
