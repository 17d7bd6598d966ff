//! Two ends of one step, put together by islands.
//!
//! Islands (bodies connected by joints, springs, ropes and gears) act on each other only through what a step is given. Two steps of the
//! same length from the same start under the same input, made by different schemes, are therefore both right for every island on its own,
//! and one may take islands of the other. Cost: one pass over bodies and joints; no allocation.

use sinew_topology::NONE;

use crate::BodyKind;
use crate::model::{Model, State};
use crate::prepare::increment;
use crate::workspace::Workspace;

/// Marks all bodies that are connected with a marked one; bodies that forces do not move are unmarked.
pub fn mark_islands(model: &Model, marked: &mut [bool]) {
    for (mark, &pair) in marked.iter_mut().zip(&model.pair_of_body) {
        *mark &= pair != NONE;
    }
    for (bodies, _) in model.derived.islands.iter() {
        let is_marked = bodies.iter().any(|&body| marked[body as usize]);
        bodies.iter().for_each(|&body| marked[body as usize] = is_marked);
    }
}

/// Per body: whether forces move it and nothing drives its island: no motor, drive, actuated or secondary joint or one that may break, rope or gear, and nothing kinematic is connected
/// with it. Such islands rest until something touches them or acts on them.
pub fn passive_bodies(model: &Model) -> Vec<bool> {
    let mut is_driven = vec![false; model.bodies.len()];
    let mut mark = |body: u32| {
        if let Some(mark) = is_driven.get_mut(body as usize) {
            *mark = true;
        }
    };
    for joint in &model.joints {
        let forces = &model.forces[joint.forces as usize];
        let has_motor = [&forces.twist, &forces.slide].into_iter().flatten().any(|one| one.motor.is_some());
        if has_motor
            || joint.n_driven() > 0
            || joint.is_actuated
            || joint.may_open
            || joint.breaks_at.is_some()
        {
            [joint.body1, joint.body2].into_iter().for_each(&mut mark);
        }
    }
    model.derived.rope_bodies.iter().copied().for_each(&mut mark);
    for &(holding, island) in model.derived.islands.held_by() {
        if model.bodies[holding as usize].kind == BodyKind::Kinematic {
            mark(model.derived.islands.bodies(island as usize)[0]);
        }
    }
    mark_islands(model, &mut is_driven);
    is_driven.iter().zip(&model.pair_of_body).map(|(is_driven, &pair)| !is_driven && pair != NONE).collect()
}

/// Whether a joint holds a marked body.
fn holds_marked(model: &Model, joint: usize, marked: &[bool]) -> bool {
    let joint = &model.joints[joint];
    [joint.body1, joint.body2].iter().any(|&body| marked.get(body as usize) == Some(&true))
}

impl State {
    /// Takes the islands whose bodies are `marked` (see [`mark_islands`]) from another end of the step that began at `start`.
    pub fn take_islands(&mut self, model: &Model, start: &Self, other: &Self, marked: &[bool]) {
        let has_past = self.history.step > 0.0;
        for body in (0..marked.len()).filter(|&body| marked[body]) {
            self.poses[body] = other.poses[body];
            self.motions[body] = other.motions[body];
            self.pulls[body] = other.pulls[body];
            if has_past {
                self.history.motions[body] = start.motions[body];
                self.history.increments[body] = increment(&start.poses[body], &other.poses[body]);
            }
        }
        for joint in (0..self.twists.len()).filter(|&joint| holds_marked(model, joint, marked)) {
            self.twists[joint] = other.twists[joint];
        }
        let pulls = self.loops.pulls.iter_mut().zip(&other.loops.pulls);
        for (looped, (pull, &taken)) in model.loops.iter().zip(pulls) {
            if holds_marked(model, looped.joint as usize, marked) {
                *pull = taken;
            }
        }
    }
}

impl Workspace {
    /// Takes joint wrenches and accelerations of the marked islands from the workspace of another step. Bodies without a mark are not marked.
    pub fn take_reactions(&mut self, model: &Model, other: &Self, marked: &[bool]) {
        let (own, other) = (&mut self.reactions, &other.reactions);
        for (body, (own, taken)) in own.accelerations.iter_mut().zip(&other.accelerations).enumerate() {
            if marked.get(body) == Some(&true) {
                *own = *taken;
            }
        }
        for (joint, (own, taken)) in own.wrenches.iter_mut().zip(&other.wrenches).enumerate() {
            if holds_marked(model, joint, marked) {
                *own = *taken;
            }
        }
    }
}
