//! Energy, momentum and joint errors of bodies and flesh together.
//!
//! World axes, SI. Cost: one pass over bodies, joints and nodes.

use glam::DVec3;
use sinew_math::Force;
use sinew_mechanism::{Energy, Input, Violation};

use crate::{Model, State};

/// Mechanical energy under a gravity (m/s², world axes), J; joint springs are scaled by `spring_scale`, see [`Input::spring_scale`].
pub fn energy(model: &Model, state: &State, gravity: DVec3, spring_scale: f64) -> Energy {
    let mut sum = sinew_mechanism::energy(model.mechanism(), &state.bodies, gravity, spring_scale);
    if let Some(flesh) = model.flesh() {
        let soft = flesh.energy(&state.flesh, gravity);
        sum.kinetic += soft.kinetic;
        sum.gravity += soft.gravity;
        sum.elastic += soft.elastic;
    }
    sum
}

/// Energy that lifts everything by a hundredth of its size, J: what changes of energy are compared with where nothing moves. Size is the radius of gyration of a body, and the
/// extent of flesh at rest.
pub fn resting_energy(model: &Model, gravity: DVec3) -> f64 {
    let mechanism = model.mechanism();
    let moved = mechanism.bodies().filter(|&body| mechanism.port_of(body).is_some());
    let bodies: f64 = moved.map(|body| mechanism.body_mass(body) * model.gyration[body.index()]).sum();
    let flesh = model.flesh().map_or(&[][..], |flesh| flesh.bodies()).iter().zip(&model.flesh_thickness);
    let flesh: f64 = flesh.map(|(flesh, size)| flesh.fem().masses().iter().sum::<f64>() * size).sum();
    0.01 * gravity.length() * (bodies + flesh)
}

/// Momentum: angular about the world origin (kg·m²/s), linear (kg·m/s), world axes.
pub fn momentum(model: &Model, state: &State) -> Force {
    let bodies = sinew_mechanism::momentum(model.mechanism(), &state.bodies);
    model.flesh().map_or(bodies, |flesh| bodies + flesh.momentum(&state.flesh))
}

/// Largest joint errors, m and rad.
pub fn violation(model: &Model, state: &State, input: &Input) -> Violation {
    sinew_mechanism::violation(model.mechanism(), &state.bodies, input)
}
