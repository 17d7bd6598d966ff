//! Draw lists and looks of small scenes and fixtures.

use std::path::Path;

use glam::DVec3;
use sinew_show::{DrawList, HeldQuantity, LineKind, SceneLooks, Shape, draw, extent};
use sinew_sim::{SceneDoc, World};

fn build(scene: &SceneDoc) -> World {
    World::from_scene(scene).unwrap_or_else(|error| panic!("{error}"))
}

/// A fixture by name.
fn world(name: &str) -> World {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mechanisms");
    build(&SceneDoc::load(&folder.join(format!("{name}.ron"))).unwrap_or_else(|errors| panic!("{errors}")))
}

/// A scene of these fields.
fn small(fields: &str) -> World {
    let text = format!("(format: 1, name: \"small\", {fields})");
    build(&SceneDoc::from_ron(&text, "small.ron").unwrap_or_else(|errors| panic!("{errors}")))
}

#[test]
fn shapes_joints_springs_and_grabs_are_listed() {
    let mut world = small(
        r#"
        bodies: [(name: "rod", pose: (position: (1, 0, 0)), color: (1, 0, 0), shapes: [
          Box(size: (2, 0.1, 0.1)),
          Sphere(radius: 0.2, at: (position: (1, 0, 0))),
          Capsule(radius: 0.1, length: 0.3), Cylinder(radius: 0.1, length: 0.4),
          Ellipsoid(semi_axes: (0.1, 0.2, 0.3)),
        ])],
        joints: [(name: "pivot", child: "rod", frames: World(axis: (0, 1, 0)))],
        springs: [(name: "cord", from: World(0, 0, 3), to: Body(name: "rod", point: (1, 0, 0)), stiffness: 1)],
        tracks: [(name: "goal", curve: Points([(0, (2, 0, 1))]))],
        inputs: [Grab(body: "rod", point: (1, 0, 0), track: "goal", stiffness: 1)],
        "#,
    );
    let mut list = DrawList::default();
    draw(&world, &mut list);
    assert_eq!((list.solids.len(), list.points.len(), list.lines.len()), (5, 1, 2));
    let ball = list.solids[1];
    assert_eq!(ball.shape, Shape::Sphere { radius: 0.2 });
    assert_eq!((ball.world_from_shape.translation, ball.color), (DVec3::X * 2.0, Some(DVec3::X)));
    assert_eq!(list.points[0].position, DVec3::ZERO);
    assert_eq!(list.lines[0].kind, LineKind::Spring);
    assert_eq!((list.lines[0].from, list.lines[0].to), (DVec3::Z * 3.0, DVec3::X * 2.0));
    assert_eq!(list.lines[1].kind, LineKind::Grab);
    assert_eq!((list.lines[1].from, list.lines[1].to), (DVec3::X * 2.0, DVec3::new(2.0, 0.0, 1.0)));
    world.step();
    let before = list.clone();
    draw(&world, &mut list);
    assert_eq!(list.solids.len(), 5);
    assert_ne!(list, before);
}

#[test]
fn points_of_goals_are_drawn_in_the_frame_of_the_body() {
    let mut world = small(
        r#"
        dt: 0.01, stepper: Reduced(), gravity: (0, 0, 0),
        bodies: [(name: "oar", shapes: [Box(size: (0.3, 0.05, 0.1), at: (position: (0.1, 0.2, 0), rotation: Vector(0.3, 0, 0.5)))])],
        joints: [(name: "pin", kind: Ball, child: "oar")],
        tracks: [(name: "hand", curve: Points([(0, (0, 0, 0)), (1, (0, 0, 0.1))]))],
        score: (root: Active, phases: [(control: Guide(style: Acceleration, goals: [
          (bone: "oar", point: (0.2, 0.1, 0), want: Follow(track: "hand", relative: true)),
          (bone: "oar", point: (0.1, 0.3, 0), want: KeepHeight),
        ]))]),
        "#,
    );
    let mut list = DrawList::default();
    for _ in 0..10 {
        world.step();
        draw(&world, &mut list);
        let pose = world.pose(world.body("oar").expect("it is there"));
        let line = list.lines.iter().find(|line| line.kind == LineKind::Grab).expect("a drag");
        assert!(line.from.distance(pose.transform_point(DVec3::new(0.2, 0.1, 0.0))) < 1e-12);
        let held = list.constraints[0].position;
        assert!(held.distance(pose.transform_point(DVec3::new(0.1, 0.3, 0.0))) < 1e-12);
    }
}

#[test]
fn what_a_score_holds_is_marked_while_its_phase_lasts() {
    let mut world = small(
        r#"
        dt: 0.01, stepper: Implicit(), gravity: (0, 0, 0),
        generators: [Chain(name: "arm", n: 3, link: (shapes: [Box(size: (0.3, 0.05, 0.05), at: (position: (0.05, 0, 0)))]), joint: (kind: Hinge))],
        tracks: [(name: "hand", curve: Points([(0, (0, 0, 0)), (1, (0, 0, 0.1))]))],
        score: (root: Active, phases: [
          (from_s: 0.095, control: Guide(style: Velocity, goals: [
            (bone: "arm_0003", want: Follow(track: "hand", relative: true)),
            (bone: "arm_0002", want: KeepOrientation),
            (bone: "arm_0001", point: (0.1, 0, 0), want: KeepHeight),
          ])),
          (from_s: 0.195, control: Passive),
        ]),
        "#,
    );
    let mut list = DrawList::default();
    let mut seen = Vec::new();
    for _ in 0..30 {
        world.step();
        draw(&world, &mut list);
        seen.push(list.constraints.len());
        if let [turned, raised] = list.constraints[..] {
            assert_eq!([turned.kind, raised.kind], [HeldQuantity::Rotation, HeldQuantity::Place]);
            let arm = world.body("arm_0001").expect("a body");
            let point = world.pose(arm).transform_point(DVec3::X * 0.1);
            assert!(raised.position.distance(point) < 1e-12, "{raised:?}, not {point}");
            let hand = world.pose(world.body("arm_0003").expect("a body")).translation;
            assert!(list.lines[0].from.distance(hand) < 1e-12, "{:?}, not {hand}", list.lines[0]);
        }
    }
    let expected: Vec<usize> = (1..=30).map(|k| if (11..=20).contains(&k) { 2 } else { 0 }).collect();
    assert_eq!(seen, expected);
}

#[test]
fn every_fixture_draws() {
    for name in ["hand", "robot", "showcase"] {
        let world = world(name);
        let mut list = DrawList::default();
        draw(&world, &mut list);
        assert!(list.solids.len() >= world.mechanism().n_bodies(), "{name}");
        assert_eq!(list.points.len(), world.mechanism().n_joints(), "{name}");
    }
}

#[test]
fn surfaces_go_along_with_their_bodies() {
    let mut world = world("mesh_320");
    let mut list = DrawList::default();
    draw(&world, &mut list);
    let flat = list.surfaces[0].clone();
    assert_eq!((flat.controls.len(), flat.points.len(), flat.triangles.len()), (121, 41 * 41, 3_200));
    assert!(flat.normals.iter().all(|normal| normal.distance(DVec3::Z) < 1e-12));
    assert!(flat.points.iter().all(|point| point.z.abs() < 1e-12));
    for _ in 0..30 {
        world.step();
    }
    draw(&world, &mut list);
    let bent = &list.surfaces[0];
    assert!(bent.points.iter().any(|point| point.z > 0.05), "the corners are lifted");
    assert!(bent.normals.iter().all(|normal| (normal.length() - 1.0).abs() < 1e-12));
    // Through the ends of all bars, not only those that carry its points.
    let ends = world
        .mechanism()
        .joints()
        .map(|joint| world.mechanism().joint_anchors(&world.state().bodies, joint).1);
    for end in ends {
        let nearest = bent.controls.iter().map(|point| point.distance(end)).fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-3, "{nearest:e}");
    }
}

#[test]
fn bodies_without_shapes_are_balls_of_their_inertia() {
    let world = small(
        r#"bodies: [
          (name: "bare", mass: Properties(mass: 5, com: (0, 0, 1), inertia: Diagonal(2, 2, 2)), pose: (position: (1, 0, 0))),
          (name: "nothing", kind: Fixed)]"#,
    );
    let mut list = DrawList::default();
    draw(&world, &mut list);
    assert_eq!(list.solids.len(), 1);
    let Shape::Sphere { radius } = list.solids[0].shape else { panic!("a ball") };
    assert!((radius - 1.0).abs() < 1e-12);
    assert_eq!(list.solids[0].world_from_shape.translation, DVec3::new(1.0, 0.0, 1.0));
}

#[test]
fn looks_know_colours_bones_and_masses() {
    for name in ["hand_flesh", "robot", "mesh_320", "worm"] {
        let world = world(name);
        let (mut list, looks) = (DrawList::default(), SceneLooks::of(&world));
        draw(&world, &mut list);
        assert_eq!(
            (looks.solids.len(), looks.surfaces.len()),
            (list.solids.len(), list.surfaces.len()),
            "{name}"
        );
        assert_eq!(looks.flesh.len(), list.flesh.len(), "{name}");
        for (flesh, drawn) in looks.flesh.iter().zip(&list.flesh) {
            assert_eq!(flesh.rest.len(), drawn.points.len());
            assert!(flesh.nodes.iter().any(|node| node.1) && flesh.nodes.iter().any(|node| !node.1));
        }
        let is_soft = !looks.flesh.is_empty();
        assert!(looks.solids.iter().all(|solid| solid.is_bone == is_soft), "{name}");
        for (solid, drawn) in looks.solids.iter().zip(&list.solids) {
            assert!(drawn.color.is_none_or(|color| color == solid.color));
        }
        let (middle, reach) = extent(&world);
        let inside = |point: DVec3| point.distance(middle) <= reach;
        assert!(list.solids.iter().all(|solid| inside(solid.world_from_shape.translation)), "{name}");
        assert!(looks.mass > 0.1 && looks.mass < 1000.0, "{name}: {}", looks.mass);
    }
}

#[test]
fn bones_are_bones_wherever_they_begin() {
    let text = r#"generators: [Character(name: "worm", kind: Worm)], assemble: true,
        tracks: [(name: "up", curve: Points([(0, (3, 2, 5)), (1, (3, 2, 5))]))],
        inputs: [Grab(body: "worm_bone_6", track: "up", stiffness: inf)]"#;
    let world = small(text);
    let head = world.body("worm_bone_6").expect("a head");
    assert!(world.pose(head).translation.distance(DVec3::new(3.0, 2.0, 5.0)) < 1e-6);
    let looks = SceneLooks::of(&world);
    assert!(!looks.solids.is_empty() && looks.solids.iter().all(|solid| solid.is_bone));
}
