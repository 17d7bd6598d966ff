//! St. Venant–Kirchhoff with a linear extension outside a band of stretches (ITF04; KP08 §4.4).
//!
//! Inside the band this is the plain law of [`super::stvk`]. Outside it the stress continues linearly. With signed
//! stretches `s`, `l = √λ_L`, `u = √λ_U`, `c = clamp(s, l, u)` and `δ = s − c`,
//!
//! ```text
//! gᵢ(c) = cᵢ(½λ(|c|²−3) + μ(cᵢ²−1))        Hᵢᵢ(c) = ½λ(|c|²−3) + λcᵢ² + μ(3cᵢ²−1)
//! per stretch (KP08):   P̂ᵢ = gᵢ(c) + Hᵢᵢ(c) δᵢ
//! conservative:         P̂ᵢ = gᵢ(c) + κδᵢ + λcᵢ Σ_{j≠i} cⱼδⱼ,   κ = λλ_U + 2μ
//! ```
//!
//! Both are continuous and restore flat and inverted elements. The first is not a gradient: it gains or loses energy on
//! closed paths outside the band. The second is the gradient of `Ψ̂(c) + g·δ + ½κ|δ|² + λ Σ_{i<j} cᵢcⱼδᵢδⱼ`. Stretches
//! have no unit; Pa, J/m³. NaN in, NaN out.

use super::constants::{Lame, StretchBand};
use super::law::{DirectStress, MaterialLaw};
use super::principal_tangent::PrincipalTangent;
use super::stvk;
use crate::lanes::{LaneMask, Lanes, Vec3, three};
use crate::mat3::{Mat3, dot};

/// What replaces St. Venant–Kirchhoff outside the band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Extension {
    /// Each principal stress is extended on its own, as in KP08. It gains energy when flesh oscillates across the
    /// bounds of the band, so use it for explicit steps with dampers.
    #[default]
    PerStretch,
    /// The stress is the gradient of an energy. Use it for implicit steps, and where energy matters.
    Conservative,
}

/// The law with its constants prepared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtendedStVk {
    lame: Lame,
    band: StretchBand,
    extension: Extension,
    lower: f64,
    upper: f64,
    /// `κ = λλ_U + 2μ`, Pa.
    kappa: f64,
}

/// Quantities at the clamped stretches.
struct AtClamp<L> {
    c: Vec3<L>,
    delta: Vec3<L>,
    /// `g(c)`.
    g: Vec3<L>,
    /// `Hᵢᵢ(c)`.
    h: Vec3<L>,
}

impl ExtendedStVk {
    pub(crate) fn new(lame: Lame, band: StretchBand, extension: Extension) -> Self {
        let kappa = lame.lambda_pa * band.upper() + 2.0 * lame.mu_pa;
        Self { lame, band, extension, lower: band.lower().sqrt(), upper: band.upper().sqrt(), kappa }
    }

    #[inline(always)]
    fn at_clamp<L: Lanes>(&self, s: Vec3<L>) -> AtClamp<L> {
        let number = |x: f64| s[0].like(x);
        let (lambda, mu) = (number(self.lame.lambda_pa), number(self.lame.mu_pa));
        let c = three!(|i| s[i].max(number(self.lower)).min(number(self.upper)));
        let delta = three!(|i| s[i] - c[i]);
        let square = three!(|i| c[i] * c[i]);
        let pressure = number(0.5) * lambda * (square[0] + square[1] + square[2] - number(3.0));
        let g = three!(|i| c[i] * (pressure + mu * (square[i] - number(1.0))));
        let h = three!(|i| pressure + lambda * square[i] + mu * (number(3.0) * square[i] - number(1.0)));
        AtClamp { c, delta, g, h }
    }
}

impl MaterialLaw for ExtendedStVk {
    const HAS_BAND: bool = true;

    #[inline(always)]
    fn direct_stress<L: Lanes>(&self, f: &Mat3<L>, k: L) -> DirectStress<L> {
        let (c, volume) = (f.gram(), f.determinant());
        let holds = stvk::is_in_band(&c, volume, self.band);
        let (lambda, mu) = (-k * k.like(self.lame.lambda_pa), -k * k.like(self.lame.mu_pa));
        DirectStress { scaled: stvk::stress(f, &c, lambda, mu), holds, volume }
    }

    #[inline(always)]
    fn direct_energy(&self, f: &Mat3<f64>) -> f64 {
        stvk::energy(&f.gram(), self.lame)
    }

    #[inline(always)]
    fn holds_directly(&self, f: &Mat3<f64>) -> bool {
        stvk::is_in_band(&f.gram(), f.determinant(), self.band)
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn largest_moduli(&self) -> Lame {
        // at equal stretches u: ½λ(3u²−3) + 3λu² and μ(3u²−1), which are 3λ and 2μ at rest
        let factor = 1.5 * self.band.upper() - 0.5;
        Lame { lambda_pa: self.lame.lambda_pa * factor, mu_pa: self.lame.mu_pa * factor }
    }

    #[inline(always)]
    fn energy<L: Lanes>(&self, s: Vec3<L>) -> L {
        let AtClamp { c, delta, g, h } = self.at_clamp(s);
        let number = |x: f64| s[0].like(x);
        let strain = three!(|i| c[i] * c[i] - number(1.0));
        let trace = strain[0] + strain[1] + strain[2];
        let inside = number(0.25 * self.lame.mu_pa) * dot(strain, strain)
            + number(0.125 * self.lame.lambda_pa) * trace * trace;
        let half = number(0.5);
        let outside = match self.extension {
            Extension::PerStretch => {
                half * (h[0] * delta[0] * delta[0] + h[1] * delta[1] * delta[1] + h[2] * delta[2] * delta[2])
            }
            Extension::Conservative => {
                let w = three!(|i| c[i] * delta[i]);
                half * number(self.kappa) * dot(delta, delta)
                    + number(self.lame.lambda_pa) * (w[0] * w[1] + w[0] * w[2] + w[1] * w[2])
            }
        };
        inside + dot(g, delta) + outside
    }

    #[inline(always)]
    fn stress<L: Lanes>(&self, s: Vec3<L>) -> Vec3<L> {
        let AtClamp { c, delta, g, h } = self.at_clamp(s);
        match self.extension {
            Extension::PerStretch => three!(|i| g[i] + h[i] * delta[i]),
            Extension::Conservative => {
                let (kappa, lambda) = (s[0].like(self.kappa), s[0].like(self.lame.lambda_pa));
                let w = three!(|i| c[i] * delta[i]);
                let others = [w[1] + w[2], w[0] + w[2], w[0] + w[1]];
                three!(|i| g[i] + kappa * delta[i] + lambda * c[i] * others[i])
            }
        }
    }

    #[inline(always)]
    fn tangent<L: Lanes>(&self, s: Vec3<L>) -> PrincipalTangent<L> {
        let AtClamp { c, delta, h, .. } = self.at_clamp(s);
        let number = |x: f64| s[0].like(x);
        let (zero, lambda) = (number(0.0), number(self.lame.lambda_pa));
        let clamped = three!(|i| delta[i].abs().gt(zero));
        let mut stretch = [[zero; 3]; 3];
        match self.extension {
            Extension::PerStretch => {
                for i in 0..3 {
                    for j in 0..3 {
                        let free = lambda * c[j] * s[i];
                        stretch[i][j] = if i == j { h[i] } else { clamped[j].select(zero, free) };
                    }
                }
            }
            Extension::Conservative => {
                let reach = lambda * dot(c, delta);
                for i in 0..3 {
                    for j in 0..3 {
                        stretch[i][j] = lambda * c[i] * c[j];
                    }
                    stretch[i][i] = clamped[i].select(number(self.kappa), h[i] + reach);
                }
            }
        }
        PrincipalTangent::from_stress(s, self.stress(s), stretch)
    }
}
