//! Flesh and contacts as the companion of an implicit step.
//!
//! Unknowns: changes of the velocities of all nodes, three numbers each, body of flesh after body of flesh (zero for fixed
//! nodes). `E` and its parts: `elements`, `contacts`. After the step, [`Flesh::finish`] moves the nodes.

use glam::DVec3;
use sinew_contact::ContactPoint;
use sinew_math::{Force, Motion};
use sinew_mechanism::{Attached, CgReport, Companion, CouplingPoint, Outside, Reaction, State};
use sinew_solvers::CarrierCoupling;

use crate::body::weighted;
use crate::contacts::Contacts;
use crate::elements::{Elements, at_arm, carried, force_at, get_node, set_node};
use crate::model::{FleshModel, FleshReport, NOWHERE};
use crate::state::FleshState;

/// Scratch of steps with flesh; losing it changes no result.
#[derive(Clone)]
pub struct FleshWorkspace {
    elements: Vec<Elements>,
    contacts: Contacts,
    /// How the bodies answer with the flesh on them; none if there are too many.
    coupling: Option<CarrierCoupling>,
    /// Velocities at the end of the step, as the last solve gave them.
    velocities: Vec<Vec<DVec3>>,
    value: Vec<f64>,
    /// Twists of all bodies, at the linearization point or as solved.
    motions: Vec<Motion>,
    /// Effective length of the step and what it carries on.
    h: f64,
    carry: f64,
    keeps_history: bool,
    report: FleshReport,
}

/// Bodies beyond which their coupling through the flesh, a dense matrix, is left out of the preconditioner.
const MOST_COUPLED: usize = 48;

impl FleshWorkspace {
    /// Scratch for a model.
    pub fn new(model: &FleshModel) -> Self {
        Self {
            elements: model.bodies.iter().map(|body| Elements::new(body, &model.slots)).collect(),
            contacts: Contacts::default(),
            coupling: (model.ports.len() <= MOST_COUPLED).then(|| CarrierCoupling::new(model.ports.len())),
            velocities: model.bodies.iter().map(|body| vec![DVec3::ZERO; body.fem.n_nodes()]).collect(),
            value: Vec::new(),
            motions: Vec::new(),
            h: 0.0,
            carry: 0.0,
            keeps_history: false,
            report: FleshReport::default(),
        }
    }
}

impl FleshWorkspace {
    /// The contacts that acted in the last step, and their forces on the first side (N).
    pub fn contacts(&self) -> impl Iterator<Item = (&ContactPoint, DVec3)> {
        self.contacts.acting().map(|(contact, impulse)| (contact, impulse / self.h))
    }
}

impl std::fmt::Debug for FleshWorkspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleshWorkspace").field("report", &self.report).finish_non_exhaustive()
    }
}

/// The flesh of a mechanism during one step.
pub struct Flesh<'a> {
    model: &'a FleshModel,
    state: &'a mut FleshState,
    work: &'a mut FleshWorkspace,
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
        work.keeps_history = keeps_history;
        Self { model, state, work }
    }

    /// Moves the nodes after the bodies have been moved.
    pub fn finish(self, bodies: &State) -> FleshReport {
        let Self { model, state, work, .. } = self;
        if model.contact.is_some() {
            let nodes = |flesh: usize, node: usize| work.velocities[flesh][node];
            work.report.contacts = work.contacts.finish(model, &work.motions, &nodes, &mut state.anchors);
        }
        for (((body, nodes), history), ends) in
            model.bodies.iter().zip(&mut state.nodes).zip(&mut state.history).zip(&work.velocities)
        {
            if work.keeps_history {
                history.velocities.clone_from(&nodes.velocities);
                history.increments.resize(nodes.positions.len(), DVec3::ZERO);
            }
            for free in body.attachments.free() {
                let node = free.node as usize;
                let x = nodes.positions[node];
                let end = carried(x, history, node, work.carry) + ends[node] * work.h;
                nodes.positions[node] = end;
                nodes.velocities[node] = ends[node];
                if work.keeps_history {
                    history.increments[node] = end - x;
                }
            }
        }
        model.follow(bodies, state);
        let mut report = work.report;
        for elements in &work.elements {
            report.elements.n_diagonalized += elements.report.n_diagonalized;
            report.elements.n_inverted += elements.report.n_inverted;
            report.elements.non_finite = report.elements.non_finite.or(elements.report.non_finite);
        }
        report
    }

    /// `E` with twists of bones that are not unknown given by `given`.
    fn times(
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
            NOWHERE => given(body),
            slot => motions[slot as usize],
        };
        for meeting in &work.contacts.meeting {
            let speeds = [0, 1].map(|i| at_arm(twist(meeting.bodies[i]), meeting.arms[i]));
            for (i, other) in [(0, 1), (1, 0)] {
                let felt = meeting.resistance.mul_vec(speeds[other]) * -1.0;
                if let Some(sum) = impulses.get_mut(model.slots[meeting.bodies[i]] as usize) {
                    *sum += force_at(felt, meeting.arms[i]);
                }
            }
        }
        let mut first = 0;
        for (flesh, (body, elements)) in model.bodies.iter().zip(&mut work.elements).enumerate() {
            let range = first..first + elements.n_unknowns();
            first = range.end;
            let (own, out) = (&own[range.clone()], &mut out[range]);
            let mut push = |body: usize, impulse: Force| {
                if let Some(sum) = impulses.get_mut(model.slots[body] as usize) {
                    *sum += impulse;
                }
            };
            elements.apply(
                body,
                own,
                |bone| twist(body.bones[bone]),
                out,
                |bone, impulse| {
                    push(body.bones[bone], impulse);
                },
            );
            for pressing in work.contacts.pressing.get(flesh).into_iter().flatten() {
                let nodes = body.fem.mesh().tets()[pressing.tet as usize].map(|node| node as usize);
                let velocity = weighted(&pressing.weights, nodes.map(|node| elements.multiplied(node)));
                let felt = pressing.resistance.mul_vec(at_arm(twist(pressing.body), pressing.arm));
                for (node, weight) in nodes.into_iter().zip(pressing.weights) {
                    elements.give(body, node, felt * -weight, out, |bone, impulse| {
                        push(body.bones[bone], impulse);
                    });
                }
                let back = pressing.resistance.mul_vec(velocity) * -1.0;
                push(pressing.body, force_at(back, pressing.arm));
            }
        }
    }
}

impl Attached for Flesh<'_> {
    fn n_unknowns(&self) -> usize {
        self.work.elements.iter().map(Elements::n_unknowns).sum()
    }

    fn ports(&self) -> &[u32] {
        &self.model.ports
    }

    fn apply(&mut self, own: &[f64], motions: &[Motion], own_out: &mut [f64], impulses: &mut [Force]) {
        self.times(own, motions, &|_| Motion::ZERO, own_out, impulses);
    }

    fn prepare(&mut self, tree: &mut Reaction<'_>) {
        let FleshWorkspace { elements, coupling, contacts, .. } = &mut *self.work;
        if let Some(coupling) = coupling {
            let slots = &self.model.slots;
            let links = contacts
                .meeting
                .iter()
                .map(|meeting| (meeting.bodies.map(|body| slots[body] as usize), meeting.block()));
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
        let FleshWorkspace { elements, coupling, .. } = &mut *self.work;
        let mut rest = residual;
        for elements in &mut *elements {
            let (own, others) = rest.split_at(elements.n_unknowns());
            rest = others;
            elements.restrict(own, impulses);
        }
        if let Some(coupling) = coupling {
            coupling.react(impulses, motions);
        }
        // Whatever the coupling lost where joints leave little room: twists are what the tree answers to their impulses.
        tree(impulses, motions);
        let (mut rest, mut out) = (residual, out);
        for elements in elements {
            let (own, others) = rest.split_at(elements.n_unknowns());
            let (own_out, others_out) = out.split_at_mut(elements.n_unknowns());
            (rest, out) = (others, others_out);
            elements.prolong(own, motions, own_out);
        }
    }
}

impl Companion for Flesh<'_> {
    fn linearize(&mut self, moment: &CouplingPoint<'_>, outside: &mut Outside<'_>) {
        let Self { model, state, work, .. } = self;
        (work.h, work.carry) = (moment.h, moment.carry);
        work.motions.clear();
        work.motions.extend_from_slice(moment.motions);
        let FleshWorkspace { elements, contacts, .. } = &mut **work;
        if let (Some(contact), false, false) = (&model.contact, moment.is_again, moment.is_same) {
            contacts.find(model, contact, moment, state);
        }
        for (flesh, (body, elements)) in model.bodies.iter().zip(&mut *elements).enumerate() {
            if moment.is_same {
                elements.begin_contacts();
            } else {
                elements.linearize(body, moment, &state.nodes[flesh], &state.history[flesh]);
            }
        }
        contacts.act(model, outside, &mut |flesh, node, impulse| {
            elements[flesh].push(&model.bodies[flesh], node, impulse);
        });
        for (flesh, (body, elements)) in model.bodies.iter().zip(elements).enumerate() {
            elements.finish_matrix(body, &contacts.in_matrix[flesh]);
            for ((&bone, load), geometric) in body.bones.iter().zip(&elements.loads).zip(&elements.geometric)
            {
                let mut load = *load;
                load.mass.angular += *geometric;
                outside.add(bone, &load);
            }
        }
    }

    fn start(&mut self, motions: &[Motion], residual: &mut [f64], impulses: &mut [Force]) {
        let mut value = std::mem::take(&mut self.work.value);
        value.clear();
        for elements in &self.work.elements {
            value.extend(elements.value.iter().flat_map(|v| v.to_array()));
        }
        let given = std::mem::take(&mut self.work.motions);
        self.times(&value, motions, &|body| given[body], residual, impulses);
        let Self { model, work, .. } = self;
        work.motions = given;
        work.value = value;
        let mut first = 0;
        for (body, elements) in model.bodies.iter().zip(&work.elements) {
            for node in 0..body.fem.n_nodes() {
                let at = first + node;
                let left = if body.is_fixed[node] {
                    DVec3::ZERO
                } else {
                    elements.constant[node] - get_node(residual, at)
                };
                set_node(residual, at, left);
            }
            first += body.fem.n_nodes();
        }
        impulses.iter_mut().for_each(|impulse| *impulse = *impulse * -1.0);
    }

    fn review(&mut self, own: &[f64], motions: &[Motion], solves_left: u32) -> bool {
        let Self { model, work, .. } = self;
        let mut first = 0;
        for ((body, elements), ends) in model.bodies.iter().zip(&mut work.elements).zip(&mut work.velocities)
        {
            for node in 0..body.fem.n_nodes() {
                ends[node] = match body.attached_bone(node) {
                    None => elements.value[node] + get_node(own, first + node),
                    Some(bone) => elements.velocity_with(motions[body.bones[bone]], node),
                };
            }
            first += body.fem.n_nodes();
        }
        work.motions.clear();
        work.motions.extend_from_slice(motions);
        work.report.n_solves += 1;
        let nodes = |flesh: usize, node: usize| work.velocities[flesh][node];
        let has_changed = solves_left > 0
            && model.contact.is_some()
            && work.contacts.review(model, motions, &nodes, solves_left == 1);
        // What was found is where the next solve begins.
        for (elements, ends) in work.elements.iter_mut().zip(&work.velocities) {
            elements.value.copy_from_slice(ends);
        }
        has_changed
    }

    fn may_tie(&self) -> bool {
        self.model.bodies.is_empty() && self.model.contact.as_ref().is_some_and(|c| c.colliders().len() > 1)
    }

    fn solved(&mut self, report: CgReport) {
        self.work.report.iterations += report.iterations;
        self.work.report.solve = Some(report);
    }
}
