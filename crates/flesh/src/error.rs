//! Errors of building flesh; each names the bone, body, point or number.

use sinew_contact::ContactError;
use sinew_fem::FemError;

/// Why flesh could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleshError {
    /// The mesh, its material or its attachments.
    #[error(transparent)]
    Fem(#[from] FemError),
    /// A collider.
    #[error(transparent)]
    Contact(#[from] ContactError),
    /// A bone that is not a body.
    #[error("bone {bone} refers to body {body}, but there are only {n_bodies} bodies")]
    Bone {
        /// Index of the bone.
        bone: usize,
        /// The body index that it uses.
        body: usize,
        /// Bodies of the mechanism.
        n_bodies: usize,
    },
    /// A collider without stiffness on a body that forces move, which would fall through the world.
    #[error("the collider of body {body} needs a positive stiffness, because forces move that body")]
    NoStiffness {
        /// The body.
        body: usize,
    },
    /// An attached node that refers to a bone that does not exist.
    #[error("a node refers to bone {bone}, but there are only {n_bones} bones")]
    MissingBone {
        /// The bone index that it uses.
        bone: u32,
        /// Bones of the flesh.
        n_bones: usize,
    },
    /// A surface point outside the mesh.
    #[error("surface point {point} is in tetrahedron {tet}, but there are only {n_tets} tetrahedra")]
    SurfacePoint {
        /// Index of the point.
        point: usize,
        /// The tetrahedron index that it uses.
        tet: u32,
        /// Tetrahedra of the mesh.
        n_tets: usize,
    },
    /// A triangle of the skin over a point that does not exist.
    #[error("a triangle of the skin has a corner that does not exist: the surface has {n_points} points")]
    Corner {
        /// Points of the surface.
        n_points: usize,
    },
    /// A list that does not have one entry per region.
    #[error("there are {found} numbers for {expected} regions")]
    Regions {
        /// Its length.
        found: usize,
        /// Regions of the tetrahedra, with that of all others.
        expected: usize,
    },
    /// A number out of range.
    #[error("{what} is {value}; it must be {range}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        range: &'static str,
    },
}
