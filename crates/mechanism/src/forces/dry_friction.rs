//! Dry friction in a joint: the force `−τ_c ẋ/|ẋ|`, viscous below a small speed.
//!
//! Implicit (`coordinate`): `κ = h τ_c / max(|ẋ_k|, v_s)`, `q = 0`; it never reverses a motion. Units: N·m or N.

/// Speed below which dry friction turns viscous, rad/s or m/s: small against any visible motion.
const STICK_SPEED: f64 = 1e-3;

/// Implicit: `κ` at speed `|ẋ_k|`. With `h = 1` it is the viscosity at that speed.
#[inline]
pub(crate) fn linearized(torque: f64, speed: f64, h: f64) -> f64 {
    h * torque / speed.max(STICK_SPEED)
}

/// Explicit force along a coordinate, opposite to the rate.
pub(crate) fn explicit(torque: f64, rate: f64) -> f64 {
    torque * rate / rate.abs().max(STICK_SPEED)
}
