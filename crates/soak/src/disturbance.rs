//! Pushes and holds at random, by a seed, one after the other with pauses, so that no motion dies.
//!
//! With `m` the mass of a body, or the mean of all if that is more, `r` its largest radius of gyration and `J` its inertia: a push is a
//! force up to `30 m/s² · m` and a torque up to `30 m/s² · J / r`, for a fifth of a second. A hold is a spring of `m ω²`, damped by `1.4 m ω`, with `ω = 12 rad/s`; its end goes from
//! where the body is towards where the body began, by at most the reach and to a side at random, in half a second, and lets go after a second.
//! So what was pushed away is brought back. Cost: none beside the step.

use glam::DVec3;
use sinew_math::Force;
use sinew_mechanism::{BodyId, BodyKind, Grab, Input};
use sinew_sim::World;
use sinew_testkit::Rng;

/// Largest acceleration of a push (m/s²).
const PUSH: f64 = 30.0;
/// Frequency of a hold (rad/s).
const HOLD: f64 = 12.0;
/// Share of disturbances that are holds.
const HOLDS: f64 = 0.5;
/// How long a push, a hold and the way of its end last, and the longest pause (s).
const TIMES: [f64; 4] = [0.2, 1.0, 0.5, 1.0];

/// What happens now.
#[derive(Clone, Copy, Debug)]
enum Disturbance {
    Nothing,
    Push(BodyId, Force),
    /// A hold, the time at which it began, and its way.
    Hold(Grab, f64, DVec3),
}

/// Disturbs a world step by step.
#[derive(Clone, Debug)]
pub struct Disturber {
    random: Rng,
    /// What can be moved, with its mass (kg) and where it began.
    bodies: Vec<(BodyId, f64, DVec3)>,
    /// How far a hold moves a body (m).
    reach: f64,
    now: Disturbance,
    /// When that ends (s).
    until: f64,
}

impl Disturber {
    /// Of a world at its beginning; holds move bodies by `reach` at most (m).
    pub fn new(world: &World, seed: u64, reach: f64) -> Self {
        let model = world.mechanism();
        let movable: Vec<BodyId> =
            model.bodies().filter(|&body| model.body_kind(body) == BodyKind::Dynamic).collect();
        let mean = moving_mass(world) / movable.len().max(1) as f64;
        let entry = |body: BodyId| (body, model.body_mass(body).max(mean), world.pose(body).translation);
        Self {
            random: Rng::new(seed),
            bodies: movable.into_iter().map(entry).collect(),
            reach,
            now: Disturbance::Nothing,
            until: 0.0,
        }
    }

    /// Adds what happens in the step from `time` on (s, of a clock that only goes forward); whether something new began.
    pub fn disturb(&mut self, world: &World, time: f64, input: &mut Input) -> bool {
        let is_new = time >= self.until;
        if is_new {
            self.choose(world, time);
        }
        match self.now {
            Disturbance::Nothing => {}
            Disturbance::Push(body, wrench) => input.wrenches.push((body, wrench)),
            Disturbance::Hold(grab, began, way) => {
                let share = ((time - began) / TIMES[2]).min(1.0);
                input.grabs.push(Grab { target: grab.target + share * way, ..grab });
            }
        }
        is_new
    }

    fn choose(&mut self, world: &World, time: f64) {
        let was_something = !matches!(self.now, Disturbance::Nothing);
        if was_something || self.bodies.is_empty() {
            (self.now, self.until) = (Disturbance::Nothing, time + self.random.uniform(0.1, TIMES[3]));
            return;
        }
        let (body, mass, start) = self.bodies[self.random.below(self.bodies.len())];
        if self.random.chance(HOLDS) {
            let target = world.pose(body).translation;
            let aside = self.random.unit_vec() * self.random.uniform(0.0, self.reach);
            let way = (start + aside - target).clamp_length_max(self.reach);
            let (stiffness, damping) = (mass * HOLD * HOLD, 1.4 * mass * HOLD);
            let grab = Grab { body, point: DVec3::ZERO, target, stiffness, damping };
            (self.now, self.until) = (Disturbance::Hold(grab, time, way), time + TIMES[1]);
        } else {
            let force = self.random.unit_vec() * self.random.uniform(0.0, PUSH * mass);
            let torque = self.torque(world, body);
            (self.now, self.until) = (Disturbance::Push(body, Force::new(torque, force)), time + TIMES[0]);
        }
    }

    fn torque(&mut self, world: &World, body: BodyId) -> DVec3 {
        let (model, mass) = (world.mechanism(), world.mechanism().body_mass(body));
        let moments = model.principal_moments(body);
        let gyration = (moments.max_element() / mass).sqrt();
        let axes = world.pose(body).rotation * model.central_frame(body).rotation;
        let largest = moments * (PUSH / gyration);
        axes * (self.random.unit_vec() * self.random.uniform(0.0, 1.0) * largest)
    }
}

/// Mass of everything that forces move, flesh included (kg).
pub(crate) fn moving_mass(world: &World) -> f64 {
    let model = world.mechanism();
    let moved = model.bodies().filter(|&body| model.body_kind(body) == BodyKind::Dynamic);
    let bodies: f64 = moved.map(|body| model.body_mass(body)).sum();
    let flesh = world.model().flesh().map_or(&[][..], |flesh| flesh.bodies());
    bodies + flesh.iter().flat_map(|flesh| flesh.fem().masses()).sum::<f64>()
}
