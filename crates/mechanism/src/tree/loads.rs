//! Loads on single bodies: input wrenches, soft grabs, springs to immovable points, and what a companion adds.
//!
//! A load is a symmetric matrix and an impulse on the block of its body, so it costs nothing in the elimination. Only touched bodies
//! have one. No allocation for up to [`BodyLoads::ROOM`] of them.

use glam::DVec3;
use sinew_math::{Motion, shift_motion};
use sinew_solvers::Load;
use sinew_topology::NONE;

use crate::forces::{PointSpring, PointSpringState};
use crate::input::Grab;
use crate::model::{Model, WORLD, motion_of, pose_of};
use crate::tree::{LinearizationPoint, Rotor};

/// Loads on single bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyLoads {
    /// Per pair: index into `loads`.
    pub(crate) slots: Vec<u32>,
    /// Symmetric matrix and impulse, world axes at the centre of mass.
    pub(crate) loads: Vec<Load>,
    /// Pairs that have a load.
    pub(crate) touched: Vec<u32>,
    /// Per pair: angular momentum of a body that spins, in place of what its gyroscopic law says; empty without one.
    pub(crate) spinning: Vec<Option<DVec3>>,
    /// Per pair: whether a companion acts on it; empty without one.
    pub(crate) coupled: Vec<bool>,
}

impl BodyLoads {
    /// Bodies with input wrenches or grabs that need no allocation.
    pub(crate) const ROOM: usize = 64;

    /// No loads yet.
    pub(crate) fn new(model: &Model) -> Self {
        let room = model.springs.to_ground.len() + 2 * model.loops.len() + Self::ROOM;
        Self {
            slots: vec![NONE; model.pairs.len()],
            loads: Vec::with_capacity(room),
            touched: Vec::with_capacity(room),
            spinning: Vec::new(),
            coupled: Vec::new(),
        }
    }

    /// Loads from wrenches, grabs and springs to immovable points at a linearization point.
    pub(crate) fn fill(&mut self, at: &LinearizationPoint<'_>) {
        self.clear();
        let springs = &at.model.springs.to_ground;
        if at.input.wrenches.is_empty() && at.input.grabs.is_empty() && springs.is_empty() {
            return;
        }
        let points = at.by_island();
        for (body, wrench) in at.input.usable_wrenches(at.model) {
            if let Some(load) = self.on(at.model, body.index()) {
                load.momentum += *wrench * points.at(&[body.index() as u32]).step.h;
            }
        }
        for grab in at.input.soft_grabs(at.model) {
            self.add_spring(points.at(&[grab.body.index() as u32]), &grab_spring(at.model, grab));
        }
        for spring in springs {
            self.add_spring(points.at(&[spring.body1]), spring);
        }
    }

    /// Sets the momenta of bodies that spin.
    pub(crate) fn spin(&mut self, model: &Model, rotors: &[Rotor]) {
        if !rotors.is_empty() {
            self.spinning.resize(self.slots.len(), None);
        }
        for rotor in rotors {
            self.spinning[rotor.model.pair as usize] = Some(rotor.momentum(rotor.assumed));
            if let Some((inertia, momentum)) = rotor.holding()
                && let Some(load) = self.on(model, rotor.model.body as usize)
            {
                load.mass.angular += inertia;
                load.momentum.angular += momentum;
            }
        }
    }

    /// Adds a spring to the body it pulls, if forces move that.
    fn add_spring(&mut self, at: &LinearizationPoint<'_>, spring: &PointSpring) {
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

    /// Whether the body of a pair spins.
    #[inline]
    pub(crate) fn is_spinning(&self, pair: usize) -> bool {
        self.spinning.get(pair).is_some_and(Option::is_some)
    }

    /// Whether a companion acts on the body of a pair.
    #[inline]
    pub(crate) fn is_coupled(&self, pair: usize) -> bool {
        self.coupled.get(pair).is_some_and(|&is_coupled| is_coupled)
    }

    /// Forgets all loads.
    pub(crate) fn clear(&mut self) {
        for pair in self.touched.drain(..) {
            self.slots[pair as usize] = NONE;
            if let Some(is_coupled) = self.coupled.get_mut(pair as usize) {
                *is_coupled = false;
            }
        }
        self.loads.clear();
        self.spinning.clear();
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
pub(crate) fn add_spring(at: &LinearizationPoint<'_>, spring: &PointSpring, load: &mut Load) {
    let body = spring.body1 as usize;
    let arm = at.poses[body].rotation * spring.point1;
    let other = pose_of(at.measured_poses(), spring.body2);
    let gap = at.spring_gap(spring);
    let other_motion = motion_of(at.motions, spring.body2);
    let end_velocity = shift_motion(other_motion, other.rotation * spring.point2).linear;
    // A displaced linearization point holds the other end where it will be.
    let carried = at.displaced.map_or(end_velocity, |d| shift_motion(d[body], arm).linear);
    let linear = |motions: &[Motion]| shift_motion(motions[body], arm).linear - end_velocity;
    let bend = at.spring_bend(spring, linear);
    let state = PointSpringState { arm, gap, carried, end_velocity };
    spring.linearize(&state.bent(bend), at.step.h, load);
}
