//! What of a scene is probably not meant, and would otherwise do nothing or something wild in silence.

use sinew_sim::{SceneDoc, World};

const BODY: &str = r#"(name: "b", mass: Properties(mass: 1, inertia: Diagonal(1, 1, 1)))"#;

/// The doubts about a scene written here without its head: place and message.
fn doubts(fields: &str) -> Vec<String> {
    let text = format!("(format: 1, name: \"doubtful\", {fields})");
    let scene = SceneDoc::from_ron(&text, "doubtful.ron").unwrap_or_else(|errors| panic!("{errors}"));
    let world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    world
        .info()
        .doubts
        .iter()
        .map(|doubt| format!("{}: {} ({})", doubt.field, doubt.message, doubt.hint))
        .collect()
}

/// Checks that there is one doubt with these words in it, or none for no words.
#[track_caller]
fn doubted(fields: &str, words: &[&str]) {
    let found = doubts(fields);
    assert_eq!(found.len(), usize::from(!words.is_empty()), "{fields}: {found:?}");
    assert!(words.iter().all(|word| found[0].contains(word)), "{fields}: {found:?}");
}

#[test]
fn a_track_that_would_lose_turns_is_doubted() {
    let table = |samples: &str| {
        format!(
            r#"bodies: [(name: "t", kind: Kinematic)], inputs: [Kinematic(body: "t", track: "k")],
               tracks: [(name: "k", interpolation: Linear, curve: Poses([{samples}]))]"#
        )
    };
    let about_z = |angle: f64| format!("AxisAngle(axis: (0, 0, 2), angle: {angle})");
    let to = |angle: f64| table(&format!("(0, (0, 0, 0), Identity), (2, (0, 0, 0), {})", about_z(angle)));
    doubted(
        &to(4.0 * std::f64::consts::PI),
        &["tracks[0].curve", "12.566 rad from 0 s to 2 s", "by 0.000 rad"],
    );
    doubted(&to(4.0), &["turn by 4.000 rad", "by 2.283 rad", "less than half a turn"]);
    doubted(&to(3.0), &[]);
    doubted(&to(-3.0), &[]);
    let turns =
        |rest: &str| table(&format!("(0, (0, 0, 0), Identity), (1, (0, 0, 0), {}), {rest}", about_z(3.0)));
    doubted(&turns(&format!("(2, (0, 0, 0), {})", about_z(6.0))), &[]);
    doubted(
        &turns("(2, (0, 0, 0), AxisAngle(axis: (0, 0, -1), angle: 3))"),
        &["turn by 6.000 rad from 1 s to 2 s"],
    );
    doubted(&turns("(2, (0, 0, 0), Vector(3, 0, 0))"), &[]);
}

#[test]
fn a_body_that_begins_away_from_its_track_is_doubted() {
    let paddle = |pose: &str, curve: &str| {
        format!(
            r#"bodies: [(name: "paddle", kind: Kinematic, pose: ({pose}))], inputs: [Kinematic(body: "paddle", track: "t")],
               tracks: [(name: "t", curve: {curve})]"#
        )
    };
    let still = "Points([(0, (2, 0, 0.5)), (1, (2, 0, 0.5))])";
    doubted(
        &paddle("position: (0, 0, 0.5)", still),
        &["inputs[0].track", "`paddle` begins 2.000 m away", "at (2, 0, 0.5)"],
    );
    doubted(&paddle("position: (2, 0, 0.5)", still), &[]);
    doubted(&paddle("position: (2, 0, 0.45)", still), &[]);
    doubted(&paddle("position: (2, 0, 0.5)", "Points([(0, (2, 0, 0.5)), (0.1, (4, 0, 0.5))])"), &[]);
    let turned = "Poses([(0, (0, 0, 0), Vector(0, 0, 1)), (1, (0, 0, 0), Vector(0, 0, 2))])";
    doubted(&paddle("", turned), &["begins 1.000 rad away"]);
    doubted(&paddle("rotation: Vector(0, 0, 1)", turned), &[]);
}

#[test]
fn a_drive_that_begins_away_from_its_joint_is_doubted() {
    let arm = |kind: &str, angle: f64, more: &str| {
        format!(
            r#"{more} bodies: [{BODY}], joints: [(name: "j", kind: {kind}, child: "b", drive: "t")],
               tracks: [(name: "t", curve: Scalars([(0, {angle}), (1, 1)]))]"#
        )
    };
    doubted(
        &arm("Hinge", 1.0, ""),
        &["joints[0].drive", "`j` begins 1.000 rad away", "begin the track at 0"],
    );
    doubted(&arm("Prismatic", -0.5, ""), &["`j` begins 0.500 m away"]);
    doubted(&arm("Hinge", 0.0, ""), &[]);
    doubted(&arm("Hinge", 1.0, "assemble: true,"), &[]);
}

#[test]
fn forces_that_do_nothing_are_doubted() {
    let joint = |fields: &str| format!(r#"bodies: [{BODY}], joints: [(name: "j", child: "b", {fields})]"#);
    doubted(&joint("motor: Velocity(target: Value(3), max_force: 10)"), &["joints[0].motor", "has no gain"]);
    doubted(&joint("motor: Position(target: Value(3))"), &["has no gain"]);
    doubted(&joint("motor: Velocity(target: Value(3), damping: 1)"), &[]);
    doubted(&joint("motor: Position(target: Value(0), gravity_compensation: true)"), &[]);
    doubted(&joint("free: (rx: (motor: Velocity(target: Value(3))))"), &["joints[0].free.rx.motor"]);
    doubted(&joint("spring: (rest: 0.3)"), &["joints[0].spring", "so it does nothing"]);
    doubted(&joint("spring: (rest: 0.3, damping: 1)"), &["its rest does nothing"]);
    doubted(&joint("spring: (damping: 1)"), &[]);
    doubted(&joint("spring: (stiffness: 1)"), &[]);
    let spring = |fields: &str| {
        format!(
            r#"bodies: [{BODY}], springs: [(name: "s", from: Body(name: "b"), to: World(0, 0, 1), {fields})]"#
        )
    };
    doubted(&spring("rest_length: 1"), &["springs[0].stiffness", "neither stiffness nor damping"]);
    doubted(&spring("damping: 1"), &[]);
}

#[test]
fn limits_in_degrees_are_doubted() {
    let joint = |kind: &str, limits: &str| {
        format!(r#"bodies: [{BODY}], joints: [(name: "j", kind: {kind}, child: "b", limits: ({limits}))]"#)
    };
    doubted(
        &joint("Hinge", "min: -45, max: 90"),
        &["joints[0].limits", "-45 rad, 7.2 turns", "-45° are -0.7854"],
    );
    doubted(&joint("Ball", "min: -1, max: 90"), &["is 90 rad"]);
    doubted(&joint("Hinge", "min: -6.28, max: 6.28"), &[]);
    doubted(&joint("Hinge", "min: -1e9, max: 1"), &[]);
    doubted(&joint("Prismatic", "min: 0, max: 90"), &[]);
}

#[test]
fn what_no_step_sees_is_doubted() {
    let kick = |fields: &str| {
        format!(r#"bodies: [{BODY}], inputs: [Wrench(body: "b", force: (100, 0, 0), {fields})]"#)
    };
    doubted(&kick("from_s: 0.5, to_s: 0.505"), &["inputs[0]", "from 0.5 s to 0.505 s", "so it does nothing"]);
    doubted(&kick("from_s: 0.5, to_s: 0.51"), &[]);
    doubted(&kick("from_s: 0.5, to_s: 0.517"), &[]);
    doubted(&kick(""), &[]);
    doubted(&kick("from_s: 1.5"), &["begins at 1.5 s", "ends at 1.0000 s"]);
    doubted(&kick("from_s: 0.999"), &["too late for the last step"]);
    let changed = |at: f64| format!("bodies: [{BODY}], changes: [(at_s: {at}, gravity: (0, 0, 0))]");
    doubted(&changed(2.0), &["changes[0].at_s", "begins at 2 s"]);
    doubted(&changed(0.5), &[]);
    // Steps of 4 ms from the change on.
    let finer = kick("from_s: 0.5, to_s: 0.505") + ", changes: [(at_s: 0.4, dt: 0.004)]";
    doubted(&finer, &[]);
}

#[test]
fn a_kick_between_two_steps_does_what_is_told() {
    let kick = |to: f64| {
        let text = format!(
            r#"(format: 1, gravity: (0, 0, 0), bodies: [{BODY}],
               inputs: [Wrench(body: "b", force: (100, 0, 0), from_s: 0.5, to_s: {to})])"#
        );
        let scene = SceneDoc::from_ron(&text, "kick.ron").unwrap_or_else(|errors| panic!("{errors}"));
        let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
        for _ in 0..60 {
            world.step();
        }
        (world.info().doubts.len(), world.state().bodies.motions[0].linear.x > 0.0)
    };
    assert_eq!([0.505, 0.51].map(kick), [(1, false), (0, true)]);
}
