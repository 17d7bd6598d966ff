//! Values that are the text of elements.

use glam::{DQuat, DVec3};
use sinew_math::{Pose, normalize_quat};

use crate::error::ImportFault;
use crate::robot::roll_pitch_yaw;
use crate::xml::Element;

/// The numbers of an element.
pub(super) fn numbers(element: &Element) -> Result<Vec<f64>, ImportFault> {
    element.parse_numbers(element.tag(), element.text())
}

/// The number of an element.
pub(super) fn number(element: &Element) -> Result<f64, ImportFault> {
    match numbers(element)?[..] {
        [number] => Ok(number),
        ref found => Err(element.fault(format!("write one number, not {}", found.len()))),
    }
}

/// The vector of an element.
pub(super) fn vector(element: &Element) -> Result<DVec3, ImportFault> {
    match numbers(element)?[..] {
        [x, y, z] => Ok(DVec3::new(x, y, z)),
        ref found => Err(element.fault(format!("write three numbers, not {}", found.len()))),
    }
}

/// The number of a child.
pub(super) fn child_number(element: &Element, tag: &str) -> Result<Option<f64>, ImportFault> {
    element.child(tag).map(number).transpose()
}

/// The vector of a child.
pub(super) fn child_vector(element: &Element, tag: &str) -> Result<Option<DVec3>, ImportFault> {
    element.child(tag).map(vector).transpose()
}

/// A size that must be positive (m).
pub(super) fn size(element: &Element, tag: &str) -> Result<f64, ImportFault> {
    match child_number(element, tag)? {
        Some(size) if size > 0.0 => Ok(size),
        Some(size) => Err(element.fault(format!("<{tag}> must be positive, not {size}"))),
        None => Err(element.fault(format!("write <{tag}> (m)"))),
    }
}

/// A yes or no.
pub(super) fn flag(element: &Element) -> Result<bool, ImportFault> {
    match element.text().to_ascii_lowercase().as_str() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        other => Err(element.fault(format!("write true or false, not `{other}`"))),
    }
}

/// The pose of an element, and the frame in which it is written if it names one.
pub(super) fn read_pose(element: &Element) -> Result<(Pose, Option<&str>), ImportFault> {
    let Some(pose) = element.child("pose") else { return Ok((Pose::IDENTITY, None)) };
    // Until SDFormat 1.6 the attribute was called `frame`.
    let frame =
        pose.attribute("relative_to").or_else(|| pose.attribute("frame")).filter(|name| !name.is_empty());
    let is_degrees = pose.attribute("degrees").is_some_and(|text| matches!(text, "1" | "true"));
    let unit = if is_degrees { 1_f64.to_radians() } else { 1.0 };
    let found = numbers(pose)?;
    let is_quaternion = pose.attribute("rotation_format") == Some("quat_xyzw");
    let place = |n: &[f64]| DVec3::from_slice(n);
    match (&found[..], is_quaternion) {
        ([], _) => Ok((Pose::IDENTITY, frame)),
        (n @ [_, _, _, roll, pitch, yaw], false) => {
            let angles = DVec3::new(*roll, *pitch, *yaw) * unit;
            Ok((Pose::new(roll_pitch_yaw(angles), place(n)), frame))
        }
        (n @ [_, _, _, x, y, z, w], true) => {
            let rotation = DQuat::from_xyzw(*x, *y, *z, *w);
            if rotation.length_squared() > 0.0 {
                Ok((Pose::new(normalize_quat(rotation), place(n)), frame))
            } else {
                Err(pose.fault("the quaternion is zero"))
            }
        }
        (n, true) => Err(pose.fault(format!("write seven numbers, x y z and a quaternion, not {}", n.len()))),
        (n, false) => Err(pose.fault(format!("write six numbers, x y z roll pitch yaw, not {}", n.len()))),
    }
}
