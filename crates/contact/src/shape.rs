//! Shapes of colliders, each in the frame of its collider; sizes in metres.
//!
//! Shapes are centred on the origin, their axis (where one exists) along x as in `sinew_math::MassProperties`; the
//! plane and the height field have their free side towards +z.

use crate::convex_hull::ConvexHull;
use crate::error::ContactError;
use crate::height_field::HeightField;
use crate::nearest::LocalBox;
use glam::DVec3;

/// A shape that can touch.
#[derive(Clone, Debug, PartialEq)]
pub enum ContactShape {
    /// Everything with `z ≤ 0`.
    Plane,
    /// A box with the full edge lengths `edges`.
    Box {
        /// Along x, y, z (m).
        edges: DVec3,
    },
    /// A ball.
    Sphere {
        /// (m)
        radius: f64,
    },
    /// All points within `radius` of a segment of `length` along x.
    Capsule {
        /// (m)
        radius: f64,
        /// Of the segment, without the round ends (m).
        length: f64,
    },
    /// A cylinder along x.
    Cylinder {
        /// (m)
        radius: f64,
        /// (m)
        length: f64,
    },
    /// The convex hull of points.
    Convex(ConvexHull),
    /// Ground given by heights over a grid.
    Field(HeightField),
}

impl ContactShape {
    /// Every size is positive and finite.
    ///
    /// # Errors
    /// [`ContactError::Size`] names the first that is not.
    pub fn check(&self) -> Result<(), ContactError> {
        let size = |field, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(ContactError::Size { shape: self.kind(), field, value })
            }
        };
        match self {
            Self::Plane | Self::Convex(_) | Self::Field(_) => Ok(()),
            Self::Box { edges } => {
                size("edge along x", edges.x)?;
                size("edge along y", edges.y)?;
                size("edge along z", edges.z)
            }
            Self::Sphere { radius } => size("radius", *radius),
            Self::Capsule { radius, length } | Self::Cylinder { radius, length } => {
                size("radius", *radius)?;
                size("length", *length)
            }
        }
    }

    /// Name of the kind of shape, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Plane => "plane",
            Self::Box { .. } => "box",
            Self::Sphere { .. } => "sphere",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Convex(_) => "convex",
            Self::Field(_) => "height field",
        }
    }

    /// The box around the shape in its own frame; none for a plane, which is infinite.
    pub(crate) fn extent(&self) -> Option<LocalBox> {
        let centred = |half| Some(LocalBox { centre: DVec3::ZERO, half });
        match self {
            Self::Plane => None,
            Self::Box { edges } => centred(*edges * 0.5),
            Self::Sphere { radius } => centred(DVec3::splat(*radius)),
            Self::Capsule { radius, length } => centred(DVec3::new(0.5 * length + radius, *radius, *radius)),
            Self::Cylinder { radius, length } => centred(DVec3::new(0.5 * length, *radius, *radius)),
            Self::Convex(hull) => Some(hull.extent()),
            Self::Field(field) => Some(field.extent()),
        }
    }
}
