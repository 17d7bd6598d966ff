//! Wrenches of joints and accelerations of bodies: they balance every body, and joints do nothing along their free directions.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, exp_so3, ops, shift_force};
use sinew_mechanism::{
    BodyId, BodySpec, Displacement, Gyroscopic, Implicit, Input, JointKind, JointSpec, MechanismBuilder,
    Model, Motor, MotorTarget, Order, RungeKutta, ScalarForce, Scheme, Settings, State, Workspace, step,
    violation,
};
use sinew_testkit::Rng;

use crate::support::{GRAVITY, explicit, frames_at, implicit, lump, single, tight, with_gyroscopic};

fn asked(mut settings: Settings) -> Settings {
    settings.reactions = true;
    settings.gravity = GRAVITY;
    tight(settings)
}

fn displacing(dt: f64) -> Settings {
    let mut scheme = Displacement::default();
    scheme.tolerance = 1e-13;
    let mut settings = Settings::default();
    (settings.keep_momentum, settings.limit_energy) = (false, false);
    (settings.dt, settings.scheme) = (dt, Scheme::Displacement(scheme));
    settings
}

fn default_settings(dt: f64) -> Settings {
    let mut settings = Settings::default();
    settings.dt = dt;
    (settings.keep_momentum, settings.limit_energy) = (false, false);
    settings
}

/// Trees with closed loops, hinge springs and motors, and an input that pushes and turns some bodies.
struct Tangle {
    model: Model,
    specs: Vec<JointSpec>,
    input: Input,
}

impl Tangle {
    fn random(rng: &mut Rng) -> Self {
        let mut builder = MechanismBuilder::new();
        let n = 3 + rng.below(6);
        let mut input = Input::default();
        let poses: Vec<Pose> = (0..n).map(|_| Pose::new(rng.rotation(), rng.vec3(-0.5, 0.5))).collect();
        let bodies: Vec<BodyId> = poses
            .iter()
            .map(|pose| {
                let mass = lump(rng.uniform(0.5, 3.0), rng.vec3(0.05, 0.08));
                builder.add_body(BodySpec::dynamic("", *pose, mass))
            })
            .collect();
        let kinds = [
            JointKind::Ball,
            JointKind::Hinge,
            JointKind::Universal,
            JointKind::Prismatic,
            JointKind::Cylindrical,
            JointKind::Fixed,
        ];
        let mut specs = Vec::new();
        let mut join = |rng: &mut Rng, kind, child: usize, parent: Option<usize>| {
            let other = parent.map_or(Pose::IDENTITY, |parent| poses[parent]);
            let frames = frames_at(&poses[child], &other, rng.vec3(-0.5, 0.5), rng.unit_vec());
            // Either body may be the first.
            let flips = parent.is_some() && rng.chance(0.5);
            let mut spec = match parent {
                Some(parent) if flips => {
                    let swapped = frames_at(&other, &poses[child], rng.vec3(-0.5, 0.5), rng.unit_vec());
                    JointSpec::new("", kind, bodies[parent], Some(bodies[child]), swapped)
                }
                _ => JointSpec::new("", kind, bodies[child], parent.map(|p| bodies[p]), frames),
            };
            if kind == JointKind::Hinge && rng.chance(0.5) {
                spec = spec.with_twist(ScalarForce::spring(rng.uniform(1.0, 20.0), 0.3, 0.5));
            } else if kind == JointKind::Hinge && rng.chance(0.5) {
                let mut force = ScalarForce::default();
                let target = MotorTarget { position: 0.4, velocity: 0.1, ..MotorTarget::default() };
                force.motor =
                    Some(Motor { kp: 30.0, kd: 3.0, max_force: 2.0, target, gravity_compensation: false });
                spec = spec.with_twist(force);
            }
            specs.push(spec);
        };
        for child in 0..n {
            let parent = if child == 0 { None } else { Some(rng.below(child)) };
            let kind = kinds[rng.below(kinds.len())];
            join(rng, kind, child, parent);
        }
        for _ in 0..rng.below(3) {
            let (a, b) = (rng.below(n), rng.below(n));
            if a != b {
                let kind = [JointKind::Ball, JointKind::Hinge][rng.below(2)];
                join(rng, kind, a, Some(b));
            }
        }
        for spec in &specs {
            builder.add_joint(spec.clone());
        }
        for &body in &bodies {
            if rng.chance(0.7) {
                continue;
            }
            input.wrenches.push((body, Force::new(rng.vec3(-1.0, 1.0), rng.vec3(-5.0, 5.0))));
        }
        Self { model: builder.build().expect("a valid mechanism"), specs, input }
    }

    /// What joints, gravity and the input do to every body together, with the anchors of a state, at centres of mass.
    fn totals(&self, at: &State, wrenches: &[Force]) -> Vec<Force> {
        let model = &self.model;
        let mut out: Vec<Force> =
            model.bodies().map(|body| Force::new(DVec3::ZERO, GRAVITY * model.body_mass(body))).collect();
        for (body, wrench) in &self.input.wrenches {
            out[body.index()] += *wrench;
        }
        for (joint, &wrench) in model.joints().zip(wrenches) {
            let (first, second) = model.joint_bodies(joint);
            let (anchor, _) = model.joint_anchors(at, joint);
            for (body, wrench) in [(first, wrench), (second, -wrench)] {
                if let Some(body) = body {
                    out[body.index()] += shift_force(wrench, anchor - at.poses[body.index()].translation);
                }
            }
        }
        out
    }

    /// `I α` at a state.
    fn turned(&self, at: &State, body: usize, angular: DVec3) -> DVec3 {
        let rotation = at.poses[body].rotation;
        rotation * (self.model.principal_moments(BodyId::from_index(body)) * (rotation.conjugate() * angular))
    }

    /// Largest force or torque along a free direction of a joint that has no force there.
    fn leak(&self, at: &State, wrenches: &[Force]) -> f64 {
        let leaks = self.model.joints().zip(wrenches).map(|(joint, wrench)| {
            let spec = &self.specs[joint.index()];
            let frames = self.model.joint_frames(joint);
            let pose = spec.parent.map_or(Pose::IDENTITY, |b| at.poses[b.index()]);
            let axis = pose.rotation * (frames.rotation2 * DVec3::X);
            match spec.kind {
                JointKind::Ball => wrench.angular.length(),
                JointKind::Hinge if spec.twist.is_none() => wrench.angular.dot(axis).abs(),
                JointKind::Prismatic => wrench.linear.dot(axis).abs(),
                JointKind::Cylindrical => wrench.linear.dot(axis).abs().max(wrench.angular.dot(axis).abs()),
                _ => 0.0,
            }
        });
        leaks.fold(0.0, f64::max)
    }
}

/// The first-order step as the paper has it, so that its equations hold to rounding.
fn plain(dt: f64) -> Settings {
    let mut scheme = Implicit::default();
    (scheme.newton_iterations, scheme.geometric_stiffness) = (1, false);
    let mut settings = implicit(dt, Order::First, 1);
    settings.scheme = Scheme::Implicit(scheme);
    with_gyroscopic(asked(settings), Gyroscopic::None)
}

#[test]
fn implicit_wrenches_balance_every_body_to_rounding() {
    let mut rng = Rng::new(4);
    let mut n_loops = 0;
    for round in 0..60 {
        let tangle = Tangle::random(&mut rng);
        let model = &tangle.model;
        n_loops += model.joints().filter(|j| !model.is_tree_joint(*j)).count();
        let (mut state, mut workspace, settings) =
            (model.initial_state(), Workspace::new(model), plain(2e-3));
        for k in 0..20 {
            let before = state.clone();
            step(model, &mut state, &tangle.input, &settings, &mut workspace);
            let (wrenches, accelerations) = (workspace.joint_wrenches(), workspace.accelerations());
            assert_eq!((wrenches.len(), accelerations.len()), (model.n_joints(), model.n_bodies()));
            let totals = tangle.totals(&before, wrenches);
            let largest = wrenches.iter().map(|w| w.linear.length()).fold(1.0, f64::max);
            for (body, total) in totals.iter().enumerate() {
                let a = accelerations[body];
                let mass = model.body_mass(BodyId::from_index(body));
                let change = (state.motions[body] - before.motions[body]) * (1.0 / settings.dt);
                assert!((change.linear - a.linear).length() < 1e-9 * (1.0 + a.linear.length()));
                let off = (total.linear - a.linear * mass).length();
                let twisted = (total.angular - tangle.turned(&before, body, a.angular)).length();
                assert!(off.max(twisted) < 1e-8 * largest, "{round} {k} body {body}: {off:e} {twisted:e}");
            }
            // Free directions are known as far as the joint is closed.
            let leak = tangle.leak(&before, wrenches);
            let open = violation(model, &before, &tangle.input);
            let bound = (1e-8 + open.position.max(open.rotation)) * largest;
            assert!(leak < bound, "{round} {k}: {leak:e} along a free direction");
        }
    }
    assert!(n_loops > 20, "{n_loops} loops");
}

/// Largest force that is not accounted for over some steps, and largest leak, both relative to the largest force.
fn imbalance(tangle: &Tangle, settings: &Settings, time: f64) -> (f64, f64) {
    let model = &tangle.model;
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(model));
    let is_second = matches!(&settings.scheme, Scheme::Implicit(scheme) if scheme.order == Order::Second);
    let (mut off, mut leak, mut largest): (f64, f64, f64) = (0.0, 0.0, 1.0);
    let mut last = state.clone();
    for k in 0..(time / settings.dt).round() as usize {
        let before = state.clone();
        step(model, &mut state, &tangle.input, settings, &mut workspace);
        let wrenches = workspace.joint_wrenches();
        if k > 1 {
            let totals = tangle.totals(&before, wrenches);
            for (body, total) in totals.iter().enumerate() {
                let mass = model.body_mass(BodyId::from_index(body));
                let mut a = workspace.accelerations()[body].linear;
                if is_second {
                    // The derivative of BDF2.
                    let past = (before.motions[body].linear - last.motions[body].linear) / settings.dt;
                    a = (a - past / 3.0) * 1.5;
                }
                off = off.max((total.linear - a * mass).length());
            }
            largest = wrenches.iter().map(|w| w.linear.length()).fold(largest, f64::max);
            leak = leak.max(tangle.leak(&before, wrenches));
        }
        last = before;
    }
    (off / largest, leak / largest)
}

#[test]
fn every_stepper_gives_wrenches_that_balance() {
    let mut rng = Rng::new(8);
    for round in 0..12 {
        let tangle = Tangle::random(&mut rng);
        let make: [(&str, &dyn Fn(f64) -> Settings); 5] = [
            ("first order", &|dt| implicit(dt, Order::First, 4)),
            ("second order", &|dt| implicit(dt, Order::Second, 1)),
            ("explicit", &|dt| explicit(dt, RungeKutta::Fourth, 0.0)),
            ("displacement", &displacing),
            ("default", &default_settings),
        ];
        for (name, settings) in make {
            let [(coarse_off, coarse), (off, leak)] =
                [2e-3, 1e-3].map(|dt| imbalance(&tangle, &asked(settings(dt)), 0.1));
            assert!(coarse_off.max(off) < 1e-8, "{round} {name}: {coarse_off:e} {off:e}");
            // Free directions turn within a step.
            assert!(leak < 0.6 * coarse + 1e-6 && leak < 0.02, "{round} {name}: leak {coarse:e} {leak:e}");
        }
    }
}

#[test]
fn steps_in_parts_give_their_mean() {
    let mut rng = Rng::new(15);
    let mut n_divided = 0;
    for round in 0..12 {
        let tangle = Tangle::random(&mut rng);
        let (model, settings) = (&tangle.model, asked(default_settings(1.0 / 20.0)));
        let (mut state, mut workspace) = (model.initial_state(), Workspace::new(model));
        for k in 0..20 {
            let before = state.clone();
            let report = step(model, &mut state, &tangle.input, &settings, &mut workspace);
            n_divided += u32::from(report.substeps > 1);
            let wrenches = workspace.joint_wrenches();
            let largest = wrenches.iter().map(|w| w.linear.length()).fold(1.0, f64::max);
            for (body, total) in tangle.totals(&before, wrenches).iter().enumerate() {
                let mass = model.body_mass(BodyId::from_index(body));
                let off = (total.linear - workspace.accelerations()[body].linear * mass).length();
                assert!(off < 1e-8 * largest, "{round} {k} body {body}: {off:e} of {largest}");
            }
        }
    }
    println!("{n_divided} steps were divided");
    assert!(n_divided > 5, "{n_divided} steps were divided");
}

#[test]
fn a_pendulum_pulls_as_newton_and_euler_say() {
    let (length, angle, rate, dt) = (0.5, 0.8, 2.0, 1e-4);
    let mass = lump(2.0, DVec3::new(0.1, 0.05, 0.12));
    let out = DVec3::new(ops::sin(angle), 0.0, -ops::cos(angle)) * length;
    let pose = Pose::new(exp_so3(DVec3::Y * -angle), out);
    let motion = Motion::new(DVec3::Y * -rate, DVec3::Y.cross(out) * -rate);
    for settings in [
        implicit(dt, Order::First, 1),
        implicit(dt, Order::Second, 1),
        explicit(dt, RungeKutta::Fourth, 0.0),
        displacing(dt),
        default_settings(dt),
    ] {
        let (builder, body, joint) = single(mass, pose, motion, |body| {
            let frames = frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::Y);
            JointSpec::new("pin", JointKind::Hinge, body, None, frames)
        });
        let model = builder.build().expect("a valid mechanism");
        let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
        // The first step of a velocity scheme does not know yet that its joint turns.
        for _ in 0..20 {
            step(&model, &mut state, &Input::default(), &asked(settings), &mut workspace);
        }
        let (out, spin) = (state.poses[body.index()].translation, state.motions[body.index()].angular);
        let about_pin = 0.05 + 2.0 * length * length;
        let turning = DVec3::Y * (out.cross(GRAVITY * 2.0).y / about_pin);
        let acceleration = turning.cross(out) + spin.cross(spin.cross(out));
        let pull = (acceleration - GRAVITY) * 2.0;
        let wrench = workspace.joint_wrenches()[joint.index()];
        let found = workspace.accelerations()[body.index()];
        assert!((wrench.linear - pull).length() < 2e-2, "{settings:?}: {wrench:?}, by hand {pull}");
        assert!(wrench.angular.length() < 2e-3, "{settings:?}: {wrench:?}");
        assert!((found.linear - acceleration).length() < 1e-2, "{found:?}, by hand {acceleration}");
        assert!((found.angular - turning).length() < 1e-2, "{found:?}, by hand {turning}");
        // Nobody asks: nothing is there.
        step(&model, &mut state, &Input::default(), &Settings::default(), &mut workspace);
        assert!(workspace.joint_wrenches().is_empty() && workspace.accelerations().is_empty());
    }
}

#[test]
fn a_held_arm_shows_its_motor_and_its_weight() {
    // A horizontal arm of 2 kg, held by a stiff motor at half a metre: 9.81 N·m about the axis, 19.62 N upwards.
    let pose = Pose::from_translation(DVec3::X * 0.5);
    for settings in
        [implicit(1e-3, Order::First, 1), explicit(1e-4, RungeKutta::Fourth, 0.0), displacing(1e-4)]
    {
        let (builder, _, joint) = single(lump(2.0, DVec3::splat(0.1)), pose, Motion::ZERO, |body| {
            let frames = frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::Y);
            let mut force = ScalarForce::default();
            let target = MotorTarget::default();
            force.motor = Some(Motor {
                kp: 1e4,
                kd: 80.0,
                max_force: f64::INFINITY,
                target,
                gravity_compensation: false,
            });
            JointSpec::new("pin", JointKind::Hinge, body, None, frames).with_twist(force)
        });
        let model = builder.build().expect("a valid mechanism");
        let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
        for _ in 0..(0.5 / settings.dt) as usize {
            step(&model, &mut state, &Input::default(), &asked(settings), &mut workspace);
        }
        let wrench = workspace.joint_wrenches()[joint.index()];
        assert!((wrench.linear - DVec3::Z * 19.62).length() < 1e-2, "{wrench:?}");
        assert!((wrench.angular - DVec3::Y * -9.81).length() < 1e-2, "{wrench:?}");
        assert!(workspace.accelerations()[0].linear.length() < 1e-2);
    }
}
