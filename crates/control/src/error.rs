//! What can be wrong with goals, keys, actuators and scores; every variant names the thing. Commands themselves never fail, they
//! report.

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
    /// A path or a clip without points.
    #[error("a path or clip needs at least one point")]
    Empty,
    /// A number that is none, or out of its range.
    #[error("{what} {index} is not finite or out of range")]
    NotValid {
        /// Which list.
        what: &'static str,
        /// Position in the list.
        index: usize,
    },
    /// A bone that the tree does not have.
    #[error("{what} {index} names bone {bone}, but the tree has only {n_bones}")]
    UnknownBone {
        /// Which list.
        what: &'static str,
        /// Position in the list.
        index: usize,
        /// The bone.
        bone: usize,
        /// Bones of the tree.
        n_bones: usize,
    },
    /// Coordinates that do not fit the tree.
    #[error("{what} {index} has {found} coordinates, the tree has {expected}")]
    WrongSize {
        /// Which list.
        what: &'static str,
        /// Position in the list.
        index: usize,
        /// Its size.
        found: usize,
        /// The size it should have.
        expected: usize,
    },
    /// A key that turns a joint beyond its limits.
    #[error("key {key} moves the joint of bone {bone} beyond its limits")]
    KeyBeyondLimits {
        /// The key.
        key: usize,
        /// The bone.
        bone: usize,
    },
    /// A key that turns a ball joint by half a turn or more from the first key, where rotation vectors end.
    #[error(
        "key {key} turns the joint of bone {bone} by half a turn or more from the first key; add nearer keys in another clip"
    )]
    KeyTooFar {
        /// The key.
        key: usize,
        /// The bone.
        bone: usize,
    },
    /// A phase of a score has a fault.
    #[error("phase {phase}: {fault}")]
    Phase {
        /// The phase.
        phase: usize,
        /// What is wrong with it.
        fault: Box<ControlError>,
    },
}
