//! A band: a quantity `φ` of several bodies that is kept in a range, with a force that may have a bound.
//!
//! Ropes only pull (`φ ≤ L`), gears hold both ways (`φ = c`), gears with backlash have a dead band. One of five laws holds; which one is
//! guessed before a solve and reviewed after it, as for bounded forces (`bounded`). With `φ⁺ = φ + h φ̇⁺` and the impulse `λ` along `φ`:
//! ```text
//! free            λ = 0                           leaves it when φ⁺ is out of the range
//! upper, lower    φ⁺ = bound (− compliance λ/h)   leaves it when λ has the wrong sign, or |λ| > h F_max
//! slipping        λ = ∓h F_max                    leaves it when φ⁺ would come back across the bound
//! ```
//! A range without width holds both ways. Units: m or rad, N·s or N·m·s.

/// Which law of a band holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BandLaw {
    #[default]
    Free,
    /// Held at the upper bound, `λ ≤ 0`.
    Upper,
    /// Held at the lower bound, `λ ≥ 0`.
    Lower,
    /// Beyond the upper bound with the largest force.
    SlipsUpper,
    /// Beyond the lower bound with the largest force.
    SlipsLower,
}

/// Range of a quantity and the largest force that keeps it there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Band {
    /// Lower and upper bound, m or rad; infinite where there is none.
    pub(crate) range: [f64; 2],
    /// N or N·m; infinite if there is no bound.
    pub(crate) max_force: f64,
    /// What a value may be out of the range by rounding.
    pub(crate) tolerance: f64,
}

/// Share of the largest force by which rounding may exceed it.
const ROUNDING: f64 = 1e-9;

impl Band {
    /// Whether it holds both ways.
    fn is_bilateral(&self) -> bool {
        self.range[0] >= self.range[1]
    }

    /// The law that a predicted value and the force of the step before suggest.
    pub(crate) fn guess(&self, value: f64, force: f64) -> BandLaw {
        let [lower, upper] = self.range;
        if self.is_bilateral() || value > upper || force < 0.0 {
            BandLaw::Upper
        } else if value < lower || force > 0.0 {
            BandLaw::Lower
        } else {
            BandLaw::Free
        }
    }

    /// Where a law holds the quantity, if it does.
    pub(crate) fn bound(&self, law: BandLaw) -> Option<f64> {
        match law {
            BandLaw::Upper => Some(self.range[1]),
            BandLaw::Lower => Some(self.range[0]),
            BandLaw::Free | BandLaw::SlipsUpper | BandLaw::SlipsLower => None,
        }
    }

    /// The force along the quantity where a law gives it.
    pub(crate) fn force(&self, law: BandLaw) -> f64 {
        match law {
            BandLaw::SlipsUpper => -self.max_force,
            BandLaw::SlipsLower => self.max_force,
            BandLaw::Free | BandLaw::Upper | BandLaw::Lower => 0.0,
        }
    }

    /// The law that holds for a value at the end of the step and a force that were found with another one.
    pub(crate) fn review(&self, law: BandLaw, value: f64, force: f64) -> BandLaw {
        let [lower, upper] = self.range;
        let most = self.max_force * (1.0 + ROUNDING);
        match law {
            BandLaw::Free if value > upper + self.tolerance => BandLaw::Upper,
            BandLaw::Free if value < lower - self.tolerance => BandLaw::Lower,
            // Before its size the sign counts: a rope that would have to push has no lower bound to slip at.
            BandLaw::Upper if force > 0.0 && !self.is_bilateral() => BandLaw::Free,
            BandLaw::Lower if force < 0.0 && !self.is_bilateral() => BandLaw::Free,
            BandLaw::Upper | BandLaw::Lower if force < -most => BandLaw::SlipsUpper,
            BandLaw::Upper | BandLaw::Lower if force > most => BandLaw::SlipsLower,
            BandLaw::SlipsUpper if value < upper => BandLaw::Upper,
            BandLaw::SlipsLower if value > lower => BandLaw::Lower,
            law => law,
        }
    }

    /// How far a value is from where a law holds it, or out of the range.
    pub(crate) fn error(&self, law: BandLaw, value: f64) -> f64 {
        match (self.bound(law), law) {
            (Some(bound), _) => (value - bound).abs(),
            (None, BandLaw::Free) => (value - self.range[1]).max(self.range[0] - value).max(0.0),
            // What slips is not held.
            (None, _) => 0.0,
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "zeros and copies are exact")]
mod tests {
    use super::*;

    const DEAD_BAND: Band = Band { range: [-0.25, 0.5], max_force: 10.0, tolerance: 0.01 };
    const GEAR: Band = Band { range: [0.5, 0.5], max_force: 10.0, tolerance: 0.01 };
    const ROPE: Band = Band { range: [f64::NEG_INFINITY, 0.5], max_force: 10.0, tolerance: 0.01 };

    use BandLaw::{Free, Lower, SlipsLower, SlipsUpper, Upper};

    #[test]
    fn laws_are_guessed_from_the_value_and_the_force_of_the_step_before() {
        for (band, value, force, expected) in [
            (DEAD_BAND, 0.51, 0.0, Upper),
            (DEAD_BAND, 0.5, 0.0, Free),
            (DEAD_BAND, -0.25, 0.0, Free),
            (DEAD_BAND, -0.26, 0.0, Lower),
            (DEAD_BAND, 0.0, -1.0, Upper),
            (DEAD_BAND, 0.0, 1.0, Lower),
            (GEAR, 0.4, 0.0, Upper),
            (GEAR, 0.5, 1.0, Upper),
            (ROPE, 0.4, 0.0, Free),
            (ROPE, 0.4, -1.0, Upper),
        ] {
            assert_eq!(band.guess(value, force), expected, "{band:?} {value} {force}");
        }
    }

    #[test]
    fn laws_hold_at_their_bound_or_with_their_force() {
        for (law, bound, force) in [
            (Free, None, 0.0),
            (Upper, Some(0.5), 0.0),
            (Lower, Some(-0.25), 0.0),
            (SlipsUpper, None, -10.0),
            (SlipsLower, None, 10.0),
        ] {
            assert_eq!((DEAD_BAND.bound(law), DEAD_BAND.force(law)), (bound, force));
        }
    }

    #[test]
    fn laws_are_reviewed_by_what_they_found() {
        for (band, law, value, force, expected) in [
            (DEAD_BAND, Free, 0.509, 0.0, Free),
            (DEAD_BAND, Free, 0.511, 0.0, Upper),
            (DEAD_BAND, Free, -0.259, 0.0, Free),
            (DEAD_BAND, Free, -0.261, 0.0, Lower),
            // A one-sided bound pushes one way only, a gear both ways.
            (DEAD_BAND, Upper, 0.5, 1e-3, Free),
            (DEAD_BAND, Upper, 0.5, 0.0, Upper),
            (DEAD_BAND, Upper, 0.5, -9.9, Upper),
            (DEAD_BAND, Upper, 0.5, 20.0, Free),
            (DEAD_BAND, Lower, -0.25, -1e-3, Free),
            (DEAD_BAND, Lower, -0.25, 0.0, Lower),
            (DEAD_BAND, Lower, -0.25, 9.9, Lower),
            (DEAD_BAND, Lower, -0.25, -20.0, Free),
            (GEAR, Upper, 0.5, 9.9, Upper),
            (GEAR, Upper, 0.5, -9.9, Upper),
            // Beyond the largest force it slips, except by rounding.
            (DEAD_BAND, Upper, 0.5, -10.1, SlipsUpper),
            (DEAD_BAND, Lower, -0.25, 10.1, SlipsLower),
            (GEAR, Upper, 0.5, -10.1, SlipsUpper),
            (GEAR, Upper, 0.5, 10.1, SlipsLower),
            (GEAR, Upper, 0.5, 10.0 * (1.0 + 1e-10), Upper),
            (GEAR, Upper, 0.5, 10.0 * (1.0 + 1e-8), SlipsLower),
            (GEAR, Upper, 0.5, -10.0 * (1.0 + 1e-10), Upper),
            (GEAR, Upper, 0.5, -10.0 * (1.0 + 1e-8), SlipsUpper),
            // What slips is caught where it comes back.
            (DEAD_BAND, SlipsUpper, 0.51, -10.0, SlipsUpper),
            (DEAD_BAND, SlipsUpper, 0.5, -10.0, SlipsUpper),
            (DEAD_BAND, SlipsUpper, 0.49, -10.0, Upper),
            (DEAD_BAND, SlipsLower, -0.26, 10.0, SlipsLower),
            (DEAD_BAND, SlipsLower, -0.25, 10.0, SlipsLower),
            (DEAD_BAND, SlipsLower, -0.24, 10.0, Lower),
        ] {
            assert_eq!(band.review(law, value, force), expected, "{band:?} {law:?} {value} {force}");
        }
    }

    #[test]
    fn errors_are_those_of_bounds_that_hold() {
        for (law, value, error) in [
            (Free, 0.0, 0.0),
            (Free, 0.75, 0.25),
            (Free, -0.75, 0.5),
            (Upper, 0.75, 0.25),
            (Upper, 0.0, 0.5),
            (Lower, 0.0, 0.25),
            (Lower, -0.5, 0.25),
            (SlipsUpper, 2.0, 0.0),
            (SlipsLower, -2.0, 0.0),
        ] {
            assert_eq!(DEAD_BAND.error(law, value), error, "{law:?} {value}");
        }
    }
}
