//! Readers for the reference numbers in `fixtures/golden`.

use glam::{DMat3, DVec3};
use serde_json::Value;

pub(crate) const SPATIAL: &str = include_str!("../../../../fixtures/golden/spatial.json");
pub(crate) const MASS: &str = include_str!("../../../../fixtures/golden/mass.json");
pub(crate) const ROTATION: &str = include_str!("../../../../fixtures/golden/rotation.json");
pub(crate) const SO3_REFERENCE: &str = include_str!("../../../../fixtures/golden/so3_reference.json");
pub(crate) const ATAN2_REFERENCE: &str = include_str!("../../../../fixtures/golden/atan2_reference.json");

pub(crate) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The case `name` of a golden file.
pub(crate) fn case(text: &str, name: &str) -> Value {
    let case = parse(text)["cases"][name].clone();
    assert!(case.is_object(), "no golden case {name}");
    case
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

pub(crate) fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    let list: Vec<f64> = value.as_array().unwrap().iter().map(number).collect();
    list.try_into().unwrap()
}

pub(crate) fn vector(value: &Value) -> DVec3 {
    numbers::<3>(value).into()
}

/// A list of rows.
pub(crate) fn matrix(value: &Value) -> DMat3 {
    let rows: Vec<DVec3> = value.as_array().unwrap().iter().map(vector).collect();
    DMat3::from_cols(rows[0], rows[1], rows[2]).transpose()
}
