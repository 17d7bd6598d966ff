//! Two SIMD vectors side by side: two independent chains of operations hide the latency of roots and divisions.

use crate::lanes::{LaneMask, Lanes, Vec3, three};
use crate::node_buffer::NodeBuffer;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// Two vectors of numbers, or two masks; the lanes of the first come first.
#[derive(Clone, Copy)]
pub(crate) struct LanePair<L>(L, L);

macro_rules! operator {
    ($($op:ident $name:ident;)*) => {$(
        impl<L: $op<Output = L>> $op for LanePair<L> {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self(self.0.$name(other.0), self.1.$name(other.1))
            }
        }
    )*};
}

operator! { Add add; Sub sub; Mul mul; Div div; BitAnd bitand; BitOr bitor; }

impl<L: Lanes> Neg for LanePair<L> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl<L: Lanes> Lanes for LanePair<L> {
    const N: usize = 2 * L::N;
    type Token = L::Token;
    type Mask = LanePair<L::Mask>;

    #[inline(always)]
    fn token(self) -> L::Token {
        self.0.token()
    }
    #[inline(always)]
    fn splat(token: L::Token, x: f64) -> Self {
        Self(L::splat(token, x), L::splat(token, x))
    }
    #[inline(always)]
    fn from_fn(token: L::Token, mut f: impl FnMut(usize) -> f64) -> Self {
        Self(L::from_fn(token, &mut f), L::from_fn(token, |i| f(L::N + i)))
    }
    #[inline(always)]
    fn gather(token: L::Token, row: impl Fn(usize) -> [f64; 4]) -> Vec3<Self> {
        let [a, b] = [L::gather(token, &row), L::gather(token, |k| row(L::N + k))];
        [Self(a[0], b[0]), Self(a[1], b[1]), Self(a[2], b[2])]
    }
    #[inline(always)]
    fn scatter(
        corners: &[Vec3<Self>; 4],
        n: usize,
        rows: &mut NodeBuffer,
        nodes: impl Fn(usize) -> [u16; 4],
    ) {
        let [a, b, c, d] = corners;
        let first = [three!(|i| a[i].0), three!(|i| b[i].0), three!(|i| c[i].0), three!(|i| d[i].0)];
        let second = [three!(|i| a[i].1), three!(|i| b[i].1), three!(|i| c[i].1), three!(|i| d[i].1)];
        L::scatter(&first, n.min(L::N), rows, &nodes);
        L::scatter(&second, n.saturating_sub(L::N), rows, |k| nodes(L::N + k));
    }
    #[inline(always)]
    fn transpose(v: [Self; 4], mut put: impl FnMut(usize, [f64; 4])) {
        L::transpose([v[0].0, v[1].0, v[2].0, v[3].0], &mut put);
        L::transpose([v[0].1, v[1].1, v[2].1, v[3].1], |k, row| put(L::N + k, row));
    }
    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        if i < L::N { self.0.lane(i) } else { self.1.lane(i - L::N) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt(), self.1.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs(), self.1.abs())
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0), self.1.max(other.1))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0), self.1.min(other.1))
    }
    #[inline(always)]
    fn gt(self, other: Self) -> LanePair<L::Mask> {
        LanePair(self.0.gt(other.0), self.1.gt(other.1))
    }
}

impl<L: Lanes> LaneMask<LanePair<L>> for LanePair<L::Mask> {
    #[inline(always)]
    fn select(self, yes: LanePair<L>, no: LanePair<L>) -> LanePair<L> {
        LanePair(self.0.select(yes.0, no.0), self.1.select(yes.1, no.1))
    }
    #[inline(always)]
    fn keep(self, x: LanePair<L>) -> LanePair<L> {
        LanePair(self.0.keep(x.0), self.1.keep(x.1))
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0.bits() | self.1.bits() << L::N
    }
}
