//! Reference numbers of every holonomic kind, computed outside this project's code.

use glam::DVec3;
use serde_json::Value;
use sinew_math::{Motion, Pose, exp_so3};
use sinew_mechanism::{JointFrames, JointKind, PairState, RelativeState, RowForm, evaluate_rows};
use sinew_testkit::assert_close;

#[test]
fn golden_rows_are_reproduced() {
    let golden: Value = serde_json::from_str(include_str!("../../../../../fixtures/golden/joint.json"))
        .expect("valid fixture");
    let input = &golden["input"];
    let vec3 = |key: &str| vector(&input[key], 0);
    let twist = |key: &str| Motion::new(vector(&input[key], 0), vector(&input[key], 3));
    let frames = JointFrames {
        rotation1: exp_so3(vec3("q1")),
        point1: vec3("p1"),
        rotation2: exp_so3(vec3("q2")),
        point2: vec3("p2"),
    };
    let pair = PairState {
        pose1: Pose { rotation: exp_so3(vec3("phi1")), translation: vec3("x1") },
        pose2: Pose { rotation: exp_so3(vec3("phi2")), translation: vec3("x2") },
        motion1: twist("V1"),
        motion2: twist("V2"),
        previous_twist: 0.0,
    };
    let state = RelativeState::new(&frames, &pair);
    let cases = golden["cases"].as_array().expect("a list of cases");
    assert_eq!(cases.len(), 15);
    for case in cases {
        let pitch = input["pitch"].as_f64().expect("a pitch");
        let kind = JointKind::from_name(case["kind"].as_str().expect("a name"), pitch).expect("a known kind");
        let form = if case["form"] == "position" { RowForm::Position } else { RowForm::Acceleration };
        let rows = evaluate_rows(kind, &state, &[], form);
        assert_eq!(rows.n, case["residual"].as_array().map_or(0, Vec::len));
        for k in 0..rows.n {
            assert_close!(rows.residual[k], number(&case["residual"][k]), 1e-10);
            for column in 0..6 {
                assert_close!(rows.jacobian1[k][column], number(&case["jacobian1"][k][column]), 1e-10);
                assert_close!(rows.jacobian2[k][column], number(&case["jacobian2"][k][column]), 1e-10);
            }
            let rate = rows.rate_error(&pair.motion1, &pair.motion2)[k];
            assert_close!(rate, number(&case["rate"][k]), 1e-10);
            if let Some(bias) = case.get("bias") {
                assert_close!(rows.bias[k], number(&bias[k]), 1e-10);
            }
        }
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn vector(value: &Value, from: usize) -> DVec3 {
    DVec3::new(number(&value[from]), number(&value[from + 1]), number(&value[from + 2]))
}
