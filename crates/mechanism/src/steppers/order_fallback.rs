//! Which islands make a step of second order with the first.
//!
//! The second-order scheme extrapolates the step before. Where the rotation speed of a body has changed by more than 0.25 rad per step in it
//! (a limit, an impact, a grab, a jump of a kinematic body), the motion is not resolved, and extrapolating it would mislead. Then the island
//! of that body, all that joints, springs, ropes and gears connect with it, makes a step of backward Euler; other islands do not
//! notice. What a contact stops, in the step before or in this one, falls back, too ([`Companion::jolted`]). A kinematic body has the islands that it holds fall back. What a companion may act on (flesh, colliders) is one island
//! in this, touching or not. Cost: one pass over the bodies.

use sinew_math::Motion;
use sinew_topology::NONE;

use crate::model::{BodyId, Islands, Model, State};
use crate::{Companion, Order, Settings};

/// Change of rotation speed times step, rad, beyond which the motion is not resolved.
pub(crate) const RESOLVED_TURN: f64 = 0.25;

/// What falls back to first order in a step.
#[derive(Clone, Copy, Default)]
pub(crate) struct OrderFallback<'a> {
    /// Per body: whether its island does; empty if none does, or all.
    bodies: &'a [bool],
    /// Whether all islands do.
    pub(crate) is_whole: bool,
    /// Whether what a companion may act on does.
    pub(crate) has_companion: bool,
    /// The first body because of which they do.
    pub(crate) jolted: Option<BodyId>,
    /// Number of islands that do; a body that nothing is connected with is one, too.
    pub(crate) n_islands: u32,
}

impl<'a> OrderFallback<'a> {
    /// In a step; `scratch` has one entry per body after it.
    pub(crate) fn find(
        model: &Model,
        (state, order): (&State, Order),
        &Settings { dt, gravity, .. }: &Settings,
        mut companion: Option<&mut dyn Companion>,
        scratch: &'a mut Vec<bool>,
    ) -> Self {
        let history = &state.history;
        let has_history = history.step > 0.0 && history.motions.len() == state.motions.len();
        if order == Order::First {
            return Self::default();
        }
        scratch.clear();
        scratch.resize(state.motions.len(), false);
        if !has_history {
            return Self::default();
        }
        let limit = RESOLVED_TURN / dt;
        let is_jolted = |(now, before): (&Motion, &Motion)| {
            let is_resolved = (now.angular - before.angular).length_squared() < limit * limit;
            !is_resolved
        };
        let motions = || state.motions.iter().zip(&history.motions);
        let touched = companion.as_mut().and_then(|companion| companion.jolted(state, dt, gravity));
        let Some(jolted) = motions().position(is_jolted).or(touched) else { return Self::default() };
        let mut fall = Fall { model, islands: &model.derived.islands, bodies: scratch };
        let mut has_companion = touched.is_some();
        for (body, _) in motions().enumerate().filter(|&(_, motions)| is_jolted(motions)) {
            has_companion |= fall.mark(body as u32) && companion.is_some();
        }
        if let Some(companion) = companion.as_deref() {
            has_companion |= fall.spread(companion, has_companion);
        }
        let (n_islands, is_whole) = fall.count();
        let bodies: &[bool] = if is_whole { &[] } else { scratch };
        Self { bodies, is_whole, has_companion, jolted: Some(BodyId::from_index(jolted)), n_islands }
    }

    /// Per body: whether its island falls back; `None` if all bodies do the same.
    pub(crate) fn bodies(&self) -> Option<&'a [bool]> {
        (!self.bodies.is_empty()).then_some(self.bodies)
    }

    /// Whether a body falls back while others do not.
    #[inline]
    pub(crate) fn is_fallen(&self, body: usize) -> bool {
        self.bodies.get(body) == Some(&true)
    }
}

/// Islands that fall, under way.
struct Fall<'a> {
    model: &'a Model,
    islands: &'a Islands,
    bodies: &'a mut [bool],
}

impl Fall<'_> {
    /// The island of a body falls, or those that it holds; true for a body that forces do not move.
    fn mark(&mut self, body: u32) -> bool {
        let is_moved = self.model.pair_of_body[body as usize] != NONE;
        if is_moved {
            self.mark_island(body);
        } else {
            let held = self.islands.held_by().iter().filter(|&&(holding, _)| holding == body);
            for &(_, island) in held {
                self.islands
                    .bodies(island as usize)
                    .iter()
                    .for_each(|&body| self.bodies[body as usize] = true);
            }
        }
        !is_moved
    }

    /// All that is connected with a body falls.
    fn mark_island(&mut self, body: u32) {
        if self.bodies[body as usize] {
            return;
        }
        self.bodies[body as usize] = true;
        if let Some(island) = self.islands.of_bodies([body]) {
            self.islands.bodies(island).iter().for_each(|&body| self.bodies[body as usize] = true);
        }
    }

    /// If anything that a companion may act on falls, or is `asked` to, all of that does; true if so.
    fn spread(&mut self, companion: &dyn Companion, asked: bool) -> bool {
        let n = self.bodies.len();
        let falls = asked || (0..n).any(|body| self.bodies[body] && companion.may_touch(body));
        if falls {
            (0..n).filter(|&body| companion.may_touch(body)).for_each(|body| self.mark_island(body as u32));
        }
        falls
    }

    /// The islands that fall, and whether these are all.
    fn count(&self) -> (u32, bool) {
        let connected = self.islands.iter().map(|(bodies, _)| bodies[0]);
        let is_single = |&body: &u32| {
            self.model.pair_of_body[body as usize] != NONE && self.islands.of_bodies([body]).is_none()
        };
        let singles = (0..self.bodies.len() as u32).filter(is_single);
        let (mut n_fallen, mut n_others) = (0, 0);
        for body in connected.chain(singles) {
            *if self.bodies[body as usize] { &mut n_fallen } else { &mut n_others } += 1;
        }
        (n_fallen, n_others == 0)
    }
}
