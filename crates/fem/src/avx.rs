//! Four lanes in one AVX register, on x86 machines that have them.
//!
//! `pulp` detects AVX at run time and gives a token as proof. Its operations are not fused, so the bits are those of
//! the narrower lanes. Code is compiled for AVX only if it is inlined into [`V3::vectorize`].

use crate::lanes::{LaneMask, Lanes, Vec3};
use crate::node_buffer::{CAPACITY, NodeBuffer};
use pulp::x86::V3;
use std::arch::x86_64::{__m256d, _CMP_GT_OQ};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// Four numbers, or the mask of four.
#[derive(Clone, Copy)]
pub(crate) struct Avx4 {
    v: __m256d,
    token: V3,
}

macro_rules! operator {
    ($($op:ident $name:ident $intrinsic:ident;)*) => {$(
        impl $op for Avx4 {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self { v: self.token.avx.$intrinsic(self.v, other.v), token: self.token }
            }
        }
    )*};
}

operator! {
    Add add _mm256_add_pd;
    Sub sub _mm256_sub_pd;
    Mul mul _mm256_mul_pd;
    Div div _mm256_div_pd;
    BitAnd bitand _mm256_and_pd;
    BitOr bitor _mm256_or_pd;
}

impl Neg for Avx4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { v: self.token.avx._mm256_xor_pd(self.v, self.like(-0.0).v), token: self.token }
    }
}

impl Lanes for Avx4 {
    const N: usize = 4;
    type Token = V3;
    type Mask = Self;

    #[inline(always)]
    fn token(self) -> V3 {
        self.token
    }
    #[inline(always)]
    fn splat(token: V3, x: f64) -> Self {
        Self { v: token.avx._mm256_set1_pd(x), token }
    }
    #[inline(always)]
    fn from_fn(token: V3, mut f: impl FnMut(usize) -> f64) -> Self {
        Self { v: token.avx._mm256_setr_pd(f(0), f(1), f(2), f(3)), token }
    }
    #[inline(always)]
    fn gather(token: V3, row: impl Fn(usize) -> [f64; 4]) -> Vec3<Self> {
        let [x, y, z, _] = transpose(
            token,
            [pulp::cast(row(0)), pulp::cast(row(1)), pulp::cast(row(2)), pulp::cast(row(3))],
        );
        [Self { v: x, token }, Self { v: y, token }, Self { v: z, token }]
    }
    #[inline(always)]
    fn scatter(
        corners: &[Vec3<Self>; 4],
        n: usize,
        rows: &mut NodeBuffer,
        nodes: impl Fn(usize) -> [u16; 4],
    ) {
        let (token, zero) = (corners[0][0].token, corners[0][0].like(0.0).v);
        let added = [
            transpose(token, [corners[0][0].v, corners[0][1].v, corners[0][2].v, zero]),
            transpose(token, [corners[1][0].v, corners[1][1].v, corners[1][2].v, zero]),
            transpose(token, [corners[2][0].v, corners[2][1].v, corners[2][2].v, zero]),
            transpose(token, [corners[3][0].v, corners[3][1].v, corners[3][2].v, zero]),
        ];
        for k in 0..n.min(4) {
            for (added, node) in added.iter().zip(nodes(k)) {
                let sum = &mut rows[usize::from(node) % CAPACITY].0;
                *sum = pulp::cast(token.avx._mm256_add_pd(pulp::cast(*sum), added[k]));
            }
        }
    }
    #[inline(always)]
    fn transpose(v: [Self; 4], mut put: impl FnMut(usize, [f64; 4])) {
        let rows = transpose(v[0].token, [v[0].v, v[1].v, v[2].v, v[3].v]);
        put(0, pulp::cast(rows[0]));
        put(1, pulp::cast(rows[1]));
        put(2, pulp::cast(rows[2]));
        put(3, pulp::cast(rows[3]));
    }
    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        let lanes: [f64; 4] = pulp::cast(self.v);
        lanes[i]
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self { v: self.token.avx._mm256_sqrt_pd(self.v), token: self.token }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self { v: self.token.avx._mm256_andnot_pd(self.like(-0.0).v, self.v), token: self.token }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self { v: self.token.avx._mm256_max_pd(self.v, other.v), token: self.token }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self { v: self.token.avx._mm256_min_pd(self.v, other.v), token: self.token }
    }
    #[inline(always)]
    fn gt(self, other: Self) -> Self {
        Self { v: self.token.avx._mm256_cmp_pd::<_CMP_GT_OQ>(self.v, other.v), token: self.token }
    }
}

impl LaneMask<Self> for Avx4 {
    #[inline(always)]
    fn select(self, yes: Self, no: Self) -> Self {
        Self { v: self.token.avx._mm256_blendv_pd(no.v, yes.v, self.v), token: self.token }
    }
    #[inline(always)]
    fn keep(self, x: Self) -> Self {
        self & x
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self.token.avx._mm256_movemask_pd(self.v) as u32
    }
}

/// Rows to columns.
#[inline(always)]
fn transpose(token: V3, [a, b, c, d]: [__m256d; 4]) -> [__m256d; 4] {
    let avx = token.avx;
    let (ab_even, ab_odd) = (avx._mm256_unpacklo_pd(a, b), avx._mm256_unpackhi_pd(a, b));
    let (cd_even, cd_odd) = (avx._mm256_unpacklo_pd(c, d), avx._mm256_unpackhi_pd(c, d));
    [
        avx._mm256_permute2f128_pd::<0x20>(ab_even, cd_even),
        avx._mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd),
        avx._mm256_permute2f128_pd::<0x31>(ab_even, cd_even),
        avx._mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd),
    ]
}
