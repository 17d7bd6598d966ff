//! Dense kernels on row-major slices of run-time size.
//!
//! `sinew_math::Block` fixes sizes at compile time; a tree mixes all sizes. These kernels take sizes as arguments and are
//! always inlined: where the caller passes constants the compiler unrolls and vectorizes them like fixed-size code,
//! elsewhere they stay loops. Both give the same bits. `W` is the room for a row of numbers, at least as many as there are
//! columns.

use sinew_topology::LARGEST_BLOCK;

/// Room for the columns of two rigid bodies, and of two variables of 16 unknowns or of any size.
pub(crate) const RIGID: usize = 12;
pub(crate) const MEDIUM: usize = 32;
pub(crate) const LARGEST: usize = 2 * LARGEST_BLOCK;

/// A pivot counts as zero below this many rounding errors, per row, of the diagonal entry it comes from.
const PIVOT_TOLERANCE: f64 = 2.0 * f64::EPSILON;

/// In place `D = L Lᵀ` on the lower triangle; the diagonal keeps `1/L_ii`. The failed pivot otherwise.
#[inline(always)]
pub(crate) fn cholesky(n: usize, d: &mut [f64]) -> Result<(), f64> {
    let d = &mut d[..n * n];
    for i in 0..n {
        let size = d[i * n + i];
        let mut pivot = size;
        for j in 0..i {
            // L_ij = (D_ij − Σ_k<j L_ik L_jk) / L_jj
            let mut sum = d[i * n + j];
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
pub(crate) fn solve_lower<const W: usize>(n: usize, c: usize, l: &[f64], x: &mut [f64]) {
    let (l, x) = (&l[..n * n], &mut x[..n * c]);
    for i in 0..n {
        // X_i = (X_i − Σ_k<i L_ik X_k) / L_ii
        let mut row = [0.0; W];
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
pub(crate) fn gram_row<const W: usize>(n: usize, c: usize, w: &[f64], i: usize, from: usize) -> [f64; W] {
    let w = &w[..n * c];
    let mut row = [0.0; W];
    for k in 0..n {
        for j in from..c {
            row[j] += w[k * c + i] * w[k * c + j];
        }
    }
    row
}

/// `Wᵀ x` with `W` n×c.
#[inline(always)]
pub(crate) fn transpose_mul<const W: usize>(n: usize, c: usize, w: &[f64], x: &[f64]) -> [f64; W] {
    let (w, x) = (&w[..n * c], &x[..n]);
    let mut sum = [0.0; W];
    for k in 0..n {
        for j in 0..c {
            sum[j] += w[k * c + j] * x[k];
        }
    }
    sum
}

/// `t += s W_c x` where `W_c` are the columns of `W` (n×c) from `from` on, as many as `x` has entries, and `s` is a sign.
#[inline(always)]
pub(crate) fn add_columns(
    [n, c]: [usize; 2],
    w: &[f64],
    from: usize,
    x: &[f64],
    sign: f64,
    target: &mut [f64],
) {
    let (w, target) = (&w[..n * c], &mut target[..n]);
    for i in 0..n {
        for (j, value) in x.iter().enumerate() {
            target[i] += w[i * c + from + j] * (sign * value);
        }
    }
}

/// Calls `$kernel::<W>([n, p, g], …)` with constant sizes for a rigid body (6) with a joint of any size, and with
/// run-time sizes for everything else.
macro_rules! with_fixed_dims {
    ($dims:expr, $kernel:ident($($argument:expr),* $(,)?)) => {
        with_fixed_dims!(@table $dims, $kernel, ($($argument),*), 0 1 2 3 4 5 6)
    };
    (@table $dims:expr, $kernel:ident, $arguments:tt, $($rows:literal)*) => {
        match $dims {
            $(
                (6, $rows, 6) => with_fixed_dims!(@call $kernel::<RIGID>, 6, $rows, 6, $arguments),
                (6, $rows, 0) => with_fixed_dims!(@call $kernel::<RIGID>, 6, $rows, 0, $arguments),
            )*
            (1, 6, 0) => with_fixed_dims!(@call $kernel::<RIGID>, 1, 6, 0, $arguments),
            (2, 6, 0) => with_fixed_dims!(@call $kernel::<RIGID>, 2, 6, 0, $arguments),
            (3, 6, 0) => with_fixed_dims!(@call $kernel::<RIGID>, 3, 6, 0, $arguments),
            (4, 6, 0) => with_fixed_dims!(@call $kernel::<RIGID>, 4, 6, 0, $arguments),
            (5, 6, 0) => with_fixed_dims!(@call $kernel::<RIGID>, 5, 6, 0, $arguments),
            (n, p, g) if n.max(p).max(g) <= RIGID / 2 => with_fixed_dims!(@call $kernel::<RIGID>, n, p, g, $arguments),
            (n, p, g) if n.max(p).max(g) <= MEDIUM / 2 => with_fixed_dims!(@call $kernel::<MEDIUM>, n, p, g, $arguments),
            (n, p, g) => with_fixed_dims!(@call $kernel::<LARGEST>, n, p, g, $arguments),
        }
    };
    (@call $kernel:ident::<$width:ident>, $n:expr, $p:expr, $g:expr, ($($argument:expr),*)) => {
        $kernel::<$width>([$n, $p, $g], $($argument),*)
    };
}
pub(crate) use with_fixed_dims;
