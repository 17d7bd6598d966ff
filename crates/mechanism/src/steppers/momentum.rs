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
use sinew_math::{Sym3, quat_to_mat3};

use crate::input_index::StepInput;
use crate::model::{Model, State};
use crate::tree::BodyLoads;

/// Angular momenta of the free islands about their centres of mass, kg·m²/s; not a number for islands that the input touches.
pub(crate) fn remember_momenta(model: &Model, state: &State, input: StepInput<'_>, momenta: &mut Vec<DVec3>) {
    momenta.clear();
    momenta.extend(model.derived.free_islands.iter().map(|bodies| {
        let is_left_alone = input.touches_any() && bodies.iter().any(|&body| input.touches(body));
        if is_left_alone { DVec3::NAN } else { Spin::of(model, state, bodies).momentum }
    }));
}

/// Gives back what a step has changed of the momenta, except to islands that a companion touches.
pub(crate) fn restore_momenta(model: &Model, state: &mut State, loads: &BodyLoads, momenta: &[DVec3]) {
    for (bodies, &before) in model.derived.free_islands.iter().zip(momenta) {
        let is_coupled = |body: &u32| loads.is_coupled(model.pair_of_body[*body as usize] as usize);
        if before.is_nan() || bodies.iter().any(is_coupled) {
            continue;
        }
        let spin = Spin::of(model, state, bodies);
        let change =
            spin.inertia.inverse().map_or(DVec3::NAN, |inverse| inverse.mul_vec(before - spin.momentum));
        if !change.is_finite() {
            continue;
        }
        for &body in bodies {
            let (pose, motion) = (&state.poses[body as usize], &mut state.motions[body as usize]);
            motion.angular += change;
            motion.linear += change.cross(pose.translation - spin.centre);
        }
    }
}

/// Rotation of an island about its centre of mass.
struct Spin {
    centre: DVec3,
    inertia: Sym3,
    momentum: DVec3,
}

impl Spin {
    fn of(model: &Model, state: &State, bodies: &[u32]) -> Self {
        let (mut mass, mut centre, mut velocity) = (0.0, DVec3::ZERO, DVec3::ZERO);
        for &body in bodies {
            let (pose, motion) = (&state.poses[body as usize], &state.motions[body as usize]);
            let m = model.bodies[body as usize].mass;
            mass += m;
            centre += pose.translation * m;
            velocity += motion.linear * m;
        }
        (centre, velocity) = (centre / mass, velocity / mass);
        let (mut inertia, mut momentum) = (Sym3::ZERO, DVec3::ZERO);
        for &body in bodies {
            let (pose, motion) = (&state.poses[body as usize], &state.motions[body as usize]);
            let inertial = &model.bodies[body as usize];
            let own = inertial.inertia.rotated_by(&quat_to_mat3(pose.rotation));
            let (arm, slip) = (pose.translation - centre, motion.linear - velocity);
            inertia += own;
            inertia += Sym3::IDENTITY * (inertial.mass * arm.length_squared());
            inertia = inertia.add_outer(-inertial.mass, arm);
            momentum += own.mul_vec(motion.angular) + arm.cross(slip) * inertial.mass;
        }
        Self { centre, inertia, momentum }
    }
}
