//! What motion must keep: energy and momentum of free bodies, momentum of isolated mechanisms, the fall of the whole.

use glam::DVec3;
use sinew_math::{Force, MassProperties, Motion, Pose};
use sinew_mechanism::{
    BodySpec, Gyroscopic, JointKind, JointSpec, MechanismBuilder, Order, RotationForce, RungeKutta,
    ScalarForce, momentum,
};
use sinew_testkit::{Rng, assert_close};

use crate::support::{
    Chain, Run, explicit, frames_at, implicit, settings, with_gyroscopic, without_geometric_stiffness,
    without_gravity,
};

#[test]
fn free_bodies_keep_energy_and_momentum() {
    let mut rng = Rng::new(1);
    let mut builder = MechanismBuilder::new();
    for _ in 0..20 {
        let inner = Pose::new(rng.rotation(), rng.vec3(-0.2, 0.2));
        let mass = MassProperties::cuboid(rng.vec3(0.1, 1.0), 100.0).transformed_by(inner);
        let motion = Motion::new(rng.vec3(-5.0, 5.0), rng.vec3(-1.0, 1.0));
        let pose = Pose::new(rng.rotation(), rng.vec3(-3.0, 3.0));
        builder.add_body(BodySpec::dynamic("", pose, mass).with_motion(motion));
    }
    let mut run = Run::new(builder, without_gravity(settings(0.01)));
    let (energy, before) = (run.energy().total(), momentum(&run.model, &run.state));
    run.steps(1_000);
    let after = momentum(&run.model, &run.state);
    assert!(
        (run.energy().total() / energy - 1.0).abs() < 1e-11,
        "{} J from {energy} J",
        run.energy().total()
    );
    assert!((after.angular - before.angular).length() < 1e-11 * before.angular.length());
    assert!((after.linear - before.linear).length() < 1e-11 * before.linear.length());
}

/// A floating tree of hinges and balls with springs inside. Bodies move at random, or turn together as one.
fn sprung_tree(seed: u64, together: bool) -> MechanismBuilder {
    let mut rng = Rng::new(seed);
    let mut builder = MechanismBuilder::new();
    let mut poses: Vec<Pose> = Vec::new();
    for index in 0..12usize {
        let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
        let mass = MassProperties::cuboid(rng.vec3(0.2, 0.5), 50.0);
        let omega = DVec3::new(1.0, -2.0, 0.5);
        let apart = Motion::new(rng.vec3(-2.0, 2.0), rng.vec3(-1.0, 1.0));
        let motion = if together { Motion::new(omega, omega.cross(pose.translation)) } else { apart };
        let body = builder.add_body(BodySpec::dynamic("", pose, mass).with_motion(motion));
        poses.push(pose);
        if index == 0 {
            continue;
        }
        let parent = sinew_mechanism::BodyId::from_index(rng.below(index));
        let above = poses[parent.index()];
        let anchor = pose.translation.midpoint(above.translation);
        let frames = frames_at(&pose, &above, anchor, rng.unit_vec());
        let joint = if rng.chance(0.5) {
            JointSpec::new("", JointKind::Hinge, body, Some(parent), frames)
                .with_twist(ScalarForce::spring(30.0, 0.4, 0.1))
        } else {
            JointSpec::new("", JointKind::Ball, body, Some(parent), frames)
                .with_rotation(RotationForce::spring(30.0, 0.1))
        };
        builder.add_joint(joint);
        if rng.chance(0.3) {
            let (p1, p2) = (rng.vec3(-0.2, 0.2), rng.vec3(-0.2, 0.2));
            let spring = sinew_mechanism::PointSpringSpec::new(body, p1, Some(parent), p2, 50.0, 1.0);
            builder.add_spring(spring.with_rest_length(0.2));
        }
    }
    builder
}

/// Change of the momentum over one second at a step length.
fn drift(seed: u64, dt: f64, gyroscopic: Gyroscopic, geometric: bool) -> Force {
    let settings = with_gyroscopic(without_gravity(settings(dt)), gyroscopic);
    let settings = if geometric { settings } else { without_geometric_stiffness(settings) };
    let mut run = Run::new(sprung_tree(seed, false), settings);
    let before = momentum(&run.model, &run.state);
    run.steps((1.0 / dt).round() as usize);
    momentum(&run.model, &run.state) - before
}

#[test]
fn isolated_mechanisms_keep_linear_momentum_to_rounding() {
    for gyroscopic in [Gyroscopic::Auto, Gyroscopic::Explicit, Gyroscopic::Momentum, Gyroscopic::None] {
        assert!(drift(2, 0.01, gyroscopic, true).linear.length() < 1e-11, "{gyroscopic:?}");
    }
}

#[test]
fn isolated_mechanisms_keep_angular_momentum_to_first_order() {
    for gyroscopic in [Gyroscopic::Auto, Gyroscopic::Explicit] {
        let errors = [0.002, 0.001, 0.0005].map(|dt| drift(2, dt, gyroscopic, true).angular.length());
        for pair in errors.windows(2) {
            let ratio = pair[0] / pair[1];
            assert!((1.8..2.2).contains(&ratio), "{gyroscopic:?}: {errors:?}");
        }
    }
}

#[test]
fn the_momentum_treatment_keeps_angular_momentum_to_rounding() {
    for seed in 2..6 {
        let change = drift(seed, 0.01, Gyroscopic::Momentum, false);
        assert!(change.angular.length() < 1e-11, "{change:?}");
    }
}

#[test]
fn the_second_order_scheme_keeps_momentum_to_second_order() {
    let drift = |dt: f64| {
        let mut run = Run::new(sprung_tree(2, true), without_gravity(implicit(dt, Order::Second, 1)));
        let before = momentum(&run.model, &run.state);
        run.steps((0.5 / dt).round() as usize);
        momentum(&run.model, &run.state) - before
    };
    assert!(drift(0.01).linear.length() < 1e-11);
    let errors = [0.001, 0.0005].map(|dt| drift(dt).angular.length());
    assert!(errors[0] / errors[1] > 3.0, "{errors:?}");
}

#[test]
fn a_mechanism_at_rest_falls_as_one() {
    let (dt, n) = (0.01, 100);
    let time = dt * f64::from(n);
    // Backward Euler falls g h² n(n+1)/2, the classical Runge–Kutta method exactly ½ g t².
    let euler = 9.81 * dt * dt * f64::from(n * (n + 1)) / 2.0;
    let exact = 0.5 * 9.81 * time * time;
    for (settings, fall) in [(settings(dt), euler), (explicit(dt, RungeKutta::Fourth, 10.0), exact)] {
        for kind in [JointKind::Hinge, JointKind::Ball, JointKind::Universal, JointKind::Cylindrical] {
            let mut run = Run::new(Chain::new(8, kind).floating().build(), settings);
            let start = run.state.clone();
            run.steps(n as usize);
            for body in 0..8 {
                let expected = start.poses[body].translation - DVec3::Z * fall;
                assert_close!(run.state.poses[body].translation, expected, 1e-12, "{kind:?}");
                assert_close!(run.state.poses[body].rotation, start.poses[body].rotation, 1e-12);
                assert_close!(run.state.motions[body].linear, DVec3::Z * (-9.81 * time), 1e-12);
            }
        }
    }
}

#[test]
fn the_explicit_baseline_keeps_energy_to_its_order() {
    let drift = |dt: f64| {
        let mut run = Run::new(Chain::new(4, JointKind::Ball).build(), explicit(dt, RungeKutta::Fourth, 0.0));
        let before = run.energy().total();
        run.steps((0.5 / dt).round() as usize);
        (run.energy().total() - before).abs()
    };
    let errors = [0.01, 0.005].map(drift);
    assert!(errors[0] < 1e-3 && errors[0] / errors[1] > 12.0, "{errors:?}");
}

#[test]
fn damping_and_the_implicit_step_only_take_energy() {
    // Springs relax; backward Euler never feeds a swinging chain more than its small joint corrections do.
    let chain = Chain::new(6, JointKind::Hinge).with_twist(ScalarForce::spring(500.0, 0.3, 5.0));
    let mut run = Run::new(chain.floating().build(), without_gravity(settings(0.01)));
    let mut last = run.energy().total();
    for _ in 0..300 {
        run.step();
        let now = run.energy().total();
        assert!(now <= last + 1e-3 * last.abs().max(1e-6), "{now} J after {last} J at {} s", run.state.time);
        last = now;
    }
    assert!(run.energy().elastic < 1e-6, "{:?}", run.energy());
}
