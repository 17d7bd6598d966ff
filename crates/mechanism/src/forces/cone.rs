//! The cone limit of a joint: a limit on the angle between the axes `i₁` and `i₂` of its two frames.
//!
//! The tilt `α = atan2(|i₂ × i₁|, i₁·i₂)` has the gradient `n = (i₂ × i₁)/|i₂ × i₁|` on the relative rotation. Beyond
//! [`Limit::max`] the cone is a one-sided limit along `n`, see `limit`. Where the axes coincide or are opposite `n` is
//! undefined and there is no force. Axes may be given in any frame; the normal is in the same one. Units: rad, N·m.

use glam::DVec3;
use sinew_math::ops;

use crate::forces::{Coordinate, Limit, Response, ScalarImpulse};

/// Below this sine the two axes have no common normal.
const DEGENERATE: f64 = 1e-8;

/// The tilt of a joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tilt {
    /// `i₂ × i₁`.
    lean: DVec3,
    sine: f64,
    /// `α`, rad.
    pub(crate) angle: f64,
}

impl Tilt {
    /// From the axes `i₂` and `i₁` and their cosine.
    pub(crate) fn new(axis2: DVec3, axis1: DVec3, cosine: f64) -> Self {
        let lean = axis2.cross(axis1);
        let sine = lean.length();
        Self { lean, sine, angle: ops::atan2(sine, cosine) }
    }

    /// From `i₁` in frame 2; the normal is in frame 2, too.
    pub(crate) fn of_axis(axis: DVec3) -> Self {
        Self::new(DVec3::X, axis, axis.x)
    }

    /// `n`, or `None` where it is undefined.
    pub(crate) fn normal(&self) -> Option<DVec3> {
        (self.sine > DEGENERATE).then(|| self.lean / self.sine)
    }

    /// Rate of the angle at a relative angular velocity.
    pub(crate) fn rate(&self, angular: DVec3) -> f64 {
        self.lean.normalize_or_zero().dot(angular)
    }
}

/// Implicit: the impulse along `n`.
pub(crate) fn linearized(cone: &Limit, tilt: &Coordinate, h: f64) -> ScalarImpulse {
    let mut impulse = ScalarImpulse::default();
    cone.linearize_side(tilt.predicted(h) - cone.max, -1.0, tilt.rate, h, &mut impulse);
    impulse
}

/// Explicit torque on body 2 at a relative angular velocity; its opposite acts on body 1.
pub(crate) fn explicit(cone: &Limit, tilt: &Tilt, rate: DVec3) -> Option<DVec3> {
    let (normal, force, slope) = beyond(cone, tilt)?;
    let damping = cone.damping * slope / cone.stiffness * normal.dot(rate);
    Some(normal * (force + damping))
}

/// Elastic energy, J.
pub(crate) fn energy(cone: &Limit, tilt: &Tilt) -> f64 {
    cone.energy_beyond(tilt.angle - cone.max)
}

/// Response over a step of length `h`: adds to that of the other forces on the rotation. `to_frame` turns the normal into the
/// frame of the response.
pub(crate) fn add_response(
    cone: &Limit,
    tilt: &Tilt,
    to_frame: impl Fn(DVec3) -> DVec3,
    rate: DVec3,
    h: f64,
    sum: &mut Response<DVec3>,
) {
    if let Some((normal, force, slope)) = beyond(cone, tilt) {
        let normal = to_frame(normal);
        let damping = cone.damping * slope / cone.stiffness + h * slope;
        sum.torque -= normal * (force + damping * normal.dot(rate));
        sum.resistance += h * damping;
    }
}

/// Normal, force and slope, if the tilt is beyond the limit.
fn beyond(cone: &Limit, tilt: &Tilt) -> Option<(DVec3, f64, f64)> {
    let excess = tilt.angle - cone.max;
    let (force, slope) = cone.law(excess);
    tilt.normal().filter(|_| excess > 0.0).map(|normal| (normal, force, slope))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "zeros and copies are exact")]
mod tests {
    use sinew_math::exp_so3;
    use sinew_testkit::{Rng, derivative};

    use super::*;

    const H: f64 = 0.02;

    fn cone(ramp: f64) -> Limit {
        Limit { min: 0.0, max: 0.6, stiffness: 300.0, damping: 4.0, ramp }
    }

    /// Unit axis at some angle from another one.
    fn leaning(rng: &mut Rng, axis: DVec3, angle: f64) -> DVec3 {
        exp_so3(axis.any_orthonormal_vector() * angle) * exp_so3(axis * rng.uniform(0.0, 1.0)) * axis
    }

    #[test]
    fn the_tilt_is_the_angle_of_the_axes_and_its_normal_the_gradient() {
        let mut rng = Rng::new(3);
        for angle in [0.05, 0.3, 1.5, 2.8] {
            let axis2 = rng.unit_vec();
            let axis1 = leaning(&mut rng, axis2, angle);
            let tilt = |axis1: DVec3| Tilt::new(axis2, axis1, axis1.dot(axis2));
            assert!((tilt(axis1).angle - angle).abs() < 1e-14 + 1e-13 * angle);
            let normal = tilt(axis1).normal().expect("they lean");
            for turn in DVec3::AXES {
                let slope = derivative(1e-4, 0.0, |t| tilt(exp_so3(turn * t) * axis1).angle);
                assert!((slope - normal.dot(turn)).abs() < 1e-8, "{angle}: {slope}");
                assert!((tilt(axis1).rate(turn) - normal.dot(turn)).abs() < 1e-12);
            }
        }
        let of_axis = Tilt::of_axis(DVec3::new(0.8, 0.0, 0.6));
        assert!((of_axis.angle - ops::atan2(0.6, 0.8)).abs() < 1e-15);
        assert!((of_axis.normal().expect("it leans") + DVec3::Y).length() < 1e-15);
    }

    #[test]
    fn axes_that_coincide_have_no_normal() {
        for (sine, is_there) in [(0.0, false), (0.9e-8, false), (1.1e-8, true)] {
            for cosine in [1.0, -1.0] {
                let tilt = Tilt::of_axis(DVec3::new(cosine, sine, 0.0));
                assert_eq!(tilt.normal().is_some(), is_there, "{sine}");
                assert_eq!(
                    explicit(&Limit { max: -1.0, ..cone(0.0) }, &tilt, DVec3::ONE).is_some(),
                    is_there
                );
            }
        }
        assert_eq!(Tilt::of_axis(DVec3::X).rate(DVec3::ONE), 0.0);
    }

    #[test]
    fn the_torque_is_the_gradient_of_the_energy_and_its_damper_takes_power() {
        let mut rng = Rng::new(4);
        for (ramp, angle) in [(0.0, 0.9), (0.4, 0.8), (0.4, 1.4)] {
            let cone = cone(ramp);
            let axis2 = rng.unit_vec();
            let axis1 = leaning(&mut rng, axis2, angle);
            let tilt = |axis1: DVec3| Tilt::new(axis2, axis1, axis1.dot(axis2));
            let still = explicit(&cone, &tilt(axis1), DVec3::ZERO).expect("beyond");
            let slope = cone.law(angle - 0.6).1;
            for turn in DVec3::AXES {
                let gradient = derivative(1e-3, 0.0, |t| energy(&cone, &tilt(exp_so3(turn * t) * axis1)));
                // The torque on body 2 increases the energy of the lean of body 1.
                assert!((still.dot(turn) - gradient).abs() < 1e-8 * 300.0, "{still} {gradient}");
            }
            let rate = rng.vec3(-2.0, 2.0);
            let damped = explicit(&cone, &tilt(axis1), rate).expect("beyond") - still;
            let lean_rate = tilt(axis1).rate(rate);
            let power = 4.0 * slope / 300.0 * lean_rate * lean_rate;
            assert!((damped.dot(rate) - power).abs() < 1e-12 && power > 0.0);
        }
        let inside = Tilt::of_axis(exp_so3(DVec3::Z * 0.59) * DVec3::X);
        assert!(explicit(&cone(0.0), &inside, DVec3::ONE).is_none());
        assert_eq!(energy(&cone(0.0), &inside), 0.0);
    }

    #[test]
    fn the_impulse_is_that_of_a_limit() {
        for value in [0.3, 0.75, 1.2] {
            let x = Coordinate { value, rate: 2.0, displaced: 0.5, base: 9.0 };
            let mut expected = ScalarImpulse::default();
            let one_sided = Limit { min: -9.0, ..cone(0.4) };
            one_sided.linearize(&x, H, crate::forces::LimitLaw::Predicted, &mut expected);
            assert_eq!(linearized(&cone(0.4), &x, H), expected);
            assert_eq!(expected.kappa > 0.0, value > 0.6);
        }
    }

    #[test]
    fn the_response_is_the_torque_at_the_end_of_the_step() {
        let mut rng = Rng::new(5);
        let turn = rng.rotation();
        for (ramp, angle) in [(0.0, 0.9), (0.4, 0.8)] {
            let cone = cone(ramp);
            let tilt = Tilt::of_axis(exp_so3(DVec3::new(0.0, 0.6, -0.8) * angle) * DVec3::X);
            let normal = turn * tilt.normal().expect("it leans");
            let (force, slope) = cone.law(angle - 0.6);
            let rate = rng.vec3(-2.0, 2.0);
            let mut sum = Response { torque: DVec3::ONE, resistance: 0.25 };
            add_response(&cone, &tilt, |n| turn * n, rate, H, &mut sum);
            for acceleration in [-4.0, 0.0, 3.0] {
                // Along the normal, with the tangent of the law.
                let end = normal.dot(rate) + H * acceleration;
                let expected = -(force + slope * H * end + 4.0 * slope / 300.0 * end);
                let found = normal.dot(sum.torque - DVec3::ONE) - (sum.resistance - 0.25) * acceleration;
                assert!((found - expected).abs() < 1e-11, "{found} for {expected}");
            }
            assert!((sum.torque - DVec3::ONE).cross(normal).length() < 1e-11);
        }
    }
}
