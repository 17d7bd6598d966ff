//! Every file of `fixtures/invalid` breaks the rule it is named after, at the place its last lines say:
//! `// expect: KIND LINE:COLUMN`, one line per error. (Those of `invalid/build` can be read, but not built.)

use sinew_scene::SceneSource;
use std::collections::BTreeSet;

#[test]
fn every_broken_rule_is_reported_where_it_is_broken() {
    let mut kinds = BTreeSet::new();
    for path in super::fixtures_in("invalid") {
        let text = std::fs::read_to_string(&path).unwrap();
        let wanted: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("// expect: ")).collect();
        let errors = SceneSource::load(&path).expect("readable").parse().expect_err("the scene is broken");
        let found: Vec<_> =
            errors.as_slice().iter().map(|e| format!("{:?} {}:{}", e.issue.kind, e.line, e.column)).collect();
        assert_eq!(found, wanted, "{}:\n{errors}", path.display());
        kinds.extend(errors.as_slice().iter().map(|e| e.issue.kind));
        for error in errors.as_slice() {
            assert!(error.to_string().starts_with(&format!(
                "{}:{}:{}: ",
                path.display(),
                error.line,
                error.column
            )));
            assert!(!error.issue.message.is_empty());
        }
    }
    // Every kind there is.
    assert_eq!(kinds.len(), 35, "{kinds:?}");
}

#[test]
fn a_missing_file_is_named() {
    let errors = sinew_scene::SceneDoc::load("no/such/scene.ron".as_ref()).unwrap_err();
    let text = errors.to_string();
    assert!(text.starts_with("no/such/scene.ron: cannot read the scene"), "{text}");
}

#[test]
fn errors_come_in_the_order_of_the_text() {
    let text = "(format: 1,\n name: \"x\",\n duration_s: -1,\n bodies: [(name: \"\")],\n dt: -1)";
    let errors = sinew_scene::SceneDoc::from_ron(text, "x.ron").unwrap_err();
    let lines: Vec<_> = errors.as_slice().iter().map(|e| e.line).collect();
    assert_eq!(lines, [3, 4, 4, 5]);
    assert_eq!(errors.to_string().lines().count(), 4);
}

#[test]
fn places_are_found_for_whoever_finds_more() {
    let text = "// rope\n(format: 1, name: \"rope\",\n generators: [Chain(n: 3, link: (shapes: []))])";
    let source = SceneSource::new(text, "rope.ron");
    assert_eq!(source.file(), "rope.ron");
    for (path, place) in [
        ("generators[0].link.shapes", (3, 42)),
        // What is not written is where the value around it begins.
        ("generators[0].joint", (3, 15)),
        ("generators[7].link", (3, 14)),
        ("joints[3]", (2, 1)),
        ("", (2, 1)),
    ] {
        assert_eq!(source.locate(path), Some(place), "{path}");
    }
    assert_eq!(source.locate("no path"), None);
    assert_eq!(SceneSource::new("(format: ", "x.ron").locate("format"), None);
}

#[test]
fn messages_are_for_people_who_write_scenes() {
    let deep = "(".repeat(1_000);
    for (text, wanted) in [
        ("", "this text contains no scene (a scene is one list of fields: (format: 1, name: …))"),
        (&deep, "values are nested too deeply"),
        (
            "(format: 1, bodies: [(mass: 5)])",
            "bodies[0].mass: a bare value is not allowed here (write Density(5) or Total(5))",
        ),
        (
            "(format: 1, bodies: [(pose: (rotation: Vector((0, 0, 1))))])",
            "x.ron:1:47: bodies[0].pose.rotation: expected float (choices hold their numbers directly: leave out the inner parentheses)",
        ),
        (
            "(format: 1, bodies: [(name: \"a\")], joints: [(name: \"j\", child: \"a\", breaks_at: 500)])",
            "joints[0].breaks_at: `breaks_at` is a list of fields, not a bare value (write breaks_at: (force: 500, torque: …))",
        ),
        ("(format: 1, joints: [(name: \"j\", child: \"a\", motor: Position(5))])", "joints[0].motor"),
        ("(format: 1, joints: [(spring: 3)])", "write spring: (stiffness: 3, damping: …"),
        ("(format: 1, stepper: Explicit)", "stepper: `Explicit` needs parentheses (write Explicit())"),
        ("(format: 1, dt: 1e-300)", "dt: a time step of 1e-300 s is out of range (use 1e-12 s to 1e6 s"),
        ("(format: 1, samples: Count(0))", "samples: 0 is out of range (use 1 to 1000000)"),
        (
            "(format: 1, dt: 1e-9, duration_s: 1e9)",
            "duration_s: the run would take 1e18 steps, more than 1e12",
        ),
    ] {
        let found = sinew_scene::SceneDoc::from_ron(text, "x.ron").unwrap_err().to_string();
        assert!(found.contains(wanted), "{found}");
    }
}
