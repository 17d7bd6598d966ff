//! Joint frames and drives. The kinds of joint are those of [`sinew_math::JointKind`].
//!
//! A joint ties body 1 (the child) to body 2 (the parent, or the world) through one frame on each body
//! (Fau98 §3.1). The axes of a frame are written `i, j, k` = x, y, z; **`i` is the main axis**: the pin of a
//! hinge, the rail of a slider, the normal of a plane. Frame 2 carries the directions, so "locked along y"
//! means along `j₂`. The equations of each kind live in `rows`.
//!
//! Units: metres, radians.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{DriveCoordinate, Pose};

/// A prescribed coordinate at one instant: `c(t)`, `ċ(t)`, `c̈(t)` (Fau98 eq. 7–9), evaluated by the caller.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Drive {
    /// Which coordinate is prescribed.
    pub coordinate: DriveCoordinate,
    /// `c`, in radians or metres.
    pub value: f64,
    /// `ċ`, per second.
    pub rate: f64,
    /// `c̈`, per second squared.
    pub acceleration: f64,
}

impl Drive {
    /// The coordinate held at zero.
    #[must_use]
    pub fn at_rest(coordinate: DriveCoordinate) -> Self {
        Self { coordinate, value: 0.0, rate: 0.0, acceleration: 0.0 }
    }
}

/// The two joint frames, constant on their bodies.
///
/// Points are measured in the frame in use: the body frame in a [`crate::JointSpec`], the central frame (principal axes
/// at the centre of mass) in [`crate::RelativeState`] and inside a model.
/// For a joint to the world, body 2 has the identity pose and frame 2 is given in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JointFrames {
    /// Orientation of frame 1 on body 1, `body1_from_frame1`, unit.
    pub rotation1: DQuat,
    /// Origin of frame 1 on body 1, in metres.
    pub point1: DVec3,
    /// Orientation of frame 2 on body 2, `body2_from_frame2`, unit.
    pub rotation2: DQuat,
    /// Origin of frame 2 on body 2, in metres.
    pub point2: DVec3,
}

impl JointFrames {
    /// Frames that coincide with `world_from_joint` at the given poses: the joint starts with no error. They are in the frames whose poses are
    /// given: those of body frames for a [`crate::JointSpec`].
    #[must_use]
    pub fn coincident(world_from_body1: &Pose, world_from_body2: &Pose, world_from_joint: &Pose) -> Self {
        let place = |body: &Pose| {
            let to_body = body.rotation.conjugate();
            (to_body * world_from_joint.rotation, to_body * (world_from_joint.translation - body.translation))
        };
        let (rotation1, point1) = place(world_from_body1);
        let (rotation2, point2) = place(world_from_body2);
        Self { rotation1, point1, rotation2, point2 }
    }

    /// Both frames turned about their origins: the columns of `axes` are the new axes in the old frames.
    #[must_use]
    pub fn turned(&self, axes: DMat3) -> Self {
        let turn = DQuat::from_mat3(&axes).normalize();
        Self { rotation1: self.rotation1 * turn, rotation2: self.rotation2 * turn, ..*self }
    }
}

/// The shortest rotation that takes the x axis to `axis` (any length), for building joint frames.
///
/// For an axis along −x the half turn is about z. `None` if the axis is zero or not finite.
#[must_use]
pub fn rotation_to_axis(axis: DVec3) -> Option<DQuat> {
    let unit = axis.try_normalize()?;
    // q ∝ (1 + x·a, x × a), the half-way quaternion.
    let half = DQuat::from_xyzw(0.0, -unit.z, unit.y, 1.0 + unit.x);
    if half.length_squared() < ANTIPARALLEL {
        return Some(DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0));
    }
    Some(half.normalize())
}

/// Below this squared length (angle within about 1e-8 of π) the half-way quaternion has no reliable direction.
const ANTIPARALLEL: f64 = 1e-16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_rotation_reaches_every_direction() {
        for axis in [
            DVec3::X,
            DVec3::Y,
            DVec3::new(0.3, -2.0, 5.0),
            DVec3::NEG_X,
            DVec3::new(-1.0, 1e-7, 0.0),
            DVec3::new(-1.0, 0.0, 1e-9),
        ] {
            let turned = rotation_to_axis(axis).unwrap() * DVec3::X;
            assert!((turned - axis.normalize()).length() < 3e-8, "{axis} gave {turned}");
        }
        assert_eq!(rotation_to_axis(DVec3::ZERO), None);
    }
}
