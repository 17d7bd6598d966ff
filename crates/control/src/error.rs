//! What can be wrong with goals, keys and scores; every variant names the thing.

/// A control that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// Times of a path, a clip, a warp or the phases of a score do not increase.
    #[error("time {index} does not come after the one before it, or is not finite")]
    TimeNotIncreasing {
        /// Position in the list.
        index: usize,
    },
}
