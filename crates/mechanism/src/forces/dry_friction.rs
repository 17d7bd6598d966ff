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

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "zeros and copies are exact")]
mod tests {
    use super::*;

    #[test]
    fn friction_has_its_size_at_speed_and_is_viscous_near_rest() {
        for rate in [-2.0, 0.3, 1e-3] {
            assert!((explicit(5.0, rate) - 5.0 * f64::signum(rate)).abs() < 1e-15);
            // Implicit: the same force at the speed of the linearization.
            assert!((linearized(5.0, rate.abs(), 0.1) * rate - 0.1 * explicit(5.0, rate)).abs() < 1e-15);
        }
        assert!((explicit(5.0, -2.5e-4) + 5.0 * 0.25).abs() < 1e-12);
        assert!((linearized(5.0, 0.0, 0.1) - 0.1 * 5.0 / 1e-3).abs() < 1e-12);
        assert_eq!(explicit(5.0, 0.0), 0.0);
    }
}
