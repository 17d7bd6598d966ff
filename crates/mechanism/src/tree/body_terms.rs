//! What a body adds to the system at a linearization point: mass, momentum, gravity, drag, loads, geometric stiffness.
//!
//! Drag and gravity are implicit: `A += h d M`, `b += h g m`. The gyroscopic torque is treated as [`Gyroscopic`] says. World axes at
//! the centre of mass.

use glam::{DMat3, DVec3};
use sinew_math::Force;
use sinew_solvers::Load;
use sinew_topology::NONE;

use crate::model::{AnchorInertia, PairModel};
use crate::settings::Gyroscopic;
use crate::tree::geometric::{ArmForce, RESOLVED};
use crate::tree::{BodyLoads, LinearizationPoint};

/// The system of the tree at a linearization point, as the sweeps read it. A joint needs the point only; what bodies need beyond
/// it depends on the stepper.
#[derive(Clone, Copy)]
pub(crate) struct TreeSystem<'a> {
    /// What joints need.
    pub(crate) point: LinearizationPoint<'a>,
    /// m/s².
    pub(crate) gravity: DVec3,
    pub(crate) gyroscopic: Gyroscopic,
    /// Per body: net force of its joints in the step or solve before, for the geometric stiffness; empty if that is off.
    pub(crate) joint_forces: &'a [DVec3],
    /// Loads on single bodies.
    pub(crate) loads: &'a BodyLoads,
}

impl<'a> TreeSystem<'a> {
    /// A step of length zero.
    pub(crate) fn zero_step(
        point: LinearizationPoint<'a>,
        joint_forces: &'a [DVec3],
        loads: &'a BodyLoads,
    ) -> Self {
        let (gravity, gyroscopic) = (DVec3::ZERO, Gyroscopic::None);
        Self { point, gravity, gyroscopic, joint_forces, loads }
    }

    /// The system of an island that falls back to first order, if a pair belongs to one.
    #[inline]
    pub(crate) fn fallen_at(&self, pair: usize) -> Option<Self> {
        let is_fallen = self.point.is_fallen(&[self.point.model.pairs[pair].body]);
        let point = if is_fallen { self.point.fallen_point() } else { None };
        point.map(|point| Self { point, ..*self })
    }
}

/// The body's own mass, momentum, gravity, drag, and what the outside puts on it.
#[inline]
pub(crate) fn add_own(at: &TreeSystem<'_>, k: usize, pair: &PairModel, rotation: &DMat3, load: &mut Load) {
    let h = at.point.step.h;
    let inertia = pair.inertial.inertia.rotated_by(rotation);
    let base = &at.point.base.motions[pair.body as usize];
    let omega = base.angular;
    // A free body keeps its momentum here; its rotation is integrated by the midpoint rule after the solve.
    let is_at_start =
        !at.point.step.is_second && (at.point.displaced.is_none() || at.point.measured.is_some());
    let is_skew = pair.is_skew && at.gyroscopic == Gyroscopic::Auto;
    let angular = match at.gyroscopic {
        Gyroscopic::Auto if at.loads.is_spinning(k) => at.loads.spinning[k].unwrap_or_default(),
        Gyroscopic::Auto
            if pair.spins_free
                && !at.point.step.is_second
                && !at.loads.is_coupled(k)
                && !at.point.input.holds(pair.body) =>
        {
            inertia.mul_vec(omega)
        }
        Gyroscopic::Auto | Gyroscopic::Implicit if is_at_start && !is_skew => {
            let r = rotation;
            let own = DVec3::new(r.x_axis.dot(omega), r.y_axis.dot(omega), r.z_axis.dot(omega));
            *rotation * (pair.inertial.inertia.implicit_step(own, h) * pair.inertial.inertia.moments)
        }
        Gyroscopic::Momentum if is_at_start => inertia.mul_vec(omega),
        Gyroscopic::None => inertia.mul_vec(omega),
        _ => {
            // Torque at the linearization point, which the higher-order schemes have moved ahead. Exact about an axis that stays.
            let is_explicit = at.gyroscopic == Gyroscopic::Explicit && is_at_start;
            let ahead = if is_explicit { omega } else { at.point.motions[pair.body as usize].angular };
            inertia.mul_vec(omega) - ahead.cross(inertia.mul_vec(ahead)) * h
        }
    };
    let mass = pair.inertial.mass;
    load.mass.angular += inertia * (1.0 + h * pair.inertial.angular_damping);
    let linear = mass * (1.0 + h * pair.inertial.linear_damping);
    load.mass.linear.xx += linear;
    load.mass.linear.yy += linear;
    load.mass.linear.zz += linear;
    load.momentum += Force { angular, linear: (base.linear + at.gravity * h) * mass };
    add_extra(at, k, load);
}

/// What the outside puts on the body of a pair.
#[inline]
pub(crate) fn add_extra(at: &TreeSystem<'_>, k: usize, load: &mut Load) {
    let slot = at.loads.slots[k];
    if slot != NONE {
        load.add(&at.loads.loads[slot as usize]);
    }
}

/// Adds `h² K` of a joint force to a body's rotation, acting on what the pose does not contain yet.
#[inline(always)]
pub(crate) fn add_geometric(
    at: &LinearizationPoint<'_>,
    body: u32,
    load: &mut Load,
    (arm, end): (DVec3, AnchorInertia),
    (force, strength): (DVec3, f64),
) {
    let pull = ArmForce { arm, reach: end.reach, force, strength };
    let Some(displaced) = at.displaced else {
        let spared = RESOLVED * end.inertia * at.step.per_square;
        if let Some(k) = pull.stiffness(spared, at.step.square) {
            load.mass.angular += k;
        }
        return;
    };
    // Few loops are often taut against each other, and need all that holds them back.
    let has_many = at.model.derived.has_many_loops;
    let square = at.step.square;
    let stiffness = if has_many { pull.stiffness_across(0.0, square) } else { pull.stiffness(0.0, square) };
    if let Some(k) = stiffness {
        load.mass.angular += k;
        load.momentum.angular += k.mul_vec(displaced[body as usize].angular);
    }
}
