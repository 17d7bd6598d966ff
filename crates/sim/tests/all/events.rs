//! Contact events and sensors: phases, names, rewinding, and that sensors change no motion.

use sinew_sim::{ContactEvent, DVec3, Groups, Pose, RayCast, Recording, SceneDoc, Shape, TouchPhase, World};

use crate::common::{scene, world};

fn build(text: &str) -> World {
    World::from_scene(&SceneDoc::from_ron(text, "events.ron").expect("a scene")).expect("a world")
}

/// The events of every step.
fn run(world: &mut World, n: usize) -> Vec<Vec<ContactEvent>> {
    let step = |world: &mut World| {
        world.step();
        world.events().to_vec()
    };
    (0..n).map(|_| step(world)).collect()
}

#[test]
fn a_restored_run_has_the_same_events() {
    for name in ["gate", "bouncing_balls", "explicit_beside", "box_reduced"] {
        let mut original = world(name);
        run(&mut original, 30);
        let checkpoint = original.checkpoint();
        let expected = run(&mut original, 90);
        assert!(expected.iter().any(|events| !events.is_empty()), "{name}");
        // in another world, after other events, and from text
        let mut other = world(name);
        run(&mut other, 70);
        other.restore(&checkpoint).expect("a state of the same scene");
        assert_eq!(other.events(), checkpoint.events.entries(), "{name}");
        assert_eq!(run(&mut other, 90), expected, "{name}");
        let text = ron::to_string(&checkpoint).expect("text");
        let read: sinew_sim::State = ron::from_str(&text).expect("a state");
        assert_eq!(read, checkpoint, "{name}");
    }
}

#[test]
fn a_recording_has_the_events_of_every_step() {
    let mut world = world("gate");
    let mut recording = Recording::new(&world, 50);
    let mut events = Vec::new();
    for _ in 0..120 {
        recording.step(&mut world);
        events.push(world.events().to_vec());
    }
    for n in [1, 49, 50, 51, 71, 120] {
        let state = recording.state_after(n);
        assert_eq!(state.expect("a recorded step").events.entries(), events[n - 1], "{n}");
    }
}

#[test]
fn phases_follow_each_other() {
    for name in ["gate", "bouncing_balls", "heap_40", "ball_on_pad"] {
        let mut before: Vec<ContactEvent> = Vec::new();
        for events in run(&mut world(name), 60) {
            assert!(events.is_sorted_by(|a, b| a.sides < b.sides), "{name}");
            let touches = |list: &[ContactEvent], sides| {
                list.iter().any(|event| event.sides == sides && event.phase != TouchPhase::End)
            };
            for event in &events {
                let touched = touches(&before, event.sides);
                assert_eq!(touched, event.phase != TouchPhase::Begin, "{name}");
            }
            for old in before.iter().filter(|old| old.phase != TouchPhase::End) {
                assert!(events.iter().any(|event| event.sides == old.sides), "{name}");
            }
            before = events;
        }
    }
}

#[test]
fn events_are_those_of_the_contacts_that_acted() {
    for name in ["heap_40", "ball_on_pad", "stairs"] {
        let mut world = world(name);
        for _ in 0..90 {
            world.step();
            for contact in world.contacts() {
                let mut sides = contact.sides;
                sides.sort_unstable();
                let event = world.events().iter().find(|event| event.sides == sides);
                assert!(event.is_some_and(|event| event.phase != TouchPhase::End), "{name}");
            }
        }
    }
}

/// A box on a ball on the ground, beside a pendulum, with or without sensors of every form, on bodies and in the world.
fn with_sensors(stepper: &str, sensors: bool) -> World {
    let sensors = if sensors {
        r#"
        (name: "zone", shape: Solid(Box(size: (3, 3, 3))), sensor: true),
        (name: "hull", shape: Convex(points: [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2)]), sensor: true),
        (name: "mesh", body: "box", shape: TriMesh(points: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
            triangles: [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]), sensor: true),
        (name: "level", shape: Plane(point: (0, 0, 0.3), normal: (0, 0, 1)), sensor: true),
        (name: "hills", shape: HeightField(size: (4, 4), heights: [[0.2, 0.2], [0.2, 0.2]]), sensor: true),
        (name: "tip", body: "rod", shape: OfBody, sensor: true),"#
    } else {
        ""
    };
    build(&format!(
        r#"(
      format: 1,
      stepper: {stepper},
      bodies: [
        (name: "ball", pose: (position: (0, 0, 0.25)), shapes: [Sphere(radius: 0.2)]),
        (name: "box", pose: (position: (0.05, 0, 0.8)), shapes: [Box(size: (0.3, 0.3, 0.3))]),
        (name: "rod", pose: (position: (1.5, 0, 1)), shapes: [Box(size: (1, 0.05, 0.05))]),
      ],
      joints: [(name: "pivot", kind: Hinge, child: "rod", frames: World(axis: (0, 1, 0), anchor: (1, 0, 1)))],
      colliders: [
        (name: "floor", shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),
        (body: "ball", shape: OfBody),
        (body: "box", shape: OfBody),
        {sensors}
      ],
    )"#
    ))
}

#[test]
fn sensors_change_no_bit_in_any_scheme() {
    for stepper in ["Implicit()", "Implicit(order: 2)", "Explicit()", "Displacement()", "Reduced()"] {
        let (mut felt, mut plain) = (with_sensors(stepper, true), with_sensors(stepper, false));
        let mut seen: Vec<String> = Vec::new();
        for _ in 0..90 {
            felt.step();
            plain.step();
            assert_eq!(felt.digest(), plain.digest(), "{stepper}");
            let sensed = felt.events().iter().filter(|event| event.is_sensor);
            seen.extend(sensed.flat_map(|event| event.sides.map(|side| felt.side_name(side).to_owned())));
            let pushed: Vec<_> = felt.events().iter().filter(|event| !event.is_sensor).collect();
            assert_eq!(pushed, plain.events().iter().collect::<Vec<_>>(), "{stepper}");
        }
        for name in ["zone", "hull", "mesh", "level", "hills", "tip", "ball", "box"] {
            assert!(seen.iter().any(|seen| seen == name), "{stepper}: {name}");
        }
    }
}

#[test]
fn sensors_of_flesh_change_no_bit() {
    let mut plain = scene("gate");
    plain.colliders.retain(|collider| !collider.sensor);
    plain.expect = Default::default();
    let mut plain = World::from_scene(&plain).expect("a world");
    let mut felt = world("gate");
    for _ in 0..100 {
        felt.step();
        plain.step();
        assert_eq!(felt.digest(), plain.digest());
    }
}

#[test]
fn kinematic_bodies_and_scenes_of_sensors_only_are_felt() {
    let mut world = build(
        r#"(
      format: 1,
      bodies: [(name: "hand", kind: Kinematic, velocity: (linear: (1, 0, 0)), shapes: [Sphere(radius: 0.1)])],
      colliders: [
        (name: "touch", body: "hand", shape: OfBody, sensor: true),
        (body: "hand", shape: OfBody),
        (name: "beam", shape: Solid(Box(at: (position: (0.5, 0, 0)), size: (0.1, 1, 1))), sensor: true),
      ],
      tracks: [(name: "way", curve: Points([(0, (0, 0, 0)), (1, (1, 0, 0))]))],
      inputs: [Kinematic(body: "hand", track: "way")],
    )"#,
    );
    let events = run(&mut world, 60);
    let begins = events.iter().flatten().filter(|event| event.phase == TouchPhase::Begin);
    let names: Vec<_> =
        begins.map(|event| event.sides.map(|side| world.side_name(side).to_owned())).collect();
    assert_eq!(names, [["touch", "beam"], ["hand", "beam"]].map(|pair| pair.map(str::to_owned)));
}

#[test]
fn a_bullet_is_felt_by_a_thin_sensor() {
    let mut world = build(
        r#"(
      format: 1,
      gravity: (0, 0, 0),
      bodies: [(name: "bullet", pose: (position: (-20.3, 0, 0)), velocity: (linear: (300, 0, 0)), shapes: [Sphere(radius: 0.01)])],
      colliders: [
        (body: "bullet", shape: OfBody),
        (name: "beam", shape: Solid(Box(size: (0.001, 1, 1))), sensor: true),
      ],
    )"#,
    );
    let phases: Vec<_> = run(&mut world, 10).into_iter().flatten().map(|event| event.phase).collect();
    assert_eq!(phases, [TouchPhase::Begin, TouchPhase::End]);
}

#[test]
fn probes_see_bodies_flesh_and_the_world_where_they_are() {
    let mut world = world("gate");
    for _ in 0..20 {
        world.step();
    }
    let ball = world.pose(world.body("ball").expect("a ball")).translation;
    let probe = world.probe();
    let down = RayCast::new(ball + DVec3::Z * 5.0, DVec3::NEG_Z);
    let hits = probe.ray_all(&down);
    let names: Vec<_> = hits.iter().map(|hit| world.side_name(hit.side)).collect();
    assert_eq!(names, ["ball", "floor"]);
    assert!((hits[0].distance - 4.9).abs() < 1e-9 && hits[0].body == Some(0));
    assert_eq!(world.side_body(hits[0].side), world.body("ball"));
    assert_eq!(world.side_body(hits[1].side), None);
    assert_eq!(world.ray(&down), Some(hits[0]));
    // the skin of the jelly is where its nodes are
    let nodes = &world.state().flesh.nodes[0].positions;
    let middle = nodes.iter().sum::<DVec3>() / nodes.len() as f64;
    let lowest = nodes.iter().map(|node| node.z).fold(f64::INFINITY, f64::min);
    let inside = world.closest_point(middle, 1.0, Groups::ALL).expect("the jelly");
    assert_eq!(world.side_name(inside.side), "jelly");
    assert!(inside.distance < -0.14 && inside.distance > -0.16, "{}", inside.distance);
    let up = RayCast::new(DVec3::new(middle.x, middle.y, 0.0), DVec3::Z).within(3.0);
    let hit = probe.ray_all(&up).into_iter().find(|hit| world.side_name(hit.side) == "jelly").expect("jelly");
    assert!((hit.distance - lowest).abs() < 5e-3 && hit.normal.z < -0.9, "{hit:?} {lowest}");
    let reached =
        probe.overlaps(&Shape::Sphere { radius: 0.01 }.into(), Pose::from_translation(middle), Groups::ALL);
    let reached: Vec<_> = reached.expect("a ball").iter().map(|side| world.side_name(*side)).collect();
    assert_eq!(reached, ["jelly"]);
}

/// A box and a jelly slide on the ground, with a friction of 1/4: by a rule, or by their surfaces.
fn sliding(stepper: &str, surfaces: [f64; 2], pairs: &str) -> World {
    let [ground, others] = surfaces;
    let stepping = if stepper.starts_with("Implicit") { "Implicit" } else { "Explicit(substeps: 40)" };
    build(&format!(
        r#"(
      format: 1,
      stepper: {stepper},
      bodies: [(name: "box", pose: (position: (0, 0, 0.1)), velocity: (linear: (1, 0, 0)), shapes: [Box(size: (0.2, 0.2, 0.2))])],
      flesh: [(
        name: "jelly",
        mesh: Beam(size: (0.2, 0.2, 0.1), cells: (2, 2, 1)),
        pose: (position: (0, 1, 0)),
        velocity: (1, 0, 0),
        stepping: {stepping},
        material: StVenantKirchhoff(young: 1e5, poisson: 0.3),
        contact: (friction: {others}),
      )],
      colliders: [
        (name: "ground", shape: Solid(Box(at: (position: (0, 0, -1)), size: (9, 9, 2))), contact: (friction: {ground})),
        (body: "box", shape: OfBody, contact: (friction: {others})),
      ],
      pairs: [{pairs}],
    )"#
    ))
}

#[test]
fn a_rule_has_the_bits_of_surfaces_with_the_same_friction() {
    for stepper in ["Implicit()", "Explicit()", "Reduced()"] {
        let rules = r#"(a: "ground", b: "box", friction: 0.25), (a: "jelly", b: "ground", friction: 0.25)"#;
        let mut ruled = sliding(stepper, [0.5, 0.5], rules);
        let mut surfaces = sliding(stepper, [1.0, 0.0625], "");
        let mut other = sliding(stepper, [0.5, 0.5], "");
        for _ in 0..40 {
            for world in [&mut ruled, &mut surfaces, &mut other] {
                world.step();
            }
        }
        assert_eq!(ruled.digest(), surfaces.digest(), "{stepper}");
        assert_ne!(ruled.digest(), other.digest(), "{stepper}");
    }
}
