//! Generalized inverse of a small symmetric positive semidefinite matrix.
//!
//! `L⁻ᵀ D⁺ L⁻¹` from LDLᵀ without square roots, with `1/d = 0` for pivots `d` that are not safely positive. Exactly
//! symmetric. With N unknowns about N³/2 multiply-adds. A NaN counts as not positive and spreads to the result.

/// A matrix by columns.
pub(crate) type Columns<const N: usize> = [[f64; N]; N];

/// A pivot below this fraction of its scale is cancellation, not stiffness.
const SINGULAR: f64 = 1e-12;

/// Replaces `m` (lower triangle) by its inverse; returns the number of pivots that count as zero. `scale` is the
/// diagonal before any elimination.
#[inline(always)]
pub(crate) fn invert_semidefinite<const N: usize>(m: &mut Columns<N>, scale: &[f64; N]) -> u32 {
    let mut l = *m;
    let mut inverse_pivots = [0.0; N];
    let mut n_singular = 0;
    for j in 0..N {
        let d = l[j][j];
        if d > SINGULAR * scale[j] && d > f64::MIN_POSITIVE {
            inverse_pivots[j] = 1.0 / d;
        } else {
            n_singular += 1;
        }
        let column = l[j];
        for k in j + 1..N {
            let factor = column[k] * inverse_pivots[j];
            for i in k..N {
                l[k][i] -= column[i] * factor;
            }
            l[j][k] = factor;
        }
    }
    // The columns of L⁻¹, below its unit diagonal.
    let mut inverse = [[0.0; N]; N];
    for j in 0..N {
        inverse[j][j] = 1.0;
        for k in j..N {
            let x = inverse[j][k];
            for i in k + 1..N {
                inverse[j][i] -= l[k][i] * x;
            }
        }
    }
    for i in 0..N {
        for j in 0..=i {
            let mut sum = 0.0;
            for k in i..N {
                sum += inverse[i][k] * inverse_pivots[k] * inverse[j][k];
            }
            m[i][j] = sum;
            m[j][i] = sum;
        }
    }
    n_singular
}
