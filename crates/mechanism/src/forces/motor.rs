//! A motor: a servo along a joint coordinate, `F = kp (x* − x) + kd (ẋ* − ẋ) + F*`, bounded by `F_max`.
//!
//! Implicit (`coordinate`): `κ = h²kp + h kd`, `q = h (kp (x* − x) + h kp ẋ_d + kd ẋ* + F*)` within the bound, see `bounded`. Steppers in
//! joint coordinates make one solve and reduce the gains by `s = min(1, F_max/|F|)` with the predicted force instead: a load that
//! arrives within the step can then exceed `F_max`. A motor does work and stores no energy.

use crate::forces::{Coordinate, ScalarImpulse};

/// A servo on one coordinate: position (`kp > 0`), velocity (`kp = 0`), or both.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Motor {
    /// Position gain, N·m/rad or N/m.
    pub kp: f64,
    /// Velocity gain, N·m·s/rad or N·s/m.
    pub kd: f64,
    /// Largest force, N·m or N (infinite: none).
    pub max_force: f64,
    /// The target, unless the input gives another.
    pub target: MotorTarget,
    /// Whether it also holds what hangs on the joint against gravity ([`crate::Model::gravity_effort`]): adds that effort to the force of its
    /// target, within the largest force.
    #[cfg_attr(feature = "serde", serde(default))]
    pub gravity_compensation: bool,
}

/// The target of a motor.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MotorTarget {
    /// Coordinate, rad or m.
    pub position: f64,
    /// Rate, per second.
    pub velocity: f64,
    /// Added to what the gains give, within the largest force, N·m or N: a command of torque, or what is known of the load.
    #[cfg_attr(feature = "serde", serde(default))]
    pub force: f64,
}

impl Motor {
    /// Implicit, without the bound.
    #[inline]
    pub(crate) fn servo(&self, x: &Coordinate, target: MotorTarget, h: f64) -> ScalarImpulse {
        let position = self.kp * (target.position - x.value + h * x.displaced);
        ScalarImpulse {
            q: h * (position + self.kd * target.velocity + target.force),
            kappa: h * h * self.kp + h * self.kd,
        }
    }

    /// In joint coordinates: adds to an impulse.
    #[inline]
    pub(crate) fn linearize(&self, x: &Coordinate, target: MotorTarget, h: f64, sum: &mut ScalarImpulse) {
        // The force at the end of the step decides about saturation: at the start it would switch back and forth.
        let force = self.force(x.predicted(h), x.rate, target);
        let s = if force.abs() > self.max_force { self.max_force / force.abs() } else { 1.0 };
        let servo = self.servo(x, target, h);
        sum.kappa += s * servo.kappa;
        sum.q += s * servo.q;
    }

    /// Explicit force.
    pub(crate) fn explicit(&self, value: f64, rate: f64, target: MotorTarget) -> f64 {
        self.force(value, rate, target).clamp(-self.max_force, self.max_force)
    }

    /// The force without its bound.
    #[inline]
    pub(crate) fn force(&self, value: f64, rate: f64, target: MotorTarget) -> f64 {
        self.kp * (target.position - value) + self.kd * (target.velocity - rate) + target.force
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "zeros and copies are exact")]
mod tests {
    use super::*;

    const TARGET: MotorTarget = MotorTarget { position: 0.9, velocity: -0.6, force: 1.3 };

    fn motor(max_force: f64) -> Motor {
        Motor { kp: 40.0, kd: 3.0, max_force, target: MotorTarget::default(), gravity_compensation: false }
    }

    #[test]
    fn the_impulse_is_that_of_the_servo_at_the_end_of_the_step() {
        let (motor, h) = (motor(5.0), 0.02);
        let x = Coordinate { value: 0.2, rate: 1.5, displaced: 0.7, base: 4.0 };
        let servo = motor.servo(&x, TARGET, h);
        for rate in [-2.0, 0.0, 1.5] {
            let end = x.value + h * (rate - x.displaced);
            let force = 40.0 * (0.9 - end) + 3.0 * (-0.6 - rate) + 1.3;
            assert!((motor.force(end, rate, TARGET) - force).abs() < 1e-12);
            assert!((servo.q - servo.kappa * rate - h * force).abs() < 1e-13);
        }
    }

    #[test]
    fn gains_are_reduced_so_that_the_predicted_force_has_its_bound() {
        let (x, h) = (Coordinate { value: 0.2, rate: 1.5, displaced: 0.7, base: 4.0 }, 0.02);
        let force = motor(1.0).force(x.predicted(h), x.rate, TARGET);
        for position in [0.9, -0.9] {
            let target = MotorTarget { position, ..TARGET };
            let force = motor(1.0).force(x.predicted(h), x.rate, target);
            for max_force in [0.25 * force.abs(), force.abs(), 4.0 * force.abs(), f64::INFINITY] {
                let motor = motor(max_force);
                let mut sum = ScalarImpulse { q: 2.0, kappa: 0.5 };
                motor.linearize(&x, target, h, &mut sum);
                let share = (max_force / force.abs()).min(1.0);
                assert!((sum.kappa - 0.5 - share * (h * h * 40.0 + h * 3.0)).abs() < 1e-15);
                let impulse = sum.q - 2.0 - (sum.kappa - 0.5) * x.rate;
                assert!((impulse - h * force.clamp(-max_force, max_force)).abs() < 1e-12);
                let explicit = motor.explicit(x.predicted(h), x.rate, target);
                assert_eq!(explicit, force.clamp(-max_force, max_force));
            }
        }
        assert!(force > 0.0);
    }
}
