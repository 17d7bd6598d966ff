//! How a model looks, as plain data: shapes on bodies, springs, surfaces. No camera and no graphics library.
//!
//! Lengths in metres; colours are red, green, blue from 0 to 1.

use glam::DVec3;
use sinew_math::{Pose, Shape, SurfacePoint, Triangles};
use sinew_mechanism::BodyId;

/// How bodies, springs and flesh look; empty if nothing is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appearance {
    /// Shapes of bodies.
    pub solids: Vec<SolidAppearance>,
    /// Ends of springs.
    pub springs: Vec<[BodyPoint; 2]>,
    /// Smooth surfaces through points of bodies.
    pub surfaces: Vec<SurfaceAppearance>,
    /// Meshes of bodies and of the world.
    pub meshes: Vec<MeshAppearance>,
    /// Flesh, in the order of [`sinew_flesh::FleshModel::bodies`].
    pub flesh: Vec<FleshAppearance>,
}

/// A shape on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidAppearance {
    /// The body.
    pub body: BodyId,
    /// Pose of the shape in the body frame.
    pub body_from_shape: Pose,
    /// The shape.
    pub shape: Shape,
    /// Its colour, if the scene gives one.
    pub color: Option<DVec3>,
}

/// A smooth surface through points of bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceAppearance {
    /// The points, row by row; at least two rows.
    pub points: Vec<BodyPoint>,
    /// Points in a row, at least two.
    pub columns: usize,
    /// Pieces between neighbouring points, at least one.
    pub fineness: usize,
    /// Its colour, if the scene gives one.
    pub color: Option<DVec3>,
}

/// A mesh that does not deform.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshAppearance {
    /// The body that carries it; none for the world.
    pub body: Option<BodyId>,
    /// In the body frame, or in the world (m); counterclockwise from outside.
    pub surface: Triangles,
    /// Its colour, if the scene gives one.
    pub color: Option<DVec3>,
}

/// The surface of one body of flesh.
#[derive(Clone, Debug, PartialEq)]
pub struct FleshAppearance {
    /// Its name.
    pub name: String,
    /// Points in its tetrahedra: those of its surface, or of what is drawn instead.
    pub points: Vec<SurfacePoint>,
    /// Three points each, counterclockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Its colour, if the scene gives one.
    pub color: Option<DVec3>,
    /// Names of its muscles, in the order of the tetrahedra's.
    pub muscles: Vec<String>,
    /// Names of its regions, from region 1 on.
    pub regions: Vec<String>,
}

/// A point of a body, or of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPoint {
    /// The body; none for the world.
    pub body: Option<BodyId>,
    /// The point in its body frame, or in the world (m).
    pub point: DVec3,
}
