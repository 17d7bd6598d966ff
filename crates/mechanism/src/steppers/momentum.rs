//! Angular momentum of free islands over a step.
//!
//! Nothing turns an island that is not held, whatever its joints do: its angular momentum about the centre of mass stays. Steppers
//! keep it to the order of their rotation step or to their stop test. What is left is given back as a rigid rotation of the
//! island,
//! ```text
//! ω_i += Δω,   v_i += Δω × (x_i − c),     Δω = I_c⁻¹ (L − L⁺)
//! ```
//! which no joint sees. Islands that the input or a companion touches are left alone. World axes; `c` and `I_c`: centre of mass and
//! inertia of the island at the end of the step. Cost: two passes over the bodies of free islands; no allocation once warm.

use glam::DVec3;
use sinew_math::{Force, Sym3, quat_to_mat3};

use crate::input_index::StepInput;
use crate::model::{BodyId, Model, State};
use crate::tree::BodyLoads;

/// Angular momenta of the free islands about their centres of mass, kg·m²/s; not a number for islands that the input touches.
pub(crate) fn remember_momenta(model: &Model, state: &State, input: StepInput<'_>, momenta: &mut Vec<DVec3>) {
    momenta.clear();
    momenta.extend(model.derived.free_islands.iter().map(|bodies| {
        let is_left_alone = input.touches_any() && bodies.iter().any(|&body| input.touches(body));
        if is_left_alone { DVec3::NAN } else { BodiesAsOne::new(model, state, ids(bodies)).momentum.angular }
    }));
}

/// Gives back what a step has changed of the momenta, except to islands that a companion touches.
pub(crate) fn restore_momenta(model: &Model, state: &mut State, loads: &BodyLoads, momenta: &[DVec3]) {
    for (bodies, &before) in model.derived.free_islands.iter().zip(momenta) {
        let is_coupled = |body: &u32| loads.is_coupled(model.pair_of_body[*body as usize] as usize);
        if before.is_nan() || bodies.iter().any(is_coupled) {
            continue;
        }
        let whole = BodiesAsOne::new(model, state, ids(bodies));
        let missing = Force::new(before - whole.momentum.angular, DVec3::ZERO);
        whole.give(state, ids(bodies), missing);
    }
}

/// Bodies of an island.
fn ids(bodies: &[u32]) -> impl Iterator<Item = BodyId> + Clone + '_ {
    bodies.iter().map(|&body| BodyId::from_index(body as usize))
}

/// Some bodies as one: centre of mass, inertia and momentum about it.
#[derive(Clone, Copy, Debug)]
pub struct BodiesAsOne {
    mass: f64,
    centre: DVec3,
    inertia: Sym3,
    /// Momentum: angular about the centre of mass (kg·m²/s), linear (kg·m/s).
    pub momentum: Force,
}

impl BodiesAsOne {
    /// The bodies at a state.
    pub fn new(model: &Model, state: &State, bodies: impl Iterator<Item = BodyId> + Clone) -> Self {
        let (mut mass, mut centre, mut linear) = (0.0, DVec3::ZERO, DVec3::ZERO);
        for body in bodies.clone() {
            let (pose, motion) = (&state.poses[body.index()], &state.motions[body.index()]);
            let m = model.bodies[body.index()].mass;
            mass += m;
            centre += pose.translation * m;
            linear += motion.linear * m;
        }
        centre /= mass;
        let velocity = linear / mass;
        let (mut inertia, mut angular) = (Sym3::ZERO, DVec3::ZERO);
        for body in bodies {
            let (pose, motion) = (&state.poses[body.index()], &state.motions[body.index()]);
            let inertial = &model.bodies[body.index()];
            let own = inertial.inertia.rotated_by(&quat_to_mat3(pose.rotation));
            let (arm, slip) = (pose.translation - centre, motion.linear - velocity);
            inertia += own;
            inertia += Sym3::IDENTITY * (inertial.mass * arm.length_squared());
            inertia = inertia.add_outer(-inertial.mass, arm);
            angular += own.mul_vec(motion.angular) + arm.cross(slip) * inertial.mass;
        }
        Self { mass, centre, inertia, momentum: Force::new(angular, linear) }
    }

    /// Gives momentum to the bodies as a rigid motion. What is not finite is not given.
    pub fn give(&self, state: &mut State, bodies: impl Iterator<Item = BodyId>, momentum: Force) {
        let turn = self.inertia.inverse().map_or(DVec3::NAN, |inverse| inverse.mul_vec(momentum.angular));
        let shift = momentum.linear / self.mass;
        if !(turn.is_finite() && shift.is_finite()) {
            return;
        }
        for body in bodies {
            let (pose, motion) = (&state.poses[body.index()], &mut state.motions[body.index()]);
            motion.angular += turn;
            motion.linear += turn.cross(pose.translation - self.centre) + shift;
        }
    }
}
