//! Arc tangent by table and polynomial: `+ − × ÷` only, so the same bits on every platform.
//!
//! Let `t = min(|x|,|y|) / max(|x|,|y|)` and `c` one of the nodes 0, ½, 1, chosen by `t`. Then
//! `atan t = atan c + atan r` with `r = (t − c)/(1 + ct)`, `|r| ≤ 5/16`, and `atan r = r + r³ P(r²)`.
//! The octant only changes the constant and the sign: `angle = base ± atan r`, with `base` kept as a sum of two
//! doubles. The nodes are powers of two, so that `min − c·max` is formed without rounding.
//!
//! Cost: one division, no branch on ordinary input. Relative error below 3e-16 (1.35 ulp) everywhere.
//! Zeros, infinities and NaN as in IEEE 754 `atan2`.

use crate::lanes::{F64x2, Scalar};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// `atan(√y)/√y = 1 + y P(y)` on `0 ≤ y ≤ (5/16)²`; relative error 2e-17 (Chebyshev interpolation in 60 digits).
const P: [f64; 9] = [
    -0.33333333333333315,
    0.19999999999966947,
    -0.1428571427666368,
    0.11111110154538738,
    -0.09090858278112693,
    0.07690784035538993,
    -0.06639606651658142,
    0.05597709795477813,
    -0.03583905323943636,
];

/// Up to this `t` the node is 0; a little high, because the node ½ loses accuracy where the angle is small.
const FIRST_NODE_LIMIT: f64 = 5.0 / 16.0;
/// Up to this `t` the node is ½.
const SECOND_NODE_LIMIT: f64 = 3.0 / 4.0;

/// Largest `r²` that [`atan_ratio`] accepts.
pub(crate) const ATAN_RATIO_LIMIT: f64 = FIRST_NODE_LIMIT * FIRST_NODE_LIMIT;

/// `y P(y)`, so that `atan r = r + r · atan_excess(r²)`, for `0 ≤ y ≤ ATAN_RATIO_LIMIT`.
#[inline(always)]
pub(crate) fn atan_excess<T: Scalar>(y: T) -> T {
    let [p0, p1, p2, p3, p4, p5, p6, p7, p8] = P.map(T::splat);
    let y2 = y * y;
    let y4 = y2 * y2;
    let low = (p0 + y * p1) + y2 * (p2 + y * p3);
    let high = (p4 + y * p5) + y2 * (p6 + y * p7);
    y * (low + y4 * (high + y4 * p8))
}

/// `atan(r)/r` as a function of `r²`, up to `ATAN_RATIO_LIMIT`; 1 at zero.
#[inline]
pub(crate) fn atan_ratio(r2: f64) -> f64 {
    1.0 + atan_excess(r2)
}

/// `(base, rest)` for octant `swapped + 2·(x < 0)` and node `c = i/2`; `base + rest` to 107 bits.
const BASE: [[(f64, f64); 3]; 4] = [
    // atan c
    [(0.0, 0.0), (0.4636476090008061, 2.2698777452961687e-17), (FRAC_PI_4, 3.061616997868383e-17)],
    // π/2 − atan c
    [
        (FRAC_PI_2, 6.123233995736766e-17),
        (1.1071487177940904, 9.40447137356638e-17),
        (FRAC_PI_4, 3.061616997868383e-17),
    ],
    // π − atan c
    [
        (PI, 1.2246467991473532e-16),
        (2.677945044588987, 1.5527705369303147e-16),
        (2.356194490192345, 9.184850993605148e-17),
    ],
    // π/2 + atan c
    [
        (FRAC_PI_2, 6.123233995736766e-17),
        (2.0344439357957027, 2.841996617907152e-17),
        (2.356194490192345, 9.184850993605148e-17),
    ],
];

/// Sign of `atan r` in each octant.
const TURN: [f64; 4] = [1.0, -1.0, -1.0, 1.0];

/// Outside this range of `max(|x|, |y|)` both arguments are scaled by the same factor before the division.
const ORDINARY: std::ops::Range<f64> = 1e-290..1e300;
const DOWN: f64 = 1.0 / 18446744073709551616.0;
const UP: f64 = 1.0 / (DOWN * DOWN * DOWN * DOWN);

/// Angle of the point `(x, y)` in [−π, π], signs of zero as in IEEE 754.
#[inline]
pub fn atan2(y: f64, x: f64) -> f64 {
    // the bits of non-negative numbers sort like the numbers, NaN last: selections without branches
    let (y_size, x_size) = (y.abs().to_bits(), x.abs().to_bits());
    let octant = usize::from(y_size > x_size) + 2 * usize::from(x.is_sign_negative());
    let (small, large) = (y_size.min(x_size), y_size.max(x_size));
    let angle = if (ORDINARY.start.to_bits()..ORDINARY.end.to_bits()).contains(&large) {
        octant_angle(f64::from_bits(small), f64::from_bits(large), octant)
    } else {
        unusual_angle(f64::from_bits(small), f64::from_bits(large), octant)
    };
    angle.copysign(y)
}

/// [`atan2`] of two points, with the same bits.
#[inline(always)]
pub fn atan2_x2(y: F64x2, x: F64x2) -> F64x2 {
    let (y_size, x_size) = (y.abs(), x.abs());
    let sum = y_size + x_size;
    // also false for NaN
    let is_ordinary =
        sum.simd_gt(F64x2::splat(2.0 * ORDINARY.start)) & sum.simd_lt(F64x2::splat(ORDINARY.end));
    if !is_ordinary.all() {
        let (y, x) = (y.to_array(), x.to_array());
        return F64x2::new([atan2(y[0], x[0]), atan2(y[1], x[1])]);
    }
    let (small, large) = (y_size.fast_min(x_size), y_size.fast_max(x_size));
    let swapped = y_size.simd_gt(x_size);
    let beyond_first = small.simd_gt(F64x2::splat(FIRST_NODE_LIMIT) * large);
    let beyond_second = small.simd_gt(F64x2::splat(SECOND_NODE_LIMIT) * large);
    let half = F64x2::splat(0.5);
    let c = (beyond_first & half) + (beyond_second & half);
    let r = (small - c * large) / (large + c * small);

    let [swaps, backs] = [swapped, x].map(|m| m.to_bitmask() as usize);
    let [firsts, seconds] = [beyond_first, beyond_second].map(|m| m.to_bitmask() as usize);
    let entry = |i: usize| {
        let bit = |mask: usize| mask >> i & 1;
        BASE[bit(swaps) + 2 * bit(backs)][bit(firsts) + bit(seconds)]
    };
    let (first, second) = (entry(0), entry(1));
    let (base, rest) = (F64x2::new([first.0, second.0]), F64x2::new([first.1, second.1]));

    let excess = atan_excess(r * r);
    let sign = F64x2::splat(-0.0);
    let r = r ^ ((swapped ^ x) & sign);
    (base + (r + (r * excess + rest))) | (y & sign)
}

/// Arc tangent in [−π/2, π/2].
#[inline]
pub fn atan(x: f64) -> f64 {
    atan2(x, 1.0)
}

/// `base ± atan r`; needs `0 ≤ small ≤ large`, `large` an ordinary positive number.
#[inline]
fn octant_angle(small: f64, large: f64, octant: usize) -> f64 {
    let (beyond_first, beyond_second) = (small > FIRST_NODE_LIMIT * large, small > SECOND_NODE_LIMIT * large);
    let node = usize::from(beyond_first) + usize::from(beyond_second);
    let c = if beyond_first { 0.5 } else { 0.0 } + if beyond_second { 0.5 } else { 0.0 };
    let r = (small - c * large) / (large + c * small);
    let (base, rest) = BASE[octant][node];
    let excess = atan_excess(r * r);
    let r = TURN[octant] * r;
    base + (r + (r * excess + rest))
}

/// Zeros, infinities, NaN, and arguments near the ends of the exponent range.
#[cold]
fn unusual_angle(small: f64, large: f64, octant: usize) -> f64 {
    if large.is_nan() {
        f64::NAN
    } else if large == 0.0 {
        BASE[octant][0].0
    } else if large.is_infinite() {
        BASE[octant][if small.is_infinite() { 2 } else { 0 }].0
    } else {
        let scale = if large < 1.0 { UP } else { DOWN };
        octant_angle(small * scale, large * scale, octant)
    }
}
