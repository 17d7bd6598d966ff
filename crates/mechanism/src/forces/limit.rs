//! A limit of a joint coordinate: a stiff one-sided spring and damper beyond `min` and beyond `max`.
//!
//! With the excess `e` and the ramp `ε` the force is `τ(e) = 0, ½k e²/ε, k(e − ε/2)`, once continuously differentiable.
//! A step applies the impulse `q − κ ẋ⁺` (`ẋ⁺`: rate after the step, `ẋ_k`: rate where it is linearized, `ẋ_d`: rate that the pose
//! contains already), `κ = (h² + h c/k) σ`, `q = ∓h τ(e_p) + h²σ ẋ_k`, with the chord `σ = τ(e_p)/e_p` at the predicted
//! excess `e_p = x + h(ẋ_k − ẋ_d) − max`. The prediction makes a joint that would fly through its limit within the step meet
//! it. The chord instead of the tangent keeps a soft ramp from giving back more than it took. The damping grows with the slope.
//!
//! What the prediction does not know is what other joints do in the step: where one stops, the next may be thrown far beyond its limit, which
//! would give back as a spring what no motion brought. So limits are reviewed after a solve as other laws are (`bounded`): one that is
//! passed unforeseen holds with the chord at the excess that was found in the next solve, unless it would have to pull.

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

/// Which law of a limit holds in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum LimitLaw {
    /// That of the predicted excess.
    #[default]
    Predicted,
    /// Held at the upper limit, which was passed unforeseen, by a spring of some stiffness.
    Upper(f64),
    /// Held at the lower limit.
    Lower(f64),
}

/// Excess, rad or m, and share of the ramp up to which a limit that is passed unforeseen is left to the next step.
const PASSED: f64 = 1e-6;
const PASSED_RAMP: f64 = 1.0 / 32.0;

/// Multiple of the stiffness with which a limit was solved that its law may have where the coordinate comes to.
const FORESEEN: f64 = 2.0;

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
    pub(crate) fn linearize(&self, x: &Coordinate, h: f64, law: LimitLaw, sum: &mut ScalarImpulse) {
        let predicted = x.predicted(h);
        match law {
            LimitLaw::Predicted => {
                self.linearize_side(predicted - self.max, -1.0, x.rate, h, sum);
                self.linearize_side(self.min - predicted, 1.0, x.rate, h, sum);
            }
            LimitLaw::Upper(chord) => self.add_chord(chord, (self.max - predicted, x.rate), h, sum),
            LimitLaw::Lower(chord) => self.add_chord(chord, (self.min - predicted, x.rate), h, sum),
        }
    }

    /// A spring of stiffness `chord` with its damper, `off` from its rest at the end of the step as predicted.
    #[inline]
    fn add_chord(&self, chord: f64, (off, rate): (f64, f64), h: f64, sum: &mut ScalarImpulse) {
        sum.q += h * chord * off + h * h * chord * rate;
        sum.kappa += h * h * chord + h * self.damping * chord / self.stiffness;
    }

    /// The law that holds at a rate at the end of the step which was found with another one.
    pub(crate) fn review(&self, x: &Coordinate, h: f64, law: LimitLaw, rate: f64) -> LimitLaw {
        let [foreseen, found] = [x.predicted(h), x.predicted(h) + h * (rate - x.rate)];
        let beyond = |end: f64| [end - self.max, self.min - end];
        let ([upper, lower], [foreseen_upper, foreseen_lower]) = (beyond(found), beyond(foreseen));
        let stiffer = |found: f64, than: f64| {
            let chord = self.chord(found);
            (found > self.passed() && chord > FORESEEN * than).then_some(chord)
        };
        let pulls = |sign: f64| {
            let mut held = ScalarImpulse::default();
            self.linearize(x, h, law, &mut held);
            sign * (held.q - held.kappa * rate) > 0.0
        };
        match law {
            LimitLaw::Upper(_) if pulls(1.0) => LimitLaw::Predicted,
            LimitLaw::Lower(_) if pulls(-1.0) => LimitLaw::Predicted,
            LimitLaw::Upper(chord) => stiffer(upper, chord).map_or(law, LimitLaw::Upper),
            LimitLaw::Lower(chord) => stiffer(lower, chord).map_or(law, LimitLaw::Lower),
            LimitLaw::Predicted => {
                let lower = || stiffer(lower, self.chord(foreseen_lower)).map_or(law, LimitLaw::Lower);
                stiffer(upper, self.chord(foreseen_upper)).map_or_else(lower, LimitLaw::Upper)
            }
        }
    }

    /// Force by excess, N·m/rad or N/m.
    fn chord(&self, excess: f64) -> f64 {
        if excess > 0.0 { self.law(excess).0 / excess } else { 0.0 }
    }

    /// Excess up to which a limit that is passed unforeseen is left to the next step, rad or m.
    pub(crate) fn passed(&self) -> f64 {
        PASSED.max(PASSED_RAMP * self.ramp)
    }

    /// Implicit: one side at its predicted excess; `sign` is the direction of its force.
    #[inline]
    pub(crate) fn linearize_side(&self, excess: f64, sign: f64, rate: f64, h: f64, sum: &mut ScalarImpulse) {
        // The slope of the law is not used: the chord gives back at most what it took.
        let (force, _) = self.law(excess);
        if force > 0.0 {
            self.add_chord(force / excess, (sign * excess, rate), h, sum);
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
