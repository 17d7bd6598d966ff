//! Displacement steps: what they keep, and how fast they converge.

use glam::DVec3;
use serde_json::Value;
use sinew_math::{Force, MassProperties, Motion, Pose, exp_so3, ops};
use sinew_mechanism::{
    BodySpec, CarriedRotation, Displacement, Input, JacobianAt, JointKind, JointSpec, MechanismBuilder,
    Model, RungeKutta, Scheme, Settings, State, Workspace, step,
};
use sinew_testkit::{Rng, assert_close};

use crate::convergence::{distance, end_state};
use crate::support::{
    Chain, GRAVITY, Run, explicit, joined, lump, slab, tight, with_gravity, without_gravity,
};

/// Displacement settings.
pub(super) fn displacing(dt: f64, jacobian: JacobianAt, rotation: CarriedRotation) -> Settings {
    let mut scheme = Displacement::default();
    (scheme.jacobian, scheme.rotation, scheme.tolerance, scheme.iterations) = (jacobian, rotation, 1e-13, 40);
    let mut settings = tight(Settings::default());
    (settings.keep_momentum, settings.limit_energy) = (false, false);
    (settings.dt, settings.scheme) = (dt, Scheme::Displacement(scheme));
    settings
}

fn default(dt: f64) -> Settings {
    displacing(dt, JacobianAt::Start, CarriedRotation::Momentum)
}

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../../../fixtures/golden/stoermer.json")).expect("valid fixture")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn free_fall_is_exact_for_all_step_lengths() {
    let golden = golden();
    let case = &golden["stoermer_variable_step_fall"];
    let (v0, a) = (number(&case["in"]["v0"]), number(&case["in"]["a"]));
    let lengths: Vec<f64> = case["in"]["steps"].as_array().expect("steps").iter().map(number).collect();
    let mut builder = MechanismBuilder::new();
    let body = BodySpec::dynamic("", Pose::IDENTITY, slab(DVec3::new(0.3, 0.2, 0.1)));
    builder.add_body(body.with_motion(Motion::new(DVec3::ZERO, DVec3::Z * v0)));
    let mut run = Run::new(builder.clone(), with_gravity(default(0.01), DVec3::Z * a));
    for dt in lengths {
        run.settings.dt = dt;
        run.step();
    }
    assert_close!(run.state.poses[0].translation.z, number(&case["out"]["exact"]), 1e-14);

    let mut rng = Rng::new(31);
    for variable in [false, true] {
        let mut run = Run::new(builder.clone(), with_gravity(default(0.01), DVec3::Z * a));
        for _ in 0..200 {
            run.settings.dt = if variable { rng.uniform(0.002, 0.03) } else { 0.01 };
            run.step();
        }
        let t = run.state.time;
        assert_close!(run.state.poses[0].translation.z, v0 * t + 0.5 * a * t * t, 1e-11);
    }
}

/// Momentum that a displacement state carries, about the world origin: at the middle of the last step.
fn carried(model: &Model, state: &State) -> Force {
    let mut out = Force::ZERO;
    for body in model.bodies() {
        let last = state.history.increments[body.index()] * (1.0 / state.history.step);
        let mut middle = model.initial_state();
        let pose = state.poses[body.index()];
        middle.motions.fill(Motion::ZERO);
        middle.motions[body.index()] = last;
        middle.poses[body.index()] =
            Pose::new(exp_so3(last.angular * (-0.5 * state.history.step)) * pose.rotation, pose.translation);
        out += sinew_mechanism::momentum(model, &middle);
    }
    out
}

#[test]
fn a_free_body_keeps_its_momentum_exactly() {
    let omega = DVec3::new(0.1, 2.0, 0.3);
    let mut builder = MechanismBuilder::new();
    let body = BodySpec::dynamic("", Pose::IDENTITY, lump(1.0, DVec3::new(1.0, 2.0, 2.5)));
    builder.add_body(body.with_motion(Motion::new(omega, DVec3::new(0.3, -0.2, 0.1))));
    for uneven in [false, true] {
        let mut run = Run::new(builder.clone(), without_gravity(default(0.01)));
        run.step();
        let start = carried(&run.model, &run.state);
        for k in 0..300 {
            run.settings.dt = if uneven { 0.005 + 0.01 * f64::from(k % 2) } else { 0.01 };
            run.step();
        }
        let change = carried(&run.model, &run.state) - start;
        assert!(change.angular.length() < 1e-11, "{:e}", change.angular.length());
        assert!(change.linear.length() < 1e-12, "{:e}", change.linear.length());
    }
}

/// Three bars on ball joints, free in space, each with a spin of its own.
fn three_links() -> MechanismBuilder {
    let spins = [DVec3::new(1.0, 0.5, -0.8), DVec3::new(-0.3, 1.2, 0.4), DVec3::new(0.6, -0.7, 1.5)];
    let mut at_joint = DVec3::ZERO;
    let mut linear = Vec::new();
    for spin in spins {
        linear.push(at_joint + spin.cross(DVec3::X * 0.25));
        at_joint += spin.cross(DVec3::X * 0.5);
    }
    Chain::new(3, JointKind::Ball)
        .floating()
        .build_with(|link, body| body.with_motion(Motion::new(spins[link], linear[link])))
}

/// Largest relative changes of linear momentum, angular momentum and energy over three seconds.
fn drifts(dt: f64, jacobian: JacobianAt, rotation: CarriedRotation) -> [f64; 3] {
    let mut run = Run::new(three_links(), without_gravity(displacing(dt, jacobian, rotation)));
    run.step();
    let (momentum, energy) = (carried(&run.model, &run.state), run.energy().total());
    let mut worst = [0.0f64; 3];
    while run.state.time < 3.0 {
        run.step();
        let change = carried(&run.model, &run.state) - momentum;
        let relative = [
            change.linear.length(),
            change.angular.length() / momentum.angular.length(),
            (run.energy().total() / energy - 1.0).abs(),
        ];
        worst = std::array::from_fn(|i| worst[i].max(relative[i]));
    }
    worst
}

#[test]
fn an_isolated_chain_keeps_what_the_variant_promises() {
    use CarriedRotation::{Exponential, Momentum, Plain};
    use JacobianAt::{Predicted, Start};
    // Bounds from below say that the weaker variants are what they are called.
    let table = [
        (Predicted, Plain, [1e-3, 1e-1], [3e-3, 3e-1]),
        (Predicted, Exponential, [5e-4, 1e-1], [3e-3, 3e-1]),
        (Start, Exponential, [1e-6, 3e-3], [0.0, 3e-3]),
        (Start, Momentum, [0.0, 1e-11], [0.0, 3e-3]),
    ];
    for (jacobian, rotation, angular, energy) in table {
        let found = drifts(0.01, jacobian, rotation);
        println!("{jacobian:?} {rotation:?}: {:e} {:e} {:e}", found[0], found[1], found[2]);
        assert!(found[0] < 1e-11, "{jacobian:?} {rotation:?}: {found:?}");
        assert!(angular[0] <= found[1] && found[1] <= angular[1], "{jacobian:?} {rotation:?}: {found:?}");
        assert!(energy[0] <= found[2] && found[2] <= energy[1], "{jacobian:?} {rotation:?}: {found:?}");
    }
    // The energy of the default converges with the square of the step, that of the printed variant with the step.
    let order = |jacobian, rotation| {
        let [coarse, fine] = [0.01, 0.005].map(|dt| drifts(dt, jacobian, rotation)[2]);
        ops::ln(coarse / fine) / ops::ln(2.0)
    };
    let (kept, printed) = (order(Start, Momentum), order(Predicted, Plain));
    println!("orders of the energy drift: {kept:.2}, printed {printed:.2}");
    assert!((kept - 2.0).abs() < 0.3 && (printed - 1.0).abs() < 0.4, "{kept} {printed}");
}

#[test]
fn momentum_is_kept_where_steps_assemble() {
    let mut settings = without_gravity(displacing(0.002, JacobianAt::Start, CarriedRotation::Momentum));
    let Scheme::Displacement(scheme) = &mut settings.scheme else { unreachable!("displacing") };
    // One correction along the directions of the start does not close the joints: all steps assemble at the predicted poses.
    (scheme.iterations, scheme.most_substeps) = (1, 1);
    let mut run = Run::new(three_links(), settings);
    run.step();
    let before = carried(&run.model, &run.state);
    run.steps(1000);
    let change = carried(&run.model, &run.state) - before;
    assert!(change.linear.length() < 1e-12 * before.linear.length(), "{change:?} of {before:?}");
    assert!(change.angular.length() < 1e-11 * before.angular.length(), "{change:?} of {before:?}");
}

/// A mass of all but no size on a massless arm of one metre: a particle on a circle.
fn particle(inertia: f64) -> MechanismBuilder {
    let mut builder = MechanismBuilder::new();
    let pose = Pose::from_translation(DVec3::X);
    let motion = Motion::new(DVec3::Z, DVec3::Y);
    let body =
        builder.add_body(BodySpec::dynamic("", pose, lump(1.0, DVec3::splat(inertia))).with_motion(motion));
    builder.add_joint(JointSpec::new("", JointKind::Ball, body, None, joined(-DVec3::X, DVec3::ZERO)));
    builder
}

/// How far the particle is from a reference that begins with a given increment: its place and its last increment.
fn off_reference(case: &Value, jacobian: JacobianAt, rotation: CarriedRotation) -> (f64, f64) {
    let h = number(&case["in"]["h"]);
    let mut run = Run::new(particle(1e-9), without_gravity(displacing(h, jacobian, rotation)));
    let last = Motion::new(DVec3::Z * h, DVec3::Y * h);
    (run.state.history.step, run.state.history.increments) = (h, vec![last]);
    run.state.history.motions = run.state.motions.clone();
    run.steps(case["in"]["steps"].as_u64().expect("a count") as usize);
    let [place, step] = ["q", "dq"].map(|name| {
        let value = &case["out"][name];
        DVec3::new(number(&value[0]), number(&value[1]), 0.0)
    });
    (run.state.poses[0].translation.distance(place), run.state.history.increments[0].linear.distance(step))
}

#[test]
fn a_particle_on_a_circle_follows_the_references() {
    let golden = golden();
    let old = &golden["stoermer_circle_J_old"];
    let (place, step) = off_reference(old, JacobianAt::Start, CarriedRotation::Momentum);
    assert!(place < 1e-7 && step < 1e-7, "{place:e} {step:e}");
    // The arm turns by the angle of the last step while its end goes on straight: the joint pulls along the arm, the
    // reference along the radius at that end, and the two differ by a third of the cube of the angle.
    let predicted = &golden["stoermer_circle_J_predicted"];
    for rotation in [CarriedRotation::Exponential, CarriedRotation::Plain] {
        let (place, step) = off_reference(predicted, JacobianAt::Predicted, rotation);
        assert!(place < 1e-4 && step < 1e-5, "{rotation:?}: {place:e} {step:e}");
        let (place, step) = off_reference(old, JacobianAt::Predicted, rotation);
        assert!(place > 2e-2 && step > 2e-3, "{rotation:?}: {place:e} {step:e}");
    }
}

#[test]
fn only_the_start_pose_keeps_the_energy_on_a_circle() {
    let loss = |jacobian, rotation| {
        let mut run = Run::new(particle(1e-6), without_gravity(displacing(0.05, jacobian, rotation)));
        run.step();
        let energy = run.energy().kinetic;
        run.steps(199);
        1.0 - run.energy().kinetic / energy
    };
    let start = loss(JacobianAt::Start, CarriedRotation::Momentum);
    let predicted = loss(JacobianAt::Predicted, CarriedRotation::Exponential);
    println!("energy lost on a circle: start {start:e}, predicted {predicted:.3}");
    assert!(start.abs() < 1e-10, "{start:e}");
    assert!((0.4..0.6).contains(&predicted), "{predicted}");
}

/// A rod on a ball joint with a spin in space.
fn rod(spin: DVec3) -> MechanismBuilder {
    Chain::new(1, JointKind::Ball)
        .build_with(|_, body| body.with_motion(Motion::new(spin, spin.cross(DVec3::X * 0.25))))
}

/// Order of the poses after half a second, and the error with the finer steps.
fn order(make: &dyn Fn() -> MechanismBuilder, settings: Settings, n: usize, pattern: &[f64]) -> (f64, f64) {
    let mut fine = tight(explicit(0.0, RungeKutta::Fourth, 0.0));
    fine.gravity = GRAVITY;
    let at_rest = |mut state: State| {
        // Displacement steps know mean velocities only.
        state.motions.fill(Motion::ZERO);
        state
    };
    let reference = at_rest(end_state(make(), fine, 0.5, 4_000, &[1.0]));
    let error = |n| distance(&at_rest(end_state(make(), settings, 0.5, n, pattern)), &reference);
    let (coarse, half) = (error(n), error(2 * n));
    (ops::ln(coarse / half) / ops::ln(2.0), half)
}

#[test]
fn displacement_steps_are_of_second_order() {
    let spins = [DVec3::Y * 3.0, DVec3::new(0.0, 2.0, -3.0), DVec3::new(5.0, 1.0, 2.0)];
    for spin in spins {
        for pattern in [&[1.0][..], &[0.6, 1.4]] {
            let (slope, error) = order(&|| rod(spin), default(0.0), 200, pattern);
            println!("rod, spin {spin}, steps {pattern:?}: order {slope:.2}, error {error:e}");
            assert!((slope - 2.0).abs() < 0.25, "{spin} {pattern:?}: {slope} ({error:e})");
        }
    }
    let exponential = displacing(0.0, JacobianAt::Start, CarriedRotation::Exponential);
    let (slope, error) = order(&|| rod(spins[2]), exponential, 200, &[1.0]);
    println!("turned by the correction itself: order {slope:.2}, error {error:e}");
    assert!((slope - 1.0).abs() < 0.4, "{slope}");
}

#[test]
fn loops_are_of_second_order_too() {
    let make = || {
        let mut builder = Chain::new(4, JointKind::Ball).build();
        // The far end slides on the line along x on which the chain begins.
        let frames = joined(DVec3::X * 0.25, DVec3::X * 1.5);
        let end = sinew_mechanism::BodyId::from_index(3);
        builder.add_joint(JointSpec::new("", JointKind::PointOnLine, end, None, frames));
        builder
    };
    let (slope, error) = order(&make, default(0.0), 200, &[1.0]);
    println!("chain on a rail: order {slope:.2}, error {error:e}");
    assert!((slope - 2.0).abs() < 0.3, "{slope} ({error:e})");
}

#[test]
fn joints_are_met_after_every_step() {
    let mut run = Run::new(three_links(), default(0.01));
    for _ in 0..100 {
        let report = run.step();
        assert!(run.worst_anchor() < 1e-12, "{report:?}");
    }
    let mut state = run.state.clone();
    let before = state.clone();
    let mut settings = run.settings;
    settings.dt = f64::NAN;
    let report = step(&run.model, &mut state, &Input::default(), &settings, &mut Workspace::new(&run.model));
    assert!(report.refused && state == before);
}

/// A disc or sphere of radius 0.3 m that rolls and spins on the ground, the disc leaning.
fn rolling(kind: JointKind) -> MechanismBuilder {
    let radius = 0.3;
    let (disc, tilt) = match kind {
        JointKind::RollingDisc { .. } => {
            let upright = Pose::from_rotation(exp_so3(DVec3::X * (0.5 * std::f64::consts::PI)));
            (MassProperties::cylinder(radius, 0.05, 100.0).transformed_by(upright), exp_so3(DVec3::X * 0.15))
        }
        // A sphere that is heavier on one side.
        _ => (lump(3.0, DVec3::new(0.08, 0.11, 0.14)), exp_so3(DVec3::new(0.4, -0.2, 0.7))),
    };
    let axle = tilt * DVec3::Y;
    let down = match kind {
        JointKind::RollingDisc { .. } => (axle * axle.z - DVec3::Z).normalize(),
        _ => DVec3::NEG_Z,
    };
    let (spin, height) = (axle * 8.0 + DVec3::Z * 0.5, -down.z * radius);
    let pose = Pose::new(tilt, DVec3::Z * height);
    let mut builder = MechanismBuilder::new();
    let motion = Motion::new(spin, spin.cross(down * -radius));
    let body = builder.add_body(BodySpec::dynamic("", pose, disc).with_motion(motion));
    let axis = |axis| sinew_mechanism::rotation_to_axis(axis).expect("an axis");
    let frames = sinew_mechanism::JointFrames {
        point1: DVec3::ZERO,
        rotation1: axis(DVec3::Y),
        point2: DVec3::ZERO,
        rotation2: axis(DVec3::Z),
    };
    builder.add_joint(JointSpec::new("", kind, body, None, frames));
    builder
}

#[test]
fn rolling_joints_do_not_slip() {
    for kind in [JointKind::RollingDisc { radius: 0.3 }, JointKind::RollingSphere { radius: 0.3 }] {
        let time = 0.5;
        let positions = |state: State| State { motions: vec![Motion::ZERO; 1], ..state };
        let fine =
            positions(end_state(rolling(kind), explicit(0.0, RungeKutta::Fourth, 0.0), time, 4000, &[1.0]));
        let error = |n| distance(&positions(end_state(rolling(kind), default(0.0), time, n, &[1.0])), &fine);
        let (coarse, half) = (error(100), error(200));
        let order = ops::ln(coarse / half) / ops::ln(2.0);
        println!("{kind:?}: {coarse:e} {half:e} order {order:.2}");
        assert!(order > 1.9 && half < 1e-4, "{kind:?}: {coarse:e} {half:e} order {order}");

        let mut run = Run::new(rolling(kind), default(4e-3));
        run.step();
        let start = run.energy().total();
        run.steps(2500);
        let drift = (run.energy().total() / start - 1.0).abs();
        println!("{kind:?}: energy {start} changes by {drift:e} in 10 s");
        assert!(drift < 1e-3, "{kind:?}: energy changes by {drift} in 10 s");
    }
}
