//! Numbers and 3-vectors of one body, or of two bodies in the lanes of a SIMD register.
//!
//! A formula over these traits gives the same bits for one body and in either lane: only `+ − × ÷`, never fused.

use glam::DVec3;
use std::ops::{Add, Div, Mul, Neg, Sub};
use wide::f64x2;

/// One number, or one per lane.
pub trait Scalar:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The same number in every lane.
    fn splat(x: f64) -> Self;
}

impl Scalar for f64 {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }
}

impl Scalar for f64x2 {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        f64x2::splat(x)
    }
}

/// A 3-vector of such numbers.
pub trait Vector3: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Self::Number, Output = Self> {
    /// Its components.
    type Number: Scalar;
    /// From its components.
    fn from_xyz(xyz: [Self::Number; 3]) -> Self;
    /// Its components.
    fn xyz(self) -> [Self::Number; 3];
}

impl Vector3 for DVec3 {
    type Number = f64;
    #[inline(always)]
    fn from_xyz([x, y, z]: [f64; 3]) -> Self {
        Self { x, y, z }
    }
    #[inline(always)]
    fn xyz(self) -> [f64; 3] {
        [self.x, self.y, self.z]
    }
}
