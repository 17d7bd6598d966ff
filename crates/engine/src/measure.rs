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

/// Momentum: angular about the world origin (kg·m²/s), linear (kg·m/s), world axes.
pub fn momentum(model: &Model, state: &State) -> Force {
    let bodies = sinew_mechanism::momentum(model.mechanism(), &state.bodies);
    model.flesh().map_or(bodies, |flesh| bodies + flesh.momentum(&state.flesh))
}

/// Largest joint errors, m and rad.
pub fn violation(model: &Model, state: &State, input: &Input) -> Violation {
    sinew_mechanism::violation(model.mechanism(), &state.bodies, input)
}
