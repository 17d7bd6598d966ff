//! What a body adds to the system at a linearization point: mass, momentum, gravity, drag, geometric stiffness.

use glam::{DMat3, DVec3};
use sinew_math::Force;
use sinew_solvers::Load;
use sinew_topology::NONE;

use crate::model::records::{AnchorInertia, PairModel};
use crate::settings::Gyroscopic;
use crate::tree::geometric;
use crate::tree::point::Iterate;

/// The body's own mass, momentum, gravity, drag, and what the outside puts on it.
#[inline]
pub(crate) fn add_own(at: &Iterate<'_>, k: usize, pair: &PairModel, rotation: &DMat3, load: &mut Load) {
    let h = at.h;
    let inertia = pair.inertia.rotated_by(rotation);
    let base = &at.base[pair.body as usize];
    let omega = base.angular;
    let angular = match at.gyro {
        Gyroscopic::Auto
            if pair.spins_free && !at.is_second && !at.is_held(k) && !at.input.holds(at.model, pair.body) =>
        {
            inertia.mul_vec(omega)
        }
        Gyroscopic::Auto | Gyroscopic::Implicit if at.displaced.is_none() => {
            let r = rotation;
            let own = DVec3::new(r.x_axis.dot(omega), r.y_axis.dot(omega), r.z_axis.dot(omega));
            *rotation * (pair.inertia.implicit_step(own, h) * pair.inertia.moments)
        }
        Gyroscopic::Momentum if at.displaced.is_none() => inertia.mul_vec(omega),
        Gyroscopic::None => inertia.mul_vec(omega),
        _ => {
            // Torque at the linearization point, which the higher-order schemes have moved ahead.
            let ahead = at.motions[pair.body as usize].angular;
            inertia.mul_vec(omega) - ahead.cross(inertia.mul_vec(ahead)) * h
        }
    };
    let mass = pair.mass;
    load.mass.angular += inertia * (1.0 + h * pair.angular_damping);
    let linear = mass * (1.0 + h * pair.linear_damping);
    load.mass.linear.xx += linear;
    load.mass.linear.yy += linear;
    load.mass.linear.zz += linear;
    load.momentum += Force { angular, linear: (base.linear + at.gravity * h) * mass };
    add_extra(at, k, load);
}

/// What the outside puts on the body of a pair.
#[inline]
pub(crate) fn add_extra(at: &Iterate<'_>, k: usize, load: &mut Load) {
    let slot = at.extra_slots[k];
    if slot != NONE {
        load.add(&at.extras[slot as usize]);
    }
}

/// Adds `h² K` of a joint force to a body's rotation, acting on what the pose does not contain yet.
#[inline]
pub(crate) fn add_geometric(
    at: &Iterate<'_>,
    body: u32,
    load: &mut Load,
    (arm, end): (DVec3, AnchorInertia),
    (pull, strength): (DVec3, f64),
) {
    let spared = if at.displaced.is_some() { 0.0 } else { geometric::RESOLVED * end.inertia * at.per_square };
    if let Some(k) = geometric::stiffness(arm, end.reach, pull, strength, spared, at.square) {
        load.mass.angular += k;
        if let Some(displaced) = at.displaced {
            load.momentum.angular += k.mul_vec(displaced[body as usize].angular);
        }
    }
}
