//! Work that motors, hands and forces do on a mechanism, step by step: what its energy is compared with.
//!
//! Motors and soft grabs have a potential, which counts as energy of the mechanism. With `F = clamp(kp (x* − x) + kd (ẋ* − ẋ) + F*, ±F_max)`
//! and `U' = −clamp(kp (x* − x), ±F_max)` the rest of `F` opposes the motion unless the motor has a speed `ẋ*` to reach or a force `F*` to add; its work is then
//! bounded by the largest power at the rates of the step. Targets that move do the work `U(x, new) − U(x, old)`. A wrench does
//! `F·Δx + τ·Δθ`. Friction, dampers and limits take energy, or store it where [`crate::energy`] counts it.
//!
//! Prescribed motion does work that nobody measures: bodies, drives, winches and hard grabs that move, joints that are let go, springs that
//! are switched. J; cost: one pass over motors, grabs and wrenches, and one copy of the poses. Nothing allocates once warm.

use glam::DVec3;
use sinew_math::{DriveCoordinate, Force, Pose};

use crate::input::Input;
use crate::model::{BodyId, JointId, Model, State, motion_of};
use crate::prepare::{add_compensation, set_targets, whole_increment};
use crate::{Motor, MotorTarget, Settings};

/// Gap from which a hard grab is still on its way, m.
const OPEN_GRAB: f64 = 1e-3;

/// Rates between the begin and the end of a step at which the power of a motor is looked at.
const RATES: u32 = 16;

/// The sources of energy of a mechanism, and where they were at the end of the last step.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EnergySources {
    motors: Vec<KnownMotor>,
    /// Per joint: the target of its motor.
    targets: Vec<MotorTarget>,
    poses: Vec<Pose>,
    /// Of the last step.
    input: Input,
}

/// A motor at some moment.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct KnownMotor {
    pub(crate) joint: JointId,
    along: DriveCoordinate,
    motor: Motor,
    target: MotorTarget,
    value: f64,
    rate: f64,
    is_lost: bool,
}

impl EnergySources {
    /// The sources of a model; the first step is counted from this state and input.
    pub fn new(model: &Model, state: &State, input: &Input) -> Self {
        let (poses, targets) = (state.poses.clone(), vec![MotorTarget::default(); model.joints.len()]);
        let mut sources = Self { motors: KnownMotor::all(model), targets, poses, input: input.clone() };
        set_targets(model, input, &mut sources.targets);
        for motor in &mut sources.motors {
            motor.advance(model, state, &sources.targets);
        }
        sources
    }

    /// Energy of motors and soft grabs, J.
    pub fn potential(&self, model: &Model, state: &State) -> f64 {
        let motors: f64 = self.motors.iter().map(KnownMotor::energy).sum();
        motors + grab_energy(model, &self.input, &state.poses)
    }

    /// Work done in the step of `dt` seconds under some gravity that led to a state, J; `None` if some of it is not known.
    pub fn work(
        &mut self,
        model: &Model,
        state: &State,
        input: &Input,
        (dt, gravity): (f64, DVec3),
    ) -> Option<f64> {
        let is_known = self.is_known(model, state, input);
        let moved = |(body, wrench): &(BodyId, Force)| {
            let body = body.index();
            let turn = state.motions[body].angular * dt;
            wrench.dot(whole_increment(&self.poses[body], &state.poses[body], turn))
        };
        // Schemes of second order have forces between those of the step before and those of now.
        let [before, now] =
            [&self.input, input].map(|input| input.usable_wrenches(model).map(moved).sum::<f64>());
        let wrenches = now.max(before);
        let grabs = grab_energy(model, input, &self.poses) - grab_energy(model, &self.input, &self.poses);
        set_targets(model, input, &mut self.targets);
        add_compensation(model, &self.poses, gravity, &mut self.targets);
        let Self { motors, targets, .. } = self;
        let motors: f64 = motors.iter_mut().map(|motor| motor.most_work(model, state, targets, dt)).sum();
        self.poses.clone_from(&state.poses);
        self.input.clone_from(input);
        is_known.then_some(wrenches + grabs + motors)
    }

    /// Whether nothing is prescribed that moves.
    fn is_known(&self, model: &Model, state: &State, input: &Input) -> bool {
        let before = &self.input;
        let stands = |&body: &u32| self.poses[body as usize] == state.poses[body as usize];
        let is_met = |grab: &crate::Grab| grab.gap(model, &state.poses) <= OPEN_GRAB;
        let hard = |input: &Input| input.hard_grabs(model).fold(DVec3::ZERO, |sum, grab| sum + grab.target);
        model.kinematic.iter().all(stands)
            && input.skin.is_empty()
            && input.drives == before.drives
            && input.drives.iter().all(|(_, drive)| drive.rate == 0.0)
            && input.servos.is_empty()
            && input.lengths == before.lengths
            && input.released == before.released
            && input.spring_scale.to_bits() == before.spring_scale.to_bits()
            && hard(input) == hard(before)
            && input.hard_grabs(model).all(is_met)
    }
}

/// Energy of the springs of soft grabs at some poses.
fn grab_energy(model: &Model, input: &Input, poses: &[Pose]) -> f64 {
    input.soft_grabs(model).map(|grab| grab.energy(model, poses)).sum()
}

impl KnownMotor {
    /// All motors of a model.
    pub(crate) fn all(model: &Model) -> Vec<Self> {
        let motors = model.joints().flat_map(|joint| {
            let forces = &model.forces[model.joints[joint.index()].forces as usize];
            [DriveCoordinate::Twist, DriveCoordinate::Slide].into_iter().filter_map(move |along| {
                let motor = forces.along(along)?.motor?;
                Some(Self {
                    joint,
                    along,
                    motor,
                    target: motor.target,
                    value: 0.0,
                    rate: 0.0,
                    is_lost: false,
                })
            })
        });
        motors.collect()
    }

    /// Moves on to a state and its target, given per joint. In a broken joint it does nothing.
    pub(crate) fn advance(&mut self, model: &Model, state: &State, targets: &[MotorTarget]) {
        let index = self.joint.index();
        let joint = &model.joints[index];
        self.is_lost = joint.breaks_at.is_some() && state.is_broken(self.joint);
        let motion = |body| motion_of(&state.motions, body);
        let relative = joint.relative(&state.poses, motion, state.twists[index]);
        (self.value, _) = relative.along(self.along);
        self.rate = model.forces[joint.forces as usize].rate(&relative, self.along);
        self.target = targets[index];
    }

    /// Its potential energy, J.
    pub(crate) fn energy(&self) -> f64 {
        self.potential(self.value, self.target)
    }

    /// Huber's potential.
    fn potential(&self, value: f64, target: MotorTarget) -> f64 {
        if self.is_lost {
            return 0.0;
        }
        let Motor { kp, max_force, .. } = self.motor;
        let off = (value - target.position).abs();
        let reach = if kp > 0.0 { max_force / kp } else { f64::INFINITY };
        if off <= reach { 0.5 * kp * off * off } else { max_force * (off - 0.5 * reach) }
    }

    /// Force at a rate that its potential does not have, N or N·m, if it has a speed to reach or a force to add.
    fn driving(&self, rate: f64) -> f64 {
        let Motor { kp, kd, max_force, .. } = self.motor;
        let MotorTarget { position, velocity, force } = self.target;
        if (velocity == 0.0 && force == 0.0) || self.is_lost {
            return 0.0;
        }
        let bound = |force: f64| force.clamp(-max_force, max_force);
        let spring = kp * (position - self.value);
        bound(spring + kd * (velocity - rate) + force) - bound(spring)
    }

    /// Work of its target since a moment before, J.
    fn work_of_target(&self, before: &Self) -> f64 {
        self.potential(before.value, self.target) - self.potential(before.value, before.target)
    }

    /// Most work that a step of any scheme has taken from its target and its speed, J.
    fn most_work(&mut self, model: &Model, state: &State, targets: &[MotorTarget], dt: f64) -> f64 {
        let before = *self;
        self.advance(model, state, targets);
        let share = |k: u32| f64::from(k) / f64::from(RATES);
        let rates = (0..=RATES).map(|k| before.rate + (self.rate - before.rate) * share(k));
        // Motion may have been taken out at the end of the step.
        let rates = rates.chain([(self.value - before.value) / dt]);
        let power = rates.map(|rate| self.driving(rate) * rate).fold(f64::NEG_INFINITY, f64::max);
        // Schemes with the force of the start of the step see the spring to a moving target as long as it was then.
        let led = (self.target.velocity * dt).abs();
        let lag = led * (0.5 * self.motor.kp * led).min(self.motor.max_force);
        self.work_of_target(&before) + dt * power + lag
    }

    /// Work in an implicit step, which has the forces of its end, J; along the way between the places that belong to the twists.
    pub(crate) fn work(
        &mut self,
        model: &Model,
        state: &State,
        targets: &[MotorTarget],
        settings: &Settings,
    ) -> f64 {
        let before = *self;
        self.advance(model, state, targets);
        let (dt, age) = (settings.dt, settings.twist_age());
        // Rates of first order are those of a straight line, and forces act on what the coordinate did (docs/maths/stiff-joints.md).
        let rate = if age > 0.0 { (self.value - before.value) / dt } else { self.rate };
        let way = dt * rate - age * (self.rate - before.rate);
        self.work_of_target(&before) + self.driving(rate) * way
    }
}
