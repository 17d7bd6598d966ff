//! What every stepper does first: kinematic bodies and motor targets follow the input.

use sinew_math::Pose;

use crate::forces::scalar::MotorTarget;
use crate::input::Input;
use crate::model::mechanism::Model;
use crate::model::state::State;
use crate::poses::increment;

/// End-of-step pose of a body that the input moves.
pub(crate) fn kinematic_target(model: &Model, state: &State, input: &Input, body: usize) -> Pose {
    input.goal(model, body).map_or(state.poses[body], |pose| model.central_pose(body, pose))
}

/// Gives kinematic bodies the twist that takes them to the goals of the input within `dt` seconds.
pub fn move_kinematic(model: &Model, state: &mut State, input: &Input, dt: f64) {
    for &body in &model.kinematic {
        let body = body as usize;
        let target = kinematic_target(model, state, input, body);
        let now = state.poses[body];
        state.motions[body] = increment(&now, &target) * (1.0 / dt);
    }
}

/// The model's motor goals, overridden by the input.
pub(crate) fn set_targets(model: &Model, input: &Input, targets: &mut [MotorTarget]) {
    for (target, joint) in targets.iter_mut().zip(&model.joints) {
        let forces = &model.forces[joint.forces as usize];
        *target = forces.motor().map(|m| m.target).unwrap_or_default();
    }
    for (joint, target) in input.usable_motors(model) {
        targets[joint.index()] = *target;
    }
}
