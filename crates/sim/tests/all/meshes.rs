//! Colliders given by meshes, in scenes.

use glam::DVec3;
use sinew_math::ops;
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

/// A level square of `2 n²` triangles of unequal sizes, `size` wide, at height `z`.
fn square(n: u32, size: f64, z: f64) -> String {
    let mut text = String::from("TriMesh(points: [");
    let place = |i: u32| size * (f64::from(i) / f64::from(n) - 0.5) + 0.03 * f64::from(i * 7 % 5);
    for i in 0..=n {
        for j in 0..=n {
            text += &format!("({}, {}, {z}), ", place(i), place(j));
        }
    }
    text += "], triangles: [";
    for i in 0..n {
        for j in 0..n {
            let a = i * (n + 1) + j;
            let (b, c, d) = (a + n + 1, a + n + 2, a + 1);
            let cut = if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
            for [x, y, z] in cut {
                text += &format!("({x}, {y}, {z}), ");
            }
        }
    }
    text + "])"
}

/// A closed tetrahedron with its top at the origin, 2 m high.
const TETRAHEDRON: &str =
    "TriMesh(solid: true, points: [(0, 0, 0), (2, -1.5, -2), (0, 2.5, -2), (-2, -1.5, -2)],
    triangles: [(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)])";

const SHAPES: [&str; 4] = [
    "Sphere(radius: 0.1)",
    "Box(size: (0.3, 0.2, 0.2))",
    "Capsule(radius: 0.1, length: 0.2)",
    "Cylinder(radius: 0.1, length: 0.3)",
];

#[test]
fn bodies_move_on_a_tessellated_plane_as_on_the_plane() {
    let plane = r#"Plane(point: (0, 0, 0), normal: (0, 0, 1))"#;
    let (mut resting, mut moving) = (0.0f64, 0.0f64);
    for shape in SHAPES {
        for (velocity, z) in [("(0, 0, 0)", 0.12), ("(1.5, 0.7, 0)", 0.1), ("(1, 0.3, -1)", 0.3)] {
            let body = format!(
                r#"(name: "a", pose: (position: (-0.5, -0.2, {z})), velocity: (linear: {velocity}), shapes: [{shape}])"#
            );
            let on =
                |ground: &str| world(&body, &format!(r#"(shape: {ground}), (body: "a", shape: OfBody)"#));
            let (mut a, mut b) = (on(plane), on(&square(9, 6.0, 0.0)));
            for _ in 0..120 {
                run(&mut a, 1);
                run(&mut b, 1);
                let off = position(&a, "a").distance(position(&b, "a"));
                let worst = if velocity == "(0, 0, 0)" { &mut resting } else { &mut moving };
                *worst = worst.max(off);
            }
        }
    }
    assert!(resting < 1e-12 && moving < 1e-9, "{resting} {moving}");
}

#[test]
fn nothing_falls_through_a_mesh_at_any_speed() {
    let sheet = square(12, 24.0, 0.0);
    for (ground, lowest) in [(sheet.as_str(), 0.0), (TETRAHEDRON, -2.5)] {
        for shape in SHAPES {
            for speed in [0.1, 1.0, 3.0, 10.0, 20.0, 30.0] {
                for x in [0.0, 0.13] {
                    let body = format!(
                        r#"(name: "a", pose: (position: ({x}, 0.07, 0.7), rotation: Vector(0.3, 0.5, 0)),
                            velocity: (linear: (0, 0, -{speed})), shapes: [{shape}])"#
                    );
                    let mut world =
                        world(&body, &format!(r#"(shape: {ground}), (body: "a", shape: OfBody)"#));
                    let start = world.energy().total();
                    let mut depth = 0.0f64;
                    // Beside the tetrahedron there is no ground.
                    while world.time() < 2.0 && position(&world, "a").z > lowest {
                        let report = world.step();
                        depth = depth.max(report.flesh.contacts.depth);
                        assert!(report.health.is_good());
                        let gained = world.energy().total() - start;
                        assert!(gained < 1e-6 * start.abs().max(1.0), "{shape} {speed}: {gained} J");
                        let place = position(&world, "a");
                        let is_inside = lowest < 0.0 && tetrahedron_holds(place);
                        assert!(!is_inside, "{shape} at {speed} m/s: {place}");
                    }
                    if lowest == 0.0 {
                        assert!(position(&world, "a").z > 0.05, "{shape} at {speed} m/s fell through");
                    }
                    assert!(depth < 0.02, "{shape} at {speed} m/s: {depth}");
                }
            }
        }
    }
}

fn tetrahedron_holds(p: DVec3) -> bool {
    let corners =
        [DVec3::ZERO, DVec3::new(2.0, -1.5, -2.0), DVec3::new(0.0, 2.5, -2.0), DVec3::new(-2.0, -1.5, -2.0)];
    [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]].iter().all(|face| {
        let [a, b, c] = face.map(|i: usize| corners[i]);
        (b - a).cross(c - a).dot(p - a) < 0.0
    })
}

#[test]
fn a_mesh_on_a_body_rests_on_planes_and_solids_and_carries_others() {
    let cube = |half: f64| {
        let h = half;
        let points: Vec<String> = (0..8)
            .map(|i| {
                format!(
                    "({}, {}, {})",
                    if i & 1 == 0 { -h } else { h },
                    if i & 2 == 0 { -h } else { h },
                    if i & 4 == 0 { -h } else { h }
                )
            })
            .collect();
        format!(
            "TriMesh(points: [{}], triangles: [(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4),
            (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5)])",
            points.join(", ")
        )
    };
    let bodies = r#"(name: "a", pose: (position: (0, 0, 0.31)), mass: Total(3)),
        (name: "b", pose: (position: (0.05, 0, 0.65)), shapes: [Box(size: (0.2, 0.2, 0.1))]),
        (name: "c", pose: (position: (0, 0, 0.05)), shapes: [Box(size: (0.8, 0.8, 0.1))])"#;
    let colliders = format!(
        r#"(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: "a", shape: {}),
        (body: "b", shape: OfBody), (body: "c", shape: OfBody)"#,
        cube(0.2)
    );
    let mut world = world(bodies, &colliders);
    assert!((world.mechanism().body_mass(world.body("a").expect("a")) - 3.0).abs() < 1e-12);
    run(&mut world, 180);
    for (name, z) in [("a", 0.3), ("b", 0.55), ("c", 0.05)] {
        assert!((position(&world, name).z - z).abs() < 2e-3, "{name}: {}", position(&world, name));
    }
    let speed = world.energy().kinetic;
    assert!(speed < 1e-6, "{speed}");
}

#[test]
fn a_mesh_that_moves_carries_what_stands_on_it() {
    let bodies = r#"(name: "lift", kind: Kinematic),
        (name: "a", pose: (position: (0.1, 0, 0.1)), shapes: [Box(size: (0.2, 0.2, 0.2))])"#;
    let colliders = format!(r#"(body: "lift", shape: {}), (body: "a", shape: OfBody)"#, square(5, 2.0, 0.0));
    let text = format!(
        r#"(format: 1, name: "lift", duration_s: 2, bodies: [{bodies}], colliders: [{colliders}],
            tracks: [(name: "up", curve: Points([(0, (0, 0, 0)), (1, (0.2, 0, 0.3)), (2, (0, 0.2, 0.5))]))],
            inputs: [Kinematic(body: "lift", track: "up")])"#
    );
    let scene = SceneDoc::from_ron(&text, "lift.ron").expect("a scene");
    let digests = [0, 1].map(|_| {
        let mut world = World::from_scene(&scene).expect("a world");
        run(&mut world, 120);
        let off = position(&world, "a") - position(&world, "lift") - DVec3::new(0.1, 0.0, 0.1);
        assert!(off.length() < 2e-3, "{off}");
        world.digest()
    });
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn flesh_lies_on_sheets_and_solids_of_triangles() {
    let block = format!(
        "TriMesh(points: [{}], triangles: [(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4),
        (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5)])",
        "(-1, -1, -0.5), (1, -1, -0.5), (-1, 1, -0.5), (1, 1, -0.5), (-1, -1, 0), (1, -1, 0), (-1, 1, 0), (1, 1, 0)"
    );
    for (ground, speed) in [(square(7, 3.0, 0.0), 0.0), (square(7, 3.0, 0.0), -20.0), (block, 0.0)] {
        let text = format!(
            r#"(format: 1, name: "flesh", flesh: [(name: "cube", mesh: Beam(size: (0.4, 0.4, 0.4), cells: (3, 3, 3)),
                pose: (position: (-0.2, -0.2, 0.2), rotation: Vector(0.2, 0.1, 0)), velocity: (0, 0, {speed}),
                contact: ())], colliders: [(shape: {ground})])"#
        );
        let scene = SceneDoc::from_ron(&text, "flesh.ron").expect("a scene");
        let mut world = World::from_scene(&scene).expect("a world");
        run(&mut world, 120);
        let lowest = world.state().flesh.nodes[0].positions.iter().map(|p| p.z).fold(f64::MAX, f64::min);
        assert!(lowest > -2e-3 && lowest < 1e-3, "{speed}: {lowest}");
    }
}

/// A mesh decomposed, of what an outline of radii and heights draws around the z axis.
fn decomposed(outline: &[[f64; 2]], n: usize, options: &str) -> String {
    let m = outline.len();
    let mut text = String::from("Decomposed(points: [");
    for i in 0..n {
        let angle = std::f64::consts::TAU * i as f64 / n as f64;
        let point = |[r, z]: &[f64; 2]| format!("({}, {}, {z}), ", r * ops::cos(angle), r * ops::sin(angle));
        text.extend(outline.iter().map(point));
    }
    text += "], triangles: [";
    for (i, j) in (0..n).flat_map(|i| (0..m).map(move |j| (i, j))) {
        let at = |i: usize, j: usize| (i % n) * m + j % m;
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        text += &format!("({a}, {b}, {c}), ({a}, {c}, {d}), ");
    }
    format!("{text}]{options})")
}

/// A ring of 0.2 m with a tube of 0.05 m.
fn ring(options: &str) -> String {
    let angle = |k: u32| std::f64::consts::TAU * f64::from(k) / 6.0;
    let outline: Vec<[f64; 2]> =
        (0..6).map(|k| [0.2 + 0.05 * ops::cos(angle(k)), 0.05 * ops::sin(angle(k))]).collect();
    decomposed(&outline, 12, options)
}

#[test]
fn a_ball_falls_through_a_ring_and_stays_in_a_cup() {
    let cup = [[1e-3, 0.0], [0.2, 0.0], [0.2, 0.3], [0.18, 0.3], [0.18, 0.02], [1e-3, 0.02]];
    let bodies = r#"(name: "ball", pose: (position: (0.02, 0.01, 0.6)), shapes: [Sphere(radius: 0.08)]),
        (name: "ring", kind: Fixed, pose: (position: (0, 0, 0.45))), (name: "cup")"#;
    let colliders = |ring: &str, cup: &str| {
        format!(
            r#"(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: "ball", shape: OfBody),
            (body: "ring", shape: {ring}), (body: "cup", shape: {cup})"#
        )
    };
    let mut open = world(bodies, &colliders(&ring(""), &decomposed(&cup, 16, "")));
    run(&mut open, 150);
    let ball = position(&open, "ball");
    assert!((ball.z - 0.1).abs() < 5e-3 && ball.truncate().length() < 0.12, "{ball}");
    assert!(position(&open, "cup").length() < 0.01);
    // as one part each, they are closed
    let one = ", max_parts: 1";
    let mut closed = world(bodies, &colliders(&ring(one), &decomposed(&cup, 16, one)));
    run(&mut closed, 60);
    assert!(position(&closed, "ball").z > 0.45, "{}", position(&closed, "ball"));
    assert_eq!(closed.info().doubts.len(), 2, "both reach out too far");
    assert!(open.info().doubts.is_empty(), "{:?}", open.info().doubts);
}

#[test]
fn a_decomposed_body_has_the_mass_of_its_mesh_and_its_parts_are_one() {
    let mesh = ring("").replacen("Decomposed", "TriMesh", 1);
    let masses = [mesh, ring("")].map(|shape| {
        let world = world(r#"(name: "a")"#, &format!(r#"(body: "a", shape: {shape})"#));
        let body = world.body("a").expect("a body");
        world.mechanism().body_mass(body)
    });
    assert_eq!(masses[0].to_bits(), masses[1].to_bits());
    // two that lie on each other: one pair touches, however many parts
    let bodies =
        r#"(name: "a", pose: (position: (0, 0, 0.05))), (name: "b", pose: (position: (0.01, 0, 0.15)))"#;
    let colliders = format!(
        r#"(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: "a", shape: {}), (body: "b", shape: {})"#,
        ring(""),
        ring("")
    );
    let mut world = world(bodies, &colliders);
    run(&mut world, 120);
    assert!(world.events().iter().count() <= 2, "floor and a, a and b");
    assert!((position(&world, "b").z - position(&world, "a").z - 0.0866).abs() < 0.01);
    assert!(world.energy().kinetic < 1e-4, "{}", world.energy().kinetic);
}

#[test]
fn a_loose_body_without_a_collider_is_doubted() {
    let ground = r#"(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))"#;
    let box_of = |name: &str| format!(r#"(name: "{name}", shapes: [Box(size: (1, 1, 1))])"#);
    let doubts = |bodies: &str, colliders: &str| world(bodies, colliders).info().doubts.clone();
    let found = doubts(
        &format!("{}, {}", box_of("a"), box_of("b")),
        &format!(r#"{ground}, (body: "b", shape: OfBody)"#),
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].field, "bodies[0]");
    assert!(found[0].message.contains("`a` has no collider") && found[0].hint.contains("contact: ()"));
    assert!(doubts(&box_of("a"), "").is_empty(), "nothing touches here");
    assert!(doubts(r#"(name: "a", kind: Fixed, shapes: [Box(size: (1, 1, 1))])"#, ground).is_empty());
}
