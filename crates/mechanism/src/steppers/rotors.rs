//! Bodies that spin fast, through an implicit step: found at its start, moved and measured with the others (`tree::rotor`).
//!
//! The second-order scheme extrapolates their momentum, spin and swing; increments in the history are swing plus spin about the axis at
//! the end of the step before. No allocation once warm.

use glam::{DQuat, DVec3};
use sinew_math::{Motion, exp_so3, quat_to_mat3};

use crate::model::{Model, RotorModel};
use crate::steppers::{SchemeCoefficients, StepPoint};
use crate::tree::{Rotor, split_along};
use crate::workspace::PointScratch;
use crate::{Gyroscopic, State};

/// Spin within a step, rad, times the ratio of the moments, up to which a body follows the gyroscopic law of other bodies.
const SLOW: f64 = 1e-2;

/// Error of the gyroscopic impulse that a step may leave, relative to it, and the turn of a rotor that needs no further solve, rad.
const SMALL: f64 = 1e-6;
const STILL: f64 = 1e-10;

/// The same error of a body that spins slowly, where bodies touch: friction is not known better.
const SMALL_NEXT_TO_FRICTION: f64 = 1e-3;

impl Rotor {
    /// At the start of a step, if the body spins fast.
    fn new(state: &State, model: &RotorModel, scheme: &SchemeCoefficients<'_>) -> Option<Self> {
        let (body, scheme) = (model.body as usize, scheme.of(model.body as usize));
        let base = state.poses[body].rotation;
        let axis = base * model.axis;
        let spin = state.motions[body].angular.dot(axis) * scheme.h;
        (spin.abs() * model.polar > SLOW * model.equator).then_some(Self {
            model: *model,
            h: scheme.h,
            is_second: scheme.is_second,
            start: axis,
            base,
            base_axis: axis,
            base_spin: 0.0,
            known: DVec3::ZERO,
            axis,
            best_axis: axis,
            assumed: state.motions[body].angular,
        })
    }

    /// First order: momentum in the middle of the step before.
    fn start_first(&mut self, own: DVec3, angular: DVec3) {
        let (spin, swing) = self.split(angular);
        self.known = own - swing.cross(self.axis) * (0.5 * self.h * self.model.polar * spin);
    }

    /// Second order: extrapolated momentum, base and end. Returns orientation and angular velocity that are predicted.
    fn start_second(&mut self, own: DVec3, state: &State, scheme: &SchemeCoefficients<'_>) -> (DQuat, DVec3) {
        let body = self.model.body as usize;
        let (spin, swing) = self.split(state.motions[body].angular);
        let (turn, step) = split_along(state.history.increments[body].angular, self.start);
        let before_axis = exp_so3(-step) * self.start;
        let (before_spin, before_swing) = split_along(state.history.motions[body].angular, before_axis);
        let RotorModel { polar, equator, .. } = self.model;
        let change =
            (swing - before_swing) * equator + (self.start * spin - before_axis * before_spin) * polar;
        self.known = own + change * scheme.carry;
        self.base_spin = turn * scheme.carry;
        self.base = self.turned(step * scheme.carry, self.base_spin);
        self.base_axis = self.base * self.model.axis;
        let swing = swing + (swing - before_swing) * scheme.ratio;
        let spin = spin + (spin - before_spin) * scheme.ratio;
        let end = self.turned(swing * scheme.h, spin * scheme.h);
        self.axis = end * self.model.axis;
        (end, swing + self.axis * spin)
    }
}

impl StepPoint<'_> {
    /// Finds the bodies that spin, and predicts where a second-order step takes them. Not where flesh is fastened to bodies.
    pub(crate) fn start_rotors(&mut self, state: &State, may_spin: bool) {
        let Self { task, scheme, points, implicit, .. } = self;
        points.rotors.clear();
        points.mixing.clear();
        if !may_spin || task.settings.gyroscopic != Gyroscopic::Auto || implicit.newton_iterations <= 1 {
            return;
        }
        let models = task.model.derived.rotors.iter().filter(|model| !task.input.holds(model.body));
        points.rotors.extend(models.filter_map(|model| Rotor::new(state, model, scheme)));
        for rotor in &mut points.rotors {
            let body = rotor.model.body as usize;
            let own = own_momentum(task.model, state, body);
            if rotor.is_second {
                let (end, angular) = rotor.start_second(own, state, scheme);
                points.poses[body].rotation = end;
                points.velocities[body].angular = angular;
                rotor.assumed = angular;
            } else {
                rotor.start_first(own, state.motions[body].angular);
            }
        }
    }

    /// Orientations of rotors at the end just found.
    pub(crate) fn move_rotors(&mut self) {
        let points = &mut *self.points;
        for rotor in &points.rotors {
            let body = rotor.model.body as usize;
            points.ends[body].rotation = rotor.end(points.velocities[body].angular);
        }
    }

    /// The linearization point goes to the end just found.
    pub(crate) fn carry_rotors(&mut self) {
        let points = &mut *self.points;
        points.mixing.clear();
        for rotor in &mut points.rotors {
            let body = rotor.model.body as usize;
            let axis = points.ends[body].rotation * rotor.model.axis;
            let angular = &mut points.velocities[body].angular;
            *angular = rotor.carried(*angular, axis);
            rotor.assumed = rotor.carried(rotor.assumed, axis);
            rotor.axis = axis;
        }
    }

    /// Largest turn of a rotor, rad, that comes of the momentum which the last solve, with the twists `motions` (per pair), has left
    /// unbalanced; and whether all are small next to what the spin does, or to what is known of friction if bodies touch.
    pub(crate) fn rotor_error(&self, motions: &[Motion], touches: bool) -> (f64, bool) {
        let (mut largest, mut are_small) = (0.0_f64, true);
        for rotor in &self.points.rotors {
            let RotorModel { pair, polar, equator, .. } = rotor.model;
            let angular = motions[pair as usize].angular;
            let imbalance = rotor.imbalance(angular).length();
            let (spin, swing) = rotor.split(angular);
            let g = rotor.gyroscopic_inertia();
            let turn = imbalance * rotor.h / (equator * equator + g * g).sqrt();
            largest = largest.max(turn);
            let small = if touches && !rotor.is_strong() { SMALL_NEXT_TO_FRICTION } else { SMALL };
            are_small &=
                turn <= STILL || imbalance <= small * polar * (spin * rotor.h).abs() * swing.length();
        }
        (largest, are_small)
    }

    /// Twists that the next solve assumes of rotors, after one that has found `motions` (per pair).
    pub(crate) fn mix_rotors(&mut self, motions: &[Motion]) {
        let PointScratch { rotors, mixing, .. } = &mut *self.points;
        let found = |rotor: &Rotor| motions[rotor.model.pair as usize].angular;
        if rotors.iter().any(Rotor::is_strong) {
            mixing.mix(rotors, found);
        } else {
            rotors.iter_mut().for_each(|rotor| rotor.assumed = found(rotor));
        }
    }

    /// Whether bodies spin so fast that errors say little before some solves are mixed.
    pub(crate) fn has_strong_rotors(&self) -> bool {
        self.points.rotors.iter().any(Rotor::is_strong)
    }
}

/// Angular momentum of a body about its centre of mass.
fn own_momentum(model: &Model, state: &State, body: usize) -> DVec3 {
    let rotation = quat_to_mat3(state.poses[body].rotation);
    model.bodies[body].inertia.rotated_by(&rotation).mul_vec(state.motions[body].angular)
}
