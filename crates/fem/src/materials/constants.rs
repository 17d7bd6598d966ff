//! Lamé constants (Pa), and the band of squared stretches of St. Venant–Kirchhoff. Errors name the number.

use crate::error::FemError;

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
}

/// Squared stretches between which plain St. Venant–Kirchhoff is used (`[λ_L, λ_U]` of KP08 §4.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StretchBand {
    lower: f64,
    upper: f64,
}

impl StretchBand {
    /// From the bounds of the squared stretches.
    ///
    /// # Errors
    /// [`FemError::OutOfRange`] unless `1/3 < lower < 1 < upper < ∞`. Below ⅓ the plain law is unstable under uniaxial
    /// compression.
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

/// `⅔` and `5/3`: the uniaxial stiffness is half and twice that at rest (KP08 §5).
impl Default for StretchBand {
    fn default() -> Self {
        Self { lower: 2.0 / 3.0, upper: 5.0 / 3.0 }
    }
}
