//! Materials: stiffness constants, the law, and its three functions on a deformation gradient.
//!
//! An isotropic law is three functions of the signed stretches `s` of `F = U diag(s) Vᵀ` ([`crate::svd`]): energy
//! density `Ψ̂(s)`, principal stress `P̂(s)` and its derivative. They are written once over [`Lanes`] behind
//! [`Principal`]; [`Material`] is the choice between laws and offers the same three on `F`: `Ψ`, `P = U diag(P̂) Vᵀ` and
//! `δP = ∂P/∂F : δF`. Energies in J/m³ of rest volume, stresses in Pa. A deformation that is not finite gives NaN.

use crate::diagonal::{ExtendedStVk, Extension};
use crate::lanes::{Lanes, Mat3, Vec3};
use crate::neo_hookean::NeoHookean;
use crate::spectral::PrincipalTangent;
use crate::svd::signed_svd;
use crate::{FemError, stvk};
use glam::DMat3;

/// Lamé's constants of a linear isotropic material, Pa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// First constant `λ = Eν / ((1+ν)(1−2ν))`, Pa.
    pub lambda_pa: f64,
    /// Shear modulus `μ = E / (2(1+ν))`, Pa.
    pub mu_pa: f64,
}

impl Lame {
    /// From Young's modulus and Poisson's ratio.
    ///
    /// # Errors
    /// [`FemError::OutOfRange`] unless `0 < E < ∞` and `−1 < ν < ½`, or if `λ` or `μ` is not finite.
    pub fn new(young_pa: f64, poisson: f64) -> Result<Self, FemError> {
        let out_of_range = |what, value, range| Err(FemError::OutOfRange { what, value, range });
        if !(young_pa > 0.0 && young_pa.is_finite()) {
            return out_of_range("Young's modulus (Pa)", young_pa, "positive and finite");
        }
        if !(poisson > -1.0 && poisson < 0.5) {
            return out_of_range("Poisson's ratio", poisson, "between -1 and 0.5, both excluded");
        }
        let lambda_pa = young_pa * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        let mu_pa = young_pa / (2.0 * (1.0 + poisson));
        if !(lambda_pa.is_finite() && mu_pa.is_finite()) {
            return out_of_range("Young's modulus (Pa)", young_pa, "small enough for finite Lamé constants");
        }
        Ok(Self { lambda_pa, mu_pa })
    }

    /// `λ + 2μ`: stiffness of longitudinal waves, Pa.
    pub fn p_wave_pa(self) -> f64 {
        self.lambda_pa + 2.0 * self.mu_pa
    }
}

/// Squared stretches between which St. Venant–Kirchhoff is used as it is (KP08 §4.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    lower: f64,
    upper: f64,
}

impl Band {
    /// From the bounds of the squared stretches.
    ///
    /// # Errors
    /// [`FemError::OutOfRange`] unless `1/3 < lower < 1 < upper < ∞`: below ⅓ a single stretch of the material itself
    /// becomes unstable.
    pub fn new(lower: f64, upper: f64) -> Result<Self, FemError> {
        if !(lower > 1.0 / 3.0 && lower < 1.0) {
            return Err(FemError::OutOfRange {
                what: "lower bound of squared stretches",
                value: lower,
                range: "between 1/3 and 1, both excluded",
            });
        }
        if !(upper > 1.0 && upper.is_finite()) {
            return Err(FemError::OutOfRange {
                what: "upper bound of squared stretches",
                value: upper,
                range: "above 1 and finite",
            });
        }
        Ok(Self { lower, upper })
    }

    /// Lower bound `λ_L` of the squared stretches.
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// Upper bound `λ_U` of the squared stretches.
    pub fn upper(self) -> f64 {
        self.upper
    }
}

/// `⅔` and `5/3`: uniaxial stiffness half and twice that at rest (KP08 §4.3).
impl Default for Band {
    fn default() -> Self {
        Self { lower: 2.0 / 3.0, upper: 5.0 / 3.0 }
    }
}

/// An isotropic hyperelastic law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Material {
    /// St. Venant–Kirchhoff inside a band of stretches, extended linearly outside (KP08 §4, ITF04).
    StVenantKirchhoff {
        /// Stiffness.
        lame: Lame,
        /// Squared stretches of the plain law.
        band: Band,
        /// What replaces it outside.
        extension: Extension,
    },
    /// Stable Neo-Hookean (Smith, de Goes & Kim 2018), defined for every deformation; agrees with `lame` near rest.
    NeoHookean {
        /// Stiffness near rest.
        lame: Lame,
    },
}

impl Material {
    /// St. Venant–Kirchhoff with the default band and extension.
    ///
    /// # Errors
    /// As [`Lame::new`].
    pub fn st_venant_kirchhoff(young_pa: f64, poisson: f64) -> Result<Self, FemError> {
        let lame = Lame::new(young_pa, poisson)?;
        Ok(Self::StVenantKirchhoff { lame, band: Band::default(), extension: Extension::default() })
    }

    /// Stable Neo-Hookean.
    ///
    /// # Errors
    /// As [`Lame::new`].
    pub fn neo_hookean(young_pa: f64, poisson: f64) -> Result<Self, FemError> {
        Ok(Self::NeoHookean { lame: Lame::new(young_pa, poisson)? })
    }

    /// The same with another extension; Neo-Hookean needs none and stays as it is.
    #[must_use]
    pub fn with_extension(self, extension: Extension) -> Self {
        match self {
            Self::StVenantKirchhoff { lame, band, .. } => Self::StVenantKirchhoff { lame, band, extension },
            other @ Self::NeoHookean { .. } => other,
        }
    }

    /// The same with another band; Neo-Hookean has none and stays as it is.
    #[must_use]
    pub fn with_band(self, band: Band) -> Self {
        match self {
            Self::StVenantKirchhoff { lame, extension, .. } => {
                Self::StVenantKirchhoff { lame, band, extension }
            }
            other @ Self::NeoHookean { .. } => other,
        }
    }

    /// Stiffness near rest.
    pub fn lame(&self) -> Lame {
        match self {
            Self::StVenantKirchhoff { lame, .. } | Self::NeoHookean { lame } => *lame,
        }
    }

    /// Energy density at deformation gradient `f`, J/m³ of rest volume; zero at rest.
    ///
    /// For [`Extension::PerStretch`], which no energy belongs to, the work of each stretch on its own line.
    pub fn energy(&self, f: &DMat3) -> f64 {
        let s = signed_svd::<f64>(&(*f).into()).s;
        match self.law() {
            Law::StVk(law) => law.energy(s),
            Law::NeoHookean(law) => law.energy(s),
        }
    }

    /// First Piola–Kirchhoff stress, Pa; `∂Ψ/∂F` where there is an energy.
    pub fn stress(&self, f: &DMat3) -> DMat3 {
        match self.law() {
            Law::StVk(law) => stress(&law, f),
            Law::NeoHookean(law) => stress(&law, f),
        }
    }

    /// `∂P/∂F : δF`, Pa; with `projected`, of the nearest symmetric tangent without negative eigenvalues.
    pub fn stress_change(&self, f: &DMat3, change: &DMat3, projected: bool) -> DMat3 {
        let svd = signed_svd::<f64>(&(*f).into());
        let tangent = match self.law() {
            Law::StVk(law) => law.tangent(svd.s),
            Law::NeoHookean(law) => law.tangent(svd.s),
        };
        let tangent = if projected { tangent.projected() } else { tangent };
        tangent.apply(&svd, &(*change).into()).into()
    }

    /// Whether every stretch of `f` is inside the band, with a margin for rounding: plain St. Venant–Kirchhoff holds
    /// (see `docs/maths/flesh.md` §3). True for Neo-Hookean unless `f` is not finite.
    pub fn is_small(&self, f: &DMat3) -> bool {
        match self {
            Self::StVenantKirchhoff { band, .. } => {
                let f = (*f).into();
                crate::select::is_small::<f64>(&f, &stvk::right_cauchy_green(&f), *band)
            }
            Self::NeoHookean { .. } => f.is_finite(),
        }
    }

    /// The law with its constants ready.
    pub(crate) fn law(&self) -> Law {
        match *self {
            Self::StVenantKirchhoff { lame, band, extension } => {
                Law::StVk(ExtendedStVk::new(lame, band, extension))
            }
            Self::NeoHookean { lame } => Law::NeoHookean(NeoHookean::new(lame)),
        }
    }
}

/// A law with its constants ready, for a `match` outside the loop over elements.
pub(crate) enum Law {
    StVk(ExtendedStVk),
    NeoHookean(NeoHookean),
}

/// An isotropic law as three functions of the signed stretches.
pub(crate) trait Principal {
    /// `Ψ̂(s)`, J/m³.
    fn energy<L: Lanes>(&self, s: Vec3<L>) -> L;
    /// `P̂(s)`, Pa.
    fn stress<L: Lanes>(&self, s: Vec3<L>) -> Vec3<L>;
    /// `∂P̂/∂s` and the stiffness against rotations of the principal axes, Pa.
    fn tangent<L: Lanes>(&self, s: Vec3<L>) -> PrincipalTangent<L>;
}

fn stress(law: &impl Principal, f: &DMat3) -> DMat3 {
    let svd = signed_svd::<f64>(&(*f).into());
    let p = law.stress(svd.s);
    let columns = [0, 1, 2].map(|i| crate::lanes::scale(svd.u.0[i], p[i]));
    Mat3(columns).mul_transpose(&svd.v).into()
}
