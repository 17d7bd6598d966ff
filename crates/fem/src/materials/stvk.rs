//! St. Venant–Kirchhoff without an SVD (KP08 §4.3).
//!
//! `C = FᵀF`, `E = ½(C − 1)`, `S = λ tr E 1 + 2μE` (eq. 12–13), `P = F S`, `Ψ = μ E:E + ½λ tr²E`. `F` has no unit,
//! stresses are in Pa, energies in J/m³. A few dozen multiplications; NaN in, NaN out. The law softens under
//! compression and pushes inverted elements further. Outside a band of stretches [`super::extended_stvk`] replaces it;
//! [`is_in_band`] decides which elements are inside.

use super::constants::{Lame, StretchBand};
use crate::lanes::{Lanes, three};
use crate::mat3::{Mat3, Sym, is_positive_definite};

/// First Piola stress `P = F S` with `S = (½λ(tr C − 3) − μ) 1 + μC`.
#[inline(always)]
pub(crate) fn stress<L: Lanes>(f: &Mat3<L>, c: &Sym<L>, lambda: L, mu: L) -> Mat3<L> {
    let trace = c[0] + c[1] + c[2] - mu.like(3.0);
    let pressure = mu.like(0.5) * lambda * trace - mu;
    let [xx, yy, zz] = three!(|i| pressure + mu * c[i]);
    let [xy, xz, yz] = three!(|i| mu * c[3 + i]);
    f.mul(&Mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
}

/// Energy density `Ψ`.
#[inline(always)]
pub(crate) fn energy<L: Lanes>(c: &Sym<L>, lame: Lame) -> L {
    let number = |x: f64| c[0].like(x);
    let [xx, yy, zz] = three!(|i| c[i] - number(1.0));
    let [xy, xz, yz] = [c[3], c[4], c[5]];
    let trace = xx + yy + zz;
    let off = xy * xy + xz * xz + yz * yz;
    // E = ½(C − 1): the squares carry a factor ¼
    number(0.25 * lame.mu_pa) * (xx * xx + yy * yy + zz * zz + off + off)
        + number(0.125 * lame.lambda_pa) * trace * trace
}

/// Whether all stretches are inside the band and the element is not inverted; `c = FᵀF`, `volume = det F`.
///
/// This is the selective test of KP08 §4.4 with matrices in place of roots. All squared stretches are inside
/// `(λ_L, λ_U)` exactly if `C − λ_L 1` and `λ_U 1 − C` are positive definite. The element is not inverted exactly if
/// also `det F > 0`. KP08 eq. 18–19 evaluate the characteristic cubic. Its values cancel near double and triple roots,
/// so elements 1e-5 outside the band pass. The pivots used here are those of a matrix that differs from `C` by a few
/// roundings of its diagonal: an element that passes is at most about 1e-15 outside the band. An element wrongly
/// refused only costs time, because both branches agree there. NaN is refused. 13 multiplications beside the
/// determinant.
#[inline(always)]
pub(crate) fn is_in_band<L: Lanes>(c: &Sym<L>, volume: L, band: StretchBand) -> L::Mask {
    let [xx, yy, zz, xy, xz, yz] = *c;
    let products = [xy * xy, xy * xz, xz * xz];
    let (lower, upper) = (xx.like(band.lower()), xx.like(band.upper()));
    is_positive_definite([xx - lower, yy - lower, zz - lower], yz, products)
        & is_positive_definite([upper - xx, upper - yy, upper - zz], -yz, products)
        & volume.gt(xx.like(0.0))
}
