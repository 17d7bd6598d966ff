//! Motors with a largest force and dry friction against every combination of their laws, solved densely.
//!
//! Each bounded force is within its bound or at one of two ends: at most 27 linear systems for three of them. A combination is a
//! solution if no force within its bound exceeds it and none at its end would rather be within. What moves is unique, since each force
//! falls with its rate; the step must find it.

use sinew_math::{DriveCoordinate, Motion};
use sinew_mechanism::{
    Input, JointSpec, Model, Motor, MotorTarget, ScalarForce, Scheme, State, Workspace, step,
};
use sinew_testkit::{Rng, soak_scale};

use super::assembly::{self, Joint};
use super::scene::Scene;
use super::{SMOOTH, difference, in_body_axes};
use crate::support::one_solve;

/// Speed at which friction that holds has its full force, rad/s.
const CREEP: f64 = 1e-10;
/// Gain of a motor that stands for a constant force, N·m·s/rad.
const CONSTANT: f64 = 1e-9;

/// Where a bounded force is: within its bound, or at its lower or upper end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BoundEnd {
    Within,
    Lower,
    Upper,
}

/// A random scene whose only forces are up to three bounded ones along twists.
fn bounded_scene(rng: &mut Rng, has_loops: bool) -> (Scene, Vec<usize>) {
    let mut scene = Scene::random(rng, &SMOOTH);
    if has_loops {
        scene.close(rng, &SMOOTH, 2);
    }
    let kinematic = std::mem::take(&mut scene.input.kinematic);
    scene.input = Input { kinematic, ..Input::default() };
    scene.springs.clear();
    let mut chosen = Vec::new();
    for (index, joint) in scene.joints.iter_mut().enumerate() {
        (joint.twist, joint.slide, joint.rotation, joint.compliance) = (None, None, None, 0.0);
        joint.driven.clear();
        if chosen.len() < 3 && joint.kind.can_drive(DriveCoordinate::Twist) {
            joint.twist = Some(bounded_force(rng));
            chosen.push(index);
        }
    }
    (scene, chosen)
}

fn bounded_force(rng: &mut Rng) -> ScalarForce {
    let mut force = ScalarForce::default();
    let bound = rng.uniform(0.1, 3.0) * rng.power_of_ten(-1, 1);
    if rng.chance(0.5) {
        force.friction = bound;
    } else {
        let target = MotorTarget {
            position: rng.uniform(-1.0, 1.0),
            velocity: rng.uniform(-2.0, 2.0),
            ..MotorTarget::default()
        };
        let (kp, kd) = (rng.power_of_ten(-1, 2), rng.power_of_ten(-1, 2));
        force.motor = Some(Motor { kp, kd, max_force: bound, target, gravity_compensation: false });
    }
    force
}

/// The largest force of a joint, N·m.
fn bound(force: &ScalarForce) -> f64 {
    force.motor.map_or(force.friction, |motor| motor.max_force)
}

/// The same joint with the law of one end instead of the bounded force.
fn with_law(joint: &JointSpec, end: BoundEnd) -> JointSpec {
    let force = joint.twist.expect("a bounded force");
    let mut law = ScalarForce::default();
    let constant = |pull: f64| {
        let target = MotorTarget { position: 0.0, velocity: pull / CONSTANT, ..MotorTarget::default() };
        Some(Motor { kp: 0.0, kd: CONSTANT, max_force: f64::INFINITY, target, gravity_compensation: false })
    };
    match end {
        BoundEnd::Lower => law.motor = constant(-bound(&force)),
        BoundEnd::Upper => law.motor = constant(bound(&force)),
        BoundEnd::Within if force.motor.is_some() => law.motor = force.motor,
        BoundEnd::Within => law.spring.damping = force.friction / CREEP,
    }
    joint.clone().with_twist(law)
}

/// Whether a law agrees with the rate it led to; `x` is the twist at the start.
fn agrees(force: &ScalarForce, end: BoundEnd, x: f64, rate: f64, h: f64) -> bool {
    let slack = 1e-6;
    let Some(motor) = force.motor else {
        return match end {
            BoundEnd::Within => rate.abs() <= CREEP * (1.0 + slack),
            BoundEnd::Upper => rate <= slack * CREEP,
            BoundEnd::Lower => rate >= -slack * CREEP,
        };
    };
    let servo = motor.kp * (motor.target.position - x - h * rate) + motor.kd * (motor.target.velocity - rate);
    let share = servo / motor.max_force;
    match end {
        BoundEnd::Within => share.abs() <= 1.0 + slack,
        BoundEnd::Upper => share >= 1.0 - slack,
        BoundEnd::Lower => share <= -1.0 + slack,
    }
}

/// The motion by enumeration; none if the rows are all but dependent.
fn enumerate(scene: &Scene, model: &Model, state: &State, chosen: &[usize]) -> Option<Vec<Motion>> {
    let ends = [BoundEnd::Within, BoundEnd::Lower, BoundEnd::Upper];
    let joints = Joint::all(scene, state, &state.motions);
    for combination in 0..3usize.pow(chosen.len() as u32) {
        let end = |k: usize| ends[combination / 3usize.pow(k as u32) % 3];
        let mut simple = scene.clone();
        for (k, &index) in chosen.iter().enumerate() {
            simple.joints[index] = with_law(&scene.joints[index], end(k));
        }
        let motions = assembly::solve(&simple, model, state, false, 1e-5)?.motions;
        let fits = chosen.iter().enumerate().all(|(k, &index)| {
            let joint = &joints[index];
            let rate = joint.rate(&motions, &joint.twist_gradient());
            let force = scene.joints[index].twist.expect("a bounded force");
            agrees(&force, end(k), joint.relative.twist, rate, scene.settings.dt)
        });
        if fits {
            return Some(motions);
        }
    }
    panic!("no combination fits: {scene:#?}");
}

#[test]
fn bounded_forces_agree_with_every_combination_of_their_laws_soak() {
    let mut rng = Rng::new(23);
    let (mut worst, mut compared) = (0.0f64, 0);
    for case in 0..300 * soak_scale() {
        let (mut scene, chosen) = bounded_scene(&mut rng, case % 2 == 1);
        if chosen.is_empty() {
            continue;
        }
        let mut scheme = one_solve();
        scheme.geometric_stiffness = false;
        scene.settings.scheme = Scheme::Implicit(scheme);
        let model = scene.model();
        let mut state = model.initial_state();
        let placed = in_body_axes(&model, &state);
        let Some(expected) = enumerate(&scene, &model, &placed, &chosen) else { continue };
        let report = step(&model, &mut state, &scene.input, &scene.settings, &mut Workspace::new(&model));
        let error = difference(&scene, &in_body_axes(&model, &state).motions, &expected);
        // Friction that holds is a damper of 1e10 times its bound: rounding shows.
        assert!(error < 1e-5, "case {case}: {error:e}, {report:?}\n{scene:#?}");
        (worst, compared) = (worst.max(error), compared + 1);
    }
    println!("bounded forces: {compared} steps, worst relative difference {worst:e}");
    assert!(compared > 100 * soak_scale(), "{compared}");
}
