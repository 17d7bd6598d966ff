//! Forces and special joints do what their names say, checked against hand calculations.

use glam::DVec3;
use sinew_math::{Force, MassProperties, Motion, Pose, exp_so3, ops};
use sinew_mechanism::{
    BodySpec, Drive, DriveCoordinate, Grab, Gyroscopic, Input, JointId, JointKind, JointSpec, Limit,
    MechanismBuilder, Motor, MotorTarget, Order, PointSpringSpec, RotationForce, RungeKutta, ScalarForce,
    Settings, joint_reading, past_limit,
};
use sinew_testkit::{Rng, assert_close};
use std::f64::consts::PI;

use crate::support::{
    Chain, Run, explicit, frames_at, implicit, settings, single, slab, with_gravity, with_gyroscopic,
    without_gravity,
};

/// A cube of 0.4 m and 1 kg that turns about y through the world's origin, `arm` m from it along x.
fn rotor(arm: f64, force: Option<ScalarForce>, settings: Settings) -> (Run, JointId, f64) {
    let mass = slab(DVec3::splat(0.4));
    let pose = Pose::from_translation(DVec3::X * arm);
    let (builder, _, joint) = single(mass, pose, Motion::ZERO, |body| {
        let frames = frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::Y);
        let mut spec = JointSpec::new("pin", JointKind::Hinge, body, None, frames);
        spec.twist = force;
        spec
    });
    (Run::new(builder, settings), joint, mass.inertia.yy + arm * arm)
}

fn motor(kp: f64, kd: f64, max_force: f64, position: f64, velocity: f64) -> ScalarForce {
    let mut force = ScalarForce::default();
    force.motor = Some(Motor {
        kp,
        kd,
        max_force,
        target: MotorTarget { position, velocity, ..MotorTarget::default() },
        gravity_compensation: false,
    });
    force
}

fn twist(run: &Run, joint: JointId) -> f64 {
    joint_reading(&run.model, &run.state, joint).twist
}

fn twist_rate(run: &Run, joint: JointId) -> f64 {
    joint_reading(&run.model, &run.state, joint).twist_rate
}

const DT: f64 = 1.0 / 60.0;

#[test]
fn position_motors_reach_their_targets_and_sag_under_load() {
    let (mut run, joint, _) =
        rotor(0.0, Some(motor(50.0, 5.0, f64::INFINITY, 1.2, 0.0)), without_gravity(settings(DT)));
    run.steps(600);
    assert_close!(twist(&run, joint), 1.2, 1e-9);
    // A new goal by the input, more than a turn away.
    run.input.motors.push((joint, MotorTarget { position: -8.0, velocity: 0.0, ..MotorTarget::default() }));
    run.steps(900);
    assert_close!(twist(&run, joint), -8.0, 1e-9);
    // kp (x* − x) = m g arm cos x.
    let (mut run, joint, _) = rotor(0.3, Some(motor(200.0, 20.0, f64::INFINITY, 0.0, 0.0)), settings(DT));
    run.steps(1_200);
    let x = twist(&run, joint);
    assert_close!(200.0 * x, 9.81 * 0.3 * ops::cos(x), 1e-9);
}

#[test]
fn velocity_motors_reach_their_speed() {
    let (mut run, joint, _) =
        rotor(0.0, Some(motor(0.0, 3.0, f64::INFINITY, 0.0, 4.0)), without_gravity(settings(DT)));
    run.steps(600);
    assert_close!(twist_rate(&run, joint), 4.0, 1e-9);
    assert!(twist(&run, joint) > 30.0, "turns are counted");
}

#[test]
fn motors_respect_their_force_limit() {
    let limit = 2.0;
    for (kp, kd, goal) in [(1e3, 10.0, 3.0), (1e6, 1e3, 3.0), (0.0, 1e4, 0.0)] {
        let speed = if kp > 0.0 { 0.0 } else { 5.0 };
        let (mut run, joint, inertia) =
            rotor(0.0, Some(motor(kp, kd, limit, goal, speed)), without_gravity(settings(DT)));
        let mut largest = 0.0f64;
        for _ in 0..600 {
            let before = twist_rate(&run, joint);
            run.step();
            largest = largest.max((twist_rate(&run, joint) - before).abs() * inertia / DT);
        }
        assert!(largest <= limit * (1.0 + 1e-9), "kp {kp}, kd {kd}: {largest} N·m");
        assert!(largest > 0.7 * limit, "kp {kp}, kd {kd}: {largest} N·m is far from what it may");
        let reading = joint_reading(&run.model, &run.state, joint);
        let arrived = if kp > 0.0 { reading.twist - goal } else { reading.twist_rate - speed };
        assert!(arrived.abs() < 1e-3, "kp {kp}, kd {kd}: off by {arrived}");
    }
}

#[test]
fn a_weak_motor_lets_its_load_fall_and_a_strong_one_holds_it() {
    let arm = 0.3;
    let load = 9.81 * arm;
    let held = |max_force: f64| {
        let (mut run, joint, _) = rotor(arm, Some(motor(1e5, 1e3, max_force, 0.0, 0.0)), settings(DT));
        run.steps(60);
        twist(&run, joint)
    };
    assert!(held(1.5 * load).abs() < 1e-3);
    assert!(held(0.5 * load).abs() > 0.5);
}

#[test]
fn dry_friction_holds_below_its_limit_and_slips_above() {
    let arm = 0.3;
    let load = 9.81 * arm;
    let after = |friction: f64, seconds: usize| {
        let mut force = ScalarForce::default();
        force.friction = friction;
        let (mut run, joint, _) = rotor(arm, Some(force), settings(DT));
        run.steps(60 * seconds);
        (twist(&run, joint), twist_rate(&run, joint))
    };
    // Held, up to the creep of a regularized law.
    let (angle, rate) = after(1.5 * load, 2);
    assert!(rate.abs() < 1e-3 && angle.abs() < 2e-3, "creeps at {rate} rad/s");
    // Slipping: half the load is left to swing it.
    let (angle, _) = after(0.5 * load, 1);
    assert!(angle > 0.5, "stuck at {angle}");
    // Without load a spinning rotor stops in finite time and stays.
    let mut force = ScalarForce::default();
    force.friction = 1.0;
    let (mut run, joint, inertia) = rotor(0.0, Some(force), without_gravity(settings(DT)));
    run.state.motions[0].angular = DVec3::Y * 10.0;
    let stop = 10.0 * inertia / 1.0;
    run.steps((0.5 * stop / DT) as usize);
    let halfway = 10.0 - 0.5 * stop / inertia;
    assert!((twist_rate(&run, joint) - halfway).abs() < 0.6, "{}", twist_rate(&run, joint));
    run.steps((stop / DT) as usize);
    assert!(twist_rate(&run, joint).abs() < 1e-2);
}

#[test]
fn armature_is_added_rotor_inertia() {
    let added = 0.02;
    for settings in [
        settings(DT),
        implicit(DT, Order::First, 5),
        implicit(DT, Order::Second, 1),
        explicit(DT, RungeKutta::Fourth, 10.0),
    ] {
        let mut spring = ScalarForce::spring(3.0, 0.5, 0.1);
        let (mut heavy, _, _) = rotor(0.2, Some(spring), settings);
        spring.armature = added;
        let (mut geared, _, _) = rotor(0.2, Some(spring), settings);
        // The same body with the armature in its own inertia.
        let mut mass = slab(DVec3::splat(0.4));
        mass.inertia.yy += added;
        let pose = Pose::from_translation(DVec3::X * 0.2);
        let (builder, _, _) = single(mass, pose, Motion::ZERO, |body| {
            let frames = frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::Y);
            JointSpec::new("pin", JointKind::Hinge, body, None, frames)
                .with_twist(ScalarForce::spring(3.0, 0.5, 0.1))
        });
        let mut rotor = Run::new(builder, settings);
        for run in [&mut heavy, &mut geared, &mut rotor] {
            run.steps(120);
        }
        assert_close!(geared.state.motions[0].to_array(), rotor.state.motions[0].to_array(), 1e-11);
        let without = heavy.state.motions[0].angular - rotor.state.motions[0].angular;
        assert!(without.length() > 1e-3, "the armature must make a difference");
    }
}

/// A block on a rail along z.
fn slider(force: Option<ScalarForce>, velocity: f64, settings: Settings) -> (Run, JointId) {
    let (builder, _, joint) =
        single(slab(DVec3::ONE), Pose::IDENTITY, Motion::new(DVec3::ZERO, DVec3::Z * velocity), |body| {
            let frames = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::ZERO, DVec3::Z);
            let mut spec = JointSpec::new("rail", JointKind::Prismatic, body, None, frames);
            spec.slide = force;
            spec
        });
    (Run::new(builder, settings), joint)
}

#[test]
fn joints_past_their_limits_are_told_however_fast_they_get_there() {
    let mut n_told = 0;
    for speed in [0.5, 20.0, 80.0] {
        let mut builder = MechanismBuilder::new();
        let motion = Motion::new(DVec3::Z * speed, DVec3::ZERO);
        let mass = slab(DVec3::splat(0.2));
        let body = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, mass).with_motion(motion));
        let frames = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::ZERO, DVec3::Z);
        let mut spec = JointSpec::new("", JointKind::Hinge, body, None, frames);
        let mut force = ScalarForce::default();
        force.limit = Some(Limit { min: -0.5, max: 0.4, stiffness: 20.0, damping: 0.0, ramp: 0.01 });
        spec.twist = Some(force);
        builder.add_joint(spec);
        let mut run = Run::new(builder, without_gravity(settings(DT)));
        for step in 0..200 {
            run.step();
            // A step of any length may lead anywhere.
            let measured = past_limit(&run.model, &run.state, f64::INFINITY);
            assert_eq!(past_limit(&run.model, &run.state, DT), measured, "{speed} rad/s, step {step}");
            n_told += u32::from(measured.is_some());
        }
    }
    assert!(n_told > 5, "{n_told}");
}

#[test]
fn limits_hold_and_add_no_energy() {
    for stiffness in [1e2, 1e4, 1e6, 1e8] {
        for ramp in [0.0, 0.02] {
            for velocity in [0.3, 3.0, 30.0] {
                let mut force = ScalarForce::default();
                force.limit = Some(Limit { min: -0.5, max: 0.4, stiffness, damping: 0.0, ramp });
                let (mut run, joint) = slider(Some(force), velocity, without_gravity(settings(DT)));
                let mut last = run.energy().total();
                // All energy in the stop, plus the width over which it is soft.
                let reach = velocity / stiffness.sqrt() + ramp;
                for _ in 0..240 {
                    run.step();
                    let now = run.energy().total();
                    assert!(
                        now <= last * (1.0 + 1e-9) + 1e-12,
                        "k {stiffness:e}, ramp {ramp}, {velocity} m/s: {now} J after {last} J"
                    );
                    last = now;
                    let x = joint_reading(&run.model, &run.state, joint).slide;
                    let excess = (x - 0.4).max(-0.5 - x);
                    assert!(
                        excess <= 1.01 * reach,
                        "k {stiffness:e}, {velocity} m/s: {excess} m beyond the stop"
                    );
                }
            }
        }
    }
}

/// Stages that slide in each other, some of them light: where one stops, the others are thrown against their stops.
#[test]
fn stops_in_a_row_add_no_energy() {
    let mut rng = Rng::new(7);
    for trial in 0..60 {
        let n = 2 + trial % 4;
        let stiffness = rng.power_of_ten(3, 8);
        let (damping, ramp) = (stiffness * rng.uniform(0.0, 1e-3), [0.0, 0.02][trial % 2]);
        let mut builder = MechanismBuilder::new();
        let mut parent = None;
        for k in 0..n {
            let velocity = Motion::new(DVec3::ZERO, DVec3::Z * rng.uniform(-3.0, 3.0));
            let mass = slab(DVec3::splat(0.2)).with_mass(rng.power_of_ten(-2, 2));
            let body = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, mass).with_motion(velocity));
            let frames = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::ZERO, DVec3::Z);
            let mut spec = JointSpec::new(format!("stage {k}"), JointKind::Prismatic, body, parent, frames);
            let mut force = ScalarForce::default();
            let reach = rng.uniform(0.05, 0.8);
            force.limit = Some(Limit { min: -reach, max: 0.5 * reach, stiffness, damping, ramp });
            spec.slide = Some(force);
            builder.add_joint(spec);
            parent = Some(body);
        }
        let mut run = Run::new(builder, settings(DT));
        let start = run.energy();
        // Heights that are in reach count as well.
        let most = start.total() + 0.02 * (start.kinetic + 9.81 * 0.8 * n as f64 * 100.0);
        for k in 0..300 {
            run.step();
            let now = run.energy();
            assert!(now.total() <= most, "{trial}: {} J from {} J at step {k}", now.total(), start.total());
        }
    }
}

#[test]
fn a_stop_carries_a_load_at_the_depth_of_its_law() {
    for ramp in [0.0, 0.01] {
        let mut force = ScalarForce::default();
        force.limit = Some(Limit { min: -0.2, max: 1.0, stiffness: 1e4, damping: 1e2, ramp });
        let (mut run, joint) = slider(Some(force), 0.0, settings(DT));
        run.steps(600);
        let depth = -0.2 - joint_reading(&run.model, &run.state, joint).slide;
        // Depth under 9.81 N: ½k e²/ε on the ramp, else k(e − ε/2).
        let expected = if ramp > 0.0 { (2.0 * 9.81 * ramp / 1e4_f64).sqrt() } else { 9.81 / 1e4 };
        assert_close!(depth, expected, 1e-9);
    }
}

#[test]
fn a_cone_stops_the_lean_of_a_ball() {
    let mut force = RotationForce::default();
    force.cone = Some(Limit { min: 0.0, max: 0.6, stiffness: 1e5, damping: 1e3, ramp: 0.0 });
    let pose = Pose::from_translation(DVec3::X * 0.5);
    let (builder, _, joint) = single(slab(DVec3::new(1.0, 0.1, 0.1)), pose, Motion::ZERO, |body| {
        let frames = frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::X);
        JointSpec::new("shoulder", JointKind::Ball, body, None, frames).with_rotation(force)
    });
    let mut run = Run::new(builder, settings(DT));
    run.steps(600);
    let lean = joint_reading(&run.model, &run.state, joint).rotation.length();
    // k e = m g ℓ/2 cos.
    assert_close!(1e5 * (lean - 0.6), 9.81 * 0.5 * ops::cos(lean), 1e-5);
}

#[test]
fn a_screw_advances_by_its_pitch() {
    let (pitch, torque) = (0.02, 0.5);
    let mass = slab(DVec3::splat(0.4));
    let (builder, body, joint) = single(mass, Pose::IDENTITY, Motion::ZERO, |body| {
        let frames = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::ZERO, DVec3::Z);
        JointSpec::new("screw", JointKind::Screw { pitch }, body, None, frames)
    });
    let mut run = Run::new(builder, without_gravity(settings(DT)));
    run.input.wrenches.push((body, Force::new(DVec3::Z * torque, DVec3::ZERO)));
    for n in 1..=300 {
        run.step();
        let reading = joint_reading(&run.model, &run.state, joint);
        assert_close!(reading.slide, pitch * reading.twist, 1e-12);
        let rate = torque * DT * f64::from(n) / (mass.inertia.zz + pitch * pitch);
        assert_close!(reading.twist_rate, rate, 1e-11);
    }
    assert!(twist(&run, joint) > 10.0 * PI);
}

/// A body of radius 0.3 m on a plane through the origin that drops by `slope` rad along x.
fn rolling(kind: JointKind, mass: MassProperties, slope: f64) -> (Run, DVec3) {
    let tilt = exp_so3(DVec3::Y * slope);
    let (normal, downhill) = (tilt * DVec3::Z, tilt * DVec3::X);
    let pose = Pose::new(tilt, normal * 0.3);
    let (builder, _, _) = single(mass, pose, Motion::ZERO, |body| {
        let mut frames = frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, normal);
        frames.point1 = DVec3::ZERO;
        // The axle is horizontal, across the slope.
        frames.rotation1 = sinew_mechanism::rotation_to_axis(DVec3::Y).expect("an axis");
        JointSpec::new("roll", kind, body, None, frames)
    });
    (Run::new(builder, settings(DT)), downhill)
}

#[test]
fn discs_and_spheres_roll_without_slipping() {
    let (radius, slope) = (0.3, 0.2);
    let disc = MassProperties::cylinder(radius, 0.02, 100.0)
        .transformed_by(Pose::from_rotation(exp_so3(DVec3::Z * (0.5 * PI))));
    let sphere = MassProperties::sphere(radius, 100.0);
    for (kind, mass, share) in [
        (JointKind::RollingDisc { radius }, disc, 2.0 / 3.0),
        (JointKind::RollingSphere { radius }, sphere, 5.0 / 7.0),
    ] {
        let (mut run, downhill) = rolling(kind, mass, slope);
        for n in 1..=180 {
            run.step();
            let Motion { angular, linear } = run.state.motions[0];
            let speed = share * 9.81 * ops::sin(slope) * DT * f64::from(n);
            assert_close!(linear, downhill * speed, 1e-8, "{kind:?}");
            assert_close!(angular, DVec3::Y * (speed / radius), 1e-8, "{kind:?}");
        }
        let height = run.state.poses[0].translation.dot(exp_so3(DVec3::Y * slope) * DVec3::Z);
        assert_close!(height, radius, 1e-9, "{kind:?}");
    }
}

#[test]
fn driven_coordinates_follow_their_functions() {
    let goal = |t: f64| 0.8 * ops::sin(3.0 * t) + 4.0 * t;
    let rate = |t: f64| 2.4 * ops::cos(3.0 * t) + 4.0;
    let acceleration = |t: f64| -7.2 * ops::sin(3.0 * t);
    for (settings, tolerance) in [(settings(DT), 1e-12), (explicit(1e-3, RungeKutta::Fourth, 10.0), 1e-4)] {
        let pose = Pose::from_translation(DVec3::X * 0.2);
        let (builder, _, joint) = single(
            slab(DVec3::splat(0.4)),
            pose,
            Motion::new(DVec3::Y * rate(0.0), DVec3::Z * (-0.2 * rate(0.0))),
            |body| {
                let frames = frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::Y);
                JointSpec::new("pin", JointKind::Hinge, body, None, frames).driven_by(DriveCoordinate::Twist)
            },
        );
        let mut run = Run::new(builder, settings);
        for _ in 0..120 {
            let t = run.state.time + run.settings.dt;
            run.input = Input::default();
            let drive = Drive {
                coordinate: DriveCoordinate::Twist,
                value: goal(t),
                rate: rate(t),
                acceleration: acceleration(t),
            };
            run.input.drives.push((joint, drive));
            run.step();
            assert_close!(twist(&run, joint), goal(t), tolerance);
        }
    }
}

#[test]
fn a_driven_slide_inside_a_moving_chain_follows() {
    let mut builder = Chain::new(3, JointKind::Hinge).build();
    let last = sinew_mechanism::BodyId::from_index(2);
    let pose = Pose::from_translation(DVec3::X * 1.75);
    let body = builder.add_body(BodySpec::dynamic("piston", pose, slab(DVec3::splat(0.2))));
    let frames = frames_at(&pose, &builder.body_pose(last), DVec3::X * 1.5, DVec3::X);
    let joint = builder.add_joint(
        JointSpec::new("rail", JointKind::Prismatic, body, Some(last), frames)
            .driven_by(DriveCoordinate::Slide),
    );
    let mut run = Run::new(builder, settings(DT));
    let mut worst = 0.0f64;
    for _ in 0..180 {
        let value = 0.3 * ops::sin(4.0 * (run.state.time + DT));
        let drive = Drive { coordinate: DriveCoordinate::Slide, value, rate: 0.0, acceleration: 0.0 };
        run.input.drives.clear();
        run.input.drives.push((joint, drive));
        run.step();
        worst = worst.max((joint_reading(&run.model, &run.state, joint).slide - value).abs());
    }
    assert!(worst < 0.02, "{worst} m from the goal");
}

#[test]
fn compliance_is_a_spring() {
    let mut rng = Rng::new(3);
    let stiffness = 4e3;
    let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
    let mass = slab(DVec3::new(0.5, 0.3, 0.2));
    let motion = Motion::new(rng.vec3(-2.0, 2.0), rng.vec3(-2.0, 2.0));
    let anchor = DVec3::new(0.3, -0.2, 0.4);
    let settings = with_gyroscopic(settings(DT), Gyroscopic::Implicit);
    let (builder, body, _) = single(mass, pose, motion, |body| {
        let frames = frames_at(&pose, &Pose::IDENTITY, anchor, DVec3::X);
        JointSpec::new("soft", JointKind::Ball, body, None, frames).with_compliance(1.0 / stiffness)
    });
    let mut soft = Run::new(builder, settings);
    let mut builder = MechanismBuilder::new();
    builder.add_body(BodySpec::dynamic("body", pose, mass).with_motion(motion));
    let point = pose.inverse().transform_point(anchor);
    builder.add_spring(PointSpringSpec::new(body, point, None, anchor, stiffness, 0.0));
    let mut sprung = Run::new(builder, settings);
    assert_close!(soft.energy().elastic, 0.0, 1e-20);
    for _ in 0..120 {
        soft.step();
        sprung.step();
        assert_close!(soft.state.motions[0].to_array(), sprung.state.motions[0].to_array(), 1e-10);
        assert_close!(soft.energy().elastic, sprung.energy().elastic, 1e-10);
    }
    assert!(soft.energy().elastic > 1e-3, "{:?}", soft.energy());
}

#[test]
fn a_kinematic_body_drags_a_chain() {
    let mut builder = MechanismBuilder::new();
    let hand = builder.add_body(BodySpec::kinematic("hand", Pose::IDENTITY));
    let mut parent = hand;
    for link in 0..10 {
        let pose = Pose::from_translation(DVec3::X * (0.25 + 0.5 * f64::from(link)));
        let mass = slab(DVec3::new(0.5, 0.05, 0.05));
        let body = builder.add_body(BodySpec::dynamic("", pose, mass).with_damping(1.0, 1.0));
        let frames = frames_at(&pose, &builder.body_pose(parent), DVec3::X * 0.5 * f64::from(link), DVec3::Y);
        builder.add_joint(JointSpec::new("", JointKind::Ball, body, Some(parent), frames));
        parent = body;
    }
    for settings in [settings(DT), explicit(1e-3, RungeKutta::Fourth, 10.0)] {
        let mut run = Run::new(builder.clone(), settings);
        let goal = |t: f64| Pose::new(exp_so3(DVec3::Z * t), DVec3::new(0.0, 2.0 * t, 0.5 * t));
        for _ in 0..(12.0 / run.settings.dt) as usize {
            let goal = goal(run.state.time + run.settings.dt);
            run.input.kinematic.clear();
            run.input.kinematic.push((hand, goal));
            run.step();
            assert_close!(run.state.poses[0].translation, goal.translation, 1e-15);
        }
        // Everything follows the hand, behind and below it.
        for motion in &run.state.motions[1..] {
            assert_close!(motion.linear, DVec3::new(0.0, 2.0, 0.5), 2e-2);
        }
        assert!(run.worst_anchor() < 1e-4, "{}", run.worst_anchor());
        let tail = run.state.poses[10].translation - run.state.poses[0].translation;
        assert!(tail.z < -3.0 && tail.y < -0.1, "{tail}");
    }
}

#[test]
fn a_grab_holds_its_point_and_damps_it_in_every_direction() {
    let mut builder = MechanismBuilder::new();
    let spec = BodySpec::dynamic("body", Pose::IDENTITY, slab(DVec3::splat(0.3))).with_damping(2.0, 0.0);
    let body = builder.add_body(spec);
    let mut run = Run::new(builder, settings(DT));
    let (stiffness, target) = (1e4, DVec3::new(0.5, 0.2, 1.0));
    let point = DVec3::new(0.1, 0.1, 0.1);
    run.input.grabs.push(Grab { body, point, target, stiffness, damping: 100.0 });
    run.state.motions[0].linear = DVec3::new(3.0, -2.0, 1.0);
    run.steps(1_500);
    let held = run.state.poses[0].transform_point(point);
    assert_close!(held, target - DVec3::Z * (9.81 / stiffness), 1e-6);
}

#[test]
fn wrenches_act_at_centres_of_mass() {
    let mut builder = MechanismBuilder::new();
    let mass =
        slab(DVec3::new(0.5, 0.4, 0.3)).transformed_by(Pose::from_translation(DVec3::new(0.2, 0.0, 0.0)));
    let body = builder.add_body(BodySpec::dynamic("body", Pose::IDENTITY, mass));
    let mut run = Run::new(builder, with_gravity(settings(DT), DVec3::ZERO));
    run.input.wrenches.push((body, Force::new(DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0))));
    run.steps(60);
    assert_close!(run.state.motions[0].linear, DVec3::new(1.0, 2.0, 3.0), 1e-12);
    assert_close!(run.state.motions[0].angular, DVec3::ZERO, 1e-15);
}
