//! What a spec must satisfy, one function per kind of thing.
//!
//! Stepping never fails, so everything that could spoil a step is refused here: numbers that are not finite, impossible masses,
//! forces on coordinates that a joint does not have. Every error names the body, joint or spring and says what would be valid.

use sinew_math::DriveCoordinate;

use crate::forces::{Limit, Motor, MotorTarget, ScalarForce};
use crate::model::{BodyKind, BodySpec, JointSpec, MechanismError, PointSpringSpec};

/// How messages call something: its name, or its number.
pub(crate) fn label(index: usize, name: &str) -> String {
    if name.is_empty() { format!("#{index}") } else { name.to_owned() }
}

/// Names are optional, but a name that is there is unique: scenes and edits refer to it.
pub(crate) fn check_names<'a>(
    kind: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), MechanismError> {
    let mut sorted: Vec<&str> = names.filter(|n| !n.is_empty()).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => Err(MechanismError::DuplicateName { kind, name: w[0].to_owned() }),
        None => Ok(()),
    }
}

/// Poses and twists are finite, rotations of unit length, drag does not push, mass properties are possible.
pub(crate) fn check_body(index: usize, body: &BodySpec) -> Result<(), MechanismError> {
    let what = || format!("body `{}`", label(index, &body.name));
    let pose = body.pose.translation.is_finite() && body.pose.rotation.is_finite();
    let motion = body.motion.angular.is_finite() && body.motion.linear.is_finite();
    if !pose || !motion {
        return Err(invalid(what(), "pose or motion", f64::NAN, "give finite numbers"));
    }
    if (body.pose.rotation.length_squared() - 1.0).abs() > 1e-6 {
        let length = body.pose.rotation.length();
        return Err(invalid(what(), "rotation length", length, "normalize the quaternion"));
    }
    for (field, value) in [("linear_damping", body.linear_damping), ("angular_damping", body.angular_damping)]
    {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(invalid(what(), field, value, "use a rate of at least 0 1/s"));
        }
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
pub(crate) fn check_joint(index: usize, joint: &JointSpec, n_bodies: usize) -> Result<(), MechanismError> {
    let what = format!("joint `{}`", label(index, &joint.name));
    for body in std::iter::once(joint.child).chain(joint.parent) {
        if body.index() >= n_bodies {
            let (index, count) = (body.index(), n_bodies);
            return Err(MechanismError::UnknownId { what, kind: "body", index, count });
        }
    }
    check_joint_numbers(&what, joint)?;
    check_coordinates(&label(index, &joint.name), joint)?;
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
fn check_joint_numbers(what: &str, joint: &JointSpec) -> Result<(), MechanismError> {
    let fault = |field, value, hint| Err(invalid(what.to_owned(), field, value, hint));
    let f = &joint.frames;
    for q in [f.rotation1, f.rotation2] {
        if !q.is_finite() || (q.length_squared() - 1.0).abs() > 1e-6 {
            return fault("frame rotation length", q.length(), "normalize the quaternion");
        }
    }
    if !(f.point1.is_finite() && f.point2.is_finite()) {
        return fault("frame point", f64::NAN, "give finite numbers");
    }
    if !(joint.compliance >= 0.0 && joint.compliance.is_finite()) {
        return fault("compliance", joint.compliance, "use at least 0 m/N");
    }
    if !(joint.weight > 0.0 && joint.weight.is_finite()) {
        return fault("weight", joint.weight, "use a finite number above 0");
    }
    match joint.kind.parameter() {
        Some(parameter) if !parameter.is_finite() || (!joint.kind.is_holonomic() && parameter <= 0.0) => {
            fault("pitch or radius", parameter, "use a finite pitch, or a radius above 0 m")
        }
        _ => Ok(()),
    }
}

/// Forces, motors and drives act on coordinates that the joint has.
fn check_coordinates(name: &str, joint: &JointSpec) -> Result<(), MechanismError> {
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
    let lacks = |c, has_force: bool| (has_force || joint.driven.contains(&c)) && !joint.kind.can_drive(c);
    if lacks(DriveCoordinate::Twist, joint.twist.is_some()) {
        return wrong("twist", "twist forces belong on hinge, cylindrical, planar or screw joints");
    }
    if lacks(DriveCoordinate::Slide, joint.slide.is_some()) {
        return wrong("slide", "slide forces belong on prismatic, cylindrical or point-on-line joints");
    }
    if joint.rotation.is_some() && joint.kind.locked_mask().is_some_and(|m| m & 0b111 == 0b111) {
        return wrong("rotation", "rotation forces belong on joints that can turn");
    }
    Ok(())
}

/// Forces along a coordinate: nothing negative, which would feed energy into every step.
pub(crate) fn check_scalar(what: &str, force: &ScalarForce) -> Result<(), MechanismError> {
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
    if !spring.rest.is_finite() {
        return Err(invalid(what.to_owned(), "rest", spring.rest, "give a finite number"));
    }
    if let Some(limit) = &force.limit {
        check_limit(what, limit)?;
    }
    force.motor.as_ref().map_or(Ok(()), |motor| check_motor(what, motor))
}

/// Gains and targets of a motor.
fn check_motor(what: &str, motor: &Motor) -> Result<(), MechanismError> {
    check_not_negative(what, &[("kp", motor.kp), ("kd", motor.kd)])?;
    let MotorTarget { position, velocity } = motor.target;
    for (field, value) in [("motor position", position), ("motor velocity", velocity)] {
        if !value.is_finite() {
            return Err(invalid(what.to_owned(), field, value, "give a finite number"));
        }
    }
    if motor.max_force.is_nan() || motor.max_force < 0.0 {
        return Err(invalid(what.to_owned(), "max_force", motor.max_force, "use at least 0, or infinity"));
    }
    Ok(())
}

/// A limit needs a stiffness above 0: its damping is relative to it.
pub(crate) fn check_limit(what: &str, limit: &Limit) -> Result<(), MechanismError> {
    if limit.min.is_nan() || limit.max.is_nan() || limit.min > limit.max {
        return Err(invalid(what.to_owned(), "limit min", limit.min, "use a min that does not exceed max"));
    }
    if !(limit.stiffness > 0.0 && limit.stiffness.is_finite()) {
        return Err(invalid(what.to_owned(), "limit stiffness", limit.stiffness, "above 0"));
    }
    check_not_negative(what, &[("limit damping", limit.damping), ("limit ramp", limit.ramp)])
}

/// A spring between points refers to bodies that exist.
pub(crate) fn check_spring(
    index: usize,
    spec: &PointSpringSpec,
    n_bodies: usize,
) -> Result<(), MechanismError> {
    let what = format!("spring {index}");
    for body in std::iter::once(spec.body1).chain(spec.body2) {
        if body.index() >= n_bodies {
            let (index, count) = (body.index(), n_bodies);
            return Err(MechanismError::UnknownId { what, kind: "body", index, count });
        }
    }
    if !(spec.point1.is_finite() && spec.point2.is_finite()) {
        return Err(invalid(what, "point", f64::NAN, "give finite numbers"));
    }
    check_not_negative(
        &what,
        &[("stiffness", spec.stiffness), ("damping", spec.damping), ("rest_length", spec.rest_length)],
    )
}

/// The first value that is negative or not finite is an error.
pub(crate) fn check_not_negative(what: &str, values: &[(&'static str, f64)]) -> Result<(), MechanismError> {
    match values.iter().find(|(_, v)| !(*v >= 0.0 && v.is_finite())) {
        Some((field, value)) => Err(invalid(what.to_owned(), field, *value, "use 0 or more, finite")),
        None => Ok(()),
    }
}

/// The error about one number.
fn invalid(what: String, field: &'static str, value: f64, hint: &'static str) -> MechanismError {
    MechanismError::InvalidNumber { what, field, value, hint }
}
