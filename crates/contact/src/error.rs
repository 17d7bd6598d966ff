//! Errors of colliders, shapes and contact models.

use thiserror::Error;

/// Why a collider, a shape or a model was refused.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ContactError {
    /// A length of a shape is not a positive finite number.
    #[error("{shape}: {field} must be positive and finite, not {value}")]
    Size {
        /// Kind of the shape.
        shape: &'static str,
        /// Which length.
        field: &'static str,
        /// What it was (m).
        value: f64,
    },
    /// A primitive without contact geometry.
    #[error("a shape of kind {0} cannot be a collider; use spheres, capsules, cylinders or boxes")]
    Untouchable(&'static str),
    /// A number of a material is out of its range.
    #[error("material: {field} must be {range}, not {value}")]
    Material {
        /// Which number.
        field: &'static str,
        /// What is allowed.
        range: &'static str,
        /// What it was.
        value: f64,
    },
    /// A convex hull needs at least four finite points that are not in one plane.
    #[error("convex hull: {0}")]
    Hull(&'static str),
    /// A mesh cannot be a collider.
    #[error("mesh: {0}")]
    Mesh(String),
    /// A height field needs at least 2 × 2 finite heights, as many as its grid has vertices.
    #[error("height field: {0}")]
    Field(&'static str),
    /// A triangle of a skin refers to a point that does not exist.
    #[error(
        "face {face} of the skin refers to a point that does not exist; there are only {n_points} points"
    )]
    Skin {
        /// The triangle.
        face: usize,
        /// Number of points.
        n_points: usize,
    },
    /// A pose has a number that is not finite, or a rotation that is not of unit length.
    #[error("the pose of the collider must be finite, with a rotation of unit length")]
    Pose,
    /// A shape that is not convex cannot be cast.
    #[error("a {0} cannot be cast; cast a ball, box, capsule, cylinder or convex hull")]
    NotCast(&'static str),
    /// A motion has a number that is not finite.
    #[error("the motion of a cast must be finite")]
    Motion,
    /// A normal is zero or not finite.
    #[error("the normal of a plane must be finite and not zero")]
    Normal,
    /// A fault of one collider of a model.
    #[error("collider {collider}: {fault}")]
    Collider {
        /// Index of the collider.
        collider: usize,
        /// What is wrong with it.
        fault: Box<ContactError>,
    },
    /// A collider belongs to a body that does not exist.
    #[error("body {body} does not exist; there are only {n_bodies} bodies")]
    Body {
        /// The body named.
        body: u32,
        /// Number of bodies of the model.
        n_bodies: usize,
    },
    /// There is not one part per collider.
    #[error("{n_parts} parts do not fit {n_colliders} colliders; give one part per collider")]
    Parts {
        /// Number of parts given.
        n_parts: usize,
        /// Number of colliders.
        n_colliders: usize,
    },
    /// There are more colliders or bodies than indices.
    #[error("too many colliders or bodies: the limit is {0}")]
    TooMany(usize),
}
