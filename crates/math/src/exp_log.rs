//! Exponential, logarithm and Jacobians of SO(3).
//!
//! With `t = |φ|`, `x = t²`, `K = [φ]` (docs/maths, rigid body):
//!
//! ```text
//! exp φ  = cos(t/2) + sin(t/2)/t φ                      (quaternion)
//! Jl     = 1 + b K + c K²      b = (1 − cos t)/x        c = (t − sin t)/t³
//! Jl⁻¹   = 1 − K/2 + k K²      k = (1 − u cot u)/x      u = t/2
//! Jr(φ)  = Jl(−φ) = Jlᵀ
//! ```
//!
//! `log(exp(ε) R) ≈ φ + Jl⁻¹(φ) ε` and `log(R exp(ε)) ≈ φ + Jr⁻¹(φ) ε`.
//!
//! `k` is evaluated as `k = 2/(4π² − x) + Σ_{n≥2} 2/(4π²n² − x)`, the pole expansion of the cotangent: every term is
//! positive, so nothing cancels, and the sum is a polynomial in `x` up to and a little beyond `t = π`.
//! Small rotations need neither a square root nor a transcendental function.
//!
//! Rotation vectors in radians. Relative accuracy 1e-14 or better from 0 through π; `b`, `c`, `k` and their rates hold
//! for any `t`, except that `Jl⁻¹` has a pole at `t = 2π`. At `t = π` the sign of a logarithm is arbitrary.

use crate::arctangent::{ATAN_RATIO_LIMIT, atan_ratio, atan2};
use crate::{lanes::Scalar, ops, spatial::skew, sym3::Sym3};
use glam::{DMat3, DQuat, DVec3};

/// Below this `t²` (1 rad) power series are used; at the limit their truncation error is below 1e-16.
pub(crate) const SERIES_LIMIT: f64 = 1.0;

/// Below this `t²` (a little over π) `k` is a pole and a polynomial.
pub(crate) const POLE_LIMIT: f64 = 10.0;

/// Unit quaternion of the rotation vector `phi`. |q| = 1 to 4e-16. `w < 0` where `t > π`.
#[inline]
pub fn exp_so3(phi: DVec3) -> DQuat {
    let x = phi.length_squared();
    let (w, scale) = if x < SERIES_LIMIT {
        let y = 0.25 * x;
        (series(y, &COS), 0.5 * series(y, &SINC))
    } else {
        let t = x.sqrt();
        let (s, c) = ops::sin_cos(0.5 * t);
        (c, s / t)
    };
    DQuat::from_xyzw(scale * phi.x, scale * phi.y, scale * phi.z, w)
}

/// Rotation matrix of the rotation vector `phi`.
#[inline]
pub fn exp_so3_mat(phi: DVec3) -> DMat3 {
    quat_to_mat3(exp_so3(phi))
}

/// Rotation vector of a unit quaternion, `|φ| ≤ π`.
///
/// `φ = 2 atan2(|q_v|, w)/|q_v| q_v` after making `w ≥ 0`. The length of `q` cancels.
#[inline]
pub fn log_so3(q: DQuat) -> DVec3 {
    let v = q.xyz();
    let n2 = v.length_squared();
    if n2 <= ATAN_RATIO_LIMIT * (q.w * q.w) {
        let inverse_w = 1.0 / q.w;
        return v * (2.0 * inverse_w * atan_ratio(n2 * (inverse_w * inverse_w)));
    }
    let n = n2.sqrt();
    let angle = atan2(n, q.w.abs());
    v * ((2.0 * angle / n).copysign(if q.w < 0.0 { -1.0 } else { 1.0 }))
}

/// Rotation vector of a rotation matrix, `|φ| ≤ π`.
#[inline]
pub fn log_so3_mat(rotation: &DMat3) -> DVec3 {
    log_so3(mat3_to_quat(rotation))
}

/// Unit quaternion of a rotation matrix by Shepperd's rule: the root of the largest of `tr, R₀₀, R₁₁, R₂₂`, the
/// others by division. `w ≥ 0`.
#[inline]
pub fn mat3_to_quat(rotation: &DMat3) -> DQuat {
    let (x, y, z) = (rotation.x_axis, rotation.y_axis, rotation.z_axis);
    let trace = x.x + y.y + z.z;
    let largest = trace.max(x.x).max(y.y).max(z.z);
    // each branch holds 4·component·(x, y, z, w)
    let q = if largest <= trace {
        DQuat::from_xyzw(y.z - z.y, z.x - x.z, x.y - y.x, 1.0 + trace)
    } else if largest <= x.x {
        DQuat::from_xyzw(1.0 + x.x - y.y - z.z, x.y + y.x, x.z + z.x, y.z - z.y)
    } else if largest <= y.y {
        DQuat::from_xyzw(x.y + y.x, 1.0 - x.x + y.y - z.z, y.z + z.y, z.x - x.z)
    } else {
        DQuat::from_xyzw(x.z + z.x, y.z + z.y, 1.0 - x.x - y.y + z.z, x.y - y.x)
    };
    let q = normalize_quat(q);
    if q.w < 0.0 { -q } else { q }
}

/// Rotation matrix of a unit quaternion (27 flops, no check).
#[inline]
pub fn quat_to_mat3(q: DQuat) -> DMat3 {
    DMat3::from_cols_array_2d(&rotation_columns([q.x, q.y, q.z, q.w]))
}

/// Columns of the rotation matrix of the unit quaternion `x, y, z, w`.
#[inline(always)]
pub(crate) fn rotation_columns<T: Scalar>([x, y, z, w]: [T; 4]) -> [[T; 3]; 3] {
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (xy, xz, yz) = (x * y2, x * z2, y * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    let one = T::splat(1.0);
    [
        [one - (yy + zz), xy + wz, xz - wy],
        [xy - wz, one - (xx + zz), yz + wx],
        [xz + wy, yz - wx, one - (xx + yy)],
    ]
}

/// Within this of 1, `|q|²` needs no square root: the error `3/8 (|q|²−1)²` is below 4e-17.
pub(crate) const NEARLY_UNIT: f64 = 1e-8;

/// `q/|q|`; the sign is kept. Within 1e-8 of unit length by one multiplication, error `3/8 (|q|²−1)² < 4e-17`.
/// A zero or non-finite quaternion gives NaN.
#[inline]
pub fn normalize_quat(q: DQuat) -> DQuat {
    let square = q.length_squared();
    let excess = square - 1.0;
    if excess.abs() < NEARLY_UNIT { q * (1.0 - 0.5 * excess) } else { q / square.sqrt() }
}

/// The Cayley map `(1, φ/2)/√(1 + |φ|²/4)`: agrees with `exp φ` to third order.
#[inline]
pub fn cayley(phi: DVec3) -> DQuat {
    let a = 0.5 * phi;
    let scale = 1.0 / (1.0 + a.length_squared()).sqrt();
    DQuat::from_xyzw(scale * a.x, scale * a.y, scale * a.z, scale)
}

/// `Jl(φ) = 1 + b K + c K²`.
#[inline]
pub fn left_jacobian(phi: DVec3) -> DMat3 {
    let (_, b, c) = exp_coefficients(phi.length_squared());
    skew_polynomial(phi, b, c)
}

/// `Jr(φ) = Jl(−φ)`.
#[inline]
pub fn right_jacobian(phi: DVec3) -> DMat3 {
    left_jacobian(-phi)
}

/// `Jl⁻¹(φ) = 1 − K/2 + k K²`; regular through `t = π`.
#[inline]
pub fn left_jacobian_inverse(phi: DVec3) -> DMat3 {
    skew_polynomial(phi, -0.5, inverse_coefficient(phi.length_squared()))
}

/// `Jr⁻¹(φ) = Jl⁻¹(−φ)`.
#[inline]
pub fn right_jacobian_inverse(phi: DVec3) -> DMat3 {
    left_jacobian_inverse(-phi)
}

/// `S = ½(Jl⁻¹ + Jl⁻ᵀ) = 1 + k K²`: eigenvalues 1, `u cot u`, `u cot u`, so positive up to `t = π`.
#[inline]
pub fn left_jacobian_inverse_sym(phi: DVec3) -> Sym3 {
    let x = phi.length_squared();
    let k = inverse_coefficient(x);
    (Sym3::IDENTITY * (1.0 - k * x)).add_outer(k, phi)
}

/// `d/dt Jl(φ(t))` with `φ̇ = phi_dot`: `b[φ̇] + b₁(φ·φ̇)K + c(K[φ̇] + [φ̇]K) + c₁(φ·φ̇)K²`.
#[inline]
pub fn left_jacobian_rate(phi: DVec3, phi_dot: DVec3) -> DMat3 {
    let x = phi.length_squared();
    let (a, b, c) = exp_coefficients(x);
    // b₁ = (db/dt)/t = (a − 2b)/x, c₁ = (dc/dt)/t = (b − 3c)/x
    let (b1, c1) = if x < SERIES_LIMIT {
        (series(x, &VERSINE_RATE), series(x, &EXCESS_RATE))
    } else {
        ((a - 2.0 * b) / x, (b - 3.0 * c) / x)
    };
    let s = phi.dot(phi_dot);
    skew(b * phi_dot + (b1 * s) * phi) + skew_squared_rate(phi, phi_dot, c, c1)
}

/// `d/dt Jl⁻¹(φ(t))` with `φ̇ = phi_dot`: `−½[φ̇] + k₁(φ·φ̇)K² + k(K[φ̇] + [φ̇]K)`.
#[inline]
pub fn left_jacobian_inverse_rate(phi: DVec3, phi_dot: DVec3) -> DMat3 {
    let x = phi.length_squared();
    skew(-0.5 * phi_dot)
        + skew_squared_rate(phi, phi_dot, inverse_coefficient(x), inverse_coefficient_rate(x))
}

/// `1 + p K + q K²`, with `K² = φφᵀ − x 1`.
#[inline]
fn skew_polynomial(phi: DVec3, p: f64, q: f64) -> DMat3 {
    let (a, v) = (p * phi, q * phi);
    let one = 1.0 - v.dot(phi);
    DMat3::from_cols(
        DVec3::new(one + v.x * phi.x, v.y * phi.x + a.z, v.z * phi.x - a.y),
        DVec3::new(v.x * phi.y - a.z, one + v.y * phi.y, v.z * phi.y + a.x),
        DVec3::new(v.x * phi.z + a.y, v.y * phi.z - a.x, one + v.z * phi.z),
    )
}

/// `d/dt (q K²) = q₁(φ·φ̇)K² + q(K[φ̇] + [φ̇]K)`, with `q₁ = (dq/dt)/t` and `K[φ̇] = φ̇φᵀ − (φ·φ̇)1`.
#[inline]
fn skew_squared_rate(phi: DVec3, phi_dot: DVec3, q: f64, q1: f64) -> DMat3 {
    let s = phi.dot(phi_dot);
    let diagonal = -s * (2.0 * q + q1 * phi.length_squared());
    let sum = (Sym3::IDENTITY * diagonal).add_outer(q1 * s, phi) + Sym3::outer_pair(phi, phi_dot) * q;
    sum.to_mat3()
}

/// `a = sin t/t`, `b = (1 − cos t)/x`, `c = (t − sin t)/t³` as functions of `x = t²`.
#[inline]
fn exp_coefficients(x: f64) -> (f64, f64, f64) {
    if x < SERIES_LIMIT {
        let half = series(0.25 * x, &SINC);
        let c = series(x, &EXCESS);
        (1.0 - x * c, 0.5 * half * half, c)
    } else {
        let t = x.sqrt();
        let (s, c) = ops::sin_cos(0.5 * t);
        let a = 2.0 * s * c / t;
        (a, 2.0 * s * s / x, (1.0 - a) / x)
    }
}

/// `k = (1 − u cot u)/x`, `u = t/2`, as a function of `x = t²`.
#[inline]
fn inverse_coefficient(x: f64) -> f64 {
    if x < POLE_LIMIT {
        return 2.0 / (FOUR_PI_SQUARED - x) + series(x, &POLES);
    }
    let u = 0.5 * x.sqrt();
    let (s, c) = ops::sin_cos(u);
    (1.0 - u * c / s) / x
}

/// `k₁ = (dk/dt)/t = 2 dk/dx`.
#[inline]
fn inverse_coefficient_rate(x: f64) -> f64 {
    if x < POLE_LIMIT {
        let pole = 2.0 / (FOUR_PI_SQUARED - x);
        return pole * pole + series(x, &POLES_RATE);
    }
    let t = x.sqrt();
    let u = 0.5 * t;
    let (s, c) = ops::sin_cos(u);
    (u / (s * s) - c / s) / (2.0 * t * x) - 2.0 * (1.0 - u * c / s) / (x * x)
}

/// `Σ coefficients[n] xⁿ`, even and odd powers apart to shorten the chain of dependent operations.
#[inline(always)]
pub(crate) fn series<T: Scalar, const N: usize>(x: T, coefficients: &[f64; N]) -> T {
    let x2 = x * x;
    let (mut first, mut second) = (T::splat(coefficients[N - 1]), T::splat(coefficients[N - 2]));
    for n in (0..N - 2).rev() {
        (first, second) = (second, first * x2 + T::splat(coefficients[n]));
    }
    second + x * first
}

/// `(−1)ⁿ/(2n + offset)!`.
const fn alternating<const N: usize>(offset: usize) -> [f64; N] {
    let mut out = [0.0; N];
    let mut n = 0;
    while n < N {
        let (mut factorial, mut i) = (1.0, 2);
        while i <= 2 * n + offset {
            factorial *= i as f64;
            i += 1;
        }
        out[n] = if n % 2 == 0 { 1.0 / factorial } else { -1.0 / factorial };
        n += 1;
    }
    out
}

/// Coefficients of `2 d/dx` of a power series in `x`.
const fn doubled_derivative<const N: usize, const M: usize>(c: [f64; N]) -> [f64; M] {
    let mut out = [0.0; M];
    let mut n = 0;
    while n < M {
        out[n] = 2.0 * (n + 1) as f64 * c[n + 1];
        n += 1;
    }
    out
}

/// `cos √y`, `y ≤ 1/4`.
pub(crate) const COS: [f64; 8] = alternating(0);
/// `sin √y / √y`, `y ≤ 1/4`.
pub(crate) const SINC: [f64; 7] = alternating(1);
/// `c`, `x ≤ 1`.
const EXCESS: [f64; 9] = alternating(3);
/// `b₁ = 2 db/dx`, `x ≤ 1`, from `b = Σ (−x)ⁿ/(2n + 2)!`.
const VERSINE_RATE: [f64; 9] = doubled_derivative(alternating::<10>(2));
/// `c₁ = 2 dc/dx`, `x ≤ 1`.
const EXCESS_RATE: [f64; 9] = doubled_derivative(alternating::<10>(3));

pub(crate) const FOUR_PI_SQUARED: f64 = 39.47841760435743;
/// `Σ_{n≥2} 2/(4π²n² − x)` on `0 ≤ x ≤ 10`; error 5e-18 of `k`, and of its derivative 4e-16 (Chebyshev
/// interpolation in 60 digits).
pub(crate) const POLES: [f64; 10] = [
    0.03267274151216445,
    0.00010564110705334769,
    5.637370282854016e-07,
    3.3571419295707917e-09,
    2.0742871019546117e-11,
    1.3000551993185672e-13,
    8.194481564660378e-16,
    5.201836336916101e-18,
    3.098234346624243e-20,
    2.8697055422893704e-22,
];
const POLES_RATE: [f64; 9] = doubled_derivative(POLES);
