//! Joints of a scene as specs of the mechanism: frames in body axes, springs, limits, motors. SI units.

use sinew_math::{Pose, exp_so3};
use sinew_mechanism::{
    DriveCoordinate, JointCoordinate, JointFrames, JointSpec, Limit, MechanismBuilder, Motor, MotorTarget,
    RotationForce, ScalarForce, Spring, general_joint,
};
use sinew_scene::{
    ConeLimitDoc, ForceCoordinate, JointDoc, JointKind, LimitsDoc, MotorDoc, PriorityDoc, TargetDoc,
};
use sinew_topology::Priority;

use crate::{error::BuildError, names::Names};

/// A joint of a document, and the motor that it has.
pub(crate) struct BuiltJoint<'a> {
    pub(crate) spec: JointSpec,
    pub(crate) motor: Option<&'a MotorDoc>,
}

/// The joints of a document: one, or several if its coordinates are given one by one.
pub(crate) fn joint_specs<'a>(
    doc: &'a JointDoc,
    mechanism: &MechanismBuilder,
    names: &Names<'_>,
    path: &dyn Fn() -> String,
) -> Result<Vec<BuiltJoint<'a>>, BuildError> {
    let spec = joint_spec(doc, mechanism, names, path)?;
    let Some(free) = &doc.free else { return Ok(vec![BuiltJoint { spec, motor: doc.motor.as_ref() }]) };
    let forces = free.coordinates().map(|(_, forces)| forces);
    let coordinates = forces.map(|forces| match forces {
        Some(forces) => JointCoordinate::Free(scalar_force(&forces.to_joint()).unwrap_or_default()),
        None => JointCoordinate::Locked,
    });
    let motor = |index: usize| forces[index].and_then(|forces| forces.motor.as_ref());
    let parts = general_joint(&spec, &coordinates).into_iter();
    Ok(parts.map(|part| BuiltJoint { spec: part.spec, motor: part.motor.and_then(motor) }).collect())
}

/// The joint of a document; `path` is its place in the scene.
fn joint_spec(
    doc: &JointDoc,
    mechanism: &MechanismBuilder,
    names: &Names<'_>,
    path: &dyn Fn() -> String,
) -> Result<JointSpec, BuildError> {
    let child = names.body(&doc.child, path)?;
    let parent = doc.parent.as_ref().map(|name| names.body(name, path)).transpose()?;
    let parent_pose = parent.map_or(Pose::IDENTITY, |body| mechanism.body_pose(body));
    let (on_child, on_parent) = doc.frames.in_bodies(&mechanism.body_pose(child), &parent_pose);
    let frames = JointFrames {
        rotation1: on_child.rotation,
        point1: on_child.translation,
        rotation2: on_parent.rotation,
        point2: on_parent.translation,
    };
    let priority = match doc.priority {
        PriorityDoc::Auto => Priority::Auto,
        PriorityDoc::Primary => Priority::Primary,
        PriorityDoc::Secondary => Priority::Secondary,
    };
    let spec = JointSpec::new(doc.name.as_str(), doc.kind, child, parent, frames)
        .with_priority(priority)
        .with_weight(doc.weight)
        .with_compliance(doc.compliance);
    let spec = match doc.breaks_at {
        Some(load) => {
            spec.breaking_at(load.force.unwrap_or(f64::INFINITY), load.torque.unwrap_or(f64::INFINITY))
        }
        None => spec,
    };
    add_forces(doc, spec, path)
}

/// Adds the forces of `doc` to a joint; `path` is that of the joint.
fn add_forces(
    doc: &JointDoc,
    mut spec: JointSpec,
    path: &dyn Fn() -> String,
) -> Result<JointSpec, BuildError> {
    set_forces(doc, &mut spec);
    if doc.force_coordinate() == Some(ForceCoordinate::Rotation) {
        add_rest_rotation(doc, &mut spec, path)?;
    }
    Ok(match (&doc.drive, drive_coordinate(doc)) {
        (Some(_), Some(coordinate)) => spec.driven_by(coordinate),
        _ => spec,
    })
}

/// Springs, limits, motor, armature and friction of a document.
pub(crate) fn set_forces(doc: &JointDoc, spec: &mut JointSpec) {
    match doc.force_coordinate() {
        Some(ForceCoordinate::Angle) => spec.twist = scalar_force(doc),
        Some(ForceCoordinate::Slide) => spec.slide = scalar_force(doc),
        Some(ForceCoordinate::Rotation) => {
            spec.rotation = rotation_force(doc);
            spec.twist = twist_force(doc);
        }
        None => {}
    }
}

/// The coordinate that a drive of this joint prescribes.
pub(crate) fn drive_coordinate(doc: &JointDoc) -> Option<DriveCoordinate> {
    match doc.force_coordinate()? {
        ForceCoordinate::Angle => Some(DriveCoordinate::Twist),
        ForceCoordinate::Slide => Some(DriveCoordinate::Slide),
        ForceCoordinate::Rotation => None,
    }
}

/// The track that a motor follows, and whether it gives a rate.
pub(crate) fn motor_track(motor: &MotorDoc) -> Option<(&str, bool)> {
    let (target, is_rate) = match motor {
        MotorDoc::Position(motor) => (&motor.target, false),
        MotorDoc::Velocity(motor) => (&motor.target, true),
    };
    match target {
        TargetDoc::Track(name) => Some((name, is_rate)),
        TargetDoc::Value(_) => None,
    }
}

fn scalar_force(doc: &JointDoc) -> Option<ScalarForce> {
    let spring = doc.spring.unwrap_or_default();
    let mut force = ScalarForce::default();
    force.spring =
        Spring { stiffness: spring.stiffness, rest: spring.rest, damping: spring.damping + doc.damping };
    force.limit = doc.limits.as_ref().map(limit);
    force.motor = doc.motor.as_ref().map(motor);
    force.armature = doc.armature;
    force.friction = doc.friction;
    (force != ScalarForce::default()).then_some(force)
}

/// Limits and motor of a joint that turns in space, along its twist.
fn twist_force(doc: &JointDoc) -> Option<ScalarForce> {
    let mut force = ScalarForce::default();
    force.limit = doc.limits.as_ref().map(limit);
    force.motor = doc.motor.as_ref().map(motor);
    (force != ScalarForce::default()).then_some(force)
}

fn rotation_force(doc: &JointDoc) -> Option<RotationForce> {
    let spring = doc.spring.unwrap_or_default();
    let mut force = RotationForce::spring(spring.stiffness, spring.damping + doc.damping);
    force.cone = doc.cone_limit.as_ref().map(cone);
    force.armature = doc.armature;
    force.friction = doc.friction;
    (force != RotationForce::default()).then_some(force)
}

/// Moves the rest rotation `r` of a spring into the frame of the parent, as `exp(r)`. Limits, motors and universal joints depend on the
/// directions of that frame and cannot be combined with it.
fn add_rest_rotation(
    doc: &JointDoc,
    spec: &mut JointSpec,
    path: &dyn Fn() -> String,
) -> Result<(), BuildError> {
    let rest = doc.spring.unwrap_or_default().rest_rotation;
    if rest == glam::DVec3::ZERO {
        return Ok(());
    }
    if doc.cone_limit.is_some() || spec.twist.is_some() || doc.kind == JointKind::Universal {
        return Err(BuildError::Unsupported {
            field: path() + ".spring.rest_rotation",
            what: "a spring relaxed at a rotation cannot be combined with limits, a motor or a universal joint",
            hint: "turn the parent's frame instead, with frames: Local(…)",
        });
    }
    spec.frames.rotation2 = (spec.frames.rotation2 * exp_so3(rest)).normalize();
    Ok(())
}

fn limit(doc: &LimitsDoc) -> Limit {
    Limit { min: doc.min, max: doc.max, stiffness: doc.stiffness, damping: doc.damping, ramp: doc.ramp }
}

fn cone(doc: &ConeLimitDoc) -> Limit {
    Limit { min: 0.0, max: doc.angle, stiffness: doc.stiffness, damping: doc.damping, ramp: doc.ramp }
}

fn motor(doc: &MotorDoc) -> Motor {
    let value = |target: &TargetDoc| match target {
        TargetDoc::Value(value) => *value,
        TargetDoc::Track(_) => 0.0,
    };
    let (kp, kd, position, velocity) = match doc {
        MotorDoc::Position(m) => (m.stiffness, m.damping, value(&m.target), 0.0),
        MotorDoc::Velocity(m) => (0.0, m.damping, 0.0, value(&m.target)),
    };
    let (max_force, gravity_compensation) = match doc {
        MotorDoc::Position(m) => (m.max_force, m.gravity_compensation),
        MotorDoc::Velocity(m) => (m.max_force, m.gravity_compensation),
    };
    Motor {
        kp,
        kd,
        max_force: max_force.unwrap_or(f64::INFINITY),
        target: MotorTarget { position, velocity, ..MotorTarget::default() },
        gravity_compensation,
    }
}
