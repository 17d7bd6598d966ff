//! Loops compiled for AVX where the processor has it.
//!
//! `pulp` detects AVX at run time; the feature `portable` does not ask. Fused multiply-add is never used, and sums have the order of the
//! source, so the bits are the same on every machine.

#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

/// Proof that the machine has AVX, unless the feature `portable` leaves it out: the one place of this crate that decides.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn avx() -> Option<V3> {
    if cfg!(feature = "portable") { None } else { V3::try_new() }
}

/// Calls `f`, compiled for AVX where the machine has it, with the same bits everywhere. What it calls must be `#[inline(always)]`, and so must `f`.
///
/// ```
/// let numbers = [1.0, 2.0, 3.0, 4.0];
/// let doubled = sinew_solvers::vectorized(
///     #[inline(always)]
///     || numbers.map(|x| 2.0 * x),
/// );
/// assert_eq!(doubled, [2.0, 4.0, 6.0, 8.0]);
/// ```
#[inline(always)]
pub fn vectorized<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = avx() {
        return token.vectorize(f);
    }
    f()
}
