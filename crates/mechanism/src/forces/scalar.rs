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
