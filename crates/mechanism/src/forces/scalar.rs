//! All forces along one joint coordinate: the sum of spring, limit, motor, dry friction and armature.
//!
//! The armature `a` is inertia of the relative motion, the force `−a ẍ`: implicit `κ = a`, `q = a ẋ̂`; in the explicit stepper it
//! enters the mass matrix. The other forces are in `spring`, `limit`, `motor` and `dry_friction`.

use crate::forces::{
    BoundedForces, Coordinate, CoordinateLaws, Limit, LimitLaw, Motor, MotorTarget, Response, ScalarImpulse,
    Spring, dry_friction,
};

/// All forces along one joint coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ScalarForce {
    /// Spring and damper.
    pub spring: Spring,
    /// Limits.
    pub limit: Option<Limit>,
    /// Servo.
    pub motor: Option<Motor>,
    /// Inertia of the transmission seen at the joint, kg·m² or kg.
    pub armature: f64,
    /// Dry friction, N·m or N.
    pub friction: f64,
}

impl ScalarForce {
    /// Only a spring and damper.
    pub fn spring(stiffness: f64, rest: f64, damping: f64) -> Self {
        Self { spring: Spring { stiffness, rest, damping }, ..Self::default() }
    }

    /// Implicit; `scale` multiplies spring and damper. Bounded forces follow the laws given.
    #[inline]
    pub(crate) fn linearized(
        &self,
        x: &Coordinate,
        (target, laws): (MotorTarget, CoordinateLaws),
        scale: f64,
        h: f64,
    ) -> ScalarImpulse {
        let mut sum = self.unbounded(x, scale, h, laws.limit);
        self.bounded().linearize(x, target, h, laws, &mut sum);
        sum
    }

    /// The laws that hold at a rate at the end of the step which was found with other ones.
    pub(crate) fn review(
        &self,
        x: &Coordinate,
        (target, laws): (MotorTarget, CoordinateLaws),
        h: f64,
        rate: f64,
    ) -> CoordinateLaws {
        let mut next = self.bounded().review(x, target, h, laws, rate);
        if let Some(limit) = &self.limit {
            next.limit = limit.review(x, h, laws.limit, rate);
        }
        next
    }

    /// The forces that may have a bound.
    #[inline]
    pub(crate) fn bounded(&self) -> BoundedForces {
        BoundedForces { motor: self.motor, friction: self.friction }
    }

    /// Implicit: spring, armature and limits.
    #[inline]
    fn unbounded(&self, x: &Coordinate, scale: f64, h: f64, law: LimitLaw) -> ScalarImpulse {
        let mut sum = self.spring.linearized(x, scale, h);
        sum.kappa += self.armature;
        sum.q += self.armature * x.base;
        if let Some(limit) = &self.limit {
            limit.linearize(x, h, law, &mut sum);
        }
        sum
    }

    /// Explicit force, without the armature.
    pub(crate) fn explicit(&self, value: f64, rate: f64, target: MotorTarget, scale: f64) -> f64 {
        let mut force = self.spring.explicit(value, rate, scale);
        if let Some(limit) = &self.limit {
            limit.add_explicit(value, rate, &mut force);
        }
        if let Some(motor) = &self.motor {
            force += motor.explicit(value, rate, target);
        }
        force - dry_friction::explicit(self.friction, rate)
    }

    /// Elastic energy, J (springs and limits; motors do work and store none).
    pub(crate) fn energy(&self, value: f64, scale: f64) -> f64 {
        self.spring.energy(value, scale) + self.limit.as_ref().map_or(0.0, |limit| limit.energy(value))
    }

    /// Response over a step of length `h`, for steppers in joint coordinates.
    pub(crate) fn response(
        &self,
        [value, rate]: [f64; 2],
        target: MotorTarget,
        scale: f64,
        h: f64,
    ) -> Response<f64> {
        if h > 0.0 {
            let at = Coordinate { value, rate, displaced: 0.0, base: rate };
            let mut sum = self.unbounded(&at, scale, h, LimitLaw::Predicted);
            // One solve has to do: a bound is approached by a smaller gain, and friction is viscous near rest.
            if let Some(motor) = &self.motor {
                motor.linearize(&at, target, h, &mut sum);
            }
            if self.friction > 0.0 {
                sum.kappa += dry_friction::linearized(self.friction, rate.abs(), h);
            }
            let ScalarImpulse { q, kappa } = sum;
            Response { torque: (q - kappa * rate) / h, resistance: kappa }
        } else {
            Response { torque: self.explicit(value, rate, target, scale), resistance: self.armature }
        }
    }

    /// Whether only the spring and damper act, so that the fused hinge needs nothing else.
    pub(crate) fn is_spring(&self) -> bool {
        self.limit.is_none() && self.motor.is_none() && self.friction == 0.0 && self.armature == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: MotorTarget = MotorTarget { position: 0.9, velocity: -0.6, force: 1.3 };
    const LIMIT: Limit = Limit { min: -0.4, max: 0.1, stiffness: 300.0, damping: 4.0, ramp: 0.05 };
    const MOTOR: Motor =
        Motor { kp: 40.0, kd: 3.0, max_force: 20.0, target: TARGET, gravity_compensation: false };
    const SCALE: f64 = 1.7;
    const H: f64 = 0.02;

    fn all() -> ScalarForce {
        let spring = Spring { stiffness: 70.0, rest: 0.3, damping: 2.5 };
        ScalarForce { spring, limit: Some(LIMIT), motor: Some(MOTOR), armature: 0.8, friction: 6.0 }
    }

    #[test]
    fn forces_along_a_coordinate_add() {
        let force = all();
        let (value, rate) = (0.25, 0.9);
        let mut limit = 0.0;
        LIMIT.add_explicit(value, rate, &mut limit);
        let spring = -SCALE * (70.0 * (value - 0.3) + 2.5 * rate);
        // The motor asks for more than it has; friction slips.
        let expected = spring + limit + 20.0 - 6.0;
        assert!(limit < -1.0 && (force.explicit(value, rate, TARGET, SCALE) - expected).abs() < 1e-12);
        let energy = 0.5 * SCALE * 70.0 * 0.05 * 0.05 + LIMIT.energy(value);
        assert!((force.energy(value, SCALE) - energy).abs() < 1e-12);
    }

    #[test]
    fn the_impulse_is_the_sum_with_the_inertia_of_the_armature() {
        let force = all();
        let x = Coordinate { value: 0.25, rate: 0.9, displaced: 0.2, base: 1.4 };
        let mut limit = ScalarImpulse::default();
        LIMIT.linearize(&x, H, LimitLaw::Predicted, &mut limit);
        let found = force.linearized(&x, (TARGET, CoordinateLaws::default()), SCALE, H);
        for rate in [-1.0, 0.0, 2.0] {
            let spring = -SCALE * (70.0 * (x.value + H * (rate - 0.2) - 0.3) + 2.5 * rate);
            let expected = H * (spring + 20.0 - 6.0) + limit.q - limit.kappa * rate - 0.8 * (rate - x.base);
            assert!((found.q - found.kappa * rate - expected).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn a_response_is_the_impulse_by_acceleration() {
        let mut force = all();
        let (value, rate) = (0.25, 0.9);
        let x = Coordinate { value, rate, displaced: 0.0, base: rate };
        let found = force.response([value, rate], TARGET, SCALE, H);
        let mut limit = ScalarImpulse::default();
        LIMIT.linearize(&x, H, LimitLaw::Predicted, &mut limit);
        for acceleration in [-3.0, 0.0, 5.0] {
            let end = rate + H * acceleration;
            let spring = -SCALE * (70.0 * (value + H * end - 0.3) + 2.5 * end);
            let asked = |rate: f64| 40.0 * (0.9 - value - H * rate) + 3.0 * (-0.6 - rate) + 1.3;
            let share = (20.0 / asked(rate)).min(1.0);
            let expected = spring + share * asked(end) - 6.0 * end / rate - 0.8 * acceleration
                + (limit.q - limit.kappa * end) / H;
            let force = found.torque - found.resistance * acceleration;
            assert!(share < 1.0 && (force - expected).abs() < 1e-11, "{force} for {expected}");
        }
        // Friction opposes either way.
        let back = force.response([value, -rate], TARGET, SCALE, H);
        force.friction = 0.0;
        let free = force.response([value, -rate], TARGET, SCALE, H);
        assert!((back.torque - free.torque - 6.0).abs() < 1e-11);
        assert!((back.resistance - free.resistance - H * 6.0 / rate).abs() < 1e-14);
    }

    #[test]
    fn a_step_of_no_length_has_the_force_now() {
        let found = all().response([0.25, 0.9], TARGET, SCALE, 0.0);
        let expected = all().explicit(0.25, 0.9, TARGET, SCALE);
        assert_eq!(found, Response { torque: expected, resistance: 0.8 });
    }

    #[test]
    fn a_spring_is_a_spring_if_nothing_else_acts() {
        let spring = ScalarForce::spring(3.0, 0.1, 0.2);
        assert!(spring.is_spring());
        assert_eq!(spring.spring, Spring { stiffness: 3.0, rest: 0.1, damping: 0.2 });
        assert!(!ScalarForce { limit: Some(LIMIT), ..spring }.is_spring());
        assert!(!ScalarForce { motor: Some(MOTOR), ..spring }.is_spring());
        assert!(!ScalarForce { armature: 0.1, ..spring }.is_spring());
        assert!(!ScalarForce { friction: 0.1, ..spring }.is_spring());
    }
}
