//! The angle-axis spring of a joint with three free rotations.

use glam::DVec3;
use sinew_math::{Sym3, left_jacobian_inverse_sym};

/// Angle from which the rotation spring uses the identity tangent, rad.
pub(crate) const NEAR_HALF_TURN: f64 = std::f64::consts::PI - 0.1;

/// Symmetric tangent of the angle-axis spring: `S = ½(Jl⁻¹ + Jl⁻ᵀ)`, or 1 near half a turn.
#[inline]
pub(crate) fn rotation_tangent(phi: DVec3) -> Sym3 {
    if phi.length_squared() > NEAR_HALF_TURN * NEAR_HALF_TURN {
        Sym3::IDENTITY
    } else {
        left_jacobian_inverse_sym(phi)
    }
}
