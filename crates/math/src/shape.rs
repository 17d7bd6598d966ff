//! Solid primitives: their mass properties and extents.
//!
//! Every shape is centred on its own frame; where it has an axis, that axis is x. Lengths in metres, densities in
//! kg/m³. Sizes are not checked: callers ensure that they are positive ([`Shape::sizes`]). Constant cost.

use crate::mass::MassProperties;
use glam::DVec3;

/// A solid centred on its frame, with its axis, where it has one, along x. Lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Shape {
    /// Rectangular box.
    Box {
        /// Full edge lengths along x, y, z.
        size: DVec3,
    },
    /// Ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// Cylinder with half balls at both ends.
    Capsule {
        /// Radius of cylinder and caps.
        radius: f64,
        /// Length of the cylinder part, caps not counted.
        length: f64,
    },
    /// Circular cylinder.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Length.
        length: f64,
    },
    /// Ellipsoid.
    Ellipsoid {
        /// Half lengths along x, y, z.
        semi_axes: DVec3,
    },
}

/// A solid of unit size, the building block of [`Shape::pieces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitSolid {
    /// A cube with edges of 1 m.
    Cube,
    /// A ball of radius 1 m.
    Ball,
    /// A cylinder along x, 1 m long, of radius 1 m.
    Cylinder,
}

/// A scaled unit solid; a shape is the union of its pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapePiece {
    /// The solid that is scaled.
    pub solid: UnitSolid,
    /// Factors along x, y, z.
    pub scale: DVec3,
    /// Centre along x of the shape (m).
    pub x: f64,
}

/// One size of a shape, for checks and messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeSize {
    /// The field of [`Shape`].
    pub name: &'static str,
    /// Its value (m).
    pub value: f64,
    /// Whether the shape is still a solid if it is zero.
    pub may_be_zero: bool,
}

impl Shape {
    /// The name of the kind of shape in lower case.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Box { .. } => "box",
            Self::Sphere { .. } => "sphere",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Ellipsoid { .. } => "ellipsoid",
        }
    }

    /// The sizes by name. Of a vector, the first component that is not positive and finite, else its x.
    pub fn sizes(&self) -> impl Iterator<Item = ShapeSize> {
        let one = |name, value| ShapeSize { name, value, may_be_zero: false };
        let vector = |name, v: DVec3| {
            let is_bad = |x: &f64| !(*x > 0.0 && x.is_finite());
            [Some(one(name, v.to_array().into_iter().find(is_bad).unwrap_or(v.x))), None]
        };
        let sizes = match *self {
            Self::Box { size } => vector("size", size),
            Self::Sphere { radius } => [Some(one("radius", radius)), None],
            Self::Capsule { radius, length } => {
                [Some(one("radius", radius)), Some(ShapeSize { may_be_zero: true, ..one("length", length) })]
            }
            Self::Cylinder { radius, length } => [Some(one("radius", radius)), Some(one("length", length))],
            Self::Ellipsoid { semi_axes } => vector("semi_axes", semi_axes),
        };
        sizes.into_iter().flatten()
    }

    /// The same shape with all sizes multiplied by `factor`.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        match self {
            Self::Box { size } => Self::Box { size: size * factor },
            Self::Sphere { radius } => Self::Sphere { radius: radius * factor },
            Self::Capsule { radius, length } => {
                Self::Capsule { radius: radius * factor, length: length * factor }
            }
            Self::Cylinder { radius, length } => {
                Self::Cylinder { radius: radius * factor, length: length * factor }
            }
            Self::Ellipsoid { semi_axes } => Self::Ellipsoid { semi_axes: semi_axes * factor },
        }
    }

    /// Mass properties in the frame of the shape, for a uniform density (kg/m³).
    pub fn mass_properties(&self, density: f64) -> MassProperties {
        match *self {
            Self::Box { size } => MassProperties::cuboid(size, density),
            Self::Sphere { radius } => MassProperties::sphere(radius, density),
            Self::Capsule { radius, length } => MassProperties::capsule(radius, length, density),
            Self::Cylinder { radius, length } => MassProperties::cylinder(radius, length, density),
            Self::Ellipsoid { semi_axes } => MassProperties::ellipsoid(semi_axes, density),
        }
    }

    /// Half the edges of the smallest box around the shape along its own axes (m).
    #[inline]
    pub fn half_extents(&self) -> DVec3 {
        match *self {
            Self::Box { size } => size * 0.5,
            Self::Sphere { radius } => DVec3::splat(radius),
            Self::Capsule { radius, length } => DVec3::new(0.5 * length + radius, radius, radius),
            Self::Cylinder { radius, length } => DVec3::new(0.5 * length, radius, radius),
            Self::Ellipsoid { semi_axes } => semi_axes,
        }
    }

    /// Length along x (m); for a capsule that of the cylinder part, so that the caps of neighbours in a chain share a
    /// centre.
    pub fn length(&self) -> f64 {
        match *self {
            Self::Capsule { length, .. } => length,
            _ => 2.0 * self.half_extents().x,
        }
    }

    /// Whether contacts are known for the shape; ellipsoids have none.
    pub fn is_touchable(&self) -> bool {
        !matches!(self, Self::Ellipsoid { .. })
    }

    /// Boxes, balls and cylinders whose union is the shape, for drawing and for picking.
    pub fn pieces(&self) -> impl Iterator<Item = ShapePiece> {
        let at = |solid, scale, x| ShapePiece { solid, scale, x };
        let (pieces, n) = match *self {
            Self::Box { size } => ([at(UnitSolid::Cube, size, 0.0); 3], 1),
            Self::Sphere { radius } => ([at(UnitSolid::Ball, DVec3::splat(radius), 0.0); 3], 1),
            Self::Ellipsoid { semi_axes } => ([at(UnitSolid::Ball, semi_axes, 0.0); 3], 1),
            Self::Cylinder { radius, length } => {
                ([at(UnitSolid::Cylinder, DVec3::new(length, radius, radius), 0.0); 3], 1)
            }
            Self::Capsule { radius, length } => {
                let end = |side: f64| at(UnitSolid::Ball, DVec3::splat(radius), side * length);
                let middle = at(UnitSolid::Cylinder, DVec3::new(length, radius, radius), 0.0);
                ([middle, end(-0.5), end(0.5)], 3)
            }
        };
        pieces.into_iter().take(n)
    }
}
