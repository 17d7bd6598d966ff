//! Arc tangent by table and polynomial: `+ − × ÷` only, so the same bits on every platform.
//!
//! Let `t = min(|x|,|y|) / max(|x|,|y|)` and `c ∈ {0, ¼, ½, ¾, 1}` the node nearest to `t`. Then
//! `atan t = atan c + atan r` with `r = (t − c)/(1 + ct)`, `|r| ≤ 1/8`, and `atan r = r + r³ P(r²)`.
//! The octant only changes the constant and the sign: `angle = base ± atan r`, with `base` kept as a sum of two
//! doubles. `t − c` is formed without rounding error by splitting `max` into two halves of 26 bits.
//!
//! Cost: one division, no data-dependent branch on ordinary input. Relative error below 3e-16 (1.35 ulp) everywhere.
//! Zeros, infinities and NaN as in IEEE 754 `atan2`.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// `atan(√y)/√y = 1 + y P(y)` on `0 ≤ y ≤ 1/64`; relative error 3e-19 (Chebyshev interpolation in 60 digits).
const P: [f64; 7] = [
    -0.3333333333333333,
    0.19999999999999024,
    -0.14285714284714623,
    0.1111111072668161,
    -0.0909083861491049,
    0.07685661588587737,
    -0.06354310436757105,
];

/// Largest `r²` that [`atan_ratio`] accepts.
pub(crate) const ATAN_RATIO_LIMIT: f64 = 1.0 / 64.0;

/// `y P(y)`, so that `atan r = r + r · atan_excess(r²)`, for `0 ≤ y ≤ 1/64`.
#[inline]
fn atan_excess(y: f64) -> f64 {
    let y2 = y * y;
    let low = (P[0] + y * P[1]) + y2 * (P[2] + y * P[3]);
    let high = (P[4] + y * P[5]) + y2 * P[6];
    y * (low + (y2 * y2) * high)
}

/// `atan(r)/r` as a function of `r²`, for `r² ≤ 1/64`; 1 at zero.
#[inline]
pub(crate) fn atan_ratio(r2: f64) -> f64 {
    1.0 + atan_excess(r2)
}

/// `(base, rest)` for octant `swapped + 2·(x < 0)` and node `c = i/4`; `base + rest` to 107 bits.
const BASE: [[(f64, f64); 5]; 4] = [
    // atan c
    [
        (0.0, 0.0),
        (0.24497866312686414, 1.0698755618734451e-17),
        (0.4636476090008061, 2.2698777452961687e-17),
        (0.6435011087932844, 1.5834785051444286e-17),
        (FRAC_PI_4, 3.061616997868383e-17),
    ],
    // π/2 − atan c
    [
        (FRAC_PI_2, 6.123233995736766e-17),
        (1.3258176636680326, -8.824429373951136e-17),
        (1.1071487177940904, 9.40447137356638e-17),
        (0.9272952180016122, 4.5397554905923374e-17),
        (FRAC_PI_4, 3.061616997868383e-17),
    ],
    // π − atan c
    [
        (PI, 1.2246467991473532e-16),
        (2.896613990462929, 1.950326511428876e-16),
        (2.677945044588987, 1.5527705369303147e-16),
        (2.498091544796509, -4.392407599224622e-18),
        (2.356194490192345, 9.184850993605148e-17),
    ],
    // π/2 + atan c
    [
        (FRAC_PI_2, 6.123233995736766e-17),
        (1.8157749899217608, -1.133563127078463e-17),
        (2.0344439357957027, 2.841996617907152e-17),
        (2.214297435588181, 1.880894274713276e-16),
        (2.356194490192345, 9.184850993605148e-17),
    ],
];

/// Sign of `atan r` in each octant.
const TURN: [f64; 4] = [1.0, -1.0, -1.0, 1.0];

/// Beyond these bounds on `max(|x|, |y|)` the arguments are scaled (both alike) before the division.
const LARGE: f64 = 1e300;
const SMALL: f64 = 1e-290;
const DOWN: f64 = 1.0 / 1.8446744073709552e19;
const UP: f64 = 3.402823669209385e38 * 3.402823669209385e38;

/// Angle of the point `(x, y)` in (−π, π], signs of zero as in IEEE 754.
#[inline]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (y_size, x_size) = (y.abs(), x.abs());
    let largest = if y_size > x_size { y_size } else { x_size };
    let octant = usize::from(y_size > x_size) + 2 * usize::from(x.is_sign_negative());
    let angle = if (SMALL..LARGE).contains(&largest) && y_size < LARGE {
        octant_angle(if y_size > x_size { x_size } else { y_size }, largest, octant)
    } else {
        unusual_angle(y_size, x_size, octant)
    };
    angle.copysign(y)
}

/// Arc tangent in [−π/2, π/2].
#[inline]
pub fn atan(x: f64) -> f64 {
    atan2(x, 1.0)
}

/// `base ± atan(small/large − node)`; needs `0 ≤ small ≤ large`, `large` an ordinary positive number.
#[inline]
fn octant_angle(small: f64, large: f64, octant: usize) -> f64 {
    let eight = 8.0 * small;
    let node = usize::from(eight > large)
        + usize::from(eight > 3.0 * large)
        + usize::from(eight > 5.0 * large)
        + usize::from(eight > 7.0 * large);
    let c = 0.25 * node as f64;
    // small − c·large, exact up to its last rounding: c·high and c·low are exact
    let high = f64::from_bits(large.to_bits() & !0x7ff_ffff);
    let low = large - high;
    let r = ((small - c * high) - c * low) / (large + c * small);
    let (base, rest) = BASE[octant][node];
    let r = TURN[octant] * r;
    base + (r + (r * atan_excess(r * r) + rest))
}

/// Zeros, infinities, NaN, and arguments near the ends of the exponent range.
#[cold]
fn unusual_angle(y_size: f64, x_size: f64, octant: usize) -> f64 {
    if y_size.is_nan() || x_size.is_nan() {
        return f64::NAN;
    }
    let (small, large) = if y_size > x_size { (x_size, y_size) } else { (y_size, x_size) };
    if large == 0.0 {
        return BASE[octant][0].0;
    }
    if large.is_infinite() {
        return BASE[octant][if small.is_infinite() { 4 } else { 0 }].0;
    }
    let scale = if large < SMALL { UP } else { DOWN };
    octant_angle(small * scale, large * scale, octant)
}
