//! What steppers in joint coordinates take from a model: wrenches on bodies, and forces along the coordinates of joints.
//!
//! Forces come as a [`Response`] over the step, so that stiff springs stay stable there, too. Angles in rad, forces in N·m and N;
//! wrenches in world axes at centres of mass. Constant cost per joint.

use glam::{DQuat, DVec3};
use sinew_math::{DriveCoordinate, Force, quat_to_mat3};

use crate::forces::ForceSet;
use crate::input_index::StepInput;
use crate::tree::Evaluation;
use crate::{Input, JointId, Model, MotorTarget, Response, State};

/// What an input says of the forces along joints, found by joint.
#[derive(Clone, Debug, Default)]
pub struct MotorGoals {
    /// Per joint: the goal of its motor, if the input gives one; empty if it gives none at all.
    targets: Vec<Option<MotorTarget>>,
    spring_scale: f64,
}

impl MotorGoals {
    /// Reads an input. No allocation once warm.
    pub fn fill(&mut self, model: &Model, input: &Input) {
        self.spring_scale = input.usable_spring_scale();
        self.targets.clear();
        self.targets.resize(if input.motors.is_empty() { 0 } else { model.joints.len() }, None);
        for (joint, target) in input.usable_motors(model) {
            self.targets[joint.index()] = Some(*target);
        }
    }
}

impl Model {
    /// Forces inside a joint.
    fn forces_of(&self, joint: JointId) -> &ForceSet {
        &self.forces[self.joints[joint.index()].forces as usize]
    }

    /// Whether forces act along a coordinate of a joint.
    pub fn has_scalar_force(&self, joint: JointId, coordinate: DriveCoordinate) -> bool {
        self.forces_of(joint).along(coordinate).is_some()
    }

    /// Whether forces act on the rotation of a joint in space.
    pub fn has_rotation_force(&self, joint: JointId) -> bool {
        self.forces_of(joint).rotation.is_some()
    }

    /// Limits of a coordinate of a joint (rad, m).
    pub fn coordinate_limits(&self, joint: JointId, coordinate: DriveCoordinate) -> Option<[f64; 2]> {
        self.forces_of(joint).along(coordinate)?.limit.map(|limit| [limit.min, limit.max])
    }

    /// Forces along a coordinate of a joint over a step of `h` seconds, at its value and rate.
    pub fn scalar_response(
        &self,
        joint: JointId,
        coordinate: DriveCoordinate,
        value_and_rate: [f64; 2],
        input: &Input,
        h: f64,
    ) -> Response<f64> {
        let given = input.usable_motors(self).filter(|(named, _)| *named == joint).last();
        let given = (given.map(|(_, target)| *target), input.usable_spring_scale());
        self.targeted_response(joint, coordinate, value_and_rate, given, h)
    }

    /// [`Model::scalar_response`] where the input has been read: as fast with many motors as with one.
    pub fn scalar_response_to(
        &self,
        joint: JointId,
        coordinate: DriveCoordinate,
        value_and_rate: [f64; 2],
        goals: &MotorGoals,
        h: f64,
    ) -> Response<f64> {
        let target = goals.targets.get(joint.index()).copied().flatten();
        self.targeted_response(joint, coordinate, value_and_rate, (target, goals.spring_scale), h)
    }

    /// Forces along a coordinate with the goal of its motor, if the input gives one, and the scale of springs.
    fn targeted_response(
        &self,
        joint: JointId,
        coordinate: DriveCoordinate,
        value_and_rate: [f64; 2],
        (given, spring_scale): (Option<MotorTarget>, f64),
        h: f64,
    ) -> Response<f64> {
        let Some(force) = self.forces_of(joint).along(coordinate) else { return Response::default() };
        let target = given.or(force.motor.map(|motor| motor.target)).unwrap_or_default();
        force.response(value_and_rate, target, spring_scale, h)
    }

    /// Forces on the rotation of a joint in space over a step of `h` seconds: `rotation` of frame 1 in frame 2, relative angular
    /// velocity and result in frame 1.
    pub fn rotation_response(
        &self,
        joint: JointId,
        rotation: DQuat,
        rate: DVec3,
        input: &Input,
        h: f64,
    ) -> Response<DVec3> {
        let force = self.forces_of(joint).rotation.as_ref();
        force.map_or_else(Response::default, |f| f.response(rotation, rate, input.usable_spring_scale(), h))
    }
}

/// Wrenches on all bodies by the input (soft grabs included), by springs between points and by drag; joints, their forces and
/// gravity are left out.
pub fn external_wrenches(model: &Model, state: &State, input: &Input, out: &mut Vec<Force>) {
    let at = Evaluation::of_state(model, state, StepInput::of_forces(input));
    at.fill_external(out);
    for joint in &model.joints {
        at.add_springs(joint, out);
    }
    for pair in &model.pairs {
        let body = pair.body as usize;
        let (pose, motion) = (&state.poses[body], &state.motions[body]);
        if pair.inertial.angular_damping > 0.0 || pair.inertial.linear_damping > 0.0 {
            let inertia = pair.inertial.inertia.rotated_by(&quat_to_mat3(pose.rotation));
            out[body] -= Force::new(
                inertia.mul_vec(motion.angular) * pair.inertial.angular_damping,
                motion.linear * (pair.inertial.mass * pair.inertial.linear_damping),
            );
        }
    }
}
