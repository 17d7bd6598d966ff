//! Materials: the choice between hyperelastic laws, and their energy, stress and tangent at a deformation gradient.
//!
//! Each law is one file that implements [`law::MaterialLaw`]. Laws are listed in this file only: a variant of
//! [`Material`] with its constructor, a variant of [`Law`], and an arm of [`with_law!`]. The kernels choose the law
//! once per block of elements. J/m³ of rest volume, Pa. A deformation that is not finite gives NaN.

mod constants;
mod extended_stvk;
pub(crate) mod law;
mod neo_hookean;
pub(crate) mod principal_tangent;
mod stvk;

use crate::mat3::{Mat3, scale};
use crate::{error::FemError, svd::signed_svd};
use extended_stvk::ExtendedStVk;
use glam::DMat3;
use law::MaterialLaw;
use neo_hookean::NeoHookean;

pub use constants::{Lame, StretchBand};
pub use extended_stvk::Extension;

/// Share of the shear modulus that single tetrahedra keep beside mean strain. It resists what mean strain does not see; beams
/// of two to six cells then bend as the solid does (ADR 0037).
const OWN_SHARE: f64 = 0.2;

/// A law with its constants prepared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Law {
    StVk(ExtendedStVk),
    NeoHookean(NeoHookean),
}

/// Evaluates an expression with the law of a [`Law`], whichever it is; the expression is compiled for each.
macro_rules! with_law {
    ($law:expr, |$name:ident| $body:expr) => {
        match $law {
            $crate::materials::Law::StVk($name) => $body,
            $crate::materials::Law::NeoHookean($name) => $body,
        }
    };
}
pub(crate) use with_law;

/// An isotropic hyperelastic law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Material {
    /// St. Venant–Kirchhoff inside a band of stretches, extended linearly outside (KP08 §4, ITF04).
    StVenantKirchhoff {
        /// Stiffness.
        lame: Lame,
        /// Squared stretches of the plain law.
        band: StretchBand,
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
        Ok(Self::StVenantKirchhoff { lame, band: StretchBand::default(), extension: Extension::default() })
    }

    /// Stable Neo-Hookean.
    ///
    /// # Errors
    /// As [`Lame::new`].
    pub fn neo_hookean(young_pa: f64, poisson: f64) -> Result<Self, FemError> {
        Ok(Self::NeoHookean { lame: Lame::new(young_pa, poisson)? })
    }

    /// The same with another extension. Other laws than St. Venant–Kirchhoff are unchanged.
    #[must_use]
    pub fn with_extension(self, extension: Extension) -> Self {
        match self {
            Self::StVenantKirchhoff { lame, band, .. } => Self::StVenantKirchhoff { lame, band, extension },
            other => other,
        }
    }

    /// The same with another band. Other laws than St. Venant–Kirchhoff are unchanged.
    #[must_use]
    pub fn with_band(self, band: StretchBand) -> Self {
        match self {
            Self::StVenantKirchhoff { lame, extension, .. } => {
                Self::StVenantKirchhoff { lame, band, extension }
            }
            other => other,
        }
    }

    /// The same law with other constants.
    fn with_lame(self, lame: Lame) -> Self {
        match self {
            Self::StVenantKirchhoff { band, extension, .. } => {
                Self::StVenantKirchhoff { lame, band, extension }
            }
            Self::NeoHookean { .. } => Self::NeoHookean { lame },
        }
    }

    /// The shares of single tetrahedra and of mean strain ([`crate::Strain::Mean`]). All laws are linear in Lamé's constants,
    /// so where strain is uniform both together are the material.
    pub(crate) fn shares(&self) -> (Self, Self) {
        let Lame { lambda_pa, mu_pa } = self.lame();
        let own = Lame { lambda_pa: OWN_SHARE * lambda_pa.min(mu_pa), mu_pa: OWN_SHARE * mu_pa };
        let mean = Lame { lambda_pa: lambda_pa - own.lambda_pa, mu_pa: mu_pa - own.mu_pa };
        (self.with_lame(own), self.with_lame(mean))
    }

    /// Lamé's constants at rest.
    pub fn lame(&self) -> Lame {
        with_law!(self.law(), |law| law.lame())
    }

    /// Energy density at deformation gradient `f`, J/m³ of rest volume; zero at rest.
    ///
    /// [`Extension::PerStretch`] has no energy; for it, the sum over the stretches of the work of each.
    pub fn energy(&self, f: &DMat3) -> f64 {
        let s = signed_svd::<f64>(&(*f).into()).s;
        with_law!(self.law(), |law| law.energy(s))
    }

    /// First Piola–Kirchhoff stress, Pa; `∂Ψ/∂F` where there is an energy.
    pub fn stress(&self, f: &DMat3) -> DMat3 {
        let svd = signed_svd::<f64>(&(*f).into());
        let p = with_law!(self.law(), |law| law.stress(svd.s));
        let columns = [0, 1, 2].map(|i| scale(svd.u.0[i], p[i]));
        Mat3(columns).mul_transpose(&svd.v).into()
    }

    /// `∂P/∂F : δF`, Pa; if `projected`, with the nearest symmetric tangent without negative eigenvalues.
    pub fn stress_change(&self, f: &DMat3, change: &DMat3, projected: bool) -> DMat3 {
        let svd = signed_svd::<f64>(&(*f).into());
        let tangent = with_law!(self.law(), |law| law.tangent(svd.s));
        let tangent = if projected { tangent.projected() } else { tangent };
        tangent.apply(&svd, &(*change).into()).into()
    }

    /// Whether the stress at `f` needs no SVD. For St. Venant–Kirchhoff: every stretch is inside the band, with a
    /// margin for rounding (`docs/maths/flesh.md` §3). For Neo-Hookean: `f` is finite.
    pub fn is_small(&self, f: &DMat3) -> bool {
        with_law!(self.law(), |law| law.holds_directly(&(*f).into()))
    }

    /// Bounds of the moduli for the length of explicit steps.
    pub(crate) fn largest_moduli(&self) -> Lame {
        with_law!(self.law(), |law| law.largest_moduli())
    }

    /// The law with its constants prepared, for [`with_law!`].
    pub(crate) fn law(&self) -> Law {
        match *self {
            Self::StVenantKirchhoff { lame, band, extension } => {
                Law::StVk(ExtendedStVk::new(lame, band, extension))
            }
            Self::NeoHookean { lame } => Law::NeoHookean(NeoHookean::new(lame)),
        }
    }
}
