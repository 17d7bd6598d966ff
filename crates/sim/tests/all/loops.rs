//! Scenes with closed loops become models with the right split, settings and start.

use sinew_sim::{DVec3, SceneDoc, World};

use crate::common::{run, small, world};

/// A four-bar linkage: crank, coupler and rocker in the plane of x and z, and the ground between (0, 0, 0) and (2, 0, 0).
const FOUR_BAR: &str = r#"
    bodies: [
      (name: "crank", pose: (position: (0, 0, 0.5), rotation: Vector(0, -1.5707963267948966, 0)),
       shapes: [Capsule(radius: 0.02, length: 1)]),
      (name: "coupler", pose: (position: (1, 0, 1)), shapes: [Capsule(radius: 0.02, length: 2)]),
      (name: "rocker", pose: (position: (2, 0, 0.5), rotation: Vector(0, -1.5707963267948966, 0)),
       shapes: [Capsule(radius: 0.02, length: 1)]),
    ],
    joints: [
      (name: "base", child: "crank", frames: World(axis: (0, 1, 0))),
      (name: "knee", kind: Ball, child: "coupler", parent: "crank", frames: World(anchor: (0, 0, 1))),
      (name: "elbow", child: "rocker", parent: "coupler", frames: World(anchor: (2, 0, 1), axis: (0, 1, 0))),
      (name: "pivot", kind: PointOnLine, child: "rocker", frames: World(anchor: (2, 0, 0), axis: (0, 1, 0))),
    ],"#;

fn position(world: &World, body: &str) -> DVec3 {
    world.pose(world.body(body).expect("a body of the scene")).translation
}

#[test]
fn ladders_and_meshes_split_into_tree_and_loops_as_in_the_paper() {
    for (generator, rows) in [
        ("Ladder(p: 12, r: 1)", (75, 3)),
        ("Ladder(p: 12, r: 4)", (300, 12)),
        ("Ladder(p: 1, r: 48)", (432, 144)),
        ("Ladder(p: 1, r: 96)", (864, 288)),
        ("Ladder(p: 6, r: 96)", (3744, 288)),
        ("Ladder(p: 6, r: 96, open: true)", (3744, 288)),
        ("Mesh(n: 5)", (165, 96)),
        ("Mesh(n: 11)", (957, 600)),
    ] {
        let world = small(&format!("generators: [{generator}]"));
        assert_eq!(world.mechanism().n_rows(), rows, "{generator}");
        let full = small(&format!("generators: [{generator}], loops: (solver: FullIterative)"));
        assert_eq!(full.mechanism().n_rows(), (0, rows.0 + rows.1), "{generator}");
    }
}

#[test]
fn every_loop_solver_gives_the_same_motion() {
    // With every joint a loop row, the geometric stiffness of the steps differs a little.
    let mut wanted = None;
    for (loops, tolerance) in [
        ("solver: StructuredIterative", 0.0),
        ("solver: StructuredDense", 1e-9),
        ("method: ConjugateGradient", 1e-9),
        ("method: BiConjugateGradient, precondition: false, warm_start: false", 1e-9),
        ("solver: FullDense", 1e-5),
        ("solver: FullIterative, iterations: 2000", 1e-5),
    ] {
        let mut world = small(&format!("{FOUR_BAR} gravity: (3, 0, -9.81), dt: 0.01, loops: ({loops})"));
        run(&mut world, 50);
        let at = position(&world, "coupler");
        assert!(world.violation().position < 1e-3, "{loops}: {:?}", world.violation());
        assert!(at.x > 1.2, "it moves");
        let wanted = *wanted.get_or_insert(at);
        assert!((at - wanted).length() <= tolerance, "{loops}: {at} is not {wanted}");
    }
}

#[test]
fn loops_without_iterations_stay_open() {
    let mut world = small(&format!("{FOUR_BAR} dt: 0.01, loops: (iterations: 0)"));
    for _ in 0..50 {
        assert!(world.step().health.non_finite.is_none());
    }
    assert!(world.violation().position > 0.1, "{:?}", world.violation());
}

#[test]
fn scattered_scenes_begin_assembled() {
    let mut world = small("generators: [Mesh(n: 5, scatter: 0.2)], assemble: true, gravity: (0, 0, 0)");
    let report = world.info().assembly.expect("it was asked for");
    assert!(world.violation().position < 1e-8, "{report:?} {:?}", world.violation());
    let start = world.digest();
    run(&mut world, 3);
    assert_ne!(world.digest(), start);
    world.reset();
    assert_eq!(world.digest(), start);

    let apart = small("generators: [Mesh(n: 5, scatter: 0.2)]");
    assert!(apart.info().assembly.is_none() && apart.violation().position > 0.1);
}

#[test]
fn stabilization_keeps_loops_closed() {
    for stepper in ["Implicit()", "Implicit(order: 2)", "Explicit()"] {
        let mut world = small(&format!("{FOUR_BAR} dt: 0.01, stepper: {stepper}, stabilize: ()"));
        run(&mut world, 100);
        assert!(world.violation().position < 1e-8, "{stepper}: {:?}", world.violation());
    }
}

#[test]
fn a_taut_ladder_is_closed_by_few_solves() {
    let mut world = world("ladder_6_96");
    run(&mut world, 20);
    let mut solves = 0;
    for _ in 0..20 {
        solves += world.step().mechanism.iterations;
        assert!(world.violation().position < 1e-8, "{:?}", world.violation());
    }
    assert!(solves <= 30, "{solves} solves in 20 steps");
    // It swings in its plane, and no bar begins to spin.
    let spin =
        world.state().bodies.motions.iter().map(|motion| motion.angular.z.abs() + motion.angular.x.abs());
    let spin = spin.fold(0.0, f64::max);
    assert!(spin < 1e-9, "{spin:e} rad/s");
}

#[test]
fn the_displacement_stepper_swings_a_ladder() {
    for settings in ["", "jacobian: Predicted, rotation: Plain", "rotation: Exponential"] {
        let mut world = small(&format!(
            "generators: [Ladder(p: 2, r: 3, pose: Swing)], dt: 0.01, stepper: Displacement({settings})"
        ));
        run(&mut world, 50);
        assert!(world.violation().position < 1e-9, "{settings}: {:?}", world.violation());
        assert!(position(&world, "ladder_0006").z < -3.0, "{settings}");
    }
}

#[test]
fn a_hold_is_met_where_the_skeleton_can_reach() {
    let mut world = small(
        r#"dt: 0.01,
        generators: [Chain(n: 3, spacing: 0.5, link: (shapes: [Capsule(radius: 0.02, length: 0.5)]),
          joint: (kind: Ball, damping: 0.05))],
        tracks: [(name: "hand", curve: Points([(0, (1.5, 0, 0)), (1, (1, 0.2, 0.3))]))],
        inputs: [Grab(body: "link_0003", point: (0.25, 0, 0), track: "hand", stiffness: inf)]"#,
    );
    run(&mut world, 150);
    let hand = world.pose(world.body("link_0003").expect("there")).transform_point(DVec3::X * 0.25);
    assert!((hand - DVec3::new(1.0, 0.2, 0.3)).length() < 1e-3, "{hand}");
}

#[test]
fn springs_tie_any_two_bodies() {
    // Two free balls of 1 kg on a spring of 100 N/m: half the period is π √(0.5/100) s.
    let mut world = small(
        r#"gravity: (0, 0, 0), dt: 0.0005, stepper: Implicit(order: 2),
        bodies: [
          (name: "a", shapes: [Sphere(radius: 0.1)], mass: Total(1)),
          (name: "b", pose: (position: (1.2, 0, 0)), shapes: [Sphere(radius: 0.1)], mass: Total(1)),
        ],
        springs: [(name: "tie", from: Body(name: "a"), to: Body(name: "b"), stiffness: 100, rest_length: 1)]"#,
    );
    let half = std::f64::consts::PI * 0.005_f64.sqrt();
    run(&mut world, (half / 0.0005).round() as u64);
    let apart = position(&world, "b").x - position(&world, "a").x;
    assert!((apart - 0.8).abs() < 1e-3, "{apart}");
}

#[test]
fn heavier_loop_joints_open_less() {
    // A ball that two joints want at places 1 m apart.
    let gaps = |weights: [f64; 2]| {
        let [left, right] = weights;
        let mut world = small(&format!(
            r#"gravity: (0, 0, 0), dt: 0.01, bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)])],
            joints: [
              (name: "left", kind: Ball, child: "ball", priority: Secondary, weight: {left},
               frames: Local(parent: (anchor: (-0.5, 0, 0)))),
              (name: "right", kind: Ball, child: "ball", priority: Secondary, weight: {right},
               frames: Local(parent: (anchor: (0.5, 0, 0)))),
            ]"#
        ));
        for _ in 0..20 {
            assert!(world.step().health.non_finite.is_none());
        }
        position(&world, "ball").x
    };
    assert!(gaps([1.0, 1.0]).abs() < 1e-6);
    assert!(gaps([1.0, 9.0]) > 0.1 && gaps([9.0, 1.0]) < -0.1);
}

#[test]
fn settings_of_loops_arrive() {
    let text = r#"(format: 1, name: "set", stepper: Displacement(tolerance: 1e-7, iterations: 3),
        loops: (precision: 1e-4, iterations: 17, restarts: 1, precondition: false, warm_start: false),
        stabilize: (tolerance: 1e-6, iterations: 2, velocities: false))"#;
    let scene = SceneDoc::from_ron(text, "set.ron").unwrap_or_else(|errors| panic!("{errors}"));
    let world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    let loops = world.settings().loops;
    assert_eq!((loops.solve.iterations, loops.solve.restarts), (17, 1));
    assert!(!loops.solve.precondition && !loops.warm_start && (loops.solve.precision - 1e-4).abs() < 1e-18);
    let stabilize = world.settings().stabilize.expect("asked for");
    assert!(stabilize.iterations == 2 && !stabilize.velocities && (stabilize.tolerance - 1e-6).abs() < 1e-18);
    let sinew_sim::Scheme::Displacement(scheme) = world.settings().scheme else { panic!("another stepper") };
    assert!(scheme.iterations == 3 && (scheme.tolerance - 1e-7).abs() < 1e-18);
}

#[test]
fn a_joint_that_holds_for_a_time_is_recorded_with_the_inputs() {
    let scene = |window: &str| {
        small(&format!(
            r#"
            dt: 0.01, stabilize: (),
            bodies: [(name: "hand", kind: Kinematic, pose: (position: (0.3, 0.1, -0.2)))],
            generators: [Chain(n: 3, link: (shapes: [Capsule(radius: 0.02, length: 0.2)]), joint: (kind: Ball))],
            joints: [(name: "hold", kind: Ball, child: "link_0003", parent: "hand", priority: Secondary, {window}
              frames: Local(child: (anchor: (0.1, 0, 0)), parent: ()))],
            tracks: [(name: "way", curve: Points([(0, (0.3, 0.1, -0.2)), (1, (0.2, -0.2, -0.3))]))],
            inputs: [Kinematic(body: "hand", track: "way")],
            "#
        ))
    };
    let mut world = scene("from_s: 0.2, to_s: 0.5,");
    let hold = world.mechanism().joint("hold").expect("a joint of the scene");
    let mut recording = sinew_sim::Recording::new(&world, 7);
    let mut digests = Vec::new();
    for step in 1..=80 {
        let report = recording.step(&mut world);
        let is_on = (21..=50).contains(&step);
        assert_eq!(world.input().released.is_empty(), is_on, "step {step}");
        assert_eq!(report.health.ignored_inputs, 0);
        let (a, b) = world.mechanism().joint_anchors(&world.state().bodies, hold);
        let gap = a.distance(b);
        // An open joint closes a part of its reach in a step.
        assert!(gap < 1e-8 || !is_on || step < 25, "step {step}: {gap:e}");
        assert!(gap > 0.01 || is_on || (51..60).contains(&step), "step {step}: {gap:e}");
        digests.push(world.digest());
    }
    for n in [20, 21, 34, 50, 51, 80] {
        let state = recording.state_after(n).expect("recorded");
        world.restore(&state).expect("a state of this world");
        assert_eq!(world.digest(), digests[n - 1], "after step {n}");
    }
    // A joint that never holds is as good as none.
    let mut never = scene("from_s: 9,");
    run(&mut never, 20);
    assert!(never.violation().position < 1e-8);
}
