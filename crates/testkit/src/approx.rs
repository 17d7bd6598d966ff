//! Closeness of numbers, vectors, quaternions, matrices and slices, and assertions that print both values.
//!
//! Two values are close when their largest component difference is at most `tol · max(1, largest component)`:
//! absolute near zero, relative for large values. A NaN is close to nothing.

use glam::{DMat3, DQuat, DVec3};

/// A value made of numbers that can be compared component by component.
pub trait Close {
    /// Calls `visit` with every pair of matching components; false when the shapes differ.
    fn components(&self, other: &Self, visit: &mut dyn FnMut(f64, f64)) -> bool;
}

impl Close for f64 {
    fn components(&self, other: &Self, visit: &mut dyn FnMut(f64, f64)) -> bool {
        visit(*self, *other);
        true
    }
}

impl<T: Close> Close for [T] {
    fn components(&self, other: &Self, visit: &mut dyn FnMut(f64, f64)) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(a, b)| a.components(b, visit))
    }
}

impl<T: Close> Close for Vec<T> {
    fn components(&self, other: &Self, visit: &mut dyn FnMut(f64, f64)) -> bool {
        self.as_slice().components(other.as_slice(), visit)
    }
}

impl<T: Close, const N: usize> Close for [T; N] {
    fn components(&self, other: &Self, visit: &mut dyn FnMut(f64, f64)) -> bool {
        self.as_slice().components(other.as_slice(), visit)
    }
}

impl<T: Close + ?Sized> Close for &T {
    fn components(&self, other: &Self, visit: &mut dyn FnMut(f64, f64)) -> bool {
        (**self).components(&**other, visit)
    }
}

impl Close for DVec3 {
    fn components(&self, other: &Self, visit: &mut dyn FnMut(f64, f64)) -> bool {
        self.to_array().components(&other.to_array(), visit)
    }
}

/// Component by component: `q` and `−q` are different, although they are the same rotation.
impl Close for DQuat {
    fn components(&self, other: &Self, visit: &mut dyn FnMut(f64, f64)) -> bool {
        self.to_array().components(&other.to_array(), visit)
    }
}

impl Close for DMat3 {
    fn components(&self, other: &Self, visit: &mut dyn FnMut(f64, f64)) -> bool {
        self.to_cols_array().components(&other.to_cols_array(), visit)
    }
}

/// Largest component difference; infinite when the shapes differ or a component is NaN.
pub fn worst_difference<T: Close + ?Sized>(a: &T, b: &T) -> f64 {
    measure(a, b).0
}

/// Largest component difference divided by `max(1, largest component of either)`.
pub fn scaled_difference<T: Close + ?Sized>(a: &T, b: &T) -> f64 {
    let (difference, scale) = measure(a, b);
    difference / scale.max(1.0)
}

fn measure<T: Close + ?Sized>(a: &T, b: &T) -> (f64, f64) {
    let (mut difference, mut scale) = (0.0f64, 0.0f64);
    let same_shape = a.components(b, &mut |x, y| {
        let gap = (x - y).abs();
        difference = if gap.is_nan() { f64::INFINITY } else { difference.max(gap) };
        scale = if gap.is_nan() { scale } else { scale.max(x.abs()).max(y.abs()) };
    });
    (if same_shape { difference } else { f64::INFINITY }, scale)
}

/// Asserts that two numbers, vectors, quaternions, matrices or slices differ by at most
/// `tol · max(1, largest component)`; prints both values otherwise.
///
/// ```
/// sinew_testkit::assert_close!(1.0, 1.0 + 1e-13, 1e-12);
/// sinew_testkit::assert_close!(glam::DVec3::X, glam::DVec3::X, 0.0, "axis of {}", "a hinge");
/// ```
#[macro_export]
macro_rules! assert_close {
    ($left:expr, $right:expr, $tol:expr $(,)?) => {
        $crate::assert_close!($left, $right, $tol, "values differ")
    };
    ($left:expr, $right:expr, $tol:expr, $($message:tt)+) => {{
        let (left, right, tol) = (&$left, &$right, $tol);
        let difference = $crate::scaled_difference(left, right);
        assert!(
            difference <= tol,
            "{}: scaled difference {difference:e} > {tol:e}\n  left: {left:?}\n right: {right:?}",
            format_args!($($message)+),
        );
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_and_nan() {
        assert_close!(1e9, 1e9 + 1e-4, 1e-12);
        assert_close!(vec![1.0, 2.0], vec![1.0, 2.0], 0.0);
        assert!(scaled_difference(&f64::NAN, &1.0).is_infinite());
        assert!(scaled_difference(&[f64::NAN, 1.0], &[1.0, 1.0]).is_infinite());
        assert!(scaled_difference(&vec![1.0], &vec![1.0, 2.0]).is_infinite());
        assert!((worst_difference(&[1.0, 5.0], &[1.0, 7.0]) - 2.0).abs() < 1e-15);
    }

    #[test]
    #[should_panic(expected = "left: 1.0")]
    fn prints_both_values() {
        assert_close!(1.0, 2.0, 1e-3);
    }
}
