//! Buffer of a block of elements: vectors of its nodes under small local indices.

/// Local nodes that a buffer can hold; a power of two, so that masked indices need no bounds check.
pub(crate) const CAPACITY: usize = 2048;

/// A vector of a local node and one number of padding, aligned to be loaded at once.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(crate) struct NodeVector(pub(crate) [f64; 4]);

/// Vectors of all local nodes.
pub(crate) type NodeBuffer = [NodeVector; CAPACITY];
