//! Largest entries of flat vectors. Linear cost.

/// The largest absolute value; NaN if one is.
pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m: f64, v| if v.is_nan() { f64::NAN } else { larger(m, v.abs()) })
}

/// The larger of two, and the first one if it is NaN.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}
