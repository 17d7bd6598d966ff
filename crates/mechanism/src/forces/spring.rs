//! A linear spring and damper along a joint coordinate: the force `−k (x − x₀) − c ẋ`.
//!
//! Implicit (`coordinate`): `κ = h²k + h c`, `q = −h k (x − x₀) + h²k ẋ_d`. Explicit: the force itself. Energy: `½ k (x − x₀)²`.
//! A scale multiplies `k` and `c`. Units: N·m/rad or N/m, N·m·s/rad or N·s/m.

use sinew_math::{F64x2, both, twice};

use crate::forces::{Coordinate, ScalarImpulse};

/// A linear spring and damper on one coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Spring {
    /// Stiffness, N·m/rad or N/m.
    pub stiffness: f64,
    /// Rest value of the coordinate, rad or m.
    pub rest: f64,
    /// Damping, N·m·s/rad or N·s/m.
    pub damping: f64,
}

impl Spring {
    /// Implicit.
    #[inline]
    pub(crate) fn linearized(&self, x: &Coordinate, scale: f64, h: f64) -> ScalarImpulse {
        let (k, c) = (self.stiffness * scale, self.damping * scale);
        ScalarImpulse { q: -h * k * (x.value - self.rest - h * x.displaced), kappa: h * h * k + h * c }
    }

    /// Implicit, where it is the only force of a fused hinge. The operations have the order of [`Self::linearized_alone_x2`]: the
    /// two differ from [`Self::linearized`] by rounding.
    #[inline]
    pub(crate) fn linearized_alone(&self, value: f64, displaced: f64, scale: f64, h: f64) -> ScalarImpulse {
        let stiff = h * h * self.stiffness * scale;
        let kappa = stiff + h * self.damping * scale;
        ScalarImpulse { q: stiff * displaced - h * self.stiffness * scale * (value - self.rest), kappa }
    }

    /// [`Self::linearized_alone`] of two springs at an undisplaced point: `q` and `κ`.
    #[inline(always)]
    pub(crate) fn linearized_alone_x2([a, b]: [&Self; 2], value: F64x2, scale: f64, h: f64) -> [F64x2; 2] {
        let (h, scale) = (twice(h), twice(scale));
        let k = both(a.stiffness, b.stiffness);
        let kappa = h * h * k * scale + h * both(a.damping, b.damping) * scale;
        [-(h * k * scale * (value - both(a.rest, b.rest))), kappa]
    }

    /// Explicit force.
    pub(crate) fn explicit(&self, value: f64, rate: f64, scale: f64) -> f64 {
        -scale * (self.stiffness * (value - self.rest) + self.damping * rate)
    }

    /// Elastic energy, J.
    pub(crate) fn energy(&self, value: f64, scale: f64) -> f64 {
        let x = value - self.rest;
        0.5 * scale * self.stiffness * x * x
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "zeros and copies are exact")]
mod tests {
    use sinew_testkit::derivative;

    use super::*;

    const SPRING: Spring = Spring { stiffness: 70.0, rest: 0.3, damping: 2.5 };
    const SCALE: f64 = 1.7;

    #[test]
    fn the_impulse_is_that_of_the_force_at_the_end_of_the_step() {
        let (x, h) = (Coordinate { value: 0.8, rate: -1.2, displaced: 0.4, base: 9.0 }, 0.03);
        for rate in [-2.0, 0.0, 3.0] {
            let end = x.value + h * (rate - x.displaced);
            let expected = h * SPRING.explicit(end, rate, SCALE);
            for found in
                [SPRING.linearized(&x, SCALE, h), SPRING.linearized_alone(x.value, x.displaced, SCALE, h)]
            {
                assert!((found.q - found.kappa * rate - expected).abs() < 1e-13, "{found:?} at {rate}");
            }
        }
    }

    #[test]
    fn two_springs_at_once_have_the_bits_of_each_alone() {
        let other = Spring { stiffness: 900.0, rest: -0.2, damping: 0.1 };
        let [q, kappa] = Spring::linearized_alone_x2([&SPRING, &other], both(0.8, -0.7), SCALE, 0.03);
        for (i, (spring, value)) in [(SPRING, 0.8), (other, -0.7)].into_iter().enumerate() {
            let alone = spring.linearized_alone(value, 0.0, SCALE, 0.03);
            assert_eq!([q.to_array()[i], kappa.to_array()[i]], [alone.q, alone.kappa]);
        }
    }

    #[test]
    fn the_force_is_the_slope_of_the_energy_and_the_damper_is_proportional_to_the_rate() {
        for value in [-1.0, 0.3, 0.9] {
            let slope = derivative(1e-3, value, |x| SPRING.energy(x, SCALE));
            assert!((SPRING.explicit(value, 0.0, SCALE) + slope).abs() < 1e-10);
            let damped = SPRING.explicit(value, 2.0, SCALE) - SPRING.explicit(value, 0.0, SCALE);
            assert!((damped + SCALE * 2.5 * 2.0).abs() < 1e-12);
        }
        assert_eq!(SPRING.energy(0.3, SCALE), 0.0);
    }
}
