//! Where elements are in the frame around them: `pos`, and a rotation in one of MuJoCo's notations.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{Pose, exp_so3, mat3_to_quat, normalize_quat, ops};

use super::defaults::Inherited;
use super::settings::Conventions;
use crate::error::ImportFault;

/// The pose of an element, without `fromto`.
pub(super) fn read_pose(element: &Inherited<'_>, units: &Conventions) -> Result<Pose, ImportFault> {
    let position = element.vector("pos")?.unwrap_or_default();
    Ok(Pose::new(read_rotation(element, units)?, position))
}

/// The rotation of an element. Another notation takes the place of `quat`.
pub(super) fn read_rotation(element: &Inherited<'_>, units: &Conventions) -> Result<DQuat, ImportFault> {
    let exactly = |name: &str, n: usize| match element.numbers(name)? {
        Some(found) if found.len() != n => {
            Err(element.fault(format!("`{name}` takes {n} numbers, not {}", found.len())))
        }
        found => Ok(found),
    };
    if let Some(n) = exactly("axisangle", 4)? {
        let axis = direction(element, "axisangle", DVec3::from_slice(&n))?;
        return Ok(exp_so3(axis * (n[3] * units.angle)));
    }
    if let Some(n) = exactly("xyaxes", 6)? {
        return from_axes(element, [DVec3::from_slice(&n), DVec3::from_slice(&n[3..])]);
    }
    if let Some(n) = exactly("zaxis", 3)? {
        return Ok(towards(direction(element, "zaxis", DVec3::from_slice(&n))?));
    }
    if let Some(n) = exactly("euler", 3)? {
        return Ok(from_euler(DVec3::from_slice(&n) * units.angle, units.euler));
    }
    match exactly("quat", 4)? {
        Some(n) => read_quaternion(&n).ok_or_else(|| element.fault("the quaternion is zero")),
        None => Ok(DQuat::IDENTITY),
    }
}

/// The rotation to two axes of a frame; of the second, what is across the first counts.
fn from_axes(element: &Inherited<'_>, [x, y]: [DVec3; 2]) -> Result<DQuat, ImportFault> {
    let x = direction(element, "xyaxes", x)?;
    let y = direction(element, "xyaxes", y - x * x.dot(y))?;
    Ok(mat3_to_quat(&DMat3::from_cols(x, y, x.cross(y))))
}

/// A unit quaternion from its real part and the three others; none if all are zero.
pub(super) fn read_quaternion(n: &[f64]) -> Option<DQuat> {
    let largest = n.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let [w, x, y, z] = n.try_into().ok()?;
    (largest > 0.0).then(|| normalize_quat(DQuat::from_xyzw(x, y, z, w) * largest.recip()))
}

/// A direction; it may be written with any length but zero.
pub(super) fn direction(element: &Inherited<'_>, name: &str, v: DVec3) -> Result<DVec3, ImportFault> {
    let unit = v.try_normalize();
    unit.ok_or_else(|| {
        element.fault(format!("`{name}` gives no direction: a vector is zero, or two are parallel"))
    })
}

/// The shortest turn of z into a direction; half a turn about x if that is opposite.
pub(super) fn towards(z: DVec3) -> DQuat {
    let across = DVec3::Z.cross(z);
    let sine = across.length();
    let axis = if sine < 1e-10 { DVec3::X } else { across / sine };
    exp_so3(axis * ops::atan2(sine, z.z))
}

/// Turns one after the other: about the axes as they have been turned for small letters, about those around for capitals.
pub(super) fn from_euler(angles: DVec3, axes: [char; 3]) -> DQuat {
    let mut rotation = DQuat::IDENTITY;
    for (angle, letter) in angles.to_array().into_iter().zip(axes) {
        let axis = match letter.to_ascii_lowercase() {
            'x' => DVec3::X,
            'y' => DVec3::Y,
            _ => DVec3::Z,
        };
        let turn = exp_so3(axis * angle);
        rotation = if letter.is_ascii_lowercase() { rotation * turn } else { turn * rotation };
    }
    rotation
}
