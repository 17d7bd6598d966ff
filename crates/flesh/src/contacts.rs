//! Contacts of bodies and of flesh in an implicit step.
//!
//! Found once, at the start of the step, with everything that could touch within it; each keeps one linear law
//! `impulse = q − B v'` (`sinew_contact::ContactSolve`) until the solution says that it does not hold. A contact of a body with
//! something immovable adds to the body's own block, one between two bodies is three compliant rows among the loops (where there
//! is flesh, it couples the two in the common solve: [`Meeting`]), one of flesh adds to the matrix of its tetrahedron, and where it touches a body that can move, couples the two ([`Pressing`]).
//!
//! World axes. Cost: the queries, and about 0.1 µs per contact and solve.

use glam::DVec3;
use sinew_contact::{
    Anchors, Approach, ContactModel, ContactPoint, ContactSolve, ContactStep, ContactSummary,
    ContactWorkspace, Grip, Mover, Owner, PointCloud,
};
use sinew_math::{Motion, Sym3};
use sinew_mechanism::{CouplingPoint, Outside, PointLaw};

use crate::body::weighted;
use crate::elements::{at_arm, force_at};
use crate::model::FleshModel;
use crate::state::FleshState;

/// A contact of flesh with a body that can move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pressing {
    pub(crate) tet: u32,
    pub(crate) weights: [f64; 4],
    pub(crate) body: usize,
    pub(crate) arm: DVec3,
    pub(crate) resistance: Sym3,
}

/// A contact of two bodies that can move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub(crate) bodies: [usize; 2],
    pub(crate) arms: [DVec3; 2],
    pub(crate) resistance: Sym3,
}

impl Meeting {
    /// `−G₁ᵀ B G₂`, by columns: what the twist of the second body does to the first.
    pub(crate) fn block(&self) -> [[f64; 6]; 6] {
        std::array::from_fn(|c| {
            let mut twist = [0.0; 6];
            twist[c] = 1.0;
            let velocity = at_arm(Motion::from_array(twist), self.arms[1]);
            force_at(self.resistance.mul_vec(velocity) * -1.0, self.arms[0]).to_array()
        })
    }
}

/// All contacts of a step, and what finding them needs.
#[derive(Default)]
pub(crate) struct Contacts {
    work: ContactWorkspace,
    points: Vec<ContactPoint>,
    more: Vec<ContactPoint>,
    surface: Vec<DVec3>,
    solve: ContactSolve,
    /// Centres of mass and twists at the start of the step.
    places: Vec<DVec3>,
    motions: Vec<Motion>,
    /// What contacts remember, as a step of second order wants it, and by which factor that is smaller.
    stretches: Vec<DVec3>,
    carried: Anchors,
    scale: f64,
    /// The laws before a review.
    laws: Vec<ContactStep>,
    /// What each did in the last step, N·s.
    impulses: Vec<DVec3>,
    /// Per body of flesh: contacts in its matrix.
    pub(crate) in_matrix: Vec<Vec<(u32, [f64; 4], Sym3)>>,
    /// Per body of flesh: what couples it to bodies.
    pub(crate) pressing: Vec<Vec<Pressing>>,
    /// What couples bodies with each other, where there is flesh.
    pub(crate) meeting: Vec<Meeting>,
}

/// Velocities of nodes: per body of flesh and node, m/s.
pub(crate) type NodeVelocities<'a> = &'a dyn Fn(usize, usize) -> DVec3;

/// One side of a contact.
enum Side {
    /// Its velocity is given (m/s).
    Given(DVec3),
    /// A body that forces move, and the arm of the point.
    Body { body: usize, arm: DVec3 },
    /// A point of the surface of flesh.
    Flesh { flesh: usize, tet: u32, weights: [f64; 4] },
}

impl Contacts {
    /// Finds what touches, or could within the step, and guesses what it does.
    pub(crate) fn find(
        &mut self,
        model: &FleshModel,
        contact: &ContactModel,
        moment: &CouplingPoint<'_>,
        state: &FleshState,
    ) {
        self.places.clear();
        self.places.extend(moment.poses.iter().map(|pose| pose.translation));
        self.motions.clear();
        self.motions.extend_from_slice(moment.motions);
        let Self { work, points, more, surface, solve, places, motions, stretches, carried, .. } = self;
        let margin = margin(moment, state);
        contact.rigid_contacts(moment.poses, margin, work, points);
        for (flesh, (body, nodes)) in model.bodies.iter().zip(&state.nodes).enumerate() {
            if let Some((material, groups)) = body.options.contact {
                body.fill_surface(&nodes.positions, surface);
                more.clear();
                let (first, ignored) = (model.first_points[flesh], &model.ignored[flesh]);
                let cloud = PointCloud { points: surface, first, material, groups, ignored };
                contact.point_contacts(&cloud, moment.poses, margin, work, more);
                points.append(more);
            }
        }
        points.sort_unstable_by_key(|contact| contact.key);
        let nodes = |flesh: usize, node: usize| state.nodes[flesh].velocities[node];
        let sides = Sides { model, places, motions };
        // A point of flesh that cannot arrive within the step, at twice the speed it has, is left to the next one.
        points.retain(|contact| {
            let slack = moment.dt * moment.dt * moment.gravity.length();
            let may_fall = contact.depth >= -2.0 * slack || matches!(contact.a, Mover::Body(_));
            may_fall || {
                let now = sides.relative(contact, moment.motions, &nodes);
                contact.depth >= -2.0 * (slack - moment.dt * contact.normal.dot(now).min(0.0))
            }
        });
        self.scale = moment.h / moment.dt;
        let anchors = if moment.is_ahead {
            // Contacts begin where the scheme does: beyond the start of the step by what it carries on. Bodies were looked at
            // where they are expected to end, flesh where it was.
            let moved = |side: &Side| {
                let ahead =
                    if matches!(side, Side::Flesh { .. }) { moment.carry * moment.dt } else { -moment.h };
                sides.speed(side, moment.motions, &nodes) * ahead
            };
            state.anchors.fill_stretches(points, stretches);
            for (contact, stretch) in points.iter_mut().zip(&mut *stretches) {
                let [first, other] = sides.of(contact);
                contact.depth -= contact.normal.dot(moved(&first) - moved(&other));
                // Stretches go by first order: k(ξ + dt v) in steps of length h.
                contact.law.tangential_stiffness /= self.scale;
                *stretch *= self.scale;
            }
            carried.replace(points, stretches);
            &*carried
        } else {
            &state.anchors
        };
        solve.begin(points, anchors, moment.h, |contact| {
            let now = sides.relative(contact, moment.motions, &nodes);
            let [first, other] = sides.of(contact);
            let falls = falls(&first) - falls(&other);
            let free = now + moment.gravity * (moment.h * falls);
            Approach { now, free, mass: 1.0 / (sides.lightness(&first) + sides.lightness(&other)) }
        });
    }

    /// Says what the contacts do at their present laws: to bodies through `outside`, to flesh in the lists and through
    /// `constant(flesh, node, impulse)`.
    pub(crate) fn act(
        &mut self,
        model: &FleshModel,
        outside: &mut Outside<'_>,
        constant: &mut dyn FnMut(usize, usize, DVec3),
    ) {
        let Self { in_matrix, pressing, meeting, points, solve, places, motions, .. } = self;
        meeting.clear();
        in_matrix.resize_with(model.bodies.len(), Vec::new);
        pressing.resize_with(model.bodies.len(), Vec::new);
        in_matrix.iter_mut().for_each(Vec::clear);
        pressing.iter_mut().for_each(Vec::clear);
        let sides = Sides { model, places, motions };
        for (contact, step) in points.iter().zip(solve.steps()).filter(|(_, step)| step.grip != Grip::Open) {
            let ContactStep { axes, resistance, impulse, .. } = *step;
            let law = PointLaw { axes, resistance, impulse };
            let back = PointLaw { impulse: impulse.map(|q| -q), ..law };
            match sides.of(contact) {
                [Side::Flesh { flesh, tet, weights }, other] => {
                    let matrix = step.matrix();
                    in_matrix[flesh].push((tet, weights, matrix));
                    let mut push = step.constant_impulse();
                    match other {
                        Side::Given(velocity) => push += matrix.mul_vec(velocity),
                        Side::Body { body, arm } => {
                            pressing[flesh].push(Pressing { tet, weights, body, arm, resistance: matrix });
                            outside.push(body, arm, &back, DVec3::ZERO);
                        }
                        Side::Flesh { .. } => {}
                    }
                    for (node, weight) in sides.corners(flesh, tet).into_iter().zip(weights) {
                        constant(flesh, node, push * weight);
                    }
                }
                [Side::Body { body, arm }, Side::Given(velocity)] => outside.push(body, arm, &law, velocity),
                [Side::Given(velocity), Side::Body { body, arm }] => outside.push(body, arm, &back, velocity),
                [Side::Body { body, arm }, Side::Body { body: other, arm: other_arm }] => {
                    let (bodies, arms) = ([body, other], [arm, other_arm]);
                    if model.bodies.is_empty() {
                        outside.tie(bodies, arms, &law);
                    } else {
                        // With flesh there is a solve of everything anyway.
                        outside.push(body, arm, &law, DVec3::ZERO);
                        outside.push(other, other_arm, &back, DVec3::ZERO);
                        meeting.push(Meeting { bodies, arms, resistance: step.matrix() });
                    }
                }
                _ => {}
            }
        }
    }

    /// Looks at all laws with the velocities of a solution; true if enough had to be replaced for another solve. Bodies want
    /// every grip right; what the points of flesh get may be wrong by a small part of all impulses until the next step.
    pub(crate) fn review(
        &mut self,
        model: &FleshModel,
        ends: &[Motion],
        nodes: NodeVelocities<'_>,
        is_last: bool,
    ) -> bool {
        let Self { points, solve, places, motions, laws, .. } = self;
        let sides = Sides { model, places, motions };
        laws.clear();
        laws.extend_from_slice(solve.steps());
        let n_changed = solve.review(points, is_last, |contact| sides.relative(contact, ends, nodes));
        if n_changed == 0 {
            return false;
        }
        let (mut has_flesh, mut wrong, mut all) = (false, 0.0, 0.0);
        for ((contact, before), step) in points.iter().zip(&*laws).zip(solve.steps()) {
            match contact.a {
                Mover::Body(_) if before.grip != step.grip => return true,
                Mover::Body(_) => {}
                Mover::Vertex(_) => has_flesh = true,
            }
            let end = sides.relative(contact, ends, nodes);
            let (had, wants) = (before.impulse_at(end), step.impulse_at(end));
            wrong += had.distance(wants);
            all += wants.length();
        }
        !has_flesh || wrong > MAY_WAIT * all
    }

    /// Leaves in the state what contacts remember, from the velocities at the end of the step.
    pub(crate) fn finish(
        &mut self,
        model: &FleshModel,
        ends: &[Motion],
        nodes: NodeVelocities<'_>,
        anchors: &mut Anchors,
    ) -> ContactSummary {
        let Self { points, solve, places, motions, impulses, stretches, .. } = self;
        let sides = Sides { model, places, motions };
        let summary = solve.finish(points, anchors, |contact| sides.relative(contact, ends, nodes));
        if self.scale < 1.0 {
            anchors.fill_stretches(points, stretches);
            stretches.iter_mut().for_each(|stretch| *stretch /= self.scale);
            anchors.replace(points, stretches);
        }
        impulses.clear();
        let laws = points.iter().zip(solve.steps());
        impulses.extend(laws.map(|(contact, step)| step.impulse_at(sides.relative(contact, ends, nodes))));
        summary
    }

    /// The contacts of the last step that act, and their impulses on the first side (N·s).
    pub(crate) fn acting(&self) -> impl Iterator<Item = (&ContactPoint, DVec3)> {
        let all = self.points.iter().zip(self.impulses.iter().copied());
        all.filter(|(_, impulse)| *impulse != DVec3::ZERO)
    }
}

impl Clone for Contacts {
    /// Empty: nothing is carried from step to step.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Distance within which things are looked at: what twice the largest speed covers in a step.
fn margin(moment: &CouplingPoint<'_>, state: &FleshState) -> f64 {
    let bodies = moment.motions.iter().map(|m| m.linear.length() + REACH * m.angular.length());
    let nodes = state.nodes.iter().flat_map(|nodes| nodes.velocities.iter().map(|v| v.length()));
    let fastest = bodies.chain(nodes).filter(|v| v.is_finite()).fold(0.0, f64::max);
    (2.0 * moment.dt * (fastest + moment.dt * moment.gravity.length())).min(FARTHEST)
}

/// Part of all impulses by which those of a solve may be wrong.
const MAY_WAIT: f64 = 0.1;

/// Size of a body whose turning moves its surface, m.
const REACH: f64 = 0.2;

/// No farther than this, m, however fast.
const FARTHEST: f64 = 0.2;

/// One if gravity moves a side.
fn falls(side: &Side) -> f64 {
    if matches!(side, Side::Given(_)) { 0.0 } else { 1.0 }
}

/// Who takes part in contacts, with all bodies as they were at the start of the step.
struct Sides<'a> {
    model: &'a FleshModel,
    places: &'a [DVec3],
    motions: &'a [Motion],
}

impl Sides<'_> {
    fn of(&self, contact: &ContactPoint) -> [Side; 2] {
        let first = match contact.a {
            Mover::Body(body) => self.body(contact.point, Owner::Body(body)),
            Mover::Vertex(vertex) => {
                let (flesh, point) = self.model.surface_point(vertex);
                let place = &self.model.bodies[flesh].surface[point];
                Side::Flesh { flesh, tet: place.tet, weights: place.weights }
            }
        };
        [first, self.body(contact.point, contact.b)]
    }

    fn body(&self, point: DVec3, owner: Owner) -> Side {
        let Owner::Body(body) = owner else { return Side::Given(DVec3::ZERO) };
        let body = body as usize;
        let arm = point - self.places[body];
        match self.model.masses[body] {
            Some(_) => Side::Body { body, arm },
            None => Side::Given(at_arm(self.motions[body], arm)),
        }
    }

    /// Velocity of the first side less that of the other, m/s.
    fn relative(&self, contact: &ContactPoint, motions: &[Motion], nodes: NodeVelocities<'_>) -> DVec3 {
        let [first, other] = self.of(contact);
        self.speed(&first, motions, nodes) - self.speed(&other, motions, nodes)
    }

    fn speed(&self, side: &Side, motions: &[Motion], nodes: NodeVelocities<'_>) -> DVec3 {
        match side {
            Side::Given(velocity) => *velocity,
            Side::Body { body, arm } => at_arm(motions[*body], *arm),
            Side::Flesh { flesh, tet, weights } => {
                weighted(weights, self.corners(*flesh, *tet).map(|node| nodes(*flesh, node)))
            }
        }
    }

    /// How much velocity a unit impulse gives to one side, roughly (1/kg).
    fn lightness(&self, side: &Side) -> f64 {
        match side {
            Side::Given(_) => 0.0,
            Side::Body { body, .. } => self.model.masses[*body].map_or(0.0, |mass| 1.0 / mass),
            Side::Flesh { flesh, tet, weights } => {
                let masses = self.model.bodies[*flesh].fem.masses();
                let each = self.corners(*flesh, *tet).into_iter().zip(weights);
                each.map(|(node, w)| w * w / masses[node]).sum()
            }
        }
    }

    fn corners(&self, flesh: usize, tet: u32) -> [usize; 4] {
        self.model.bodies[flesh].fem.mesh().tets()[tet as usize].map(|node| node as usize)
    }
}
