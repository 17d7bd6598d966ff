//! Values can be replaced by path, in documents and in text.

use sinew_scene::{MassDoc, SceneDoc, SceneIssueKind, SceneSource, StepperDoc};

const SCENE: &str = r#"// A comment.
(
  format: 1,
  name: "arm",
  bodies: [
    (name: "upper", shapes: [Box(size: (1, 0.1, 0.1))]),
    (name: "lower", shapes: [Box(size: (1, 0.1, 0.1))], mass: Density(500)),
  ],
  joints: [
    (name: "shoulder", child: "upper"),
    (name: "elbow", child: "lower", parent: "upper", spring: (stiffness: 1)),
  ],
)
"#;

fn scene() -> SceneDoc {
    SceneDoc::from_ron(SCENE, "arm.ron").expect("a valid scene")
}

#[test]
fn values_are_replaced() {
    let mut scene = scene();
    scene.set("dt", "0.01").unwrap();
    scene.set("bodies[1].mass", "Total(3)").unwrap();
    scene.set("joints[\"elbow\"].spring.stiffness", "10").unwrap();
    scene.set("stepper.order", "2").unwrap();
    scene.set("gravity[2]", "-1.62").unwrap();
    assert_eq!(scene.dt.to_bits(), 0.01_f64.to_bits());
    assert_eq!(scene.bodies[1].mass, MassDoc::Total(3.0));
    assert_eq!(scene.joints[1].spring.map(|s| s.stiffness.to_bits()), Some(10.0_f64.to_bits()));
    assert!(matches!(&scene.stepper, StepperDoc::Implicit(implicit) if implicit.order == 2));
    assert_eq!(scene.gravity.z.to_bits(), (-1.62_f64).to_bits());
}

#[test]
fn values_that_were_left_out_are_added() {
    let mut scene = scene();
    scene.set("joints[\"shoulder\"].spring.stiffness", "5").unwrap();
    scene.set("joints[\"shoulder\"].limits", "(min: -1, max: 1)").unwrap();
    assert_eq!(scene.joints[0].spring.map(|s| s.stiffness.to_bits()), Some(5.0_f64.to_bits()));
    assert_eq!(scene.joints[0].limits.map(|l| l.max.to_bits()), Some(1.0_f64.to_bits()));
}

#[test]
fn a_failed_edit_changes_nothing_and_says_why() {
    let mut source = SceneSource::new(SCENE, "arm.ron");
    for (path, value, kind, column) in [
        ("dt", "fast", SceneIssueKind::WrongType, 4),
        ("dt", "1, name: 2", SceneIssueKind::Syntax, 4),
        ("dt", "(", SceneIssueKind::Syntax, 4),
        ("tempo", "1", SceneIssueKind::UnknownField, 7),
        ("joints[2].name", "\"x\"", SceneIssueKind::UnknownPath, 1),
        ("joints[\"hip\"].damping", "1", SceneIssueKind::UnknownPath, 1),
        ("joints[0].kind", "Pin", SceneIssueKind::UnknownVariant, 16),
        ("joints[", "1", SceneIssueKind::UnknownPath, 1),
        ("bodies[0].shapes[0].size", "(1, x, 1)", SceneIssueKind::WrongType, 30),
    ] {
        let errors = source.set(path, value).unwrap_err();
        let [error] = errors.as_slice() else { panic!("one error: {errors}") };
        assert_eq!((error.issue.kind, error.column), (kind, column), "{path}={value}: {error}");
        assert_eq!(error.file, format!("{path}={value}"));
        assert_eq!(source.text(), SCENE);
    }
}

#[test]
fn a_name_or_component_that_is_not_there_is_told_with_those_that_are() {
    let mut source = SceneSource::new(SCENE, "arm.ron");
    for (path, said) in [
        ("gravity.q", "there is no component `q` here (valid are x, y, z)"),
        ("gravity[3]", "`gravity` has 3 items (valid are 0 to 2)"),
        ("bodies[0].shapes[0].size.q", "there is no component `q` here (valid are x, y, z)"),
        ("bodies[0].pose.position.u", "there is no component `u` here (valid are x, y, z)"),
        ("bodies[\"c\"].mass", "`bodies` has no `c` (valid are upper, lower)"),
        ("bodies[\"uper\"].mass", "`bodies` has no `uper` (did you mean `upper`?)"),
        ("bodies[2].mass", "`bodies` has 2 items (valid are 0 to 1)"),
        ("ropes[\"pulley\"].length", "`ropes` has no `pulley` (there are none)"),
    ] {
        let text = source.set(path, "1").unwrap_err().to_string();
        assert!(text.ends_with(said), "{text}");
    }
    let made = r#"(format: 1, generators: [Chain(n: 2, link: (shapes: [Sphere(radius: 1)]))])"#;
    let mut source = SceneSource::new(made, "chain.ron");
    let text = source.set("bodies[\"c\"].mass", "1").unwrap_err().to_string();
    assert!(text.contains("`bodies` has no `c` (there are none; what generators make"), "{text}");
}

#[test]
fn edits_keep_comments_and_lines() {
    let mut source = SceneSource::new(SCENE, "arm.ron");
    source.set("joints[0].spring.stiffness", "-4").unwrap();
    source.set("joints[\"elbow\"].parent", "\"lower\"").unwrap();
    assert!(source.text().starts_with("// A comment."));
    let errors = source.parse().unwrap_err();
    let found: Vec<_> = errors.as_slice().iter().map(|e| (e.issue.kind, e.line)).collect();
    assert_eq!(found, [(SceneIssueKind::OutOfRange, 10), (SceneIssueKind::SelfJoint, 11)]);
}

#[test]
fn a_sweep_can_be_run_through() {
    let path = super::fixtures_in("mechanisms").into_iter().find(|p| p.ends_with("stiff_sweep.ron")).unwrap();
    let scene = SceneDoc::load(&path).unwrap();
    let sweep = &scene.sweep[0];
    let stiffness = |value: &f64| {
        let mut scene = scene.clone();
        scene.set(&sweep.path, &value.to_string()).unwrap();
        scene.expanded().joints[50].spring.unwrap().stiffness.to_bits()
    };
    let found: Vec<_> = sweep.values.iter().map(stiffness).collect();
    let wanted: Vec<_> = [0.0, 1.0, 100.0, 1e4, 1e6, 1e8_f64].iter().map(|k: &f64| k.to_bits()).collect();
    assert_eq!(found, wanted);
}

#[test]
fn a_choice_that_was_left_out_is_offered() {
    let mut source = SceneSource::new(SCENE, "arm.ron");
    for (path, value, hint) in [
        ("bodies[0].mass", "5", "(write Density(5) or Total(5))"),
        ("samples", "20", "(write Count(20))"),
        ("samples", "[0.5, 1]", "(write Times([0.5, 1]))"),
        ("stepper.order", "2", "(at stepper: write Implicit(order: 2))"),
        ("stepper", "Explicit", "(write Explicit())"),
        ("bodies[0].mass", "Total", "(write Total(…))"),
        ("gyroscopic", "1", "(valid are Auto, Implicit, Momentum, Explicit, Off)"),
    ] {
        let text = source.set(path, value).unwrap_err().to_string();
        assert!(text.starts_with(&format!("{path}={value}:1:")) && text.ends_with(hint), "{text}");
    }
}
