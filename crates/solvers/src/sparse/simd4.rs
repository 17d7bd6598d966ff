//! SIMD vectors of four `f64`: one AVX register on x86 machines that have it, two 128-bit registers elsewhere.
//!
//! `pulp` detects AVX at run time. Fused multiply-add is never used. Each lane does the same operations in the same
//! order on every machine, so the bits are the same.

#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;
use sinew_math::F64x2;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256d;

/// Four numbers in memory, aligned to be loaded at once.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(crate) struct Aligned4(pub(crate) [f64; 4]);

/// Four numbers in registers.
pub(crate) trait Simd4: Copy {
    /// Proof that the machine has such registers.
    type Token: Copy;
    fn load(token: Self::Token, numbers: &Aligned4) -> Self;
    fn new(token: Self::Token, numbers: [f64; 4]) -> Self;
    fn to_array(self) -> [f64; 4];
    fn minus(self, token: Self::Token, other: Self) -> Self;
    fn plus(self, token: Self::Token, other: Self) -> Self;
    fn times(self, token: Self::Token, other: Self) -> Self;
    /// The numbers of four registers at each place.
    fn transpose(token: Self::Token, rows: [Self; 4]) -> [Self; 4];
    #[inline(always)]
    fn aligned(self) -> Aligned4 {
        Aligned4(self.to_array())
    }
}

impl Simd4 for [F64x2; 2] {
    type Token = ();
    #[inline(always)]
    fn load((): (), numbers: &Aligned4) -> Self {
        Self::new((), numbers.0)
    }
    #[inline(always)]
    fn new((): (), [a, b, c, d]: [f64; 4]) -> Self {
        [F64x2::new([a, b]), F64x2::new([c, d])]
    }
    #[inline(always)]
    fn to_array(self) -> [f64; 4] {
        let [[a, b], [c, d]] = self.map(F64x2::to_array);
        [a, b, c, d]
    }
    #[inline(always)]
    fn minus(self, (): (), other: Self) -> Self {
        [self[0] - other[0], self[1] - other[1]]
    }
    #[inline(always)]
    fn plus(self, (): (), other: Self) -> Self {
        [self[0] + other[0], self[1] + other[1]]
    }
    #[inline(always)]
    fn times(self, (): (), other: Self) -> Self {
        [self[0] * other[0], self[1] * other[1]]
    }
    #[inline(always)]
    fn transpose((): (), rows: [Self; 4]) -> [Self; 4] {
        let [a, b, c, d] = rows.map(Self::to_array);
        [0, 1, 2, 3].map(|k| Self::new((), [a[k], b[k], c[k], d[k]]))
    }
}

#[cfg(target_arch = "x86_64")]
impl Simd4 for __m256d {
    type Token = V3;
    #[inline(always)]
    fn load(_: V3, numbers: &Aligned4) -> Self {
        pulp::cast(numbers.0)
    }
    #[inline(always)]
    fn new(token: V3, [a, b, c, d]: [f64; 4]) -> Self {
        token.avx._mm256_setr_pd(a, b, c, d)
    }
    #[inline(always)]
    fn to_array(self) -> [f64; 4] {
        pulp::cast(self)
    }
    #[inline(always)]
    fn minus(self, token: V3, other: Self) -> Self {
        token.avx._mm256_sub_pd(self, other)
    }
    #[inline(always)]
    fn plus(self, token: V3, other: Self) -> Self {
        token.avx._mm256_add_pd(self, other)
    }
    #[inline(always)]
    fn times(self, token: V3, other: Self) -> Self {
        token.avx._mm256_mul_pd(self, other)
    }
    #[inline(always)]
    fn transpose(token: V3, [a, b, c, d]: [Self; 4]) -> [Self; 4] {
        let (ab, ab_high) = (token.avx._mm256_unpacklo_pd(a, b), token.avx._mm256_unpackhi_pd(a, b));
        let (cd, cd_high) = (token.avx._mm256_unpacklo_pd(c, d), token.avx._mm256_unpackhi_pd(c, d));
        [
            token.avx._mm256_permute2f128_pd::<0x20>(ab, cd),
            token.avx._mm256_permute2f128_pd::<0x20>(ab_high, cd_high),
            token.avx._mm256_permute2f128_pd::<0x31>(ab, cd),
            token.avx._mm256_permute2f128_pd::<0x31>(ab_high, cd_high),
        ]
    }
}

/// Evaluates an expression, compiled for AVX where the machine has it; what it calls must be `#[inline(always)]`.
macro_rules! with_wide_simd {
    ($body:expr) => {
        crate::vectorized::vectorized(
            #[inline(always)]
            || $body,
        )
    };
}
pub(super) use with_wide_simd;
