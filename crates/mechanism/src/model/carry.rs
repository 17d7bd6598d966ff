//! A state of one model for another that shares bodies and joints with it.
//!
//! Bodies keep the place and the motion of their **body frames**. Where the mass properties stayed, they keep their bits; where the centre of mass
//! moved by `d`, its velocity is `v + ω × d`. Bodies that are fixed now stand still. Joints keep their turns, broken ones stay broken, loops their forces, islands of the same bodies their reserve of energy, and
//! schemes of second order their last step; what is new, or has another centre of mass, starts as if it had moved uniformly. Cost: one pass.

use std::ops::Range;

use sinew_math::Motion;
use sinew_topology::NONE;

use crate::model::{Model, State, TransmissionId};
use crate::{BodyId, BodyKind, JointId};

/// Where bodies and joints went: per index before, the index now, or `NONE`.
#[derive(Clone, Copy, Debug)]
pub struct Moves<'a> {
    /// Bodies.
    pub bodies: &'a [u32],
    /// Joints.
    pub joints: &'a [u32],
}

impl Moves<'_> {
    /// The places before and now of what is in both models.
    fn pairs(moves: &[u32]) -> impl Iterator<Item = (usize, usize)> {
        let both = moves.iter().enumerate().filter(|(_, now)| **now != NONE);
        both.map(|(before, &now)| (before, now as usize))
    }
}

impl Model {
    /// The state of a model `before` this one, as far as this model shares its bodies and joints; the rest as in `start`, a state of
    /// this model.
    pub fn carry_state(&self, start: &State, before: (&Self, &State), moves: Moves<'_>) -> State {
        let (old_model, old) = before;
        let mut state = start.clone();
        state.time = old.time;
        for (from, to) in Moves::pairs(moves.bodies) {
            let (id, old_id) = (BodyId::from_index(to), BodyId::from_index(from));
            (state.poses[to], state.motions[to]) = (old.poses[from], old.motions[from]);
            state.pulls[to] = old.pulls[from];
            if self.central_frame(id) != old_model.central_frame(old_id) {
                state.poses[to] = old_model.body_pose(old, old_id).compose(&self.central_frame(id));
                let arm = state.poses[to].translation - old.poses[from].translation;
                state.motions[to].linear += old.motions[from].angular.cross(arm);
            }
            if self.body_kind(id) == BodyKind::Fixed {
                state.motions[to] = Motion::ZERO;
            }
        }
        for (from, to) in Moves::pairs(moves.joints) {
            state.twists[to] = old.twists[from];
        }
        for joint in self.new_joints(moves) {
            state.twists[joint] = self.principal_twist(joint, &state.poses);
        }
        for (from, to) in Moves::pairs(moves.joints) {
            let (from, to) = (JointId::from_index(from), JointId::from_index(to));
            if old.is_broken(from) && self.breaks_at(to).is_some() {
                state.break_joint(to);
                if old.parted.binary_search(&from).is_ok() {
                    state.part(to);
                }
            }
        }
        self.carry_loops(&mut state, before, moves);
        self.carry_reserves(&mut state, before, moves);
        self.carry_history(&mut state, before, moves);
        state
    }

    /// Joints that were not there before.
    fn new_joints(&self, moves: Moves<'_>) -> impl Iterator<Item = usize> {
        let mut is_new = vec![true; self.n_joints()];
        Moves::pairs(moves.joints).for_each(|(_, to)| is_new[to] = false);
        (0..self.n_joints()).filter(move |&joint| is_new[joint])
    }

    /// Forces of joints outside the tree, and of ropes and gears by their names. Those of springs are found anew.
    fn carry_loops(&self, state: &mut State, (old_model, old): (&Self, &State), moves: Moves<'_>) {
        let mut place_of = vec![None; self.n_joints()];
        for (place, (joint, multipliers)) in self.loop_ranges().enumerate() {
            place_of[joint] = Some((place, multipliers));
        }
        for (place, (joint, multipliers)) in old_model.loop_ranges().enumerate() {
            let now = moves.joints.get(joint).and_then(|&now| place_of.get(now as usize)?.clone());
            let Some((place_now, multipliers_now)) = now else { continue };
            if multipliers_now.len() == multipliers.len() {
                state.loops.pulls[place_now] = old.loops.pulls[place];
                state.loops.forces[multipliers_now].copy_from_slice(&old.loops.forces[multipliers]);
            }
        }
        let (first, old_first) = (self.first_transmission_row(), old_model.first_transmission_row());
        for id in old_model.transmissions() {
            if let Some(now) = self.transmission(old_model.transmission_name(id)) {
                let row = |first: usize, id: TransmissionId| first + id.index();
                state.loops.forces[row(first, now)] = old.loops.forces[row(old_first, id)];
            }
        }
    }

    /// Joints outside the tree, and where their multipliers are.
    fn loop_ranges(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        self.loops.iter().scan(0, |end, looped| {
            let start = *end;
            *end += self.loop_multipliers(looped);
            Some((looped.joint as usize, start..*end))
        })
    }

    /// Reserves of islands that have the same bodies as before.
    fn carry_reserves(&self, state: &mut State, (old_model, old): (&Self, &State), moves: Moves<'_>) {
        let (islands, before) = (&self.derived.islands, &old_model.derived.islands);
        state.reserves.clear();
        if old.reserves.len() != before.len() {
            return;
        }
        state.reserves.resize(islands.len(), Default::default());
        for (island, reserve) in old.reserves.iter().enumerate() {
            let bodies = before.bodies(island);
            let now = |body: &u32| moves.bodies[*body as usize];
            let Some(place) = islands.of_bodies([now(&bodies[0])]) else { continue };
            if bodies.iter().map(now).eq(islands.bodies(place).iter().copied()) {
                state.reserves[place] = *reserve;
            }
        }
    }

    /// The last step, which what is new made at its velocity of now.
    fn carry_history(&self, state: &mut State, (old_model, old): (&Self, &State), moves: Moves<'_>) {
        state.history.step = old.history.step;
        let n_bodies = old.poses.len();
        let was_there = |list: &[Motion]| list.len() == n_bodies;
        let scaled = |motion: &Motion| *motion * old.history.step.max(0.0);
        // Where the centre of mass is another point, it has no past.
        let is_same = |&(from, to): &(usize, usize)| {
            self.central_frame(BodyId::from_index(to)) == old_model.central_frame(BodyId::from_index(from))
        };
        let kept = || Moves::pairs(moves.bodies).filter(is_same);
        state.history.motions.clear();
        state.history.increments.clear();
        if was_there(&old.history.motions) {
            state.history.motions.clone_from(&state.motions);
            for (from, to) in kept() {
                state.history.motions[to] = old.history.motions[from];
            }
        }
        if was_there(&old.history.increments) {
            state.history.increments.extend(state.motions.iter().map(scaled));
            for (from, to) in kept() {
                state.history.increments[to] = old.history.increments[from];
            }
        }
    }
}
