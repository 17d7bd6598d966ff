//! LDLᵀ of the small pivots of the pair elimination: symmetric, positive definite, at most 6×6.
//!
//! Without square roots, packed by rows with `1/D` on the diagonal. A pivot that is not safely positive is raised and
//! counted; it is not an error, because a step must not fail. No allocation; sizes are known at compile time.

use glam::DVec3;
use sinew_math::{Sym3, Sym6};
use std::ops::{Mul, SubAssign};

/// LDLᵀ of a symmetric 3×3 matrix, packed by rows with `1/D` on the diagonal.
pub(crate) struct Ldlt3(pub(crate) [f64; 6]);

impl Ldlt3 {
    #[inline]
    pub(crate) fn new(m: &Sym3, mass: &Sym6) -> (Self, u32) {
        let scale = m.xx.abs().max(m.yy.abs()).max(m.zz.abs());
        let (i0, raised0) = invert_pivot(m.xx, scale, mass);
        let (l10, l20) = (m.xy * i0, m.xz * i0);
        let (i1, raised1) = invert_pivot(m.yy - l10 * m.xy, scale, mass);
        let d21 = m.yz - l20 * m.xy;
        let l21 = d21 * i1;
        let (i2, raised2) = invert_pivot(m.zz - l20 * m.xz - l21 * d21, scale, mass);
        (Self([i0, l10, i1, l20, l21, i2]), raised0 + raised1 + raised2)
    }

    #[inline]
    pub(crate) fn solve(&self, v: DVec3) -> DVec3 {
        let [i0, l10, i1, l20, l21, i2] = self.0;
        let y = v.y - l10 * v.x;
        let z = (v.z - l20 * v.x - l21 * y) * i2;
        let y = y * i1 - l21 * z;
        DVec3::new(v.x * i0 - l10 * y - l20 * z, y, z)
    }
}

/// Relative size below which a pivot counts as singular.
const SINGULAR: f64 = 1e-14;

/// `1/d`, with `d` raised to a floor if it is not safely positive. The floor has the scale of the pair's diagonal and
/// of the moving mass; without either, the direction is locked: `1/d = 0`.
#[inline]
pub(crate) fn invert_pivot(d: f64, scale: f64, mass: &Sym6) -> (f64, u32) {
    if d > SINGULAR * scale + f64::MIN_POSITIVE {
        return (1.0 / d, 0);
    }
    let floor = SINGULAR * (scale + mass.trace());
    (if floor > f64::MIN_POSITIVE { 1.0 / floor } else { 0.0 }, 1)
}

/// LDLᵀ of the lower triangle of `d`, packed by rows into `out` with `1/D` on the diagonal.
#[inline]
pub(crate) fn factor_packed<const F: usize>(d: &mut [[f64; F]; F], mass: &Sym6, out: &mut [f64]) -> u32 {
    let mut scale = 0.0f64;
    for i in 0..F {
        scale = scale.max(d[i][i].abs());
    }
    let mut regularized = 0;
    for j in 0..F {
        let (inverse, raised) = invert_pivot(d[j][j], scale, mass);
        regularized += raised;
        out[j * (j + 1) / 2 + j] = inverse;
        for i in j + 1..F {
            let l = d[i][j] * inverse;
            out[i * (i + 1) / 2 + j] = l;
            for k in j + 1..=i {
                d[i][k] -= l * d[k][j];
            }
        }
    }
    regularized
}

/// Solves with the packed LDLᵀ in place, for numbers or for wrenches: `Y = U D⁻¹`.
#[inline]
pub(crate) fn solve_packed<T: Copy + SubAssign + Mul<f64, Output = T>>(l: &[f64], x: &mut [T]) {
    let f = x.len();
    for i in 0..f {
        for k in 0..i {
            let known = x[k];
            x[i] -= known * l[i * (i + 1) / 2 + k];
        }
    }
    for i in 0..f {
        x[i] = x[i] * l[i * (i + 1) / 2 + i];
    }
    for i in (0..f).rev() {
        for k in i + 1..f {
            let known = x[k];
            x[i] -= known * l[k * (k + 1) / 2 + i];
        }
    }
}
