//! `sinew dynamics`: forward, inverse and hybrid of one state.

use serde_json::Value;

use crate::{Folder, sinew, stderr, stdout};

/// A rod on a pin, hanging out horizontally, and a second rod on it.
const SCENE: &str = r#"(format: 1, name: "rods",
  bodies: [
    (name: "upper", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.02, 0.02))], mass: Total(1)),
    (name: "lower", pose: (position: (1.5, 0, 0)), shapes: [Box(size: (1, 0.02, 0.02))], mass: Total(1)),
  ],
  joints: [
    (name: "shoulder", kind: Hinge, child: "upper", frames: World(axis: (0, 1, 0))),
    (name: "elbow", kind: Hinge, child: "lower", parent: "upper", frames: World(anchor: (1, 0, 0), axis: (0, 1, 0))),
  ])"#;

fn values(report: &Value, joint: usize, what: &str) -> f64 {
    report["joints"][joint][what][0].as_f64().expect("a number")
}

#[test]
fn inverse_gives_back_what_forward_was_given() {
    let folder = Folder::new("dynamics");
    folder.write("rods.ron", SCENE);
    let run = |mode: &str, file: &str, state: &str| -> Value {
        folder.write(file, state);
        let out = sinew(&folder, &["dynamics", "rods.ron", mode, "--state", file, "--json"]);
        assert!(out.status.success(), "{out:?}");
        serde_json::from_slice(&out.stdout).expect("JSON")
    };
    let state = r#"(joints: {"shoulder": (position: [0.3], rate: [1.0], torque: [2.0]), "elbow": (rate: [-0.5], torque: [-1.0])},
        wrenches: {"lower": (force: (0, 0, 3))})"#;
    let forward = run("--forward", "forward.ron", state);
    let found = [values(&forward, 0, "acceleration"), values(&forward, 1, "acceleration")];
    // The same as JSON, with accelerations instead of torques.
    let state = format!(
        r#"{{"joints": {{"shoulder": {{"position": [0.3], "rate": [1.0], "acceleration": [{:?}]}},
            "elbow": {{"rate": [-0.5], "acceleration": [{:?}]}}}}, "wrenches": {{"lower": {{"force": [0, 0, 3]}}}}}}"#,
        found[0], found[1]
    );
    let inverse = run("--inverse", "inverse.json", &state);
    for (joint, torque) in [(0, 2.0), (1, -1.0)] {
        assert!((values(&inverse, joint, "torque") - torque).abs() < 1e-12, "{inverse}");
    }
    // One prescribed, one passive.
    let state = format!(
        r#"(joints: {{"shoulder": (position: [0.3], rate: [1.0], acceleration: [{:?}]), "elbow": (rate: [-0.5], torque: [-1.0])}},
            wrenches: {{"lower": (force: (0, 0, 3))}})"#,
        found[0]
    );
    let hybrid = run("--hybrid", "hybrid.ron", &state);
    assert!((values(&hybrid, 0, "torque") - 2.0).abs() < 1e-12, "{hybrid}");
    assert!((values(&hybrid, 1, "acceleration") - found[1]).abs() < 1e-11, "{hybrid}");
}

#[test]
fn a_rod_falls_as_the_book_says() {
    let folder = Folder::new("dynamics_rod");
    folder.write(
        "rod.ron",
        r#"(format: 1, name: "rod",
  bodies: [(name: "rod", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.02, 0.02))], mass: Total(1))],
  joints: [(name: "pin", kind: Hinge, child: "rod", frames: World(axis: (0, 1, 0)))])"#,
    );
    let out = sinew(&folder, &["dynamics", "rod.ron", "--json"]);
    assert!(out.status.success(), "{out:?}");
    let report: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    // m g l/2 over m l²/3 + m w²/12; from +x towards −z is positive about y
    let wanted = 9.81 * 0.5 / (1.0 / 3.0 + 0.02 * 0.02 / 12.0);
    assert!((values(&report, 0, "acceleration") - wanted).abs() < 1e-9, "{report}");
    let text = stdout(&sinew(&folder, &["dynamics", "rod.ron"]));
    assert!(text.contains("pin") && text.contains("14.7"), "{text}");
}

#[test]
fn bad_states_are_errors_that_name_the_place() {
    let folder = Folder::new("dynamics_bad");
    folder.write("rods.ron", SCENE);
    for (name, mode, text, wanted) in [
        ("syntax.ron", "--forward", "(joints: {", "syntax.ron:1"),
        ("name.ron", "--forward", r#"(joints: {"ellbow": (rate: [1])})"#, "did you mean `elbow`"),
        (
            "length.ron",
            "--forward",
            r#"(joints: {"elbow": (rate: [1, 2])})"#,
            "has 1 numbers, but 2 are given",
        ),
        ("found.ron", "--forward", r#"(joints: {"elbow": (acceleration: [1])})"#, "this mode computes"),
        ("nan.ron", "--inverse", r#"(joints: {"elbow": (rate: [NaN])})"#, "not finite"),
        ("body.ron", "--hybrid", r#"(wrenches: {"hand": (force: (0, 0, 1))})"#, "no body called `hand`"),
    ] {
        folder.write(name, text);
        let out = sinew(&folder, &["dynamics", "rods.ron", mode, "--state", name]);
        let message = stderr(&out);
        assert_eq!(out.status.code(), Some(2), "{name}: {message}");
        assert!(message.contains(wanted) && message.contains(name), "{name}: {message}");
    }
    // Loops have no joint coordinates.
    assert_eq!(sinew(&folder, &["dynamics", "four_bar"]).status.code(), Some(2));
}

#[test]
fn gravity_is_what_the_scene_begins_with() {
    let folder = Folder::new("dynamics_change");
    folder.write(
        "rods.ron",
        &SCENE.replace("bodies: [", "changes: [(at_s: 0, gravity: (0, 0, 0))], bodies: ["),
    );
    let out = sinew(&folder, &["dynamics", "rods.ron", "--json"]);
    let report: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert!(values(&report, 0, "acceleration").abs() < 1e-12, "{report}");
}

#[test]
fn dynamics_takes_armatures_and_tells_what_it_leaves_out() {
    let folder = Folder::new("dynamics_armature");
    let scene = |forces: &str| {
        format!(
            r#"(format: 1, name: "arm", bodies: [(name: "a", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))], mass: Total(2))],
              joints: [(name: "j", child: "a", frames: World(axis: (0, 1, 0)){forces})])"#
        )
    };
    let armed = ", spring: (stiffness: 3, rest: 0.4), armature: 0.3, friction: 0.1";
    folder.write("armed.ron", &scene(armed));
    folder.write("bare.ron", &scene(""));
    let run = |file: &str, mode: &str, state: &str| -> Value {
        folder.write("state.ron", state);
        let out = sinew(&folder, &["dynamics", file, mode, "--state", "state.ron", "--json"]);
        assert!(out.status.success(), "{out:?}");
        serde_json::from_slice(&out.stdout).expect("JSON")
    };
    let inertia = 2.0 / 3.0 + 2.0 * 0.01 / 12.0;
    let forward = run("armed.ron", "--forward", r#"(joints: {"j": (rate: [2])})"#);
    assert!((values(&forward, 0, "acceleration") - 9.81 / (inertia + 0.3)).abs() < 1e-9, "{forward}");
    let energy = forward["kinetic_energy"].as_f64().expect("a number");
    assert!((energy - 2.0 * (inertia + 0.3)).abs() < 1e-9, "{forward}");
    assert_eq!(forward["left_out"][0]["what"], "springs");
    let inverse = run("armed.ron", "--inverse", r#"(joints: {"j": (acceleration: [5])})"#);
    assert!((values(&inverse, 0, "torque") - (5.0 * (inertia + 0.3) - 9.81)).abs() < 1e-9, "{inverse}");
    let bare = run("bare.ron", "--forward", r#"(joints: {"j": (torque: [1])})"#);
    assert!((values(&bare, 0, "acceleration") - 10.81 / inertia).abs() < 1e-9, "{bare}");
    assert!((values(&bare, 0, "torque") - 1.0).abs() < 1e-12, "{bare}");
    let text = stdout(&sinew(&folder, &["dynamics", "armed.ron"]));
    assert!(text.contains("left out: springs (j); friction (j)"), "{text}");
    assert!(!stdout(&sinew(&folder, &["dynamics", "bare.ron"])).contains("left out"));
}
