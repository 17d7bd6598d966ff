//! Numbers and 3-vectors of one body, or of two bodies in the lanes of a SIMD register.
//!
//! A formula over these traits gives the same bits for one body and in either lane: only `+ − × ÷`, never fused.

use glam::DVec3;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};
use wide::f64x2;

/// Two numbers in the lanes of one register: the same operation on both.
///
/// Comparisons give masks: all bits of a lane are set where they hold, none elsewhere. `&`, `|` and `^` act on the bits.
///
/// ```
/// use sinew_math::{both, twice};
///
/// let roots = both(4.0, 9.0).sqrt();
/// assert_eq!(roots.to_array(), [2.0, 3.0]);
/// assert!(!roots.simd_gt(twice(2.0)).all());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub struct F64x2(f64x2);

impl F64x2 {
    /// Zero twice.
    pub const ZERO: Self = Self(f64x2::ZERO);

    /// From its halves.
    #[inline(always)]
    pub fn new(halves: [f64; 2]) -> Self {
        Self(f64x2::new(halves))
    }

    /// Its halves.
    #[inline(always)]
    pub fn to_array(self) -> [f64; 2] {
        self.0.to_array()
    }

    /// Absolute values.
    #[inline(always)]
    pub fn abs(self) -> Self {
        Self(self.0.abs())
    }

    /// Square roots.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }

    /// Mask of `self < other`.
    #[inline(always)]
    pub fn simd_lt(self, other: Self) -> Self {
        Self(self.0.simd_lt(other.0))
    }

    /// Mask of `self ≤ other`.
    #[inline(always)]
    pub fn simd_le(self, other: Self) -> Self {
        Self(self.0.simd_le(other.0))
    }

    /// Mask of `self > other`.
    #[inline(always)]
    pub fn simd_gt(self, other: Self) -> Self {
        Self(self.0.simd_gt(other.0))
    }

    /// Of a mask: whether it is set in both lanes.
    #[inline(always)]
    pub fn all(self) -> bool {
        self.0.all()
    }

    /// Of a mask: `yes` where it is set, `no` elsewhere.
    #[inline(always)]
    pub fn bitselect(self, yes: Self, no: Self) -> Self {
        Self(self.0.bitselect(yes.0, no.0))
    }

    /// The signs: bit `i` is set where half `i` has one, or where a mask is set.
    #[inline(always)]
    pub fn to_bitmask(self) -> u32 {
        self.0.to_bitmask()
    }

    /// The smaller numbers, of numbers that are not NaN.
    #[inline(always)]
    pub(crate) fn fast_min(self, other: Self) -> Self {
        Self(self.0.fast_min(other.0))
    }

    /// The larger numbers, of numbers that are not NaN.
    #[inline(always)]
    pub(crate) fn fast_max(self, other: Self) -> Self {
        Self(self.0.fast_max(other.0))
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident;)*) => {$(
        impl $operator for F64x2 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self($operator::$method(self.0, other.0))
            }
        }
    )*};
}

operators! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
    BitAnd bitand;
    BitOr bitor;
    BitXor bitxor;
}

impl Neg for F64x2 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

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

impl Scalar for F64x2 {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self(f64x2::splat(x))
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
