//! Symmetric eigenvalues and signed singular values of 3×3 matrices, by Jacobi rotations.
//!
//! Eigen: `S = Q diag(d) Qᵀ`, `d` ascending, `det Q = +1`. SVD: `F = U diag(s) Vᵀ` with proper rotations,
//! `s₁ ≥ s₂ ≥ |s₃|`, `sign s₃ = sign det F`: inverted input puts the minus sign on the smallest stretch
//! (docs/maths; the convention of invertible elements, ITF04).
//!
//! One-sided Jacobi keeps small singular values accurate relative to themselves, which the eigenvectors of `FᵀF` do
//! not. Typically 3–5 sweeps of three rotations. Any finite input works (rank 0, 1, 2, repeated values); NaN gives NaN.

use crate::sym3::Sym3;
use glam::{DMat3, DVec3};

/// Largest number of Jacobi sweeps; convergence is quadratic and takes about five.
const MAX_SWEEPS: usize = 30;

/// Columns whose squared cosine is below this are orthogonal; rounding alone leaves about half of it.
const ORTHOGONAL: f64 = 1e-31;

/// Entries in this range can be multiplied four at a time; others are scaled first.
const SAFE: std::ops::Range<f64> = 1e-60..1e60;

/// 2²⁰⁰, an exact scale that is smaller than the safe range.
const SCALE: f64 = f64::from_bits((1023 + 200) << 52);

/// A column shorter than this fraction of the largest stretch has no usable direction.
const NO_DIRECTION: f64 = 1e-12;

/// Eigenvalues in ascending order and the matrix whose columns are the eigenvectors, a proper rotation.
pub fn symmetric_eigen(s: Sym3) -> (DVec3, DMat3) {
    if let Some(scale) = safe_scale(s.max_abs()) {
        let (d, q) = symmetric_eigen(s * scale);
        return (d / scale, q);
    }
    let mut a = s.to_mat3().to_cols_array_2d();
    let mut q = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            if a[i][j] * a[i][j] <= ORTHOGONAL * (a[i][i] * a[j][j]).abs() {
                continue;
            }
            rotated = true;
            let (cosine, sine) = jacobi_rotation(a[i][i], a[j][j], a[i][j]);
            // A ← GᵀAG on columns, then on rows; Q ← QG
            rotate(&mut a, i, j, cosine, sine);
            for row in &mut a {
                (row[i], row[j]) = (cosine * row[i] - sine * row[j], sine * row[i] + cosine * row[j]);
            }
            (a[i][j], a[j][i]) = (0.0, 0.0);
            rotate(&mut q, i, j, cosine, sine);
        }
        if !rotated {
            break;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| a[i][i].total_cmp(&a[j][j]));
    let column = |k: usize| DVec3::from(q[order[k]]);
    let vectors = DMat3::from_cols(column(0), column(1), column(0).cross(column(1)));
    (DVec3::from(order.map(|i| a[i][i])), vectors)
}

/// Singular values with proper rotations; inverted matrices have a negative smallest stretch.
///
/// `(U, s, V)` with `F = U diag(s) Vᵀ`, `det U = det V = 1`, `s₁ ≥ s₂ ≥ |s₃|`, `sign s₃ = sign det F`.
pub fn signed_svd(f: DMat3) -> (DMat3, DVec3, DMat3) {
    if let Some(scale) = safe_scale(f.to_cols_array().iter().fold(0.0, |m: f64, a| m.max(a.abs()))) {
        let (u, s, v) = signed_svd(f * scale);
        return (u, s / scale, v);
    }
    // one-sided Jacobi: A = F V with orthogonal columns
    let mut a = f.to_cols_array_2d();
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let (x, y) = (DVec3::from(a[i]), DVec3::from(a[j]));
            let (xx, yy, xy) = (x.length_squared(), y.length_squared(), x.dot(y));
            if xy * xy <= ORTHOGONAL * (xx * yy) {
                continue;
            }
            rotated = true;
            let (cosine, sine) = jacobi_rotation(xx, yy, xy);
            rotate(&mut a, i, j, cosine, sine);
            rotate(&mut v, i, j, cosine, sine);
        }
        if !rotated {
            break;
        }
    }
    let mut order = [0, 1, 2];
    let length = |i: usize| DVec3::from(a[i]).length_squared();
    order.sort_by(|&i, &j| length(j).total_cmp(&length(i)));
    let [a1, a2, mut a3] = order.map(|i| DVec3::from(a[i]));
    let [v1, v2, mut v3] = order.map(|i| DVec3::from(v[i]));
    if v1.cross(v2).dot(v3) < 0.0 {
        (a3, v3) = (-a3, -v3);
    }
    let (u, s) = orthonormal_factor(a1, a2, a3);
    (u, s, DMat3::from_cols(v1, v2, v3))
}

/// A power of two that brings entries up to `size` closer to the safe range, if they are outside.
fn safe_scale(size: f64) -> Option<f64> {
    let outside = size > 0.0 && size.is_finite() && !SAFE.contains(&size);
    outside.then_some(if size < 1.0 { SCALE } else { 1.0 / SCALE })
}

/// `U` and `s` with `(a₁ a₂ a₃) = U diag(s)`, for orthogonal columns sorted by length; missing directions are chosen.
fn orthonormal_factor(a1: DVec3, a2: DVec3, a3: DVec3) -> (DMat3, DVec3) {
    let s1 = a1.length();
    let u1 = if s1 > 0.0 { a1 / s1 } else { DVec3::X };
    let across = a2 - u1 * u1.dot(a2);
    let u2 = if across.length() > NO_DIRECTION * s1 {
        // twice is enough: removes what rounding left along u₁
        let unit = across.normalize();
        (unit - u1 * u1.dot(unit)).normalize()
    } else {
        u1.any_orthonormal_vector()
    };
    let u3 = u1.cross(u2);
    (DMat3::from_cols(u1, u2, u3), DVec3::new(s1, u2.dot(a2), u3.dot(a3)))
}

/// Cosine and sine of the smaller rotation that diagonalizes `[[xx, xy], [xy, yy]]`, `xy ≠ 0`.
#[inline]
fn jacobi_rotation(xx: f64, yy: f64, xy: f64) -> (f64, f64) {
    let (gap, twice) = (yy - xx, 2.0 * xy);
    let tangent = twice.copysign(twice * gap) / (gap.abs() + (gap * gap + twice * twice).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    (cosine, cosine * tangent)
}

/// Columns `(i, j)` of `m` times the plane rotation.
#[inline]
fn rotate(m: &mut [[f64; 3]; 3], i: usize, j: usize, cosine: f64, sine: f64) {
    for k in 0..3 {
        (m[i][k], m[j][k]) = (cosine * m[i][k] - sine * m[j][k], sine * m[i][k] + cosine * m[j][k]);
    }
}
