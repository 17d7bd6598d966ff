//! What steppers in joint coordinates take from a model: wrenches on bodies, and forces along the coordinates of joints.
//!
//! Forces come as a [`Response`] over the step, so that stiff springs stay stable there, too. Angles in rad, forces in N·m and N;
//! wrenches in world axes at centres of mass. Constant cost per joint.

use glam::{DQuat, DVec3};
use sinew_math::{DriveCoordinate, Force, Pose, quat_to_mat3};

use crate::forces::{ForceSet, RotationForce};
use crate::input_index::StepInput;
use crate::joints::{fading_twist_gradient, twist_angle};
use crate::model::LoopModel;
use crate::prepare::set_targets;
use crate::tree::Evaluation;
use crate::{Input, JointId, Model, MotorTarget, Response, State};

/// What the forces along joints depend on beside their coordinates.
#[derive(Clone, Copy, Debug)]
pub struct JointDemand<'a> {
    /// The input of the step.
    pub input: &'a Input,
    /// Central poses of the bodies: motors that compensate gravity carry them.
    pub poses: &'a [Pose],
    /// m/s².
    pub gravity: DVec3,
}

/// What is asked of the forces along joints, found by joint.
#[derive(Clone, Debug, Default)]
pub struct MotorGoals {
    /// Per joint: the goal of its motor, if it is not that of the model; empty if all are.
    targets: Vec<Option<MotorTarget>>,
    spring_scale: f64,
}

/// The goal of a joint's motor, if it is not that of the model, and the scale of springs.
type GivenForces = (Option<MotorTarget>, f64);

impl MotorGoals {
    /// What is asked of a joint.
    fn of(&self, joint: JointId) -> GivenForces {
        (self.targets.get(joint.index()).copied().flatten(), self.spring_scale)
    }

    /// Reads a demand. No allocation once warm.
    pub fn fill(&mut self, model: &Model, demand: &JointDemand<'_>) {
        let JointDemand { input, poses, gravity } = *demand;
        self.spring_scale = input.usable_spring_scale();
        self.targets.clear();
        let is_plain = input.motors.is_empty() && model.derived.carried.is_empty();
        self.targets.resize(if is_plain { 0 } else { model.joints.len() }, None);
        for (joint, target) in input.usable_motors(model) {
            self.targets[joint.index()] = Some(*target);
        }
        for carried in &model.derived.carried {
            let target = &mut self.targets[carried.joint()];
            let own = || model.motor_target(carried.joint());
            target.get_or_insert_with(own).force += carried.effort(model, poses, gravity);
        }
    }
}

impl Model {
    /// Forces inside a joint.
    fn forces_of(&self, joint: JointId) -> &ForceSet {
        self.forces_at(joint.index() as u32)
    }

    /// Forces inside a joint, by its place.
    fn forces_at(&self, joint: u32) -> &ForceSet {
        &self.forces[self.joints[joint as usize].forces as usize]
    }

    /// Whether forces act along a coordinate of a joint; those on a twist about an axis that leans act on its rotation.
    pub fn has_scalar_force(&self, joint: JointId, coordinate: DriveCoordinate) -> bool {
        let forces = self.forces_of(joint);
        forces.along(coordinate).is_some() && !(forces.leans && coordinate == DriveCoordinate::Twist)
    }

    /// Whether forces act on the rotation of a joint in space.
    pub fn has_rotation_force(&self, joint: JointId) -> bool {
        let forces = self.forces_of(joint);
        forces.rotation.is_some() || forces.leans
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
        demand: &JointDemand<'_>,
        h: f64,
    ) -> Response<f64> {
        self.targeted_response(joint, coordinate, value_and_rate, self.given(joint, demand), h)
    }

    /// What is asked of the forces of a joint.
    fn given(&self, joint: JointId, demand: &JointDemand<'_>) -> GivenForces {
        let JointDemand { input, poses, gravity } = *demand;
        let given = input.usable_motors(self).filter(|(named, _)| *named == joint).last();
        let mut target = given.map(|(_, target)| *target);
        for carried in self.derived.carried.iter().filter(|carried| carried.joint() == joint.index()) {
            let own = || self.motor_target(joint.index());
            target.get_or_insert_with(own).force += carried.effort(self, poses, gravity);
        }
        (target, input.usable_spring_scale())
    }

    /// The target that the model gives the motor of a joint.
    fn motor_target(&self, joint: usize) -> MotorTarget {
        self.forces[self.joints[joint].forces as usize].motor().map(|motor| motor.target).unwrap_or_default()
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
        self.targeted_response(joint, coordinate, value_and_rate, goals.of(joint), h)
    }

    /// Whether the motor along a coordinate of a joint is at its largest force over a step of `h` seconds.
    pub fn is_motor_saturated(
        &self,
        joint: JointId,
        coordinate: DriveCoordinate,
        [value, rate]: [f64; 2],
        goals: &MotorGoals,
        h: f64,
    ) -> bool {
        let motor = self.forces_of(joint).along(coordinate).and_then(|force| force.motor);
        motor.is_some_and(|motor| {
            let target = goals.of(joint).0.unwrap_or(motor.target);
            motor.force(value + h * rate, rate, target).abs() >= motor.max_force
        })
    }

    /// Forces along a coordinate as an input says.
    fn targeted_response(
        &self,
        joint: JointId,
        coordinate: DriveCoordinate,
        value_and_rate: [f64; 2],
        (given, spring_scale): GivenForces,
        h: f64,
    ) -> Response<f64> {
        let Some(force) = self.forces_of(joint).along(coordinate) else { return Response::default() };
        let target = given.or(force.motor.map(|motor| motor.target)).unwrap_or_default();
        force.response(value_and_rate, target, spring_scale, h)
    }

    /// Forces on the rotation of a joint in space over a step of `h` seconds: `rotation` of frame 1 in frame 2, relative angular
    /// velocity and result in frame 1. The twist about an axis that leans is counted within half a turn.
    pub fn rotation_response(
        &self,
        joint: JointId,
        rotation: DQuat,
        rate: DVec3,
        demand: &JointDemand<'_>,
        h: f64,
    ) -> Response<DVec3> {
        self.targeted_rotation(joint, (rotation, rate), self.given(joint, demand), h)
    }

    /// [`Model::rotation_response`] where the input has been read.
    pub fn rotation_response_to(
        &self,
        joint: JointId,
        rotation: DQuat,
        rate: DVec3,
        goals: &MotorGoals,
        h: f64,
    ) -> Response<DVec3> {
        self.targeted_rotation(joint, (rotation, rate), goals.of(joint), h)
    }

    /// Forces on a rotation as an input says.
    fn targeted_rotation(
        &self,
        joint: JointId,
        (rotation, rate): (DQuat, DVec3),
        given: GivenForces,
        h: f64,
    ) -> Response<DVec3> {
        let forces = self.forces_of(joint);
        let of_rotation = |f: &RotationForce| f.response(rotation, rate, given.1, h);
        let mut sum = forces.rotation.as_ref().map_or_else(Response::default, of_rotation);
        if forces.leans {
            let gradient = rotation.conjugate() * fading_twist_gradient(rotation * DVec3::X);
            let value_and_rate = [twist_angle(&quat_to_mat3(rotation)), gradient.dot(rate)];
            let along = self.targeted_response(joint, DriveCoordinate::Twist, value_and_rate, given, h);
            sum.torque += gradient * along.torque;
            sum.resistance += along.resistance * gradient.length_squared();
        }
        sum
    }
}

/// Wrenches on all bodies by the input (soft grabs included), by springs between points and by drag: torque about the centre of mass (N·m)
/// and force (N), world axes; and by forces inside joints that close loops. Joints of the tree, their forces and gravity are left out. `targets` is
/// scratch: the goals of all motors.
pub fn external_wrenches(
    model: &Model,
    state: &State,
    input: &Input,
    targets: &mut Vec<MotorTarget>,
    out: &mut Vec<Force>,
) {
    let pulls = |looped: &LoopModel| model.forces_at(looped.joint).motor().is_some();
    targets.clear();
    if model.loops.iter().any(pulls) {
        targets.resize(model.joints.len(), MotorTarget::default());
        set_targets(model, input, targets);
    }
    let input = StepInput::of_forces(input);
    let at = Evaluation { targets, ..Evaluation::of_state(model, state, input) };
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
