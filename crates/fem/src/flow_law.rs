//! Materials that flow: plasticity and viscosity, beside any hyperelastic law.
//!
//! Each part has its own intermediate shape, `F = F_e F_p` and `F = F_e F_v`, and the energy is `Ψ(F_e)`, for the viscous part times its
//! ratio. So flow is another shape at rest: gradients `∇φ` become `F_p⁻ᵀ∇φ`. With the stretches `s` of `F_e`, `ε = ln s`, `e = dev ε`,
//!
//! ```text
//! plastic   √6 μ |e| ≤ Y + H α           e' = β e,  α' = α + Δ,  Δ = (√6 μ |e| − Y − H α)/(3μ + H),  β = 1 − 3μΔ/(√6 μ |e|)
//! viscous   dε/dt = −ε/τ                  ε' = a ε,  a = 1/(1 + h/τ)
//! ```
//!
//! von Mises' criterion in logarithmic strain, and implicit Euler: under tension `E ε = Y`, and at a constant rate the viscous stress is that
//! of the viscosity `ratio E τ` at any `h`. Stretches change along the principal axes, `F_e' = F_e V diag(s'/s) Vᵀ`, so the shape does too:
//! `F_p'⁻¹ = F_p⁻¹ V diag(s'/s) Vᵀ`. Plastic flow keeps the volume. There is no flow that would raise the energy of the law or lead
//! beyond the largest stretch, and none in flat and inverted cells. Pa, s; stretches have no unit. One SVD and a few logarithms per part.

use crate::error::FemError;
use crate::lanes::Vec3;
use crate::mat3::Mat3;
use crate::materials::{law::MaterialLaw, principal_tangent::PrincipalTangent};
use crate::svd::{Svd, signed_svd};
use glam::{DMat3, DVec3};
use sinew_math::{Sym3, ops, symmetric_eigen};

/// Flow beyond a yield stress, which stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plasticity {
    /// Stress at which a bar under tension yields, Pa.
    pub yield_pa: f64,
    /// How much the yield stress grows per plastic strain, Pa.
    pub hardening_pa: f64,
    /// Largest plastic stretch, in any direction, and inverse of the smallest; beyond it the material is elastic.
    pub largest_stretch: f64,
}

/// A Maxwell element beside the elastic material: a spring behind a damper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viscosity {
    /// Stiffness of the spring, relative to that of the material.
    pub ratio: f64,
    /// Time constant with which its stress decays, s.
    pub time_s: f64,
}

/// How a material flows; not at all by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Flow that stays.
    pub plasticity: Option<Plasticity>,
    /// Flow of a part of the stress, which relaxes.
    pub viscosity: Option<Viscosity>,
}

/// What has flowed in one cell, a tetrahedron or a star.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CellFlow {
    /// `F_p⁻¹`, of determinant 1.
    pub plastic: DMat3,
    /// Plastic strain `α` passed through so far.
    pub hardening: f64,
    /// `F_v⁻¹`.
    pub viscous: DMat3,
}

/// Nothing has flowed.
impl Default for CellFlow {
    fn default() -> Self {
        Self { plastic: DMat3::IDENTITY, hardening: 0.0, viscous: DMat3::IDENTITY }
    }
}

/// Largest stretch of the viscous part.
const LARGEST_VISCOUS: f64 = 1e3;

/// Cells with a smaller elastic stretch are flat or inverted and do not flow.
const FLAT: f64 = 0.02;

/// Rounding of a stress on the yield surface, relative to it, and of a strain.
const ON_SURFACE: f64 = 1e-12;
const NO_STRAIN: f64 = 1e-14;

/// Rounding of energies near rest, relative to the moduli.
const ROUNDING: f64 = 1e-14;

impl Flow {
    /// Whether the material flows at all.
    pub fn is_any(&self) -> bool {
        self.plasticity.is_some() || self.viscosity.is_some()
    }

    /// Stiffness before anything has flowed, relative to that of the material.
    pub(crate) fn largest_ratio(&self) -> f64 {
        1.0 + self.viscosity.map_or(0.0, |viscosity| viscosity.ratio)
    }

    pub(crate) fn check(&self) -> Result<(), FemError> {
        let require = |what, value: f64, ok: bool, range| {
            if ok && value.is_finite() { Ok(()) } else { Err(FemError::OutOfRange { what, value, range }) }
        };
        if let Some(Plasticity { yield_pa, hardening_pa, largest_stretch }) = self.plasticity {
            require("yield stress (Pa)", yield_pa, yield_pa >= 0.0, "zero or positive")?;
            require("hardening (Pa)", hardening_pa, hardening_pa >= 0.0, "zero or positive")?;
            require("largest plastic stretch", largest_stretch, largest_stretch > 1.0, "above 1 and finite")?;
        }
        if let Some(Viscosity { ratio, time_s }) = self.viscosity {
            require("ratio of the viscous stiffness", ratio, ratio > 0.0, "positive and finite")?;
            require("relaxation time (s)", time_s, time_s > 0.0, "positive and finite")?;
        }
        Ok(())
    }
}

impl Viscosity {
    /// `a`: what a step of `dt` seconds leaves of the stress.
    pub(crate) fn share_left(&self, dt: f64) -> f64 {
        1.0 / (1.0 + dt / self.time_s)
    }
}

/// Where a cell yields now.
#[derive(Clone, Copy)]
pub(crate) struct YieldSurface {
    /// `Y + H α`, Pa.
    strength: f64,
    hardening: f64,
    mu: f64,
    /// `F_p⁻¹`, and its largest extent.
    shape: DMat3,
    largest: f64,
}

/// Stretches of a cell that yields, after the flow.
pub(crate) struct Returned {
    stretches: Vec3<f64>,
    /// `F_p⁻¹`.
    shape: DMat3,
    /// `Δ`.
    plastic: f64,
    /// `e/|e|`.
    direction: DVec3,
    /// What is left of `e`, `β`, and of a change of its length, `H/(3μ + H)`.
    left: f64,
    left_along: f64,
}

impl YieldSurface {
    pub(crate) fn new(plasticity: &Plasticity, flow: &CellFlow, mu: f64) -> Self {
        let Plasticity { yield_pa, hardening_pa: hardening, largest_stretch: largest } = *plasticity;
        let strength = yield_pa + hardening * flow.hardening;
        Self { strength, hardening, mu, shape: flow.plastic, largest }
    }

    /// Whether the deformation `f` is within the surface, by a bound without an SVD: with `C = FᵀF` and the norm `n` of `C − 1`, `|e| ≤ ½|dev C|/(1 − n)`.
    fn surely_holds(&self, f: &Mat3<f64>) -> bool {
        let [xx, yy, zz, xy, xz, yz] = f.gram();
        let across = 2.0 * (xy * xy + xz * xz + yz * yz);
        let length = |shift: f64| {
            let [x, y, z] = [xx - shift, yy - shift, zz - shift];
            (x * x + y * y + z * z + across).sqrt()
        };
        let stress = 6f64.sqrt() * self.mu * 0.5 * length((xx + yy + zz) / 3.0);
        stress <= self.strength * (1.0 - length(1.0))
    }

    /// Where a deformation beyond the surface flows to, with the principal axes before that; none if it is within it, or if it may not flow.
    pub(crate) fn flow(&self, f: &Mat3<f64>, law: &impl MaterialLaw) -> Option<(Svd<f64>, Returned)> {
        if self.surely_holds(f) {
            return None;
        }
        let svd = signed_svd(f);
        let returned = self.flow_of(&svd, law)?;
        Some((svd, returned))
    }

    /// Where a deformation beyond the surface flows to; none if it is within it, or if it may not flow.
    pub(crate) fn flow_of(&self, svd: &Svd<f64>, law: &impl MaterialLaw) -> Option<Returned> {
        let strain = log_strain(svd.s)?;
        let mean = strain.element_sum() / 3.0;
        let across = strain - DVec3::splat(mean);
        let length = across.length();
        let stress = 6f64.sqrt() * self.mu * length;
        if length <= NO_STRAIN || stress <= self.strength * (1.0 + ON_SURFACE) {
            return None;
        }
        let stiffness = 3.0 * self.mu + self.hardening;
        let plastic = (stress - self.strength) / stiffness;
        let left = (self.strength + self.hardening * plastic) / stress;
        let stretches = stretches(DVec3::splat(mean) + across * left);
        Some(Returned {
            stretches,
            shape: flowed(self.shape, svd, stretches, law, self.largest)?,
            plastic,
            direction: across / length,
            left,
            left_along: self.hardening / stiffness,
        })
    }
}

impl Returned {
    /// Principal stress with respect to the stretches `s` before the flow.
    pub(crate) fn stress(&self, law: &impl MaterialLaw, s: Vec3<f64>) -> Vec3<f64> {
        let (e, p) = (self.stretches, law.stress(self.stretches));
        // Flow keeps the Kirchhoff stress.
        [0, 1, 2].map(|i| p[i] * e[i] / s[i])
    }

    /// Principal stress and tangent with respect to the stretches `s` before the flow, which follows them.
    pub(crate) fn tangent(&self, law: &impl MaterialLaw, s: Vec3<f64>) -> (Vec3<f64>, PrincipalTangent<f64>) {
        let (e, p, k) = (self.stretches, law.stress(self.stretches), law.tangent(self.stretches));
        // Kirchhoff stress and its derivative by the strain after the flow, then by that before.
        let tau = [0, 1, 2].map(|i| p[i] * e[i]);
        let n = self.direction;
        let strain = |i: usize, j: usize| {
            let same = f64::from(u8::from(i == j));
            1.0 / 3.0 + self.left * (same - 1.0 / 3.0) + (self.left_along - self.left) * n[i] * n[j]
        };
        let elastic = |i: usize, j: usize| (k.stretch[i][j] * e[i] + if i == j { p[i] } else { 0.0 }) * e[j];
        let stretch = [0, 1, 2].map(|i| {
            [0, 1, 2].map(|j| {
                let all: f64 = (0..3).map(|m| elastic(i, m) * strain(m, j)).sum();
                (all - if i == j { tau[i] } else { 0.0 }) / (s[i] * s[j])
            })
        });
        let stress = self.stress(law, s);
        (stress, PrincipalTangent::from_stress(s, stress, stretch))
    }
}

impl CellFlow {
    /// Lets a cell with the deformation gradient `f` flow for `dt` seconds; `law` is its share of a material with the shear modulus `mu` (Pa).
    pub(crate) fn advance(&mut self, f: &DMat3, law: &impl MaterialLaw, (flow, mu): (&Flow, f64), dt: f64) {
        if let Some(plasticity) = &flow.plasticity {
            let surface = YieldSurface::new(plasticity, self, mu);
            if let Some((_, Returned { shape, plastic, .. })) =
                surface.flow(&Mat3::from(*f * self.plastic), law)
            {
                // The volume does not drift.
                self.plastic = shape * (1.0 - (shape.determinant() - 1.0) / 3.0);
                self.hardening += plastic;
            }
        }
        if let Some(viscosity) = &flow.viscosity {
            let svd = signed_svd(&Mat3::from(*f * self.viscous));
            if let Some(strain) = log_strain(svd.s) {
                let relaxed = stretches(strain * viscosity.share_left(dt));
                if let Some(shape) = flowed(self.viscous, &svd, relaxed, law, LARGEST_VISCOUS) {
                    self.viscous = shape;
                }
            }
        }
    }

    /// Largest stretch of the inverse of the plastic shape: how much smaller a cell may be than at rest.
    pub(crate) fn shrinkage(&self) -> f64 {
        symmetric_eigen(square(self.plastic)).0.z.max(1.0).sqrt()
    }
}

/// `ln s`; none for flat and inverted cells, and what is not finite.
fn log_strain(s: Vec3<f64>) -> Option<DVec3> {
    (s.iter().all(|s| s.is_finite()) && s[2] >= FLAT).then(|| DVec3::from(s.map(ops::ln)))
}

fn stretches(strain: DVec3) -> Vec3<f64> {
    strain.to_array().map(ops::exp)
}

/// The shape `G V diag(s'/s) Vᵀ` in which stretches `s` have become `to`; none if that raises the energy, or leads beyond a largest stretch.
fn flowed(
    shape: DMat3,
    svd: &Svd<f64>,
    to: Vec3<f64>,
    law: &impl MaterialLaw,
    largest: f64,
) -> Option<DMat3> {
    let (v, ratios) = (DMat3::from(svd.v), DVec3::from(to) / DVec3::from(svd.s));
    let next = shape * (v * DMat3::from_diagonal(ratios) * v.transpose());
    let most = law.energy(svd.s) + ROUNDING * (law.lame().mu_pa + law.lame().lambda_pa.abs());
    let is_lower = law.energy(to) <= most;
    (is_lower && (is_within(next, largest) || extent(next) <= extent(shape))).then_some(next)
}

/// Whether all stretches of a shape are between a largest one and its inverse.
fn is_within(shape: DMat3, largest: f64) -> bool {
    let norm: f64 = shape.to_cols_array().iter().map(|entry| entry * entry).sum();
    // σ₁² ≤ |G|² and 1/σ₃ = σ₁σ₂/det ≤ ½|G|²/det: enough for most.
    let is_small = norm <= largest * largest && 0.5 * norm <= largest * shape.determinant();
    is_small || extent(shape) <= largest
}

/// The largest stretch of a shape, or the inverse of its smallest.
fn extent(shape: DMat3) -> f64 {
    let squares = symmetric_eigen(square(shape)).0;
    squares.z.max(1.0 / squares.x.max(f64::MIN_POSITIVE)).sqrt()
}

/// `G Gᵀ`.
fn square(g: DMat3) -> Sym3 {
    let [x, y, z] = g.transpose().to_cols_array_2d().map(DVec3::from);
    Sym3 { xx: x.dot(x), yy: y.dot(y), zz: z.dot(z), xy: x.dot(y), xz: x.dot(z), yz: y.dot(z) }
}
