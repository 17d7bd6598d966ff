//! Colliders given by meshes, in scenes.

use glam::DVec3;
use sinew_sim::{SceneDoc, World};

fn world(bodies: &str, colliders: &str) -> World {
    let text =
        format!("(format: 1, name: \"meshes\", duration_s: 2, bodies: [{bodies}], colliders: [{colliders}])");
    World::from_scene(&SceneDoc::from_ron(&text, "meshes.ron").expect("a scene")).expect("a world")
}

fn run(world: &mut World, n: usize) {
    for _ in 0..n {
        assert!(world.step().health.is_good());
    }
}

fn position(world: &World, name: &str) -> DVec3 {
    world.pose(world.body(name).expect("a body")).translation
}

/// The corners of a box of 0.4 × 0.3 × 0.2 m, as a hull with one point inside.
const CORNERS: &str = "[(-0.2, -0.15, -0.1), (0.2, -0.15, -0.1), (-0.2, 0.15, -0.1), (0.2, 0.15, -0.1),
    (-0.2, -0.15, 0.1), (0.2, -0.15, 0.1), (-0.2, 0.15, 0.1), (0.2, 0.15, 0.1), (0, 0, 0.05)]";

#[test]
fn a_hull_of_the_corners_of_a_box_moves_as_the_box() {
    let ground = r#"(shape: Plane(point: (0, 0, 0), normal: (0, 0.1, 1)))"#;
    let start = "pose: (position: (0, 0, 0.4), rotation: Vector(0.5, 0.3, 0))";
    let mut solid = world(
        &format!(r#"(name: "a", {start}, shapes: [Box(size: (0.4, 0.3, 0.2))])"#),
        &format!(r#"{ground}, (body: "a", shape: OfBody)"#),
    );
    // The hull has its own frame and scale, and fills the body.
    let mut hull = world(
        &format!(r#"(name: "a", {start})"#),
        &format!(
            r#"{ground}, (body: "a", shape: Convex(scale: 2, points: {}))"#,
            CORNERS
                .replace("0.2", "0.10")
                .replace("0.15", "0.075")
                .replace("0.1,", "0.05,")
                .replace("0.1)", "0.05)")
        ),
    );
    let body = hull.body("a").expect("a body");
    let (a, b) = (solid.mechanism().body_mass(body), hull.mechanism().body_mass(body));
    assert!((a - b).abs() < 1e-12 * a, "{a} {b}");
    for step in 0..120 {
        run(&mut solid, 1);
        run(&mut hull, 1);
        let off = position(&solid, "a").distance(position(&hull, "a"));
        assert!(off < 1e-7, "step {step}: {off}");
    }
}

#[test]
fn hulls_of_the_world_and_of_moving_bodies_carry_bodies() {
    let ramp =
        "Convex(points: [(-1, -1, 0), (1, -1, 0), (-1, 1, 0), (1, 1, 0), (-1, -1, -0.5), (1, 1, -0.5)])";
    let box_above = r#"(name: "a", pose: (position: (0, 0, 0.11)), shapes: [Box(size: (0.2, 0.2, 0.2))])"#;
    let mut fixed = world(box_above, &format!(r#"(shape: {ramp}), (body: "a", shape: OfBody)"#));
    run(&mut fixed, 120);
    assert!((position(&fixed, "a").z - 0.1).abs() < 5e-4, "{}", position(&fixed, "a"));
    let mut carried = world(
        &format!(r#"{box_above}, (name: "plate", kind: Fixed)"#),
        &format!(r#"(body: "plate", shape: {ramp}), (body: "a", shape: OfBody)"#),
    );
    run(&mut carried, 120);
    assert!((position(&carried, "a").z - 0.1).abs() < 5e-4, "{}", position(&carried, "a"));
}
