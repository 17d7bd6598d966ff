//! The reference numbers of `fixtures/golden/control.json`.

use serde_json::Value;
use sinew_testkit::Dense;

/// One part (`in` or `out`) of a case.
pub(crate) fn section(case: &str, part: &str) -> Value {
    let text = include_str!("../../../../fixtures/golden/control.json");
    let all: Value = serde_json::from_str(text).unwrap();
    all[case][part].clone()
}

/// A list of numbers.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// A list of rows.
pub(crate) fn matrix(value: &Value) -> Dense {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    Dense::from_rows(rows.len(), rows[0].len(), &rows.concat())
}
