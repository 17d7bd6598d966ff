//! Measures of a state: energy, momentum, joint errors. They never change anything.
//!
//! Energy in joules: kinetic `½ ω·Iω + ½ m v²` and `½ a ẋ²` of armatures, gravity `−m g·x`, elastic energy of springs and stops. Momentum in
//! world axes about the world origin. Cost: one pass over bodies and one over joints.

use std::ops::AddAssign;

use glam::DVec3;
use sinew_math::{DriveCoordinate, Force, JointKind, Motion, Pose, log_so3, ops, quat_to_mat3};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::forces::BandLaw;
use crate::input::{Input, usable_scale};
use crate::input_index::{InputIndex, StepInput};
use crate::joints::{
    Drive, PairState, RelativeState, RowForm, evaluate_rows, evaluate_rows_without_bias, joint_errors,
};
use crate::model::{JointId, JointModel, Model, Quantity, State, TransmissionId, WORLD, motion_of, pose_of};
use crate::prepare::{increment, move_pose};

/// Mechanical energy, J.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
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

impl AddAssign for Energy {
    fn add_assign(&mut self, other: Self) {
        self.kinetic += other.kinetic;
        self.gravity += other.gravity;
        self.elastic += other.elastic;
    }
}

/// Energy of a state under a gravity (m/s², world axes), with joint springs scaled as by [`Input::spring_scale`].
pub fn energy(model: &Model, state: &State, gravity: DVec3, spring_scale: f64) -> Energy {
    let mut out = Energy::default();
    each_energy(model, state, (gravity, 0.0), spring_scale, &mut |_, energy| out += energy);
    out
}

/// Hands the energy of every body, joint, spring and rope to a sum, with the bodies that have it. Heights are those of a moment ago (s).
pub(crate) fn each_energy(
    model: &Model,
    state: &State,
    (gravity, ago): (DVec3, f64),
    spring_scale: f64,
    add: &mut impl FnMut(&[u32], Energy),
) {
    let spring_scale = usable_scale(spring_scale);
    for (body, inertial) in model.bodies.iter().enumerate() {
        let (pose, motion) = (&state.poses[body], &state.motions[body]);
        let omega = pose.rotation.conjugate() * motion.angular;
        let kinetic = 0.5
            * ((omega * omega).dot(inertial.inertia.moments)
                + inertial.mass * motion.linear.length_squared());
        let height = -inertial.mass * gravity.dot(pose.translation - motion.linear * ago);
        add(&[body as u32], Energy { kinetic, gravity: height, elastic: 0.0 });
    }
    for &index in &model.derived.elastic_joints {
        let joint = &model.joints[index as usize];
        if joint.breaks_at.is_some() && state.is_broken(JointId::from_index(index as usize)) {
            continue;
        }
        add(&[joint.body1, joint.body2], joint_energy(model, state, index as usize, spring_scale));
    }
    let elastic = |elastic: f64| Energy { elastic, ..Energy::default() };
    for spring in model.springs.iter() {
        let bodies = [spring.body1, spring.body2];
        add(&bodies, elastic(spring.energy(bodies.map(|body| pose_of(&state.poses, body)))));
    }
    let forces = state.loops.forces.iter().skip(model.first_transmission_row());
    let ropes = model.springs.transmissions.iter().zip(&model.derived.rope_bodies);
    for ((rope, &body), force) in ropes.zip(forces) {
        add(&[body], elastic(0.5 * rope.compliance * force * force));
    }
}

/// A rope or gear: what it measures, and its force.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TransmissionReading {
    /// Length of the path of a rope, m; `q₂ − ratio q₁` of a gear.
    pub value: f64,
    /// Tension of a rope in the last step, N, not negative; force of a gear that reduces `value`, in the units of `q₂`.
    pub force: f64,
}

/// Reads a rope or gear.
pub fn transmission_reading(model: &Model, state: &State, id: TransmissionId) -> TransmissionReading {
    let transmission = &model.springs.transmissions[id.index()];
    let value =
        transmission.quantity.value(&model.joints, &state.poses, |joint| state.twists[joint as usize]);
    let force = state.loops.forces[model.first_transmission_row() + id.index()];
    TransmissionReading { value, force: 0.0 - force }
}

/// Energy of the forces inside a joint, of its soft rows, and of what its motor turns.
fn joint_energy(model: &Model, state: &State, index: usize, spring_scale: f64) -> Energy {
    let joint = &model.joints[index];
    let forces = &model.forces[joint.forces as usize];
    let (body1, body2) = (pose_of(&state.poses, joint.body1), pose_of(&state.poses, joint.body2));
    let relative = RelativeState::at_rest(&joint.frames, [&body1, &body2], state.twists[index]);
    let mut kinetic = 0.0;
    if forces.has_armature() {
        let motion = |body| motion_of(&state.motions, body);
        kinetic = forces.armature_energy(&joint.relative(&state.poses, motion, state.twists[index]));
    }
    let mut elastic = forces.elastic_energy(&relative, spring_scale);
    if joint.compliance > 0.0 {
        let rows = evaluate_rows(joint.kind, &relative, &[], RowForm::Position);
        elastic += 0.5 / joint.compliance * rows.residual.iter().map(|c| c * c).sum::<f64>();
    }
    Energy { kinetic, elastic, gravity: 0.0 }
}

/// Total momentum of the dynamic bodies: angular about the world origin (kg·m²/s), linear (kg·m/s), world axes.
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
#[non_exhaustive]
pub struct Violation {
    /// Largest anchor distance along locked directions, or excess length of a rope, m.
    pub position: f64,
    /// Largest rotation error of a joint or gear, rad.
    pub rotation: f64,
    /// Largest anchor distance (m) or rotation error (rad) among the joints of the tree: those that never open.
    pub tree: f64,
    /// The joint with the largest anchor distance; none if a rope is worse.
    pub joint: Option<JointId>,
}

/// Joint errors of a state; drives are compared with the input's values, if given.
pub fn violation(model: &Model, state: &State, input: &Input) -> Violation {
    let mut out = Violation::default();
    let mut tables = InputIndex::default();
    tables.fill(model, state, input);
    let input = StepInput::new(input, &tables);
    for (index, joint) in model.joints.iter().enumerate() {
        if joint.compliance > 0.0 {
            continue;
        }
        let (position, rotation) = joint_error(model, state, &state.poses, input, (index as u32, 0.0));
        if position > out.position || out.joint.is_none() {
            (out.position, out.joint) = (position, Some(JointId::from_index(index)));
        }
        out.rotation = out.rotation.max(rotation);
        if model.is_tree_joint(JointId::from_index(index)) {
            out.tree = out.tree.max(position).max(rotation);
        }
    }
    for id in model.transmissions() {
        let (position, rotation) = transmission_error(model, state, &input, id);
        if position > out.position {
            (out.position, out.joint) = (position, None);
        }
        out.rotation = out.rotation.max(rotation);
    }
    out
}

/// Share of a largest force that rounding may leave.
const ROUNDING: f64 = 1e-9;

/// How far a rope is too long or a gear out of its range, m and rad; zero if it is soft or slips.
fn transmission_error(model: &Model, state: &State, input: &Input, id: TransmissionId) -> (f64, f64) {
    let transmission = &model.springs.transmissions[id.index()];
    let band = input.band(id, transmission.band);
    let TransmissionReading { value, force } = transmission_reading(model, state, id);
    if transmission.compliance > 0.0 || force.abs() >= band.max_force * (1.0 - ROUNDING) {
        return (0.0, 0.0);
    }
    let error = band.error(BandLaw::Free, value);
    let is_angle = matches!(transmission.quantity, Quantity::Joints([(_, DriveCoordinate::Twist, _), _]));
    if is_angle { (0.0, error) } else { (error, 0.0) }
}

/// A rope that is too long or a gear out of its range by more than a share of its size.
pub(crate) fn open_transmission(
    model: &Model,
    state: &State,
    input: &Input,
    share: f64,
) -> Option<TransmissionId> {
    model.transmissions().find(|&id| {
        let (position, rotation) = transmission_error(model, state, input, id);
        position.max(rotation) > share * model.springs.transmissions[id.index()].size
    })
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

/// Coordinates of a joint: twist about `i` (rad, continuous), slide along `i` (m), rotation vector between the frames
/// in frame 2 (rad), and their rates.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
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
    let index = joint.index();
    let motion = |body| motion_of(&state.motions, body);
    let relative = model.joints[index].relative(&state.poses, motion, state.twists[index]);
    JointReading {
        twist: relative.twist,
        twist_rate: relative.twist_rate(),
        slide: relative.slide(),
        slide_rate: relative.motion.linear.x,
        rotation: log_so3(relative.rotation),
        angular_rate: relative.motion.angular,
    }
}

/// Slip of a rolling joint on the way from some poses to others, m, in its velocity rows; 0 in all others. With the rows in the middle of the
/// way, no slip is the discrete constraint of Lagrange and d'Alembert, of second order.
pub(crate) fn slip(joint: &JointModel, start: &[Pose], end: &[Pose]) -> [f64; 6] {
    let bodies = [joint.body1, joint.body2];
    let moved = bodies.map(|body| increment(&pose_of(start, body), &pose_of(end, body)));
    let [pose1, pose2] = [0, 1].map(|i| move_pose(&pose_of(start, bodies[i]), moved[i] * 0.5));
    let (motion1, motion2) = (Motion::ZERO, Motion::ZERO);
    let halfway = PairState { pose1, pose2, motion1, motion2, previous_twist: 0.0 };
    let relative = RelativeState::new(&joint.frames, &halfway);
    let rows = evaluate_rows(joint.kind, &relative, &[], RowForm::Position);
    let along = rows.rate_error(&moved[0], &moved[1]);
    std::array::from_fn(|i| if rows.velocity_only[i] { along[i] } else { 0.0 })
}

/// Angle between the first axes of the frames of a joint, rad.
fn lean(joint: &JointModel, poses: &[Pose]) -> f64 {
    let ends = [(joint.body1, joint.frames.rotation1), (joint.body2, joint.frames.rotation2)];
    let [axis1, axis2] = ends.map(|(body, rotation)| pose_of(poses, body).rotation * (rotation * DVec3::X));
    let (sine_squared, cosine) = (axis2.cross(axis1).length_squared(), axis2.dot(axis1));
    let sine = sine_squared.sqrt();
    let is_small = sine_squared < 1e-8 && cosine > 0.0;
    if is_small { sine * (1.0 + sine_squared / 6.0) } else { ops::atan2(sine, cosine) }
}

/// Anchor distance (m) and rotation error (rad) of a joint at some poses; zero if it is soft or let go. The twist angles of the state
/// tell full turns apart.
#[inline]
pub(crate) fn joint_error(
    model: &Model,
    state: &State,
    poses: &[Pose],
    input: StepInput<'_>,
    (index, turned): (u32, f64),
) -> (f64, f64) {
    let joint = &model.joints[index as usize];
    if joint.compliance > 0.0 || input.releases(index) {
        return (0.0, 0.0);
    }
    if joint.kind == JointKind::Ball {
        let [point1, point2] = joint.anchors(poses);
        return (point1.distance(point2), 0.0);
    }
    error_of_rows(model, state, poses, input, (index, turned))
}

/// The same of a joint that holds more than a point.
fn error_of_rows(
    model: &Model,
    state: &State,
    poses: &[Pose],
    input: StepInput<'_>,
    (index, turned): (u32, f64),
) -> (f64, f64) {
    let joint = &model.joints[index as usize];
    if joint.kind == JointKind::Hinge && joint.n_driven() == 0 {
        let [point1, point2] = joint.anchors(poses);
        return (point1.distance(point2), lean(joint, poses));
    }
    // Errors are measured within half a turn of the last known angle and what it has turned since.
    let relative = joint.relative_at_rest(poses, state.twists[index as usize] + turned);
    let drives: SmallVec<[Drive; 2]> =
        joint.driven().filter_map(|c| input.drive(JointId::from_index(index as usize), c).copied()).collect();
    let rows = evaluate_rows_without_bias(joint.kind, &relative, &drives, RowForm::Position);
    let drives_twist = drives.first().is_some_and(|drive| drive.coordinate == DriveCoordinate::Twist);
    joint_errors(joint.kind, drives_twist, &rows)
}
