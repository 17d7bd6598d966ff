//! Contacts as they are told: forces that carry what rests, and that change momentum.

use glam::DVec3;
use sinew_sim::{ContactPartner, SceneDoc, World};

/// A box of 2 kg above the ground, stepped as said.
fn boxed(stepper: &str, dt: f64, velocity: &str) -> World {
    let text = format!(
        r#"(format: 1, dt: {dt}, stepper: {stepper}, duration_s: 3,
        bodies: [(name: "box", mass: Total(2), shapes: [Box(size: (0.3, 0.2, 0.1))],
            pose: (position: (0, 0, 0.05)), velocity: (linear: {velocity}))],
        colliders: [
            (shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),
            (body: "box", shape: OfBody),
        ])"#
    );
    World::from_scene(&SceneDoc::from_ron(&text, "box.ron").expect("a scene")).expect("a world")
}

fn carried(world: &World) -> DVec3 {
    world.contacts().map(|contact| contact.force).sum()
}

#[test]
fn what_rests_is_carried() {
    let weight = DVec3::Z * (2.0 * 9.81);
    for (stepper, dt) in [
        ("Implicit(order: 1)", 1.0 / 60.0),
        ("Implicit(order: 2)", 1.0 / 60.0),
        ("Explicit()", 2.5e-4),
        ("Reduced()", 2.5e-4),
    ] {
        let mut world = boxed(stepper, dt, "(0, 0, 0)");
        assert_eq!(world.contacts().count(), 0, "before the first step");
        let mut depth = 0.0;
        for _ in 0..(3.0 / dt) as usize {
            depth = world.step().flesh.contacts.depth;
        }
        let off = (carried(&world) - weight).length();
        assert!(off < 1e-3 * weight.z, "{stepper}: {}", carried(&world));
        assert!(depth > 1e-6 && depth < 5e-3, "{stepper}: {depth}");
        assert_eq!(world.contacts().count(), 4, "{stepper}");
        let body = world.body("box").expect("a box");
        for contact in world.contacts() {
            assert_eq!(
                (contact.on, contact.by, contact.normal),
                (ContactPartner::Body(body), None, DVec3::Z)
            );
            assert!(contact.depth > 0.0 && contact.depth <= depth && contact.point.z.abs() < 5e-3);
        }
        let state = world.checkpoint();
        world.restore(&state).expect("the same scene");
        assert_eq!(world.contacts().count(), 0, "{stepper}: what led here is not known");
        world.step();
        assert_eq!(world.contacts().count(), 4, "{stepper}");
    }
}

#[test]
fn bodies_that_forces_do_not_move_carry_what_rests_on_them() {
    for kind in ["Fixed", "Kinematic"] {
        let text = format!(
            r#"(format: 1, bodies: [
                (name: "post", kind: {kind}, shapes: [Box(size: (1, 1, 1))]),
                (name: "other", kind: {kind}, pose: (position: (0.4, 0, 0)), shapes: [Box(size: (1, 1, 1))]),
                (name: "box", mass: Total(2), pose: (position: (-0.2, 0, 0.55)), shapes: [Box(size: (0.3, 0.2, 0.1))]),
            ],
            colliders: [
                (shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),
                (body: "post", shape: OfBody), (body: "other", shape: OfBody), (body: "box", shape: OfBody),
            ])"#
        );
        let scene = SceneDoc::from_ron(&text, "post.ron").expect("a scene");
        let mut world = World::from_scene(&scene).expect("firmness is that of the box");
        let mut depth = 0.0;
        for _ in 0..180 {
            depth = world.step().flesh.contacts.depth;
        }
        let weight = DVec3::Z * (2.0 * 9.81);
        assert!((carried(&world).z.abs() - weight.z).abs() < 1e-2 * weight.z, "{kind}: {}", carried(&world));
        assert!(depth > 1e-6 && depth < 5e-3, "{kind}: posts do not touch each other or the ground: {depth}");
    }
}

#[test]
fn forces_are_what_changes_momentum() {
    let mut world = boxed("Implicit(order: 1)", 1.0 / 60.0, "(1.5, 0.4, -2)");
    let (mut most, mut slides) = (0.0f64, 0);
    for _ in 0..60 {
        let before = world.momentum().linear;
        slides += world.step().flesh.contacts.n_slip;
        let change = (world.momentum().linear - before) * 60.0;
        let force = carried(&world) + world.settings().gravity * 2.0;
        assert!((change - force).length() < 1e-8 * (1.0 + force.length()), "{change} {force}");
        most = most.max(carried(&world).length());
    }
    assert!(most > 100.0 && slides > 0, "it hit the ground with {most} N and slid {slides} times");
}

#[test]
fn flesh_is_carried_point_by_point() {
    for stepping in ["stiffness_damping_s: 0.01,", "bone_damping: 5.0, stepping: Explicit(substeps: 0),"] {
        let text = format!(
            r#"(format: 1, dt: 0.005, duration_s: 2,
            flesh: [(name: "jelly", mesh: Beam(size: (0.2, 0.2, 0.2), cells: (2, 2, 2)),
                material: NeoHookean(young: 2e4, poisson: 0.4), {stepping}
                contact: ())],
            colliders: [(shape: Plane(point: (0, 0, -0.101), normal: (0, 0, 1)))])"#
        );
        let scene = SceneDoc::from_ron(&text, "jelly.ron").expect("a scene");
        let mut world = World::from_scene(&scene).expect("a world");
        let mut report = Default::default();
        for _ in 0..400 {
            report = world.step().flesh.contacts;
        }
        let flesh = world.model().flesh().expect("flesh");
        let weight = 9.81 * flesh.bodies()[0].fem().masses().iter().sum::<f64>();
        assert!((carried(&world) - DVec3::Z * weight).length() < 0.01 * weight, "{}", carried(&world));
        assert_eq!(world.contacts().count(), report.n_stick + report.n_slip, "{report:?}");
        let mut surface = Vec::new();
        flesh.bodies()[0].fill_surface(&world.state().flesh.nodes[0].positions, &mut surface);
        for contact in world.contacts() {
            let ContactPartner::Flesh { flesh: 0, point: Some(point) } = contact.on else {
                panic!("{contact:?}")
            };
            assert!(contact.point.distance(surface[point]) < 1e-3 && contact.force.z > 0.0);
        }
    }
}
