//! Bodies: pose, velocity, shapes and mass. Plain data; metres, kilograms, radians.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{contact::ContactDoc, omit::is_default, pose::PoseDoc, shape::ShapeDoc};

document! {
    /// One rigid body.
    pub struct BodyDoc {
        /// Unique among bodies; `world` is reserved.
        pub name: String,
        /// Who moves it.
        [omit] pub kind: BodyKindDoc,
        /// Initial pose of the body frame in the world.
        [omit] pub pose: PoseDoc,
        /// Initial velocity.
        [omit] pub velocity: VelocityDoc,
        /// What it looks like and, unless `mass` says otherwise, how its mass is spread.
        [omit] pub shapes: Vec<ShapeDoc>,
        /// Its mass, centre of mass and inertia.
        [omit] pub mass: MassDoc,
        /// Rate at which its linear velocity decays (1/s): force −m c v.
        [omit] pub linear_damping: f64,
        /// Rate at which its angular velocity decays (1/s): torque −I c ω.
        [omit] pub angular_damping: f64,
        /// How all its shapes touch; if left out, only colliders that name the body do.
        [omit] pub contact: Option<ContactDoc>,
        /// Colour to draw it with: red, green, blue from 0 to 1.
        [omit] pub color: Option<DVec3>,
    }
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

document! {
    /// Velocity of a body in world axes.
    #[derive(Copy)]
    pub struct VelocityDoc {
        /// Angular velocity (rad/s).
        [omit] pub angular: DVec3,
        /// Velocity of the centre of mass (m/s).
        [omit] pub linear: DVec3,
    }
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
