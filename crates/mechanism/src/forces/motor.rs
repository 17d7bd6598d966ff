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
