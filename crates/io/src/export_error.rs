//! Why a motion cannot be written.

use thiserror::Error;

/// Why a motion cannot be written, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// There is nothing to write.
    #[error("the motion has no frame")]
    NoFrames,
    /// The format has no place for something.
    #[error("{problem}")]
    Unfit {
        /// What does not fit, and what to do.
        problem: String,
    },
}
