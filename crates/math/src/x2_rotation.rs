//! Exponential and logarithm of the rotations of two bodies at once, in the two lanes of a SIMD register.
//!
//! Bit for bit the results of the scalar functions of the same name in `exp_log`, with the same series and limits. If
//! one lane needs a different formula (a large angle, a NaN), both lanes are computed by the scalar function. Radians.

use crate::arctangent::{ATAN_RATIO_LIMIT, atan_excess, atan2_x2};
use crate::exp_log::{
    COS, FOUR_PI_SQUARED, NEARLY_UNIT, POLE_LIMIT, POLES, SERIES_LIMIT, SINC, exp_so3,
    left_jacobian_inverse_sym, normalize_quat, series,
};
use crate::lanes::F64x2;
use crate::x2::{Quatx2, Sym3x2, Vec3x2, twice};
use glam::DQuat;

/// [`crate::Pose::retract`]'s rotation for two bodies: `exp(φ) q`, renormalized.
#[inline(always)]
pub fn turn_x2(phi: Vec3x2, a: DQuat, b: DQuat) -> [DQuat; 2] {
    let x = phi.dot(phi);
    let is_small = x.simd_lt(twice(SERIES_LIMIT));
    if !is_small.all() {
        return [normalize_quat(exp_so3(phi.half::<0>()) * a), normalize_quat(exp_so3(phi.half::<1>()) * b)];
    }
    let y = twice(0.25) * x;
    let (w, scale) = (series(y, &COS), twice(0.5) * series(y, &SINC));
    let turn = Quatx2 { x: scale * phi.x, y: scale * phi.y, z: scale * phi.z, w };
    let q = turn * Quatx2::new(a, b);
    let excess = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - twice(1.0);
    if excess.abs().simd_lt(twice(NEARLY_UNIT)).all() {
        let scale = twice(1.0) - twice(0.5) * excess;
        Quatx2 { x: q.x * scale, y: q.y * scale, z: q.z * scale, w: q.w * scale }.halves()
    } else {
        q.halves().map(normalize_quat)
    }
}

/// [`crate::log_so3`] of two unit quaternions.
#[inline(always)]
pub fn log_so3_x2(q: Quatx2) -> Vec3x2 {
    let v = Vec3x2 { x: q.x, y: q.y, z: q.z };
    let one = twice(1.0);
    let n2 = v.dot(v);
    let inverse_w = one / q.w;
    let ratio = one + atan_excess(n2 * (inverse_w * inverse_w));
    let mut scale = twice(2.0) * inverse_w * ratio;
    let is_small = n2.simd_le(twice(ATAN_RATIO_LIMIT) * (q.w * q.w));
    if !is_small.all() {
        scale = is_small.bitselect(scale, angle_over_sine_x2(n2.sqrt(), q.w));
    }
    v * scale
}

/// `2 atan2(n, |w|)/n` with the sign of `w`. Out of line, so that its caller keeps its registers.
#[inline(never)]
fn angle_over_sine_x2(n: F64x2, w: F64x2) -> F64x2 {
    let sign = w.simd_lt(twice(0.0)) & twice(-0.0);
    (twice(2.0) * atan2_x2(n, w.abs()) / n) ^ sign
}

/// [`crate::left_jacobian_inverse_sym`] of two rotation vectors.
#[inline(always)]
pub fn left_jacobian_inverse_sym_x2(phi: Vec3x2) -> Sym3x2 {
    let x = phi.dot(phi);
    if !x.simd_lt(twice(POLE_LIMIT)).all() {
        return Sym3x2::new(
            left_jacobian_inverse_sym(phi.half::<0>()),
            left_jacobian_inverse_sym(phi.half::<1>()),
        );
    }
    let k = twice(2.0) / (twice(FOUR_PI_SQUARED) - x) + series(x, &POLES);
    Sym3x2::isotropic(twice(1.0) - k * x) + Sym3x2::outer(phi) * k
}
