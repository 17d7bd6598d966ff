//! Friction in an impact acts at the surface of the body, wherever in the step it meets what, and whatever that is.

use sinew_sim::World;

use crate::common::small;

/// Floors with their tops at z = 0, and with a friction.
fn floors(friction: f64) -> [String; 5] {
    let of = |shape: &str| format!("(shape: {shape}, contact: (friction: {friction}))");
    [
        of("Plane(point: (0, 0, 0), normal: (0, 0, 1))"),
        of(
            "TriMesh(points: [(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], triangles: [(0, 1, 2), (0, 2, 3)])",
        ),
        of("HeightField(size: (18, 18), heights: [[0, 0], [0, 0]])"),
        of("Solid(Box(size: (20, 20, 1), at: (position: (0, 0, -0.5))))"),
        of("Solid(Box(size: (20, 20, 0.1), at: (position: (0, 0, -0.05))))"),
    ]
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / world.settings().dt).round() as usize {
        world.step();
    }
}

#[test]
fn friction_in_a_bounce_has_the_lever_of_the_radius() {
    for floor in floors(0.2) {
        for (radius, vx, vz, spin, e) in [
            (0.1, 2.0, 3.0, -50.0, 0.6),
            (0.0214, 10.0, 10.0, -300.0, 0.7),
            (0.1, 0.0, 3.0, -50.0, 0.6),
            (0.03, 2.0, 8.0, 0.0, 0.0),
        ] {
            for fifth in 0..5 {
                let z = radius + vz * (0.05 + f64::from(fifth) / 300.0);
                let mut world = small(&format!(
                    r#"gravity: (0, 0, 0), colliders: [{floor}], bodies: [(name: "ball", pose: (position: (0, 0, {z})), shapes: [Sphere(radius: {radius})],
                        velocity: (linear: ({vx}, 0, -{vz}), angular: (0, {spin}, 0)), contact: (friction: 0.2, restitution: {e}))]"#
                ));
                run(&mut world, 0.2);
                let end = world.state().bodies.motions[0];
                let (push, turn) = (end.linear.x - vx, end.angular.y - spin);
                let wanted = -2.5 * push / radius;
                let case = format!(
                    "{floor} R {radius} m, {vx} and {vz} m/s, phase {fifth}: {turn} instead of {wanted} rad/s"
                );
                assert!(push.abs() > 0.1 && (turn - wanted).abs() < 0.01 * wanted.abs(), "{case}");
                assert!((end.linear.z - e * vz).abs() < 0.01 * vz, "{case}: {end:?}");
            }
        }
    }
}

#[test]
fn a_ball_that_is_thrown_rolls_in_the_end_as_its_angular_momentum_says() {
    for floor in floors(0.5) {
        for (radius, height, e) in [(0.02, 0.5, 0.5), (0.02, 1.1, 0.0), (0.1, 0.5, 0.8)] {
            let z = radius + height;
            let mut world = small(&format!(
                r#"colliders: [{floor}], bodies: [(name: "ball", pose: (position: (-5, 0, {z})), velocity: (linear: (1.5, 0, 0)), shapes: [Sphere(radius: {radius})],
                    contact: (friction: 0.5, restitution: {e}))]"#
            ));
            run(&mut world, 6.0);
            let (speed, wanted) = (world.state().bodies.motions[0].linear.x, 1.5 * 5.0 / 7.0);
            assert!(
                (speed / wanted - 1.0).abs() < 0.01,
                "{floor} R {radius} m from {height} m: {speed} instead of {wanted} m/s"
            );
        }
    }
}
