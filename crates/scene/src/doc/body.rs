//! Bodies: pose, velocity, shapes and mass.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::is_default;

/// One rigid body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BodyDoc {
    /// Unique among bodies; `world` is reserved.
    pub name: String,
    /// Who moves it.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: BodyKindDoc,
    /// Initial pose of the body frame in the world.
    #[serde(skip_serializing_if = "is_default")]
    pub pose: PoseDoc,
    /// Initial velocity.
    #[serde(skip_serializing_if = "is_default")]
    pub velocity: VelocityDoc,
    /// What it looks like and, unless `mass` says otherwise, how its mass is spread.
    #[serde(skip_serializing_if = "is_default")]
    pub shapes: Vec<ShapeDoc>,
    /// Its mass, centre of mass and inertia.
    #[serde(skip_serializing_if = "is_default")]
    pub mass: MassDoc,
    /// Rate at which its linear velocity decays (1/s): force −m c v.
    #[serde(skip_serializing_if = "is_default")]
    pub linear_damping: f64,
    /// Rate at which its angular velocity decays (1/s): torque −I c ω.
    #[serde(skip_serializing_if = "is_default")]
    pub angular_damping: f64,
    /// Colour to draw it with: red, green, blue from 0 to 1.
    #[serde(skip_serializing_if = "is_default")]
    pub color: Option<DVec3>,
}

/// Who moves a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BodyKindDoc {
    /// Forces and joints.
    #[default]
    Dynamic,
    /// Nobody: part of the world.
    Fixed,
    /// A track (see `InputDoc::Kinematic`) or the program; forces do not move it.
    Kinematic,
}

/// Position and rotation of a frame, relative to the frame it is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoseDoc {
    /// Origin (m).
    #[serde(skip_serializing_if = "is_default")]
    pub position: DVec3,
    /// Orientation.
    #[serde(skip_serializing_if = "is_default")]
    pub rotation: RotationDoc,
}

/// A rotation, written the way that is handiest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum RotationDoc {
    /// No rotation.
    #[default]
    Identity,
    /// Rotation vector: axis times angle (rad).
    Vector(DVec3),
    /// Turn about an axis of any non-zero length.
    AxisAngle {
        /// Axis; normalized on use.
        axis: DVec3,
        /// Angle (rad).
        angle: f64,
    },
    /// Unit quaternion; normalized on use, so it must not be zero.
    Quaternion {
        /// Real part.
        w: f64,
        /// First imaginary part.
        x: f64,
        /// Second imaginary part.
        y: f64,
        /// Third imaginary part.
        z: f64,
    },
}

/// Velocity of a body in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VelocityDoc {
    /// Angular velocity (rad/s).
    #[serde(skip_serializing_if = "is_default")]
    pub angular: DVec3,
    /// Velocity of the centre of mass (m/s).
    #[serde(skip_serializing_if = "is_default")]
    pub linear: DVec3,
}

/// A solid shape; where it has an axis, that axis is x of its own frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ShapeDoc {
    /// Rectangular box.
    Box(BoxDoc),
    /// Ball.
    Sphere(SphereDoc),
    /// Cylinder with half balls at both ends.
    Capsule(CapsuleDoc),
    /// Circular cylinder.
    Cylinder(CylinderDoc),
    /// Ellipsoid.
    Ellipsoid(EllipsoidDoc),
}

/// Rectangular box centred on its frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxDoc {
    /// Full edge lengths along x, y, z (m).
    pub size: DVec3,
    /// Frame of the shape in the body frame.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: PoseDoc,
}

/// Ball centred on its frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SphereDoc {
    /// Radius (m).
    pub radius: f64,
    /// Frame of the shape in the body frame.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: PoseDoc,
}

/// Cylinder along x with half balls at both ends, centred on its frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapsuleDoc {
    /// Radius of cylinder and caps (m).
    pub radius: f64,
    /// Length of the cylinder part, caps not counted (m).
    pub length: f64,
    /// Frame of the shape in the body frame.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: PoseDoc,
}

/// Circular cylinder along x, centred on its frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CylinderDoc {
    /// Radius (m).
    pub radius: f64,
    /// Length (m).
    pub length: f64,
    /// Frame of the shape in the body frame.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: PoseDoc,
}

/// Ellipsoid centred on its frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EllipsoidDoc {
    /// Half lengths along x, y, z (m).
    pub semi_axes: DVec3,
    /// Frame of the shape in the body frame.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: PoseDoc,
}

/// Mass of a body, from its shapes or given outright.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum MassDoc {
    /// Shapes filled with a material of this density (kg/m³); where shapes overlap, both count.
    Density(f64),
    /// Shapes filled with one material so that the whole body has this mass (kg).
    Total(f64),
    /// Written out; shapes are for drawing only.
    Properties(MassPropertiesDoc),
}

impl Default for MassDoc {
    /// Density of water.
    fn default() -> Self {
        Self::Density(1000.0)
    }
}

/// Mass properties written out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MassPropertiesDoc {
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass in the body frame (m).
    #[serde(default, skip_serializing_if = "is_default")]
    pub com: DVec3,
    /// Inertia about the centre of mass, in body axes.
    pub inertia: InertiaDoc,
}

/// Inertia about the centre of mass, in body axes (kg·m²).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum InertiaDoc {
    /// Principal moments about the body axes.
    Diagonal(DVec3),
    /// Entries of the symmetric matrix; off-diagonal entries are the negative second moments.
    Full {
        /// Row x, column x.
        xx: f64,
        /// Row y, column y.
        yy: f64,
        /// Row z, column z.
        zz: f64,
        /// Row x, column y.
        xy: f64,
        /// Row y, column z.
        yz: f64,
        /// Row x, column z.
        xz: f64,
    },
}
