//! Forces on the whole relative rotation of a joint: angle-axis spring, damper, dry friction, armature, cone limit.
//!
//! With the rotation vector `φ = log(B₁B₂ᵀ)` in world axes the spring gives the torque `−k φ`. Implicit: the angular impulse
//! `q − K ω⁺` on the relative angular velocity, with
//! ```text
//! K = h²k S(φ) + (h c + a + h τ_c/max(|ω|, v_s)) 1,   S = ½(Jl⁻¹ + Jl⁻ᵀ),   q = h²k S ω_d − h k φ + a ω̂
//! ```
//! `S` is the symmetric part of the tangent; near half a turn, where it loses definiteness, it is the identity.
//! Explicit: the torque itself. Energy: `½ k |φ|²`. A scale multiplies `k` and `c`. Units: N·m/rad, N·m·s/rad, kg·m², N·m.

use glam::{DQuat, DVec3};
use sinew_math::{
    F64x2, Motion, Sym3, Sym3x2, Vec3x2, left_jacobian_inverse_sym, left_jacobian_inverse_sym_x2, log_so3,
    twice,
};

use crate::forces::{Limit, Response, Tilt, cone, dry_friction};

/// Angle-axis spring, damper and cone limit of a joint with three free rotations.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RotationForce {
    /// Stiffness against the rotation vector between the joint frames, N·m/rad.
    pub stiffness: f64,
    /// Damping of the relative angular velocity, N·m·s/rad.
    pub damping: f64,
    /// Limit of the angle between the two frames' `i` axes (only `max` is used).
    pub cone: Option<Limit>,
    /// Inertia added to the relative rotation, kg·m².
    pub armature: f64,
    /// Dry friction of the relative rotation, N·m.
    pub friction: f64,
}

impl RotationForce {
    /// Only a spring and damper.
    pub fn spring(stiffness: f64, damping: f64) -> Self {
        Self { stiffness, damping, ..Self::default() }
    }

    /// Implicit, without the cone: `K` and `q` at the rotation vector `phi`; relative twists in world axes.
    pub(crate) fn linearized(
        &self,
        phi: DVec3,
        motion: &RelativeMotion,
        scale: f64,
        h: f64,
    ) -> (Sym3, DVec3) {
        let (k, c) = (self.stiffness * scale, self.damping * scale);
        let (tangent, impulse) = linearized_spring(phi, motion.displaced.angular, k, h);
        let mut isotropic = h * c + self.armature;
        // Without this test a free joint would pay for a square root.
        if self.friction > 0.0 {
            isotropic += dry_friction::linearized(self.friction, motion.rate.angular.length(), h);
        }
        (tangent + Sym3::IDENTITY * isotropic, impulse + motion.base.angular * self.armature)
    }

    /// Explicit, without the cone: adds the torque on body 1 at the relative angular velocity `rate`.
    pub(crate) fn add_explicit(&self, phi: DVec3, rate: DVec3, scale: f64, torque: &mut DVec3) {
        *torque -= (phi * self.stiffness + rate * self.damping) * scale;
        *torque -= rate * dry_friction::linearized(self.friction, rate.length(), 1.0);
    }

    /// Elastic energy without the cone, J.
    pub(crate) fn energy(&self, rotation: DQuat, scale: f64) -> f64 {
        0.5 * scale * self.stiffness * log_so3(rotation).length_squared()
    }

    /// Response over a step of length `h`, cone included: `rotation` of frame 1 in frame 2, relative angular velocity and
    /// result in frame 1.
    pub(crate) fn response(&self, rotation: DQuat, rate: DVec3, scale: f64, h: f64) -> Response<DVec3> {
        let (k, c) = (
            self.stiffness * scale,
            self.damping * scale + dry_friction::linearized(self.friction, rate.length(), 1.0),
        );
        // The rotation vector is the same in both frames.
        let torque = -log_so3(rotation) * k - rate * (c + h * k);
        let mut response = Response { torque, resistance: self.armature + h * c + h * h * k };
        if let Some(cone) = &self.cone {
            let to_frame1 = |normal: DVec3| rotation.conjugate() * normal;
            let tilt = Tilt::of_axis(rotation * DVec3::X);
            cone::add_response(cone, &tilt, to_frame1, rate, h, &mut response);
        }
        response
    }
}

/// Relative twists of the bodies of a joint at a linearization point: body 1 against body 2 shifted to it, world axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelativeMotion {
    /// At the linearization point.
    pub(crate) rate: Motion,
    /// Of the displacement that the poses contain.
    pub(crate) displaced: Motion,
    /// Where the momentum balance starts.
    pub(crate) base: Motion,
}

/// Implicit angle-axis spring: `h²k S` and `h²k S ω_d − h k φ`.
#[inline]
pub(crate) fn linearized_spring(phi: DVec3, displaced: DVec3, stiffness: f64, h: f64) -> (Sym3, DVec3) {
    let tangent = rotation_tangent(phi) * (h * h * stiffness);
    (tangent, tangent.mul_vec(displaced) - phi * (h * stiffness))
}

/// [`linearized_spring`] of two joints at an undisplaced point, to the bit.
#[inline(always)]
pub(crate) fn linearized_spring_x2(phi: Vec3x2, stiffness: F64x2, h: f64) -> (Sym3x2, Vec3x2) {
    let h = twice(h);
    (rotation_tangent_x2(phi) * (h * h * stiffness), Vec3x2::ZERO - phi * (h * stiffness))
}

/// Angle from which the spring uses the identity tangent, rad.
const NEAR_HALF_TURN: f64 = std::f64::consts::PI - 0.1;

/// `S(φ)`.
#[inline]
fn rotation_tangent(phi: DVec3) -> Sym3 {
    if phi.length_squared() > NEAR_HALF_TURN * NEAR_HALF_TURN {
        Sym3::IDENTITY
    } else {
        left_jacobian_inverse_sym(phi)
    }
}

/// `S(φ)` of two joints.
#[inline(always)]
fn rotation_tangent_x2(phi: Vec3x2) -> Sym3x2 {
    if phi.dot(phi).simd_le(twice(NEAR_HALF_TURN * NEAR_HALF_TURN)).all() {
        left_jacobian_inverse_sym_x2(phi)
    } else {
        Sym3x2::new(rotation_tangent(phi.half::<0>()), rotation_tangent(phi.half::<1>()))
    }
}

#[cfg(test)]
mod tests {
    use sinew_math::exp_so3;
    use sinew_testkit::{Rng, derivative};

    use super::*;

    const SCALE: f64 = 1.7;
    const H: f64 = 0.02;

    fn force() -> RotationForce {
        RotationForce { armature: 0.8, friction: 6.0, ..RotationForce::spring(70.0, 2.5) }
    }

    fn rotations() -> impl Iterator<Item = DVec3> {
        let mut rng = Rng::new(7);
        [0.0, 1e-4, 0.4, 1.5, 2.5, 3.0, 3.1].into_iter().map(move |angle| rng.unit_vec() * angle)
    }

    #[test]
    fn the_torque_is_the_gradient_of_the_energy() {
        for phi in rotations() {
            let mut torque = DVec3::ONE;
            force().add_explicit(phi, DVec3::ZERO, SCALE, &mut torque);
            for axis in DVec3::AXES {
                let energy = |t: f64| force().energy(exp_so3(axis * t) * exp_so3(phi), SCALE);
                let slope = derivative(1e-3, 0.0, energy);
                assert!(((torque - DVec3::ONE).dot(axis) + slope).abs() < 1e-7, "{phi}: {torque}");
            }
        }
    }

    #[test]
    fn dampers_and_friction_oppose_the_turn() {
        for (rate, friction) in [(DVec3::new(1.0, -2.0, 2.0), 2.0), (DVec3::Y * 2e-4, 6000.0)] {
            let mut torque = DVec3::ONE;
            force().add_explicit(DVec3::ZERO, rate, SCALE, &mut torque);
            let expected = DVec3::ONE - rate * (SCALE * 2.5 + friction);
            assert!((torque - expected).length() < 1e-12, "{torque}");
        }
    }

    #[test]
    fn the_tangent_is_the_symmetric_part_of_the_derivative_of_the_torque() {
        let [rate, displaced, base] = [DVec3::new(1.0, -2.0, 2.0), DVec3::new(0.2, 0.7, -0.4), DVec3::X];
        let of = |angular| Motion::new(angular, DVec3::new(5.0, 6.0, 7.0));
        let motion = RelativeMotion { rate: of(rate), displaced: of(displaced), base: of(base) };
        for phi in rotations() {
            let (tangent, impulse) = force().linearized(phi, &motion, SCALE, H);
            // |ω| = 3 rad/s
            let isotropic = H * SCALE * 2.5 + 0.8 + H * 6.0 / 3.0;
            for axis in [DVec3::X, DVec3::Y, DVec3::Z, displaced.normalize()] {
                let turned = |t: f64| log_so3(exp_so3(axis * t) * exp_so3(phi)).dot(axis);
                let along = if phi.length() > 3.05 { 1.0 } else { derivative(1e-3, 0.0, turned) };
                let expected = H * H * SCALE * 70.0 * along + isotropic;
                let found = tangent.quadratic_form(axis);
                assert!((found - expected).abs() < 1e-8 * expected, "{phi}: {found} for {expected}");
            }
            let spring = tangent - Sym3::IDENTITY * isotropic;
            let expected = spring * displaced - phi * (H * SCALE * 70.0) + base * 0.8;
            assert!((impulse - expected).length() < 1e-12);
            let smooth = RotationForce { friction: 0.0, ..force() }.linearized(phi, &motion, SCALE, H).0;
            assert!((tangent - smooth - Sym3::IDENTITY * (H * 2.0)).max_abs() < 1e-14);
        }
    }

    #[test]
    fn the_tangent_stays_definite_up_to_half_a_turn() {
        for angle in [3.04, 3.0416, 3.13] {
            let tangent = rotation_tangent(DVec3::new(0.6, 0.0, 0.8) * angle);
            assert_eq!(tangent == Sym3::IDENTITY, angle > std::f64::consts::PI - 0.1, "{angle}");
            assert!(tangent.cholesky().is_ok());
        }
    }

    #[test]
    fn two_springs_at_once_have_the_bits_of_each_alone() {
        for (one, two) in [(0.4, 1.2), (3.1, 0.3), (0.3, 3.1), (3.1, 3.12)] {
            let phi = [DVec3::new(0.6, 0.0, 0.8) * one, DVec3::new(0.0, -0.8, 0.6) * two];
            let stiffness = [70.0, 900.0];
            let lanes = sinew_math::both(stiffness[0], stiffness[1]);
            let (tangent, impulse) = linearized_spring_x2(Vec3x2::new(phi[0], phi[1]), lanes, H);
            let halves =
                [(tangent.half::<0>(), impulse.half::<0>()), (tangent.half::<1>(), impulse.half::<1>())];
            for i in 0..2 {
                assert_eq!(halves[i], linearized_spring(phi[i], DVec3::ZERO, stiffness[i], H), "{one} {two}");
            }
        }
    }

    #[test]
    fn the_response_is_the_torque_at_the_end_of_the_step() {
        let rate = DVec3::new(1.0, -2.0, 2.0);
        for phi in rotations() {
            let found = force().response(exp_so3(phi), rate, SCALE, H);
            let acceleration = DVec3::new(3.0, -1.0, 0.5);
            let end = rate + acceleration * H;
            let expected =
                -(phi + end * H) * (SCALE * 70.0) - end * (SCALE * 2.5 + 6.0 / 3.0) - acceleration * 0.8;
            let torque = found.torque - acceleration * found.resistance;
            assert!((torque - expected).length() < 1e-11, "{phi}: {torque} for {expected}");
        }
    }
}
