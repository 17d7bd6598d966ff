//! Dense kernels on row-major slices of run-time size, at most 6 by 6.
//!
//! `sinew_math::Block` fixes sizes at compile time; a tree mixes all sizes from 0 to 6. These kernels take sizes
//! as arguments and are always inlined: where the caller passes constants the compiler unrolls and vectorizes
//! them like fixed-size code, elsewhere they stay loops. Both give the same bits.

/// Largest block side.
pub(crate) const MAX: usize = 6;

/// A pivot counts as zero below this many rounding errors, per row, of the diagonal entry it comes from.
const PIVOT_TOLERANCE: f64 = 2.0 * f64::EPSILON;

/// In place `sign·D = L Lᵀ` on the lower triangle; the diagonal keeps `1/L_ii`. The failed pivot otherwise.
#[inline(always)]
pub(crate) fn cholesky(n: usize, sign: f64, d: &mut [f64]) -> Result<(), f64> {
    let d = &mut d[..n * n];
    for i in 0..n {
        let size = sign * d[i * n + i];
        let mut pivot = size;
        for j in 0..i {
            // L_ij = (D_ij − Σ_k<j L_ik L_jk) / L_jj
            let mut sum = sign * d[i * n + j];
            for k in 0..j {
                sum -= d[i * n + k] * d[j * n + k];
            }
            let entry = sum * d[j * n + j];
            d[i * n + j] = entry;
            pivot -= entry * entry;
        }
        if !(pivot > PIVOT_TOLERANCE * n as f64 * size && pivot < f64::INFINITY) {
            return Err(pivot);
        }
        d[i * n + i] = 1.0 / pivot.sqrt();
    }
    Ok(())
}

/// `X ← L⁻¹ X` for `c` columns.
#[inline(always)]
pub(crate) fn solve_lower(n: usize, c: usize, l: &[f64], x: &mut [f64]) {
    let (l, x) = (&l[..n * n], &mut x[..n * c]);
    for i in 0..n {
        // X_i = (X_i − Σ_k<i L_ik X_k) / L_ii
        let mut row = [0.0; 2 * MAX];
        for j in 0..c {
            row[j] = x[i * c + j];
        }
        for k in 0..i {
            for j in 0..c {
                row[j] -= l[i * n + k] * x[k * c + j];
            }
        }
        for j in 0..c {
            x[i * c + j] = row[j] * l[i * n + i];
        }
    }
}

/// `x ← L⁻ᵀ x`.
#[inline(always)]
pub(crate) fn solve_upper(n: usize, l: &[f64], x: &mut [f64]) {
    let (l, x) = (&l[..n * n], &mut x[..n]);
    for i in (0..n).rev() {
        // Column by column: once x_i is known it leaves all earlier rows.
        x[i] *= l[i * n + i];
        for k in 0..i {
            x[k] -= l[i * n + k] * x[i];
        }
    }
}

/// Row `i` of `Wᵀ W` from column `from` on, `W` n×c; the columns before stay zero.
#[inline(always)]
pub(crate) fn gram_row(n: usize, c: usize, w: &[f64], i: usize, from: usize) -> [f64; 2 * MAX] {
    let w = &w[..n * c];
    let mut row = [0.0; 2 * MAX];
    for k in 0..n {
        for j in from..c {
            row[j] += w[k * c + i] * w[k * c + j];
        }
    }
    row
}

/// `Wᵀ x` with `W` n×c.
#[inline(always)]
pub(crate) fn transpose_mul(n: usize, c: usize, w: &[f64], x: &[f64]) -> [f64; 2 * MAX] {
    let (w, x) = (&w[..n * c], &x[..n]);
    let mut sum = [0.0; 2 * MAX];
    for k in 0..n {
        for j in 0..c {
            sum[j] += w[k * c + j] * x[k];
        }
    }
    sum
}

/// `t −= W_c x` where `W_c` are the columns of `W` (n×c) from `from` on, as many as `x` has entries.
#[inline(always)]
pub(crate) fn subtract_columns(n: usize, c: usize, w: &[f64], from: usize, x: &[f64], target: &mut [f64]) {
    let (w, target) = (&w[..n * c], &mut target[..n]);
    for i in 0..n {
        for (j, value) in x.iter().enumerate() {
            target[i] -= w[i * c + from + j] * value;
        }
    }
}

/// Calls `$kernel([n, p, g], …)` with constant sizes for a rigid body (6) with a joint of any size, and with
/// run-time sizes for everything else.
macro_rules! with_fixed_dims {
    ($dims:expr, $kernel:ident($($argument:expr),* $(,)?)) => {
        with_fixed_dims!(@table $dims, $kernel, ($($argument),*), 0 1 2 3 4 5 6)
    };
    (@table $dims:expr, $kernel:ident, $arguments:tt, $($rows:literal)*) => {
        match $dims {
            $(
                (6, $rows, 6) => with_fixed_dims!(@call $kernel, 6, $rows, 6, $arguments),
                (6, $rows, 0) => with_fixed_dims!(@call $kernel, 6, $rows, 0, $arguments),
            )*
            (1, 6, 0) => with_fixed_dims!(@call $kernel, 1, 6, 0, $arguments),
            (2, 6, 0) => with_fixed_dims!(@call $kernel, 2, 6, 0, $arguments),
            (3, 6, 0) => with_fixed_dims!(@call $kernel, 3, 6, 0, $arguments),
            (4, 6, 0) => with_fixed_dims!(@call $kernel, 4, 6, 0, $arguments),
            (5, 6, 0) => with_fixed_dims!(@call $kernel, 5, 6, 0, $arguments),
            (n, p, g) => with_fixed_dims!(@call $kernel, n, p, g, $arguments),
        }
    };
    (@call $kernel:ident, $n:expr, $p:expr, $g:expr, ($($argument:expr),*)) => {
        $kernel([$n, $p, $g], $($argument),*)
    };
}
pub(crate) use with_fixed_dims;
