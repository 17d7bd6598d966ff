//! Expectations: bounds that must hold over a run. SI units, world axes. Plain data; `sinew-sim` checks them.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::omit::is_default;

document! {
    /// Expectations over the run; those left out are not checked. Every run must also stay finite.
    ///
    /// Energies are compared relative to the largest kinetic energy of the run, so that the height at which
    /// potential energy is zero does not matter.
    pub struct ExpectDoc {
        /// Largest distance by which a joint may come apart at any time (m).
        [omit] pub max_position_error_m: Option<f64>,
        /// Largest angle by which locked joint directions may disagree at any time (rad).
        [omit] pub max_rotation_error_rad: Option<f64>,
        /// Largest of both among the joints of the tree, which never open, at any time (m, rad).
        [omit] pub max_tree_error: Option<f64>,
        /// Largest |E(t) − E(0)|, relative to the largest kinetic energy of the run.
        [omit] pub energy_drift: Option<f64>,
        /// Largest E(t) − E(0), relative to the largest kinetic energy of the run; 0 forbids any gain.
        [omit] pub energy_gain: Option<f64>,
        /// Largest speed of any centre of mass at any time (m/s).
        [omit] pub max_speed_m_per_s: Option<f64>,
        /// Largest angular speed of any body at any time (rad/s).
        [omit] pub max_angular_speed_rad_per_s: Option<f64>,
        /// Where bodies must be.
        [omit] pub bodies: Vec<ExpectBodyDoc>,
        /// Most tetrahedra that may be inverted at the end.
        [omit] pub max_inverted: Option<u32>,
        /// Deepest contact at any time (m).
        [omit] pub max_penetration_m: Option<f64>,
        /// Largest distance of any node of flesh from its place at rest at the end (m), once the flesh as a whole is
        /// moved and turned to fit.
        [omit] pub flesh_rest_m: Option<f64>,
        /// Where nodes of flesh must be.
        [omit] pub flesh: Vec<ExpectFleshDoc>,
        /// Names of the joints that are broken at the end; all others are whole.
        [omit] pub broken: Option<Vec<String>>,
        /// What the motion must show.
        [omit] pub motions: Vec<ExpectMotionDoc>,
    }
}

document! {
    /// Where a body must be.
    pub struct ExpectBodyDoc {
        /// Name of the body (generated names included).
        pub body: String,
        /// When (s); the end of the run if left out.
        [omit] pub at_s: Option<f64>,
        /// A point of the body, in its body frame (m).
        [omit] pub point: DVec3,
        /// Where that point must be, in the world (m).
        pub position: DVec3,
        /// Largest distance allowed (m).
        pub tolerance_m: f64,
    }
}

document! {
    /// Where a node of flesh must be.
    pub struct ExpectFleshDoc {
        /// Name of the flesh (generated names included).
        pub flesh: String,
        /// The node, counted from 0.
        pub node: u32,
        /// When (s); the end of the run if left out.
        [omit] pub at_s: Option<f64>,
        /// Where it must be, in the world (m).
        pub position: DVec3,
        /// Largest distance allowed (m).
        pub tolerance_m: f64,
    }
}

/// What a motion must show: a measure of the whole run between two bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectMotionDoc {
    /// What is measured.
    pub measure: MeasureDoc,
    /// Smallest value allowed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at_least: Option<f64>,
    /// Largest value allowed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at_most: Option<f64>,
}

/// A measure of a run. Heights are above the origin, against gravity (along z without gravity).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum MeasureDoc {
    /// Longest time without a break (s) during which every surface point of a flesh is higher than this.
    Airborne {
        /// Name of the flesh.
        flesh: String,
        /// Height above the origin (m).
        clearance_m: f64,
    },
    /// Greatest height that the lowest surface point of a flesh reaches (m).
    Apex {
        /// Name of the flesh.
        flesh: String,
    },
    /// Angle by which a body has turned about an axis of the world, at most at any time, in either direction (rad).
    Turned {
        /// Name of the body.
        body: String,
        /// The axis, of any length but zero.
        axis: DVec3,
    },
    /// Angle by which a body has turned about an axis of the world at the end, in either direction (rad).
    NetTurn {
        /// Name of the body.
        body: String,
        /// The axis, of any length but zero.
        axis: DVec3,
    },
    /// Horizontal distance of the origin of a body frame at the end from where it began (m).
    Travelled {
        /// Name of the body.
        body: String,
    },
    /// Lowest height of the centre of mass of a body at any time (m).
    Lowest {
        /// Name of the body.
        body: String,
    },
    /// How often two things begin to touch. Things are colliders by their name, or that of their body, and flesh; sensors are touched by what
    /// overlaps them.
    Touches {
        /// One.
        a: String,
        /// The other.
        b: String,
    },
    /// How long two things touch in all (s), as with `Touches`.
    TouchTime {
        /// One.
        a: String,
        /// The other.
        b: String,
    },
    /// Largest distance of a goal's point or orientation from its target while a score guides (m, rad).
    Missed {
        /// From when on (s).
        from_s: f64,
    },
    /// Root mean square of the actuators' torques (N·m, N).
    Torque,
    /// Root mean square of the actuators' accelerations (rad/s², m/s²).
    Acceleration,
}
