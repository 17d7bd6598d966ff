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
