//! Sines and cosines of eight angles at once, with the bits of `libm::sincos`.
//!
//! With `n` the nearest multiple of π/2, `x = n π/2 + y + y'`, and the polynomials of fdlibm on `|y| ≤ π/4`. Between ±5π/4, but for
//! the neighbourhoods of ±π/2 and ±π, where `x − n π/2` cancels, `n` needs two comparisons and `y` one rounding: no branch, so that a
//! compiler puts one angle in each SIMD lane. With any other angle among them, all call `libm`. Radians; nothing fails.

use crate::ops::sin_cos;

/// Ends of the cases `n` = 0, ±1, ±2: π/4, 3π/4 and 5π/4, rounded up as in fdlibm.
const ENDS: [f64; 3] = [
    f64::from_bits(0x3fe9_21fc_0000_0000),
    f64::from_bits(0x4002_d97d_0000_0000),
    f64::from_bits(0x400f_6a7b_0000_0000),
];
/// Neighbourhoods of π/2 and π.
const CANCELS: [[f64; 2]; 2] = [
    [f64::from_bits(0x3ff9_21fb_0000_0000), f64::from_bits(0x3ff9_21fc_0000_0000)],
    [f64::from_bits(0x4009_21fb_0000_0000), f64::from_bits(0x4009_21fc_0000_0000)],
];
/// Smaller angles are their sines.
const TINY: f64 = f64::from_bits(0x3e46_a09e_0000_0000);

/// π/2: its first 33 bits, and the rest.
const HALF_PI: [f64; 2] = [1.5707963267341256, 6.077100506506192e-11];

/// `sin y = y + y³ S(y²)`, `cos y = 1 − y²/2 + y⁴ C(y²)`.
const S: [f64; 6] = [
    -0.16666666666666632,
    0.00833333333332249,
    -0.0001984126982985795,
    2.7557313707070068e-06,
    -2.5050760253406863e-08,
    1.58969099521155e-10,
];
const C: [f64; 6] = [
    0.0416666666666666,
    -0.001388888888887411,
    2.480158728947673e-05,
    -2.7557314351390663e-07,
    2.087572321298175e-09,
    -1.1359647557788195e-11,
];

/// Sines and cosines of eight angles, with the bits of [`crate::ops::sin_cos`]. Fast if [`crate::ops`] uses `libm` and the caller is compiled for
/// wide registers.
#[inline(always)]
pub fn sin_cos_x8(angles: &[f64; 8]) -> [[f64; 8]; 2] {
    let mut near = cfg!(feature = "libm");
    for k in 0..8 {
        near &= is_near(angles[k].abs());
    }
    let (mut sines, mut cosines) = ([0.0; 8], [0.0; 8]);
    if near {
        for k in 0..8 {
            (sines[k], cosines[k]) = near_sin_cos(angles[k]);
        }
    } else {
        for k in 0..8 {
            (sines[k], cosines[k]) = sin_cos(angles[k]);
        }
    }
    [sines, cosines]
}

/// Whether one rounding is enough; false for NaN.
#[inline(always)]
fn is_near(size: f64) -> bool {
    let cancels = |[from, to]: [f64; 2]| (size >= from) & (size < to);
    (size < ENDS[2]) & !cancels(CANCELS[0]) & !cancels(CANCELS[1])
}

/// Sine and cosine of an angle that is near.
#[inline(always)]
fn near_sin_cos(x: f64) -> (f64, f64) {
    let size = x.abs();
    let (first, second) = (size < ENDS[0], size < ENDS[1]);
    let turns = if first { 0.0 } else { 1.0 } + if second { 0.0 } else { 1.0 };
    let n = f64::copysign(turns, x);
    let rest = n * HALF_PI[1];
    let z = x - n * HALF_PI[0];
    let y = z - rest;
    let tail = (z - y) - rest;

    let y2 = y * y;
    let y4 = y2 * y2;
    let r = S[1] + y2 * (S[2] + y2 * S[3]) + y2 * y4 * (S[4] + y2 * S[5]);
    let y3 = y2 * y;
    let with_tail = y - ((y2 * (0.5 * tail - y3 * r) - tail) - y3 * S[0]);
    let alone = y + y3 * (S[0] + y2 * r);
    let sine = if first { alone } else { with_tail };
    let sine = if size < TINY { x } else { sine };

    let r = y2 * (C[0] + y2 * (C[1] + y2 * C[2])) + y4 * y4 * (C[3] + y2 * (C[4] + y2 * C[5]));
    let half = 0.5 * y2;
    let most = 1.0 - half;
    let cosine = most + (((1.0 - most) - half) + (y2 * r - y * tail));

    // a quarter turn to either side, or half a turn
    let quarter = second & !first;
    let sign = f64::copysign(1.0, x);
    (
        if first {
            sine
        } else if quarter {
            cosine * sign
        } else {
            -sine
        },
        if first {
            cosine
        } else if quarter {
            sine * -sign
        } else {
            -cosine
        },
    )
}
