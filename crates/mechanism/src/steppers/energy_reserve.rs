//! Energy of islands over implicit steps: nothing is gained without a source.
//!
//! A step with the directions of its start and joints that are closed at its end keeps energy on the average: it swings by about `hω` of
//! itself and returns, but what turns far in a step can gain more and more. So what an island loses is its reserve `R`, and what it gains is
//! paid from it:
//! ```text
//! R⁺ = R + E + W − E⁺,      R⁺ ≥ −ε max (T + V)
//! ```
//! with `E` the energy of motion `T`, of springs, stops, motors and soft grabs `V`, and of height; `W` the work of wrenches and of motors that
//! have a speed to reach. Twists of first order are those in the middle of the step, and go with the places there. What the reserve cannot pay
//! is taken out of the motion, in a way that no joint sees: out of all twists by a factor where something holds the island, and with the
//! same momentum where nothing does ([`BodiesAsOne::slow`]).
//!
//! Steps of trees that need one solve are not looked at: what is lost in them is found at the next look. Nor are islands where work is done that is not known: by bodies, drives, winches and hard
//! grabs that move, and by a companion. These keep their debts, but have no reserve when it ends. J; cost: two passes over the bodies, and over
//! the joints with forces; no allocation once warm.

use sinew_math::Motion;
use sinew_topology::NONE;

use crate::input::takes_servo;
use crate::input_index::StepInput;
use crate::measure::{Energy, each_energy};
use crate::model::{BodyId, IslandReserve, Model, State};
use crate::prepare::whole_increment;
use crate::steppers::{BodiesAsOne, StepTask};
use crate::tree::BodyLoads;
use crate::workspace::IslandScratch;
use crate::{DriveCoordinate, JointId, MotorTarget, Noticed, joint_reading};

/// Share of the largest energy of motion and springs that may be gained beyond the reserve.
const TOLERATED: f64 = 0.006;

/// Share of it that counts as gained if it cannot be taken out of the motion.
const GAINED: f64 = 0.01;

/// Share of its smallest joint by which an island can be lifted by joint errors.
const VISIBLE: f64 = 1e-3;

/// Rounding of the energy of height.
const ROUNDING: f64 = 1e-12;

/// How far a drive or a hard grab may be from its target and still does no work, m or rad.
const MET: f64 = 1e-6;

impl IslandScratch {
    /// Measures where a part of a step starts. What was lost in steps that were not looked at is a reserve too, where no motor or hand
    /// may have taken it.
    pub(crate) fn start(&mut self, task: &StepTask<'_>, state: &mut State, targets: &[MotorTarget]) {
        let StepTask { model, input, .. } = *task;
        self.is_measured = true;
        for motor in &mut self.motors {
            motor.advance(model, state, targets);
        }
        let pulled = input.usable_wrenches(model).map(|(body, _)| body.index());
        self.pulled.clear();
        self.pulled.extend(pulled.map(|body| (state.poses[body], state.motions[body])));
        self.measure(task, state);
        self.given.clear();
        self.given.extend(self.now.iter().map(Energy::total));
        let islands = &model.derived.islands;
        state.reserves.resize(islands.len(), IslandReserve::default());
        let motors = self.motors.iter().flat_map(|motor| islands.of_bodies(ends(model, motor.joint)));
        let grabs = input.soft_grabs(model).flat_map(|grab| islands.of_bodies([grab.body.index() as u32]));
        for island in motors.chain(grabs) {
            state.reserves[island].last = f64::MIN;
        }
        // Where there are loops every step is looked at.
        let looked_at = if model.loops.is_empty() { &self.given[..] } else { &[] };
        for (reserve, &now) in state.reserves.iter_mut().zip(looked_at) {
            reserve.energy += if reserve.last > now { reserve.last - now } else { 0.0 };
        }
        each_driven(model, state, input, &mut |bodies| {
            if let Some(island) = islands.of_bodies(bodies) {
                self.given[island] = f64::NAN;
            }
        });
        for &(body, island) in islands.held_by() {
            if state.motions[body as usize] != Motion::ZERO {
                self.given[island as usize] = f64::NAN;
            }
        }
    }

    /// Takes what a part of a step has gained without a source out of the motion.
    pub(crate) fn settle(
        &mut self,
        task: &StepTask<'_>,
        state: &mut State,
        loads: &BodyLoads,
        targets: &[MotorTarget],
        noticed: &mut Noticed,
    ) {
        let model = task.model;
        if !std::mem::take(&mut self.is_measured) {
            return;
        }
        self.add_work(task, state, targets);
        self.measure(task, state);
        let islands = &model.derived.islands;
        let is_coupled = |&body: &u32| loads.is_coupled(model.pair_of_body[body as usize] as usize);
        let energies = self.given.iter().zip(&self.now).enumerate();
        for ((bodies, is_free), (island, (&given, now))) in islands.iter().zip(energies) {
            let gained = now.total() - given;
            let reserve = &mut state.reserves[island];
            if !gained.is_finite() || bodies.iter().any(is_coupled) {
                *reserve = IslandReserve { energy: reserve.energy.min(0.0), ..IslandReserve::default() };
                continue;
            }
            let moving = now.kinetic + now.elastic;
            if reserve.scale == 0.0 {
                // Debts are remembered as far as this island would be allowed them now.
                reserve.energy = reserve.energy.max(-TOLERATED * moving);
            }
            reserve.energy -= gained;
            // What comes without a source is no measure.
            reserve.scale = reserve.scale.max(moving - gained.max(0.0));
            reserve.last = now.total();
            let (scale, least) = (reserve.scale, -TOLERATED * reserve.scale - ROUNDING * now.gravity.abs());
            let excess = least - reserve.energy;
            if gained > 0.0 && excess > 0.0 {
                let taken = slow(model, state, (bodies, is_free), now.kinetic, excess);
                let reserve = &mut state.reserves[island];
                (reserve.energy, reserve.last) = (reserve.energy + taken, reserve.last - taken);
                let body = Some(BodyId::from_index(bodies[0] as usize));
                noticed.slowed = noticed.slowed.or(body);
                let lift = || weight(task, bodies) * model.derived.smallest_size.min(1.0);
                if excess - taken > GAINED * scale && excess - taken > VISIBLE * lift() {
                    noticed.gaining = noticed.gaining.or(body);
                }
            }
        }
    }

    /// Adds the work of wrenches and motors in the part to what was given.
    fn add_work(&mut self, task: &StepTask<'_>, state: &State, targets: &[MotorTarget]) {
        let StepTask { model, input, settings, .. } = *task;
        let islands = &model.derived.islands;
        for ((body, wrench), (pose, motion)) in input.usable_wrenches(model).zip(&self.pulled) {
            if let Some(island) = islands.of_bodies([body.index() as u32]) {
                let (pose_now, now) = (&state.poses[body.index()], state.motions[body.index()]);
                let moved = whole_increment(pose, pose_now, now.angular * settings.dt);
                self.given[island] += wrench.dot(moved - (now - *motion) * settings.twist_age());
            }
        }
        for motor in &mut self.motors {
            let work = motor.work(model, state, targets, settings);
            if let Some(island) = islands.of_bodies(ends(model, motor.joint)) {
                self.given[island] += work;
            }
        }
    }

    /// Energy of every island, with motors and soft grabs among the springs.
    fn measure(&mut self, task: &StepTask<'_>, state: &State) {
        let StepTask { model, input, settings, .. } = *task;
        let Self { now, motors, .. } = self;
        let islands = &model.derived.islands;
        now.clear();
        now.resize(islands.len(), Energy::default());
        let mut add = |bodies: &[u32], energy: Energy| {
            if let Some(island) = islands.of_bodies(bodies.iter().copied()) {
                now[island] += energy;
            }
        };
        each_energy(model, state, (settings.gravity, settings.twist_age()), input.spring_scale, &mut add);
        let elastic = |elastic: f64| Energy { elastic, ..Energy::default() };
        for motor in motors {
            add(&ends(model, motor.joint), elastic(motor.energy()));
        }
        for grab in input.soft_grabs(model) {
            add(&[grab.body.index() as u32], elastic(grab.energy(model, &state.poses)));
        }
    }
}

/// Bodies of a joint.
fn ends(model: &Model, joint: JointId) -> [u32; 2] {
    let joint = &model.joints[joint.index()];
    [joint.body1, joint.body2]
}

/// Bodies that drives, actuators, winches and hard grabs move.
fn each_driven(model: &Model, state: &State, input: StepInput<'_>, drive_bodies: &mut dyn FnMut([u32; 2])) {
    for (joint, drive) in input.usable_drives(model) {
        let reading = joint_reading(model, state, *joint);
        let value = match drive.coordinate {
            DriveCoordinate::Twist => reading.twist,
            DriveCoordinate::Slide => reading.slide,
        };
        let stands = drive.rate == 0.0 && drive.acceleration == 0.0 && (value - drive.value).abs() < MET;
        if !stands {
            drive_bodies(ends(model, *joint));
        }
    }
    for (joint, _) in input.servos.iter().filter(|entry| takes_servo(model, entry)) {
        drive_bodies(ends(model, *joint));
    }
    for (rope, _) in &input.lengths {
        let body = model.derived.rope_bodies.get(rope.index());
        drive_bodies([body.copied().unwrap_or(NONE), NONE]);
    }
    for grab in input.hard_grabs(model).filter(|grab| grab.gap(model, &state.poses) > MET) {
        drive_bodies([grab.body.index() as u32, NONE]);
    }
}

/// Weight of some bodies, N.
fn weight(task: &StepTask<'_>, bodies: &[u32]) -> f64 {
    let masses = bodies.iter().map(|&body| task.model.bodies[body as usize].mass);
    masses.sum::<f64>() * task.settings.gravity.length()
}

/// Takes energy out of the motion of an island; returns how much. What the motion does not have stays a debt.
fn slow(
    model: &Model,
    state: &mut State,
    (bodies, is_free): (&[u32], bool),
    kinetic: f64,
    excess: f64,
) -> f64 {
    if is_free {
        let ids = bodies.iter().map(|&body| BodyId::from_index(body as usize));
        let whole = BodiesAsOne::new(model, state, ids.clone());
        whole.slow(state, ids, kinetic, excess)
    } else {
        let taken = excess.min(kinetic);
        let share = (1.0 - taken / kinetic.max(f64::MIN_POSITIVE)).max(0.0).sqrt();
        for &body in bodies {
            state.motions[body as usize] = state.motions[body as usize] * share;
        }
        taken
    }
}
