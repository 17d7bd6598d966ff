//! What holds at default settings: joints under violent motion, momentum, bounded forces, turns.

use glam::DVec3;
use sinew_math::{Force, MassProperties, Motion, Pose};
use sinew_mechanism::{
    BodyId, BodySpec, Displacement, Input, JointFrames, JointKind, JointSpec, MechanismBuilder, Motor,
    MotorTarget, Order, RungeKutta, ScalarForce, Scheme, Settings, Workspace, energy, momentum,
    rotation_to_axis, step, violation,
};
use sinew_testkit::Rng;

use crate::support::{GRAVITY, explicit, implicit, slab};

/// Default settings with another step length.
fn usual(dt: f64) -> Settings {
    let mut settings = Settings::default();
    settings.dt = dt;
    settings
}

/// A body on a rail along z with a force along it.
fn on_rail(force: ScalarForce) -> MechanismBuilder {
    let mut builder = MechanismBuilder::new();
    let body = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, slab(DVec3::splat(0.1))));
    let frame = Pose::from_rotation(rotation_to_axis(DVec3::Z).expect("not zero"));
    let frames = JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &frame);
    builder.add_joint(JointSpec::new("", JointKind::Prismatic, body, None, frames).with_slide(force));
    builder
}

/// Height after a time, m.
fn height_after(builder: MechanismBuilder, settings: &Settings, seconds: f64) -> f64 {
    let model = builder.build().expect("a rail");
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    for _ in 0..(seconds / settings.dt).round() as usize {
        step(&model, &mut state, &Input::default(), settings, &mut workspace);
    }
    state.poses[0].translation.z
}

/// A motor or friction of 9/9.81 of the weight.
fn weak_forces(weight: f64) -> [ScalarForce; 2] {
    let (mut motor, mut friction) = (ScalarForce::default(), ScalarForce::default());
    let max_force = 9.0 / 9.81 * weight;
    motor.motor = Some(Motor {
        kp: 0.0,
        kd: 1e6,
        max_force,
        target: MotorTarget::default(),
        gravity_compensation: false,
    });
    friction.friction = max_force;
    [motor, friction]
}

#[test]
fn bounded_forces_are_exact_to_the_order_of_the_step() {
    let weight = slab(DVec3::splat(0.1)).mass * 9.81;
    let exact = -0.5 * 0.81 * 4.0;
    for force in weak_forces(weight) {
        let errors = [60.0, 120.0, 240.0]
            .map(|rate| (height_after(on_rail(force), &usual(1.0 / rate), 2.0) - exact).abs());
        assert!(errors[0] < 0.02, "{errors:?}");
        for pair in errors.windows(2) {
            assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{errors:?}");
        }
        let mut second = usual(1.0 / 60.0);
        second.scheme = implicit(1.0 / 60.0, Order::Second, 10).scheme;
        let left = (height_after(on_rail(force), &second, 2.0) - exact).abs();
        assert!(left < 1e-3, "second order: {left:e} m");
    }
}

#[test]
fn friction_that_holds_does_not_creep() {
    let mut force = ScalarForce::default();
    force.friction = 1.01 * slab(DVec3::splat(0.1)).mass * 9.81;
    let fallen = height_after(on_rail(force), &usual(1.0 / 60.0), 4.0).abs();
    assert!(fallen < 4e-9, "{fallen:e} m in 4 s");
}

/// A random tree that floats and turns, its joints with motors and friction.
fn floating(rng: &mut Rng) -> MechanismBuilder {
    let mut builder = MechanismBuilder::new();
    let spin = rng.unit_vec() * rng.uniform(2.0, 10.0);
    let mut bodies: Vec<(sinew_mechanism::BodyId, DVec3)> = Vec::new();
    for k in 0..3 + rng.below(5) {
        let place = DVec3::X * (k as f64) + rng.vec3(-0.1, 0.1);
        let mass = slab(DVec3::new(0.8, rng.uniform(0.1, 0.3), rng.uniform(0.1, 0.3)));
        let body = BodySpec::dynamic("", Pose::from_translation(place), mass);
        let body = builder.add_body(body.with_motion(Motion::new(spin, spin.cross(place))));
        if let Some(&(parent, there)) = bodies.last() {
            let kind = [JointKind::Ball, JointKind::Hinge, JointKind::Universal][rng.below(3)];
            let frame = Pose::new(rotation_to_axis(rng.unit_vec()).expect("not zero"), (place + there) * 0.5);
            let frames = JointFrames::coincident(
                &Pose::from_translation(place),
                &Pose::from_translation(there),
                &frame,
            );
            let mut joint = JointSpec::new("", kind, body, Some(parent), frames);
            if kind == JointKind::Hinge {
                let mut force = ScalarForce::spring(rng.uniform(0.0, 50.0), 0.0, 0.5);
                force.friction = rng.uniform(0.0, 1.0);
                let target =
                    MotorTarget { position: 0.0, velocity: rng.uniform(-2.0, 2.0), ..MotorTarget::default() };
                force.motor =
                    Some(Motor { kp: 0.0, kd: 5.0, max_force: 3.0, target, gravity_compensation: false });
                joint = joint.with_twist(force);
            }
            builder.add_joint(joint);
        }
        bodies.push((body, place));
    }
    builder
}

#[test]
fn what_floats_keeps_its_momentum_in_every_scheme() {
    let mut displacement = Settings::default();
    displacement.scheme = Scheme::Displacement(Displacement::default());
    let mut second = usual(1.0 / 60.0);
    second.scheme = implicit(1.0 / 60.0, Order::Second, 10).scheme;
    let mut stabilized = usual(1.0 / 60.0);
    stabilized.stabilize = Some(sinew_mechanism::Assembly::default());
    let mut runge_kutta = explicit(1.0 / 240.0, RungeKutta::Fourth, 10.0);
    runge_kutta.keep_momentum = true;
    displacement.dt = 1.0 / 240.0;
    let schemes = [usual(1.0 / 60.0), second, stabilized, runge_kutta, displacement];
    let mut rng = Rng::new(41);
    for case in 0..20 {
        let model = floating(&mut rng).build().expect("a tree");
        for settings in &schemes {
            let mut settings = *settings;
            settings.gravity = DVec3::ZERO;
            let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
            let before = momentum(&model, &state);
            for _ in 0..500 {
                let report = step(&model, &mut state, &Input::default(), &settings, &mut workspace);
                assert_eq!(report.non_finite, None, "case {case}, {:?}", settings.scheme);
            }
            let after = momentum(&model, &state);
            let lost = (after.angular - before.angular).length() / before.angular.length();
            let drift = (after.linear - before.linear).length() / before.angular.length();
            assert!(lost < 1e-10 && drift < 1e-10, "case {case}, {:?}: {lost:e}, {drift:e}", settings.scheme);
        }
    }
}

#[test]
fn a_straight_light_string_buckles_when_its_end_is_lowered() {
    let (n, length) = (16, 0.05);
    let end = DVec3::Z * (f64::from(n) * length);
    let mut builder = MechanismBuilder::new();
    let top = builder.add_body(BodySpec::kinematic("", Pose::from_translation(end)));
    let mut last = None;
    for k in 0..n {
        let pose = Pose::from_translation(DVec3::Z * ((f64::from(k) + 0.5) * length));
        let link = builder.add_body(BodySpec::dynamic("", pose, slab(DVec3::new(0.01, 0.01, length))));
        let above = last.map_or(Pose::IDENTITY, |body| builder.body_pose(body));
        let at = Pose::from_translation(DVec3::Z * (f64::from(k) * length));
        let frames = JointFrames::coincident(&pose, &above, &at);
        builder.add_joint(JointSpec::new("", JointKind::Ball, link, last, frames));
        last = Some(link);
    }
    let (link, at) = (last.expect("links"), Pose::from_translation(end));
    let frames = JointFrames::coincident(&builder.body_pose(link), &at, &at);
    builder.add_joint(JointSpec::new("", JointKind::Ball, link, Some(top), frames));
    let model = builder.build().expect("a string");
    let settings = usual(1.0 / 60.0);
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    let mut input = Input::default();
    input.kinematic.push((top, Pose::from_translation(end - DVec3::Z * 0.01)));
    let before = energy(&model, &state, GRAVITY, 1.0).total();
    for k in 0..120 {
        let report = step(&model, &mut state, &input, &settings, &mut workspace);
        let open = violation(&model, &state, &input).position;
        // A thousandth of the length of a link.
        assert!(open < 5e-5, "step {k}: open by {open:e} m, {report:?}");
    }
    let after = energy(&model, &state, GRAVITY, 1.0).total();
    assert!(after <= before, "{before} J -> {after} J");
}

#[test]
fn a_divided_step_ends_when_the_whole_one_does() {
    // A pendulum that is jerked to a high speed needs parts; time and kinematic goals are those of the whole step.
    let mut builder = MechanismBuilder::new();
    let pivot = builder.add_body(BodySpec::kinematic("", Pose::IDENTITY));
    let pose = Pose::from_translation(DVec3::X * 0.5);
    let spec = BodySpec::dynamic("", pose, slab(DVec3::new(1.0, 0.05, 0.05)));
    let rod = builder.add_body(spec.with_motion(Motion::new(DVec3::Y * 150.0, DVec3::NEG_Z * 75.0)));
    let frames = JointFrames::coincident(&pose, &Pose::IDENTITY, &Pose::IDENTITY);
    builder.add_joint(JointSpec::new("", JointKind::Ball, rod, Some(pivot), frames));
    let model = builder.build().expect("a pendulum");
    let settings = usual(1.0 / 60.0);
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    let mut input = Input::default();
    let goal = Pose::from_translation(DVec3::new(0.1, 0.2, 0.0));
    input.kinematic.push((pivot, goal));
    let report = step(&model, &mut state, &input, &settings, &mut workspace);
    assert!(report.substeps > 1, "{report:?}");
    assert_eq!(state.time.to_bits(), settings.dt.to_bits());
    assert!(state.poses[0].translation.distance(goal.translation) < 1e-15);
    assert!(violation(&model, &state, &input).position < 1e-3, "{report:?}");
    // The same bits again.
    let (mut again, mut fresh) = (model.initial_state(), Workspace::new(&model));
    step(&model, &mut again, &input, &settings, &mut fresh);
    assert_eq!(again, state);
}

/// Bars in a row that spin in free space, heavy ones at the ends; the last joint may be there twice.
fn spinning_bars(is_doubled: bool) -> MechanismBuilder {
    let (spin, mut builder) = (DVec3::new(1.0, 2.0, 8.0), MechanismBuilder::new());
    let mut bodies = Vec::new();
    for (k, density) in [(0.0, 100.0), (0.5, 0.2), (1.0, 0.2), (1.5, 140.0)] {
        let at = Pose::from_translation(DVec3::X * k);
        let mass = MassProperties::cuboid(DVec3::new(0.45, 0.1, 0.08), density * 1000.0);
        let motion = Motion::new(spin, spin.cross(at.translation));
        bodies.push((builder.add_body(BodySpec::dynamic("", at, mass).with_motion(motion)), at));
    }
    let axis = rotation_to_axis(DVec3::Z).expect("not zero");
    let mut join = |[a, b]: [usize; 2]| {
        let between = (bodies[a].1.translation + bodies[b].1.translation) * 0.5;
        let frames = JointFrames::coincident(&bodies[b].1, &bodies[a].1, &Pose::new(axis, between));
        builder.add_joint(JointSpec::new("", JointKind::Hinge, bodies[b].0, Some(bodies[a].0), frames));
    };
    [[0, 1], [1, 2], [2, 3]].into_iter().for_each(&mut join);
    if is_doubled {
        join([3, 2]);
    }
    builder
}

#[test]
fn a_joint_that_is_there_twice_changes_nothing() {
    let run = |is_doubled: bool| {
        let model = spinning_bars(is_doubled).build().expect("bars");
        let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
        let mut settings = usual(1.0 / 60.0);
        settings.gravity = DVec3::ZERO;
        for _ in 0..30 {
            step(&model, &mut state, &Input::default(), &settings, &mut workspace);
        }
        let largest = state.loops.forces.iter().fold(0.0f64, |most, force| most.max(force.abs()));
        (state, largest)
    };
    let ((once, _), (twice, force)) = (run(false), run(true));
    assert!(force < 1e-9, "{force}");
    for (a, b) in once.poses.iter().zip(&twice.poses) {
        assert!(a.translation.distance(b.translation) < 0.02, "{a:?} {b:?}");
    }
}

#[test]
fn energy_that_has_a_source_is_not_taken() {
    // A motor with a speed to reach, a wrench, and armature, in bars that turn fast enough for Newton iterations.
    for what in 0..3 {
        let mut builder = MechanismBuilder::new();
        let mass = MassProperties::cuboid(DVec3::new(0.5, 0.1, 0.1), 1000.0);
        let mut force = ScalarForce::default();
        match what {
            0 => {
                let target = MotorTarget { position: 0.0, velocity: 20.0, ..MotorTarget::default() };
                force.motor =
                    Some(Motor { kp: 0.0, kd: 3.0, max_force: 50.0, target, gravity_compensation: false });
            }
            1 => {}
            _ => force.armature = 0.2,
        }
        let mut bodies: Vec<BodyId> = Vec::new();
        for k in 0..3 {
            let at = Pose::from_translation(DVec3::X * (0.25 + 0.5 * f64::from(k)));
            let body = builder.add_body(BodySpec::dynamic("", at, mass));
            let anchor =
                Pose::new(rotation_to_axis(DVec3::Y).expect("not zero"), DVec3::X * 0.5 * f64::from(k));
            let parent = bodies.last().copied();
            let below =
                if k == 0 { Pose::IDENTITY } else { Pose::from_translation(at.translation - DVec3::X * 0.5) };
            let frames = JointFrames::coincident(&at, &below, &anchor);
            builder.add_joint(JointSpec::new("", JointKind::Hinge, body, parent, frames).with_twist(force));
            bodies.push(body);
        }
        let model = builder.build().expect("bars");
        let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
        let mut input = Input::default();
        if what == 1 {
            input.wrenches.push((bodies[2], Force::new(DVec3::ZERO, DVec3::new(0.0, 0.0, 400.0))));
        }
        let mut solves = 0;
        for k in 0..if what == 2 { 240 } else { 120 } {
            let report = step(&model, &mut state, &input, &usual(1.0 / 240.0), &mut workspace);
            solves += report.iterations;
            assert_eq!(report.noticed.slowed, None, "{what}: step {k}");
        }
        assert!(solves > if what == 2 { 280 } else { 150 }, "{what}: {solves}");
    }
}
