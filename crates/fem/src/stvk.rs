//! St. Venant–Kirchhoff without an SVD: what most elements pay.
//!
//! `C = FᵀF`, `E = ½(C − 1)`, `S = λ tr E 1 + 2μE`, `P = F S`, `Ψ = μ E:E + ½λ tr²E` (KP08 §4.1). Dimensionless `F`, Pa
//! and J/m³. A few dozen multiplications; NaN in, NaN out. Softens under compression and pushes inverted elements
//! further: outside the band of [`crate::Material`] the extension of [`crate::diagonal`] takes over.

use crate::lanes::{Lanes, Mat3, dot, three};
use crate::material::Lame;

/// A symmetric matrix per lane: `xx, yy, zz, xy, xz, yz`.
pub(crate) type Sym<L> = [L; 6];

/// `C = FᵀF`.
#[inline(always)]
pub(crate) fn right_cauchy_green<L: Lanes>(f: &Mat3<L>) -> Sym<L> {
    let [x, y, z] = f.0;
    [dot(x, x), dot(y, y), dot(z, z), dot(x, y), dot(x, z), dot(y, z)]
}

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
