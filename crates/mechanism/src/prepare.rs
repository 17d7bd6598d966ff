//! Moving poses by increments; kinematic bodies and motor targets follow the input, in every stepper.
//!
//! An increment is `(θ, Δx)` with `R⁺ = exp(θ) R`, `x⁺ = x + Δx`, world axes. Rotations are normalized after every move, so that
//! rounding does not accumulate in their length.

use glam::DVec3;
use sinew_math::{Motion, Pose, exp_so3, log_so3, normalize_quat, shift_motion};

use crate::{BodyId, Input, Model, MotorTarget, State, unwrap_angle};

/// Gives kinematic bodies the twist that takes them to the goals of the input within `dt` seconds.
pub fn move_kinematic(model: &Model, state: &mut State, input: &Input, dt: f64) {
    let resting = model.kinematic.iter().map(|&body| (body as usize, None));
    let moving = input.goals(model).map(|(body, goal)| (body, Some(goal)));
    for (body, goal) in resting.chain(moving) {
        let now = state.poses[body];
        state.motions[body] = increment(&now, &goal.unwrap_or(now)) * (1.0 / dt);
    }
}

/// Kinematic bodies that begin with a velocity, if they keep it for a time (s) from a state on: the body frame, and its twist at its origin,
/// world axes. What leads them by the goals of an [`Input`] leaves them out.
pub fn coasting<'a>(
    model: &'a Model,
    state: &'a State,
    time: f64,
) -> impl Iterator<Item = (BodyId, Pose, Motion)> + 'a {
    let begun = |&body: &u32| (body as usize, model.initial.motions[body as usize]);
    model.kinematic.iter().map(begun).filter(|(_, motion)| *motion != Motion::ZERO).map(
        move |(body, motion)| {
            let central = move_pose(&state.poses[body], motion * time);
            let frame = central.compose(&model.bodies[body].central.inverse());
            let twist = shift_motion(motion, frame.translation - central.translation);
            (BodyId::from_index(body), frame, twist)
        },
    )
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

/// Adds what motors give that compensate gravity (m/s²) to their targets, at some central poses.
pub(crate) fn add_compensation(model: &Model, poses: &[Pose], gravity: DVec3, targets: &mut [MotorTarget]) {
    for carried in &model.derived.carried {
        targets[carried.joint()].force += carried.effort(model, poses, gravity);
    }
}

/// Puts kinematic bodies where the input wants them at the end of the step.
pub fn place_kinematic(model: &Model, state: &mut State, input: &Input) {
    for (body, goal) in input.goals(model) {
        state.poses[body] = goal;
    }
}

/// `q ⊕ δ`, renormalized.
#[inline]
pub(crate) fn move_pose(pose: &Pose, delta: Motion) -> Pose {
    Pose {
        rotation: normalize_quat(exp_so3(delta.angular) * pose.rotation),
        translation: pose.translation + delta.linear,
    }
}

/// `(log(R⁺Rᵀ), x⁺ − x)`.
pub(crate) fn increment(from: &Pose, to: &Pose) -> Motion {
    Motion {
        angular: log_so3(to.rotation * from.rotation.conjugate()),
        linear: to.translation - from.translation,
    }
}

/// [`increment`] in a step at whose end a body turns by `turn`, rad: full turns are those of its rate.
pub(crate) fn whole_increment(from: &Pose, to: &Pose, turn: DVec3) -> Motion {
    let short = increment(from, to);
    let angle = short.angular.length();
    if angle == 0.0 {
        return short;
    }
    let axis = short.angular / angle;
    Motion { angular: axis * unwrap_angle(angle, turn.dot(axis)), ..short }
}

/// The first body whose state is not finite; a sum over all finds out cheaply whether to look. A bad twist spoils the
/// pose it moves, so the poses tell.
pub fn first_non_finite(state: &State) -> Option<BodyId> {
    let sum: f64 = state.poses.iter().map(|p| p.translation.element_sum() + p.rotation.w).sum();
    if sum.is_finite() {
        return None;
    }
    let is_bad = |(p, m): (&Pose, &Motion)| !(p.is_finite() && m.is_finite());
    state.poses.iter().zip(&state.motions).position(is_bad).map(BodyId::from_index)
}
