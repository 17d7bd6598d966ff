//! Energy that a mechanism may have: what it began with, and the work that motors, hands and forces have done on it.
//!
//! Position motors with a constant target and soft grabs have a potential, which counts as energy: with `F = clamp(kp (x* − x) −
//! kd ẋ, ±F_max)` and `U' = −clamp(kp (x* − x), ±F_max)` the rest of `F` opposes the motion. A grab that moves its target does the
//! work `U(x, new) − U(x, old)`. Velocity motors do `∫ F ẋ dt`, bounded by the largest power at the rates of the step. A force on a
//! point of a body does `F·Δp`. Friction, dampers and limits only take energy, or store it where `energy` counts it.
//! Prescribed bodies and hard grabs do unknown work: the account starts anew while they move or are open.

use std::collections::VecDeque;

use glam::DVec3;
use sinew_mechanism::{BodyId, JointId};
use sinew_scene::{CurveDoc, ForceCoordinate, InputDoc, MotorDoc, SceneDoc, TargetDoc};
use sinew_sim::{Grab, World};

/// Shortest gap of a hard grab that counts as open, m.
const OPEN_GRAB: f64 = 1e-3;

/// A motor with a constant target.
#[derive(Clone, Copy, Debug)]
struct KnownMotor {
    joint: JointId,
    along_slide: bool,
    is_velocity: bool,
    target: f64,
    gain: f64,
    most: f64,
    /// Rate at the end of the last step.
    rate: f64,
}

/// A force on a point of a body.
#[derive(Clone, Copy, Debug)]
struct KnownForce {
    body: BodyId,
    point: DVec3,
    force: DVec3,
    from_s: f64,
    to_s: f64,
    /// Where the point was at the end of the last step.
    place: DVec3,
}

/// The account of a run.
#[derive(Clone, Debug)]
pub struct EnergyLedger {
    motors: Vec<KnownMotor>,
    forces: Vec<KnownForce>,
    grabs: Vec<Grab>,
    has_hands: bool,
    /// Work of moving the grabs before the present step, J.
    moved: f64,
    /// Until when something is prescribed, s.
    prescribed_until: f64,
    /// Energy at the start of the account and work done since, J.
    start: f64,
    work: f64,
    /// Largest amount that was exchanged, J: what one per cent refers to.
    scale: f64,
    highest_gravity: f64,
    lowest_gravity: f64,
    /// The last half second, one entry per step.
    recent: VecDeque<f64>,
}

/// Energy above what was put in, as a share of what was exchanged; zero if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Excess {
    /// At the end of the step.
    pub now: f64,
    /// The smallest of the last half second. The energy of a first-order step swings by about `hω` of itself and returns; what stays is
    /// a gain.
    pub lasting: f64,
}

/// How long a gain must last, s.
const LASTING: f64 = 0.5;

impl EnergyLedger {
    /// The account of a world at its start.
    pub fn new(scene: &SceneDoc, world: &World) -> Self {
        let is_prescribed = |input: &InputDoc| match input {
            InputDoc::Kinematic(_) => true,
            InputDoc::Grab(grab) => grab.stiffness.is_infinite(),
            _ => false,
        };
        let prescribed = scene.inputs.iter().any(is_prescribed);
        let track_ends = scene.tracks.iter().map(|track| match &track.curve {
            CurveDoc::Points(points) => points.last().map_or(0.0, |point| point.0),
            _ => f64::INFINITY,
        });
        let last_end = track_ends.fold(0.0, f64::max);
        let mut ledger = Self {
            motors: scene.joints.iter().filter_map(|joint| KnownMotor::of(joint, world)).collect(),
            forces: scene.inputs.iter().filter_map(|input| KnownForce::of(input, world)).collect(),
            grabs: Vec::new(),
            has_hands: scene.inputs.iter().any(|input| matches!(input, InputDoc::Grab(_))),
            moved: 0.0,
            prescribed_until: if prescribed { last_end } else { -1.0 },
            start: 0.0,
            work: 0.0,
            scale: 0.0,
            highest_gravity: 0.0,
            lowest_gravity: 0.0,
            recent: VecDeque::new(),
        };
        ledger.begin(world);
        ledger
    }

    /// Adds a step that has just been made.
    pub fn note(&mut self, world: &World) -> Excess {
        let dt = world.settings().dt;
        let motors: f64 = self.motors.iter_mut().map(|motor| motor.work(world, dt)).sum();
        let forces: f64 = self.forces.iter_mut().map(|force| force.work(world)).sum();
        if world.time() < self.prescribed_until + 1.5 * dt || self.has_open_grab(world) {
            self.begin(world);
            return Excess::default();
        }
        let work = motors + forces + self.moved;
        self.work += work;
        self.scale += work.abs();
        let energy = world.energy();
        self.lowest_gravity = self.lowest_gravity.min(energy.gravity);
        self.highest_gravity = self.highest_gravity.max(energy.gravity);
        let scale = self.scale + (self.highest_gravity - self.lowest_gravity);
        // Rounding of large potentials.
        let rounding = 1e-9 * (self.start.abs() + energy.gravity.abs()) + 1e-9;
        let excess = energy.total() + self.potential(world) - self.start - self.work;
        let now = if excess <= rounding { 0.0 } else { excess / scale.max(1e-6) };
        self.recent.push_back(now);
        if (self.recent.len() as f64) * dt <= LASTING {
            return Excess { now, lasting: 0.0 };
        }
        let lasting = self.recent.iter().copied().fold(f64::INFINITY, f64::min);
        self.recent.pop_front();
        Excess { now, lasting }
    }

    fn begin(&mut self, world: &World) {
        let energy = world.energy();
        self.start = energy.total() + self.potential(world);
        self.recent.clear();
        self.work = 0.0;
        self.scale = energy.kinetic + energy.elastic + self.potential(world);
        (self.highest_gravity, self.lowest_gravity) = (energy.gravity, energy.gravity);
    }

    /// Energy of position motors and soft grabs, J.
    fn potential(&self, world: &World) -> f64 {
        self.motors.iter().map(|motor| motor.potential(world)).sum::<f64>() + grab_energy(&self.grabs, world)
    }

    /// Prepares for the next step: the work of moving the grabs, measured where their points are now.
    pub fn prepare(&mut self, world: &World) {
        if self.has_hands {
            let before = grab_energy(&self.grabs, world);
            self.grabs.clear();
            self.grabs.extend(world.input_at(world.time()).grabs);
            self.moved = grab_energy(&self.grabs, world) - before;
        }
    }

    fn has_open_grab(&self, world: &World) -> bool {
        self.grabs.iter().any(|grab| grab.is_hard() && grab_gap(grab, world) > OPEN_GRAB)
    }
}

fn grab_gap(grab: &Grab, world: &World) -> f64 {
    world.pose(grab.body).transform_point(grab.point).distance(grab.target)
}

fn grab_energy(grabs: &[Grab], world: &World) -> f64 {
    let soft = grabs.iter().filter(|grab| !grab.is_hard());
    soft.map(|grab| 0.5 * grab.stiffness * grab_gap(grab, world).powi(2)).sum()
}

impl KnownMotor {
    fn of(doc: &sinew_scene::JointDoc, world: &World) -> Option<Self> {
        let joint = world.joint(&doc.name)?;
        let along_slide = doc.force_coordinate() == Some(ForceCoordinate::Slide);
        let value = |target: &TargetDoc| if let TargetDoc::Value(value) = target { *value } else { 0.0 };
        let most = |max_force: Option<f64>| max_force.unwrap_or(f64::INFINITY);
        let (is_velocity, target, gain, most) = match doc.motor.as_ref()? {
            MotorDoc::Position(motor) => {
                (false, value(&motor.target), motor.stiffness, most(motor.max_force))
            }
            MotorDoc::Velocity(motor) => (true, value(&motor.target), motor.damping, most(motor.max_force)),
        };
        let mut motor = Self { joint, along_slide, is_velocity, target, gain, most, rate: 0.0 };
        motor.rate = motor.reading(world).1;
        Some(motor)
    }

    fn reading(&self, world: &World) -> (f64, f64) {
        let reading = world.reading(self.joint);
        if self.along_slide {
            (reading.slide, reading.slide_rate)
        } else {
            (reading.twist, reading.twist_rate)
        }
    }

    /// Huber's potential of a position motor.
    fn potential(&self, world: &World) -> f64 {
        if self.is_velocity {
            return 0.0;
        }
        let off = (self.reading(world).0 - self.target).abs();
        let reach = self.most / self.gain;
        if off <= reach { 0.5 * self.gain * off * off } else { self.most * (off - 0.5 * reach) }
    }

    /// Work of a velocity motor in a step: its largest power at the rates between begin and end.
    fn work(&mut self, world: &World, dt: f64) -> f64 {
        let now = self.reading(world).1;
        let before = std::mem::replace(&mut self.rate, now);
        if !self.is_velocity {
            return 0.0;
        }
        let power = |rate: f64| (self.gain * (self.target - rate)).clamp(-self.most, self.most) * rate;
        let rates = (0..=16).map(|k| before + (self.rate - before) * f64::from(k) / 16.0);
        dt * rates.map(power).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl KnownForce {
    fn of(input: &InputDoc, world: &World) -> Option<Self> {
        let InputDoc::Wrench(wrench) = input else { return None };
        let body = world.body(&wrench.body)?;
        let (point, to_s) = (wrench.point?, wrench.to_s.unwrap_or(f64::INFINITY));
        let place = world.pose(body).transform_point(point);
        Some(Self { body, point, force: wrench.force, from_s: wrench.from_s, to_s, place })
    }

    fn work(&mut self, world: &World) -> f64 {
        let pose = world.pose(self.body);
        let place = pose.transform_point(self.point);
        let moved = place - std::mem::replace(&mut self.place, place);
        let middle = world.time() - 0.5 * world.settings().dt;
        if middle > self.from_s && middle < self.to_s { self.force.dot(moved) } else { 0.0 }
    }
}
