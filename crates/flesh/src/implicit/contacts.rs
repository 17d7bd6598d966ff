//! Contacts of bodies and flesh in an implicit step.
//!
//! Contacts are found at the start of the step, with a margin for everything that could touch within it. Those of bodies in scenes without flesh are
//! forces with a potential (`touching.rs`), and are found again where a solution ends (`end_contacts.rs`). With flesh, each has one linear law `impulse = q − B v'` (`sinew_contact::ContactSolve`) until a solution contradicts it. A contact of a
//! body with something immovable adds to the body's own block; one between two bodies couples them in the common solve. One of flesh adds to the
//! matrix of its tetrahedron, and couples it with the touched body if forces move that body (`couplings.rs`).
//!
//! World axes, SI. Cost: the queries, and about 0.1 µs per contact and solve.

use glam::DVec3;
use sinew_contact::{
    Anchors, Approach, ContactLaw, ContactModel, ContactPoint, ContactPotential, ContactSolve, ContactStep,
    ContactSummary, Grip, Impact, Mover, Owner, TouchPair, WayContact,
};
use sinew_fem::FemState;
use sinew_math::{Motion, Pose, SurfacePoint};
use sinew_mechanism::{CompanionLoads, CouplingPoint, SolveOutcome, State};

use super::contact_sides::{BODY_RADIUS, ContactSides, NodeVelocities, SolvedSide};
use super::couplings::ContactCouplings;
use super::damped_ends::DampedEnds;
use super::end_contacts::EndContacts;
use super::far_contacts::on_the_way;
use super::jolt::{jolted, meeting};
use super::sleepers::Sleepers;
use super::touching::TouchingBodies;
use super::touching_point::Turning;
use crate::{model::FleshModel, state::FleshState, surface_contacts::ContactQuery};

/// A solve stands if its impulses are wrong by at most this part of all impulses.
const IMPULSE_TOLERANCE: f64 = 0.005;

/// The same, if none of them acts on flesh.
const BODY_TOLERANCE: f64 = 1e-4;

/// Largest margin of the queries of bodies, m.
const MAX_MARGIN: f64 = 1.0;

/// All contacts of a step, with their buffers.
#[derive(Default)]
pub(crate) struct Contacts {
    query: ContactQuery,
    points: Vec<ContactPoint>,
    solve: ContactSolve,
    /// Centres of mass and twists at the start of the step.
    centres: Vec<DVec3>,
    motions: Vec<Motion>,
    /// Stretches of the contacts as a step of second order uses them: multiplied by `scale`.
    stretches: Vec<DVec3>,
    scaled: Anchors,
    scale: f64,
    damped: DampedEnds,
    /// The laws of the best solution.
    best_laws: Vec<ContactStep>,
    /// The impulse of each contact in the last step, N·s, and the lever arms of its sides, m.
    pushes: Vec<(DVec3, [DVec3; 2])>,
    /// What touched or was near in the parts of the step so far.
    pairs: Vec<TouchPair>,
    pub(crate) couplings: ContactCouplings,
    /// Contacts of bodies, if there is no flesh.
    pub(crate) touching: TouchingBodies,
    end: EndContacts,
    pub(crate) sleepers: Sleepers,
}

impl Contacts {
    /// Finds everything that touches, or could within the step, and guesses its laws.
    /// Speeds lag behind positions by `lag` steps ([`Impact::lag`]).
    pub(crate) fn find(
        &mut self,
        model: &FleshModel,
        (moment, lag): (&CouplingPoint<'_>, f64),
        state: &FleshState,
    ) {
        let Some(contact) = &model.contact else { return };
        self.centres.clear();
        self.centres.extend(moment.poses.iter().map(|pose| pose.translation));
        moment.motions.clone_into(&mut self.motions);
        let reach = reach(contact, moment.motions, &state.nodes, (moment.dt, moment.gravity));
        self.find_bodies(model, contact, moment, reach);
        self.query.append_flesh(model, moment.poses, &state.nodes, reach, &mut self.points);
        let fall = 2.0 * moment.dt * moment.dt * moment.gravity.length();
        self.query.append_met(model, &state.nodes, (2.0 * moment.dt, fall), &mut self.points);
        self.end.begin(moment);
        if model.bodies.is_empty() {
            self.sort_out_ways(model, contact, moment);
            let Self { query, points, centres, motions, end, sleepers, .. } = self;
            end.keep_reached((model, sleepers), (centres, motions), &query.faces, moment, points);
        } else {
            self.drop_distant(model, moment, state);
        }
        self.scale = moment.h / moment.dt;
        if moment.is_ahead {
            self.advance(model, moment, state);
        }
        let Self { query, points, solve, centres, motions, scaled, touching, end, sleepers, .. } = self;
        let anchors = if moment.is_ahead { &*scaled } else { &state.anchors };
        let nodes = |flesh: usize, node: usize| state.nodes[flesh].velocities[node];
        let sides = ContactSides { model, centres, motions, faces: &query.faces, sleepers, far: &end.far };
        let approach = |contact: &ContactPoint| {
            let mut now = sides.relative(contact, moment.motions, &nodes);
            let [first, other] = sides.of(contact);
            let falls = first.falls() - other.falls();
            let free = now + moment.gravity * (moment.h * falls);
            // The skin stops what is under it: a node inside begins to act only if a solve shows that it does not.
            if model.is_inside(contact) {
                now = DVec3::ZERO;
            }
            let mass = sides.mass([&first, &other]);
            // A step of second order knows how bodies turn.
            let slide = if moment.is_ahead { DVec3::ZERO } else { sides.slide(contact, moment.h) };
            let pull = -contact.normal.dot(free - now) / moment.h;
            let impact = Impact { closing: -contact.normal.dot(now), pull, dt: moment.h, lag };
            let rebound = if moment.is_ahead { 0.0 } else { contact.rebound(&impact) };
            Approach { now, free, mass, slide, rebound }
        };
        if !model.bodies.is_empty() {
            solve.begin(points, anchors, moment.h, approach);
            return;
        }
        touching.clear();
        touching.is_loading = moment.has_loops;
        solve.begin_convex(points, anchors, moment.h, approach, |contact, law, free| {
            touching.add(model, &sides.of(contact), law, turning(&sides, contact, &law), (free, false));
        });
        touching.arrange(model);
    }

    /// Appends what bodies meet on their way, which is found.
    fn append_far(&mut self, model: &FleshModel, moment: &CouplingPoint<'_>) {
        let Self { query, points, centres, motions, sleepers, end: EndContacts { far, .. }, .. } = self;
        far.take(motions, moment.dt);
        let sides = ContactSides { model, centres, motions, faces: &query.faces, sleepers, far };
        for WayContact { contact, part, .. } in &far.found {
            let mut point = ContactPoint { key: on_the_way(contact.key), ..*contact };
            let speed = point.normal.dot(sides.relative(&point, motions, &|_, _| DVec3::ZERO));
            point.depth += part * moment.dt * speed;
            points.push(point);
        }
        points.sort_unstable_by_key(|point| point.key);
    }

    /// Leaves out contacts of bodies that pass each other, and finds those of bodies that come across each other where they meet.
    fn sort_out_ways(&mut self, model: &FleshModel, contact: &ContactModel, moment: &CouplingPoint<'_>) {
        let Self { query, points, centres, motions, sleepers, end, .. } = self;
        let EndContacts { poses, ends, closing, far, .. } = end;
        if moment.is_ahead {
            return;
        }
        ends.clear();
        ends.extend(poses.iter().zip(&*motions).map(|(pose, &motion)| pose.retract(motion * moment.h)));
        let sides = ContactSides { model, centres, motions, faces: &query.faces, sleepers, far };
        let speed =
            |point: &ContactPoint| -point.normal.dot(sides.relative(point, motions, &|_, _| DVec3::ZERO));
        closing.clear();
        closing.extend(points.iter().map(speed));
        far.sort_out(contact, ([poses, ends], moment.h), closing, &mut query.work, points);
        if !far.found.is_empty() {
            self.append_far(model, moment);
        }
    }

    /// Finds what bodies meet on the way on which their present twists take them in a time.
    fn find_far(&mut self, model: &FleshModel, contact: &ContactModel, (poses, dt): (&[Pose], f64)) {
        let Self { query, motions, sleepers, end: EndContacts { ends, far, .. }, .. } = self;
        ends.clear();
        ends.extend(poses.iter().zip(&*motions).map(|(pose, &motion)| pose.retract(motion * dt)));
        far.clear();
        let is_still = |owner: Owner| sleepers.is_still(model, motions, owner);
        contact.contacts_on_way(is_still, [poses, ends], &mut query.work, &mut far.found);
    }

    /// Finds contacts of bodies, and wakes what sleeps and may be touched.
    fn find_bodies(
        &mut self,
        model: &FleshModel,
        contact: &ContactModel,
        moment: &CouplingPoint<'_>,
        reach: f64,
    ) {
        let margin = reach.min(MAX_MARGIN);
        loop {
            let Self { query, points, motions, sleepers, .. } = self;
            let is_still = |owner: Owner| sleepers.is_still(model, motions, owner);
            let poses = [moment.poses; 2];
            contact.rigid_contacts_of_moving(is_still, poses, margin, &mut query.work, points);
            self.end.far.begin(moment.is_ahead);
            if reach > MAX_MARGIN {
                self.find_far(model, contact, (moment.poses, moment.dt));
                self.append_far(model, moment);
            }
            let Self { query, points, centres, motions, end, sleepers, .. } = self;
            let all_awake = &Sleepers::default();
            let sides = ContactSides {
                model,
                centres,
                motions,
                faces: &query.faces,
                sleepers: all_awake,
                far: &end.far,
            };
            let closing = |point: &ContactPoint| {
                -point.normal.dot(sides.relative(point, moment.motions, &|_, _| DVec3::ZERO))
            };
            if !sleepers.wake_touched(closing, moment, points) {
                return;
            }
        }
    }

    /// Contacts act on other momenta than before.
    pub(crate) fn begin_reviews(&mut self) {
        self.damped.begin();
    }

    /// How the solves of the step ended.
    pub(crate) fn outcome(&self) -> SolveOutcome {
        SolveOutcome::Unsettled(self.damped.unsettled())
    }

    /// Pairs of owners that touch although the model has them among those that ignore each other.
    pub(crate) fn admit(&mut self, pairs: &[[Owner; 2]]) {
        self.query.work.admit(pairs.iter().copied());
    }

    /// Where some pairs of owners overlap.
    pub(crate) fn find_of_pairs(
        &mut self,
        model: &FleshModel,
        pairs: &[[Owner; 2]],
        poses: &[Pose],
    ) -> &[ContactPoint] {
        self.pushes.clear();
        self.points.clear();
        if let Some(contact) = &model.contact {
            contact.rigid_contacts_of_pairs(pairs, poses, 0.0, &mut self.query.work, &mut self.points);
        }
        &self.points
    }

    /// A step begins, which may have several parts.
    pub(crate) fn forget_pairs(&mut self) {
        self.pairs.clear();
    }

    /// What touched or was near in the parts of the step so far, in any order and with repetitions.
    pub(crate) fn pairs(&self) -> &[TouchPair] {
        &self.pairs
    }

    /// Whether bodies are so near each other or the world that a step of length `dt` would find contacts.
    pub(crate) fn are_near(&mut self, model: &FleshModel, bodies: &State, dt: f64, gravity: DVec3) -> bool {
        self.pushes.clear();
        self.pairs.clear();
        let Some(contact) = &model.contact else { return false };
        let now = reach(contact, &bodies.motions, &[], (dt, gravity));
        // Bodies that have just bounced are as far apart as their last speed took them.
        let before = reach(contact, &bodies.history.motions, &[], (dt, gravity));
        let margin = now.max(before).min(MAX_MARGIN);
        contact.rigid_contacts(&bodies.poses, margin, &mut self.query.work, &mut self.points);
        self.end.far.clear();
        if now > MAX_MARGIN && self.points.is_empty() {
            bodies.motions.clone_into(&mut self.motions);
            self.find_far(model, contact, (&bodies.poses, dt));
        }
        !(self.points.is_empty() && self.end.far.found.is_empty())
    }

    /// A body that a contact is about to stop or has just stopped: it does not go on as in the last step.
    pub(crate) fn jolted(
        &mut self,
        model: &FleshModel,
        bodies: &State,
        dt: f64,
        gravity: DVec3,
    ) -> Option<usize> {
        if !self.are_near(model, bodies, dt, gravity) {
            return None;
        }
        if let Some(far) = self.end.far.found.first() {
            return far.contact.bodies().into_iter().flatten().next();
        }
        let contact = model.contact.as_ref()?;
        jolted(model, &self.points, bodies, (dt, gravity)).or_else(|| {
            // Bodies that turn meet with other points than those that are nearest now.
            let Self { query, points, end: EndContacts { ends, .. }, .. } = self;
            ends.clear();
            let moving = bodies.poses.iter().zip(&bodies.motions);
            ends.extend(moving.map(|(pose, motion)| pose.retract(*motion * dt)));
            contact.rigid_contacts_after(&bodies.poses, ends, 0.0, &mut query.work, points);
            meeting(model, points, (bodies, ends), dt)
        })
    }

    /// Looks where a solution takes the bodies, if there is no flesh; true if something touches there that the step does not know: then it is part
    /// of the step, and what is known begins at the solution.
    pub(crate) fn look_ahead(&mut self, model: &FleshModel, ends: &[Motion], anchors: &Anchors) -> bool {
        let Self { query, points, solve, centres, motions, stretches, scaled, touching, end, .. } = self;
        let sleepers = &self.sleepers;
        if end.look((model, centres, sleepers), ends, (query, points), 1.0 / self.scale) == 0 {
            return false;
        }
        anchors.fill_stretches(points, stretches);
        stretches.iter_mut().for_each(|stretch| *stretch *= self.scale);
        scaled.replace(points, stretches);
        let sides = ContactSides { model, centres, motions, faces: &query.faces, sleepers, far: &end.far };
        let approach = |contact: &ContactPoint| {
            let now = sides.relative(contact, ends, &|_, _| DVec3::ZERO);
            let [first, other] = sides.of(contact);
            let mass = sides.mass([&first, &other]);
            let slide = if end.is_ahead { DVec3::ZERO } else { sides.slide(contact, end.h) };
            let closing = -contact.normal.dot(sides.relative(contact, sides.motions, &|_, _| DVec3::ZERO));
            let impact = Impact { closing, pull: 0.0, dt: end.h, lag: 0.0 };
            let rebound = if end.is_ahead { 0.0 } else { contact.rebound(&impact) };
            Approach { now, free: now, mass, slide, rebound }
        };
        touching.clear();
        solve.begin_convex(points, scaled, end.h, approach, |contact, law, now| {
            let known = !end.has_found(contact);
            touching.add(model, &sides.of(contact), law, turning(&sides, contact, &law), (now, known));
        });
        touching.arrange(model);
        true
    }

    /// Removes points of flesh that cannot arrive within the step at twice their speed: the next step finds them.
    fn drop_distant(&mut self, model: &FleshModel, moment: &CouplingPoint<'_>, state: &FleshState) {
        let Self { query, points, centres, motions, end, sleepers, .. } = self;
        let nodes = |flesh: usize, node: usize| state.nodes[flesh].velocities[node];
        let sides = ContactSides { model, centres, motions, faces: &query.faces, sleepers, far: &end.far };
        points.retain(|contact| {
            let slack = moment.dt * moment.dt * moment.gravity.length();
            let may_fall = contact.depth >= -2.0 * slack || matches!(contact.a, Mover::Body(_));
            may_fall || {
                let now = sides.relative(contact, moment.motions, &nodes);
                contact.depth >= -2.0 * (slack - moment.dt * contact.normal.dot(now).min(0.0))
            }
        });
    }

    /// Moves the contacts to where a scheme of second order begins, which is beyond the start of the step. Bodies were
    /// placed at their expected end, flesh at its start.
    fn advance(&mut self, model: &FleshModel, moment: &CouplingPoint<'_>, state: &FleshState) {
        let Self { query, points, centres, motions, stretches, scaled, scale, end, sleepers, .. } = self;
        let nodes = |flesh: usize, node: usize| state.nodes[flesh].velocities[node];
        let sides = ContactSides { model, centres, motions, faces: &query.faces, sleepers, far: &end.far };
        let moved = |side: &SolvedSide| {
            let is_flesh = matches!(side, SolvedSide::Flesh { .. });
            let time = if is_flesh { moment.carry * moment.dt } else { -moment.h };
            sides.velocity(side, moment.motions, &nodes) * time
        };
        state.anchors.fill_stretches(points, stretches);
        for (contact, stretch) in points.iter_mut().zip(&mut *stretches) {
            let [first, other] = sides.of(contact);
            contact.depth -= contact.normal.dot(moved(&first) - moved(&other));
            // Stretches advance at first order: k(ξ + dt v) in steps of length h.
            contact.law.tangential_stiffness /= *scale;
            *stretch *= *scale;
        }
        scaled.replace(points, stretches);
    }

    /// Applies the contacts at their present laws: to bodies through `loads`, to flesh through the couplings and
    /// through `constant(flesh, node, impulse)`.
    pub(crate) fn act(
        &mut self,
        model: &FleshModel,
        loads: &mut CompanionLoads<'_>,
        constant: &mut dyn FnMut(usize, usize, DVec3),
    ) {
        let Self { query, couplings, points, solve, centres, motions, touching, end, sleepers, .. } = self;
        touching.load(loads);
        sleepers.load(model, loads);
        if model.bodies.is_empty() {
            return;
        }
        couplings.clear(model.bodies.len());
        let sides = ContactSides { model, centres, motions, faces: &query.faces, sleepers, far: &end.far };
        for (contact, step) in points.iter().zip(solve.steps()).filter(|(_, step)| step.grip != Grip::Open) {
            match sides.of(contact) {
                [SolvedSide::Flesh { flesh, point }, other] => {
                    let impulse = couplings.add_flesh(flesh, point, &other, step, loads);
                    let mut push = |flesh: usize, point: SurfacePoint, impulse: DVec3| {
                        let corners = model.bodies[flesh].corners(point.tet).into_iter().zip(point.weights);
                        corners.for_each(|(node, weight)| constant(flesh, node, impulse * weight));
                    };
                    push(flesh, point, impulse);
                    if let SolvedSide::Flesh { flesh, point } = other {
                        push(flesh, point, -impulse);
                    }
                }
                bodies => couplings.add_bodies(&bodies, step, loads),
            }
        }
    }

    /// Reviews all laws with the velocities of a solution; true if another solve is needed. Contacts of bodies need the
    /// right grip. The impulses on flesh may be wrong by [`IMPULSE_TOLERANCE`] until the next step.
    pub(crate) fn review(
        &mut self,
        model: &FleshModel,
        ends: &[Motion],
        nodes: NodeVelocities<'_>,
        is_last: bool,
    ) -> bool {
        let Self { query, points, solve, centres, motions, end, sleepers, damped, .. } = self;
        let sides = ContactSides { model, centres, motions, faces: &query.faces, sleepers, far: &end.far };
        let solved = points.iter().map(|contact| sides.relative(contact, ends, nodes));
        let is_whole = if damped.is_damping() {
            damped.advance(solve.steps(), solved, |i, end| solve.impulse_at(i, end))
        } else {
            damped.advance(solve.steps(), solved, |i, end| solve.coulomb_at(i, end))
        };
        let (ends, impulses) = damped.iterate();
        if !damped.is_damping() {
            if solve.review(is_last, ends) == 0 {
                return false;
            }
        } else {
            if damped.follows {
                solve.follow(ends);
            }
            if is_last {
                let error = damped.error(|i, end| solve.coulomb_at(i, end));
                // Laws that only remove energy.
                solve.review(true, ends);
                damped.end(error);
                return true;
            }
            solve.linearize(ends, impulses);
        }
        if !is_whole {
            return true;
        }
        let (mut has_flesh, mut wrong, mut all) = (false, 0.0, 0.0);
        let laws = points.iter().zip(damped.laws()).zip(solve.steps());
        for (((contact, before), step), (&end, present)) in laws.zip(ends.iter().zip(impulses)) {
            match contact.a {
                Mover::Body(_) if before.grip != step.grip && !damped.is_damping() => return true,
                Mover::Body(_) => {}
                Mover::Vertex(_) | Mover::Face(_) => has_flesh = true,
            }
            let wanted = step.impulse_at(end);
            wrong += present.distance(wanted);
            all += wanted.length();
        }
        // What bodies need is the right grip, or a much smaller error.
        let tolerance = if has_flesh { IMPULSE_TOLERANCE } else { BODY_TOLERANCE };
        wrong > tolerance * all || !(has_flesh || damped.is_damping())
    }

    /// Remembers the present laws as those of the best solution.
    pub(crate) fn keep(&mut self) {
        self.solve.steps().clone_into(&mut self.best_laws);
    }

    /// Takes up the laws of the best solution.
    pub(crate) fn take_best(&mut self) {
        self.solve.take_steps(&self.best_laws);
    }

    /// Stores the stretches of the contacts in the state, from the velocities at the end of the step.
    pub(crate) fn finish(
        &mut self,
        model: &FleshModel,
        ends: &[Motion],
        nodes: NodeVelocities<'_>,
        anchors: &mut Anchors,
    ) -> ContactSummary {
        let Self { query, points, solve, centres, motions, pushes, stretches, touching, end, .. } = self;
        if let Some(contact) = &model.contact {
            self.sleepers.keep((model, contact), motions, anchors);
        }
        let sleepers = &self.sleepers;
        let sides = ContactSides { model, centres, motions, faces: &query.faces, sleepers, far: &end.far };
        if model.bodies.is_empty() {
            solve.conclude(points, touching.laws(), |contact| sides.relative(contact, ends, nodes));
        }
        let mut summary = solve.finish(points, anchors, |contact| sides.relative(contact, ends, nodes));
        if self.scale < 1.0 {
            anchors.fill_stretches(points, stretches);
            stretches.iter_mut().for_each(|stretch| *stretch /= self.scale);
            anchors.replace(points, stretches);
        }
        sleepers.give_back(anchors);
        pushes.clear();
        pushes.extend(points.iter().zip(solve.steps()).map(|(contact, step)| {
            (step.impulse_at(sides.relative(contact, ends, nodes)), sides.arms(contact))
        }));
        for (contact, (impulse, _)) in points.iter().zip(&*pushes) {
            // at the end of the step
            let gap = end.h * contact.normal.dot(sides.relative(contact, ends, nodes)) - contact.depth;
            let pair = match model.sides(contact) {
                Some([a, b]) if *impulse != DVec3::ZERO => TouchPair::new(a, b, false),
                Some([a, b]) if gap <= contact.law.touch_gap(end.h) => TouchPair::near(a, b),
                _ => continue,
            };
            if self.pairs.last() != Some(&pair) {
                self.pairs.push(pair);
            }
        }
        // What was added has no depth at the start of the step: that at its end is told.
        for contact in points.iter_mut().filter(|contact| end.has_added(contact)) {
            contact.depth -= end.h * contact.normal.dot(sides.relative(contact, ends, nodes));
        }
        summary.depth = points.iter().map(|contact| contact.depth).fold(0.0, f64::max);
        summary
    }

    /// The bodies of all contacts of the last step, whether they act or not.
    pub(crate) fn near(&self) -> impl Iterator<Item = [Option<usize>; 2]> + '_ {
        self.points.iter().map(ContactPoint::bodies)
    }

    /// The contacts of the last step that act, their impulses on the first side (N·s), and the lever arms of their sides (m).
    pub(crate) fn acting(&self) -> impl Iterator<Item = (&ContactPoint, DVec3, [DVec3; 2])> {
        let all = self.points.iter().zip(&self.pushes);
        all.map(|(point, &(impulse, arms))| (point, impulse, arms))
            .filter(|(_, impulse, _)| *impulse != DVec3::ZERO)
    }
}

impl Clone for Contacts {
    /// Empty: nothing is carried from step to step.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// How a contact resists the spin of its sides, with the load that it has at rest where the step begins.
fn turning(sides: &ContactSides<'_>, contact: &ContactPoint, law: &ContactPotential) -> Turning {
    let ContactLaw { rolling, torsion, .. } = contact.law;
    if rolling <= 0.0 && torsion <= 0.0 {
        return Turning::default();
    }
    let load = law.load(DVec3::ZERO);
    Turning { limits: [rolling * load, torsion * load], given: sides.given_spin(contact) }
}

/// The distance covered in a step of length `dt` at twice the largest speed of what can touch (m): margin of the queries.
fn reach(contact: &ContactModel, motions: &[Motion], nodes: &[FemState], (dt, gravity): (f64, DVec3)) -> f64 {
    let touchable = contact.colliders().iter().filter_map(|collider| match collider.owner() {
        Owner::Body(body) => motions.get(body as usize),
        Owner::World => None,
    });
    let bodies = touchable.map(|m| m.linear.length() + BODY_RADIUS * m.angular.length());
    let nodes = nodes.iter().flat_map(|nodes| nodes.velocities.iter().map(|v| v.length()));
    let fastest = bodies.chain(nodes).filter(|v| v.is_finite()).fold(0.0, f64::max);
    2.0 * dt * (fastest + dt * gravity.length())
}
