//! Boxes slide over solids that lie flush side by side as over one, and stop at real steps.

use sinew_sim::World;

use crate::common::small;

fn run(world: &mut World, seconds: f64) -> f64 {
    let mut highest = f64::NEG_INFINITY;
    for _ in 0..(seconds / world.settings().dt).round() as usize {
        world.step();
        let last = world.state().bodies.poses.len() - 1;
        highest = highest.max(world.state().bodies.poses[last].translation.z);
    }
    highest
}

/// A box of 0.3 m, turned about z, that slides without friction over two tiles; the second one is higher.
fn over_tiles(dt: &str, [speed, x, turn, step]: [f64; 4]) -> World {
    small(&format!(
        r#"dt: {dt}, bodies: [(name: "box", pose: (position: ({x}, 0, 0.1), rotation: AxisAngle(axis: (0, 0, 1), angle: {turn})),
            velocity: (linear: ({speed}, 0, 0)), shapes: [Box(size: (0.3, 0.3, 0.2))], contact: (friction: 0))],
        colliders: [
            (shape: Solid(Box(size: (2, 4, 1), at: (position: (-1, 0, -0.5)))), contact: (friction: 0)),
            (shape: Solid(Box(size: (8, 4, 1), at: (position: (4, 0, {})))), contact: (friction: 0))]"#,
        step - 0.5
    ))
}

#[test]
fn boxes_slide_over_flush_tiles_as_over_one() {
    for (dt, speed) in [
        ("0.016666666666666666", 0.5),
        ("0.016666666666666666", 2.0),
        ("0.016666666666666666", 5.0),
        ("0.001", 2.0),
    ] {
        for phase in 0..4 {
            for turn in [0.0, 0.3, std::f64::consts::FRAC_PI_4] {
                let x = -0.5 - speed * f64::from(phase) / 250.0;
                let mut world = over_tiles(dt, [speed, x, turn, 0.0]);
                let highest = run(&mut world, 1.0 / speed);
                let end = world.state().bodies.motions[0];
                let case = format!(
                    "{speed} m/s from {x} m in steps of {dt} s, turned by {turn}: {end:?}, up to {highest} m"
                );
                assert!((end.linear.x / speed - 1.0).abs() < 0.01, "{case}");
                assert!(end.linear.y.abs() < 0.01 * speed && end.angular.length() < 0.05, "{case}");
                assert!(highest < 0.1005, "{case}");
            }
        }
    }
}

#[test]
fn a_real_step_between_tiles_stops_a_box() {
    for phase in 0..4 {
        let mut world =
            over_tiles("0.016666666666666666", [1.0, -0.5 - f64::from(phase) / 250.0, 0.0, 0.005]);
        run(&mut world, 0.6);
        let end = world.state().bodies.motions[0];
        assert!(end.linear.x < 0.3, "phase {phase}: {end:?}");
    }
}

#[test]
fn a_crate_slides_over_a_deck_of_planks() {
    let planks: String = (0..6)
        .map(|i| format!(r#"(name: "k{i}", pose: (position: ({}, 0, 0.05)), shapes: [Box(size: (0.5, 1, 0.1))], contact: (friction: 0.8)), "#, 0.5 * f64::from(i)))
        .collect();
    let mut world = small(&format!(
        r#"bodies: [{planks} (name: "b", pose: (position: (0, 0, 0.2)), velocity: (linear: (3, 0, 0)), shapes: [Box(size: (0.3, 0.3, 0.2))], contact: (friction: 0.02))],
           colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)), contact: (friction: 0.8))]"#
    ));
    let highest = run(&mut world, 1.0);
    let (speed, wanted) = (world.state().bodies.motions[6].linear.x, 3.0 - 0.016_f64.sqrt() * 9.81);
    assert!(
        (speed - wanted).abs() < 0.05 && highest < 0.202,
        "{speed} instead of {wanted} m/s, up to {highest} m"
    );
}

#[test]
fn a_box_glides_over_the_seams_of_a_decomposed_slab() {
    for (dt, y) in [("0.016666666666666666", 0.0), ("0.016666666666666666", 0.05), ("0.001", 0.0)] {
        let mut world = small(&format!(
            r#"dt: {dt}, bodies: [(name: "b", pose: (position: (-1.5, {y}, 0.1)), velocity: (linear: (2, 0, 0)), shapes: [Box(size: (0.3, 0.3, 0.2))], contact: (friction: 0))],
            colliders: [(shape: Decomposed(
                points: [(-2, -1, 0), (2, -1, 0), (2, 3, 0), (0, 3, 0), (0, 1, 0), (-2, 1, 0), (-2, -1, -0.5), (2, -1, -0.5), (2, 3, -0.5), (0, 3, -0.5), (0, 1, -0.5), (-2, 1, -0.5)],
                triangles: [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (6, 10, 7), (6, 11, 10), (7, 9, 8), (7, 10, 9), (0, 6, 7), (0, 7, 1), (1, 7, 8), (1, 8, 2), (2, 8, 9), (2, 9, 3), (3, 9, 10), (3, 10, 4), (4, 10, 11), (4, 11, 5), (5, 11, 6), (5, 6, 0)]),
                contact: (friction: 0))]"#
        ));
        run(&mut world, 1.4);
        let end = world.state().bodies.motions[0];
        assert!(
            (end.linear.x - 2.0).abs() < 0.02 && end.linear.y.abs() < 0.02 && end.angular.length() < 0.05,
            "dt {dt}, y {y}: {end:?}"
        );
    }
}

/// They roll or slide without friction, along the way or across it.
#[test]
fn round_bodies_roll_over_flush_tiles_as_over_one() {
    for shape in [
        "Sphere(radius: 0.1)",
        "Capsule(radius: 0.1, length: 0.3, at: (rotation: Vector(0, 0, 1.5707963267948966)))",
        "Capsule(radius: 0.1, length: 0.3)",
        "Cylinder(radius: 0.1, length: 0.3, at: (rotation: Vector(0, 0, 1.5707963267948966)))",
    ] {
        let rolls = !shape.ends_with("0.3)");
        for (friction, speed) in [(0.0, 2.0), (0.5, 2.0), (0.5, 5.0)] {
            if friction > 0.0 && !rolls {
                continue;
            }
            for phase in 0..4 {
                let x = -0.5 - speed * f64::from(phase) / 250.0;
                let spin = if friction > 0.0 { speed / 0.1 } else { 0.0 };
                let mut world = small(&format!(
                    r#"bodies: [(name: "b", pose: (position: ({x}, 0, 0.1)), velocity: (linear: ({speed}, 0, 0), angular: (0, {spin}, 0)), shapes: [{shape}], contact: (friction: {friction}))],
                       colliders: [(shape: Solid(Box(size: (2, 4, 1), at: (position: (-1, 0, -0.5)))), contact: (friction: {friction})),
                                   (shape: Solid(Box(size: (8, 4, 1), at: (position: (4, 0, -0.5)))), contact: (friction: {friction}))]"#
                ));
                let highest = run(&mut world, 1.0 / speed);
                let end = world.state().bodies.motions[0];
                let case = format!(
                    "{shape} with friction {friction}, {speed} m/s from {x} m: {end:?}, up to {highest} m"
                );
                assert!((end.linear.x / speed - 1.0).abs() < 0.006 && highest < 0.108, "{case}");
            }
        }
    }
}

/// A solid over tiles of 2 m with their corner at the origin, and what is left of its speed of 3 m/s after half a second.
fn over_corner(shape: &str, [friction, y, turn, height]: [f64; 4]) -> f64 {
    let tile = |x: i32, y: i32| {
        format!(
            r#"(shape: Solid(Box(size: (2, 2, 0.1), at: (position: ({x}, {y}, -0.05)))), contact: (friction: {friction}))"#
        )
    };
    let mut world = small(&format!(
        r#"bodies: [(name: "o", pose: (position: (-0.6, {y}, {height}), rotation: Vector(0, 0, {turn})), velocity: (linear: (3, 0, 0)),
            shapes: [{shape}], mass: Total(1), contact: (friction: {friction}))],
        colliders: [{}, {}, {}, {}]"#,
        tile(-1, -1),
        tile(-1, 1),
        tile(1, -1),
        tile(1, 1)
    ));
    let highest = run(&mut world, 0.5);
    assert!(highest < height + 1e-3, "{shape} rose to {highest} m");
    world.state().bodies.motions[0].linear.x
}

#[test]
fn cubes_plates_and_pucks_slide_over_corners_of_tiles() {
    for y in [0.03, -0.02, 0.001] {
        // Coulomb's law: 3 m/s less 0.4 · 9.81 m/s² · 0.5 s.
        let cube = over_corner("Box(size: (0.1, 0.1, 0.1))", [0.4, y, 0.2, 0.05]);
        assert!((cube - 1.038).abs() < 0.05, "{cube} m/s, {y}");
        let plate = over_corner("Box(size: (0.4, 0.3, 0.01))", [0.0, y, 0.3, 0.005]);
        assert!((plate - 3.0).abs() < 0.02, "{plate} m/s, {y}");
    }
}
