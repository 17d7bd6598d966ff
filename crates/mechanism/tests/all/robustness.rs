//! Bad specs are refused by name, bad inputs are ignored, and no state makes a step panic.

use glam::{DQuat, DVec3};
use sinew_math::{Force, MassProperties, Motion, Pose};
use sinew_mechanism::{
    BodyId, BodySpec, Drive, DriveCoordinate, Grab, Input, JointFrames, JointId, JointKind, JointSpec, Limit,
    MechanismBuilder, MechanismError, Motor, MotorTarget, Order, PointSpringSpec, RotationForce, RungeKutta,
    ScalarForce, Settings, Workspace, step,
};
use sinew_testkit::Rng;

use crate::dense_oracle::scene::{Scene, Taste};
use crate::support::{Chain, Run, explicit, frames_at, implicit, lump, settings, slab};

const FRAMES: JointFrames = JointFrames {
    rotation1: DQuat::IDENTITY,
    point1: DVec3::ZERO,
    rotation2: DQuat::IDENTITY,
    point2: DVec3::ZERO,
};

/// Two cubes `left` and `right`.
fn two_bodies() -> (MechanismBuilder, BodyId, BodyId) {
    let mut builder = MechanismBuilder::new();
    let [left, right] = ["left", "right"]
        .map(|name| builder.add_body(BodySpec::dynamic(name, Pose::IDENTITY, slab(DVec3::splat(0.2)))));
    (builder, left, right)
}

/// The error of two bodies tied by `joint`, which must name it.
fn joint_error(name: &str, change: impl FnOnce(JointSpec) -> JointSpec) -> MechanismError {
    let (mut builder, left, right) = two_bodies();
    builder.add_joint(change(JointSpec::new("elbow", JointKind::Hinge, left, Some(right), FRAMES)));
    named(builder, name)
}

fn of_kind(mut joint: JointSpec, kind: JointKind) -> JointSpec {
    joint.kind = kind;
    joint
}

fn named(builder: MechanismBuilder, name: &str) -> MechanismError {
    let error = builder.build().expect_err("a refusal");
    assert!(error.to_string().contains(name), "`{error}` does not name {name}");
    error
}

#[test]
fn bad_bodies_are_refused_by_name() {
    let body = |spec: BodySpec| {
        let mut builder = MechanismBuilder::new();
        builder.add_body(spec);
        named(builder, "hand")
    };
    let good = || BodySpec::dynamic("hand", Pose::IDENTITY, slab(DVec3::splat(0.2)));
    let non_physical = [
        MassProperties::default(),
        lump(-1.0, DVec3::ONE),
        lump(f64::NAN, DVec3::ONE),
        lump(1.0, DVec3::new(1.0, 1.0, 5.0)),
        lump(1.0, DVec3::new(1.0, -1.0, 1.0)),
        lump(1.0, DVec3::new(1.0, f64::INFINITY, 1.0)),
    ];
    for mass in non_physical {
        let error = body(BodySpec::dynamic("hand", Pose::IDENTITY, mass));
        assert!(matches!(error, MechanismError::NonPhysicalMass { .. }), "{error}");
    }
    let mut numbers = Vec::new();
    numbers.push(good().with_damping(-1.0, 0.0));
    numbers.push(good().with_damping(0.0, f64::NAN));
    numbers.push(good().with_motion(Motion::new(DVec3::NAN, DVec3::ZERO)));
    let mut bent = good();
    bent.pose.rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0);
    numbers.push(bent.clone());
    bent.pose = Pose::from_translation(DVec3::splat(f64::INFINITY));
    numbers.push(bent);
    for spec in numbers {
        let error = body(spec);
        assert!(matches!(error, MechanismError::InvalidNumber { .. }), "{error}");
    }
    let (mut builder, _, _) = two_bodies();
    builder.add_body(BodySpec::fixed("left", Pose::IDENTITY));
    assert!(matches!(named(builder, "left"), MechanismError::DuplicateName { kind: "body", .. }));
}

#[test]
fn bad_joints_are_refused_by_name() {
    let number = |change: &dyn Fn(JointSpec) -> JointSpec| {
        let error = joint_error("elbow", change);
        assert!(matches!(error, MechanismError::InvalidNumber { .. }), "{error}");
    };
    let twist = |force: ScalarForce| move |j: JointSpec| j.with_twist(force);
    number(&|mut j| {
        j.frames.rotation1 = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        j
    });
    number(&|mut j| {
        j.frames.point2 = DVec3::NAN;
        j
    });
    number(&|j| j.with_compliance(-1.0));
    number(&|j| of_kind(j, JointKind::Screw { pitch: f64::NAN }));
    number(&|j| of_kind(j, JointKind::RollingSphere { radius: 0.0 }));
    number(&twist(ScalarForce::spring(-1.0, 0.0, 0.0)));
    number(&twist(ScalarForce::spring(1.0, f64::NAN, 0.0)));
    number(&twist(ScalarForce::spring(1.0, 0.0, f64::INFINITY)));
    let mut force = ScalarForce::default();
    force.limit = Some(Limit { min: 1.0, max: 0.0, stiffness: 1.0, damping: 0.0, ramp: 0.0 });
    number(&twist(force));
    force.limit = Some(Limit { min: 0.0, max: 1.0, stiffness: 0.0, damping: 0.0, ramp: 0.0 });
    number(&twist(force));
    let mut force = ScalarForce::default();
    for (kp, max_force, position) in [(-1.0, 1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, f64::NAN)] {
        force.motor = Some(Motor {
            kp,
            kd: 0.0,
            max_force,
            target: MotorTarget { position, velocity: 0.0, ..MotorTarget::default() },
            gravity_compensation: false,
        });
        number(&twist(force));
    }
    number(&|j| j.with_rotation(RotationForce::spring(f64::NAN, 0.0)));

    let coordinate = |change: &dyn Fn(JointSpec) -> JointSpec| {
        let error = joint_error("elbow", change);
        assert!(matches!(error, MechanismError::NoSuchCoordinate { .. }), "{error}");
    };
    coordinate(&|j| of_kind(j, JointKind::PointOnPlane).with_twist(ScalarForce::default()));
    coordinate(&|j| j.with_slide(ScalarForce::default()));
    coordinate(&|j| j.driven_by(DriveCoordinate::Slide));
    coordinate(&|j| j.driven_by(DriveCoordinate::Twist).driven_by(DriveCoordinate::Twist));
    let target = MotorTarget { position: 0.0, velocity: 0.0, ..MotorTarget::default() };
    force.motor = Some(Motor { kp: 1.0, kd: 0.0, max_force: 1.0, target, gravity_compensation: false });
    coordinate(&|j| of_kind(j, JointKind::Cylindrical).with_twist(force).with_slide(force));
    coordinate(&|j| of_kind(j, JointKind::Fixed).with_rotation(RotationForce::spring(1.0, 0.0)));

    let error = joint_error("elbow", |mut j| {
        j.child = BodyId::from_index(7);
        j
    });
    assert!(matches!(error, MechanismError::UnknownId { index: 7, count: 2, .. }), "{error}");
    let error = joint_error("elbow", |mut j| {
        j.parent = Some(j.child);
        j
    });
    assert!(matches!(error, MechanismError::Topology(_)), "{error}");
}

#[test]
fn bad_graphs_and_springs_are_refused_by_name() {
    let (mut builder, left, right) = two_bodies();
    builder.add_joint(JointSpec::new("a", JointKind::Ball, left, Some(right), FRAMES));
    builder.add_joint(JointSpec::new("b", JointKind::Ball, right, None, FRAMES));
    builder.add_joint(JointSpec::new("closing", JointKind::Ball, left, None, FRAMES));
    assert_eq!(builder.clone().build().expect("a loop").n_rows(), (6, 3));
    builder.add_joint(JointSpec::new("a", JointKind::Ball, left, None, FRAMES));
    assert!(matches!(named(builder, "`a`"), MechanismError::DuplicateName { kind: "joint", .. }));

    let mut builder = MechanismBuilder::new();
    let wall = builder.add_body(BodySpec::fixed("wall", Pose::IDENTITY));
    builder.add_joint(JointSpec::new("pointless", JointKind::Ball, wall, None, FRAMES));
    assert!(matches!(named(builder, "pointless"), MechanismError::ImmovableJoint { .. }));

    let spring = |b1, b2| PointSpringSpec::new(b1, DVec3::ZERO, b2, DVec3::ZERO, 1.0, 0.0);
    let (mut builder, left, _) = two_bodies();
    builder.add_spring(spring(left, Some(BodyId::from_index(9))));
    assert!(matches!(named(builder, "spring 0"), MechanismError::UnknownId { index: 9, .. }));
    let (mut builder, left, _) = two_bodies();
    builder.add_spring(spring(left, None).with_rest_length(-1.0));
    assert!(matches!(named(builder, "spring 0"), MechanismError::InvalidNumber { .. }));
}

/// The implicit schemes and the baseline.
fn all_settings(dt: f64) -> [Settings; 4] {
    [
        settings(dt),
        implicit(dt, Order::Second, 1),
        implicit(dt, Order::First, 6),
        explicit(dt, RungeKutta::Fourth, 10.0),
    ]
}

#[test]
fn numbers_that_are_none_are_ignored_in_inputs() {
    let mut builder = Chain::new(3, JointKind::Hinge).build();
    let hand = builder.add_body(BodySpec::kinematic("hand", Pose::IDENTITY));
    let body = builder.add_body(BodySpec::dynamic("held", Pose::IDENTITY, slab(DVec3::splat(0.2))));
    let frames = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::ZERO, DVec3::Z);
    let joint = JointSpec::new("rail", JointKind::Cylindrical, body, Some(hand), frames);
    let mut force = ScalarForce::default();
    let target = MotorTarget { position: 0.1, velocity: 0.0, ..MotorTarget::default() };
    force.motor = Some(Motor { kp: 10.0, kd: 1.0, max_force: 5.0, target, gravity_compensation: false });
    let joint = builder.add_joint(joint.with_twist(force).driven_by(DriveCoordinate::Slide));
    let nan = f64::NAN;
    let mut input = Input::default();
    input.kinematic.push((hand, Pose::from_translation(DVec3::NAN)));
    input.wrenches.push((body, Force::new(DVec3::NAN, DVec3::ONE)));
    input.motors.push((joint, MotorTarget { position: nan, velocity: 0.0, ..MotorTarget::default() }));
    let drive = Drive { coordinate: DriveCoordinate::Slide, value: nan, rate: 0.0, acceleration: 0.0 };
    input.drives.push((joint, drive));
    input.spring_scale = nan;
    let grab = Grab { body, point: DVec3::ZERO, target: DVec3::ONE, stiffness: 1.0, damping: 0.0 };
    input.grabs.push(Grab { point: DVec3::NAN, ..grab });
    input.grabs.push(Grab { target: DVec3::NAN, ..grab });
    input.grabs.push(Grab { stiffness: nan, ..grab });
    input.grabs.push(Grab { damping: f64::INFINITY, ..grab });
    // Handles of another model are ignored too.
    input.wrenches.push((BodyId::from_index(99), Force::ZERO));
    input.grabs.push(Grab { body: BodyId::from_index(99), ..grab });
    input.motors.push((JointId::from_index(99), MotorTarget::default()));
    for settings in all_settings(0.01) {
        let mut clean = Run::new(builder.clone(), settings);
        let mut dirty = Run::new(builder.clone(), settings);
        dirty.input = input.clone();
        clean.steps(5);
        dirty.steps(5);
        assert_eq!(clean.state, dirty.state, "{settings:?}");
    }
}

#[test]
fn degenerate_poses_never_break_a_step() {
    let turns = [
        DQuat::IDENTITY,
        DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0),
        DQuat::from_xyzw(0.0, 0.6, 0.8, 0.0),
        DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0),
        DQuat::from_xyzw(0.0, 0.0, 0.5f64.sqrt(), 0.5f64.sqrt()),
        DQuat::from_xyzw(0.0, 0.5f64.sqrt(), 0.0, 0.5f64.sqrt()),
    ];
    let mut rng = Rng::new(5);
    for kind in JointKind::all(0.3) {
        for turn in turns {
            for offset in [DVec3::ZERO, DVec3::new(0.3, 0.0, 0.0), rng.vec3(-1.0, 1.0)] {
                let (mut builder, left, right) = two_bodies();
                let frames = JointFrames { rotation1: turn, point1: offset, ..FRAMES };
                let mut joint = JointSpec::new("", kind, left, Some(right), frames);
                if kind.locked_mask().is_none_or(|mask| mask & 0b111 != 0b111) {
                    let mut force = RotationForce::spring(10.0, 0.1);
                    let stop = Limit { min: 0.0, max: 0.5, stiffness: 1e4, damping: 1.0, ramp: 0.0 };
                    force.cone = Some(stop);
                    joint = joint.with_rotation(force);
                }
                builder.add_joint(joint);
                builder.add_joint(JointSpec::new("", kind, right, None, frames));
                let spring = PointSpringSpec::new(left, DVec3::ZERO, Some(right), DVec3::ZERO, 100.0, 1.0);
                builder.add_spring(spring);
                builder.add_spring(spring.with_rest_length(0.3));
                let [first, second, newton, baseline] = all_settings(0.01);
                for settings in [first, second, newton] {
                    Run::new(builder.clone(), settings).steps(5);
                }
                // Baumgarte's pull has no direction there: the explicit baseline may only not panic.
                let mut run = Run::new(builder, baseline);
                for _ in 0..5 {
                    step(&run.model, &mut run.state, &run.input, &run.settings, &mut run.workspace);
                }
            }
        }
    }
}

#[test]
fn extreme_steps_and_magnitudes_stay_finite() {
    let mut rng = Rng::new(6);
    let taste = Taste { mass_decades: 6, stiffness_decades: 9, ..Taste::WILD };
    for _ in 0..60 {
        let scene = Scene::random(&mut rng, &taste);
        let model = scene.model();
        for dt in [1e-12, 1e-6, 1.0, 10.0] {
            let mut settings = settings(dt);
            settings.gravity = scene.settings.gravity;
            let mut state = model.initial_state();
            let mut workspace = Workspace::new(&model);
            for _ in 0..3 {
                let report = step(&model, &mut state, &scene.input, &settings, &mut workspace);
                assert_eq!(report.non_finite, None, "dt = {dt:e}\n{scene:#?}");
            }
        }
    }
    let mut run = Run::new(Chain::new(10, JointKind::Ball).build(), settings(1.0 / 60.0));
    for motion in &mut run.state.motions {
        *motion = Motion::new(rng.vec3(-1e6, 1e6), rng.vec3(-1e6, 1e6));
    }
    run.steps(100);
}

#[test]
fn trouble_is_reported_with_the_first_offending_body() {
    let mut builder = MechanismBuilder::new();
    for _ in 0..4 {
        builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, slab(DVec3::splat(0.2))));
    }
    let mut run = Run::new(builder, settings(0.01));
    run.state.motions[2].linear.x = f64::NAN;
    let report = step(&run.model, &mut run.state, &run.input, &run.settings, &mut run.workspace);
    assert_eq!(report.non_finite, Some(BodyId::from_index(2)));
    assert!(run.state.poses[3].is_finite(), "other islands go on");
}

#[test]
fn a_hundred_thousand_links_build_and_step() {
    let mut run = Run::new(Chain::new(100_000, JointKind::Hinge).build(), settings(1.0 / 60.0));
    for settings in all_settings(1.0 / 240.0) {
        run.settings = settings;
        run.step();
    }
    assert_eq!(run.model.n_dynamic(), 100_000);
    assert_eq!(run.model.n_rows(), (500_000, 0));
}
