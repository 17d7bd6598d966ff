//! Contacts of bodies and of flesh in an implicit step.
//!
//! Found once, at the start of the step, with everything that could touch within it; each keeps one linear law
//! `impulse = q − B v'` (`sinew_contact::ContactStep`) until the solution says that it does not hold. A contact of a body
//! with something immovable adds to the body's own block, one between two bodies is three compliant rows among the loops, one
//! of flesh adds to the matrix of its tetrahedron, and where it touches a body that can move, couples the two ([`Pressing`]).

use glam::DVec3;
use sinew_contact::{
    Anchors, ContactModel, ContactPoint, ContactStart, ContactStep, ContactWorkspace, Grip, Mover, Owner,
    PointCloud,
};
use sinew_math::{Motion, Sym3};
use sinew_mechanism::{Moment, Outside, PointLaw};

use crate::body::weighted;
use crate::elements::at_arm;
use crate::model::FleshModel;
use crate::state::FleshState;

/// One contact in a step.
#[derive(Clone, Copy, Debug)]
struct Touch {
    start: ContactStart,
    step: ContactStep,
    first: Side,
    other: Side,
}

/// One side of a contact.
#[derive(Clone, Copy, Debug)]
enum Side {
    /// It stands still, or its velocity is given (m/s).
    Given(DVec3),
    /// A body that forces move, and the arm of the point.
    Body { body: usize, arm: DVec3 },
    /// A point of the surface of flesh.
    Flesh { flesh: usize, tet: u32, weights: [f64; 4] },
}

/// A contact of flesh with a body that can move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pressing {
    pub(crate) tet: u32,
    pub(crate) weights: [f64; 4],
    pub(crate) body: usize,
    pub(crate) arm: DVec3,
    pub(crate) resistance: Sym3,
}

/// All contacts of a step, and what finding them needs.
#[derive(Default)]
pub(crate) struct Contacts {
    work: ContactWorkspace,
    points: Vec<ContactPoint>,
    more: Vec<ContactPoint>,
    surface: Vec<DVec3>,
    stretches: Vec<DVec3>,
    touches: Vec<Touch>,
    /// Per body of flesh: contacts in its matrix.
    pub(crate) in_matrix: Vec<Vec<(u32, [f64; 4], Sym3)>>,
    /// Per body of flesh: what couples it to bodies.
    pub(crate) pressing: Vec<Vec<Pressing>>,
    /// Contacts that act.
    pub(crate) n_active: usize,
}

/// Velocities of nodes: per body of flesh and node, m/s.
pub(crate) type NodeVelocities<'a> = &'a dyn Fn(usize, usize) -> DVec3;

impl Contacts {
    /// Finds what touches, or could within the step, and guesses what it does.
    pub(crate) fn find(
        &mut self,
        model: &FleshModel,
        contact: &ContactModel,
        moment: &Moment<'_>,
        state: &FleshState,
    ) {
        let poses = moment.poses;
        let margin = margin(moment, state);
        contact.rigid_contacts(poses, margin, &mut self.work, &mut self.points);
        for (flesh, (body, nodes)) in model.bodies.iter().zip(&state.nodes).enumerate() {
            if let Some((material, groups)) = body.options.contact {
                body.fill_surface(&nodes.positions, &mut self.surface);
                self.more.clear();
                let cloud = PointCloud {
                    points: &self.surface,
                    first: model.first_points[flesh],
                    material,
                    groups,
                    ignored: &model.ignored[flesh],
                };
                contact.point_contacts(&cloud, poses, margin, &mut self.work, &mut self.more);
                self.points.append(&mut self.more);
            }
        }
        self.points.sort_unstable_by_key(|contact| contact.key);
        state.anchors.fill_stretches(&self.points, &mut self.stretches);
        self.touches.clear();
        for (point, &stretch) in self.points.iter().zip(&self.stretches) {
            let first = first_side(model, moment, point);
            let other = body_side(model, moment, point.point, point.b);
            let mass = 1.0 / (lightness(model, &first) + lightness(model, &other));
            let mut start = point.start(stretch, mass);
            let velocity = |flesh: usize, node: usize| state.nodes[flesh].velocities[node];
            let before = speed(model, &first, moment.motions, &velocity)
                - speed(model, &other, moment.motions, &velocity);
            let falls = falls(&first) - falls(&other);
            // What a step of second order has already moved on.
            start.depth -= moment.carry * moment.dt * start.normal.dot(before);
            let step = start.predict(before, before + moment.gravity * (moment.h * falls), moment.h);
            self.touches.push(Touch { start, step, first, other });
        }
    }

    /// Says what the contacts do at their present laws: to bodies through `outside`, to flesh in the lists and through
    /// `constant(flesh, node, impulse)`.
    pub(crate) fn act(
        &mut self,
        model: &FleshModel,
        outside: &mut Outside<'_>,
        constant: &mut dyn FnMut(usize, usize, DVec3),
    ) {
        let Self { in_matrix, pressing, touches, .. } = self;
        in_matrix.resize_with(model.bodies.len(), Vec::new);
        pressing.resize_with(model.bodies.len(), Vec::new);
        in_matrix.iter_mut().for_each(Vec::clear);
        pressing.iter_mut().for_each(Vec::clear);
        self.n_active = 0;
        for touch in touches.iter().filter(|touch| touch.step.grip != Grip::Open) {
            self.n_active += 1;
            let ContactStep { axes, resistance, impulse, .. } = touch.step;
            let law = PointLaw { axes, resistance, impulse };
            let back = PointLaw { impulse: impulse.map(|q| -q), ..law };
            match (touch.first, touch.other) {
                (Side::Flesh { flesh, tet, weights }, other) => {
                    let matrix = touch.step.matrix();
                    in_matrix[flesh].push((tet, weights, matrix));
                    let mut push = touch.step.constant_impulse();
                    match other {
                        Side::Given(velocity) => push += matrix.mul_vec(velocity),
                        Side::Body { body, arm } => {
                            pressing[flesh].push(Pressing { tet, weights, body, arm, resistance: matrix });
                            outside.push(body, arm, &back, DVec3::ZERO);
                        }
                        Side::Flesh { .. } => {}
                    }
                    for (node, weight) in corners(model, flesh, tet).into_iter().zip(weights) {
                        constant(flesh, node, push * weight);
                    }
                }
                (Side::Body { body, arm }, Side::Given(velocity)) => outside.push(body, arm, &law, velocity),
                (Side::Given(velocity), Side::Body { body, arm }) => outside.push(body, arm, &back, velocity),
                (Side::Body { body, arm }, Side::Body { body: other, arm: other_arm }) => {
                    outside.tie([body, other], [arm, other_arm], &law);
                }
                _ => {}
            }
        }
    }

    /// Looks at all laws with the velocities of a solution; true if one had to be replaced.
    pub(crate) fn review(
        &mut self,
        model: &FleshModel,
        motions: &[Motion],
        nodes: NodeVelocities<'_>,
        h: f64,
        is_last: bool,
    ) -> bool {
        let mut has_changed = false;
        for touch in &mut self.touches {
            let end = speed(model, &touch.first, motions, nodes) - speed(model, &touch.other, motions, nodes);
            if let Some(step) = touch.start.review(&touch.step, end, h, is_last) {
                touch.step = step;
                has_changed = true;
            }
        }
        has_changed
    }

    /// Leaves in the state what contacts remember, from the velocities at the end of the step.
    pub(crate) fn remember(
        &mut self,
        model: &FleshModel,
        motions: &[Motion],
        nodes: NodeVelocities<'_>,
        h: f64,
        anchors: &mut Anchors,
    ) {
        for (touch, stretch) in self.touches.iter().zip(&mut self.stretches) {
            let end = speed(model, &touch.first, motions, nodes) - speed(model, &touch.other, motions, nodes);
            *stretch = touch.start.stretch_after(&touch.step, end, h);
        }
        anchors.replace(&self.points, &self.stretches);
    }
}

/// Distance within which things are looked at: what twice the largest speed covers in a step.
fn margin(moment: &Moment<'_>, state: &FleshState) -> f64 {
    let bodies = moment.motions.iter().map(|m| m.linear.length() + REACH * m.angular.length());
    let nodes = state.nodes.iter().flat_map(|nodes| nodes.velocities.iter().map(|v| v.length()));
    let fastest = bodies.chain(nodes).filter(|v| v.is_finite()).fold(0.0, f64::max);
    (2.0 * moment.dt * (fastest + moment.dt * moment.gravity.length())).min(FARTHEST)
}

/// Size of a body whose turning moves its surface, m.
const REACH: f64 = 0.2;

/// No farther than this, m, however fast.
const FARTHEST: f64 = 0.2;

fn corners(model: &FleshModel, flesh: usize, tet: u32) -> [usize; 4] {
    model.bodies[flesh].fem.mesh().tets()[tet as usize].map(|node| node as usize)
}

fn first_side(model: &FleshModel, moment: &Moment<'_>, point: &ContactPoint) -> Side {
    match point.a {
        Mover::Body(body) => body_side(model, moment, point.point, Owner::Body(body)),
        Mover::Vertex(vertex) => {
            let flesh = model.first_points.partition_point(|&first| first <= vertex) - 1;
            let place = &model.bodies[flesh].surface[(vertex - model.first_points[flesh]) as usize];
            Side::Flesh { flesh, tet: place.tet, weights: place.weights }
        }
    }
}

fn body_side(model: &FleshModel, moment: &Moment<'_>, point: DVec3, owner: Owner) -> Side {
    let Owner::Body(body) = owner else { return Side::Given(DVec3::ZERO) };
    let body = body as usize;
    let arm = point - moment.poses[body].translation;
    match model.masses[body] {
        Some(_) => Side::Body { body, arm },
        None => Side::Given(at_arm(moment.motions[body], arm)),
    }
}

/// How much velocity a unit impulse gives to one side, roughly (1/kg).
fn lightness(model: &FleshModel, side: &Side) -> f64 {
    match side {
        Side::Given(_) => 0.0,
        Side::Body { body, .. } => model.masses[*body].map_or(0.0, |mass| 1.0 / mass),
        Side::Flesh { flesh, tet, weights } => {
            let masses = model.bodies[*flesh].fem.masses();
            let each = corners(model, *flesh, *tet).into_iter().zip(weights);
            each.map(|(node, w)| w * w / masses[node]).sum()
        }
    }
}

/// One if gravity moves a side.
fn falls(side: &Side) -> f64 {
    if matches!(side, Side::Given(_)) { 0.0 } else { 1.0 }
}

/// Velocity of one side at the contact, m/s.
fn speed(model: &FleshModel, side: &Side, motions: &[Motion], nodes: NodeVelocities<'_>) -> DVec3 {
    match side {
        Side::Given(velocity) => *velocity,
        Side::Body { body, arm } => at_arm(motions[*body], *arm),
        Side::Flesh { flesh, tet, weights } => {
            weighted(weights, corners(model, *flesh, *tet).map(|node| nodes(*flesh, node)))
        }
    }
}
