//! Shapes of bodies and colliders: a solid, and its frame in the body frame. Metres. Plain data.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_math::Shape;

use super::{omit::is_default, pose::PoseDoc};

/// A solid shape. In a scene: `Box(size: (1, 1, 1), at: (position: (0, 0, 1)))`, with `at` as a field of each shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "ShapeText", into = "ShapeText")]
pub struct ShapeDoc {
    /// The shape, centred on its frame; its axis, where it has one, is x.
    pub solid: Shape,
    /// Frame of the shape in the body frame.
    pub at: PoseDoc,
}

impl ShapeDoc {
    /// A shape centred on the body frame.
    pub fn centred(solid: Shape) -> Self {
        Self { solid, at: PoseDoc::default() }
    }
}

/// The shapes as they are written.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum ShapeText {
    Box {
        size: DVec3,
        #[serde(default, skip_serializing_if = "is_default")]
        at: PoseDoc,
    },
    Sphere {
        radius: f64,
        #[serde(default, skip_serializing_if = "is_default")]
        at: PoseDoc,
    },
    Capsule {
        radius: f64,
        length: f64,
        #[serde(default, skip_serializing_if = "is_default")]
        at: PoseDoc,
    },
    Cylinder {
        radius: f64,
        length: f64,
        #[serde(default, skip_serializing_if = "is_default")]
        at: PoseDoc,
    },
    Ellipsoid {
        semi_axes: DVec3,
        #[serde(default, skip_serializing_if = "is_default")]
        at: PoseDoc,
    },
}

impl From<ShapeText> for ShapeDoc {
    fn from(text: ShapeText) -> Self {
        let (solid, at) = match text {
            ShapeText::Box { size, at } => (Shape::Box { size }, at),
            ShapeText::Sphere { radius, at } => (Shape::Sphere { radius }, at),
            ShapeText::Capsule { radius, length, at } => (Shape::Capsule { radius, length }, at),
            ShapeText::Cylinder { radius, length, at } => (Shape::Cylinder { radius, length }, at),
            ShapeText::Ellipsoid { semi_axes, at } => (Shape::Ellipsoid { semi_axes }, at),
        };
        Self { solid, at }
    }
}

impl From<ShapeDoc> for ShapeText {
    fn from(ShapeDoc { solid, at }: ShapeDoc) -> Self {
        match solid {
            Shape::Box { size } => Self::Box { size, at },
            Shape::Sphere { radius } => Self::Sphere { radius, at },
            Shape::Capsule { radius, length } => Self::Capsule { radius, length, at },
            Shape::Cylinder { radius, length } => Self::Cylinder { radius, length, at },
            Shape::Ellipsoid { semi_axes } => Self::Ellipsoid { semi_axes, at },
        }
    }
}
