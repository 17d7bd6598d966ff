//! Transcendental functions. All crates use these instead of the methods of `f64`.
//!
//! With the feature `libm` (on by default) every function gives the same bits on every platform; without it the
//! standard library is used, which may be a little faster and differs between platforms in the last bit.
//! [`atan2`] and [`atan`] use `+ − × ÷` only and never differ.
//!
//! Angles in radians. No function panics; domain errors give NaN.

pub use crate::arctangent::{atan, atan2, atan2_x2};

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident = $libm:ident or $std:ident;)*) => {$(
        $(#[$doc])*
        #[cfg(feature = "libm")]
        #[inline]
        pub fn $name(x: f64) -> f64 {
            libm::$libm(x)
        }

        $(#[$doc])*
        #[cfg(not(feature = "libm"))]
        #[expect(clippy::disallowed_methods, reason = "this is the door")]
        #[inline]
        pub fn $name(x: f64) -> f64 {
            x.$std()
        }
    )*};
}

unary! {
    /// Sine.
    sin = sin or sin;
    /// Cosine.
    cos = cos or cos;
    /// Tangent.
    tan = tan or tan;
    /// Arc sine in [−π/2, π/2]; NaN outside [−1, 1].
    asin = asin or asin;
    /// Arc cosine in [0, π]; NaN outside [−1, 1]. Inaccurate near ±1; for angles between vectors use [`atan2`].
    acos = acos or acos;
    /// Natural exponential.
    exp = exp or exp;
    /// Natural logarithm; NaN below zero.
    ln = log or ln;
}

/// Sine and cosine of one angle.
#[cfg(feature = "libm")]
#[inline]
pub fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// Sine and cosine of one angle.
#[cfg(not(feature = "libm"))]
#[expect(clippy::disallowed_methods, reason = "this is the door")]
#[inline]
pub fn sin_cos(x: f64) -> (f64, f64) {
    x.sin_cos()
}

/// `base` raised to `exponent`.
#[cfg(feature = "libm")]
#[inline]
pub fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

/// `base` raised to `exponent`.
#[cfg(not(feature = "libm"))]
#[expect(clippy::disallowed_methods, reason = "this is the door")]
#[inline]
pub fn pow(base: f64, exponent: f64) -> f64 {
    base.powf(exponent)
}
