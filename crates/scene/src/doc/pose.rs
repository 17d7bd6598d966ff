//! Poses and rotations. Metres, radians; quaternions need not have unit length.

use glam::DVec3;
use serde::{Deserialize, Serialize};

document! {
    /// Position and rotation of a frame, relative to the frame it is written in.
    #[derive(Copy)]
    pub struct PoseDoc {
        /// Origin (m).
        [omit] pub position: DVec3,
        /// Orientation.
        [omit] pub rotation: RotationDoc,
    }
}

/// A rotation, in one of several notations.
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
