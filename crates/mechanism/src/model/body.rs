//! Bodies as the user describes them: frame, mass, first motion and drag. `builder` turns them into records.

use sinew_math::{MassProperties, Motion, Pose};

/// Who moves a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BodyKind {
    /// Forces move it.
    #[default]
    Dynamic,
    /// It never moves.
    Fixed,
    /// The input of each step moves it; nothing pushes it back (a tracker: null inverse mass).
    Kinematic,
}

/// A body before it joins a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BodySpec {
    /// Unique name; empty means unnamed.
    pub name: String,
    /// Who moves it.
    pub kind: BodyKind,
    /// Pose of the body frame, `world_from_body`. The centre of mass may lie elsewhere, see [`Self::mass`].
    pub pose: Pose,
    /// Twist of the body at its centre of mass, world axes (rad/s, m/s).
    pub motion: Motion,
    /// Mass, centre of mass and inertia in the body frame. Ignored unless the body is dynamic.
    pub mass: MassProperties,
    /// Linear drag rate, 1/s: force `−m d v`.
    pub linear_damping: f64,
    /// Angular drag rate, 1/s: torque `−I d ω`.
    pub angular_damping: f64,
}

impl BodySpec {
    /// A dynamic body at rest.
    pub fn dynamic(name: impl Into<String>, pose: Pose, mass: MassProperties) -> Self {
        Self {
            name: name.into(),
            kind: BodyKind::Dynamic,
            pose,
            motion: Motion::ZERO,
            mass,
            linear_damping: 0.0,
            angular_damping: 0.0,
        }
    }

    /// A body that never moves.
    pub fn fixed(name: impl Into<String>, pose: Pose) -> Self {
        Self { kind: BodyKind::Fixed, ..Self::dynamic(name, pose, MassProperties::default()) }
    }

    /// A body that the input moves.
    pub fn kinematic(name: impl Into<String>, pose: Pose) -> Self {
        Self { kind: BodyKind::Kinematic, ..Self::dynamic(name, pose, MassProperties::default()) }
    }

    /// The same body with an initial twist (at the centre of mass, world axes).
    pub fn with_motion(self, motion: Motion) -> Self {
        Self { motion, ..self }
    }

    /// The same body with drag rates (1/s).
    pub fn with_damping(self, angular: f64, linear: f64) -> Self {
        Self { angular_damping: angular, linear_damping: linear, ..self }
    }
}
