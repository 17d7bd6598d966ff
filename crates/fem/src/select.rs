//! Who pays for the SVD: the selective test of KP08 §4.4, made of matrices instead of roots.
//!
//! All squared stretches are inside `(λ_L, λ_U)` exactly if `C − λ_L 1` and `λ_U 1 − C` are positive definite, and the
//! element is not inverted exactly if then `det F > 0`. KP08 eq. 18–19 ask the characteristic cubic, whose values cancel
//! near double and triple roots and call elements small that are 1e-5 outside. Here the pivots of an LDLᵀ factorization
//! decide, multiplied by the positive pivots before them so that nothing is divided:
//!
//! ```text
//! a₁₁ > 0     t₂₂ = a₁₁a₂₂ − a₁₂² > 0     t₂₂t₃₃ > t₂₃²     t₂₃ = a₁₁a₂₃ − a₁₂a₁₃,  t₃₃ = a₁₁a₃₃ − a₁₃²
//! ```
//!
//! As Cholesky's, these pivots are those of a matrix that differs from `A` by a few roundings of its diagonal, so
//! "small" is wrong at most about 1e-15 outside the band, whatever the roots. Wrong "large" verdicts only cost time: both
//! branches agree there. NaN is "large". 13 multiplications and 9 for the determinant.

use crate::lanes::{Lanes, Mat3};
use crate::material::Band;
use crate::stvk::Sym;

/// Whether all stretches are inside the band and the element is not inverted; `c = FᵀF`.
#[inline(always)]
pub(crate) fn is_small<L: Lanes>(f: &Mat3<L>, c: &Sym<L>, band: Band) -> L::Mask {
    let [xx, yy, zz, xy, xz, yz] = *c;
    let products = [xy * xy, xy * xz, xz * xz];
    let (lower, upper) = (xx.like(band.lower()), xx.like(band.upper()));
    positive_definite([xx - lower, yy - lower, zz - lower], yz, products)
        & positive_definite([upper - xx, upper - yy, upper - zz], -yz, products)
        & f.determinant().gt(xx.like(0.0))
}

/// Pivots of `[[d₀, a, b], [a, d₁, yz], [b, yz, d₂]]`; `products` are `a², ab, b²`.
#[inline(always)]
pub(crate) fn positive_definite<L: Lanes>(d: [L; 3], yz: L, products: [L; 3]) -> L::Mask {
    let zero = yz.like(0.0);
    let t22 = d[0] * d[1] - products[0];
    let t23 = d[0] * yz - products[1];
    let t33 = d[0] * d[2] - products[2];
    d[0].gt(zero) & t22.gt(zero) & (t22 * t33).gt(t23 * t23)
}
