//! Full turns of joints that nothing but a reader asks for their angle.
//!
//! The steppers keep `State::twists` of joints with forces, drives, gears or a screw on their twist. For all others it is an angle `ϑ₀` near the present
//! one: the reading is the angle equal to that of the poses modulo 2π that is nearest to it. It moves on when the joint has turned by
//! more than [`FAR`] from it, which changes no motion:
//!
//! ```text
//! ϑ = unwrap(ϑ(poses) − h ϑ̇, ϑ₀) + h ϑ̇
//! ```
//!
//! so a step may turn by any angle, as long as its rate at the end foretells it within a quarter turn. Joints that turn slowly are looked
//! at in every [`PERIOD`]th step only. Radians. Cost: one pass over the joints; a rotation and an angle for each that is looked at.

use sinew_math::DriveCoordinate;

use crate::joints::{relative_rotation, twist_angle, unwrap_angle};
use crate::model::{JointModel, Model, State, motion_of, pose_of};

/// Distance from the noted angle beyond which another one is noted, rad.
const FAR: f64 = 2.0 * std::f64::consts::FRAC_PI_3;

/// Steps after which every joint is looked at. In between, joints turn by less than 0.13 rad per step: with [`FAR`] less than half a turn.
const PERIOD: usize = 4;

/// Turn of the bodies of a joint within a step below which it is slow, rad.
const SLOW: f64 = 0.09;

impl Model {
    /// Notes full turns of joints whose steppers need no angle, after a step of `h` seconds; [`crate::joint_reading`] is continuous where this was
    /// called after every step. Joints under commands are left out: those commands know angles within half a turn.
    pub fn count_turns(&self, state: &mut State, h: f64) {
        let step = (state.time / h).round() as usize;
        for (index, joint) in self.joints.iter().enumerate() {
            let is_counted =
                joint.kind.can_drive(DriveCoordinate::Twist) && !joint.tracks_twist && !joint.is_actuated;
            if is_counted && (step.wrapping_add(index).is_multiple_of(PERIOD) || is_fast(joint, state, h)) {
                let (pose1, pose2) = (pose_of(&state.poses, joint.body1), pose_of(&state.poses, joint.body2));
                let angle = twist_angle(&relative_rotation(&joint.frames, &pose1, &pose2));
                let turn = h * self.twist_rate(&state.poses, joint, |body| motion_of(&state.motions, body));
                let noted = &mut state.twists[index];
                let now = unwrap_angle(angle - turn, *noted) + turn;
                if (now - *noted).abs() > FAR {
                    *noted = now;
                }
            }
        }
    }
}

/// Whether a joint may turn by more than a little within a step.
fn is_fast(joint: &JointModel, state: &State, h: f64) -> bool {
    let spin = |body: u32| motion_of(&state.motions, body).angular.length_squared();
    h * h * (spin(joint.body1) + spin(joint.body2)) > SLOW * SLOW
}
