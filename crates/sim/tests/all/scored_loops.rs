//! Scores on scenes with closed loops, in joint coordinates and in implicit steps.

use sinew_sim::{SceneDoc, World};

use crate::common::{fixtures, run};

/// A scene of the fixtures, with some of its text replaced.
fn fixture(name: &str, changes: &[(&str, &str)]) -> SceneDoc {
    let path = fixtures("mechanisms").join(format!("{name}.ron"));
    let text = std::fs::read_to_string(path).expect("a fixture");
    let text = changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{name}: `{from}`");
        text.replace(from, to)
    });
    SceneDoc::from_ron(&text, name).unwrap_or_else(|error| panic!("{error}"))
}

fn built(scene: &SceneDoc) -> World {
    World::from_scene(scene).unwrap_or_else(|error| panic!("{error}"))
}

/// How far the first goal of the score is missed at most after `from` seconds (m), and how far joints are open.
fn missed(world: &mut World, from: f64, to: f64) -> [f64; 2] {
    let dt = world.settings().dt;
    let (mut most, mut open) = (0.0_f64, 0.0_f64);
    while world.time() < to - 0.5 * dt {
        run(world, 1);
        open = open.max(world.violation().position).max(world.violation().rotation);
        let controller = world.model().reduced().and_then(|reduced| reduced.controller()).expect("a score");
        let (goal, target) = controller.drags(&world.state().control, world.time()).next().expect("a drag");
        let body = world.model().reduced().expect("joint coordinates").tree().body(goal.bone);
        let place = world.pose(body).transform_point(goal.point);
        if world.time() > from {
            most = most.max(place.distance(target));
        }
    }
    [most, open]
}

const STEPS: [&str; 2] = ["0.001", "0.016666666666666666"];
const STYLES: [&str; 3] = ["Acceleration", "Torque", "Velocity"];

/// The four-bar linkage in some stepper, style and step.
fn four_bar(stepper: &str, style: &str, dt: &str) -> SceneDoc {
    let changes = [
        ("Reduced()", stepper),
        ("style: Acceleration", &*format!("style: {style}")),
        ("dt: 0.001", &*format!("dt: {dt}")),
    ];
    fixture("four_bar_scored", &changes)
}

#[test]
fn a_coupler_follows_a_track_by_one_motor_in_every_style_and_stepper() {
    for (stepper, limit) in [("Reduced()", 1e-11), ("Implicit()", 1e-11)] {
        for (style, dt) in STYLES.into_iter().flat_map(|style| STEPS.map(|dt| (style, dt))) {
            let [most, open] = missed(&mut built(&four_bar(stepper, style, dt)), 0.3, 2.0);
            assert!(most < 0.01 && open < limit, "{stepper} {style} {dt}: {most} m, open {open:e}");
        }
    }
}

#[test]
fn two_arms_lead_a_bar_round_a_circle_in_every_style_and_stepper() {
    for (stepper, style) in ["Reduced()", "Implicit()"].into_iter().flat_map(|s| STYLES.map(|t| (s, t))) {
        for dt in STEPS {
            let dt = format!("stepper: {stepper}, dt: {dt}");
            let style = format!("style: {style}");
            let changes = [("style: Acceleration", &*style), ("dt: 0.016666666666666666", &*dt)];
            let [most, open] = missed(&mut built(&fixture("two_arms", &changes)), 0.5, 2.0);
            assert!(most < 0.01 && open < 1e-11, "{dt} {style}: {most} m, open {open:e}");
        }
    }
}

#[test]
fn joints_without_an_actuator_have_no_torque_the_one_that_closes_the_loop_included() {
    for (stepper, limit) in [("Reduced()", 1e-12), ("Implicit()", 1e-9)] {
        for style in STYLES {
            let mut world = built(&four_bar(stepper, style, "0.001"));
            world.settings_mut().reactions = true;
            let (mut motor, mut others) = (0.0_f64, 0.0_f64);
            for _ in 0..20 {
                run(&mut world, 20);
                let wrenches = world.workspace().joint_wrenches(world.model());
                let torque =
                    |name: &str| wrenches[world.joint(name).expect("a joint").index()].angular.y.abs();
                motor = motor.max(torque("O"));
                others = ["A", "B", "C"].map(torque).into_iter().fold(others, f64::max);
            }
            assert!(motor > 0.5 && others < limit * motor, "{stepper} {style}: {motor} {others:e}");
        }
    }
}

/// The end of keyframes on the joints of a fixture, as twists.
fn played(name: &str, stepper: &str, keys: &str, joints: &[&str]) -> (Vec<f64>, f64) {
    let path = fixtures("mechanisms").join(format!("{name}.ron"));
    let text = std::fs::read_to_string(path).expect("a fixture").replace("  stepper: Reduced(),\n", "");
    let phases = text.find("phases: [").expect("a score");
    let text = format!(
        "{}phases: [(from_s: 0, control: Keyframes(keys: [{keys}]))]), stepper: {stepper})",
        &text[..phases]
    );
    let mut world = built(&SceneDoc::from_ron(&text, name).unwrap_or_else(|error| panic!("{error}")));
    let steps = (1.2 / world.settings().dt).round() as u64;
    run(&mut world, steps);
    let twist = |name: &&str| world.reading(world.joint(name).expect("a joint")).twist;
    (joints.iter().map(twist).collect(), world.violation().position)
}

#[test]
fn keyframes_reach_poses_on_loops() {
    for stepper in ["Reduced()", "Implicit()"] {
        let (twists, open) = played("four_bar_scored", stepper, "(at_s: 1, joints: [(\"O\", [-1])])", &["O"]);
        assert!((twists[0] + 1.0).abs() < 1e-3 && open < 1e-10, "{stepper}: {twists:?} {open:e}");
        // more joints than the loop leaves free, and not those that close it
        let keys = "(at_s: 1, joints: [(\"left_elbow\", [-0.4]), (\"right_elbow\", [-0.4])])";
        let (twists, open) = played("two_arms", stepper, keys, &["left_elbow", "right_elbow"]);
        assert!(
            twists.iter().all(|twist| (twist + 0.4).abs() < 2e-3) && open < 1e-10,
            "{stepper}: {twists:?} {open:e}"
        );
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |from: &str, to: &str| match World::from_scene(&fixture("four_bar_scored", &[(from, to)])) {
        Ok(_) => panic!("{to}"),
        Err(error) => error.to_string(),
    };
    let error = refused("actuators: [\"O\"]", "actuators: [\"B\"]");
    assert!(error.starts_with("score.actuators[0]: `B` closes a loop"), "{error}");
    let error = refused(
        "from_s: 0, control: Guide(",
        "from_s: 0, control: Keyframes(keys: [(at_s: 1, reach: [(bone: \"coupler\", position: (5, 0, 0))])])), (from_s: 1, control: Guide(",
    );
    assert!(error.contains("out of reach"), "{error}");
}
