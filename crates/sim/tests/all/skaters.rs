//! Motors that pull in what turns: spin and energy are those of the textbook, and no energy comes from nowhere.

use crate::common::small;

#[test]
fn a_motor_that_pulls_in_what_turns_does_known_work() {
    let body = |name: &str, x: f64| {
        format!(
            r#"(name: "{name}", pose: (position: ({x}, 0, 0)), velocity: (linear: (0, {}, 0), angular: (0, 0, 2)),
                mass: Properties(mass: 1, inertia: Diagonal(1e-6, 1e-6, 1e-6)))"#,
            2.0 * x
        )
    };
    let slide = |name: &str, x: f64| {
        format!(
            r#"(name: "s{name}", kind: Prismatic, child: "{name}", parent: "hub", frames: World(axis: ({x}, 0, 0)),
                motor: Position(target: Track("t"), stiffness: 1e5, damping: 1e4))"#
        )
    };
    let mut world = small(&format!(
        r#"gravity: (0, 0, 0), bodies: [
            (name: "hub", velocity: (angular: (0, 0, 2)), mass: Properties(mass: 1, inertia: Diagonal(0.01, 0.01, 0.01))),
            {}, {}],
        joints: [{}, {}],
        tracks: [(name: "t", curve: Scalars([(0, 0), (2, -0.6)]))]"#,
        body("p", 1.0),
        body("q", -1.0),
        slide("p", 1.0),
        slide("q", -1.0)
    ));
    for _ in 0..180 {
        let health = world.step().health;
        assert!(health.is_good(), "{health:?}");
    }
    // Angular momentum: 2 · 2.01 = ω (0.01 + 2 · 0.16).
    let spin = world.state().bodies.motions[0].angular.z;
    assert!((spin / (4.02 / 0.33) - 1.0).abs() < 0.01, "{spin} rad/s");
    let reach = world.pose(world.body("p").expect("a mass")).translation.length();
    assert!((reach - 0.4).abs() < 2e-3, "{reach} m");
}

#[test]
fn forces_that_change_are_sources_in_second_order() {
    let mut world = small(
        r#"stepper: Implicit(order: 2), gravity: (0, 0, 0), duration_s: 2.5,
        bodies: [(name: "b", mass: Properties(mass: 1, inertia: Diagonal(1, 1, 1)))],
        tracks: [(name: "f", curve: Sine(amplitude: (1, 0, 0), frequency_hz: 1))],
        inputs: [Wrench(body: "b", force: (60, 0, 0), track: "f")]"#,
    );
    for _ in 0..150 {
        let health = world.step().health;
        assert!(health.is_good(), "{health:?}");
    }
}

#[test]
fn a_swing_on_springs_of_the_world_keeps_its_energy() {
    // The seat does not turn with its springs, so no joint and no turn tells how far they bend in a step.
    let mut world = small(
        r#"bodies: [(name: "m", pose: (position: (1, 0, 0)), shapes: [Box(size: (0.2, 0.4, 0.05))], mass: Total(20))],
        springs: [
            (name: "s", from: World(0, -0.2, 0), to: Body(name: "m", point: (0, -0.2, 0)), stiffness: 2e4, damping: 50, rest_length: 1),
            (name: "u", from: World(0, 0.2, 0), to: Body(name: "m", point: (0, 0.2, 0)), stiffness: 2e4, damping: 50, rest_length: 1)]"#,
    );
    for _ in 0..300 {
        world.step();
    }
    let lost = -world.energy().total();
    assert!((-1.0..12.0).contains(&lost), "{lost} J of 196");
}

#[test]
fn bounces_of_explicit_schemes_have_reactions() {
    for stepper in ["Explicit()", "Displacement()"] {
        let mut world = small(&format!(
            r#"stepper: {stepper}, colliders: [(shape: Plane())],
            bodies: [(name: "b", pose: (position: (0, 0, 0.2)), shapes: [Sphere(radius: 0.1)], contact: (restitution: 0.8))]"#
        ));
        world.settings_mut().reactions = true;
        for _ in 0..60 {
            assert!(world.step().health.is_good());
        }
    }
}

#[test]
fn motors_of_joint_coordinates_are_sources() {
    for motor in [
        "Position(target: Track(\"a\"), stiffness: 100, damping: 20)",
        "Velocity(target: Value(1), damping: 20)",
    ] {
        let mut world = small(&format!(
            r#"stepper: Reduced(),
            bodies: [(name: "arm", pose: (position: (0.5, 0, 0)), mass: Properties(mass: 1, inertia: Diagonal(0.01, 0.1, 0.1)))],
            joints: [(name: "h", child: "arm", frames: World(axis: (0, 1, 0)), motor: {motor})],
            tracks: [(name: "a", curve: Scalars([(0, 0), (1, -0.8)]))]"#
        ));
        for _ in 0..240 {
            let health = world.step().health;
            assert!(health.is_good(), "{motor}: {health:?}");
        }
    }
}
