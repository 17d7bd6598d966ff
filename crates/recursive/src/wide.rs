//! Loops compiled for AVX where the processor has it.
//!
//! `pulp` detects AVX at run time. Fused multiply-add is never used, and sums have the order of the source, so the bits are the same
//! on every machine.

/// Calls `f`, compiled for AVX where the machine has it; what it calls must be `#[inline(always)]`, and so must `f`.
#[inline(always)]
pub(crate) fn vectorized<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = pulp::x86::V3::try_new() {
        return token.vectorize(f);
    }
    f()
}
