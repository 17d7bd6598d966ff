//! A limit of a joint coordinate: a stiff one-sided spring and damper beyond `min` and beyond `max`.
//!
//! With the excess `e` and the ramp `ε` the force is `τ(e) = 0, ½k e²/ε, k(e − ε/2)`, once continuously differentiable.
//! A step applies the impulse `q − κ ẋ⁺` (`ẋ⁺`: rate after the step, `ẋ_k`: rate where it is linearized, `ẋ_d`: rate that the pose
//! contains already), `κ = (h² + h c/k) σ`, `q = ∓h τ(e_p) + h²σ ẋ_k`, with the chord `σ = τ(e_p)/e_p` at the predicted
//! excess `e_p = x + h(ẋ_k − ẋ_d) − max`. The prediction makes a joint that would fly through its limit within the step meet
//! it. The chord instead of the tangent keeps a soft ramp from giving back more than it took. The damping grows with the slope.

use crate::forces::{Coordinate, ScalarImpulse};

/// Limits of a coordinate, each a stiff one-sided spring.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Limit {
    /// Lower limit, rad or m.
    pub min: f64,
    /// Upper limit, rad or m.
    pub max: f64,
    /// Stiffness beyond the limits, N·m/rad or N/m.
    pub stiffness: f64,
    /// Damping beyond the limits, N·m·s/rad or N·s/m.
    pub damping: f64,
    /// Width over which a limit grows from soft to stiff, rad or m; 0 is a hard corner.
    pub ramp: f64,
}

impl Limit {
    /// Force magnitude and slope at an excess beyond one limit.
    #[inline]
    pub(crate) fn law(&self, excess: f64) -> (f64, f64) {
        if excess <= 0.0 {
            (0.0, 0.0)
        } else if excess < self.ramp {
            (0.5 * self.stiffness * excess * excess / self.ramp, self.stiffness * excess / self.ramp)
        } else {
            (self.stiffness * (excess - 0.5 * self.ramp), self.stiffness)
        }
    }

    /// Implicit: adds both sides to an impulse.
    #[inline]
    pub(crate) fn linearize(&self, x: &Coordinate, h: f64, sum: &mut ScalarImpulse) {
        let predicted = x.predicted(h);
        self.linearize_side(predicted - self.max, -1.0, x.rate, h, sum);
        self.linearize_side(self.min - predicted, 1.0, x.rate, h, sum);
    }

    /// Implicit: one side at its predicted excess; `sign` is the direction of its force.
    #[inline]
    pub(crate) fn linearize_side(&self, excess: f64, sign: f64, rate: f64, h: f64, sum: &mut ScalarImpulse) {
        // The slope of the law is not used: the chord gives back at most what it took.
        let (force, _) = self.law(excess);
        if force > 0.0 {
            let chord = force / excess;
            sum.q += sign * h * force + h * h * chord * rate;
            sum.kappa += h * h * chord + h * self.damping * chord / self.stiffness;
        }
    }

    /// Explicit: adds both sides to a force.
    pub(crate) fn add_explicit(&self, value: f64, rate: f64, force: &mut f64) {
        for (excess, sign) in [(value - self.max, -1.0), (self.min - value, 1.0)] {
            let (size, slope) = self.law(excess);
            if slope > 0.0 {
                *force += sign * size - self.damping * slope / self.stiffness * rate;
            }
        }
    }

    /// Elastic energy at a value, J.
    pub(crate) fn energy(&self, value: f64) -> f64 {
        self.energy_beyond(value - self.max) + self.energy_beyond(self.min - value)
    }

    /// Elastic energy at an excess beyond one limit, J.
    pub(crate) fn energy_beyond(&self, excess: f64) -> f64 {
        if excess <= 0.0 {
            0.0
        } else if excess < self.ramp {
            self.stiffness * excess * excess * excess / (6.0 * self.ramp)
        } else {
            let e = excess - 0.5 * self.ramp;
            0.5 * self.stiffness * e * e + self.stiffness * self.ramp * self.ramp / 24.0
        }
    }

    /// How far a value is beyond the nearer limit; negative between them.
    pub(crate) fn excess(&self, value: f64) -> f64 {
        (value - self.max).max(self.min - value)
    }
}
