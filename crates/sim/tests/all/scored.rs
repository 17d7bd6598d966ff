//! Scores in implicit steps: the same commands as in joint coordinates, with flesh and contacts in one solve.

use sinew_sim::{SceneDoc, World};

use crate::common::{fixtures, run};

/// A scene of the fixtures, with some of its text replaced.
fn fixture(name: &str, changes: &[(&str, &str)]) -> SceneDoc {
    let path = fixtures("mechanisms").join(format!("{name}.ron"));
    let text = std::fs::read_to_string(path).expect("a fixture");
    let text = changes.iter().fold(text, |text, (from, to)| text.replace(from, to));
    SceneDoc::from_ron(&text, name).unwrap_or_else(|error| panic!("{error}"))
}

/// A floating chain of four bones whose last one is dragged, with joints that are used from both sides.
fn chain(stepper: &str, style: &str, dt: f64) -> World {
    let text = format!(
        r#"(
  format: 1, name: "chain", dt: {dt:?}, stepper: {stepper}, gravity: (0, 0, 0),
  bodies: [
    (name: "a", pose: (position: (0.0, 0, 0)), shapes: [Box(size: (0.2, 0.08, 0.06))]),
    (name: "b", pose: (position: (0.2, 0, 0)), shapes: [Box(size: (0.2, 0.06, 0.08))]),
    (name: "c", pose: (position: (0.4, 0, 0)), shapes: [Box(size: (0.2, 0.08, 0.06))]),
    (name: "d", pose: (position: (0.6, 0, 0)), shapes: [Box(size: (0.2, 0.06, 0.08))]),
  ],
  joints: [
    (name: "1", kind: Hinge, child: "b", parent: "a", frames: World(anchor: (0.1, 0, 0), axis: (0, 1, 0.3))),
    (name: "2", kind: Ball, child: "b", parent: "c", frames: World(anchor: (0.3, 0, 0))),
    (name: "3", kind: Universal, child: "d", parent: "c", frames: World(anchor: (0.5, 0, 0), axis: (0, 0, 1))),
  ],
  tracks: [(name: "hand", curve: Points([(0, (0, 0, 0)), (0.4, (-0.03, 0.02, 0.05)), (0.8, (-0.02, -0.02, 0.06))]))],
  score: (phases: [
    (from_s: 0, control: Guide(style: {style}, goals: [(bone: "d", want: Follow(track: "hand", relative: true))],
      pose: (stiffness: 50, damping: 20))),
    (from_s: 0.4, control: Land(stiffness: 3, damping: 0.1)),
  ]),
)"#
    );
    let scene = SceneDoc::from_ron(&text, "chain").unwrap_or_else(|error| panic!("{error}"));
    World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn implicit_steps_follow_the_commands_of_joint_coordinates() {
    for style in ["Acceleration", "Torque", "Velocity"] {
        let off = |rate: u32| {
            let mut worlds =
                ["Implicit()", "Reduced()"].map(|stepper| chain(stepper, style, 1.0 / f64::from(rate)));
            worlds.iter_mut().for_each(|world| run(world, u64::from(rate * 6 / 10)));
            let [implicit, reduced] = &worlds;
            let poses = implicit.state().bodies.poses.iter().zip(&reduced.state().bodies.poses);
            assert!(implicit.violation().position < 1e-12, "{style}: {:?}", implicit.violation());
            poses.map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f64::max)
        };
        let offs = [500, 1000, 2000].map(off);
        assert!(offs[2] < 2e-3, "{style}: {offs:?} m");
        assert!(
            offs[0] > 1.6 * offs[1] && offs[1] > 1.6 * offs[2],
            "{style}: not of first order, {offs:?} m"
        );
    }
}

#[test]
fn a_floating_character_that_commands_itself_keeps_its_momentum() {
    for style in ["Acceleration", "Torque", "Velocity"] {
        let mut world = chain("Implicit()", style, 1.0 / 60.0);
        run(&mut world, 30);
        let momentum = world.momentum();
        assert!(momentum.linear.length() < 1e-6, "{style}: {momentum:?}");
    }
}

#[test]
fn a_circle_is_followed_in_implicit_steps() {
    for style in ["Acceleration", "Torque", "Velocity"] {
        for rate in [60, 240] {
            let mut scene = fixture("guide_60hz", &[("Reduced()", "Implicit()"), ("Acceleration", style)]);
            scene.dt = 1.0 / f64::from(rate);
            let mut world = World::from_scene(&scene).expect("a scene");
            let mut off = 0.0_f64;
            for step in 0..2 * rate {
                let report = world.step();
                off = if 2 * step < rate { off } else { off.max(report.effort.goal_distance) };
            }
            assert!(off < 0.01, "{style} at 1/{rate} s: {off} m off the circle");
        }
    }
}

#[test]
fn a_scored_run_goes_on_from_a_saved_state_with_the_same_bits() {
    let scene = fixture("finger_manipulate", &[]);
    let mut world = World::from_scene(&scene).expect("a scene");
    run(&mut world, 50);
    let saved = world.state().clone();
    run(&mut world, 10);
    let mut again = World::from_scene(&scene).expect("a scene");
    again.restore(&saved).expect("a state of the scene");
    run(&mut again, 10);
    assert_eq!(world.state(), again.state());
}

#[test]
fn a_waving_worm_does_not_whip_the_less_so_the_shorter_its_steps() {
    let peaks = [240, 480, 960].map(|rate| {
        let mut scene = fixture("worm_wave", &[]);
        scene.dt = 1.0 / f64::from(rate);
        let mut world = World::from_scene(&scene).expect("a scene");
        let steps = (scene.duration_s * f64::from(rate)).round() as u64;
        let squares = (0..steps).map(|_| world.step().effort.acceleration_square);
        squares.fold(0.0, f64::max).sqrt()
    });
    assert!(peaks.iter().all(|peak| *peak < 2000.0), "{peaks:?} rad/s²");
}

/// A bone on a hinge to another body, or to the world, that is to rise; in flesh if asked for.
fn finger(base: &str, parent: &str, flesh: &str, score: &str) -> SceneDoc {
    let text = format!(
        r#"(
  format: 1, name: "finger", duration_s: 1, {flesh}
  bodies: [
    {base}
    (name: "tip", pose: (position: (0.15, 0, 0.5)), shapes: [Capsule(radius: 0.01, length: 0.06)], mass: Density(1500)),
  ],
  joints: [(name: "knuckle", kind: Hinge, child: "tip", {parent} frames: World(anchor: (0.1, 0, 0.5), axis: (0, 1, 0)), damping: 0.01)],
  tracks: [(name: "up", interpolation: Linear, curve: Points([(0, (0.15, 0, 0.5)), (0.5, (0.14388, 0, 0.52397)), (2, (0.14388, 0, 0.52397))])),
    (name: "slowly", curve: Points([(0, (0.15, 0, 0.5)), (1, (0.14388, 0, 0.52397)), (3, (0.14388, 0, 0.52397))]))],
  score: ({score}),
)"#
    );
    SceneDoc::from_ron(&text, "finger").unwrap_or_else(|error| panic!("{error}"))
}

const BASE: &str = r#"(name: "base", pose: (position: (0.05, 0, 0.5)), shapes: [Capsule(radius: 0.01, length: 0.06)], kind: Fixed),"#;
const ON_BASE: &str = r#"parent: "base","#;
const RISE: &str = r#"phases: [(from_s: 0, control: Guide(style: Acceleration, goals: [(bone: "tip", want: Follow(track: "up"))]))]"#;

#[test]
fn a_joint_to_a_fixed_body_is_an_actuator() {
    for stepper in ["", "stepper: Reduced(), dt: 0.001,"] {
        let scene = finger(BASE, ON_BASE, stepper, RISE);
        let mut world = World::from_scene(&scene).expect("a scene");
        run(&mut world, (0.9 / scene.dt) as u64);
        let effort = world.step().effort;
        assert!(effort.goal_distance < 1e-3 && effort.torque_square > 0.0, "{stepper} {effort:?}");
    }
}

#[test]
fn a_score_without_actuators_is_refused_unless_it_commands_nothing() {
    let build = |score: &str| World::from_scene(&finger("", "", "", score));
    let error = build(RISE).expect_err("no joint between two bodies").to_string();
    assert!(error.contains("score") && error.contains("root: Active"), "{error}");
    assert!(build(&format!("root: Active, {RISE}")).is_ok());
    assert!(build("phases: [(from_s: 0, control: Passive)]").is_ok());
}

#[test]
fn torque_limits_bind_in_flesh_in_every_style_and_are_told() {
    let flesh = r#"gravity: (0, 0, -9.81), flesh: [(name: "skin", mesh: Beam(size: (0.2, 0.06, 0.06), cells: (8, 4, 4)), pose: (position: (0, -0.03, 0.47)),
        material: StVenantKirchhoff(young: 1e5, poisson: 0.4), density: 1000,
        attach: [(body: "base", nodes: Within(0.012)), (body: "tip", nodes: Within(0.012))])],"#;
    let told = "joint `knuckle` is at the torque limit of the score, so goals may be missed";
    for style in ["Acceleration", "Torque", "Velocity"] {
        let largest = |limit: f64| {
            // Slowly: the inertia alone does not need the limit, the flesh does.
            let rise = RISE.replace("Acceleration", style).replace("up", "slowly");
            let score = format!(r#"torque_limits: [("knuckle", {limit:?})], {rise}"#);
            let mut world = World::from_scene(&finger(BASE, ON_BASE, flesh, &score)).expect("a scene");
            let mut is_told = false;
            let torques = (0..120).map(|_| {
                let report = world.step();
                let mut notices = report.notices();
                is_told |= notices.any(|(notice, culprit)| notice.tell(culprit, world.model()) == told);
                report.effort.torque_square.sqrt()
            });
            (torques.fold(0.0, f64::max), is_told)
        };
        let (free, limited) = (largest(100.0), largest(0.2));
        assert!(free.0 > 0.5 && !free.1, "{style}: {free:?} N·m");
        assert!(limited.0 < 0.202 && limited.1, "{style}: {limited:?} N·m");
    }
}

#[test]
fn a_free_worm_lifts_its_head_and_does_not_thrash_in_any_style() {
    for style in ["Acceleration", "Torque", "Velocity"] {
        let scene = fixture("worm_head_free", &[("style: Acceleration", &format!("style: {style}"))]);
        let mut world = World::from_scene(&scene).expect("a scene");
        let (mut energy, mut moving) = (world.energy().total(), 0.0_f64);
        for step in 0..118 {
            let report = world.step();
            let now = world.energy();
            assert!(now.total() - energy < 0.5, "{style}: {} J in one step", now.total() - energy);
            assert_eq!(report.flesh.elements.n_inverted, 0, "{style}");
            energy = now.total();
            moving = if step < 108 { 0.0 } else { moving.max(now.kinetic) };
            assert!(step < 70 || report.effort.goal_distance < 0.02, "{style}: {:?}", report.effort);
        }
        assert!(moving < 1e-3, "{style}: {moving} J");
    }
}

#[test]
fn what_cannot_reach_its_goal_comes_to_rest_in_every_style_and_is_told() {
    let told = "body `lower` is not led to its goal";
    for style in ["Acceleration", "Torque", "Velocity"] {
        for rate in [60.0, 240.0] {
            let dt = format!("dt: {:?}, duration_s: 4", 1.0 / rate);
            let changes = [("style: Acceleration", &*format!("style: {style}")), ("duration_s: 4", &*dt)];
            let mut world = World::from_scene(&fixture("goal_out_of_reach", &changes)).expect("a scene");
            run(&mut world, (1.5 * rate) as u64);
            let (mut fastest, mut is_told) = (0.0_f64, true);
            for _ in 0..rate as u32 {
                let report = world.step();
                fastest = fastest.max(world.energy().kinetic);
                let mut notices = report.notices();
                is_told &= notices.any(|(what, who)| what.tell(who, world.model()).starts_with(told));
            }
            assert!(fastest < 1e-9 && is_told, "{style} at {rate} Hz: {fastest} J, {is_told}");
        }
    }
}
