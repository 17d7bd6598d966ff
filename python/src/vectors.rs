//! Vectors and poses as arguments: any sequence of numbers.

use glam::{DQuat, DVec3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sinew_math::Pose;

/// Three finite numbers.
#[derive(Clone, Copy)]
pub(crate) struct Vec3(pub(crate) DVec3);

impl<'a, 'py> FromPyObject<'a, 'py> for Vec3 {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let found = given.extract::<[f64; 3]>().ok().map(DVec3::from_array).filter(|v| v.is_finite());
        found.map(Self).ok_or_else(|| wrong(&given, "three finite numbers"))
    }
}

/// A rotation as a quaternion `x y z w`, of any length but zero.
#[derive(Clone, Copy)]
pub(crate) struct Rotation(pub(crate) DQuat);

impl<'a, 'py> FromPyObject<'a, 'py> for Rotation {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let found = given.extract::<[f64; 4]>().ok().and_then(unit);
        found.map(Self).ok_or_else(|| {
            wrong(&given, "a quaternion: four finite numbers x, y, z, w that are not all zero")
        })
    }
}

/// The unit quaternion of four numbers `x y z w`; none if they are all zero, or not finite.
pub(crate) fn unit(numbers: [f64; 4]) -> Option<DQuat> {
    let quaternion = DQuat::from_array(numbers);
    let length = quaternion.length();
    // One that is already as long as rounding allows keeps its bits.
    if (length - 1.0).abs() < 1e-15 {
        return Some(quaternion);
    }
    (length.is_finite() && length > 1e-300).then(|| quaternion.normalize())
}

/// A pose of seven numbers: position, quaternion.
pub(crate) fn pose(numbers: &[f64]) -> Option<Pose> {
    let [x, y, z, a, b, c, d] = *numbers else { return None };
    let position = DVec3::new(x, y, z);
    Some(Pose::new(unit([a, b, c, d])?, position)).filter(|_| position.is_finite())
}

/// A position and a rotation.
pub(crate) fn posed(position: Vec3, rotation: Option<Rotation>) -> Pose {
    Pose::new(rotation.map_or(DQuat::IDENTITY, |rotation| rotation.0), position.0)
}

/// Writes a pose as seven numbers.
pub(crate) fn push_pose(pose: &Pose, out: &mut Vec<f64>) {
    out.extend_from_slice(&pose.translation.to_array());
    out.extend_from_slice(&pose.rotation.to_array());
}

fn wrong(given: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let found = given.repr().map_or_else(|_| "something else".to_owned(), |text| text.to_string());
    let found: String = found.chars().take(80).collect();
    PyValueError::new_err(format!("expected {wanted}, not {found}"))
}
