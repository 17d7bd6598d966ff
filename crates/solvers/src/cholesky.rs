//! Cholesky factors of dense symmetric matrices, by columns in place.
//!
//! **What.** `A = L Lᵀ`, column by column from the left; whole columns are added, which compilers make vectors of. The order of sums is fixed, so the
//! bits are the same on every processor. **Cost.** `n³/3` multiply-adds, `n²` for a solve. **Failure.** None: directions without a pivot are left out.

use sinew_math::{add_scaled, dot};

/// The factor of the lower triangle of `a`; a pivot of at most `singular` of its diagonal entry makes a zero column.
#[inline(always)]
pub(crate) fn cholesky(a: &mut [f64], n: usize, singular: f64) {
    for j in 0..n {
        let (left, right) = a.split_at_mut(j * n);
        let column = &mut right[j..n];
        let scale = column[0];
        for k in 0..j {
            let other = &left[k * n + j..(k + 1) * n];
            add_scaled(column, -other[0], other);
        }
        let pivot = column[0];
        if pivot > singular * scale && pivot > f64::MIN_POSITIVE {
            let inverse = 1.0 / pivot.sqrt();
            column.iter_mut().for_each(|entry| *entry *= inverse);
        } else {
            column.iter_mut().for_each(|entry| *entry *= 0.0);
        }
    }
}

/// Solves `L Lᵀ x = b` in place; unknowns without pivot are zero.
#[inline(always)]
pub(crate) fn solve_cholesky(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    let inverse = |pivot: f64| if pivot == 0.0 { 0.0 } else { 1.0 / pivot };
    for j in 0..n {
        let column = &factor[j * n + j..(j + 1) * n];
        x[j] *= inverse(column[0]);
        let value = x[j];
        add_scaled(&mut x[j + 1..], -value, &column[1..]);
    }
    for j in (0..n).rev() {
        let column = &factor[j * n + j..(j + 1) * n];
        x[j] = (x[j] - dot(&column[1..], &x[j + 1..])) * inverse(column[0]);
    }
}
