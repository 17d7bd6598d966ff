//! Transcendental functions. All crates use these instead of the methods of `f64`.
//!
//! With the feature `libm` (on by default) every function gives the same bits on every platform; without it the
//! standard library is used, which may be a little faster and differs between platforms in the last bit.
//! [`atan2`] and [`atan`] use `+ − × ÷` only and never differ.
//!
//! Angles in radians. No function panics; domain errors give NaN.

pub use crate::arctangent::{atan, atan2, atan2_x2};

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($x:ident),+) -> $out:ty = $libm:ident or $std:ident;)*) => {$(
        $(#[$doc])*
        #[cfg_attr(not(feature = "libm"), expect(clippy::disallowed_methods, reason = "this is the door"))]
        #[inline]
        pub fn $name($($x: f64),+) -> $out {
            #[cfg(feature = "libm")]
            let value = libm::$libm($($x),+);
            #[cfg(not(feature = "libm"))]
            let value = f64::$std($($x),+);
            value
        }
    )*};
}

functions! {
    /// Sine.
    sin(x) -> f64 = sin or sin;
    /// Cosine.
    cos(x) -> f64 = cos or cos;
    /// Tangent.
    tan(x) -> f64 = tan or tan;
    /// Arc sine in [−π/2, π/2]; NaN outside [−1, 1].
    asin(x) -> f64 = asin or asin;
    /// Arc cosine in [0, π]; NaN outside [−1, 1]. Inaccurate near ±1; for angles between vectors use [`atan2`].
    acos(x) -> f64 = acos or acos;
    /// Natural exponential.
    exp(x) -> f64 = exp or exp;
    /// Natural logarithm; NaN below zero.
    ln(x) -> f64 = log or ln;
    /// Sine and cosine of one angle.
    sin_cos(x) -> (f64, f64) = sincos or sin_cos;
    /// `base` raised to `exponent`.
    pow(base, exponent) -> f64 = pow or powf;
}
