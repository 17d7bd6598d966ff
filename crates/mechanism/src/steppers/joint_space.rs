//! What a stepper in joint coordinates takes from a mechanism: everything that pulls on its bodies, and the forces along the
//! coordinates of its joints.
//!
//! A force along a coordinate `x` acts over a step of length `h` as `τ − D ẍ`: with the impulse `q − κ ẋ⁺` of `force` and
//! `ẋ⁺ = ẋ + h ẍ` that is `τ = (q − κ ẋ)/h` and `D = κ`, stable at any stiffness. With `h = 0` it is the force at the beginning,
//! and `D` the armature. Angles in rad, forces in N·m and N; wrenches in world axes at centres of mass. Constant cost per joint.

use glam::{DQuat, DVec3};
use sinew_math::{DriveCoordinate, Force, log_so3, ops};

use crate::forces::scalar::{Coordinate, Limit, MotorTarget, dry_friction};
use crate::input::Input;
use crate::model::ids::JointId;
use crate::model::mechanism::Model;
use crate::model::state::State;
use crate::prepare::kinematic_target;
use crate::tree::acceleration::Evaluation;

/// A force over a step: `torque − resistance · ẍ`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Response<T> {
    /// At no acceleration, N·m or N.
    pub torque: T,
    /// Per acceleration, kg·m² or kg.
    pub resistance: f64,
}

impl Model {
    /// Whether forces act along a coordinate of a joint.
    pub fn has_scalar_force(&self, joint: JointId, coordinate: DriveCoordinate) -> bool {
        let forces = &self.forces[self.joints[joint.index()].forces as usize];
        match coordinate {
            DriveCoordinate::Twist => forces.twist.is_some(),
            DriveCoordinate::Slide => forces.slide.is_some(),
        }
    }

    /// Whether forces act on the rotation of a joint in space.
    pub fn has_rotation_force(&self, joint: JointId) -> bool {
        self.forces[self.joints[joint.index()].forces as usize].rotation.is_some()
    }

    /// HeldLimits of a coordinate of a joint (rad, m).
    pub fn coordinate_limits(&self, joint: JointId, coordinate: DriveCoordinate) -> Option<[f64; 2]> {
        let forces = &self.forces[self.joints[joint.index()].forces as usize];
        let force = match coordinate {
            DriveCoordinate::Twist => &forces.twist,
            DriveCoordinate::Slide => &forces.slide,
        };
        force.as_ref()?.limit.map(|limit| [limit.min, limit.max])
    }

    /// Forces along a coordinate of a joint over a step of `h` seconds, at its value and rate.
    pub fn scalar_response(
        &self,
        joint: JointId,
        coordinate: DriveCoordinate,
        [value, rate]: [f64; 2],
        input: &Input,
        h: f64,
    ) -> Response<f64> {
        let forces = &self.forces[self.joints[joint.index()].forces as usize];
        let force = match coordinate {
            DriveCoordinate::Twist => &forces.twist,
            DriveCoordinate::Slide => &forces.slide,
        };
        let Some(force) = force else { return Response::default() };
        let given = input.usable_motors(self).filter(|(named, _)| *named == joint).last();
        let target = given.map_or_else(
            || force.motor.map_or_else(MotorTarget::default, |motor| motor.target),
            |(_, target)| *target,
        );
        let scale = input.usable_spring_scale();
        if h > 0.0 {
            let at = Coordinate { value, rate, displaced: 0.0, base: rate };
            let (impulse, resistance) = force.impulse(&at, target, scale, h);
            Response { torque: (impulse - resistance * rate) / h, resistance }
        } else {
            Response { torque: force.explicit(value, rate, target, scale), resistance: force.armature }
        }
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
        let forces = &self.forces[self.joints[joint.index()].forces as usize];
        let Some(force) = &forces.rotation else { return Response::default() };
        let scale = input.usable_spring_scale();
        let (k, c) = (
            force.stiffness * scale,
            force.damping * scale + dry_friction(force.friction, rate.length(), 1.0),
        );
        // The rotation vector is the same in both frames.
        let mut torque = -log_so3(rotation) * k - rate * (c + h * k);
        let mut resistance = force.armature + h * c + h * h * k;
        if let Some(cone) = &force.cone
            && let Some((normal, force, slope)) = lean(cone, rotation)
        {
            let damping = cone.damping * slope / cone.stiffness + h * slope;
            torque -= normal * (force + damping * normal.dot(rate));
            resistance += h * damping;
        }
        Response { torque, resistance }
    }
}

/// Beyond a cone stop: the axis in frame 1 about which the joint leans, the force and its slope.
fn lean(cone: &Limit, rotation: DQuat) -> Option<(DVec3, f64, f64)> {
    let axis = rotation * DVec3::X;
    let across = DVec3::X.cross(axis);
    let sine = across.length();
    let excess = ops::atan2(sine, axis.x) - cone.max;
    let (force, slope) = cone.law(excess);
    (sine > 1e-8 && excess > 0.0).then(|| (rotation.conjugate() * (across / sine), force, slope))
}

/// Wrenches on all bodies by the input (soft grabs included), by springs between points and by drag; joints, their forces and
/// gravity are left out.
pub fn outside_wrenches(model: &Model, state: &State, input: &Input, out: &mut Vec<Force>) {
    let at = Evaluation {
        model,
        poses: &state.poses,
        motions: &state.motions,
        twists: &state.twists,
        input,
        targets: &[],
        gravity: DVec3::ZERO,
        baumgarte: 0.0,
        remaining: 0.0,
        external: &[],
    };
    at.fill_external(out);
    for joint in &model.joints {
        at.add_springs(joint, out);
    }
    for pair in &model.pairs {
        let body = pair.body as usize;
        let (pose, motion) = (&state.poses[body], &state.motions[body]);
        if pair.angular_damping > 0.0 || pair.linear_damping > 0.0 {
            let inertia = pair.inertia.rotated_by(&sinew_math::quat_to_mat3(pose.rotation));
            out[body] -= Force::new(
                inertia.mul_vec(motion.angular) * pair.angular_damping,
                motion.linear * (pair.mass * pair.linear_damping),
            );
        }
    }
}

/// Puts kinematic bodies where the input wants them.
pub fn arrive_kinematic(model: &Model, state: &mut State, input: &Input) {
    for &body in &model.kinematic {
        state.poses[body as usize] = kinematic_target(model, state, input, body as usize);
    }
}
