//! Settings that change on the way: the same bits as by hand, from every step on, and times that are those of the world.

use glam::DVec3;
use sinew_scene::{
    ChangeDoc, DisplacementDoc, ExplicitDoc, ImplicitDoc, LoopSolverDoc, ReducedDoc, SamplesDoc, StepperDoc,
};
use sinew_sim::{SceneDoc, World};

use crate::common::scene;

/// A chain with springs, and one of everything that a change can say about it.
fn chain() -> (SceneDoc, Vec<ChangeDoc>) {
    let text = "(format: 1, name: \"chain\", duration_s: 1, generators: [Chain(n: 5,
        link: (shapes: [Capsule(radius: 0.02, length: 0.2)]),
        joint: (kind: Hinge, damping: 0.001, spring: (stiffness: 1, damping: 0.02)))])";
    let at_s = 0.4;
    let plain = || ChangeDoc { at_s, ..ChangeDoc::default() };
    let stepper = |stepper| ChangeDoc { stepper: Some(stepper), ..plain() };
    let changes = vec![
        ChangeDoc { gravity: Some(DVec3::new(1.0, 2.0, 3.0)), ..plain() },
        ChangeDoc { dt: Some(0.031), ..plain() },
        ChangeDoc { dt: Some(0.004), ..plain() },
        stepper(StepperDoc::Implicit(ImplicitDoc { order: 2, ..ImplicitDoc::default() })),
        stepper(StepperDoc::Explicit(ExplicitDoc::default())),
        stepper(StepperDoc::Displacement(DisplacementDoc::default())),
        stepper(StepperDoc::Reduced(ReducedDoc::default())),
        ChangeDoc { joint_stiffness: Some(7.0), ..plain() },
        ChangeDoc { joint_damping: Some(0.0), ..plain() },
        ChangeDoc { joint_stiffness: Some(3.0), gravity: Some(DVec3::X), dt: Some(0.01), ..plain() },
    ];
    (SceneDoc::from_ron(text, "chain.ron").expect("a good scene"), changes)
}

/// A number of steps. The twists that implicit steps leave lead explicit ones off the joints, which is reported.
fn run(world: &mut World, n_steps: u64) {
    for _ in 0..n_steps {
        let mut health = world.step().health;
        health.open_joint = None;
        assert!(health.is_good(), "{health:?}");
    }
}

fn built(scene: &SceneDoc) -> World {
    World::from_scene(scene).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_change_acts_as_another_scene_that_takes_over_the_state() {
    let worm = scene("worm");
    // loops that are solved directly take one iteration
    let mut loops = scene("four_bar");
    loops.loops.solver = LoopSolverDoc::StructuredIterative;
    let soft = |change| (worm.clone(), ChangeDoc { at_s: 0.4, ..change });
    let mut cases = vec![
        soft(ChangeDoc { flesh_stiffness: Some(0.25), ..ChangeDoc::default() }),
        soft(ChangeDoc { friction: Some(0.1), ..ChangeDoc::default() }),
        soft(ChangeDoc { contact_stiffness: Some(0.2), ..ChangeDoc::default() }),
        soft(ChangeDoc { contact_damping: Some(0.0), ..ChangeDoc::default() }),
        (loops, ChangeDoc { at_s: 0.4, loop_iterations: Some(1), ..ChangeDoc::default() }),
    ];
    let (plain, changes) = chain();
    cases.extend(changes.into_iter().map(|change| (plain.clone(), change)));
    for (plain, change) in cases {
        let changed = SceneDoc { changes: vec![change.clone()], ..plain.clone() };
        let mut by_hand = built(&plain);
        let n = (change.at_s / plain.dt).round() as u64;
        run(&mut by_hand, n);
        let mut other = built(&changed.after_changes(1));
        other.restore(by_hand.state()).expect("the same bodies");
        run(&mut other, 20);
        let mut world = built(&changed);
        run(&mut world, n + 20);
        assert_eq!(world.digest(), other.digest(), "{change:?}");
        run(&mut by_hand, 20);
        assert_ne!(world.digest(), by_hand.digest(), "{change:?} changes nothing");
    }
}

#[test]
fn any_step_can_be_restored_across_changes() {
    let (plain, changes) = chain();
    let at = |i: usize, change: &ChangeDoc| ChangeDoc { at_s: 0.05 + 0.1 * i as f64, ..change.clone() };
    let changes = changes.iter().enumerate().map(|(i, change)| at(i, change)).collect();
    let scene = SceneDoc { changes, ..plain };
    let mut world = built(&scene);
    let n = world.info().n_steps;
    let mut states = vec![world.checkpoint()];
    for index in 1..=n {
        let report = world.step();
        assert_eq!(report.index, index, "{}", report.time);
        assert!((world.time() - world.info().steps.time_after(index)).abs() < 1e-12);
        states.push(world.checkpoint());
    }
    assert!(world.time() >= scene.duration_s && world.time() < scene.duration_s + world.settings().dt);
    for from in (0..n as usize).rev().step_by(3) {
        world.restore(&states[from]).expect("its own state");
        run(&mut world, 7.min(n - from as u64));
        let wanted = &states[(from + 7).min(n as usize)];
        assert_eq!(world.digest(), sinew_sim::digest(wanted), "{from}");
    }
    world.reset();
    assert_eq!(world.settings().dt.to_bits(), scene.dt.to_bits());
}

#[test]
fn changes_may_be_added_while_a_world_runs() {
    let (plain, changes) = chain();
    let mut world = built(&plain);
    let mut scene = plain.clone();
    for change in changes {
        run(&mut world, 5);
        scene.changes.push(ChangeDoc { at_s: world.time(), ..change });
        world = world.with_changes(&scene).expect("a good change");
        // It is in force at once.
        let said = world.values_in_force().expect("a scene");
        assert!(scene.changes.last().expect("one").beyond(said).is_empty());
    }
    run(&mut world, 5);
    let mut again = built(&scene);
    run(&mut again, 55);
    assert_eq!(again.digest(), world.digest());
    // At the beginning nothing is shared, and it is as if it were written so.
    scene.changes = vec![ChangeDoc { joint_stiffness: Some(2.0), ..ChangeDoc::default() }];
    let mut early = world.with_changes(&scene).expect("a good change");
    let mut written = built(&scene.after_changes(1));
    early.reset();
    assert_eq!(early.digest(), written.digest());
    run(&mut early, 10);
    run(&mut written, 10);
    assert_eq!(early.digest(), written.digest());
}

#[test]
fn a_past_that_is_no_longer_the_past_is_forgotten() {
    let (plain, _) = chain();
    let order = |at_s: f64, order| ChangeDoc {
        at_s,
        stepper: Some(StepperDoc::Implicit(ImplicitDoc { order, ..ImplicitDoc::default() })),
        ..ChangeDoc::default()
    };
    let changes = vec![order(0.0, 2), order(0.2, 1), order(0.4, 2)];
    let mut world = built(&SceneDoc { changes, ..plain });
    run(&mut world, 24);
    assert!(world.state().bodies.history.step <= 0.0);
    run(&mut world, 1);
    assert!(world.state().bodies.history.step > 0.0);
}

#[test]
fn samples_of_uneven_steps_are_where_their_times_are() {
    let (plain, _) = chain();
    let changes = vec![ChangeDoc { at_s: 0.5, dt: Some(0.05), ..ChangeDoc::default() }];
    let scene = SceneDoc { dt: 0.01, changes, samples: SamplesDoc::Count(4), ..plain };
    assert_eq!(built(&scene).info().samples, [25, 50, 55, 60]);
    let times = SamplesDoc::Times(vec![0.101, 0.5, 0.6, 9.0]);
    assert_eq!(built(&SceneDoc { samples: times, ..scene }).info().samples, [11, 50, 52, 60]);
}

/// A box sinks in by its weight over the stiffness of its four contacts, which harden a little, in each second twice as deep as in the one before.
#[test]
fn contacts_give_as_they_are_changed_to() {
    for firmness in ["Auto", "Scaled(stiffness: 0.5, damping: 1)", "Given(stiffness: 2e5, damping: 1e6)"] {
        let text = format!(
            r#"(format: 1, dt: 0.005, gravity: (0, 0, -9.81),
            bodies: [(name: "box", mass: Total(2), shapes: [Box(size: (0.3, 0.2, 0.1))], pose: (position: (0, 0, 0.05)))],
            colliders: [
                (shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),
                (body: "box", shape: OfBody, contact: (firmness: {firmness})),
            ],
            changes: [(at_s: 1, contact_stiffness: 0.5), (at_s: 2, contact_stiffness: 0.25, contact_damping: 0.5)])"#
        );
        let scene = SceneDoc::from_ron(&text, "box.ron").unwrap_or_else(|errors| panic!("{errors}"));
        let mut world = built(&scene);
        let mut depth = || {
            run(&mut world, 200);
            0.05 - world.state().bodies.poses[0].translation.z
        };
        let depths = [depth(), depth(), depth()];
        // By itself it sinks 0.1 mm on one contact.
        let (first, hardening) = match firmness {
            "Auto" => (1e-4 / 4.0, 3e-4),
            "Given(stiffness: 2e5, damping: 1e6)" => (2.0 * 9.81 / 2e5 / 4.0, f64::INFINITY),
            _ => (2e-4 / 4.0, 6e-4),
        };
        // d (1 + d²/s²) = what it would be without hardening.
        let hardened = (0..50).fold(first, |d: f64, _| first / (1.0 + (d / hardening).powi(2)));
        for (i, depth) in depths.into_iter().enumerate() {
            let wanted = hardened * f64::from(1 << i);
            assert!(
                (depth - wanted).abs() < 1e-3 * wanted,
                "{firmness}, second {i}: {depth:e} for {wanted:e}"
            );
        }
    }
}

#[test]
fn gravity_is_what_it_was_changed_to() {
    let text = "(format: 1, name: \"ball\", dt: 0.01, gravity: (0, 0, -10), duration_s: 2,
        bodies: [(name: \"ball\", shapes: [Sphere(radius: 0.1)])],
        changes: [(at_s: 0.5, gravity: (0, 0, 0)), (at_s: 1, gravity: (4, 0, 0), dt: 0.005)])";
    let mut world = built(&SceneDoc::from_ron(text, "ball.ron").expect("a good scene"));
    let n = world.info().n_steps;
    assert_eq!(n, 100 + 200);
    run(&mut world, n);
    let found = world.state().bodies.motions[0].linear;
    assert!(found.distance(DVec3::new(4.0, 0.0, -5.0)) < 1e-12, "{found}");
    assert!((world.time() - 2.0).abs() < 1e-12);
}
