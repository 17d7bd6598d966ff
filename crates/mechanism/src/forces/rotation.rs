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
