//! Stable Neo-Hookean (Smith, de Goes & Kim, "Stable Neo-Hookean flesh simulation", 2018).
//!
//! `Ψ = ½μ(|F|² − 3) + ½λ(J − α)² − ½μ ln(|F|² + 1)` less its value at rest, `J = det F`, `α = 1 + ¾μ/λ`;
//! `P = a F + b cof F` with `a = μ(1 − 1/(|F|² + 1))`, `b = λ(J − α)`. Defined and smooth for every `F`, inverted and
//! flat ones included, so forces never need an SVD. Its constants are `μ = 4/3 μ_Lamé` and `λ = λ_Lamé + 5/6 μ_Lamé`,
//! which makes it agree with linear elasticity at rest. Pa, J/m³; NaN in, NaN out.

use crate::lanes::{Lanes, Mat3, Vec3, cross, dot};
use crate::material::{Lame, Principal};
use crate::spectral::{PAIRS, PrincipalTangent};
use sinew_math::ops;

/// The law with its constants ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeoHookean {
    mu: f64,
    lambda: f64,
    /// Volume ratio at which the volume term rests.
    alpha: f64,
    /// `Ψ` of the formula at rest, J/m³.
    rest: f64,
}

impl NeoHookean {
    pub(crate) fn new(lame: Lame) -> Self {
        let mu = 4.0 / 3.0 * lame.mu_pa;
        let lambda = lame.lambda_pa + 5.0 / 6.0 * lame.mu_pa;
        let alpha = 1.0 + 0.75 * mu / lambda;
        let rest = 0.5 * lambda * (1.0 - alpha) * (1.0 - alpha) - 0.5 * mu * ops::ln(4.0);
        Self { mu, lambda, alpha, rest }
    }

    /// `P = a F + b cof F`, and `J`.
    #[inline(always)]
    pub(crate) fn stress_of<L: Lanes>(&self, f: &Mat3<L>) -> (Mat3<L>, L) {
        let [x, y, z] = f.0;
        let cofactor = [cross(y, z), cross(z, x), cross(x, y)];
        let volume = dot(x, cofactor[0]);
        let (a, b) = self.coefficients(dot(x, x) + dot(y, y) + dot(z, z), volume);
        let column = |i: usize| std::array::from_fn(|k| a * f.0[i][k] + b * cofactor[i][k]);
        (Mat3([column(0), column(1), column(2)]), volume)
    }

    /// `Ψ` from `|F|²` and `J`.
    #[inline(always)]
    pub(crate) fn energy_of<L: Lanes>(&self, square: L, volume: L) -> L {
        let beyond = volume - L::splat(self.alpha);
        let logarithm = (square + L::splat(1.0)).map(ops::ln);
        L::splat(0.5 * self.mu) * (square - L::splat(3.0) - logarithm)
            + L::splat(0.5 * self.lambda) * beyond * beyond
            - L::splat(self.rest)
    }

    #[inline(always)]
    fn coefficients<L: Lanes>(&self, square: L, volume: L) -> (L, L) {
        let one = L::splat(1.0);
        let a = L::splat(self.mu) * (one - one / (square + one));
        (a, L::splat(self.lambda) * (volume - L::splat(self.alpha)))
    }
}

impl Principal for NeoHookean {
    #[inline(always)]
    fn energy<L: Lanes>(&self, s: Vec3<L>) -> L {
        self.energy_of(dot(s, s), s[0] * s[1] * s[2])
    }

    #[inline(always)]
    fn stress<L: Lanes>(&self, s: Vec3<L>) -> Vec3<L> {
        let (a, b) = self.coefficients(dot(s, s), s[0] * s[1] * s[2]);
        let others = [s[1] * s[2], s[0] * s[2], s[0] * s[1]];
        std::array::from_fn(|i| a * s[i] + b * others[i])
    }

    #[inline(always)]
    fn tangent<L: Lanes>(&self, s: Vec3<L>) -> PrincipalTangent<L> {
        let square = dot(s, s);
        let (a, b) = self.coefficients(square, s[0] * s[1] * s[2]);
        let others = [s[1] * s[2], s[0] * s[2], s[0] * s[1]];
        let one_more = square + L::splat(1.0);
        let slope = L::splat(2.0 * self.mu) / (one_more * one_more);
        let mut stretch = [[L::splat(0.0); 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let common = slope * s[i] * s[j] + L::splat(self.lambda) * others[i] * others[j];
                stretch[i][j] = if i == j { common + a } else { common + b * s[3 - i - j] };
            }
        }
        let third = PAIRS.map(|(i, j)| s[3 - i - j]);
        PrincipalTangent { stretch, flip: third.map(|s| a - b * s), twist: third.map(|s| a + b * s) }
    }
}
