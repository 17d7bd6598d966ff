//! Loads on single bodies: input wrenches, soft grabs, springs to immovable points, and what a companion adds.

use sinew_math::shift_motion;
use sinew_solvers::Load;
use sinew_topology::NONE;

use crate::forces::point_spring::{PointSpring, PointSpringState, add_point_spring};
use crate::input::{Grab, Input};
use crate::model::mechanism::Model;
use crate::model::records::{WORLD, pose_of};
use crate::tree::point::Iterate;

/// Loads on single bodies.
#[derive(Clone, Debug)]
pub(crate) struct BodyLoads {
    /// Per pair: index into `loads`.
    pub(crate) slots: Vec<u32>,
    pub(crate) loads: Vec<Load>,
    pub(crate) touched: Vec<u32>,
    /// Per pair: whether a companion acts on it; empty without one.
    pub(crate) held: Vec<bool>,
}

impl BodyLoads {
    /// Loads from wrenches, grabs and springs to immovable points at a linearization point.
    pub(crate) fn fill(&mut self, at: &Iterate<'_>, input: &Input) {
        self.clear();
        let h = at.h;
        for (body, wrench) in input.usable_wrenches(at.model) {
            if let Some(load) = self.on(at.model, body.index()) {
                load.momentum += *wrench * h;
            }
        }
        for grab in input.usable_grabs(at.model).filter(|g| !g.is_hard()) {
            self.add_spring(at, &grab_spring(at.model, grab));
        }
        for spring in &at.model.ground_springs {
            self.add_spring(at, spring);
        }
    }

    fn add_spring(&mut self, at: &Iterate<'_>, spring: &PointSpring) {
        if let Some(load) = self.on(at.model, spring.body1 as usize) {
            add_spring(at, spring, load);
        }
    }

    /// The load on a body, or `None` if forces do not move it.
    pub(crate) fn on(&mut self, model: &Model, body: usize) -> Option<&mut Load> {
        let pair = *model.pair_of_body.get(body)?;
        let slot = self.slots.get_mut(pair as usize)?;
        if *slot == NONE {
            *slot = self.loads.len() as u32;
            self.loads.push(Load::ZERO);
            self.touched.push(pair);
        }
        self.loads.get_mut(*slot as usize)
    }

    pub(crate) fn clear(&mut self) {
        for pair in self.touched.drain(..) {
            self.slots[pair as usize] = NONE;
            if let Some(is_held) = self.held.get_mut(pair as usize) {
                *is_held = false;
            }
        }
        self.loads.clear();
    }
}

/// A soft grab as a spring to the world.
pub(crate) fn grab_spring(model: &Model, grab: &Grab) -> PointSpring {
    PointSpring {
        body1: grab.body.index() as u32,
        point1: model.bodies[grab.body.index()].central_point(grab.point),
        body2: WORLD,
        point2: grab.target,
        rest_length: 0.0,
        stiffness: grab.stiffness,
        damping: grab.damping,
    }
}

/// A spring to something immovable, on the body it pulls.
pub(crate) fn add_spring(at: &Iterate<'_>, spring: &PointSpring, load: &mut Load) {
    let body = spring.body1 as usize;
    let (pose, other) = (at.poses[body], pose_of(at.poses, spring.body2));
    let arm = pose.rotation * spring.point1;
    let gap = pose.translation + arm - other.transform_point(spring.point2);
    let other_motion = at.motion(at.motions, spring.body2);
    let end_velocity = shift_motion(other_motion, other.rotation * spring.point2).linear;
    // A displaced linearization point holds the other end where it will be.
    let carried = at.displaced.map_or(end_velocity, |d| shift_motion(d[body], arm).linear);
    add_point_spring(load, spring, &PointSpringState { arm, gap, carried, end_velocity }, at.h);
}
