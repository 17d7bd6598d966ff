//! Errors of reading and checking meshes. Each names the line or element, and where it is (m).

use glam::DVec3;
use sinew_math::TetMeshError;
use thiserror::Error;

/// Why a file, a surface or a mesh cannot be used. Indices of vertices, triangles, nodes and tetrahedra start at 0,
/// lines at 1; positions are in metres.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A line of a text file cannot be read.
    #[error("line {line}: {problem}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A file does not have the expected format.
    #[error("{problem}")]
    Format {
        /// What is wrong with it.
        problem: String,
    },
    /// The surface has no triangles.
    #[error("the surface has no triangles; give at least four")]
    NoTriangles,
    /// More elements than 32-bit indices can count.
    #[error("there are {n} {what}, more than 32-bit indices can count; use a coarser mesh")]
    TooMany {
        /// Which elements.
        what: &'static str,
        /// How many.
        n: usize,
    },
    /// A vertex has a NaN or infinite coordinate.
    #[error("vertex {vertex} has a NaN or infinite coordinate")]
    NonFiniteVertex {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} refers to vertex {vertex}, but there are only {n_vertices}")]
    MissingVertex {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex index that it uses.
        vertex: u32,
        /// How many vertices there are.
        n_vertices: usize,
    },
    /// A triangle has no area.
    #[error("triangle {triangle} at {at} has no area; remove it and weld its corners")]
    FlatTriangle {
        /// Index of the triangle.
        triangle: usize,
        /// Its first corner.
        at: DVec3,
    },
    /// An edge belongs to one triangle only: a hole.
    #[error("the surface is open at edge {}–{}, at {at}, of triangle {triangle}; close the hole", edge[0], edge[1])]
    OpenEdge {
        /// The two vertices of the edge.
        edge: [u32; 2],
        /// The triangle it belongs to.
        triangle: usize,
        /// The middle of the edge.
        at: DVec3,
    },
    /// An edge belongs to more than two triangles.
    #[error("edge {}–{} at {at} belongs to {n_triangles} triangles; a closed surface has two at every edge", edge[0], edge[1])]
    NonManifoldEdge {
        /// The two vertices of the edge.
        edge: [u32; 2],
        /// How many triangles it belongs to.
        n_triangles: usize,
        /// The middle of the edge.
        at: DVec3,
    },
    /// Two neighbours run along their common edge in the same direction: one of them is inverted.
    #[error("triangles {} and {} at {at} face opposite ways; flip one of them", triangles[0], triangles[1])]
    InvertedTriangle {
        /// The two neighbours.
        triangles: [usize; 2],
        /// The middle of their edge.
        at: DVec3,
    },
    /// Two triangles cross or touch.
    #[error("triangles {} and {} cross or touch at {at}; the surface must not intersect itself", triangles[0], triangles[1])]
    SelfIntersection {
        /// The two triangles.
        triangles: [usize; 2],
        /// A position near the crossing.
        at: DVec3,
    },
    /// A closed part has the wrong orientation among the others.
    #[error("the part around triangle {triangle} at {at} {problem}")]
    MisplacedPart {
        /// A triangle of the part.
        triangle: usize,
        /// Its first corner.
        at: DVec3,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The surface encloses nothing.
    #[error("the surface encloses no volume ({volume} m³); it must enclose a solid")]
    NoVolume {
        /// The volume (m³), zero up to rounding.
        volume: f64,
    },
    /// The tetrahedra are not a valid mesh.
    #[error(transparent)]
    Tets(#[from] TetMeshError),
    /// A vertex of the surface lies in no tetrahedron.
    #[error("vertex {vertex} of the surface, at {at}, lies outside the tetrahedra; they must cover it")]
    VertexOutside {
        /// Index of the vertex.
        vertex: usize,
        /// Where it is.
        at: DVec3,
    },
    /// The tetrahedra do not cover the solid exactly once.
    #[error(
        "the tetrahedra contain {held} m³ of the {volume} m³ inside the surface; they must cover it exactly once"
    )]
    NotCovered {
        /// The volume common to tetrahedra and solid (m³).
        held: f64,
        /// The volume inside the surface (m³).
        volume: f64,
    },
    /// A setting is out of range.
    #[error("{what} is {value}, but must be {allowed}")]
    Setting {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A stored body is inconsistent.
    #[error("{what} {index}: {problem}")]
    Stored {
        /// Which list.
        what: &'static str,
        /// Which entry.
        index: usize,
        /// What is wrong with it.
        problem: String,
    },
}
