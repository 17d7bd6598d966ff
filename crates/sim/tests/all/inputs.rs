//! Recorded inputs do what the scene says, checked against what mechanics says they must do.

use glam::DVec3;
use sinew_sim::{Pose, World};

use crate::common::{run, small};

const BALL: &str = r#"(name: "ball", shapes: [Sphere(radius: 0.1)], mass: Total(2))"#;

fn close(a: DVec3, b: DVec3, tolerance: f64) {
    assert!((a - b).length() <= tolerance, "{a} is not {b}");
}

/// Runs up to a time, s.
fn run_to(world: &mut World, time: f64) {
    let n = ((time - world.time()) / world.settings().dt).round() as u64;
    run(world, n);
}

#[test]
fn a_kinematic_body_is_on_its_track_and_carries_what_is_fixed_to_it() {
    let mut world = small(
        r#"
        bodies: [
          (name: "hand", kind: Kinematic, pose: (rotation: Vector(0, 0, 0.5))),
          (name: "cup", pose: (position: (0, 0, 1)), shapes: [Sphere(radius: 0.1)]),
        ],
        joints: [(name: "grip", kind: Fixed, child: "cup", parent: "hand")],
        tracks: [(name: "path", curve: Points([(0, (0, 0, 0)), (0.5, (1, 0, 0)), (1, (1, 1, 0))]))],
        inputs: [Kinematic(body: "hand", track: "path")],
        stepper: Implicit(newton_iterations: 5),
        "#,
    );
    let (hand, cup) = (world.body("hand").expect("there"), world.body("cup").expect("there"));
    let rotation = world.pose(hand).rotation;
    run_to(&mut world, 0.5);
    close(world.pose(hand).translation, DVec3::X, 1e-12);
    close(world.pose(cup).translation, DVec3::new(1.0, 0.0, 1.0), 1e-9);
    run_to(&mut world, 1.0);
    close(world.pose(hand).translation, DVec3::new(1.0, 1.0, 0.0), 1e-12);
    assert_eq!(world.pose(hand).rotation, rotation);
}

#[test]
fn a_grab_pulls_only_in_its_window() {
    let mut world = small(&format!(
        "gravity: (0, 0, 0), dt: 0.1, bodies: [{BALL}],
         tracks: [(name: \"goal\", curve: Points([(0, (1, 0, 0))]))],
         inputs: [Grab(body: \"ball\", track: \"goal\", stiffness: 1, from_s: 0.3, to_s: 0.6)]"
    ));
    let mut speeds = vec![0.0];
    for i in 0..10 {
        let on = world.input_at(world.time()).grabs.len();
        assert_eq!(on, usize::from((3..6).contains(&i)), "step {i}");
        world.step();
        speeds.push(world.state().bodies.motions[0].linear.x);
    }
    for i in 0..10 {
        assert_eq!(speeds[i + 1] > speeds[i], (3..6).contains(&i), "step {i}: {speeds:?}");
    }
}

#[test]
fn a_track_of_poses_carries_the_grabbed_point() {
    let world = small(&format!(
        "bodies: [{BALL}], dt: 0.5,
         tracks: [(name: \"frame\", curve: Poses([(0, (0, 0, 5), Vector(0, 0, 1.5707963267948966))]))],
         inputs: [Grab(body: \"ball\", point: (1, 0, 0), track: \"frame\", stiffness: 1)]"
    ));
    close(world.input_at(0.0).grabs[0].target, DVec3::new(0.0, 1.0, 5.0), 1e-15);
}

#[test]
fn a_force_on_a_point_is_a_force_and_a_torque_scaled_by_its_track() {
    let mut world = small(
        r#"
        gravity: (0, 0, 0), dt: 0.01,
        bodies: [(name: "rod", pose: (position: (0, 0, 1), rotation: Vector(0, 0, 1.5707963267948966)),
          mass: Properties(mass: 2, com: (0.5, 0, 0), inertia: Full(xx: 1, yy: 2, zz: 2, xy: 0.4, yz: 0.1, xz: 0.2)))],
        tracks: [(name: "ramp", interpolation: Linear, curve: Scalars([(0, 0), (1, 2)]))],
        inputs: [Wrench(body: "rod", point: (1.5, 0, 0), force: (3, 0, 0), torque: (0, 0, 1), track: "ramp")]
        "#,
    );
    // The point is 1 m along +y from the centre of mass: y × 3x = −3z.
    let (_, wrench) = world.input_at(0.49).wrenches[0];
    close(wrench.linear, DVec3::X * 3.0, 1e-12);
    close(wrench.angular, DVec3::Z * (1.0 - 3.0), 1e-12);
    // ∫ 3 · 2t dt over 1 s is 3 N·s, which the end-of-step rule overestimates by half a step.
    run_to(&mut world, 1.0);
    close(world.momentum().linear, DVec3::X * 3.0 * 1.01, 1e-9);
}

#[test]
fn motors_follow_their_tracks() {
    let mut world = small(
        r#"
        gravity: (0, 0, 0), dt: 0.002, duration_s: 2,
        bodies: [(name: "wheel", shapes: [Cylinder(radius: 0.1, length: 0.1)]),
                 (name: "fan", shapes: [Cylinder(radius: 0.1, length: 0.1)])],
        joints: [
          (name: "servo", child: "wheel", motor: Position(target: Track("swing"), stiffness: 1e5, damping: 1e3)),
          (name: "spin", child: "fan", motor: Velocity(target: Track("rate"), damping: 1e3)),
        ],
        tracks: [
          (name: "swing", curve: Sine(center: (0.3, 0, 0), amplitude: (0.2, 0, 0), frequency_hz: 0.5)),
          (name: "rate", interpolation: Linear, curve: Scalars([(0, 0), (1, 4), (3, 4)])),
        ]
        "#,
    );
    let (servo, spin) = (world.joint("servo").expect("there"), world.joint("spin").expect("there"));
    run(&mut world, 500);
    // sin(2π · 0.5 · 1) = 0
    assert!((world.reading(servo).twist - 0.3).abs() < 1e-3, "{:?}", world.reading(servo));
    assert!((world.reading(spin).twist_rate - 4.0).abs() < 1e-2, "{:?}", world.reading(spin));
}

#[test]
fn drives_are_met_in_value_and_rate() {
    let mut world = small(
        r#"
        dt: 0.01, stepper: Implicit(newton_iterations: 8, newton_tolerance: 1e-13),
        bodies: [(name: "crank", shapes: [Box(size: (1, 0.1, 0.1))]),
                 (name: "piston", shapes: [Box(size: (0.1, 0.1, 0.1))])],
        joints: [
          (name: "turn", child: "crank", frames: World(axis: (0, 1, 0)), drive: "angle"),
          (name: "push", kind: Prismatic, child: "piston", frames: World(axis: (0, 0, 1)), drive: "stroke"),
        ],
        tracks: [
          (name: "angle", interpolation: Linear, curve: Scalars([(0, 0), (2, 10)])),
          (name: "stroke", curve: Sine(amplitude: (0.5, 0, 0), frequency_hz: 1)),
        ]
        "#,
    );
    let (turn, push) = (world.joint("turn").expect("there"), world.joint("push").expect("there"));
    for _ in 0..100 {
        assert!(world.step().health.is_good());
        let (turn, push) = (world.reading(turn), world.reading(push));
        let stroke = 0.5 * sinew_math::ops::sin(std::f64::consts::TAU * world.time());
        assert!((turn.twist - 5.0 * world.time()).abs() < 1e-9, "{turn:?} at {}", world.time());
        assert!((push.slide - stroke).abs() < 1e-9, "{push:?}");
    }
    assert!((world.reading(turn).twist_rate - 5.0).abs() < 1e-6);
    assert!(
        world.violation().rotation < 1e-9 && world.violation().position < 1e-9,
        "{:?}",
        world.violation()
    );
}

#[test]
fn joint_forces_switch_with_the_step_that_begins_there() {
    let world = small(&format!(
        "dt: 0.1, bodies: [{BALL}],
         inputs: [JointForces(at_s: 0.5, scale: 1), JointForces(at_s: 0.2, scale: 0)]"
    ));
    let mut time = 0.0;
    for i in 0..8 {
        let is_on = world.input_at(time).spring_scale > 0.5;
        assert_eq!(is_on, !(2..5).contains(&i), "step {i}");
        time += 0.1;
    }
}

#[test]
fn a_weight_on_a_spring_hangs_where_hooke_says() {
    let mut world = small(&format!(
        "bodies: [{BALL}],
         springs: [(name: \"cord\", from: World(0, 0, 3), to: Body(name: \"ball\"), stiffness: 50, damping: 20,
                    rest_length: 1)]"
    ));
    run_to(&mut world, 20.0);
    let ball = world.body("ball").expect("there");
    close(world.pose(ball).translation, DVec3::Z * (3.0 - 1.0 - 2.0 * 9.81 / 50.0), 1e-6);
}

#[test]
fn joint_springs_relax_at_their_rest() {
    let mut world = small(
        r#"
        gravity: (0, 0, 0),
        bodies: [(name: "a", shapes: [Box(size: (1, 1, 1))], mass: Total(1)),
                 (name: "b", shapes: [Box(size: (1, 1, 1))], mass: Total(1)),
                 (name: "c", shapes: [Box(size: (1, 1, 1))], mass: Total(1))],
        joints: [
          (name: "ball", kind: Ball, child: "a", frames: World(axis: (0, 1, 0)),
           spring: (stiffness: 5, damping: 2, rest_rotation: (0.3, -0.4, 0.5))),
          (name: "hinge", kind: Hinge, child: "b", spring: (stiffness: 5, rest: 0.7), damping: 2),
          (name: "slider", kind: Prismatic, child: "c", spring: (stiffness: 5, rest: 0.2, damping: 2)),
        ]
        "#,
    );
    run_to(&mut world, 20.0);
    let ball = world.body("a").expect("there");
    // The frame has x along world y; the rest rotation is written in its axes.
    let frame = sinew_scene::FrameDoc { axis: DVec3::Y, ..Default::default() }.to_pose().rotation;
    close(sinew_math::log_so3(world.pose(ball).rotation), frame * DVec3::new(0.3, -0.4, 0.5), 1e-6);
    let (hinge, slider) = (world.joint("hinge").expect("there"), world.joint("slider").expect("there"));
    assert!((world.reading(hinge).twist - 0.7).abs() < 1e-6);
    assert!((world.reading(slider).slide - 0.2).abs() < 1e-6);
}

#[test]
fn settings_reach_the_stepper() {
    use sinew_sim::{Gyroscopic, Order, RungeKutta, Scheme, TreeForm};
    let world = small(
        "dt: 0.25, gravity: (1, 2, 3), gyroscopic: Momentum,
         stepper: Implicit(order: 2, newton_iterations: 4, newton_tolerance: 1e-7, solver: Block)",
    );
    let settings = world.settings();
    assert_eq!((settings.dt, settings.gravity), (0.25, DVec3::new(1.0, 2.0, 3.0)));
    assert_eq!(settings.gyroscopic, Gyroscopic::Momentum);
    let Scheme::Implicit(implicit) = settings.scheme else { panic!("{settings:?}") };
    assert_eq!((implicit.order, implicit.newton_iterations), (Order::Second, 4));
    assert_eq!((implicit.newton_tolerance, implicit.form), (1e-7, TreeForm::Block));
    assert!(implicit.geometric_stiffness, "on unless it is switched off");
    let world = small("stepper: Implicit(geometric_stiffness: false)");
    let Scheme::Implicit(implicit) = world.settings().scheme else { panic!("{:?}", world.settings()) };
    assert!(!implicit.geometric_stiffness);
    let world = small("stepper: Explicit(method: Rk2, baumgarte: 3)");
    let Scheme::Explicit(explicit) = world.settings().scheme else { panic!("{:?}", world.settings()) };
    assert_eq!((explicit.method, explicit.baumgarte), (RungeKutta::Second, 3.0));
}

#[test]
fn poses_are_those_of_body_frames() {
    let world = small(
        "bodies: [(name: \"a\", pose: (position: (1, 2, 3), rotation: Vector(0.1, 0.2, 0.3)),
           mass: Properties(mass: 1, com: (0.4, 0.5, 0.6),
             inertia: Full(xx: 1, yy: 2, zz: 2, xy: 0.4, yz: 0.1, xz: 0.2)))]",
    );
    let body = world.body("a").expect("there");
    let wanted = Pose::new(sinew_math::exp_so3(DVec3::new(0.1, 0.2, 0.3)), DVec3::new(1.0, 2.0, 3.0));
    close(world.pose(body).translation, wanted.translation, 1e-15);
    assert!(world.pose(body).rotation.angle_between(wanted.rotation) < 1e-7);
}

/// A belt with a velocity and no track stood still in silence.
#[test]
fn a_kinematic_body_without_a_track_keeps_its_velocity() {
    for stepper in ["Implicit()", "Implicit(order: 2)", "Explicit()", "Displacement()", "Reduced()"] {
        let mut world = small(&format!(
            r#"
            stepper: {stepper},
            bodies: [
              (name: "belt", kind: Kinematic, pose: (position: (0, 0, -0.05)), velocity: (linear: (1, 0, 0)),
               shapes: [Box(size: (20, 1, 0.1))], contact: ()),
              (name: "table", kind: Kinematic, pose: (position: (0, 5, -0.05)), velocity: (angular: (0, 0, 1)),
               shapes: [Box(size: (2, 2, 0.1), at: (position: (1, 0, 0)))], contact: ()),
              (name: "box", pose: (position: (0, 0, 0.1)), shapes: [Box(size: (0.2, 0.2, 0.2))], contact: ()),
            ],
            "#
        ));
        run_to(&mut world, 2.0);
        let at = |name: &str| world.pose(world.body(name).expect("there"));
        close(at("belt").translation, DVec3::new(2.0, 0.0, -0.05), 1e-9);
        // Without mass the table turns about its frame.
        close(at("table").translation, DVec3::new(0.0, 5.0, -0.05), 1e-9);
        let (sin, cos) = sinew_math::ops::sin_cos(2.0);
        close(at("table").rotation * DVec3::X, DVec3::new(cos, sin, 0.0), 1e-9);
        // It slips until friction has taken it along: v²/2µg = 0.1 m behind.
        let carried = at("box").translation;
        assert!((1.85..1.95).contains(&carried.x), "{stepper}: {carried}");
        assert!(world.notices().are_good(), "{stepper}");
    }
}
