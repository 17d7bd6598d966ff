//! What a scene changes while it runs.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{StepperDoc, is_default};

/// Other settings from a time on. What is left out stays as it is.
///
/// Factors are on the scene as it is written, not on each other: 2 and later 3 is 3 times what is written, and 1 is as
/// written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChangeDoc {
    /// When (s): before the first step whose middle is not earlier, so that rounding of times never moves it by a step. 0 is from
    /// the beginning.
    pub at_s: f64,
    /// Acceleration of gravity (m/s²), world axes.
    #[serde(skip_serializing_if = "is_default")]
    pub gravity: Option<DVec3>,
    /// Time step (s), 1e-12 to 1e6.
    #[serde(skip_serializing_if = "is_default")]
    pub dt: Option<f64>,
    /// How time is stepped.
    #[serde(skip_serializing_if = "is_default")]
    pub stepper: Option<StepperDoc>,
    /// Most iterations on closed loops per solve; with 0 loops stay open.
    #[serde(skip_serializing_if = "is_default")]
    pub loop_iterations: Option<u32>,
    /// Factor on the stiffness of the springs of all joints, at least 0.
    #[serde(skip_serializing_if = "is_default")]
    pub joint_stiffness: Option<f64>,
    /// Factor on the damping of all joints and their springs, at least 0.
    #[serde(skip_serializing_if = "is_default")]
    pub joint_damping: Option<f64>,
    /// Factor on Young's modulus of all flesh, above 0.
    #[serde(skip_serializing_if = "is_default")]
    pub flesh_stiffness: Option<f64>,
    /// Factor on the normal stiffness of all contacts, above 0.
    #[serde(skip_serializing_if = "is_default")]
    pub contact_stiffness: Option<f64>,
    /// Factor on the damping of all contacts, at least 0.
    #[serde(skip_serializing_if = "is_default")]
    pub contact_damping: Option<f64>,
    /// Factor on the friction of all contacts, at least 0.
    #[serde(skip_serializing_if = "is_default")]
    pub friction: Option<f64>,
}
