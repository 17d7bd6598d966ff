//! One kernel, any width: the arithmetic that scalar and SIMD code share.
//!
//! A kernel is written once over [`Lanes`] and instantiated for `f64` (the plain reference), `f64x2` and `f64x4` of
//! `wide`. Every operation is one of `+ − × ÷ √`, a comparison or a choice, none is fused and none mixes lanes, so a
//! lane has the same bits whatever runs beside it. Comparisons with NaN are false. [`Mat3`] holds columns.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};
use wide::{f64x2, f64x4};

/// Numbers of several elements side by side.
pub(crate) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// How many.
    const N: usize;
    /// One truth value per lane.
    type Mask: Mask<Self>;

    /// The same number in each lane.
    fn splat(x: f64) -> Self;
    /// The first `N` numbers of a slice.
    fn load(x: &[f64]) -> Self;
    /// Lane `i` is `f(i)`.
    fn from_fn(f: impl FnMut(usize) -> f64) -> Self;
    /// The number in lane `i`.
    fn lane(self, i: usize) -> f64;
    /// Square roots.
    fn sqrt(self) -> Self;
    /// Absolute values.
    fn abs(self) -> Self;
    /// `self > other`, lane by lane.
    fn gt(self, other: Self) -> Self::Mask;

    /// `x` in each lane of a number like this one.
    #[inline(always)]
    fn like(self, x: f64) -> Self {
        Self::splat(x)
    }

    /// The larger of two; `other` if either is NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.gt(other).select(self, other)
    }

    /// The smaller of two; `other` if either is NaN.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        other.gt(self).select(self, other)
    }

    /// Whether each number is finite.
    #[inline(always)]
    fn finite(self) -> Self::Mask {
        Self::splat(f64::INFINITY).gt(self.abs())
    }

    /// `f` of each number, one by one.
    #[inline(always)]
    fn map(self, mut f: impl FnMut(f64) -> f64) -> Self {
        Self::from_fn(|i| f(self.lane(i)))
    }
}

/// Truth values, one per lane.
pub(crate) trait Mask<L: Lanes>: Copy + BitAnd<Output = Self> + BitOr<Output = Self> {
    /// `yes` where true, `no` elsewhere.
    fn select(self, yes: L, no: L) -> L;
    /// Bit `i` is the truth of lane `i`.
    fn bits(self) -> u32;

    /// True somewhere.
    #[inline(always)]
    fn any(self) -> bool {
        self.bits() != 0
    }

    /// True everywhere.
    #[inline(always)]
    fn all(self) -> bool {
        self.bits() == (1 << L::N) - 1
    }
}

impl Lanes for f64 {
    const N: usize = 1;
    type Mask = bool;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn load(x: &[f64]) -> Self {
        x[0]
    }
    #[inline(always)]
    fn from_fn(mut f: impl FnMut(usize) -> f64) -> Self {
        f(0)
    }
    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn gt(self, other: Self) -> bool {
        self > other
    }
}

impl Mask<f64> for bool {
    #[inline(always)]
    fn select(self, yes: f64, no: f64) -> f64 {
        if self { yes } else { no }
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

macro_rules! wide_lanes {
    ($wide:ident, $n:literal) => {
        impl Lanes for $wide {
            const N: usize = $n;
            type Mask = Bits<$wide>;

            #[inline(always)]
            fn splat(x: f64) -> Self {
                $wide::splat(x)
            }
            #[inline(always)]
            fn load(x: &[f64]) -> Self {
                let x = &x[..$n];
                $wide::new(std::array::from_fn(|i| x[i]))
            }
            #[inline(always)]
            fn from_fn(f: impl FnMut(usize) -> f64) -> Self {
                $wide::new(std::array::from_fn(f))
            }
            #[inline(always)]
            fn lane(self, i: usize) -> f64 {
                self.to_array()[i]
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $wide::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $wide::abs(self)
            }
            #[inline(always)]
            fn gt(self, other: Self) -> Bits<$wide> {
                Bits(self.simd_gt(other))
            }
        }

        impl Mask<$wide> for Bits<$wide> {
            #[inline(always)]
            fn select(self, yes: $wide, no: $wide) -> $wide {
                self.0.select(yes, no)
            }
            #[inline(always)]
            fn bits(self) -> u32 {
                self.0.to_bitmask()
            }
        }
    };
}

wide_lanes!(f64x2, 2);
wide_lanes!(f64x4, 4);

/// The mask of a SIMD vector: all bits of a lane, or none.
#[derive(Clone, Copy)]
pub(crate) struct Bits<W>(W);

impl<W: BitAnd<Output = W>> BitAnd for Bits<W> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl<W: BitOr<Output = W>> BitOr for Bits<W> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A 3-vector per lane.
pub(crate) type Vec3<L> = [L; 3];

/// `a·b`.
#[inline(always)]
pub(crate) fn dot<L: Lanes>(a: Vec3<L>, b: Vec3<L>) -> L {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `a×b`.
#[inline(always)]
pub(crate) fn cross<L: Lanes>(a: Vec3<L>, b: Vec3<L>) -> Vec3<L> {
    [a[1] * b[2] - b[1] * a[2], a[2] * b[0] - b[2] * a[0], a[0] * b[1] - b[0] * a[1]]
}

/// `k a`.
#[inline(always)]
pub(crate) fn scale<L: Lanes>(a: Vec3<L>, k: L) -> Vec3<L> {
    [a[0] * k, a[1] * k, a[2] * k]
}

/// `a − b`.
#[inline(always)]
pub(crate) fn sub<L: Lanes>(a: Vec3<L>, b: Vec3<L>) -> Vec3<L> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `yes` where the mask is true, `no` elsewhere.
#[inline(always)]
pub(crate) fn select3<L: Lanes>(mask: L::Mask, yes: Vec3<L>, no: Vec3<L>) -> Vec3<L> {
    [mask.select(yes[0], no[0]), mask.select(yes[1], no[1]), mask.select(yes[2], no[2])]
}

/// A 3×3 matrix per lane, by columns.
#[derive(Clone, Copy)]
pub(crate) struct Mat3<L>(pub(crate) [Vec3<L>; 3]);

impl<L: Lanes> Mat3<L> {
    /// Ones on the diagonal.
    #[inline(always)]
    pub(crate) fn identity() -> Self {
        let (o, z) = (L::splat(1.0), L::splat(0.0));
        Self([[o, z, z], [z, o, z], [z, z, o]])
    }

    /// `M v`.
    #[inline(always)]
    pub(crate) fn mul_vec(&self, v: Vec3<L>) -> Vec3<L> {
        let [x, y, z] = &self.0;
        std::array::from_fn(|i| x[i] * v[0] + y[i] * v[1] + z[i] * v[2])
    }

    /// `M N`.
    #[inline(always)]
    pub(crate) fn mul(&self, n: &Self) -> Self {
        Self([self.mul_vec(n.0[0]), self.mul_vec(n.0[1]), self.mul_vec(n.0[2])])
    }

    /// `M Nᵀ`.
    #[inline(always)]
    pub(crate) fn mul_transpose(&self, n: &Self) -> Self {
        self.mul(&n.transpose())
    }

    /// `Mᵀ`.
    #[inline(always)]
    pub(crate) fn transpose(&self) -> Self {
        let [x, y, z] = self.0;
        Self([[x[0], y[0], z[0]], [x[1], y[1], z[1]], [x[2], y[2], z[2]]])
    }

    /// `det M`.
    #[inline(always)]
    pub(crate) fn determinant(&self) -> L {
        dot(self.0[0], cross(self.0[1], self.0[2]))
    }
}

impl From<glam::DMat3> for Mat3<f64> {
    fn from(m: glam::DMat3) -> Self {
        Self(m.to_cols_array_2d())
    }
}

impl From<Mat3<f64>> for glam::DMat3 {
    fn from(m: Mat3<f64>) -> Self {
        Self::from_cols_array_2d(&m.0)
    }
}
