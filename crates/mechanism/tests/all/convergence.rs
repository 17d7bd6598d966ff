//! Orders of accuracy, and the period of a pendulum.

use glam::DVec3;
use sinew_math::{Motion, ops};
use sinew_mechanism::{
    JointKind, MechanismBuilder, Order, RotationForce, RungeKutta, ScalarForce, Settings, State, Workspace,
    joint_reading, step,
};
use std::f64::consts::PI;

use crate::support::{Chain, GRAVITY, Run, explicit, frames_at, implicit, single, slab};

/// Complete elliptic integral of the first kind by the arithmetic-geometric mean; `k` is the modulus.
fn elliptic_k(k: f64) -> f64 {
    let (mut a, mut g) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..40 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    PI / (2.0 * a)
}

/// A bar of one metre on a hinge along y, released at rest at an angle from hanging; returns its measured period.
fn measured_period(amplitude: f64, settings: Settings) -> f64 {
    let down = DVec3::new(ops::sin(amplitude), 0.0, -ops::cos(amplitude));
    // Frame 2 looks along −z at angle zero, so the twist is the angle from hanging.
    let hanging =
        sinew_math::Pose::new(sinew_math::exp_so3(DVec3::Y * (0.5 * PI)), DVec3::new(0.0, 0.0, -0.5));
    let turned = sinew_math::Pose::new(sinew_math::exp_so3(DVec3::Y * (0.5 * PI - amplitude)), down * 0.5);
    let (builder, _, joint) = single(slab(DVec3::new(1.0, 0.1, 0.1)), turned, Motion::ZERO, |body| {
        let frames = frames_at(&hanging, &sinew_math::Pose::IDENTITY, DVec3::ZERO, DVec3::Y);
        sinew_mechanism::JointSpec::new("pin", JointKind::Hinge, body, None, frames)
            .with_twist(ScalarForce::default())
    });
    let mut run = Run::new(builder, settings);
    let mut crossings = Vec::new();
    let mut last = joint_reading(&run.model, &run.state, joint).twist;
    assert!((last + amplitude).abs() < 1e-12, "starts at {last}");
    while crossings.len() < 3 {
        run.step();
        let now = joint_reading(&run.model, &run.state, joint).twist;
        if last * now < 0.0 {
            crossings.push(run.state.time - run.settings.dt * now / (now - last));
        }
        last = now;
        assert!(run.state.time < 20.0, "never swings back");
    }
    crossings[2] - crossings[0]
}

#[test]
fn a_pendulum_has_the_period_of_the_elliptic_integral() {
    let inertia = slab(DVec3::new(1.0, 0.1, 0.1)).inertia.yy + 0.25;
    for amplitude in [0.1, 1.0, 2.5] {
        let k = ops::sin(0.5 * amplitude);
        let exact = 4.0 * elliptic_k(k) * (inertia / (9.81 * 0.5)).sqrt();
        let relative = |settings| (measured_period(amplitude, settings) / exact - 1.0).abs();
        let fourth = relative(explicit(1e-3, RungeKutta::Fourth, 10.0));
        let second = relative(implicit(1e-3, Order::Second, 1));
        let first = relative(implicit(1e-3, Order::First, 1));
        assert!(
            fourth < 1e-6 && second < 1e-4 && first < 1e-2,
            "{amplitude}: {fourth:e} {second:e} {first:e}"
        );
    }
}

/// Two links that start moving, with springs, hung from the world: planar hinges or balls in space.
fn double_pendulum(kind: JointKind) -> MechanismBuilder {
    let chain = Chain::new(2, kind);
    let hinged = kind == JointKind::Hinge;
    let omega = if hinged { DVec3::Y * 2.0 } else { DVec3::new(1.5, 2.0, -3.0) };
    let turning = |link: usize, body: sinew_mechanism::BodySpec| {
        // One rigid rotation about the anchor: every joint velocity is consistent.
        let linear = omega.cross(DVec3::X * (0.25 + 0.5 * link as f64));
        body.with_motion(Motion::new(omega, linear))
    };
    let mut plain = chain.build_with(turning);
    if hinged {
        plain = Chain { twist: Some(ScalarForce::spring(2.0, 0.3, 0.05)), ..chain }.build_with(turning);
    }
    plain
}

/// Poses and twists after `n` steps over `time`, with lengths that follow `pattern` (mean 1).
pub(crate) fn end_state(
    builder: MechanismBuilder,
    mut settings: Settings,
    time: f64,
    n: usize,
    pattern: &[f64],
) -> State {
    let model = builder.build().expect("a valid mechanism");
    let mut workspace = Workspace::new(&model);
    let mut state = model.initial_state();
    for k in 0..n {
        settings.dt = time / n as f64 * pattern[k % pattern.len()];
        step(&model, &mut state, &sinew_mechanism::Input::default(), &settings, &mut workspace);
    }
    assert!((state.time - time).abs() < 1e-9);
    state
}

pub(crate) fn distance(a: &State, b: &State) -> f64 {
    let pose = |s: &State, t: &State, i: usize| {
        let turn = sinew_math::log_so3(s.poses[i].rotation * t.poses[i].rotation.conjugate());
        turn.length().max((s.poses[i].translation - t.poses[i].translation).length())
    };
    let twist = |s: &State, t: &State, i: usize| {
        let m = s.motions[i] - t.motions[i];
        m.angular.length().max(m.linear.length())
    };
    (0..a.poses.len()).map(|i| pose(a, b, i).max(twist(a, b, i))).fold(0.0, f64::max)
}

/// Slope of the error over the last halving of the step.
fn order(
    make: &dyn Fn() -> MechanismBuilder,
    settings: Settings,
    steps: usize,
    pattern: &[f64],
) -> (f64, f64) {
    let time = 0.5;
    let mut fine = explicit(0.0, RungeKutta::Fourth, 0.0);
    fine.gravity = GRAVITY;
    let reference = end_state(make(), fine, time, 20_000, &[1.0]);
    let error = |n| distance(&end_state(make(), settings, time, n, pattern), &reference);
    let (coarse, half) = (error(steps), error(2 * steps));
    (ops::ln(coarse / half) / ops::ln(2.0), half)
}

fn check(name: &str, settings: Settings, steps: usize, expected: f64, pattern: &[f64]) {
    for kind in [JointKind::Hinge, JointKind::Ball] {
        let (slope, error) = order(&|| double_pendulum(kind), settings, steps, pattern);
        assert!((slope - expected).abs() < 0.15, "{name}, {kind:?}: order {slope}, error {error:e}");
    }
}

#[test]
fn explicit_methods_converge_at_their_order() {
    check("Runge-Kutta 4", explicit(0.0, RungeKutta::Fourth, 0.0), 100, 4.0, &[1.0]);
    check("Runge-Kutta 2", explicit(0.0, RungeKutta::Second, 0.0), 400, 2.0, &[1.0]);
    check("forward Euler", explicit(0.0, RungeKutta::First, 0.0), 4_000, 1.0, &[1.0]);
}

#[test]
fn stabilization_does_not_cost_order() {
    check("Runge-Kutta 4, stabilized", explicit(0.0, RungeKutta::Fourth, 10.0), 100, 4.0, &[1.0]);
}

#[test]
fn implicit_steps_converge_at_their_order() {
    check("backward Euler", implicit(0.0, Order::First, 1), 4_000, 1.0, &[1.0]);
    check("backward Euler, Newton", implicit(0.0, Order::First, 10), 4_000, 1.0, &[1.0]);
    check("BDF2", implicit(0.0, Order::Second, 1), 1_000, 2.0, &[1.0]);
    check("BDF2, Newton", implicit(0.0, Order::Second, 10), 1_000, 2.0, &[1.0]);
}

#[test]
fn the_second_order_scheme_takes_steps_of_changing_length() {
    check("BDF2, uneven", implicit(0.0, Order::Second, 1), 1_000, 2.0, &[0.7, 1.3, 1.1, 0.9]);
}

#[test]
fn ball_springs_converge_too() {
    let make = || {
        let mut builder = MechanismBuilder::new();
        let mut parent = None;
        for link in 0..2 {
            let pose = sinew_math::Pose::from_translation(DVec3::X * (0.25 + 0.5 * link as f64));
            let mass = slab(DVec3::new(0.5, 0.1, 0.2));
            let body = builder.add_body(sinew_mechanism::BodySpec::dynamic("", pose, mass));
            let above = parent.map_or(sinew_math::Pose::IDENTITY, |p| builder.body_pose(p));
            let mut frames = frames_at(&pose, &above, DVec3::X * 0.5 * link as f64, DVec3::X);
            frames.rotation1 = sinew_math::exp_so3(DVec3::new(0.8, -0.5, 0.3)) * frames.rotation1;
            let spring = RotationForce::spring(3.0, 0.02);
            let joint = sinew_mechanism::JointSpec::new("", JointKind::Ball, body, parent, frames);
            builder.add_joint(joint.with_rotation(spring));
            parent = Some(body);
        }
        builder
    };
    for (settings, steps, expected) in [
        (implicit(0.0, Order::First, 1), 4_000, 1.0),
        (implicit(0.0, Order::Second, 1), 1_000, 2.0),
        (explicit(0.0, RungeKutta::Fourth, 0.0), 100, 4.0),
    ] {
        let (slope, error) = order(&make, settings, steps, &[1.0]);
        assert!((slope - expected).abs() < 0.15, "expected {expected}, found {slope} (error {error:e})");
    }
}
