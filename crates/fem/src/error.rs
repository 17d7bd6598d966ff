//! What can be wrong with a mesh, a material or the numbers given with them; each error names the culprit.

/// Why flesh could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FemError {
    /// A mesh without tetrahedra.
    #[error("the mesh has no tetrahedra")]
    NoElements,
    /// More nodes or tetrahedra than 32-bit indices can name.
    #[error("{count} nodes or tetrahedra are more than 32-bit indices can name")]
    TooLarge {
        /// How many there were.
        count: usize,
    },
    /// A tetrahedron names a node that does not exist.
    #[error("tetrahedron {tet} uses node {node}, but there are {n_nodes} nodes")]
    NodeOutOfRange {
        /// The tetrahedron.
        tet: usize,
        /// The index that it used.
        node: u32,
        /// How many nodes there are.
        n_nodes: usize,
    },
    /// A tetrahedron uses a node twice.
    #[error("tetrahedron {tet} uses node {node} twice")]
    RepeatedNode {
        /// The tetrahedron.
        tet: usize,
        /// The repeated node.
        node: u32,
    },
    /// A coordinate is NaN or infinite.
    #[error("node {node} has a coordinate that is not finite")]
    NotFinite {
        /// The node.
        node: usize,
    },
    /// A tetrahedron is flat, to rounding, or too small to be inverted.
    #[error("tetrahedron {tet} has no volume ({volume_m3:e} m³)")]
    ZeroVolume {
        /// The tetrahedron.
        tet: usize,
        /// Its signed volume, m³.
        volume_m3: f64,
    },
    /// A tetrahedron is wound the wrong way round.
    #[error(
        "tetrahedron {tet} has negative volume ({volume_m3:e} m³): swap two of its nodes, or repair the winding"
    )]
    Inverted {
        /// The tetrahedron.
        tet: usize,
        /// Its signed volume, m³.
        volume_m3: f64,
    },
    /// No tetrahedron uses a node.
    #[error("no tetrahedron uses node {node}")]
    UnreferencedNode {
        /// The node.
        node: usize,
    },
    /// A number outside its range.
    #[error("{what} is {value}, but must be {range}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Where it may lie.
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
        /// Where it may lie.
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
    #[error("node {node} is attached to bone {first} and to bone {second}")]
    AttachedTwice {
        /// The node.
        node: u32,
        /// The bone it was attached to first.
        first: u32,
        /// The other bone.
        second: u32,
    },
}
