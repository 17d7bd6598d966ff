//! Bounded forces of a joint coordinate: motors with a largest force, and dry friction.
//!
//! A bounded force is one of three laws. Within its bound it is an implicit servo (motor) or holds the coordinate still
//! (friction); at its bound it is constant. Which one holds is guessed from the motion before the solve and reviewed after it; a
//! wrong guess is replaced, and the same point is solved again (an active set, as for contacts):
//! ```text
//! motor      within: h F = q − κ ẋ⁺             leaves it when |F| > F_max
//!            at ±F_max: h F = ±h F_max           leaves it when the servo would ask for less
//! friction   still: h F = −(h τ/v_s) ẋ⁺          leaves it when |F| > τ
//!            slipping: h F = ∓h τ                leaves it when ẋ⁺ would turn round
//! ```
//! `v_s` = 1e-10 rad/s or m/s is what a joint at rest creeps at most. Units: N·m·s or N·s.

use crate::forces::{Coordinate, LimitLaw, Motor, MotorTarget, ScalarImpulse};

/// Speed at which dry friction that holds a coordinate still has its full force, rad/s or m/s.
const CREEP: f64 = 1e-10;

/// Speed beyond which a coordinate is guessed to slip, rad/s or m/s.
const SLIPPING: f64 = 1e-6;

/// Share of a bound by which rounding may exceed it.
const ROUNDING: f64 = 1e-9;

/// Which law of a bounded force holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BoundedLaw {
    /// Not known yet: guessed from the motion.
    #[default]
    Guessed,
    Within,
    /// At the upper bound of the force.
    Above,
    /// At the lower bound.
    Below,
}

/// The laws of the forces along one coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CoordinateLaws {
    motor: BoundedLaw,
    friction: BoundedLaw,
    pub(crate) limit: LimitLaw,
}

impl CoordinateLaws {
    /// Whether the motor is at its bound.
    pub(crate) fn is_motor_bound(self) -> bool {
        self.motor.is_at_bound()
    }

    /// Whether friction, if there is any, is at its bound.
    pub(crate) fn is_slipping(self) -> bool {
        self.friction.is_at_bound()
    }
}

impl BoundedLaw {
    fn is_at_bound(self) -> bool {
        matches!(self, Self::Above | Self::Below)
    }

    /// At the bound on the side of a number.
    fn beyond(sign: f64) -> Self {
        if sign > 0.0 { Self::Above } else { Self::Below }
    }

    /// Adds the impulse of a force with a bound, `within` its bound as given.
    fn add(self, within: ScalarImpulse, most: f64, sum: &mut ScalarImpulse) {
        match self {
            Self::Above => sum.q += most,
            Self::Below => sum.q -= most,
            Self::Guessed | Self::Within => {
                sum.q += within.q;
                sum.kappa += within.kappa;
            }
        }
    }
}

/// The forces of a coordinate that may have a bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedForces {
    pub(crate) motor: Option<Motor>,
    /// Dry friction, N·m or N.
    pub(crate) friction: f64,
}

impl BoundedForces {
    /// Whether one of them has a bound.
    pub(crate) fn is_bounded(&self) -> bool {
        self.friction > 0.0 || self.motor.is_some_and(|motor| motor.max_force.is_finite())
    }

    /// Implicit: adds both to an impulse.
    pub(crate) fn linearize(
        &self,
        x: &Coordinate,
        target: MotorTarget,
        h: f64,
        laws: CoordinateLaws,
        sum: &mut ScalarImpulse,
    ) {
        let laws = self.guess(x, target, h, laws);
        if let Some(motor) = &self.motor {
            laws.motor.add(motor.servo(x, target, h), h * motor.max_force, sum);
        }
        if self.friction > 0.0 {
            laws.friction.add(self.still(h), h * self.friction, sum);
        }
    }

    /// Friction that holds still.
    fn still(&self, h: f64) -> ScalarImpulse {
        ScalarImpulse { q: 0.0, kappa: h * self.friction / CREEP }
    }

    /// The laws, with guesses where they are not known.
    fn guess(&self, x: &Coordinate, target: MotorTarget, h: f64, laws: CoordinateLaws) -> CoordinateLaws {
        let mut laws = laws;
        if let (Some(motor), BoundedLaw::Guessed) = (&self.motor, laws.motor) {
            // The force at the end of the step decides: at the start it would switch back and forth.
            let force = motor.force(x.predicted(h), x.rate, target);
            laws.motor =
                if force.abs() > motor.max_force { BoundedLaw::beyond(force) } else { BoundedLaw::Within };
        }
        if self.friction > 0.0 && laws.friction == BoundedLaw::Guessed {
            laws.friction =
                if x.rate.abs() > SLIPPING { BoundedLaw::beyond(-x.rate) } else { BoundedLaw::Within };
        }
        laws
    }

    /// The laws that hold at a rate at the end of the step which was found with other ones.
    pub(crate) fn review(
        &self,
        x: &Coordinate,
        target: MotorTarget,
        h: f64,
        laws: CoordinateLaws,
        rate: f64,
    ) -> CoordinateLaws {
        let mut laws = self.guess(x, target, h, laws);
        if let Some(motor) = &self.motor {
            let servo = motor.servo(x, target, h);
            let (impulse, most) = (servo.q - servo.kappa * rate, h * motor.max_force);
            let side = BoundedLaw::beyond(impulse);
            let is_beyond = impulse.abs() > most * (1.0 + ROUNDING);
            // From one bound to the other the way leads through the servo.
            let may_be = laws.motor == BoundedLaw::Within || laws.motor == side;
            laws.motor = if is_beyond && may_be { side } else { BoundedLaw::Within };
        }
        if self.friction > 0.0 {
            laws.friction = match laws.friction {
                BoundedLaw::Above if rate > 0.0 => BoundedLaw::Within,
                BoundedLaw::Below if rate < 0.0 => BoundedLaw::Within,
                BoundedLaw::Within if rate.abs() > CREEP * (1.0 + ROUNDING) => BoundedLaw::beyond(-rate),
                law => law,
            };
        }
        laws
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H: f64 = 0.02;
    const TARGET: MotorTarget = MotorTarget { position: 0.9, velocity: -0.6, force: 1.3 };

    fn motor(max_force: f64) -> Option<Motor> {
        Some(Motor { kp: 40.0, kd: 3.0, max_force, target: TARGET, gravity_compensation: false })
    }

    fn at(rate: f64) -> Coordinate {
        Coordinate { value: 0.2, rate, displaced: 0.7, base: 4.0 }
    }

    /// Impulse at a rate at the end of the step.
    fn impulse(forces: &BoundedForces, x: &Coordinate, laws: CoordinateLaws, rate: f64) -> f64 {
        let mut sum = ScalarImpulse { q: 5.0, kappa: 0.25 };
        forces.linearize(x, TARGET, H, laws, &mut sum);
        sum.q - 5.0 - (sum.kappa - 0.25) * rate
    }

    fn friction(law: BoundedLaw) -> CoordinateLaws {
        CoordinateLaws { friction: law, ..CoordinateLaws::default() }
    }

    fn driven(law: BoundedLaw) -> CoordinateLaws {
        CoordinateLaws { motor: law, ..CoordinateLaws::default() }
    }

    #[test]
    fn friction_and_motors_with_a_largest_force_have_bounds() {
        let is_bounded = |motor, friction| BoundedForces { motor, friction }.is_bounded();
        assert!(
            is_bounded(motor(3.0), 0.0) && is_bounded(None, 0.1) && is_bounded(motor(f64::INFINITY), 0.1)
        );
        assert!(!is_bounded(None, 0.0) && !is_bounded(motor(f64::INFINITY), 0.0));
        for (law, bound) in [
            (BoundedLaw::Guessed, false),
            (BoundedLaw::Within, false),
            (BoundedLaw::Above, true),
            (BoundedLaw::Below, true),
        ] {
            assert_eq!(driven(law).is_motor_bound(), bound);
            assert_eq!(friction(law).is_slipping(), bound);
            assert!(!driven(law).is_slipping() && !friction(law).is_motor_bound());
        }
    }

    #[test]
    fn a_motor_is_a_servo_within_its_bound_and_constant_at_it() {
        // 29.3 − 3 rate − 0.8 (rate − 0.7) N at the end of the step.
        let force = |rate: f64| 40.0 * (0.9 - 0.2 - H * (rate - 0.7)) + 3.0 * (-0.6 - rate) + 1.3;
        for rate in [0.0, 1.0] {
            let (size, x) = (force(rate), at(rate));
            let strong = BoundedForces { motor: motor(1.001 * size), friction: 0.0 };
            let weak = BoundedForces { motor: motor(0.999 * size), friction: 0.0 };
            for end in [-1.0, 0.5] {
                assert!(
                    (impulse(&strong, &x, CoordinateLaws::default(), end) - H * force(end)).abs() < 1e-12
                );
                assert!(
                    (impulse(&weak, &x, CoordinateLaws::default(), end) - H * 0.999 * size).abs() < 1e-12
                );
                let below = impulse(&weak, &x, driven(BoundedLaw::Below), end);
                assert!((below + H * 0.999 * size).abs() < 1e-12);
                let within = impulse(&weak, &x, driven(BoundedLaw::Within), end);
                assert!((within - H * force(end)).abs() < 1e-12);
            }
            // Far ahead of its target it brakes with its bound.
            let braking = impulse(&weak, &at(30.0), CoordinateLaws::default(), 0.0);
            assert!((braking + H * 0.999 * size).abs() < 1e-12);
        }
    }

    #[test]
    fn friction_opposes_what_slips_and_holds_what_is_still() {
        let forces = BoundedForces { motor: None, friction: 6.0 };
        for (rate, expected) in [(1e-3, -6.0), (-1e-3, 6.0), (1.1e-6, -6.0), (-1.1e-6, 6.0)] {
            for end in [-1.0, 2.0] {
                let found = impulse(&forces, &at(rate), CoordinateLaws::default(), end);
                assert!((found - H * expected).abs() < 1e-12);
            }
        }
        for rate in [0.0, 0.9e-6, -0.9e-6] {
            // The full force at the speed of creep.
            let found = impulse(&forces, &at(rate), CoordinateLaws::default(), 1e-10);
            assert!((found + H * 6.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_motor_beyond_its_bound_goes_to_it_and_comes_back() {
        let forces = BoundedForces { motor: motor(10.0), friction: 0.0 };
        let x = at(0.0);
        // Rates at the end of the step at which the servo asks for some force.
        let rate = |force: f64| (28.0 + 40.0 * H * 0.7 - 1.8 + 1.3 - force) / (40.0 * H + 3.0);
        let review = |law, force| forces.review(&x, TARGET, H, driven(law), rate(force)).motor;
        use BoundedLaw::{Above, Below, Within};
        for (law, force, expected) in [
            (Within, 9.999, Within),
            (Within, 10.001, Above),
            (Within, -9.999, Within),
            (Within, -10.001, Below),
            (Above, 10.001, Above),
            (Above, 9.999, Within),
            (Below, -10.001, Below),
            (Below, -9.999, Within),
            // From one bound to the other by way of the servo.
            (Above, -10.001, Within),
            (Below, 10.001, Within),
        ] {
            assert_eq!(review(law, force), expected, "{law:?} at {force} N");
        }
        // By rounding it may be beyond.
        assert_eq!(review(Within, 10.0 * (1.0 + 1e-10)), Within);
        assert_eq!(review(Within, 10.0 * (1.0 + 1e-8)), Above);
    }

    #[test]
    fn friction_slips_where_it_would_creep_and_holds_where_it_would_turn_back() {
        let forces = BoundedForces { motor: None, friction: 6.0 };
        use BoundedLaw::{Above, Below, Within};
        for (law, rate, expected) in [
            (Within, 0.99e-10, Within),
            (Within, -0.99e-10, Within),
            (Within, 1.01e-10, Below),
            (Within, -1.01e-10, Above),
            (Within, 1e-10 * (1.0 + 1e-10), Within),
            (Below, 0.1, Below),
            (Below, 0.0, Below),
            (Below, -1e-3, Within),
            (Above, -0.1, Above),
            (Above, 0.0, Above),
            (Above, 1e-3, Within),
        ] {
            let found = forces.review(&at(0.0), TARGET, H, friction(law), rate).friction;
            assert_eq!(found, expected, "{law:?} at {rate}");
        }
        let none = BoundedForces { motor: None, friction: 0.0 };
        let laws = none.review(&at(1.0), TARGET, H, CoordinateLaws::default(), 1.0);
        assert_eq!(laws, CoordinateLaws::default());
    }
}
