//! Coordinates and errors of one joint at given poses.

use glam::DVec3;
use sinew_math::{DriveCoordinate, JointKind, Motion, Pose, log_so3};
use smallvec::SmallVec;

use crate::input::Input;
use crate::joints::errors::joint_errors;
use crate::joints::evaluate::evaluate_rows;
use crate::joints::frames::Drive;
use crate::joints::relative::{PairState, RelativeState};
use crate::joints::rows::RowForm;
use crate::model::ids::JointId;
use crate::model::mechanism::Model;
use crate::model::records::{WORLD, pose_of};
use crate::model::state::State;

/// Coordinates of a joint: twist about `i` (rad, continuous), slide along `i` (m), rotation vector between the frames
/// in frame 2 (rad), and their rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointReading {
    /// Twist angle, rad.
    pub twist: f64,
    /// Its rate, rad/s.
    pub twist_rate: f64,
    /// Slide, m.
    pub slide: f64,
    /// Its rate, m/s.
    pub slide_rate: f64,
    /// Rotation vector of frame 1 in frame 2, rad.
    pub rotation: DVec3,
    /// Relative angular velocity in frame 2, rad/s.
    pub angular_rate: DVec3,
}

/// Reads the coordinates of a joint.
pub fn joint_reading(model: &Model, state: &State, joint: JointId) -> JointReading {
    let relative = relative_state(model, state, joint.index(), |body| motion_of(state, body));
    JointReading {
        twist: relative.twist,
        twist_rate: relative.twist_rate(),
        slide: relative.slide(),
        slide_rate: relative.motion.linear.x,
        rotation: log_so3(relative.rotation),
        angular_rate: relative.motion.angular,
    }
}

/// AnchorInertia distance (m) and rotation error (rad) of a joint at some poses; zero if it is soft or let go. The twist angles of the state
/// tell full turns apart.
pub(crate) fn joint_error(
    model: &Model,
    state: &State,
    poses: &[Pose],
    input: &Input,
    index: u32,
) -> (f64, f64) {
    let joint = &model.joints[index as usize];
    if joint.compliance > 0.0 || input.releases(model, index) {
        return (0.0, 0.0);
    }
    let (pose1, pose2) = (pose_of(poses, joint.body1), pose_of(poses, joint.body2));
    if joint.kind == JointKind::Ball {
        let (point1, point2) = (joint.frames.point1, joint.frames.point2);
        return (pose1.transform_point(point1).distance(pose2.transform_point(point2)), 0.0);
    }
    let previous_twist = state.twists[index as usize];
    let pair = PairState { pose1, pose2, previous_twist, ..PairState::default() };
    let relative = RelativeState::new(&joint.frames, &pair);
    let drives: SmallVec<[Drive; 2]> = [DriveCoordinate::Twist, DriveCoordinate::Slide]
        .into_iter()
        .filter(|c| joint.drives(*c))
        .filter_map(|c| input.drive(JointId::from_index(index as usize), c).copied())
        .collect();
    joint_errors(
        joint.kind,
        joint.drives_twist,
        &evaluate_rows(joint.kind, &relative, &drives, RowForm::Position),
    )
}

pub(crate) fn motion_of(state: &State, body: u32) -> Motion {
    if body == WORLD { Motion::ZERO } else { state.motions[body as usize] }
}

/// The relative state of a joint at the poses of a state, its bodies moving as told.
pub(crate) fn relative_state(
    model: &Model,
    state: &State,
    index: usize,
    motion: impl Fn(u32) -> Motion,
) -> RelativeState {
    let joint = &model.joints[index];
    let pair = PairState {
        pose1: pose_of(&state.poses, joint.body1),
        pose2: pose_of(&state.poses, joint.body2),
        motion1: motion(joint.body1),
        motion2: motion(joint.body2),
        previous_twist: state.twists[index],
    };
    RelativeState::new(&joint.frames, &pair)
}
