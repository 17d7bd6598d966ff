//! The arithmetic that scalar and SIMD kernels share.
//!
//! A kernel is written once over [`Lanes`]. It is compiled for `f64` (the reference), for `f64x2` of `wide`, for AVX
//! registers on x86 machines that have them ([`crate::avx`]), and for pairs of these ([`crate::lane_pair`]). Every
//! operation is one of `+ − × ÷ √`, a comparison or a selection. None is fused and none mixes lanes, so the bits of a
//! lane do not depend on its neighbours or on the width. Comparisons with NaN are false.

use crate::node_buffer::{CAPACITY, NodeBuffer};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};
use wide::f64x2;

/// `[e(0), e(1), e(2)]`, written out: the functions of `std::array` are not always inlined, and then lanes go through
/// memory.
macro_rules! three {
    (|$i:ident| $e:expr) => {
        [
            {
                let $i: usize = 0;
                $e
            },
            {
                let $i: usize = 1;
                $e
            },
            {
                let $i: usize = 2;
                $e
            },
        ]
    };
}
pub(crate) use three;

/// Numbers of several elements side by side.
pub(crate) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// How many.
    const N: usize;
    /// Proof that the machine has the instructions.
    type Token: Copy;
    /// One truth value per lane.
    type Mask: LaneMask<Self>;

    /// The proof.
    fn token(self) -> Self::Token;
    /// The same number in each lane.
    fn splat(token: Self::Token, x: f64) -> Self;
    /// Lane `i` is `f(i)`.
    fn from_fn(token: Self::Token, f: impl FnMut(usize) -> f64) -> Self;
    /// The number in lane `i`.
    fn lane(self, i: usize) -> f64;
    /// Square roots.
    fn sqrt(self) -> Self;
    /// Absolute values.
    fn abs(self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self;
    /// The smaller of two numbers.
    fn min(self, other: Self) -> Self;
    /// `self > other`, lane by lane.
    fn gt(self, other: Self) -> Self::Mask;

    /// The first `N` numbers of a slice.
    #[inline(always)]
    fn load(token: Self::Token, x: &[f64]) -> Self {
        let x = &x[..Self::N];
        Self::from_fn(token, |i| x[i])
    }

    /// The first three numbers of a row per lane, as vectors of lanes.
    #[inline(always)]
    fn gather(token: Self::Token, row: impl Fn(usize) -> [f64; 4]) -> Vec3<Self> {
        three!(|i| Self::from_fn(token, |k| row(k)[i]))
    }

    /// For the first `n` lanes in order, adds lane `k` of `corners[c]` to row `nodes(k)[c]`, `c` from 0 to 3.
    #[inline(always)]
    fn scatter(
        corners: &[Vec3<Self>; 4],
        n: usize,
        rows: &mut NodeBuffer,
        nodes: impl Fn(usize) -> [u16; 4],
    ) {
        for k in 0..n {
            for (v, node) in corners.iter().zip(nodes(k)) {
                let sum = &mut rows[usize::from(node) % CAPACITY].0;
                for i in 0..3 {
                    sum[i] += v[i].lane(k);
                }
            }
        }
    }

    /// The four numbers of lane `k` to `put(k, …)`, for each lane.
    #[inline(always)]
    fn transpose(v: [Self; 4], mut put: impl FnMut(usize, [f64; 4])) {
        for k in 0..Self::N {
            put(k, [v[0].lane(k), v[1].lane(k), v[2].lane(k), v[3].lane(k)]);
        }
    }

    /// `x` in each lane of a number like this one.
    #[inline(always)]
    fn like(self, x: f64) -> Self {
        Self::splat(self.token(), x)
    }

    /// Whether each number is finite.
    #[inline(always)]
    fn finite(self) -> Self::Mask {
        self.like(f64::INFINITY).gt(self.abs())
    }

    /// `f` of each number, one by one.
    #[inline(always)]
    fn map(self, mut f: impl FnMut(f64) -> f64) -> Self {
        Self::from_fn(self.token(), |i| f(self.lane(i)))
    }
}

/// Truth values, one per lane.
pub(crate) trait LaneMask<L: Lanes>: Copy + BitAnd<Output = Self> + BitOr<Output = Self> {
    /// `yes` where true, `no` elsewhere.
    fn select(self, yes: L, no: L) -> L;
    /// `x` where true, 0 elsewhere.
    fn keep(self, x: L) -> L;
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
    type Token = ();
    type Mask = bool;

    #[inline(always)]
    fn token(self) {}
    #[inline(always)]
    fn splat(_: (), x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn from_fn(_: (), mut f: impl FnMut(usize) -> f64) -> Self {
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
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn gt(self, other: Self) -> bool {
        self > other
    }
}

impl LaneMask<f64> for bool {
    #[inline(always)]
    fn select(self, yes: f64, no: f64) -> f64 {
        if self { yes } else { no }
    }
    #[inline(always)]
    fn keep(self, x: f64) -> f64 {
        if self { x } else { 0.0 }
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

impl Lanes for f64x2 {
    const N: usize = 2;
    type Token = ();
    type Mask = WideMask;

    #[inline(always)]
    fn token(self) {}
    #[inline(always)]
    fn splat(_: (), x: f64) -> Self {
        f64x2::splat(x)
    }
    #[inline(always)]
    fn from_fn(_: (), mut f: impl FnMut(usize) -> f64) -> Self {
        f64x2::new([f(0), f(1)])
    }
    #[inline(always)]
    fn scatter(
        corners: &[Vec3<Self>; 4],
        n: usize,
        rows: &mut NodeBuffer,
        nodes: impl Fn(usize) -> [u16; 4],
    ) {
        let [a, b, c, d] = corners;
        let pairs = [
            f64x2::transpose([a[0], a[1]]),
            f64x2::transpose([b[0], b[1]]),
            f64x2::transpose([c[0], c[1]]),
            f64x2::transpose([d[0], d[1]]),
        ];
        for k in 0..n.min(2) {
            for ((xy, v), node) in pairs.iter().zip(corners).zip(nodes(k)) {
                let [x, y, z, _] = &mut rows[usize::from(node) % CAPACITY].0;
                [*x, *y] = (Self::new([*x, *y]) + xy[k]).to_array();
                *z += v[2].lane(k);
            }
        }
    }
    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        self.to_array()[i]
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64x2::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64x2::abs(self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.fast_max(other)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.fast_min(other)
    }
    #[inline(always)]
    fn gt(self, other: Self) -> WideMask {
        WideMask(self.simd_gt(other))
    }
}

impl LaneMask<f64x2> for WideMask {
    #[inline(always)]
    fn select(self, yes: f64x2, no: f64x2) -> f64x2 {
        self.0.select(yes, no)
    }
    #[inline(always)]
    fn keep(self, x: f64x2) -> f64x2 {
        self.0 & x
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0.to_bitmask()
    }
}

/// The mask of a SIMD vector: all bits of a lane, or none.
#[derive(Clone, Copy)]
pub(crate) struct WideMask(f64x2);

impl BitAnd for WideMask {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for WideMask {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A 3-vector per lane.
pub(crate) type Vec3<L> = [L; 3];
