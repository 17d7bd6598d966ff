//! The law of fibres: stress along one direction, passive and active.
//!
//! With the stretch `λ` of a fibre, its rate `λ̇`, and the activation `a` from 0 to 1 the stress along the fibre is
//!
//! ```text
//! σ = k max(λ − 1, 0) + a S f(λ) φ(λ̇/v)
//! ```
//!
//! in Pa of rest area. `f` is 1 ([`ForceLength::Flat`]) or a bell `(1 − u²)²`, `u = (λ − λ₀)/w` ([`ForceLength::Bell`]). `φ` is Hill's hyperbola, `(1 + r)/(1 − r/κ)` for shortening
//! (`−1 ≤ r ≤ 0`), 0 beyond it, and `1 + e r/(r + eκ/(1 + κ))` for lengthening: continuous with its slope. It is used as a damper, `φ = 1 + c r` with `c ≥ 0`, so it only takes
//! energy. At constant activation the rest is the gradient of `ψ = ½k max(λ − 1, 0)² + a S g(λ)`, `g' = f`. NaN in, NaN out.

use crate::error::FemError;

/// Stretch below which flat stress fades out linearly, so that the force of a collapsed fibre is smooth.
const COLLAPSED: f64 = 0.2;

/// Curvature `κ` of Hill's hyperbola.
const CURVATURE: f64 = 0.25;

/// Part by which stress grows at most when an active fibre is drawn out.
const ECCENTRIC: f64 = 0.5;

/// Stretches at which the stiffness of active fibres is looked for, per unit.
const LOOKS: u32 = 64;

/// How the active stress of a fibre depends on its stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ForceLength {
    /// Not at all.
    #[default]
    Flat,
    /// Largest at one stretch and zero far from it, as in muscles.
    Bell {
        /// Stretch at which it is largest.
        optimum: f64,
        /// Distance from there at which it is zero; less than the optimum.
        width: f64,
    },
}

/// The law of the fibres of a muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FibreLaw {
    /// Stiffness of fibres that are longer than at rest, Pa.
    pub stiffness_pa: f64,
    /// Active stress at full activation, Pa.
    pub strength_pa: f64,
    /// How it depends on the stretch.
    pub curve: ForceLength,
    /// Rate of shortening at which it is zero, 1/s (lengths at rest per second); infinite if it does not depend on the rate.
    pub fastest_per_s: f64,
}

impl Default for FibreLaw {
    /// No stress, whatever the stretch and rate.
    fn default() -> Self {
        Self { stiffness_pa: 0.0, strength_pa: 0.0, curve: ForceLength::Flat, fastest_per_s: f64::INFINITY }
    }
}

/// A potential of the stretch with its first and second derivative.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FibreStress {
    /// J/m³.
    pub(crate) energy: f64,
    /// Pa.
    pub(crate) stress: f64,
    /// Pa.
    pub(crate) slope: f64,
}

impl FibreStress {
    pub(crate) fn plus(self, other: Self, factor: f64) -> Self {
        Self {
            energy: self.energy + other.energy * factor,
            stress: self.stress + other.stress * factor,
            slope: self.slope + other.slope * factor,
        }
    }
}

impl FibreLaw {
    pub(crate) fn check(&self) -> Result<(), FemError> {
        let in_range = |what, value: f64, ok: bool, range| {
            if ok { Ok(()) } else { Err(FemError::OutOfRange { what, value, range }) }
        };
        let not_negative = "zero or more and finite";
        for (what, value) in
            [("stiffness of fibres (Pa)", self.stiffness_pa), ("strength of fibres (Pa)", self.strength_pa)]
        {
            in_range(what, value, value >= 0.0 && value.is_finite(), not_negative)?;
        }
        in_range("fastest shortening (1/s)", self.fastest_per_s, self.fastest_per_s > 0.0, "positive")?;
        if let ForceLength::Bell { optimum, width } = self.curve {
            let is_stretch = optimum > 0.0 && optimum.is_finite();
            in_range("optimal stretch of fibres", optimum, is_stretch, "positive and finite")?;
            let fits = width > 0.0 && width < optimum;
            in_range("width of the bell of fibres", width, fits, "positive and less than the optimum")?;
        }
        Ok(())
    }

    /// Of passive fibres.
    pub(crate) fn passive(&self, stretch: f64) -> FibreStress {
        let (k, beyond) = (self.stiffness_pa, stretch - 1.0);
        if beyond <= 0.0 {
            return FibreStress::default();
        }
        FibreStress { energy: 0.5 * k * beyond * beyond, stress: k * beyond, slope: k }
    }

    /// Of fully active fibres that do not move, beside the passive ones.
    pub(crate) fn active(&self, stretch: f64) -> FibreStress {
        let (energy, stress, slope) = match self.curve {
            ForceLength::Flat if stretch < COLLAPSED => {
                (0.5 * stretch * stretch / COLLAPSED, stretch / COLLAPSED, 1.0 / COLLAPSED)
            }
            ForceLength::Flat => (stretch - 0.5 * COLLAPSED, 1.0, 0.0),
            ForceLength::Bell { optimum, width } => {
                let u = ((stretch - optimum) / width).clamp(-1.0, 1.0);
                let (square, inside) = (u * u, 1.0 - u * u);
                let integral = u * (1.0 - square * (2.0 / 3.0 - square * 0.2));
                (width * integral, inside * inside, -4.0 * u * inside / width)
            }
        };
        let strength = self.strength_pa;
        FibreStress { energy: strength * energy, stress: strength * stress, slope: strength * slope }
    }

    /// The damper `c/v` in `φ = 1 + (c/v) λ̇`, s.
    pub(crate) fn damper(&self, rate: f64) -> f64 {
        let r = rate / self.fastest_per_s;
        let secant = if r < -1.0 {
            -1.0 / r
        } else if r <= 0.0 {
            (1.0 + 1.0 / CURVATURE) / (1.0 - r / CURVATURE)
        } else {
            ECCENTRIC / (r + ECCENTRIC * CURVATURE / (1.0 + CURVATURE))
        };
        secant / self.fastest_per_s
    }

    /// Bounds of stiffness (Pa) and damping (Pa·s), for the length of explicit steps.
    pub(crate) fn largest_moduli(&self) -> [f64; 2] {
        let stiffest = |k: u32| {
            let stretch = f64::from(k) / f64::from(LOOKS);
            let active = self.active(stretch);
            active.slope.abs().max(active.stress / stretch)
        };
        let active = (1..=4 * LOOKS).map(stiffest).fold(0.0, f64::max);
        [self.stiffness_pa + active, self.strength_pa * self.damper(0.0)]
    }
}
