//! Motors that compensate gravity: arms of any shape stay where they are, the torques are those of joint-space algebra, and the largest force
//! of a motor bounds command and compensation together.

use glam::{DQuat, DVec3};
use sinew_mechanism::MotorTarget;
use sinew_recursive::{Dynamics, Tree, TreeState};
use sinew_sim::{
    BodyDoc, BuildError, DriveCoordinate, HealthNotice, JointDoc, JointId, JointKind, MotorDoc, SceneDoc,
    Shape, ShapeDoc, StepperDoc, World,
};
use sinew_testkit::Rng;

use crate::common::run;

/// How an arm is stepped, and the length of a step that resolves it.
const STEPPERS: [&str; 5] =
    ["Implicit()", "Implicit(order: 2)", "Reduced()", "Reduced(method: Rk4)", "Explicit(method: Rk4)"];

fn stepper(text: &str) -> StepperDoc {
    let scene = SceneDoc::from_ron(&format!("(format: 1, name: \"x\", stepper: {text})"), "x.ron");
    scene.unwrap_or_else(|errors| panic!("{errors}")).stepper
}

fn direction(rng: &mut Rng) -> DVec3 {
    DVec3::from_array([(); 3].map(|()| rng.uniform(-1.0, 1.0))).normalize_or(DVec3::X)
}

/// An arm of `n` joints at a random pose, its bodies beside their frames; every other joint is written from its outer body.
fn arm(rng: &mut Rng, n: usize, motor: &MotorDoc) -> SceneDoc {
    let mut scene = SceneDoc::new("arm");
    let mut anchor = DVec3::ZERO;
    for k in 0..n {
        let next = anchor + direction(rng) * rng.uniform(0.1, 0.4);
        let to = direction(rng);
        let across = DVec3::X.cross(to);
        let turn = DQuat::from_xyzw(across.x, across.y, across.z, 1.0 + to.x).normalize();
        let solid = Shape::Box { size: direction(rng).abs() * 0.2 + DVec3::splat(0.05) };
        let body = BodyDoc::new(format!("link {k}"))
            .at(sinew_sim::Pose::new(turn, anchor + direction(rng) * 0.1))
            .shape(ShapeDoc::from(solid).at(direction(rng) * 0.2));
        let kind = match rng.below(4) {
            0 => JointKind::Prismatic,
            1 => JointKind::Screw { pitch: rng.uniform(-0.1, 0.1) },
            _ => JointKind::Hinge,
        };
        let (inner, outer) = (format!("link {}", k.wrapping_sub(1)), format!("link {k}"));
        let (child, parent) =
            if k % 2 == 1 { (inner, Some(outer)) } else { (outer, (k > 0).then_some(inner)) };
        let mut joint = JointDoc::new(kind, format!("joint {k}"), child).at(anchor).axis(direction(rng));
        joint.parent = parent;
        scene = scene.with(body).with(joint.motor(motor.clone()));
        anchor = next;
    }
    scene
}

/// The coordinate with the motor, its value, and the effort along it.
fn coordinates(world: &World) -> Vec<(JointId, f64, f64)> {
    let mechanism = world.mechanism();
    let one = |joint: JointId| {
        let reading = world.reading(joint);
        let (along, value) = match mechanism.joint_kind(joint) {
            JointKind::Prismatic => (DriveCoordinate::Slide, reading.slide),
            _ => (DriveCoordinate::Twist, reading.twist),
        };
        (joint, value, world.joint_effort(joint, Some(along)))
    };
    mechanism.joints().map(one).collect()
}

/// The torques that hold a mechanism, by its joints, as joint-space algebra has them.
fn held(world: &World) -> Vec<f64> {
    let tree = Tree::from_model(world.mechanism()).expect("a tree");
    let state = TreeState::from_mechanism(&tree, &world.state().bodies);
    let mut dynamics = Dynamics::new(&tree);
    dynamics.kinematics_at_rest(&tree, &state.coordinates);
    let mut torques = vec![0.0; tree.n_dofs()];
    dynamics.fill_gravity(&tree, world.settings().gravity, &mut torques);
    let mut held = vec![0.0; world.mechanism().n_joints()];
    for link in tree.links() {
        held[tree.joint(link).expect("a joint").index()] = torques[tree.dofs(link).start];
    }
    held
}

#[test]
fn arms_stay_at_any_pose_with_the_torques_of_joint_space_algebra() {
    let mut rng = Rng::new(17);
    let motor = MotorDoc::velocity(0.0, 0.0).with_gravity_compensation();
    for round in 0..6 {
        let scene = arm(&mut rng, 2 + round, &motor);
        for text in STEPPERS {
            let scene = SceneDoc { stepper: stepper(text), dt: 1.0 / 60.0, ..scene.clone() };
            let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
            let begin = coordinates(&world);
            for ((joint, _, effort), held) in begin.iter().zip(held(&world)) {
                assert!((effort - held).abs() < 1e-9, "{text} {round}: {joint:?} {effort} {held}");
            }
            run(&mut world, 300);
            for (begin, end) in begin.iter().zip(coordinates(&world)) {
                let drift = (begin.1 - end.1).abs();
                assert!(drift < 1e-6, "{text} {round}: {begin:?} drifts by {drift:e}");
            }
        }
    }
}

#[test]
fn without_compensation_the_same_arms_fall() {
    let scene = arm(&mut Rng::new(17), 3, &MotorDoc::velocity(0.0, 0.0));
    let mut world = World::from_scene(&SceneDoc { dt: 1.0 / 60.0, ..scene }).expect("a scene");
    let begin = coordinates(&world);
    run(&mut world, 60);
    let fallen = begin.iter().zip(coordinates(&world)).any(|(begin, end)| (begin.1 - end.1).abs() > 0.1);
    assert!(fallen);
}

/// A rod of 1 kg that sticks out by 1 m.
fn rod(motor: MotorDoc) -> SceneDoc {
    let rod = BodyDoc::new("rod")
        .at(DVec3::X * 0.5)
        .shape(Shape::Box { size: DVec3::new(1.0, 0.1, 0.1) })
        .density(100.0);
    let joint = JointDoc::new(JointKind::Hinge, "shoulder", "rod").axis(DVec3::Y).motor(motor);
    SceneDoc { dt: 1.0 / 60.0, ..SceneDoc::new("rod").with(rod).with(joint) }
}

#[test]
fn the_largest_force_bounds_command_and_compensation_together() {
    for text in ["Implicit()", "Reduced()", "Explicit(method: Rk4)"] {
        // The rod weighs 4.9 N·m on its hinge.
        let motor = MotorDoc::position(0.0, 50.0, 5.0).max_force(3.0).with_gravity_compensation();
        let mut world =
            World::from_scene(&SceneDoc { stepper: stepper(text), ..rod(motor) }).expect("a scene");
        let shoulder = world.joint("shoulder").expect("a joint");
        let mut noticed = false;
        for _ in 0..6 {
            let report = world.step();
            noticed |= report.notices().any(|(notice, _)| notice == HealthNotice::SaturatedMotor);
            let effort = world.joint_effort(shoulder, Some(DriveCoordinate::Twist));
            assert!((effort + 3.0).abs() < 1e-9, "{text}: {effort}");
        }
        assert!(noticed || text != "Implicit()", "{text}");
        assert!(world.reading(shoulder).twist > 0.01, "{text}: it sags");
        // As it hangs further the bound suffices; before that it has to come down.
        for _ in 0..30 {
            world.step();
            assert!(world.joint_effort(shoulder, Some(DriveCoordinate::Twist)).abs() < 3.0 + 1e-9, "{text}");
        }
    }
}

#[test]
fn a_position_motor_has_no_error_left_and_a_command_of_torque_adds_to_it() {
    let motor = MotorDoc::position(0.3, 20.0, 4.0).max_force(20.0).with_gravity_compensation();
    for text in ["Implicit()", "Reduced()"] {
        let scene = SceneDoc { stepper: stepper(text), ..rod(motor.clone()) };
        let mut world = World::from_scene(&scene).expect("a scene");
        let shoulder = world.joint("shoulder").expect("a joint");
        run(&mut world, 600);
        assert!((world.reading(shoulder).twist - 0.3).abs() < 1e-6, "{text}: {:?}", world.reading(shoulder));
        // 2 N·m more on a spring of 20 N·m/rad.
        let target = MotorTarget { position: 0.3, velocity: 0.0, force: 2.0 };
        for _ in 0..600 {
            let mut input = world.input_at(world.time());
            input.motors.push((shoulder, target));
            world.step_with(&input);
        }
        assert!((world.reading(shoulder).twist - 0.4).abs() < 1e-6, "{text}: {:?}", world.reading(shoulder));
    }
}

#[test]
fn a_raised_load_gains_no_energy_that_is_not_told() {
    let motor = MotorDoc::velocity(-0.5, 30.0).with_gravity_compensation();
    for text in ["Implicit()", "Reduced()"] {
        let scene = SceneDoc { stepper: stepper(text), ..rod(motor.clone()) };
        let mut world = World::from_scene(&scene).expect("a scene");
        run(&mut world, 120);
        let turned = world.reading(world.joint("shoulder").expect("a joint")).twist;
        assert!((turned + 1.0).abs() < 0.02, "{text}: {turned}");
    }
}

#[test]
fn the_effort_is_an_input_of_those_who_step_themselves() {
    let world = World::from_scene(&rod(MotorDoc::velocity(0.0, 0.0))).expect("a scene");
    let (mechanism, shoulder) = (world.mechanism(), world.joint("shoulder").expect("a joint"));
    let effort =
        |along| mechanism.gravity_effort(&world.state().bodies, shoulder, along, DVec3::NEG_Z * 10.0);
    assert!((effort(DriveCoordinate::Twist).expect("a hinge") + 5.0).abs() < 1e-12);
    let error = effort(DriveCoordinate::Slide).expect_err("no slide").to_string();
    assert!(error.contains("shoulder") && error.contains("slide"), "{error}");
}

#[test]
fn weight_that_several_joints_share_is_refused_by_name() {
    let motor = || MotorDoc::velocity(0.0, 0.0).with_gravity_compensation();
    let text = |error: BuildError| (error.fields().join(" "), error.to_string());
    let tip = JointDoc::new(JointKind::Ball, "prop", "rod").at(DVec3::X);
    let (place, error) =
        text(World::from_scene(&rod(motor()).with(tip.clone())).map(|_| ()).expect_err("two joints hold it"));
    assert!(place.contains("joints[0]"), "{place}");
    assert!(error.contains("`shoulder`") && error.contains("`prop` closes a loop"), "{error}");

    let scene = rod(motor()).with(tip.breaks_at_force(1.0));
    let (_, error) = text(World::from_scene(&scene).map(|_| ()).expect_err("it may break"));
    assert!(error.contains("`prop` may open or break"), "{error}");

    let mut scene = rod(MotorDoc::velocity(0.0, 0.0));
    scene.joints[0].kind = JointKind::Ball;
    scene.joints[0].motor = Some(motor());
    let (_, error) = text(World::from_scene(&scene).map(|_| ()).expect_err("no axis"));
    assert!(error.contains("`shoulder` (ball)") && error.contains("gravity is compensated"), "{error}");
}

#[test]
fn a_loop_beyond_the_joint_is_carried_as_a_whole() {
    // A frame of four bars hangs on the rod: its own joints share its weight, but the shoulder bears all of it.
    let bar = |name: &str, at: DVec3, size: DVec3| BodyDoc::new(name).at(at).shape(Shape::Box { size });
    let hinge = |name: &str, child: &str, parent: &str, at: DVec3| {
        JointDoc::new(JointKind::Hinge, name, child).parent(parent).at(at).axis(DVec3::Y)
    };
    let (thin, half) = (0.05, 0.5);
    let scene = rod(MotorDoc::velocity(0.0, 0.0).with_gravity_compensation())
        .with(bar("left", DVec3::new(0.2, 0.0, -half), DVec3::new(thin, thin, 1.0)))
        .with(bar("right", DVec3::new(0.8, 0.0, -half), DVec3::new(thin, thin, 1.0)))
        .with(bar("low", DVec3::new(half, 0.0, -1.0), DVec3::new(0.6, thin, thin)))
        .with(hinge("a", "left", "rod", DVec3::X * 0.2))
        .with(hinge("b", "right", "rod", DVec3::X * 0.8))
        .with(hinge("c", "low", "left", DVec3::new(0.2, 0.0, -1.0)))
        .with(hinge("d", "low", "right", DVec3::new(0.8, 0.0, -1.0)));
    let mut world = World::from_scene(&scene).expect("a scene");
    run(&mut world, 300);
    let turned = world.reading(world.joint("shoulder").expect("a joint")).twist;
    assert!(turned.abs() < 1e-6, "{turned:e}");
}
