//! Angular momentum of free islands over a step, and their motion as one.
//!
//! Nothing turns an island that is not held, whatever its joints do: its angular momentum about the centre of mass stays. Steppers
//! keep it to the order of their rotation step or to their stop test. What is left is given back as a rigid rotation of the
//! island,
//! ```text
//! ω_i += Δω,   v_i += Δω × (x_i − c),     Δω = I_c⁻¹ (L − L⁺)
//! ```
//! which no joint sees. Islands that the input or a companion touches are left alone. World axes; `c` and `I_c`: centre of mass and
//! inertia of the island at the end of the step. The linear momentum stays if `Σ m (x − c) = 0`; so places are counted from the first
//! body, where `c` is known to the rounding of the island's size and not of its distance from the origin.
//! Cost: two passes over the bodies of free islands; no allocation once warm.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, Sym3, exp_so3, normalize_quat, ops, quat_to_mat3};

use crate::input_index::StepInput;
use crate::model::{BodyId, Model, State};
use crate::prepare::{increment, move_pose};
use crate::tree::BodyLoads;

/// Angular momenta of the free islands about their centres of mass, kg·m²/s; not a number for islands that the input touches.
pub(crate) fn remember_momenta(model: &Model, state: &State, input: StepInput<'_>, momenta: &mut Vec<DVec3>) {
    momenta.clear();
    momenta.extend(model.derived.islands.free().map(|bodies| {
        if input.touches_one(bodies) {
            DVec3::NAN
        } else {
            BodiesAsOne::new(model, state, bodies_of(bodies)).momentum.angular
        }
    }));
}

/// Gives back what a step has changed of the momenta, except to islands that a companion touches.
pub(crate) fn restore_momenta(model: &Model, state: &mut State, loads: &BodyLoads, momenta: &[DVec3]) {
    for (bodies, &before) in model.derived.islands.free().zip(momenta) {
        let is_coupled = |body: &u32| loads.is_coupled(model.pair_of_body[*body as usize] as usize);
        if before.is_nan() || bodies.iter().any(is_coupled) {
            continue;
        }
        let whole = BodiesAsOne::new(model, state, bodies_of(bodies));
        let missing = Force::new(before - whole.momentum.angular, DVec3::ZERO);
        whole.give(state, bodies_of(bodies), missing);
    }
}

/// Takes the rigid motion out of the corrections `x` (per pair) of free islands that the input does not touch: reactions inside an
/// island give it none, and what a solve leaves of it would add up over the steps.
pub(crate) fn keep_still(model: &Model, poses: &[Pose], input: StepInput<'_>, x: &mut [Motion]) {
    for bodies in model.derived.islands.free() {
        if input.touches_one(bodies) {
            continue;
        }
        let pair = |body: BodyId| model.pair_of_body[body.index()] as usize;
        let whole = BodiesAsOne::at(model, poses, |body| x[pair(body)], bodies_of(bodies));
        let Some(rigid) = whole.motion_with(whole.momentum * -1.0) else { continue };
        for body in bodies_of(bodies) {
            x[pair(body)] += whole.carry(rigid, &poses[body.index()]);
        }
    }
}

/// Bodies of an island.
pub(super) fn bodies_of(bodies: &[u32]) -> impl Iterator<Item = BodyId> + Clone + '_ {
    bodies.iter().map(|&body| BodyId::from_index(body as usize))
}

/// Largest turn of the bodies as one that corrects their energy, rad.
const MOST_TURN: f64 = 0.01;

/// Some bodies as one: centre of mass, inertia and momentum about it.
#[derive(Clone, Copy, Debug)]
pub struct BodiesAsOne {
    mass: f64,
    /// Place of the first body, m.
    origin: DVec3,
    /// Centre of mass from there, m.
    centre: DVec3,
    inertia: Sym3,
    /// Momentum: angular about the centre of mass of all of them (kg·m²/s), linear (kg·m/s), world axes.
    pub momentum: Force,
}

impl BodiesAsOne {
    /// The bodies at a state.
    pub fn new(model: &Model, state: &State, bodies: impl Iterator<Item = BodyId> + Clone) -> Self {
        Self::at(model, &state.poses, |body| state.motions[body.index()], bodies)
    }

    /// The bodies at poses and with motions.
    pub(super) fn at(
        model: &Model,
        poses: &[Pose],
        motion_of: impl Fn(BodyId) -> Motion,
        bodies: impl Iterator<Item = BodyId> + Clone,
    ) -> Self {
        let origin = bodies.clone().next().map_or(DVec3::ZERO, |body| poses[body.index()].translation);
        let (mut mass, mut centre, mut linear) = (0.0, DVec3::ZERO, DVec3::ZERO);
        for body in bodies.clone() {
            let (pose, motion) = (&poses[body.index()], motion_of(body));
            let m = model.bodies[body.index()].mass;
            mass += m;
            centre += (pose.translation - origin) * m;
            linear += motion.linear * m;
        }
        centre /= mass;
        let velocity = linear / mass;
        let (mut inertia, mut angular) = (Sym3::ZERO, DVec3::ZERO);
        for body in bodies {
            let (pose, motion) = (&poses[body.index()], motion_of(body));
            let inertial = &model.bodies[body.index()];
            let own = inertial.inertia.rotated_by(&quat_to_mat3(pose.rotation));
            let (arm, slip) = (pose.translation - origin - centre, motion.linear - velocity);
            inertia += own;
            inertia += Sym3::IDENTITY * (inertial.mass * arm.length_squared());
            inertia = inertia.add_outer(-inertial.mass, arm);
            angular += own.mul_vec(motion.angular) + arm.cross(slip) * inertial.mass;
        }
        Self { mass, origin, centre, inertia, momentum: Force::new(angular, linear) }
    }

    /// From the centre of mass to a body.
    fn arm(&self, pose: &Pose) -> DVec3 {
        pose.translation - self.origin - self.centre
    }

    /// Takes energy (J) out of a kinetic energy, with the same momentum: turns the bodies as one to where their momentum needs less, within
    /// [`MOST_TURN`], and takes the rest out of what they do relative to their motion as one.
    pub(crate) fn slow(
        &self,
        state: &mut State,
        bodies: impl Iterator<Item = BodyId>,
        kinetic: f64,
        excess: f64,
    ) -> f64 {
        let Force { angular, linear } = self.momentum;
        let Some(inverse) = self.inertia.inverse() else { return 0.0 };
        let (omega, velocity) = (inverse.mul_vec(angular), linear / self.mass);
        // Turned by φ about n ⟂ L, the momentum needs ½ l·I⁻¹l with l = L cos φ − n × L sin φ: it falls by |L × ω| per φ at first.
        let slope = angular.cross(omega);
        let steepness = slope.length();
        let axis = slope.normalize_or_zero();
        let across = axis.cross(angular);
        let curvature = across.dot(inverse.mul_vec(across)) - omega.dot(angular);
        let lowest = 0.5 * ops::atan2(2.0 * steepness, curvature);
        let angle = if steepness > 0.0 { (excess / steepness).min(lowest).min(MOST_TURN) } else { 0.0 };
        let turn = exp_so3(axis * angle);
        let turned = turn * inverse.mul_vec(turn.conjugate() * angular);
        let [rigid, paid] = [omega, omega - turned].map(|omega| 0.5 * omega.dot(angular));
        let inner = kinetic - rigid - 0.5 * velocity.dot(linear);
        let share = (1.0 - (excess - paid).max(0.0) / inner.max(f64::MIN_POSITIVE)).max(0.0).sqrt();

        for body in bodies {
            let (pose, motion) = (&mut state.poses[body.index()], &mut state.motions[body.index()]);
            let before = *pose;
            let arm = self.arm(pose);
            let inner = *motion - Motion::new(omega, velocity + omega.cross(arm));
            let arm = turn * arm;
            pose.rotation = normalize_quat(turn * pose.rotation);
            pose.translation = self.origin + (self.centre + arm);
            if let (Some(step), true) =
                (state.history.increments.get_mut(body.index()), state.history.step > 0.0)
            {
                *step = increment(&move_pose(&before, *step * -1.0), pose);
            }
            *motion = Motion::new(
                turned + turn * inner.angular * share,
                velocity + turned.cross(arm) + turn * inner.linear * share,
            );
        }
        paid + inner * (1.0 - share * share)
    }

    /// Rigid motion with a momentum, of the centre of mass; none if it is not finite.
    pub(super) fn motion_with(&self, momentum: Force) -> Option<Motion> {
        let rigid = Motion {
            angular: self.inertia.inverse()?.mul_vec(momentum.angular),
            linear: momentum.linear / self.mass,
        };
        (rigid.angular.is_finite() && rigid.linear.is_finite()).then_some(rigid)
    }

    /// A rigid motion of the centre of mass, as a body has it.
    pub(super) fn carry(&self, rigid: Motion, pose: &Pose) -> Motion {
        Motion { linear: rigid.angular.cross(self.arm(pose)) + rigid.linear, ..rigid }
    }

    /// Gives momentum, as [`Self::momentum`] has it, to the bodies as a rigid motion. What is not finite is not given.
    pub fn give(&self, state: &mut State, bodies: impl Iterator<Item = BodyId>, momentum: Force) {
        let Some(rigid) = self.motion_with(momentum) else { return };
        for body in bodies {
            state.motions[body.index()] += self.carry(rigid, &state.poses[body.index()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::{Force, MassProperties, Motion, Pose, exp_so3};

    use super::BodiesAsOne;
    use crate::{BodySpec, MechanismBuilder, energy, momentum};

    /// A cloud of bodies in motion, the same for the same number.
    fn cloud(number: u32) -> MechanismBuilder {
        let wave =
            |k: u32| DVec3::new(1.0, 2.3, 3.1).map(|f| sinew_math::ops::sin(f * f64::from(7 * number + k)));
        let mut builder = MechanismBuilder::new();
        for k in 0..5 {
            let mass = MassProperties::cuboid(DVec3::new(0.1, 0.3, 0.7), 100.0 * f64::from(k + 1));
            let pose = Pose::new(exp_so3(wave(4 * k)), wave(4 * k + 1));
            let motion = Motion::new(wave(4 * k + 2) * 3.0, wave(4 * k + 3) * 2.0);
            builder.add_body(BodySpec::dynamic("", pose, mass).with_motion(motion));
        }
        builder
    }

    #[test]
    fn a_turn_far_from_the_origin_keeps_the_linear_momentum() {
        let model = cloud(3).build().expect("bodies");
        let mut state = model.initial_state();
        state.poses.iter_mut().for_each(|pose| pose.translation += DVec3::new(3e5, -2e5, 1e5));
        let before = momentum(&model, &state).linear;
        let ids = (0..5).map(crate::BodyId::from_index);
        let as_one = BodiesAsOne::new(&model, &state, ids);
        as_one.give(&mut state, model.bodies(), Force::new(DVec3::new(1e3, 2e3, -1e3), DVec3::ZERO));
        let change = momentum(&model, &state).linear - before;
        assert!(change.length() < 1e-12 * before.length(), "{change} of {before}");
    }

    #[test]
    fn energy_is_taken_with_the_same_momentum() {
        for number in 0..20 {
            let model = cloud(number).build().expect("bodies");
            let (start, mut state) = (model.initial_state(), model.initial_state());
            let ids = (0..5).map(crate::BodyId::from_index);
            let kinetic = |state: &crate::State| energy(&model, state, DVec3::ZERO, 1.0).kinetic;
            let before = kinetic(&start);
            for share in [1e-3, 0.1, 10.0] {
                let (had, as_one) = (kinetic(&state), BodiesAsOne::new(&model, &state, ids.clone()));
                let taken = as_one.slow(&mut state, model.bodies(), had, share * had);
                assert!((had - taken - kinetic(&state)).abs() < 1e-12 * before, "{number} {share}");
                assert!(taken <= share * had * (1.0 + 1e-12), "{number} {share}: {taken} of {had}");
                assert!(share > 0.05 || taken > 0.999 * share * had, "{number} {share}: {taken} of {had}");
            }
            let change = momentum(&model, &state) - momentum(&model, &start);
            assert!(change.linear.length() < 1e-11 * before && change.angular.length() < 1e-11 * before);
            for [a, b] in [[0, 1], [2, 4], [3, 0]] {
                let apart =
                    |state: &crate::State| state.poses[a].translation.distance(state.poses[b].translation);
                assert!((apart(&state) - apart(&start)).abs() < 1e-14);
            }
        }
    }
}
