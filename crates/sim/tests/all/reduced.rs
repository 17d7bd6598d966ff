//! Steps in joint coordinates: the same physics as in maximal coordinates, under control of a score.

use glam::DVec3;
use sinew_math::Force;
use sinew_scene::{LimitsDoc, MotorDoc, PositionMotorDoc, TargetDoc};
use sinew_sim::{BodyId, DriveCoordinate, Grab, Input, SceneDoc, World};

use crate::common::{fixtures, run};

/// A tree of three links with a spring, a stop and a ball.
fn scene(stepper: &str, dt: f64, stiffness: f64) -> SceneDoc {
    let text = format!(
        r#"(
  format: 1, name: "tree", dt: {dt:?}, duration_s: 1, stepper: {stepper},
  bodies: [
    (name: "a", pose: (position: (0.25, 0, 0)), shapes: [Box(size: (0.5, 0.1, 0.1))]),
    (name: "b", pose: (position: (0.75, 0, 0)), shapes: [Box(size: (0.5, 0.06, 0.1))]),
    (name: "c", pose: (position: (0.5, 0.25, 0)), shapes: [Box(size: (0.1, 0.5, 0.08))], linear_damping: 0.3),
  ],
  joints: [
    (name: "root", kind: Hinge, child: "a", frames: World(axis: (0, 1, 0.2)), armature: 0.05, friction: 0.1),
    (name: "knee", kind: Hinge, child: "b", parent: "a", frames: World(anchor: (0.5, 0, 0), axis: (0, 1, 0)),
     spring: (stiffness: {stiffness:?}, damping: 0.5, rest: 0.2), limits: (min: -0.3, max: 0.5, stiffness: 200, damping: 1)),
    (name: "arm", kind: Ball, child: "c", parent: "a", frames: World(anchor: (0.5, 0, 0)),
     spring: (stiffness: 4, damping: 0.1)),
  ],
  springs: [(name: "band", from: World(1, 0, 1), to: Body(name: "b", point: (0.25, 0, 0)), stiffness: 20, damping: 0.5)],
  inputs: [Grab(body: "c", point: (0, 0.25, 0), track: "hand", stiffness: 15, damping: 0.2)],
  tracks: [(name: "hand", curve: Points([(0, (0.5, 0.5, 0)), (1, (0.6, 0.5, 0.3))]))],
)"#
    );
    SceneDoc::from_ron(&text, "tree.ron").expect("a scene")
}

fn tip(world: &World) -> DVec3 {
    world.pose(world.body("b").expect("a body")).transform_point(DVec3::new(0.25, 0.0, 0.0))
        + world.pose(world.body("c").expect("a body")).transform_point(DVec3::new(0.0, 0.25, 0.0))
}

#[test]
fn all_forces_are_those_of_maximal_coordinates() {
    let end = |stepper: &str, dt: f64| {
        let mut world = World::from_scene(&scene(stepper, dt, 30.0)).expect("a scene");
        run(&mut world, (0.5 / dt).round() as u64);
        assert!(world.violation().position < 1e-9, "{stepper}: {:?}", world.violation());
        tip(&world)
    };
    let reference = end("Explicit(method: Rk4)", 1e-4);
    // Of fourth order but for the corner of a stop, and with the same inputs in every step.
    let error = end("Reduced(method: Rk4)", 1e-3).distance(end("Explicit(method: Rk4)", 1e-3));
    assert!(error < 1e-8, "Rk4: {error:e}");
    // First order: half the step, half the error.
    for stepper in ["Reduced()", "Reduced(method: Implicit)"] {
        let errors = [1e-3, 5e-4, 2.5e-4].map(|dt| end(stepper, dt).distance(reference));
        assert!(errors[0] < 5e-3, "{stepper}: {errors:?}");
        for pair in errors.windows(2) {
            let ratio = pair[0] / pair[1];
            assert!((1.7..2.4).contains(&ratio), "{stepper}: {errors:?}");
        }
    }
}

#[test]
fn twist_forces_of_a_ball_are_those_of_maximal_coordinates() {
    let end = |stepper: &str, dt: f64| {
        let mut doc = scene(stepper, dt, 30.0);
        let arm = doc.joints.iter_mut().find(|joint| joint.name == "arm").expect("a joint");
        arm.limits = Some(LimitsDoc { min: -0.1, max: 0.2, stiffness: 20.0, damping: 0.1, ramp: 0.0 });
        let motor = PositionMotorDoc {
            target: TargetDoc::Value(0.5),
            stiffness: 3.0,
            damping: 0.2,
            max_force: Some(0.8),
            ..PositionMotorDoc::default()
        };
        arm.motor = Some(MotorDoc::Position(motor));
        let mut world = World::from_scene(&doc).expect("a scene");
        run(&mut world, (0.5 / dt).round() as u64);
        let twist = world.reading(world.joint("arm").expect("a joint")).twist;
        assert!(twist > 0.2, "{stepper}: beyond its limit at {twist}");
        (tip(&world), twist)
    };
    let (reference, twist) = end("Explicit(method: Rk4)", 1e-4);
    let error = end("Reduced(method: Rk4)", 1e-3).0.distance(end("Explicit(method: Rk4)", 1e-3).0);
    assert!(error < 1e-8, "Rk4: {error:e}");
    for stepper in ["Reduced()", "Reduced(method: Implicit)", "Implicit()"] {
        let errors = [1e-3, 5e-4]
            .map(|dt| end(stepper, dt))
            .map(|(tip, turn)| tip.distance(reference) + (turn - twist).abs());
        assert!(errors[0] < 1e-2 && (1.7..2.4).contains(&(errors[0] / errors[1])), "{stepper}: {errors:?}");
    }
}

#[test]
fn wrenches_and_accelerations_are_those_of_maximal_coordinates() {
    let end = |stepper: &str| {
        let mut world = World::from_scene(&scene(stepper, 1e-4, 30.0)).expect("a scene");
        assert!(world.workspace().joint_wrenches(world.model()).is_empty());
        world.settings_mut().reactions = true;
        run(&mut world, 3000);
        (world.workspace().joint_wrenches(world.model()), world.workspace().accelerations().to_vec())
    };
    let (wrenches, accelerations) = end("Explicit(method: Rk4)");
    assert!(wrenches.iter().all(|wrench| wrench.linear.length() > 1.0));
    for stepper in ["Implicit()", "Reduced()", "Reduced(method: Implicit)", "Reduced(method: Rk4)"] {
        let (found, moved) = end(stepper);
        assert_eq!((found.len(), moved.len()), (wrenches.len(), accelerations.len()));
        for (a, b) in found.iter().zip(&wrenches) {
            let scale = 0.01 * (b.linear.length() + b.angular.length());
            let off = (a.linear - b.linear).length().max((a.angular - b.angular).length());
            assert!(off < scale, "{stepper}: {a:?} for {b:?}");
        }
        for (a, b) in moved.iter().zip(&accelerations) {
            let off = (a.linear - b.linear).length().max((a.angular - b.angular).length());
            assert!(
                off < 0.02 * (1.0 + b.linear.length() + b.angular.length()),
                "{stepper}: {a:?} for {b:?}"
            );
        }
    }
}

#[test]
fn joints_bear_and_do_what_they_do_in_maximal_coordinates() {
    let end = |stepper: &str, dt: f64| {
        let mut world = World::from_scene(&scene(stepper, dt, 30.0)).expect("a scene");
        run(&mut world, (0.3 / dt).round() as u64);
        let effort = |name, along| world.joint_effort(world.joint(name).expect("a joint"), along);
        let efforts = [effort("knee", Some(DriveCoordinate::Twist)), effort("arm", None)];
        (world.joint_forces(), efforts, world)
    };
    let (forces, efforts, _) = end("Implicit()", 1e-4);
    assert!(forces.iter().all(|force| force.length() > 1.0), "{forces:?}");
    assert!(efforts[0].abs() > 0.1 && efforts[1] > 0.1, "{efforts:?}");
    for stepper in ["Reduced()", "Reduced(method: Implicit)", "Reduced(method: Rk4)"] {
        let (found, torques, mut world) = end(stepper, 1e-4);
        for (a, b) in found.iter().zip(&forces) {
            assert!(a.distance(*b) < 0.01 * b.length(), "{stepper}: {a} for {b}");
        }
        for (a, b) in torques.iter().zip(efforts) {
            assert!((a - b).abs() < 0.01 * b.abs(), "{stepper}: {a} for {b}");
        }
        // What led here is not known after a state was restored, until the next step.
        let state = world.checkpoint();
        world.restore(&state).expect("its own state");
        assert!(world.joint_forces().iter().all(|force| *force == DVec3::ZERO));
        world.step();
        assert!(world.joint_forces().iter().all(|force| force.length() > 1.0));
    }
}

#[test]
fn actuators_are_part_of_what_acts_along_a_joint() {
    let text = r#"(format: 1, name: "arm", gravity: (0, 0, -10), dt: 0.001, stepper: Reduced(),
        bodies: [(name: "arm", mass: Total(2), pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))])],
        joints: [(name: "pivot", kind: Hinge, child: "arm", frames: World(axis: (0, 1, 0)))],
        score: (root: Active, phases: [(control: Keyframes(keys: [(at_s: 0.1, joints: [("pivot", [0])])]))]))"#;
    let scene = SceneDoc::from_ron(text, "arm.ron").unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    run(&mut world, 500);
    let pivot = world.joint("pivot").expect("a joint");
    // It holds 2 kg half a metre away: turning about y lowers what lies along x.
    let torque = world.joint_effort(pivot, Some(DriveCoordinate::Twist));
    assert!((torque + 10.0).abs() < 1e-6, "{torque}");
    let force = world.joint_forces()[0];
    assert!((force - DVec3::Z * 20.0).length() < 1e-6, "{force}");
}

#[test]
fn stiff_joints_do_not_limit_an_implicit_step() {
    let mut world = World::from_scene(&scene("Reduced(method: Implicit)", 1.0 / 60.0, 1e8)).expect("a scene");
    let start = world.energy().total();
    for _ in 0..300 {
        let report = world.step();
        assert!(report.health.is_good(), "{report:?}");
    }
    let knee = world.reading(world.joint("knee").unwrap());
    assert!((knee.twist - 0.2).abs() < 1e-4, "{knee:?}");
    assert!(world.energy().kinetic < start.abs() + 100.0);
    assert!(world.violation().position < 1e-12);
}

/// A worm without flesh: bones that float, guided by a score.
fn guided(style: &str, more: &str) -> SceneDoc {
    performed(
        style,
        r#"(bone: "bone_0006", want: Follow(track: "path", relative: true), stiffness: 100, damping: 20)"#,
        more,
    )
}

fn performed(style: &str, goals: &str, more: &str) -> SceneDoc {
    let text = format!(
        r#"(
  format: 1, name: "guided", gravity: (0, 0, 0), dt: 0.0005, duration_s: 2, stepper: Reduced(),
  generators: [Chain(name: "bone", n: 6, root: Free, link: (shapes: [Box(size: (0.1, 0.02, 0.03))]), joint: (kind: Hinge))],
  tracks: [(name: "path", curve: Points([(0, (0, 0, 0)), (1, (-0.05, 0, 0.1))]))],
  score: (phases: [
    (control: Guide(style: {style}, goals: [{goals}])),
    {more}
  ]),
)"#
    );
    SceneDoc::from_ron(&text, "guided.ron").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_restored_score_goes_on_with_the_same_bits() {
    let more = r#"(from_s: 0.9, control: Keyframes(keys: [(at_s: 0.3, joints: [("bone_0003", [0.4])])])),
        (from_s: 1.4, control: Land())"#;
    for style in ["Acceleration", "Torque", "Velocity"] {
        let scene = guided(style, more);
        let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
        let mut phases = Vec::new();
        let mut saved = Vec::new();
        for step in 0..3600 {
            if step % 720 == 77 {
                saved.push((step, world.checkpoint()));
            }
            let report = world.step();
            assert!(report.health.is_good(), "{style}: {report:?}");
            if phases.last() != Some(&report.effort.phase) {
                phases.push(report.effort.phase);
            }
        }
        assert_eq!(phases, [Some(0), Some(1), Some(2)], "{style}");
        let wanted = world.digest();
        for (step, state) in saved {
            let mut other = World::from_scene(&scene).expect("the same scene");
            other.restore(&state).expect("its own state");
            run(&mut other, 3600 - step);
            assert_eq!(other.digest(), wanted, "{style}, from step {step}");
        }
    }
}

#[test]
fn a_landing_may_be_as_stiff_as_it_likes() {
    let scene = guided("Acceleration", "(from_s: 0.5, control: Land(stiffness: 500, damping: 20))");
    let mut world = World::from_scene(&scene).expect("a scene");
    run(&mut world, 1000);
    let bend = |world: &World| {
        let joints = (2..=6).map(|k| world.joint(&format!("bone_{k:04}")).expect("a joint of the chain"));
        joints.map(|joint| world.reading(joint).twist.abs()).sum::<f64>()
    };
    let guided = bend(&world);
    assert!(guided > 0.1, "{guided}");
    run(&mut world, 1000);
    assert!(bend(&world) < 0.05 * guided, "{} of {guided}", bend(&world));
}

#[test]
fn momentum_of_a_floating_character_is_nobody_s_to_command() {
    for style in ["Acceleration", "Torque", "Velocity"] {
        let mut world = World::from_scene(&guided(style, "")).expect("a scene");
        let before = world.momentum();
        run(&mut world, 2000);
        let after = world.momentum();
        // What is left is the order of the step: half a millisecond.
        let drift = (after.linear - before.linear).length();
        assert!(drift < 5e-3, "{style}: {drift}");
    }
}

#[test]
fn momentum_is_kept_far_from_the_origin() {
    for method in ["SymplecticEuler", "Rk4", "Implicit"] {
        let text = format!(
            r#"(
  format: 1, name: "far", gravity: (0, 0, 0), dt: 0.002, duration_s: 1, stepper: Reduced(method: {method}),
  bodies: [
    (name: "a", pose: (position: (3000, 0, 1000)), shapes: [Box(size: (0.5, 0.1, 0.1))],
     velocity: (angular: (3, 1, 2), linear: (5, -20, 30))),
    (name: "b", pose: (position: (3000.5, 0, 1000)), shapes: [Box(size: (0.5, 0.06, 0.1))],
     velocity: (angular: (-2, 4, 1), linear: (5, -20, 30))),
  ],
  joints: [(name: "knee", kind: Ball, child: "b", parent: "a", frames: World(anchor: (3000.25, 0, 1000)),
    spring: (stiffness: 4, damping: 0.1))],
)"#
        );
        let doc = SceneDoc::from_ron(&text, "far.ron").expect("a scene");
        let mut world = World::from_scene(&doc).expect("a scene");
        run(&mut world, 1); // velocities meet the joint
        let before = about_centre(&world);
        run(&mut world, 2000);
        let change = about_centre(&world) - before;
        let (linear, angular) = (before.linear.length(), before.angular.length());
        assert!(change.linear.length() < 1e-13 * linear, "{method}: {change:?} of {before:?}");
        assert!(change.angular.length() < 1e-12 * angular, "{method}: {change:?} of {before:?}");
    }
}

/// Momentum of all bodies, the angular one about their centre of mass.
fn about_centre(world: &World) -> Force {
    let (model, state) = (world.mechanism(), &world.state().bodies);
    let weighed = || model.bodies().map(|body| (body.index(), model.body_mass(body)));
    let mass: f64 = weighed().map(|(_, m)| m).sum();
    let centre = weighed().map(|(k, m)| state.poses[k].translation * m).sum::<DVec3>() / mass;
    let velocity = weighed().map(|(k, m)| state.motions[k].linear * m).sum::<DVec3>() / mass;
    let mut sum = Force::new(DVec3::ZERO, velocity * mass);
    for body in model.bodies() {
        let (pose, motion) = (&state.poses[body.index()], &state.motions[body.index()]);
        let slip = (motion.linear - velocity) * model.body_mass(body);
        let own = pose.rotation.inverse() * motion.angular * model.principal_moments(body);
        sum.angular += pose.rotation * own + (pose.translation - centre).cross(slip);
    }
    sum
}

#[test]
fn a_pose_whose_level_is_left_out_is_as_none() {
    let digest = |style: String| {
        let mut world = World::from_scene(&guided(&style, "")).expect("a scene");
        run(&mut world, 400);
        world.digest()
    };
    for style in ["Acceleration", "Torque", "Velocity"] {
        let pose = format!("{style}, pose: (joints: [(\"bone_0003\", [0.1])])");
        let bare = digest(style.into());
        assert_ne!(digest(pose.clone()), bare, "{style}");
        // Joints that no goal needs are damped in the torque style, with or without the level.
        for guide in [style, &pose] {
            assert_eq!(digest(format!("{guide}, levels: [Constraints, Drags, Limits]")), bare, "{guide}");
        }
    }
}

#[test]
fn a_hard_grab_drags_a_bone_while_a_score_guides() {
    let scene = performed("Acceleration", "", "");
    let mut world = World::from_scene(&scene).expect("a scene");
    let bone = world.body("bone_0001").unwrap();
    let target = world.pose(bone).translation + DVec3::new(0.04, 0.0, -0.05);
    let mut input = Input::default();
    input.grabs.push(Grab { body: bone, point: DVec3::ZERO, target, stiffness: f64::INFINITY, damping: 0.0 });
    for _ in 0..2000 {
        let report = world.step_with(&input);
        assert!(report.health.is_good(), "{report:?}");
    }
    let distance = world.pose(bone).translation.distance(target);
    assert!(distance < 5e-3, "{distance}");

    // A hand that is nowhere, holds nobody or makes no sense is ignored, and said so once; the state stays finite.
    let good = input.grabs[0];
    for bad in [
        Grab { target: target * f64::NAN, ..good },
        Grab { body: BodyId::from_index(99), ..good },
        Grab { damping: -1.0, ..good },
    ] {
        input.grabs[0] = bad;
        let report = world.step_with(&input);
        assert_eq!(report.health.ignored_inputs, 1, "{bad:?}");
        assert!(world.state().bodies.poses.iter().all(|pose| pose.is_finite()));
    }
}

#[test]
fn a_hard_grab_of_what_does_not_move_is_ignored_once() {
    let text = r#"(format: 1, stepper: Reduced(),
  bodies: [(name: "wall", kind: Fixed), (name: "arm", shapes: [Box(size: (1, 0.1, 0.1))])],
  joints: [(name: "hinge", kind: Hinge, child: "arm", parent: "wall")])"#;
    let scene = SceneDoc::from_ron(text, "wall.ron").unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    for name in ["wall", "arm"] {
        let body = world.body(name).expect("a body");
        let hard =
            Grab { body, point: DVec3::ZERO, target: DVec3::X, stiffness: f64::INFINITY, damping: 0.0 };
        let input = Input { grabs: [hard].into_iter().collect(), ..Input::default() };
        // Without a score nothing guides the arm.
        assert_eq!(world.step_with(&input).health.ignored_inputs, 1, "{name}");
    }
}

#[test]
fn what_joint_coordinates_cannot_say_is_an_error_with_a_place() {
    let text = r#"(format: 1, name: "loop", stepper: Reduced(),
  bodies: [(name: "a", shapes: [Box(size: (1, 1, 1))]), (name: "b", shapes: [Box(size: (1, 1, 1))]), (name: "led", kind: Kinematic)],
  joints: [
    (name: "one", kind: Ball, child: "a"),
    (name: "two", kind: Ball, child: "b", parent: "a"),
    (name: "three", kind: Ball, child: "b", parent: "led"),
  ])"#;
    let error = World::from_scene(&SceneDoc::from_ron(text, "loop.ron").expect("a scene")).unwrap_err();
    assert_eq!(error.fields(), ["stepper"]);
    assert!(error.to_string().contains("three"), "{error}");

    let unreachable = r#"(from_s: 1, control: Keyframes(keys: [(at_s: 1, reach: [(bone: "bone_0006", position: (9, 0, 0))])]))"#;
    let error = World::from_scene(&guided("Torque", unreachable)).unwrap_err();
    assert_eq!(error.fields(), ["score.phases[1].control.keys[0].reach"]);
}

#[test]
fn what_actuators_do_replaces_the_forces_of_their_joints() {
    let angle = |method: &str, control: &str, spring: &str| {
        let text = format!(
            r#"(format: 1, dt: 0.01, stepper: Reduced(method: {method}),
            bodies: [(name: "arm", mass: Total(2), pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))])],
            joints: [(name: "pivot", kind: Hinge, child: "arm", frames: World(axis: (0, 1, 0)){spring})],
            score: (root: Active, torque_limits: [("pivot", 3)], phases: [(control: {control})]))"#
        );
        let scene = SceneDoc::from_ron(&text, "arm.ron").unwrap_or_else(|error| panic!("{error}"));
        let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
        run(&mut world, 50);
        world.reading(world.joint("pivot").expect("a joint")).twist
    };
    // No torque, and one at its limit.
    for control in ["Passive", r#"Keyframes(keys: [(at_s: 0.1, joints: [("pivot", [0])])])"#] {
        for method in ["SymplecticEuler", "Rk4", "Implicit"] {
            let bare = angle(method, control, "");
            assert!(bare > 0.3, "it falls: {bare}");
            let sprung = angle(method, control, ", spring: (stiffness: 500, damping: 1)");
            assert_eq!(sprung.to_bits(), bare.to_bits(), "{method}, {control}: {sprung} for {bare}");
        }
    }
}

#[test]
fn forces_of_implicit_steps_are_not_told_after_steps_in_joint_coordinates() {
    let mut doc = scene("Implicit()", 1e-3, 30.0);
    let reduced = sinew_scene::StepperDoc::Reduced(sinew_scene::ReducedDoc::default());
    doc.changes = vec![sinew_scene::ChangeDoc { at_s: 0.01, stepper: Some(reduced), ..Default::default() }];
    let mut world = World::from_scene(&doc).unwrap_or_else(|error| panic!("{error}"));
    run(&mut world, 10);
    assert!(world.joint_forces().iter().all(|force| force.length() > 1.0));
    run(&mut world, 10);
    let state = world.checkpoint();
    world.restore(&state).expect("its own state");
    assert!(world.joint_forces().iter().all(|force| *force == DVec3::ZERO), "{:?}", world.joint_forces());
}

#[test]
fn a_force_along_the_slide_of_a_point_on_a_line_moves_the_body() {
    // A motor at its limit: 3 N on 2 kg along the line, through the centre of mass.
    for method in ["SymplecticEuler", "Rk4", "Implicit"] {
        let text = format!(
            r#"(format: 1, gravity: (0, 0, 0), dt: 0.01, stepper: Reduced(method: {method}),
            bodies: [(name: "bead", mass: Total(2), shapes: [Box(size: (0.1, 0.2, 0.3))])],
            joints: [(name: "wire", kind: PointOnLine, child: "bead", frames: World(axis: (0, 1, 0)),
             motor: Position(target: Value(1e9), stiffness: 1, max_force: 3))])"#
        );
        let scene = SceneDoc::from_ron(&text, "bead.ron").unwrap_or_else(|error| panic!("{error}"));
        let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
        run(&mut world, 100);
        let motion = world.state().bodies.motions[0];
        assert!((motion.linear - DVec3::Y * 1.5).length() < 1e-9, "{method}: {motion:?}");
        assert!(motion.angular.length() < 1e-9, "{method}: {motion:?}");
    }
}

#[test]
fn a_circle_is_followed_in_every_style_at_every_step() {
    let path = fixtures("mechanisms").join("guide_60hz.ron");
    let text = std::fs::read_to_string(path).expect("a fixture");
    for style in ["Acceleration", "Torque", "Velocity"] {
        for rate in [60, 120, 240, 1000] {
            let text = text.replace("Acceleration", style);
            let mut scene = SceneDoc::from_ron(&text, "guide_60hz.ron").expect("a scene");
            scene.dt = 1.0 / f64::from(rate);
            let mut world = World::from_scene(&scene).expect("a scene");
            let mut off = 0.0_f64;
            for step in 0..4 * rate {
                let report = world.step();
                off = if 2 * step < rate { off } else { off.max(report.effort.goal_distance) };
            }
            assert!(off < 0.01, "{style} at 1/{rate} s: {off} m off the circle");
        }
    }
}
