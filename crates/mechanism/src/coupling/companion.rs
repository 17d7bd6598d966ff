//! The interface of a companion: what it does to bodies, and its own unknowns.
//!
//! A companion is linearized at every linearization point of an implicit step ([`CouplingPoint`]). What it does to a single body it
//! adds to the block of that body through [`CompanionLoads`]. Its own unknowns, and every other coupling, it keeps for itself ([`Attached`]): bodies,
//! joints and companion are then one symmetric system (`solve`). Without unknowns of its own, it may have forces between bodies that are no
//! linear law ([`Companion::touching`]). World axes at centres of mass.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, Sym3, Sym6, shift_force};
use sinew_solvers::{Attached, CgReport, ConvexForces, ConvexReport, Load};

use crate::model::{Model, State};
use crate::tree::BodyLoads;

/// Where a step is linearized.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CouplingPoint<'a> {
    /// Poses of the central frames in the world, per body: at the start of the step, or ahead of it if `is_ahead`.
    pub poses: &'a [Pose],
    /// Twists at the centres of mass, world axes.
    pub motions: &'a [Motion],
    /// Whether the poses contain a displacement: a further iteration, or a step of second order.
    pub is_ahead: bool,
    /// Whether this is a further iteration: the companion's unknowns have a value, too.
    pub is_again: bool,
    /// Whether this is a further iteration with the directions of the first solve: only what is measured at the end that was found is new.
    pub keeps_directions: bool,
    /// Whether this is the same point as before: only the laws that [`Companion::review`] replaced are new.
    pub is_same: bool,
    /// Whether loops may close the tree: then it is factored with what a companion loads on its bodies, and not again.
    pub has_loops: bool,
    /// Effective length of the step, s: `β dt` in a step of second order.
    pub h: f64,
    /// Length of the step, s.
    pub dt: f64,
    /// Share of the last change that a step of second order carries on (γ of `implicit`); 0 in one of first order.
    pub carry: f64,
    /// `dt` over the last one; 0 in a step of first order.
    pub ratio: f64,
    /// World axes, m/s².
    pub gravity: DVec3,
}

/// How the solves of a step with a companion ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolveOutcome {
    /// Its laws were left with this relative error, because there were not enough solves; 0 if they have settled.
    Unsettled(f64),
    /// The step is too long, however it is solved.
    TooLong,
}

/// Something that is solved together with the bodies in an implicit step.
pub trait Companion: Attached {
    /// Linearizes itself and says what it does to bodies.
    fn linearize(&mut self, moment: &CouplingPoint<'_>, loads: &mut CompanionLoads<'_>);

    /// The residual of its own rows and its impulses on the bodies of [`Attached::ports`] (at centres of mass, world axes) at the twists of the
    /// tree alone and at the value it starts from; its unknowns are changes of that value.
    fn start(&mut self, motions: &[Motion], residual: &mut [f64], impulses: &mut [Force]);

    /// Takes the solution: changes of its own unknowns, and the twists of all bodies (at centres of mass, world axes), in the user's order. True if a law that
    /// it had guessed does not hold, for another solve at the same point; `solves_left` says how many there can be.
    fn review(&mut self, own: &[f64], motions: &[Motion], solves_left: u32) -> bool;

    /// Remembers the solution that it has reviewed last as the best of the step.
    fn keep(&mut self);

    /// Takes up the solution that it has remembered.
    fn take_best(&mut self);

    /// The bodies have moved: moves itself with the last solution. A step may have several parts; each ends with this.
    fn commit(&mut self, bodies: &State);

    /// How its solves ended.
    fn outcome(&self) -> SolveOutcome;

    /// Solves at one point, at most.
    fn most_solves(&self) -> u32;

    /// Learns how the solve went.
    fn solved(&mut self, report: CgReport);

    /// A body that does not go on as in the last step, because something touches it in the step of length `dt` to come or has touched it in the last
    /// one. All that it acts on then makes a step of first order. Asked before a step of second order.
    fn jolted(&mut self, bodies: &State, dt: f64, gravity: DVec3) -> Option<usize>;

    /// Whether it may act on a body, here or in any pose. All such bodies make a step with the same scheme.
    fn may_touch(&self, body: usize) -> bool;

    /// Whether it has forces between bodies at the present point that are no linear law.
    fn touches(&self) -> bool;

    /// These forces, and the impulses to start from: those that the last solve has left in `start`, or others.
    fn touching(&mut self, start: &mut Vec<Force>) -> &mut dyn ConvexForces;

    /// Learns how the solve with these forces went.
    fn touched(&mut self, report: ConvexReport);
}

/// Where a companion puts what it does to bodies.
pub struct CompanionLoads<'a> {
    model: &'a Model,
    loads: &'a mut BodyLoads,
}

impl<'a> CompanionLoads<'a> {
    /// Nothing yet.
    pub(crate) fn new(model: &'a Model, loads: &'a mut BodyLoads) -> Self {
        loads.coupled.resize(loads.slots.len(), false);
        Self { model, loads }
    }

    /// Adds a symmetric positive semidefinite matrix and an impulse to a body, both at its centre of mass in world axes; one that forces do
    /// not move ignores them.
    pub fn add(&mut self, body: usize, load: &Load) {
        if let Some(sum) = self.loads.on(self.model, body) {
            sum.add(load);
            self.loads.coupled[self.model.pair_of_body[body] as usize] = true;
        }
    }

    /// The impulse `q − B (u − away)` on a body, `u` the velocity at the end of the step of its point at `arm` from the
    /// centre of mass; `B` and `q` along three axes. World axes.
    pub fn push(&mut self, body: usize, arm: DVec3, law: &PointLaw, away: DVec3) {
        let (mut at_point, mut impulse) = (Sym3::ZERO, DVec3::ZERO);
        for ((&axis, &b), &q) in law.axes.iter().zip(&law.resistance).zip(&law.impulse) {
            at_point = at_point.add_outer(b, axis);
            impulse += axis * (q + b * axis.dot(away));
        }
        let mass = Sym6 { linear: at_point, ..Sym6::ZERO }.shifted(arm);
        let momentum = shift_force(Force::new(DVec3::ZERO, impulse), arm);
        self.add(body, &Load { mass, momentum });
    }
}

/// The impulse `q − B u` at a point: `q` and `B ≥ 0` along three orthonormal axes (N·s, kg).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointLaw {
    /// World axes.
    pub axes: [DVec3; 3],
    /// `B` along them.
    pub resistance: [f64; 3],
    /// `q` along them.
    pub impulse: [f64; 3],
}
