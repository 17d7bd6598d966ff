//! Stable Neo-Hookean (Smith, de Goes & Kim, "Stable Neo-Hookean flesh simulation", 2018).
//!
//! `Ψ = ½μ(|F|² − 3) + ½λ(J − α)² − ½μ ln(|F|² + 1)` minus its value at rest, with `J = det F` and `α = 1 + ¾μ/λ`.
//! `P = a F + b cof F` with `a = μ(1 − 1/(|F|² + 1))` and `b = λ(J − α)`. The law is smooth for every `F`, also
//! inverted and flat, so forces never need an SVD. With the constants `μ = 4/3 μ_Lamé` and `λ = λ_Lamé + 5/6 μ_Lamé` it
//! agrees with linear elasticity at rest. Pa, J/m³; NaN in, NaN out.

use super::law::{DirectStress, MaterialLaw};
use super::{constants::Lame, principal_tangent::PrincipalTangent};
use crate::lanes::{Lanes, Vec3, three};
use crate::mat3::{Mat3, cross, dot, scale};
use sinew_math::ops;

/// The law with its constants prepared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeoHookean {
    lame: Lame,
    mu: f64,
    lambda: f64,
    /// Volume ratio at which the volume term is zero.
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
        Self { lame, mu, lambda, alpha, rest }
    }

    /// `Ψ` from `|F|²` and `J`.
    #[inline(always)]
    fn energy_of<L: Lanes>(&self, square: L, volume: L) -> L {
        let number = |x: f64| volume.like(x);
        let beyond = volume - number(self.alpha);
        let logarithm = (square + number(1.0)).map(ops::ln);
        number(0.5 * self.mu) * (square - number(3.0) - logarithm)
            + number(0.5 * self.lambda) * beyond * beyond
            - number(self.rest)
    }

    /// `a` and `b` of the stress.
    #[inline(always)]
    fn coefficients<L: Lanes>(&self, square: L, volume: L) -> (L, L) {
        let one = square.like(1.0);
        let a = one.like(self.mu) * (one - one / (square + one));
        (a, one.like(self.lambda) * (volume - one.like(self.alpha)))
    }
}

impl MaterialLaw for NeoHookean {
    const HAS_BAND: bool = false;

    #[inline(always)]
    fn direct_stress<L: Lanes>(&self, f: &Mat3<L>, k: L) -> DirectStress<L> {
        let [x, y, z] = f.0;
        let cofactor = [cross(y, z), cross(z, x), cross(x, y)];
        let volume = dot(x, cofactor[0]);
        let (a, b) = self.coefficients(dot(x, x) + dot(y, y) + dot(z, z), volume);
        let p: [Vec3<L>; 3] = three!(|i| three!(|k| a * f.0[i][k] + b * cofactor[i][k]));
        DirectStress { scaled: Mat3(three!(|i| scale(p[i], -k))), holds: volume.finite(), volume }
    }

    #[inline(always)]
    fn direct_energy(&self, f: &Mat3<f64>) -> f64 {
        let c = f.gram();
        self.energy_of(c[0] + c[1] + c[2], f.determinant())
    }

    fn holds_directly(&self, f: &Mat3<f64>) -> bool {
        f.0.as_flattened().iter().all(|entry| entry.is_finite())
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn largest_moduli(&self) -> Lame {
        self.lame
    }

    #[inline(always)]
    fn energy<L: Lanes>(&self, s: Vec3<L>) -> L {
        self.energy_of(dot(s, s), s[0] * s[1] * s[2])
    }

    #[inline(always)]
    fn stress<L: Lanes>(&self, s: Vec3<L>) -> Vec3<L> {
        let (a, b) = self.coefficients(dot(s, s), s[0] * s[1] * s[2]);
        let others = [s[1] * s[2], s[0] * s[2], s[0] * s[1]];
        three!(|i| a * s[i] + b * others[i])
    }

    #[inline(always)]
    fn tangent<L: Lanes>(&self, s: Vec3<L>) -> PrincipalTangent<L> {
        let square = dot(s, s);
        let (a, b) = self.coefficients(square, s[0] * s[1] * s[2]);
        let others = [s[1] * s[2], s[0] * s[2], s[0] * s[1]];
        let one_more = square + a.like(1.0);
        let slope = a.like(2.0 * self.mu) / (one_more * one_more);
        let mut stretch = [[a; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let common = slope * s[i] * s[j] + a.like(self.lambda) * others[i] * others[j];
                stretch[i][j] = if i == j { common + a } else { common + b * s[3 - i - j] };
            }
        }
        // the third axis of the pairs (0, 1), (0, 2), (1, 2)
        let third = [b * s[2], b * s[1], b * s[0]];
        PrincipalTangent { stretch, flip: three!(|k| a - third[k]), twist: three!(|k| a + third[k]) }
    }
}
