//! Shapes of colliders, each in the frame of its collider; sizes in metres.
//!
//! Primitives are those of [`sinew_math::Shape`]; the plane and the height field have their free side towards +z.

use crate::nearest::{LocalBox, Nearest};
use crate::{
    convex_hull::ConvexHull,
    error::ContactError,
    height_field::HeightField,
    primitives::{nearest, sides},
    tri_mesh::TriMesh,
};
use glam::DVec3;
use sinew_math::{Shape, ShapeSize};
use std::sync::Arc;

/// A shape that can touch.
#[derive(Clone, Debug, PartialEq)]
pub enum ContactShape {
    /// Everything with `z ≤ 0`.
    Plane,
    /// A primitive that is touchable.
    Solid(Shape),
    /// The convex hull of points.
    Convex(ConvexHull),
    /// Ground given by heights over a grid.
    Field(HeightField),
    /// Triangles.
    Mesh(Arc<TriMesh>),
}

impl From<Shape> for ContactShape {
    fn from(shape: Shape) -> Self {
        Self::Solid(shape)
    }
}

impl From<TriMesh> for ContactShape {
    fn from(mesh: TriMesh) -> Self {
        Self::Mesh(Arc::new(mesh))
    }
}

impl ContactShape {
    /// Every size is positive and finite.
    ///
    /// # Errors
    /// [`ContactError::Size`] names the first that is not; [`ContactError::Untouchable`] for primitives without contact
    /// geometry.
    pub fn check(&self) -> Result<(), ContactError> {
        let Self::Solid(shape) = self else { return Ok(()) };
        if !shape.is_touchable() {
            return Err(ContactError::Untouchable(shape.name()));
        }
        match shape.sizes().find(|size| !(size.value > 0.0 && size.value.is_finite())) {
            Some(ShapeSize { name, value, .. }) => {
                Err(ContactError::Size { shape: shape.name(), field: name, value })
            }
            None => Ok(()),
        }
    }

    /// The box around the shape in its own frame; none for a plane, which is infinite.
    pub(crate) fn extent(&self) -> Option<LocalBox> {
        match self {
            Self::Plane => None,
            Self::Solid(shape) => Some(LocalBox { centre: DVec3::ZERO, half: shape.half_extents() }),
            Self::Convex(hull) => Some(hull.extent()),
            Self::Field(field) => Some(field.extent()),
            Self::Mesh(mesh) => Some(mesh.extent()),
        }
    }

    /// Distance (m) of a point, in the frame of the shape, from its surface; negative inside. None beyond the border of
    /// a height field, where there is no surface. A sheet of triangles has no inside.
    pub fn signed_distance(&self, point: DVec3) -> Option<f64> {
        self.distance(point).map(|nearest| nearest.distance)
    }

    /// Distance and normal; none beyond the border of a height field.
    #[inline]
    pub(crate) fn distance(&self, p: DVec3) -> Option<Nearest> {
        match self {
            Self::Plane => Some(Nearest { distance: p.z, normal: DVec3::Z }),
            Self::Solid(shape) => nearest(shape, p),
            Self::Convex(hull) => Some(hull.distance(p)),
            Self::Field(field) => field.distance(p),
            Self::Mesh(mesh) => Some(mesh.distance(p)),
        }
    }

    /// Gives `visit` the height of a point over planes along the surface of a convex shape, one for each side on which it could leave it, and their outward
    /// normals: of the faces, and of a round side those next to the point and opposite.
    pub(crate) fn sides(&self, p: DVec3, mut visit: impl FnMut(f64, DVec3)) {
        match self {
            Self::Solid(shape) => sides(shape, p, visit),
            Self::Convex(hull) => hull.heights(p).for_each(|(height, normal)| visit(height, normal)),
            Self::Plane | Self::Field(_) | Self::Mesh(_) => {}
        }
    }

    /// A point inside a convex shape.
    pub(crate) fn middle(&self) -> DVec3 {
        if let Self::Convex(hull) = self { hull.middle() } else { DVec3::ZERO }
    }
}
