//! The state of a model for another one that shares bodies, joints, colliders and flesh with it: what an edit of a world keeps.
//!
//! Beside what [`sinew_mechanism::Model::carry_state`] keeps, contacts keep their stretches (what sticks goes on sticking), touches go on, and what
//! sleeps sleeps on, unless a body of its group, or one that it touches, is gone. Flesh keeps its nodes if it has as many of them as before;
//! flesh that is new is at rest around its bones. Cost: one pass over the state.

use sinew_contact::{ContactEvent, ContactKey, ContactModel, ContactPoint, Mover, Opposite, TouchSide};
use sinew_flesh::{AWAKE, FleshState};
use sinew_topology::NONE;

use crate::model::{Model, State};
use crate::sleep_state::SleepState;

/// Where the parts of a model went: per index before, the index now, or `u32::MAX`.
#[derive(Clone, Debug, Default)]
pub struct PartMoves {
    /// Bodies.
    pub bodies: Vec<u32>,
    /// Joints.
    pub joints: Vec<u32>,
    /// Parts of colliders.
    pub colliders: Vec<u32>,
    /// Flesh.
    pub flesh: Vec<u32>,
}

impl PartMoves {
    /// Whether all flesh is where it was.
    fn keeps_flesh(&self) -> bool {
        self.flesh.iter().enumerate().all(|(before, &now)| now as usize == before)
    }
}

fn moved(moves: &[u32], before: u32) -> Option<u32> {
    moves.get(before as usize).copied().filter(|&now| now != NONE)
}

impl Model {
    /// The state of a model `before` this one, as far as both share its parts; the rest as in `start`, a state of this model.
    pub fn carry_state(&self, start: &State, before: (&Self, &State), moves: &PartMoves) -> State {
        let (old_model, old) = before;
        let mechanisms = (old_model.mechanism(), &old.bodies);
        let of_bodies = sinew_mechanism::Moves { bodies: &moves.bodies, joints: &moves.joints };
        let bodies = self.mechanism().carry_state(&start.bodies, mechanisms, of_bodies);
        let colliders = self.collider_moves(old_model, moves);
        let key = |key: ContactKey| moved_key(key, &colliders, moves.keeps_flesh());
        let mut flesh = self.carry_flesh(start, &bodies, old, moves);
        flesh.anchors = old.flesh.anchors.renumbered(key);
        flesh.body_anchors = old.flesh.body_anchors.renumbered(key);
        let mut control = old.control.clone();
        let freedoms = |model: &Self| model.reduced().map(|reduced| reduced.tree().n_dofs());
        if freedoms(self) != freedoms(old_model) {
            control.gap.clear();
            control.pushes.clear();
        }
        let events = old.events.renumbered(|event| moved_event(event, moves));
        let sleep = carry_sleep(&old.sleep, &bodies, moves, key);
        State { bodies, flesh, control, events, sleep, model: self.identity() }
    }

    fn contact(&self) -> Option<&ContactModel> {
        self.flesh()?.contact()
    }

    /// Where the colliders of the contact model went.
    fn collider_moves(&self, before: &Self, moves: &PartMoves) -> Vec<u32> {
        let (Some(now), Some(before)) = (self.contact(), before.contact()) else { return Vec::new() };
        let first = |model: &ContactModel, part: u32, collider: usize| {
            (0..=collider).rev().take_while(|&i| model.part(i) == part).last()
        };
        let mut first_of_part = vec![NONE; n_parts(now)];
        for collider in (0..now.colliders().len()).rev() {
            first_of_part[now.part(collider) as usize] = collider as u32;
        }
        let place = |collider: usize| {
            let part = before.part(collider);
            let to = moved(&moves.colliders, part)?;
            let offset = collider - first(before, part, collider)?;
            let found = *first_of_part.get(to as usize)? as usize + offset;
            (found < now.colliders().len() && now.part(found) == to).then_some(found as u32)
        };
        (0..before.colliders().len()).map(|collider| place(collider).unwrap_or(NONE)).collect()
    }

    fn carry_flesh(
        &self,
        start: &State,
        bodies: &sinew_mechanism::State,
        old: &State,
        moves: &PartMoves,
    ) -> FleshState {
        let Some(model) = self.flesh() else { return FleshState::default() };
        let at_rest = model.initial_state(bodies);
        let mut flesh = start.flesh.clone();
        for (place, body) in model.bodies().iter().enumerate() {
            if !body.bones().is_empty() {
                flesh.nodes[place] = at_rest.nodes[place].clone();
            }
        }
        for (from, &to) in moves.flesh.iter().enumerate().filter(|(_, to)| **to != NONE) {
            let (Some(nodes), Some(place)) = (old.flesh.nodes.get(from), flesh.nodes.get_mut(to as usize))
            else {
                continue;
            };
            let is_same =
                nodes.positions.len() == place.positions.len() && nodes.flow.len() == place.flow.len();
            if is_same {
                place.clone_from(nodes);
                flesh.history[to as usize].clone_from(&old.flesh.history[from]);
            }
        }
        flesh
    }
}

fn n_parts(contact: &ContactModel) -> usize {
    (0..contact.colliders().len()).map(|i| contact.part(i) as usize + 1).max().unwrap_or(0)
}

/// The key of a contact with new numbers; none if one of its sides is gone.
fn moved_key(key: ContactKey, colliders: &[u32], keeps_flesh: bool) -> Option<ContactKey> {
    if !key.is_of_flesh() {
        return Some(ContactKey { a: moved(colliders, key.a)?, b: moved(colliders, key.b)?, ..key });
    }
    if !keeps_flesh {
        return None;
    }
    // Flesh is counted from the end.
    let b = if key.b > u32::MAX / 2 { key.b } else { moved(colliders, key.b)? };
    Some(ContactKey { b, ..key })
}

fn moved_event(event: &ContactEvent, moves: &PartMoves) -> Option<ContactEvent> {
    let side = |side: TouchSide| match side {
        TouchSide::Collider(part) => moved(&moves.colliders, part).map(TouchSide::Collider),
        TouchSide::Flesh(flesh) => moved(&moves.flesh, flesh).map(TouchSide::Flesh),
    };
    let [a, b] = event.sides;
    Some(ContactEvent { sides: [side(a)?, side(b)?], ..*event })
}

/// What sleeps, and since when the others rest.
fn carry_sleep(
    old: &SleepState,
    bodies: &sinew_mechanism::State,
    moves: &PartMoves,
    key: impl Fn(ContactKey) -> Option<ContactKey>,
) -> SleepState {
    let gone = (0..moves.bodies.len()).filter(|&body| moves.bodies[body] == NONE);
    let woken: Vec<u32> = gone.flat_map(|body| old.disturbed_by(body)).collect();
    let mut sleep = SleepState { gravity: old.gravity, begun: old.begun, ..SleepState::default() };
    if !old.groups.is_empty() {
        sleep.groups = vec![AWAKE; bodies.poses.len()];
    }
    if !old.places.is_empty() {
        sleep.places = bodies.poses.iter().map(|&pose| (pose, bodies.time)).collect();
    }
    for (from, &to) in moves.bodies.iter().enumerate().filter(|(_, to)| **to != NONE) {
        let to = to as usize;
        let group = old.groups.get(from).copied().filter(|&group| group != AWAKE);
        let wakes = group.is_some_and(|group| woken.contains(&group));
        if let Some(&(place, since)) = old.places.get(from) {
            sleep.places[to] = (place, if wakes { old.begun } else { since });
        }
        if let Some(group) = group.filter(|_| !wakes).and_then(|group| moved(&moves.bodies, group)) {
            sleep.groups[to] = group;
        }
    }
    let contact = |contact: &ContactPoint| {
        let body = |body: u32| moved(&moves.bodies, body);
        let a = if let Mover::Body(a) = contact.a { Mover::Body(body(a)?) } else { contact.a };
        let b = if let Opposite::Body(b) = contact.b { Opposite::Body(body(b)?) } else { contact.b };
        Some(ContactPoint { key: key(contact.key)?, a, b, ..*contact })
    };
    let kept = old.contacts.iter().filter_map(|(point, force)| Some((contact(point)?, *force)));
    sleep.contacts = kept.filter(|(point, _)| is_asleep(&sleep.groups, point)).collect();
    sleep
}

fn is_asleep(groups: &[u32], contact: &ContactPoint) -> bool {
    contact.bodies().into_iter().flatten().any(|body| groups.get(body).is_some_and(|&group| group != AWAKE))
}
