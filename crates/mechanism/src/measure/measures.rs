//! Measures of a state: energy, momentum, joint errors. They never change anything.
//!
//! Energy in joules: kinetic `½ ω·Iω + ½ m v²`, gravity `−m g·x`, elastic energy of springs and stops. Momentum in
//! world axes about the world origin. Cost: one pass over bodies and one over joints.

use glam::DVec3;
use sinew_math::{Force, log_so3, ops, quat_to_mat3};
use sinew_topology::NONE;

use crate::input::{Input, usable_scale};
use crate::joints::evaluate::evaluate_rows;
use crate::joints::rows::RowForm;
use crate::measure::joint::{joint_error, motion_of, relative_state};
use crate::model::ids::JointId;
use crate::model::mechanism::Model;
use crate::model::records::{WORLD, pose_of};
use crate::model::state::State;

/// Mechanical energy, J.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Energy {
    /// Of motion.
    pub kinetic: f64,
    /// Of height.
    pub gravity: f64,
    /// In springs and stops.
    pub elastic: f64,
}

impl Energy {
    /// The sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.gravity + self.elastic
    }
}

/// Energy of a state under a gravity (m/s²), with joint springs scaled as by [`Input::spring_scale`].
pub fn energy(model: &Model, state: &State, gravity: DVec3, spring_scale: f64) -> Energy {
    let spring_scale = usable_scale(spring_scale);
    let mut out = Energy::default();
    for (body, inertial) in model.bodies.iter().enumerate() {
        let (pose, motion) = (&state.poses[body], &state.motions[body]);
        let inertia = inertial.inertia.rotated_by(&quat_to_mat3(pose.rotation));
        out.kinetic += 0.5 * inertia.quadratic_form(motion.angular);
        out.kinetic += 0.5 * inertial.mass * motion.linear.length_squared();
        out.gravity -= inertial.mass * gravity.dot(pose.translation);
    }
    for (index, joint) in model.joints.iter().enumerate() {
        let forces = &model.forces[joint.forces as usize];
        let has_force = forces.twist.is_some() || forces.slide.is_some() || forces.rotation.is_some();
        if !has_force && joint.compliance == 0.0 {
            continue;
        }
        let relative = relative_state(model, state, index, |body| motion_of(state, body));
        out.elastic += forces.twist.map_or(0.0, |f| f.energy(relative.twist, spring_scale));
        out.elastic += forces.slide.map_or(0.0, |f| f.energy(relative.slide(), spring_scale));
        if let Some(rotation) = &forces.rotation {
            out.elastic +=
                0.5 * spring_scale * rotation.stiffness * log_so3(relative.rotation).length_squared();
            let s = relative.axis();
            let lean = ops::atan2((s.y * s.y + s.z * s.z).sqrt(), s.x);
            out.elastic += rotation.cone.map_or(0.0, |cone| cone.energy(lean - cone.max));
        }
        if joint.compliance > 0.0 {
            let rows = evaluate_rows(joint.kind, &relative, &[], RowForm::Position);
            out.elastic += 0.5 / joint.compliance * rows.residual.iter().map(|c| c * c).sum::<f64>();
        }
    }
    let apart = model.loop_springs.iter().map(|s| &s.spring);
    for spring in model.joint_springs.iter().chain(&model.ground_springs).chain(apart) {
        let end = |body: u32, point| pose_of(&state.poses, body).transform_point(point);
        let length = end(spring.body1, spring.point1).distance(end(spring.body2, spring.point2));
        let stretch = length - spring.rest_length;
        out.elastic += 0.5 * spring.stiffness * stretch * stretch;
    }
    out
}

/// Total momentum of the dynamic bodies: angular about the world origin (kg·m²/s), linear (kg·m/s).
pub fn momentum(model: &Model, state: &State) -> Force {
    let mut out = Force::ZERO;
    for (body, inertial) in model.bodies.iter().enumerate() {
        let (pose, motion) = (&state.poses[body], &state.motions[body]);
        let inertia = inertial.inertia.rotated_by(&quat_to_mat3(pose.rotation));
        let linear = motion.linear * inertial.mass;
        out.linear += linear;
        out.angular += inertia.mul_vec(motion.angular) + pose.translation.cross(linear);
    }
    out
}

/// How far a state is from meeting its joints.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Violation {
    /// Largest anchor distance along locked directions, m.
    pub position: f64,
    /// Largest rotation error, rad.
    pub rotation: f64,
    /// Largest anchor distance (m) or rotation error (rad) among the joints of the tree: those that never open.
    pub tree: f64,
    /// The joint with the largest anchor distance.
    pub joint: Option<JointId>,
}

/// Joint errors of a state; drives are compared with the input's values, if given.
pub fn violation(model: &Model, state: &State, input: &Input) -> Violation {
    let mut out = Violation::default();
    for (index, joint) in model.joints.iter().enumerate() {
        if joint.compliance > 0.0 {
            continue;
        }
        let (position, rotation) = joint_error(model, state, &state.poses, input, index as u32);
        if position > out.position || out.joint.is_none() {
            (out.position, out.joint) = (position, Some(JointId::from_index(index)));
        }
        out.rotation = out.rotation.max(rotation);
        if model.is_tree_joint(JointId::from_index(index)) {
            out.tree = out.tree.max(position).max(rotation);
        }
    }
    out
}

/// Forces in the joints during the last implicit step, per joint: the force of the joint on its body 1, world axes, N.
/// Zero after a step of another stepper.
pub fn joint_forces(model: &Model, state: &State) -> Vec<DVec3> {
    let mut balance: Vec<DVec3> = model.pairs.iter().map(|p| state.pulls[p.body as usize]).collect();
    let mut out = vec![DVec3::ZERO; model.joints.len()];
    for (looped, pull) in model.loops.iter().zip(&state.loops.pulls) {
        out[looped.joint as usize] = *pull;
    }
    for (k, pair) in model.pairs.iter().enumerate() {
        // Children come before parents, so the balance of the whole subtree is complete.
        let force = balance[k];
        if pair.parent != NONE {
            balance[pair.parent as usize] += force;
        }
        if pair.joint != WORLD {
            out[pair.joint as usize] = if pair.flipped { -force } else { force };
        }
    }
    out
}
