//! Scores on scenes with closed loops, in joint coordinates and in implicit steps.

use sinew_math::ops;
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

/// A linkage of the folder `loops`, with more fields and some of its text replaced.
fn linkage(name: &str, fields: &str, changes: &[(&str, &str)]) -> Result<World, String> {
    let path = fixtures("../crates/sim/tests/loops").join(format!("{name}.ron"));
    let text = std::fs::read_to_string(path).expect("a linkage");
    let text = changes.iter().fold(text, |text, (from, to)| text.replace(from, to));
    let text = format!("{} {fields})", text.trim_end().trim_end_matches(')'));
    let doc = SceneDoc::from_ron(&text, name).unwrap_or_else(|error| panic!("{error}"));
    World::from_scene(&doc).map_err(|error| error.to_string())
}

/// Keys of some actuators, at given times.
fn keys(actuators: &str, keys: &[(f64, &str)]) -> String {
    let keys: String = keys.iter().map(|(at, joints)| format!("(at_s: {at}, joints: [{joints}]),")).collect();
    format!("score: (actuators: [{actuators}], phases: [(from_s: 0, control: Keyframes(keys: [{keys}]))]),")
}

#[test]
fn keys_far_along_a_loop_are_met_on_the_branch_that_leads_there() {
    for stepper in ["Reduced()", "Implicit()"] {
        let changes = [("Reduced()", stepper)];
        for crank in [-1.2, 1.2, -2.5, 6.2] {
            let keys = keys("\"O\"", &[(2.0, &format!("(\"O\", [{crank}])"))]);
            let mut world = linkage("parallelogram", &keys, &changes).expect("a scene");
            run(&mut world, 150);
            let reading = world.reading(world.joint("O").expect("a joint"));
            assert!((reading.twist - crank).abs() < 1e-3, "{stepper} {crank}: {reading:?}");
            // Beyond the flat pose, where branches meet, a passive coupler may take either.
            let tilt = world
                .pose(world.body("coupler").expect("a body"))
                .rotation
                .angle_between(glam::DQuat::IDENTITY);
            assert!(crank.abs() > 1.5 || tilt < 1e-6, "{stepper} {crank}: {tilt}");
        }
    }
    for stepper in ["Reduced()", "Implicit()"] {
        let keys = keys("\"O\"", &[(1.0, "(\"O\", [-2.5])"), (3.0, "(\"O\", [-7])")]);
        let path = fixtures("mechanisms").join("four_bar_scored.ron");
        let text = std::fs::read_to_string(path).expect("a fixture");
        let text =
            text.replace("stepper: Reduced()", &format!("stepper: {stepper}")).replace("dt: 0.001,", "");
        let text = format!("{}{keys})", &text[..text.find("score: (").expect("a score")]);
        let mut world =
            built(&SceneDoc::from_ron(&text, "four_bar").unwrap_or_else(|error| panic!("{error}")));
        for (steps, crank) in [(60, -2.5), (150, -7.0)] {
            run(&mut world, steps);
            let reading = world.reading(world.joint("O").expect("a joint"));
            assert!((reading.twist - crank).abs() < 3e-3, "{stepper} {crank}: {reading:?}");
        }
    }
}

#[test]
fn a_key_that_no_pose_of_its_loop_reaches_is_refused_or_told() {
    let text = "score: (actuators: [\"O\"], phases: [(from_s: 0, control: Guide(\n    style: Acceleration,\n    goals: [(bone: \"coupler\", want: Follow(track: \"way\"), stiffness: 400, damping: 40)],\n  ))])";
    let rocker = "score: (actuators: [\"C\"], phases: [(from_s: 0, control: Keyframes(keys: [(at_s: 1, joints: [(\"C\", [0.3])])]))])";
    let error =
        World::from_scene(&fixture("four_bar_scored", &[(text, rocker)])).expect_err("refused").to_string();
    assert!(error.contains("keys[0]: joint `C` stays 0.256 rad or m short"), "{error}");
    // Two joints of a loop with one freedom: both give way, and the run says so.
    for stepper in ["Reduced()", "Implicit()"] {
        let keys = keys("\"O\", \"A\"", &[(1.0, "(\"O\", [0.4])"), (2.0, "(\"O\", [0.6]), (\"A\", [0.6])")]);
        let mut world = linkage("parallelogram", &keys, &[("Reduced()", stepper)]).expect("a scene");
        for step in 1..=150_u32 {
            let report = world.step();
            let told: Vec<String> =
                report.notices().map(|(notice, at)| notice.tell(at, world.model())).collect();
            let missed = told
                .iter()
                .any(|told| told.starts_with("key 2: joint `") && told.contains("as near to its place"));
            // The step at 1 s may be on the way to either key, by the rounding of its time.
            assert!(step == 61 || missed == (step > 61), "{stepper} {step}: {told:?}");
            assert!(world.energy().kinetic < 5.0 && world.violation().position < 1e-9, "{stepper} {step}");
        }
        // The parallelogram turns `A` back as `O` turns: nearest to 0.6 and 0.6 is 0 and 0.
        let twist = |name: &str| world.reading(world.joint(name).expect("a joint")).twist;
        assert!(
            twist("O").abs() < 0.01 && twist("A").abs() < 0.01,
            "{stepper}: {} {}",
            twist("O"),
            twist("A")
        );
    }
}

#[test]
fn a_platform_on_passive_legs_comes_to_its_goal_in_every_style_at_60_hz() {
    for (stepper, style) in ["Reduced()", "Implicit()"].into_iter().flat_map(|s| STYLES.map(|t| (s, t))) {
        let legs: String = (0..6).map(|k| format!("\"leg{k}\",")).collect();
        let goal = |want: &str| format!("(bone: \"platform\", want: {want}, stiffness: 100, damping: 20),");
        let fields = format!(
            "tracks: [(name: \"way\", interpolation: Cubic, curve: Points([(0, (0, 0, 0)), (1, (0.1, 0.05, 0.1)), (10, (0.1, 0.05, 0.1))]))],
            score: (actuators: [{legs}], phases: [(from_s: 0, control: Guide(style: {style}, goals: [{}{}]))]),",
            goal("Follow(track: \"way\", relative: true)"),
            goal("KeepOrientation")
        );
        let changes = [("Reduced()", stepper), (", spring: (stiffness: 300)", "")];
        let mut world = linkage("stewart", &fields, &changes).expect("a scene");
        let [missed, open] = missed(&mut world, 3.0, 4.0);
        // found: 1.5e-3 at most, in the velocity style 3.1e-3
        let most = if style == "Velocity" { 4e-3 } else { 2e-3 };
        assert!(missed < most && open < 1e-10, "{stepper} {style}: {missed} m, open {open:e}");
    }
}

/// Four rods in a ring, upright on a corner above the ground.
fn ring(stepper: &str, score: &str) -> World {
    let corner = |k: usize| {
        let turn = sinew_math::exp_so3(glam::DVec3::Y * (0.4 + 0.5 * std::f64::consts::PI * k as f64));
        turn * glam::DVec3::X * 0.28 + glam::DVec3::Z
    };
    let place = |v: glam::DVec3| format!("({}, {}, {})", v.x, v.y, v.z);
    let (mut bodies, mut joints, mut colliders) = (String::new(), String::new(), String::new());
    for k in 0..4 {
        let (from, to) = (corner(k), corner(k + 1));
        let along = to - from;
        let turn = sinew_math::exp_so3(glam::DVec3::Y * -ops::atan2(along.z, along.x));
        bodies += &format!(
            "(name: \"{k}\", pose: (position: {}, rotation: Quaternion(x: {}, y: {}, z: {}, w: {})), shapes: [Box(size: ({}, 0.05, 0.05))], mass: Total(1)),",
            place((from + to) * 0.5),
            turn.x,
            turn.y,
            turn.z,
            turn.w,
            from.distance(to)
        );
        joints += &format!(
            "(name: \"{k}\", kind: Hinge, child: \"{}\", parent: \"{k}\", frames: World(anchor: {}, axis: (0, 1, 0))),",
            (k + 1) % 4,
            place(to)
        );
        colliders += &format!("(body: \"{k}\", shape: OfBody),");
    }
    crate::common::small(&format!(
        "stepper: {stepper}, bodies: [{bodies}], joints: [{joints}], colliders: [{colliders} (shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))], score: (phases: [(from_s: 0, control: {score})]),"
    ))
}

#[test]
fn a_loop_under_a_score_that_lands_gains_no_energy_at_60_hz() {
    for (score, method) in ["Passive", "Land(stiffness: 20, damping: 1)"]
        .into_iter()
        .flat_map(|s| ["SymplecticEuler", "Rk4"].map(|m| (s, m)))
    {
        let mut world = ring(&format!("Reduced(method: {method})"), score);
        let (start, mut most) = (world.energy().total(), 0.0_f64);
        for _ in 0..180 {
            let report = world.step();
            assert!(report.health.is_good(), "{method} {score}: {report:?}");
            most = most.max(world.energy().total() / start);
        }
        let energy = world.energy();
        assert!(most < 1.05 && energy.kinetic < 0.01, "{method} {score}: {most}, {energy:?}");
        assert!(world.violation().position < 1e-9, "{method} {score}: {:?}", world.violation());
    }
}
