//! Sleep: bodies that rest on each other stay where they are, at next to no cost, until something wakes them.
//!
//! Bodies connected by joints, springs and contacts that could act are a group. A group that touches something which no force moves falls asleep if for
//! [`Sleep::after`] seconds none of its bodies has gone further than [`Sleep::distance`] from where it was, by its centre and by its turn times its
//! radius of gyration. Asleep its bodies have no velocity, keep their poses to the bit, and their contacts are not solved. It wakes as a whole if something
//! that moves could touch it within the step, if something kinematic that carries it moves, if the input acts on one of its bodies, if gravity changes, or if
//! anybody has moved one of them; then it has to rest as long again. Groups with motors, drives,
//! actuated or secondary joints, joints that may break, ropes, gears or something kinematic jointed to them do not sleep, nor do characters with a score, nor anything in a scene with flesh,
//! in a scheme that is not implicit, or while joint loads are measured ([`Settings::reactions`]).
//!
//! Cost: one pass over bodies and contacts; nothing allocates once warm.

use glam::DVec3;
use sinew_contact::{ContactPoint, ContactSummary, Owner, TouchPair, TouchPhase, TouchSide};
use sinew_flesh::{AWAKE, FleshWorkspace};
use sinew_math::{Motion, Pose};
use sinew_mechanism::{BodyId, Input};
use sinew_topology::DisjointSets;

use crate::{Model, Scheme, Settings, Sleep, SleepState, State};

/// Scratch.
#[derive(Debug, Default)]
pub(crate) struct SleepScratch {
    /// Bodies where the step begins, if one sleeps.
    start: sinew_mechanism::State,
    asleep: Vec<bool>,
    sets: DisjointSets,
    /// Per body: the first one of its group.
    first: Vec<u32>,
    /// Per first body: whether all rest, and whether something that no force moves carries them.
    rests: Vec<[bool; 2]>,
    /// Per island of joints: its first body, or `AWAKE`.
    jointed: Vec<u32>,
    /// Contacts of bodies that slept through the last step, and their forces on the first side, N.
    pub(crate) contacts: Vec<(ContactPoint, DVec3)>,
}

impl SleepScratch {
    /// Before a step: wakes what the input or anybody else acts on; all if nothing may sleep.
    pub(crate) fn begin(
        &mut self,
        how: Option<Sleep>,
        model: &Model,
        (state, input): (&mut State, &Input),
        gravity: DVec3,
    ) {
        let State { bodies, sleep, .. } = state;
        self.contacts.clear();
        if how.is_none() {
            *sleep = SleepState::default();
            return;
        }
        let n = bodies.poses.len();
        let is_other = sleep.groups.len() != n || sleep.places.len() != n || sleep.gravity != gravity;
        if is_other || (input.spring_scale - 1.0).abs() > 0.0 {
            sleep.wake_all();
            sleep.groups.resize(n, AWAKE);
            sleep.places.clear();
            sleep.places.extend(bodies.poses.iter().map(|pose| (*pose, bodies.time)));
            sleep.gravity = gravity;
        }
        sleep.begun = bodies.time;
        for body in 0..n {
            let has_moved =
                bodies.motions[body] != Motion::ZERO || bodies.poses[body] != sleep.places[body].0;
            if sleep.groups[body] != AWAKE && has_moved {
                sleep.wake(sleep.groups[body]);
            }
        }
        for body in pushed(input) {
            if let Some(&group) = sleep.groups.get(body.index()).filter(|&&group| group != AWAKE) {
                sleep.wake(group);
            }
        }
        for &(body, goal) in &input.kinematic {
            if body.index() < n && departs(&model.mechanism().body_pose(bodies, body), &goal) {
                sleep.wake_carried_by(body.index());
            }
        }
        if sleep.n_asleep() > 0 {
            self.start.clone_from(bodies);
        }
    }

    /// After a step: puts back what slept, and lets sleep what has rested.
    pub(crate) fn end(
        &mut self,
        model: &Model,
        (state, input): (&mut State, &Input),
        how: Sleep,
        work: &FleshWorkspace,
    ) {
        let State { bodies, sleep, .. } = state;
        if sleep.n_asleep() > 0 {
            for (body, &group) in work.sleepers().iter().enumerate() {
                if group == AWAKE && sleep.groups[body] != AWAKE {
                    sleep.places[body] = (bodies.poses[body], bodies.time);
                }
            }
            sleep.groups.clone_from_slice(work.sleepers());
            self.asleep.clear();
            self.asleep.extend(sleep.groups.iter().map(|&group| group != AWAKE));
            bodies.take_islands(model.mechanism(), &self.start, &self.start, &self.asleep);
        }
        for (body, place) in sleep.places.iter_mut().enumerate() {
            let gone = distance(&place.0, &bodies.poses[body], model.gyration[body]);
            if sleep.groups[body] == AWAKE && gone > how.distance {
                *place = (bodies.poses[body], bodies.time);
            }
        }
        self.group(model, work);
        let SleepState { groups, contacts, .. } = sleep;
        contacts.retain(|(contact, _)| is_asleep(contact, groups));
        self.contacts.clone_from(contacts);
        for body in 0..sleep.groups.len() {
            let (first, rested) = (self.first[body] as usize, bodies.time - sleep.places[body].1);
            self.rests[first][0] &= model.may_sleep[body] && rested >= how.after;
        }
        pushed(input).for_each(|body| {
            if let Some(&first) = self.first.get(body.index()) {
                self.rests[first as usize][0] = false;
            }
        });
        for body in 0..sleep.groups.len() {
            if sleep.groups[body] == AWAKE && self.rests[self.first[body] as usize] == [true; 2] {
                sleep.groups[body] = self.first[body];
                sleep.places[body].0 = bodies.poses[body];
                bodies.motions[body] = Motion::ZERO;
            }
        }
        let SleepState { groups, contacts, .. } = sleep;
        let acting = work.contacts().map(|(contact, force)| (*contact, force));
        contacts.extend(acting.filter(|(contact, _)| is_asleep(contact, groups)));
    }

    /// Counts of the contacts that slept through the step.
    pub(crate) fn summary(&self) -> ContactSummary {
        let depth = self.contacts.iter().map(|(contact, _)| contact.depth).fold(0.0, f64::max);
        ContactSummary { n_stick: self.contacts.len(), depth, ..ContactSummary::default() }
    }

    /// Connects bodies by joints and by contacts that could act: leaves the first body of each group, and whether something carries it.
    fn group(&mut self, model: &Model, work: &FleshWorkspace) {
        let Self { sets, first, rests, jointed, .. } = self;
        let n = model.may_sleep.len();
        sets.reset(n);
        rests.clear();
        rests.resize(n, [true, false]);
        jointed.clear();
        for body in model.mechanism().bodies() {
            if let Some(island) = model.mechanism().island_of(body) {
                jointed.resize(jointed.len().max(island + 1), AWAKE);
                match jointed[island] {
                    AWAKE => jointed[island] = body.index() as u32,
                    first => _ = sets.join(first, body.index() as u32),
                }
            }
        }
        let moved = |body: &usize| model.mechanism().port_of(BodyId::from_index(*body)).is_some();
        for bodies in work.near() {
            if let [Some(a), Some(b)] = bodies.map(|body| body.filter(moved)) {
                sets.join(a as u32, b as u32);
            }
        }
        first.clear();
        first.extend((0..n as u32).map(|body| sets.first(body)));
        for (contact, _) in work.contacts() {
            if let [Some(body), None] | [None, Some(body)] = contact.bodies().map(|body| body.filter(moved)) {
                rests[first[body] as usize][1] = true;
            }
        }
    }
}

/// Whether a body of a contact sleeps: then all of them do, if there are such bodies.
fn is_asleep(contact: &ContactPoint, groups: &[u32]) -> bool {
    let mut bodies = contact.bodies().into_iter().flatten();
    bodies.clone().all(|body| body < groups.len()) && bodies.any(|body| groups[body] != AWAKE)
}

/// Bodies that the input acts on.
fn pushed(input: &Input) -> impl Iterator<Item = BodyId> + '_ {
    input.wrenches.iter().map(|(body, _)| *body).chain(input.grabs.iter().map(|grab| grab.body))
}

/// Whether something kinematic is to go from one pose to another by more than rounding (m, rad).
fn departs(from: &Pose, to: &Pose) -> bool {
    from.translation.distance(to.translation) + turn(from, to) > 1e-9
}

/// Angle between two poses, as twice the sine of its half (rad).
fn turn(from: &Pose, to: &Pose) -> f64 {
    2.0 * (from.rotation.conjugate() * to.rotation).xyz().length()
}

/// How far a body is from a pose, with its turn at its radius of gyration, m.
fn distance(from: &Pose, to: &Pose, radius: f64) -> f64 {
    from.translation.distance(to.translation) + turn(from, to) * radius
}

/// Adds the touches of bodies that sleep: they go on.
pub(crate) fn append_asleep(model: &Model, state: &State, out: &mut Vec<TouchPair>) {
    if state.sleep.n_asleep() == 0 {
        return;
    }
    let Some(contact) = model.flesh().and_then(|flesh| flesh.contact()) else { return };
    let is_asleep = |side: &TouchSide| match side {
        TouchSide::Collider(part) => match contact.owner_of_part(*part) {
            Some(Owner::Body(body)) => state.sleep.is_asleep(BodyId::from_index(body as usize)),
            _ => false,
        },
        TouchSide::Flesh(_) => false,
    };
    for event in
        state.events.entries().iter().filter(|event| !event.is_sensor && event.phase != TouchPhase::End)
    {
        if event.sides.iter().any(is_asleep) {
            out.push(TouchPair::near(event.sides[0], event.sides[1]));
        }
    }
}

impl Settings {
    /// When bodies of a model fall asleep; none if they do not.
    pub(crate) fn sleep_of(&self, model: &Model) -> Option<Sleep> {
        let is_coupled = matches!(self.scheme, Scheme::Implicit(_)) && !self.reactions;
        let has_controller = model.reduced().is_some_and(|reduced| reduced.controller().is_some());
        let touches = model.flesh().is_some_and(|flesh| flesh.is_of_bodies_only());
        self.sleep.filter(|_| is_coupled && touches && !has_controller)
    }
}
