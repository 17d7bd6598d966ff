//! Flesh and contacts in reports, pictures and complaints.

use serde_json::Value;

use crate::{Folder, sinew, stderr, stdout};

/// A cube of flesh that falls on the ground.
const CUBE: &str = r#"(
    format: 1,
    name: "cube",
    duration_s: 0.5,
    colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))],
    flesh: [(
        name: "cube",
        mesh: Beam(size: (0.2, 0.2, 0.2), cells: (2, 2, 2)),
        pose: (position: (-0.1, -0.1, 0.1), rotation: Vector(0.3, 0.2, 0.1)),
        material: StVenantKirchhoff(young: 5e4, poisson: 0.4),
        contact: (friction: 0.6),
    )],
)"#;

/// A character above the ground.
fn character(kind: &str) -> String {
    format!(
        "(format: 1, name: \"character\", duration_s: 1,
          colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))],
          generators: [Character(name: \"it\", kind: {kind}, pose: (position: (0, 0, 0.2)),
            material: StVenantKirchhoff(young: 5e4, poisson: 0.4), joint: (stiffness: 5, damping: 0.1),
            contact: (friction: 0.6))])"
    )
}

fn json(folder: &Folder, args: &[&str]) -> Value {
    let output = sinew(folder, &[&["run", "--json"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("one JSON object and nothing else")
}

#[test]
fn flesh_is_reported() {
    let folder = Folder::new("flesh-report");
    folder.write("cube.ron", CUBE);
    let report = json(&folder, &["cube.ron"]);
    let flesh = &report["flesh"];
    for (key, value) in [
        ("bodies", 1),
        ("nodes", 27),
        ("tetrahedra", 48),
        ("colliders", 1),
        ("steps", 30),
        ("unconverged", 0),
    ] {
        assert_eq!(flesh[key], value, "{key} in {flesh}");
    }
    assert_eq!(flesh["inverted"], 0);
    assert!(flesh["iterations"].as_u64() >= flesh["max_iterations"].as_u64());
    assert!(flesh["max_iterations"].as_u64() > Some(0));
    assert!(flesh["max_contacts"].as_u64() > Some(0), "it has fallen on the ground");
    assert!(flesh["max_depth"].as_f64().is_some_and(|depth| depth > 0.0 && depth < 0.02), "{flesh}");
    assert!(flesh["diagonalized"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)), "{flesh}");

    let said = stdout(&sinew(&folder, &["run", "cube.ron"]));
    for words in [
        "1 body of flesh (27 nodes, 48 tetrahedra), 1 collider",
        "iterations per step",
        "contacts       up to",
    ] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
    let checked = stdout(&sinew(&folder, &["check", "cube.ron"]));
    assert!(checked.contains("good; 0 bodies") && checked.contains("48 tetrahedra"), "{checked}");
}

#[test]
fn without_flesh_nothing_is_said_about_it() {
    let folder = Folder::new("flesh-none");
    assert!(json(&folder, &["pendulum", "--steps", "2"]).get("flesh").is_none());
    let ground = "colliders=[(shape: Plane(point: (0, 0, -9), normal: (0, 0, 1)))]";
    let report = json(&folder, &["pendulum", "--steps", "2", "--set", ground]);
    assert_eq!((&report["flesh"]["bodies"], &report["flesh"]["colliders"]), (&0.into(), &1.into()));
    let said = stdout(&sinew(&folder, &["run", "pendulum", "--steps", "2", "--set", ground]));
    assert!(said.contains("touching       1 collider") && !said.contains("iterations"), "{said}");
}

#[test]
fn tetrahedra_that_end_inverted_are_a_warning() {
    let folder = Folder::new("flesh-inverted");
    let said = |more: &[&str]| stdout(&sinew(&folder, &[&["run", "tet_inverted"], more].concat()));
    let early = said(&["--steps", "1"]);
    let warned =
        early.lines().find(|line| line.contains("WARNING        tetrahedra are inverted at the end: use "));
    assert!(warned.is_some_and(|line| line.ends_with("(1 of 1 steps, first 1)")), "{early}");
    let expected = said(&["--steps", "1", "--set", "expect=(max_inverted: 1)"]);
    let later = said(&[]);
    assert!(!expected.contains("WARNING") && !later.contains("WARNING"), "{expected}{later}");
    let report = json(&folder, &["tet_inverted", "--steps", "1"]);
    assert_eq!(report["notices"][0]["is_warning"], true, "{report}");
}

#[test]
fn pictures_show_flesh_its_stretch_and_its_mesh() {
    let folder = Folder::new("flesh-pictures");
    for (kind, steps) in [("Worm", "20"), ("Hand", "2")] {
        folder.write("it.ron", &character(kind));
        let draw = |more: &[&str]| {
            let args = ["run", "it.ron", "--steps", steps, "--png", "a.png", "--size", "120x80"];
            let output = sinew(&folder, &[&args[..], more].concat());
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            folder.bytes("a.png")
        };
        let [skin, stretch, mesh, top] =
            [&[][..], &["--show", "stretch"], &["--show", "mesh"], &["--camera", "top"]].map(draw);
        assert!(skin != stretch && skin != mesh && skin != top && stretch != mesh, "{kind}");
        assert_eq!(draw(&[]), skin, "{kind}: the same run, the same picture");
    }
}

#[test]
fn flesh_that_cannot_be_built_is_located() {
    let folder = Folder::new("flesh-located");
    folder.write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n");
    folder.write("not.ron", "(format: 1, nodes: oops)");
    let scene = |mesh: &str| format!("(format: 1,\n flesh: [(name: \"a\",\n  mesh: {mesh})])");
    for (mesh, words) in [
        ("Surface(file: \"open.obj\", cells: 4)", "the surface is open"),
        ("Embedded(file: \"not.ron\")", "`not.ron`"),
    ] {
        folder.write("a.ron", &scene(mesh));
        for command in ["check", "run"] {
            let output = sinew(&folder, &[command, "a.ron"]);
            assert_eq!(output.status.code(), Some(2), "{mesh}");
            let said = stderr(&output);
            assert!(said.contains("a.ron:3:9: flesh[0].mesh: ") && said.contains(words), "{said}");
            assert!(stdout(&output).is_empty());
        }
    }
}

#[test]
fn forces_that_are_not_finite_are_counted() {
    let folder = Folder::new("flesh-nonfinite");
    folder.write("cube.ron", CUBE);
    let far = ["--set", "flesh[0].disturbed=Scaled(1e160, 1, 1)", "--set", "flesh[0].material.young=5e100"];
    let output = sinew(
        &folder,
        &[&["run", "cube.ron", "--steps", "3", "--png", "a.png", "--json"], &far[..]].concat(),
    );
    let report: Value = serde_json::from_str(&stdout(&output)).expect("a report, whatever happens");
    assert!(report["flesh"]["non_finite"].as_u64() > Some(0), "{report}");
    assert!(folder.bytes("a.png").len() > 1000);
}
