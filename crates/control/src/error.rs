//! Errors of building goals, paths, clips, actuators and scores. Giving a command never fails; it reports.

/// Why a part of a controller cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// Times of a path, a clip, a warp or the phases of a score do not increase.
    #[error("time {index} is not finite or not later than the time before it")]
    TimeNotIncreasing {
        /// Position in the list.
        index: usize,
    },
    /// A path or a clip without points.
    #[error("the list is empty: a path needs at least one point, a clip at least one key")]
    Empty,
    /// An entry of a list that is out of range.
    #[error("{what} {index} must be {range}")]
    NotValid {
        /// Which list.
        what: &'static str,
        /// Position in the list.
        index: usize,
        /// What is allowed.
        range: &'static str,
    },
    /// A setting that is out of range.
    #[error("{what} must be {range}")]
    OutOfRange {
        /// Which setting.
        what: &'static str,
        /// What is allowed.
        range: &'static str,
    },
    /// A bone that the tree does not have.
    #[error("{what} {index} names bone {bone}, but the tree has only {n_bones} bones")]
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
    #[error("{what} {index} has {found} numbers, but the tree needs {expected}")]
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
    /// A key beyond the limits of a joint.
    #[error("key {key} is beyond the limits of the joint of bone {bone}; move the key or widen the limits")]
    KeyBeyondLimits {
        /// The key.
        key: usize,
        /// The bone.
        bone: usize,
    },
    /// A key at least half a turn from the first key, where rotation vectors are not unique.
    #[error(
        "key {key} turns the joint of bone {bone} by at least half a turn from the first key; split the clip in two"
    )]
    KeyTooFar {
        /// The key.
        key: usize,
        /// The bone.
        bone: usize,
    },
    /// A phase of a score that is not valid.
    #[error("phase {phase}: {fault}")]
    Phase {
        /// The phase.
        phase: usize,
        /// What is wrong with it.
        fault: Box<ControlError>,
    },
}
