//! The widest SIMD lanes that the machine has.

/// Lanes to compute with.
#[derive(Clone, Copy)]
pub(crate) enum SimdWidth {
    /// One element at a time.
    Scalar,
    /// What every machine of the architecture has: SSE2, NEON.
    Portable,
    /// AVX registers.
    #[cfg(target_arch = "x86_64")]
    Avx(pulp::x86::V3),
}

impl SimdWidth {
    /// The widest that this machine has; [`SimdWidth::Portable`] with the feature `portable`.
    pub(crate) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if !cfg!(feature = "portable")
            && let Some(token) = pulp::x86::V3::try_new()
        {
            return Self::Avx(token);
        }
        Self::Portable
    }
}
