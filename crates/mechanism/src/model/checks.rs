//! What a spec must satisfy, one function per kind of thing.
//!
//! Stepping never fails, so everything that could spoil a step is refused here: numbers that are not finite, impossible masses,
//! forces on coordinates that a joint does not have. Every error names the body, joint or spring and says what would be valid.

use std::sync::Arc;

use glam::DQuat;
use sinew_math::{DriveCoordinate, JointKind};
use sinew_topology::Priority;

use crate::forces::{Limit, Motor, MotorTarget, ScalarForce};
use crate::model::{
    BodyId, BodyKind, BodyModel, BodySpec, GearSpec, JointModel, JointSpec, MechanismError, NameTable,
    PointSpringSpec, RopeSpec, TransmissionSpec,
};

/// Nothing, or the first fault.
pub(crate) type Checked = Result<(), MechanismError>;

/// How messages call something: its name, or its number.
pub(crate) fn label(index: usize, name: &str) -> String {
    if name.is_empty() { format!("#{index}") } else { name.to_owned() }
}

/// Names are optional, but a name that is there is unique: scenes and edits refer to it.
pub(crate) fn check_names(kind: &'static str, names: &NameTable) -> Checked {
    match names.duplicate() {
        Some(name) => Err(MechanismError::DuplicateName { kind, name: name.to_owned() }),
        None => Ok(()),
    }
}

/// Poses and twists are finite, rotations of unit length, drag does not push, mass properties are possible.
pub(crate) fn check_body(index: usize, body: &BodySpec) -> Checked {
    let what = || format!("body `{}`", label(index, &body.name));
    let is_finite = body.pose.is_finite() && body.motion.is_finite();
    ensure(is_finite, what, "pose or motion", f64::NAN, "give finite numbers")?;
    check_rotation(what, "rotation length", body.pose.rotation)?;
    for (field, value) in [("linear_damping", body.linear_damping), ("angular_damping", body.angular_damping)]
    {
        ensure(is_size(value), what, field, value, "use a rate of at least 0 1/s")?;
    }
    if body.kind == BodyKind::Dynamic {
        body.mass.is_physical().map_err(|e| MechanismError::NonPhysicalMass {
            name: label(index, &body.name),
            reason: e.to_string(),
        })?;
    }
    Ok(())
}

/// A joint refers to bodies that exist, and its numbers, coordinates and forces are valid.
pub(crate) fn check_joint(index: usize, joint: &JointSpec, n_bodies: usize) -> Checked {
    let what = format!("joint `{}`", label(index, &joint.name));
    check_bodies(&what, [Some(joint.child), joint.parent], n_bodies)?;
    check_joint_numbers(&what, joint)?;
    check_coordinates(&label(index, &joint.name), joint)?;
    check_break(&label(index, &joint.name), joint)?;
    for force in [&joint.twist, &joint.slide].into_iter().flatten() {
        check_scalar(&what, force)?;
    }
    if let Some(r) = &joint.rotation {
        let values = [
            ("stiffness", r.stiffness),
            ("damping", r.damping),
            ("armature", r.armature),
            ("friction", r.friction),
        ];
        check_not_negative(&what, &values)?;
        r.cone.as_ref().map_or(Ok(()), |cone| check_limit(&what, cone))?;
    }
    Ok(())
}

/// Frames, compliance, weight and parameter of a joint.
fn check_joint_numbers(what: &str, joint: &JointSpec) -> Checked {
    let what = || what.to_owned();
    let &JointSpec { frames: f, compliance, weight, kind, .. } = joint;
    check_rotation(what, "frame rotation length", f.rotation1)?;
    check_rotation(what, "frame rotation length", f.rotation2)?;
    let is_finite = f.point1.is_finite() && f.point2.is_finite();
    ensure(is_finite, what, "frame point", f64::NAN, "give finite numbers")?;
    ensure(is_size(compliance), what, "compliance", compliance, "use at least 0 m/N")?;
    ensure(weight > 0.0 && weight.is_finite(), what, "weight", weight, "use a finite number above 0")?;
    let Some(parameter) = kind.parameter() else { return Ok(()) };
    let is_valid = parameter.is_finite() && (kind.is_holonomic() || parameter > 0.0);
    ensure(is_valid, what, "pitch or radius", parameter, "use a finite pitch, or a radius above 0 m")
}

/// Loads that break a joint are positive; what may break is not in the tree, and takes no laws.
fn check_break(name: &str, joint: &JointSpec) -> Checked {
    let Some(load) = joint.breaks_at else { return Ok(()) };
    let what = || format!("joint `{name}`");
    for (field, value) in [("breaks_at.force", load.force), ("breaks_at.torque", load.torque)] {
        ensure(value > 0.0, what, field, value, "use a load above 0, or infinity")?;
    }
    let lasts = |reason, hint| Err(MechanismError::CannotBreak { joint: name.to_owned(), reason, hint });
    if joint.priority == Priority::Primary {
        return lasts("so it cannot be one of the tree", "use another priority");
    }
    if joint.is_actuated {
        return lasts("so it cannot be actuated", "give it a motor");
    }
    Ok(())
}

/// Forces, motors and drives act on coordinates that the joint has.
fn check_coordinates(name: &str, joint: &JointSpec) -> Checked {
    let wrong = |coordinate, hint| {
        let (joint, kind) = (name.to_owned(), joint.kind.name());
        Err(MechanismError::NoSuchCoordinate { joint, kind, coordinate, hint })
    };
    if joint.driven.len() == 2 && joint.driven[0] == joint.driven[1] || joint.driven.len() > 2 {
        return wrong("further coordinate to drive", "drive each coordinate once");
    }
    let motors = [&joint.twist, &joint.slide].into_iter().flatten().filter(|f| f.motor.is_some()).count();
    if motors > 1 {
        return wrong("second coordinate for a motor", "a joint has one motor: add a joint for the other");
    }
    let lacks = |c| joint.driven.contains(&c) && !joint.kind.can_drive(c);
    if joint.twist.is_some() && !joint.kind.has_twist() {
        let hint = "twist forces belong on hinge, cylindrical, planar, screw, ball, universal or free joints";
        return wrong("twist", hint);
    }
    if lacks(DriveCoordinate::Twist) {
        return wrong("twist to drive", "drive hinge, cylindrical, planar or screw joints");
    }
    let has_slide = joint.kind.can_drive(DriveCoordinate::Slide) || joint.kind == JointKind::Free;
    if lacks(DriveCoordinate::Slide) || (joint.slide.is_some() && !has_slide) {
        return wrong("slide", "slide forces belong on prismatic, cylindrical, point-on-line or free joints");
    }
    if joint.rotation.is_some() && joint.kind.locked_mask().is_some_and(|m| m & 0b111 == 0b111) {
        return wrong("rotation", "rotation forces belong on joints that can turn");
    }
    Ok(())
}

/// Forces along a coordinate: nothing negative, which would feed energy into every step.
pub(crate) fn check_scalar(what: &str, force: &ScalarForce) -> Checked {
    let spring = &force.spring;
    check_not_negative(
        what,
        &[
            ("stiffness", spring.stiffness),
            ("damping", spring.damping),
            ("armature", force.armature),
            ("friction", force.friction),
        ],
    )?;
    let rest = spring.rest;
    ensure(rest.is_finite(), || what.to_owned(), "rest", rest, "give a finite number")?;
    force.limit.as_ref().map_or(Ok(()), |limit| check_limit(what, limit))?;
    force.motor.as_ref().map_or(Ok(()), |motor| check_motor(what, motor))
}

/// Gains and targets of a motor.
fn check_motor(what: &str, motor: &Motor) -> Checked {
    check_not_negative(what, &[("kp", motor.kp), ("kd", motor.kd)])?;
    let MotorTarget { position, velocity, force } = motor.target;
    let what = || what.to_owned();
    for (field, value) in [("motor position", position), ("motor velocity", velocity), ("motor force", force)]
    {
        ensure(value.is_finite(), what, field, value, "give a finite number")?;
    }
    ensure(motor.max_force >= 0.0, what, "max_force", motor.max_force, "use at least 0, or infinity")
}

/// A limit needs a stiffness above 0: its damping is relative to it.
pub(crate) fn check_limit(what: &str, limit: &Limit) -> Checked {
    let &Limit { min, max, stiffness, .. } = limit;
    ensure(min <= max, || what.to_owned(), "limit min", min, "use a min that does not exceed max")?;
    let is_stiff = stiffness > 0.0 && stiffness.is_finite();
    ensure(is_stiff, || what.to_owned(), "limit stiffness", stiffness, "above 0")?;
    check_not_negative(what, &[("limit damping", limit.damping), ("limit ramp", limit.ramp)])
}

/// A spring between points refers to bodies that exist.
pub(crate) fn check_spring(index: usize, spec: &PointSpringSpec, n_bodies: usize) -> Checked {
    let what = format!("spring {index}");
    check_bodies(&what, [Some(spec.body1), spec.body2], n_bodies)?;
    let is_finite = spec.point1.is_finite() && spec.point2.is_finite();
    ensure(is_finite, || what.clone(), "point", f64::NAN, "give finite numbers")?;
    check_not_negative(
        &what,
        &[("stiffness", spec.stiffness), ("damping", spec.damping), ("rest_length", spec.rest_length)],
    )
}

/// A rope runs through points of at least one body that forces move; a gear joins two coordinates that their joints have.
pub(crate) fn check_transmission(
    index: usize,
    spec: &TransmissionSpec,
    bodies: &[BodyModel],
    (joints, joint_names): (&[JointModel], &[Arc<str>]),
) -> Checked {
    let name = label(index, spec.name());
    let (what, compliance, max_force) = match spec {
        TransmissionSpec::Rope(rope) => {
            let what = format!("rope `{name}`");
            check_rope(&what, rope, bodies)?;
            (what, rope.compliance, rope.max_force)
        }
        TransmissionSpec::Gear(gear) => {
            let what = format!("gear `{name}`");
            check_gear(&what, gear, joints, joint_names)?;
            (what, gear.compliance, gear.max_force)
        }
    };
    check_not_negative(&what, &[("compliance", compliance)])?;
    ensure(max_force >= 0.0, || what, "max_force", max_force, "use at least 0, or infinity")
}

fn check_rope(what: &str, rope: &RopeSpec, bodies: &[BodyModel]) -> Checked {
    let of = || what.to_owned();
    let n_points = rope.points.len();
    ensure(n_points >= 2, of, "number of points", n_points as f64, "give two ends at least")?;
    for &(body, point) in &rope.points {
        check_bodies(what, [body, None], bodies.len())?;
        ensure(point.is_finite(), of, "point", f64::NAN, "give finite numbers")?;
    }
    if let Some(length) = rope.length {
        ensure(length > 0.0 && length.is_finite(), of, "length", length, "use a length above 0 m")?;
    }
    let is_moved = |body: BodyId| bodies[body.index()].kind == BodyKind::Dynamic;
    if rope.points.iter().any(|&(body, _)| body.is_some_and(is_moved)) {
        Ok(())
    } else {
        Err(MechanismError::ImmovableTransmission { what: what.to_owned() })
    }
}

fn check_gear(what: &str, gear: &GearSpec, joints: &[JointModel], names: &[Arc<str>]) -> Checked {
    let of = || what.to_owned();
    for (joint, coordinate) in [gear.driver, gear.driven] {
        let (index, count) = (joint.index(), joints.len());
        let unknown = || MechanismError::UnknownId { what: what.to_owned(), kind: "joint", index, count };
        let kind = joints.get(index).ok_or_else(unknown)?.kind;
        if !kind.can_drive(coordinate) {
            let (joint, kind) = (label(index, &names[index]), kind.name());
            let coordinate = if coordinate == DriveCoordinate::Twist { "twist" } else { "slide" };
            let hint = "gears join angles of hinge, cylindrical, planar or screw joints and slides of prismatic, cylindrical \
                        or point-on-line joints";
            return Err(MechanismError::NoSuchCoordinate { joint, kind, coordinate, hint });
        }
        if joints[index].breaks_at.is_some() {
            let (reason, hint) = ("so no gear can hold on to it", "put the gear on other joints");
            return Err(MechanismError::CannotBreak { joint: label(index, &names[index]), reason, hint });
        }
    }
    let is_ratio = gear.ratio.is_finite() && gear.ratio != 0.0 && gear.driver != gear.driven;
    ensure(
        is_ratio,
        of,
        "ratio",
        gear.ratio,
        "use a finite ratio other than 0 between two different coordinates",
    )?;
    ensure(gear.offset.is_finite(), of, "offset", gear.offset, "give a finite number")?;
    check_not_negative(what, &[("backlash", gear.backlash)])
}

/// The first value that is negative or not finite is an error.
pub(crate) fn check_not_negative(what: &str, values: &[(&'static str, f64)]) -> Checked {
    let mut values = values.iter();
    values.try_for_each(|&(field, value)| {
        ensure(is_size(value), || what.to_owned(), field, value, "use 0 or more, finite")
    })
}

/// Every body is one of `count`.
fn check_bodies(what: &str, bodies: [Option<BodyId>; 2], count: usize) -> Checked {
    match bodies.into_iter().flatten().map(BodyId::index).find(|&index| index >= count) {
        Some(index) => Err(MechanismError::UnknownId { what: what.to_owned(), kind: "body", index, count }),
        None => Ok(()),
    }
}

/// A rotation is a unit quaternion.
fn check_rotation(what: impl FnOnce() -> String, field: &'static str, rotation: DQuat) -> Checked {
    let is_unit = (rotation.length_squared() - 1.0).abs() <= 1e-6;
    ensure(is_unit, what, field, rotation.length(), "normalize the quaternion")
}

/// Whether a number is finite and not negative.
fn is_size(value: f64) -> bool {
    value >= 0.0 && value.is_finite()
}

/// The error about one number, unless it is valid.
fn ensure(
    is_valid: bool,
    what: impl FnOnce() -> String,
    field: &'static str,
    value: f64,
    hint: &'static str,
) -> Checked {
    let invalid = || MechanismError::InvalidNumber { what: what(), field, value, hint };
    if is_valid { Ok(()) } else { Err(invalid()) }
}
