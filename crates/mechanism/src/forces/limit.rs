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

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "zeros and copies are exact")]
mod tests {
    use sinew_testkit::derivative;

    use super::*;

    const H: f64 = 0.02;

    fn limit(ramp: f64) -> Limit {
        Limit { min: -0.4, max: 0.7, stiffness: 300.0, damping: 4.0, ramp }
    }

    /// Impulse of a law at a rate at the end of the step.
    fn impulse(limit: &Limit, x: &Coordinate, law: LimitLaw, rate: f64) -> f64 {
        let mut sum = ScalarImpulse { q: 5.0, kappa: 0.25 };
        limit.linearize(x, H, law, &mut sum);
        sum.q - 5.0 - (sum.kappa - 0.25) * rate
    }

    /// A coordinate that starts a step within it and comes by `excess` beyond the upper limit, or the lower one.
    fn coming(limit: &Limit, is_upper: bool, excess: f64) -> Coordinate {
        let end = if is_upper { limit.max + excess } else { limit.min - excess };
        let rate = (end - 0.1) / H + 3.0;
        Coordinate { value: 0.1, rate, displaced: 3.0, base: -8.0 }
    }

    #[test]
    fn force_is_the_slope_of_the_energy_and_its_slope_that_of_the_force() {
        for ramp in [0.0, 0.2] {
            let limit = limit(ramp);
            for excess in [-0.3, 0.05, 0.15, 0.25, 0.8] {
                let (force, slope) = limit.law(excess);
                assert!((derivative(1e-3, excess, |e| limit.energy_beyond(e)) - force).abs() < 1e-9);
                assert!((derivative(1e-3, excess, |e| limit.law(e).0) - slope).abs() < 1e-9);
                for (value, sign) in [(limit.max + excess, -1.0), (limit.min - excess, 1.0)] {
                    assert!((limit.energy(value) - limit.energy_beyond(excess)).abs() < 1e-12);
                    let (mut still, mut moving) = (7.0, 7.0);
                    limit.add_explicit(value, 0.0, &mut still);
                    limit.add_explicit(value, 2.0, &mut moving);
                    assert!((still - 7.0 - sign * force).abs() < 1e-12);
                    // The damping grows with the slope, to its full value where the limit is stiff.
                    assert!((moving - still + 2.0 * 4.0 * slope / 300.0).abs() < 1e-12);
                    assert!((limit.excess(value) - excess).abs() < 1e-15);
                }
            }
        }
    }

    #[test]
    fn a_ramp_joins_softly_at_both_ends_and_a_hard_corner_has_none() {
        let limit = limit(0.2);
        assert_eq!(limit.law(0.0), (0.0, 0.0));
        assert_eq!(limit.energy_beyond(0.0), 0.0);
        let (force, slope) = limit.law(0.2);
        assert!((force - 0.5 * 300.0 * 0.2).abs() < 1e-12 && (slope - 300.0).abs() < 1e-12);
        assert!((limit.energy_beyond(0.2) - 300.0 * 0.2 * 0.2 / 6.0).abs() < 1e-12);
        let before = 0.2 - 1e-12;
        assert!((limit.law(before).0 - force).abs() < 1e-8 && (limit.law(before).1 - slope).abs() < 1e-8);
        assert!((limit.energy_beyond(before) - limit.energy_beyond(0.2)).abs() < 1e-9);
        assert_eq!(self::limit(0.0).law(0.0), (0.0, 0.0));
        assert_eq!(self::limit(0.0).law(1e-300), (300.0 * 1e-300, 300.0));
    }

    #[test]
    fn a_step_holds_with_the_chord_at_the_excess_it_foresees() {
        for (ramp, excess) in [(0.0, 0.1), (0.2, 0.05), (0.2, 0.3)] {
            let limit = limit(ramp);
            let chord = limit.law(excess).0 / excess;
            for (is_upper, sign) in [(true, 1.0), (false, -1.0)] {
                let x = coming(&limit, is_upper, excess);
                let bound = if is_upper { limit.max } else { limit.min };
                let law = if is_upper { LimitLaw::Upper(90.0) } else { LimitLaw::Lower(90.0) };
                for rate in [x.rate, 0.0, -2.0] {
                    let off = bound - (x.value + H * (rate - x.displaced));
                    for (law, chord) in [(LimitLaw::Predicted, chord), (law, 90.0)] {
                        let expected = H * chord * (off - 4.0 / 300.0 * rate);
                        let found = impulse(&limit, &x, law, rate);
                        assert!((found - expected).abs() < 1e-12, "{sign} {law:?}: {found} for {expected}");
                    }
                }
                let inside = coming(&limit, is_upper, -1e-6);
                assert_eq!(impulse(&limit, &inside, LimitLaw::Predicted, 1.0), 0.0);
            }
        }
    }

    #[test]
    fn what_passes_a_limit_unforeseen_is_held_at_the_excess_that_was_found() {
        // Up to a thirty-second of the ramp and a millionth it is left to the next step.
        for (ramp, left) in [(0.0, 1e-6), (0.32, 0.01)] {
            let limit = limit(ramp);
            assert!((limit.passed() - left).abs() < 1e-15);
            for is_upper in [true, false] {
                let sign = if is_upper { 1.0 } else { -1.0 };
                let x = coming(&limit, is_upper, -0.05);
                let review = |excess: f64| {
                    let rate = x.rate + sign * (excess + 0.05) / H;
                    limit.review(&x, H, LimitLaw::Predicted, rate)
                };
                assert_eq!(review(0.98 * left), LimitLaw::Predicted);
                assert_eq!(review(-0.01), LimitLaw::Predicted);
                for excess in [1.02 * left, 0.1, 0.6] {
                    let expected = limit.law(excess).0 / excess;
                    let chord = match (review(excess), is_upper) {
                        (LimitLaw::Upper(chord), true) | (LimitLaw::Lower(chord), false) => chord,
                        (law, _) => panic!("{law:?} at {excess}"),
                    };
                    assert!((chord - expected).abs() < 1e-7 * expected, "{chord} for {expected}");
                }
            }
        }
    }

    #[test]
    fn a_limit_that_was_foreseen_changes_only_to_one_twice_as_stiff() {
        // Within the ramp the chord is proportional to the excess.
        let limit = limit(0.4);
        for is_upper in [true, false] {
            let sign = if is_upper { 1.0 } else { -1.0 };
            let x = coming(&limit, is_upper, 0.1);
            let chord = limit.law(0.1).0 / 0.1;
            let held = if is_upper { LimitLaw::Upper(chord) } else { LimitLaw::Lower(chord) };
            for law in [LimitLaw::Predicted, held] {
                let rate = |excess: f64| x.rate + sign * (excess - 0.1) / H;
                assert_eq!(limit.review(&x, H, law, rate(0.19)), law);
                let found = match (limit.review(&x, H, law, rate(0.21)), is_upper) {
                    (LimitLaw::Upper(chord), true) | (LimitLaw::Lower(chord), false) => chord,
                    (law, _) => panic!("{law:?}"),
                };
                assert!((found - limit.law(0.21).0 / 0.21).abs() < 1e-9 * found);
            }
        }
    }

    #[test]
    fn a_held_limit_that_would_pull_lets_go() {
        let limit = limit(0.0);
        for is_upper in [true, false] {
            let sign = if is_upper { 1.0 } else { -1.0 };
            let x = coming(&limit, is_upper, 0.1);
            let law = if is_upper { LimitLaw::Upper(300.0) } else { LimitLaw::Lower(300.0) };
            // The damper opposes a coordinate that comes on until it ends well within the limit.
            for (excess, pulls) in [(-0.6, true), (-0.3, true), (-0.15, false), (0.0, false), (0.12, false)] {
                let rate = x.rate + sign * (excess - 0.1) / H;
                assert_eq!(sign * impulse(&limit, &x, law, rate) > 0.0, pulls, "{excess}");
                let expected = if pulls { LimitLaw::Predicted } else { law };
                assert_eq!(limit.review(&x, H, law, rate), expected, "{excess}");
            }
        }
    }
    #[test]
    fn what_rests_exactly_at_a_limit_has_no_force_and_may_still_pass_it() {
        for ramp in [0.0, 0.2] {
            let limit = limit(ramp);
            for (value, sign) in [(limit.max, 1.0), (limit.min, -1.0)] {
                let x = Coordinate { value, ..Coordinate::default() };
                assert_eq!(impulse(&limit, &x, LimitLaw::Predicted, 3.0), 0.0);
                assert_eq!(limit.review(&x, H, LimitLaw::Predicted, 0.0), LimitLaw::Predicted);
                let passed = limit.review(&x, H, LimitLaw::Predicted, sign * 0.3 / H);
                assert!(matches!(passed, LimitLaw::Upper(_)) == (sign > 0.0), "{passed:?}");
                assert!(matches!(passed, LimitLaw::Lower(_)) == (sign < 0.0), "{passed:?}");
            }
        }
    }
}
