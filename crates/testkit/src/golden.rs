//! Reader of the reference numbers in `fixtures/golden`.
//!
//! A golden file holds cases by name, at its top level or under `cases`; a case has its input under `in` and the
//! expected results under `out`. Matrices are lists of rows. Every function panics on anything else and
//! prints it.

use crate::dense::Dense;
use glam::{DMat3, DVec3};
pub use serde_json::Value;

/// The file `fixtures/golden/NAME.json`.
pub fn file(name: &str) -> Value {
    let path = format!("{}/../../fixtures/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// One case of a golden file.
pub fn case(file_name: &str, name: &str) -> Value {
    let mut all = file(file_name);
    let cases = if all["cases"].is_object() { &mut all["cases"] } else { &mut all };
    let case = cases[name].take();
    assert!(case.is_object(), "{file_name}.json has no case {name}");
    case
}

/// A list.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}"))
}

/// A number.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

/// A list of numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

/// A list of `N` numbers.
pub fn array<const N: usize>(value: &Value) -> [f64; N] {
    numbers(value).try_into().unwrap_or_else(|_| panic!("not {N} numbers: {value}"))
}

/// A vector.
pub fn vector(value: &Value) -> DVec3 {
    array::<3>(value).into()
}

/// A list of vectors.
pub fn vectors(value: &Value) -> Vec<DVec3> {
    list(value).iter().map(vector).collect()
}

/// A 3×3 matrix.
pub fn matrix(value: &Value) -> DMat3 {
    let rows: [[f64; 3]; 3] = std::array::from_fn(|i| array(&value[i]));
    DMat3::from_cols_array_2d(&rows).transpose()
}

/// A matrix of any size.
pub fn dense(value: &Value) -> Dense {
    let rows: Vec<Vec<f64>> = list(value).iter().map(numbers).collect();
    Dense::from_rows(rows.len(), rows[0].len(), &rows.concat())
}
