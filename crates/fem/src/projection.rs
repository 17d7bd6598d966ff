//! Which stiffness is asked for: the exact derivative, or one without negative eigenvalues.

/// Whether negative stiffness is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Projection {
    /// Negative eigenvalues become zero; for implicit steps with conjugate gradients.
    #[default]
    Semidefinite,
    /// The exact derivative, which may be indefinite. For [`crate::Extension::PerStretch`], whose derivative is not
    /// symmetric, its symmetric part.
    Exact,
}
