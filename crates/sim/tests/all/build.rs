//! Scenes that build, and those that say why not, and where.

use sinew_sim::{BuildError, Reduced, SceneDoc, Scheme, Stage, World};

use crate::common::{run, small, world};

const TWO: &str = r#"bodies: [
  (name: "a", pose: (position: (1, 0, 0)), shapes: [Box(size: (1, 1, 1))]),
  (name: "b", pose: (position: (2, 0, 0)), shapes: [Box(size: (1, 1, 1))]),
],"#;

fn refused(fields: &str) -> (String, String) {
    let text = format!("(format: 1, name: \"bad\", {fields})");
    let scene = SceneDoc::from_ron(&text, "bad.ron").unwrap_or_else(|errors| panic!("{errors}"));
    let error = World::from_scene(&scene).expect_err("cannot be built");
    (error.fields().join(" "), error.to_string())
}

#[test]
fn faults_of_the_mechanism_name_the_place_in_the_scene() {
    let ring = r#"joints: [(name: "wall", child: "a"), (name: "elbow", child: "b", parent: "a"),
                           (name: "ring", child: "b")]"#;
    let primary = ring
        .replace("child: \"b\"", "child: \"b\", priority: Primary")
        .replace("(name: \"wall\", child: \"a\")", "(name: \"wall\", child: \"a\", priority: Primary)");
    let (field, message) = refused(&format!("{TWO}{primary}"));
    assert_eq!(field, "joints[2]", "{message}");
    assert!(message.contains("cycle"), "{message}");

    let (field, message) = refused(
        r#"generators: [Chain(name: "rope", n: 3, tip: World, link: (shapes: [Box(size: (1, 1, 1))]),
             joint: (priority: Primary))]"#,
    );
    assert_eq!(field, "generators[0].joint", "{message}");
}

#[test]
fn what_the_simulation_cannot_do_is_said_with_a_way_out() {
    let joint = r#"joints: [(name: "neck", kind: Ball, child: "a", spring: (stiffness: 1, rest_rotation: (1, 0, 0)),
                   cone_limit: (angle: 1))]"#;
    let (field, message) = refused(&format!("{TWO}{joint}"));
    assert_eq!(field, "joints[0].spring.rest_rotation");
    assert!(message.contains("frames: Local"), "{message}");
}

#[test]
fn documents_made_in_code_are_checked_too() {
    let mut scene = SceneDoc { name: "made".to_owned(), dt: -1.0, ..SceneDoc::default() };
    scene.duration_s = f64::NAN;
    let error = World::from_scene(&scene).expect_err("a negative step");
    assert!(matches!(&error, BuildError::Scene(issues) if issues.len() == 2), "{error}");
    assert_eq!(error.to_string().lines().count(), 2);
    assert!(error.fields().contains(&"dt"));
}

#[test]
fn every_kind_of_joint_builds_and_steps() {
    for kind in [
        "Fixed",
        "Hinge",
        "Prismatic",
        "Cylindrical",
        "Planar",
        "Ball",
        "Universal",
        "Orientation",
        "PointOnLine",
        "PointOnPlane",
        "Free",
        "Screw(pitch: 0.1)",
        "RollingSphere(radius: 0.5)",
        "RollingDisc(radius: 0.5)",
    ] {
        // A rolling body rests on the plane z = 0 with its centre one radius above it.
        let frames = "Local(child: (axis: (0, 1, 0)), parent: (anchor: (1, 0, 0), axis: (0, 0, 1)))";
        let rolling = kind.starts_with("Rolling");
        let frames = if rolling { format!("frames: {frames},") } else { String::new() };
        let height = if rolling { 0.5 } else { 0.0 };
        let mut world = small(&format!(
            "bodies: [(name: \"a\", pose: (position: (1, 0, {height})), shapes: [Box(size: (1, 1, 1))])],
             joints: [(name: \"j\", kind: {kind}, child: \"a\", {frames})],"
        ));
        run(&mut world, 20);
        assert!(world.violation().position < 1e-2, "{kind}: {:?}", world.violation());
    }
}

#[test]
fn a_scene_knows_its_steps_and_samples() {
    let world = small("dt: 0.1, duration_s: 1, samples: Count(4)");
    assert_eq!((world.info().n_steps, &world.info().samples[..]), (10, &[3, 5, 8, 10][..]));
    let world = small("dt: 0.016666666666666666, duration_s: 2, samples: Times([0.5, 1, 2])");
    assert_eq!((world.info().n_steps, &world.info().samples[..]), (120, &[30, 60, 120][..]));
    let world = small("dt: 0.3, duration_s: 1, samples: Count(10)");
    assert_eq!((world.info().n_steps, &world.info().samples[..]), (4, &[1, 2, 3, 4][..]));
}

#[test]
fn stages_are_told_in_order() {
    use Stage::{Eliminate, Integrate, Prepare, Refine, Stabilize, Substitute};
    let ring = r#"joints: [(name: "wall", child: "a"), (name: "elbow", child: "b", parent: "a"),
                           (name: "ring", child: "b")], stabilize: (),"#;
    let refined = [Prepare, Eliminate, Substitute, Refine, Integrate, Stabilize];
    for (rest, wanted) in [("", &[Prepare, Eliminate, Substitute, Integrate][..]), (ring, &refined)] {
        for stepper in ["Implicit()", "Implicit(order: 2)"] {
            let mut world = small(&format!("{TWO} {rest} stepper: {stepper}"));
            for _ in 0..3 {
                let mut seen = Vec::new();
                world.step_observed(&mut |stage| seen.push(stage));
                assert_eq!(seen, wanted, "{stepper}");
            }
        }
    }
}

#[test]
fn stages_name_what_was_done() {
    use Stage::{Control, Couple, Eliminate, Flesh, Refine};
    for (name, scheme, there, absent) in [
        ("worm_jump", "reduced", &[Control, Flesh][..], &[Eliminate, Couple, Refine][..]),
        ("hand_flesh", "implicit", &[Eliminate, Couple], &[Control, Flesh, Refine]),
    ] {
        let mut world = world(name);
        assert_eq!(world.settings().scheme.name(), scheme, "{name}");
        let mut seen = Vec::new();
        world.step_observed(&mut |stage| seen.push(stage));
        assert!(there.iter().all(|stage| seen.contains(stage)), "{name}: {seen:?}");
        assert!(!absent.iter().any(|stage| seen.contains(stage)), "{name}: {seen:?}");
    }
}

#[test]
fn a_scheme_that_the_model_cannot_be_stepped_with_is_refused() {
    let mut world = small(TWO);
    world.settings_mut().scheme = Scheme::Reduced(Reduced::default());
    let before = world.checkpoint();
    assert!(world.step().health.refused);
    assert_eq!(*world.state(), before);
}

#[test]
fn a_model_built_by_hand_runs_too() {
    let world = small(TWO);
    let mut other = World::new(world.mechanism().clone(), *world.settings());
    let mut world = world;
    run(&mut world, 10);
    run(&mut other, 10);
    assert_eq!(world.digest(), other.digest());
    let fall = -0.5 * 9.81 * world.time() * (world.time() + world.settings().dt);
    assert!((world.pose(world.body("a").expect("there")).translation.z - fall).abs() < 1e-12);
}

#[test]
fn indices_and_times_of_reports_count_the_steps() {
    let mut world = small("dt: 0.016666666666666666");
    for i in 1..=1000 {
        let report = world.step();
        assert_eq!(report.index, i);
        assert!((report.time - i as f64 / 60.0).abs() < 1e-10);
    }
}
