//! Errors of building flesh: each names the number, node or bone at fault.

use sinew_math::TetMeshError;

/// Why flesh could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FemError {
    /// The mesh is not valid.
    #[error(transparent)]
    Mesh(#[from] TetMeshError),
    /// A number outside its range.
    #[error("{what} is {value}, but must be {range}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        range: &'static str,
    },
    /// An entry of a list is outside its range.
    #[error("{what} {index} is {value}, but must be {range}")]
    EntryOutOfRange {
        /// Which list.
        what: &'static str,
        /// Which entry.
        index: usize,
        /// Its value.
        value: f64,
        /// What is allowed.
        range: &'static str,
    },
    /// A list that does not have one entry per node or tetrahedron.
    #[error("{what} has {found} entries, but must have {expected}")]
    WrongLength {
        /// Which list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that it must have.
        expected: usize,
    },
    /// A node is attached twice.
    #[error("node {node} is attached to bone {first} and to bone {second}; attach it to one of them")]
    AttachedTwice {
        /// The node.
        node: u32,
        /// The bone it was attached to first.
        first: u32,
        /// The other bone.
        second: u32,
    },
}
