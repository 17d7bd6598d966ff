//! Limits and motors on the twist of joints whose axis leans: ball, universal and free joints.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, exp_so3};
use sinew_mechanism::{
    BodySpec, Input, JointFrames, JointId, JointKind, JointSpec, Limit, MechanismBuilder, Model, Motor,
    MotorTarget, RungeKutta, ScalarForce, Settings, State, Workspace, energy, joint_reading, momentum,
    rotation_to_axis, step,
};
use sinew_testkit::Rng;

use crate::support::{explicit, slab, without_gravity};

const JOINT: JointId = JointId::from_index(0);

fn limited(max: f64, stiffness: f64, damping: f64) -> ScalarForce {
    let mut force = ScalarForce::default();
    force.limit = Some(Limit { min: -max, max, stiffness, damping, ramp: 0.0 });
    force
}

fn driven(motor: Motor) -> ScalarForce {
    let mut force = ScalarForce::default();
    force.motor = Some(motor);
    force
}

/// A body on a joint to the world at its centre of mass, main axis z, leaning as a rotation vector says, and spinning.
fn top(kind: JointKind, lean: DVec3, spin: DVec3, force: ScalarForce) -> Model {
    let mut builder = MechanismBuilder::new();
    let pose = Pose::new(exp_so3(lean), DVec3::ZERO);
    let body = BodySpec::dynamic("", pose, slab(DVec3::new(0.3, 0.2, 0.6)));
    let body = builder.add_body(body.with_motion(Motion::new(spin, DVec3::ZERO)));
    let axis = rotation_to_axis(DVec3::Z).expect("not zero");
    let frames = JointFrames { rotation1: axis, point1: DVec3::ZERO, rotation2: axis, point2: DVec3::ZERO };
    builder.add_joint(JointSpec::new("", kind, body, None, frames).with_twist(force));
    builder.build().expect("a top")
}

fn run(
    model: &Model,
    settings: &Settings,
    input: &Input,
    steps: usize,
    mut see: impl FnMut(&State),
) -> State {
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(model));
    for _ in 0..steps {
        step(model, &mut state, input, settings, &mut workspace);
        see(&state);
    }
    state
}

#[test]
fn the_force_of_a_twist_limit_is_the_gradient_of_its_energy() {
    // A conservative force keeps the energy of an accurate integration; a wrong gradient works against a leaning spin.
    let mut rng = Rng::new(5);
    for kind in [JointKind::Ball, JointKind::Free] {
        for _ in 0..4 {
            let lean = DVec3::new(rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), 0.0);
            // Without a corner, so that the order of the method shows.
            let mut soft = limited(0.2, 4.0, 0.0);
            soft.limit = soft.limit.map(|limit| Limit { ramp: 0.1, ..limit });
            let model = top(kind, lean, DVec3::Z * 3.0 + rng.vec3(-0.5, 0.5), soft);
            let settings = without_gravity(explicit(1e-3, RungeKutta::Fourth, 10.0));
            let total = |state: &State| energy(&model, state, DVec3::ZERO, 1.0).total();
            let before = total(&model.initial_state());
            let (mut beyond, mut lowest) = (0.0f64, 1.0f64);
            let end = run(&model, &settings, &Input::default(), 1_000, |state| {
                lowest = lowest.min((state.poses[0].rotation * DVec3::Z).z);
                beyond = beyond.max(joint_reading(&model, state, JOINT).twist.abs() - 0.2);
            });
            let change = (total(&end) - before).abs() / before;
            let what = format!("{change:e} of the energy, beyond by {beyond}, axis down to {lowest}");
            assert!(beyond > 0.05 && lowest > -0.9 && change < 1e-6, "{kind:?}: {what}");
        }
    }
}

#[test]
fn a_twist_limit_bears_a_torque_at_any_lean() {
    for lean in [0.0, 0.7, 1.5, 2.5] {
        let model = top(JointKind::Ball, DVec3::X * lean, DVec3::ZERO, limited(0.5, 1e3, 50.0));
        // About the twist gradient, so that only the limit holds against it.
        let mut state = model.initial_state();
        let mut settings = without_gravity(Settings::default());
        settings.dt = 1.0 / 60.0;
        let mut workspace = Workspace::new(&model);
        let mut input = Input::default();
        let body = model.bodies().next().expect("a body");
        for _ in 0..600 {
            // Along `g`, with friction of the air so that it comes to rest.
            let main = state.poses[0].rotation * (model.joint_frames(JOINT).rotation1 * DVec3::X);
            let torque = (DVec3::Z + main) / (1.0 + main.z) * 2.0;
            input.wrenches.clear();
            let drag = state.motions[0].angular * -0.5;
            input.wrenches.push((body, Force::new(torque + drag, DVec3::ZERO)));
            step(&model, &mut state, &input, &settings, &mut workspace);
        }
        let twist = joint_reading(&model, &state, JOINT).twist;
        assert!((twist - (0.5 + 2.0 / 1e3)).abs() < 1e-5, "lean {lean}: twist {twist}");
    }
}

#[test]
fn a_twist_motor_turns_with_its_largest_torque_then_at_its_speed() {
    for kind in [JointKind::Ball, JointKind::Universal] {
        let target = MotorTarget { position: 0.0, velocity: 30.0, ..MotorTarget::default() };
        let motor = Motor { kp: 0.0, kd: 1e4, max_force: 0.5, target, gravity_compensation: false };
        let model = top(kind, DVec3::ZERO, DVec3::ZERO, driven(motor));
        let moment = model.principal_moments(model.bodies().next().expect("a body")).min_element();
        let mut settings = without_gravity(Settings::default());
        settings.dt = 1.0 / 60.0;
        let mut fastest = 0.0f64;
        let slow = run(&model, &settings, &Input::default(), 30, |_| {});
        let rate = joint_reading(&model, &slow, JOINT).twist_rate;
        let ramp = (0.5 / moment * 0.5).min(30.0);
        assert!((rate - ramp).abs() < 1e-9 * ramp, "{kind:?}: {rate} rad/s for {ramp}");
        let steps = (40.0 * moment / 0.5 * 60.0) as usize;
        let end = run(&model, &settings, &Input::default(), steps, |state| {
            fastest = fastest.max(joint_reading(&model, state, JOINT).twist_rate);
        });
        let reading = joint_reading(&model, &end, JOINT);
        assert!((reading.twist_rate - 30.0).abs() < 1e-6 && fastest < 30.0 + 1e-6, "{kind:?}: {reading:?}");
        // More than a turn per step counts whole turns.
        assert!(reading.twist > 10.0, "{kind:?}: {reading:?}");
    }
}

#[test]
fn a_position_motor_holds_the_twist_while_the_axis_swings() {
    let motor = Motor {
        kp: 200.0,
        kd: 10.0,
        max_force: f64::INFINITY,
        target: MotorTarget { position: 0.6, velocity: 0.0, ..MotorTarget::default() },
        gravity_compensation: false,
    };
    let model = top(JointKind::Ball, DVec3::X * 0.5, DVec3::Y * 1.5, driven(motor));
    let mut settings = without_gravity(Settings::default());
    settings.dt = 1.0 / 240.0;
    let mut least = f64::INFINITY;
    let mut leans = [f64::INFINITY, 0.0f64];
    let mut count = 0;
    run(&model, &settings, &Input::default(), 480, |state| {
        let reading = joint_reading(&model, state, JOINT);
        let main = (state.poses[0].rotation * (model.joint_frames(JOINT).rotation1 * DVec3::X)).z;
        leans = [leans[0].min(main), leans[1].max(main)];
        count += 1;
        if count > 240 {
            least = least.min(reading.twist);
        }
    });
    assert!(leans[1] - leans[0] > 0.5, "it swings: {leans:?}");
    assert!((least - 0.6).abs() < 0.02, "{least}");
}

#[test]
fn twist_forces_keep_momentum_between_floating_bodies() {
    let mut rng = Rng::new(8);
    for case in 0..10 {
        let mut builder = MechanismBuilder::new();
        let mut last = None;
        for k in 0..4 {
            let place = DVec3::X * f64::from(k);
            let body = BodySpec::dynamic("", Pose::from_translation(place), slab(DVec3::new(0.8, 0.2, 0.1)));
            let motion = Motion::new(rng.vec3(-5.0, 5.0), rng.vec3(-1.0, 1.0));
            let body = builder.add_body(body.with_motion(motion));
            if let Some(parent) = last {
                let frame =
                    Pose::new(rotation_to_axis(rng.unit_vec()).expect("not zero"), place - DVec3::X * 0.5);
                let frames =
                    JointFrames::coincident(&builder.body_pose(body), &builder.body_pose(parent), &frame);
                let mut force = limited(0.3, 100.0, 1.0);
                let target = MotorTarget { position: 0.0, velocity: 2.0, ..MotorTarget::default() };
                force.motor =
                    Some(Motor { kp: 0.0, kd: 5.0, max_force: 1.0, target, gravity_compensation: false });
                force.friction = 0.2;
                builder.add_joint(
                    JointSpec::new("", JointKind::Ball, body, Some(parent), frames).with_twist(force),
                );
            }
            last = Some(body);
        }
        let model = builder.build().expect("a chain");
        let mut settings = without_gravity(Settings::default());
        settings.dt = 1.0 / 60.0;
        let before = momentum(&model, &model.initial_state());
        let end = run(&model, &settings, &Input::default(), 600, |_| {});
        let after = momentum(&model, &end);
        let lost = (after.angular - before.angular).length() / before.angular.length();
        assert!(lost < 1e-10, "case {case}: {lost:e}");
    }
}

#[test]
fn twist_forces_are_refused_where_there_is_no_twist() {
    for kind in [JointKind::Prismatic, JointKind::Fixed, JointKind::PointOnLine] {
        let mut builder = MechanismBuilder::new();
        let body = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, slab(DVec3::ONE)));
        let joint = JointSpec::new(
            "j",
            kind,
            body,
            None,
            JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &Pose::IDENTITY),
        );
        builder.add_joint(joint.with_twist(limited(1.0, 1.0, 0.0)));
        let error = builder.build().expect_err("no twist").to_string();
        assert!(error.contains('j') && error.contains("ball"), "{error}");
    }
}
