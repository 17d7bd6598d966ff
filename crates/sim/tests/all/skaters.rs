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
