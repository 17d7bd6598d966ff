//! Assembly: from scattered poses to poses that meet the joints.

use glam::{DQuat, DVec3};
use serde_json::Value;
use sinew_math::{Motion, Pose, exp_so3, log_so3, ops, quat_to_mat3};
use sinew_mechanism::{
    Assembly, AssemblyOutcome, AssemblyReport, BodyId, BodySpec, Grab, Input, JointFrames, JointKind,
    JointSpec, LoopMethod, Loops, MechanismBuilder, Model, Order, RungeKutta, Scheme, Settings, State,
    Workspace, assemble, rotation_to_axis, violation,
};
use sinew_testkit::{Rng, assert_close};

use crate::dense_oracle::SMOOTH;
use crate::dense_oracle::assembly::worst_rate;
use crate::dense_oracle::in_body_axes;
use crate::dense_oracle::scene::{Scene, Taste};
use crate::support::{Chain, Run, explicit, frames_at, implicit, joined, lump, slab, tight};

fn loops() -> Loops {
    tight(Settings::default()).loops
}

fn assembly(tolerance: f64) -> Assembly {
    let mut assembly = Assembly::default();
    assembly.tolerance = tolerance;
    assembly
}

fn assembled(model: &Model, state: &mut State, input: &Input) -> AssemblyReport {
    let report = assemble(model, state, input, &assembly(1e-10), &loops(), &mut Workspace::new(model));
    assert!(state.poses.iter().all(Pose::is_finite), "{report:?}");
    report
}

/// Two bars, a hinge between them, a ball at either end.
fn two_bars(case: &Value) -> MechanismBuilder {
    let input = &case["in"];
    let mut builder = MechanismBuilder::new();
    let [first, second] = [0, 1].map(|k| {
        let start = &input["start"][k];
        let pose = Pose::new(exp_so3(vector(&start[0])), vector(&start[1]));
        builder.add_body(BodySpec::dynamic(
            "",
            pose,
            lump(number(&input["masses"][k]), vector(&input["I0"][k])),
        ))
    });
    let z = rotation_to_axis(DVec3::Z).expect("an axis");
    let end = |side: f64| DVec3::X * (0.5 * side);
    let frames = JointFrames { rotation1: z, point1: end(-1.0), rotation2: z, point2: end(1.0) };
    builder.add_joint(JointSpec::new("", JointKind::Hinge, second, Some(first), frames));
    for (body, side, target) in [(first, -1.0, DVec3::ZERO), (second, 1.0, vector(&input["target"]))] {
        let frames = joined(end(side), target);
        builder.add_joint(JointSpec::new("", JointKind::Ball, body, None, frames));
    }
    builder
}

#[test]
fn two_bars_assemble_as_in_the_reference() {
    let golden: Value = serde_json::from_str(include_str!("../../../../../fixtures/golden/assembly.json"))
        .expect("valid fixture");
    let case = &golden["assembly_two_bars"];
    let model = two_bars(case).build().expect("two bars");
    let out = &case["out"];
    let mut settings = assembly(1e-13);
    (settings.max_turn, settings.iterations) = (f64::INFINITY, 1);
    let mut exact = loops();
    exact.solve.method = LoopMethod::Dense;
    let start = model.initial_state();
    let mut state = start.clone();
    let report =
        assemble(&model, &mut state, &Input::default(), &settings, &exact, &mut Workspace::new(&model));
    assert_eq!((report.outcome, report.iterations), (AssemblyOutcome::Unfinished, 1));
    for body in 0..2 {
        let (before, after) = (start.poses[body], state.poses[body]);
        let turn = log_so3(after.rotation * before.rotation.conjugate());
        let step = Motion::new(turn, after.translation - before.translation).to_array();
        let expected: [f64; 6] = std::array::from_fn(|i| number(&out["first_step_dtheta_dx"][6 * body + i]));
        assert_close!(step, expected, 1e-11);
    }
    for method in [LoopMethod::Dense, LoopMethod::ConjugateResidual] {
        let mut state = start.clone();
        let (mut settings, mut how) = (settings, loops());
        (settings.iterations, how.solve.method) = (20, method);
        let report =
            assemble(&model, &mut state, &Input::default(), &settings, &how, &mut Workspace::new(&model));
        assert_eq!(report.outcome, AssemblyOutcome::Assembled);
        // Loops solved only as well as the errors deserve may cost one iteration more.
        let most = out["iterations_1e_13"].as_u64().expect("a count") as u32;
        assert!(report.iterations <= most + u32::from(method != LoopMethod::Dense), "{report:?}");
        if method == LoopMethod::Dense {
            for body in 0..2 {
                assert_close!(log_so3(state.poses[body].rotation), vector(&out["final_phi"][body]), 1e-10);
                assert_close!(state.poses[body].translation, vector(&out["final_x"][body]), 1e-10);
            }
        }
    }
}

/// A chain of links from the world to a point within reach.
fn bridge(kind: JointKind, n: usize, span: f64) -> MechanismBuilder {
    let chain = Chain { axis: DVec3::new(0.3, 1.0, 0.2), ..Chain::new(n, kind) };
    let mut builder = chain.build();
    let last = BodyId::from_index(n - 1);
    let frames = joined(DVec3::X * 0.25, DVec3::X * (0.5 * n as f64 * span));
    builder.add_joint(JointSpec::new("", JointKind::Ball, last, None, frames));
    builder
}

/// A ring of `n` links, free in space.
fn ring(kind: JointKind, n: usize) -> MechanismBuilder {
    let mut builder = Chain::new(n, kind).floating().build();
    let (last, first) = (BodyId::from_index(n - 1), BodyId::from_index(0));
    let frames = joined(DVec3::X * 0.25, DVec3::X * -0.25);
    builder.add_joint(JointSpec::new("", JointKind::Ball, last, Some(first), frames));
    builder
}

fn scatter(model: &Model, rng: &mut Rng) -> State {
    let mut state = model.initial_state();
    for body in model.bodies() {
        model.set_body_pose(&mut state, body, Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0)));
    }
    for motion in &mut state.motions {
        *motion = Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
    }
    state
}

#[test]
fn scattered_chains_and_rings_assemble() {
    let mut rng = Rng::new(21);
    let scenes = [
        ("ball chain", Chain::new(6, JointKind::Ball).build(), 12),
        ("hinge chain", Chain::new(6, JointKind::Hinge).build(), 14),
        ("universal chain", Chain::new(6, JointKind::Universal).build(), 14),
        ("ball bridge", bridge(JointKind::Ball, 6, 0.6), 12),
        ("universal bridge", bridge(JointKind::Universal, 8, 0.5), 20),
        ("ball ring", ring(JointKind::Ball, 6), 12),
        ("universal ring", ring(JointKind::Universal, 8), 20),
    ];
    for (name, builder, most) in scenes {
        let model = builder.build().expect("a chain");
        let mut counts = Vec::new();
        for start in 0..60 {
            let mut state = scatter(&model, &mut rng);
            let report = assembled(&model, &mut state, &Input::default());
            assert_eq!(report.outcome, AssemblyOutcome::Assembled, "{name} {start}: {report:?}");
            let left = violation(&model, &state, &Input::default());
            assert!(left.position.max(left.rotation) <= 1e-10, "{name} {start}: {left:?}");
            counts.push(report.iterations);
        }
        counts.sort_unstable();
        let (median, worst) = (counts[30], counts[59]);
        println!("{name}: median {median}, at most {worst} iterations");
        assert!(median <= most, "{name}: {median}");
    }
}

#[test]
fn random_graphs_assemble_with_compatible_velocities() {
    let mut rng = Rng::new(22);
    let (mut assembled_ones, mut worst) = (0, 0.0f64);
    for case in 0..150 {
        let taste = Taste { error: 0.0, ..SMOOTH };
        let mut scene = Scene::random(&mut rng, &taste);
        scene.close(&mut rng, &taste, 3);
        scene.input = Input::default();
        scene.joints.iter_mut().for_each(|j| j.driven.clear());
        let model = scene.model();
        let mut state = model.initial_state();
        // All joints can be met: that is where the poses come from.
        for body in model.bodies() {
            let pose = model.body_pose(&state, body);
            let moved = Pose::new(
                exp_so3(rng.vec3(-0.3, 0.3)) * pose.rotation,
                pose.translation + rng.vec3(-0.2, 0.2),
            );
            if model.body_mass(body) > 0.0 {
                model.set_body_pose(&mut state, body, moved);
            }
        }
        let report = assembled(&model, &mut state, &scene.input);
        if report.outcome == AssemblyOutcome::Assembled {
            assembled_ones += 1;
            let rate = worst_rate(&scene, &in_body_axes(&model, &state));
            assert!(rate <= 1e-9, "case {case}: {rate:e}, {report:?}\n{scene:#?}");
            worst = worst.max(rate);
        }
    }
    println!("{assembled_ones} of 150 graphs assembled; rates left {worst:e}");
    assert!(assembled_ones >= 135, "{assembled_ones}");
}

#[test]
fn velocities_change_no_more_than_the_joints_ask() {
    // A bar on a ball joint that flies past it: what is left is the turn about the joint with the same momentum about it.
    let mut run = Run::new(Chain::new(1, JointKind::Ball).build(), implicit(0.01, Order::First, 1));
    run.state.motions[0] = Motion::new(DVec3::ZERO, DVec3::new(0.7, 0.0, 2.0));
    let report = assembled(&run.model, &mut run.state, &run.input);
    assert_eq!((report.outcome, report.iterations), (AssemblyOutcome::Assembled, 0));
    let inertia = slab(DVec3::new(0.5, 0.05, 0.05)).inertia.yy + 0.0625;
    assert_close!(run.state.motions[0].angular, DVec3::Y * (-2.0 * 0.25 / inertia), 1e-12);
    let Motion { angular, linear } = run.state.motions[0];
    assert!((linear + angular.cross(DVec3::X * -0.25)).length() < 1e-12);
}

#[test]
fn what_is_assembled_stays_bit_by_bit() {
    for builder in [bridge(JointKind::Ball, 6, 0.6), ring(JointKind::Universal, 8)] {
        let model = builder.build().expect("a chain");
        let mut state = scatter(&model, &mut Rng::new(23));
        assert_eq!(assembled(&model, &mut state, &Input::default()).outcome, AssemblyOutcome::Assembled);
        let poses = state.poses.clone();
        let report = assembled(&model, &mut state, &Input::default());
        assert_eq!((report.outcome, report.iterations), (AssemblyOutcome::Assembled, 0));
        assert_eq!(state.poses, poses);
    }
}

#[test]
fn impossible_scenes_end_in_least_squares_with_the_tree_met() {
    let contradictory = |kind| {
        // One bar between two walls that are too far apart.
        let mut builder = Chain::new(1, kind).build();
        let frames = joined(DVec3::X * 0.25, DVec3::new(0.8, 0.1, 0.0));
        builder.add_joint(JointSpec::new("", kind, BodyId::from_index(0), None, frames));
        builder
    };
    let stretched = |n: usize| bridge(JointKind::Ball, n, 1.3);
    let scenes = [
        ("one bar, two balls", contradictory(JointKind::Ball)),
        ("one bar, two welds", contradictory(JointKind::Fixed)),
        ("two bars stretched", stretched(2)),
        ("six bars stretched", stretched(6)),
    ];
    for (name, builder) in scenes {
        let model = builder.build().expect("a mechanism");
        let mut state = model.initial_state();
        let report = assembled(&model, &mut state, &Input::default());
        println!("{name}: {report:?}");
        assert_eq!(report.outcome, AssemblyOutcome::LeastSquares, "{name}: {report:?}");
        for joint in model.joints().filter(|j| model.is_tree_joint(*j)) {
            let (a, b) = model.joint_anchors(&state, joint);
            assert!(a.distance(b) < 1e-9, "{name}: {:e}", a.distance(b));
        }
    }
}

#[test]
fn hard_grabs_are_inverse_kinematics() {
    let mut rng = Rng::new(24);
    for kind in [JointKind::Ball, JointKind::Universal] {
        let model = Chain::new(7, kind).build().build().expect("an arm");
        let hand = BodyId::from_index(6);
        // From a bent arm, and from a straight one, which has no way to begin to fold towards a target on its line.
        for (is_bent, least) in [(true, 29), (false, 26)] {
            let mut counts = Vec::new();
            for _ in 0..30 {
                let mut state = if is_bent { scatter(&model, &mut rng) } else { model.initial_state() };
                let nothing = Input::default();
                assert_eq!(assembled(&model, &mut state, &nothing).outcome, AssemblyOutcome::Assembled);
                let target = rng.unit_vec() * rng.uniform(0.5, 2.8);
                let mut input = Input::default();
                let (stiffness, point) = (f64::INFINITY, DVec3::X * 0.25);
                input.grabs.push(Grab { body: hand, point, target, stiffness, damping: 0.0 });
                let report = assembled(&model, &mut state, &input);
                assert!(violation(&model, &state, &nothing).position <= 1e-10, "{report:?}");
                if report.outcome == AssemblyOutcome::Assembled {
                    let reached = model.body_pose(&state, hand).transform_point(point);
                    assert!(reached.distance(target) <= 1e-10);
                    counts.push(report.iterations);
                }
                // Out of reach: the arm holds together.
                input.grabs[0].target = rng.unit_vec() * 5.0;
                let report = assembled(&model, &mut state, &input);
                assert!(report.outcome != AssemblyOutcome::Assembled);
                assert!(violation(&model, &state, &nothing).position <= 1e-8, "{report:?}");
            }
            counts.sort_unstable();
            let (n, median) = (counts.len(), counts.get(counts.len() / 2));
            println!("{kind:?}, bent {is_bent}: {n} of 30 targets reached, median {median:?} iterations");
            assert!(n >= least, "{kind:?}, bent {is_bent}: {n} of 30 targets reached");
        }
    }
}

#[test]
fn trackers_pull_their_bodies_along() {
    // A hand that only the input moves, welded by a ball to the end of an arm.
    let mut builder = Chain::new(6, JointKind::Ball).build();
    let tip = DVec3::X * 3.0;
    let tracker = builder.add_body(BodySpec::kinematic("tracker", Pose::from_translation(tip)));
    let end = BodyId::from_index(5);
    let frames = frames_at(&builder.body_pose(end), &Pose::from_translation(tip), tip, DVec3::X);
    builder.add_joint(JointSpec::new("", JointKind::Ball, end, Some(tracker), frames));
    let model = builder.build().expect("an arm");
    let mut state = model.initial_state();
    let mut input = Input::default();
    let goal = Pose::new(exp_so3(DVec3::new(0.2, 0.1, 0.5)), DVec3::new(1.0, 1.2, -0.5));
    input.kinematic.push((tracker, goal));
    let report = assembled(&model, &mut state, &input);
    assert_eq!(report.outcome, AssemblyOutcome::Assembled, "{report:?}");
    assert_close!(state.poses[tracker.index()].translation, goal.translation, 1e-15);
    assert_close!(quat_to_mat3(state.poses[tracker.index()].rotation), quat_to_mat3(goal.rotation), 1e-15);
    assert!(violation(&model, &state, &input).position <= 1e-10);
}

#[test]
fn states_that_are_none_are_refused() {
    let model = bridge(JointKind::Ball, 4, 0.7).build().expect("a bridge");
    for spoil in [
        |s: &mut State| s.poses[1].translation.x = f64::NAN,
        |s: &mut State| s.poses[2].rotation = DQuat::from_xyzw(f64::INFINITY, 0.0, 0.0, 1.0),
        |s: &mut State| s.motions[0].angular.z = f64::NAN,
        |s: &mut State| {
            s.poses.pop();
        },
    ] {
        let mut state = model.initial_state();
        spoil(&mut state);
        let before = format!("{state:?}");
        let report = assemble(
            &model,
            &mut state,
            &Input::default(),
            &Assembly::default(),
            &loops(),
            &mut Workspace::new(&model),
        );
        assert_eq!(report.outcome, AssemblyOutcome::Refused);
        assert_eq!(format!("{state:?}"), before);
    }
}

/// Joint error that one stabilizing iteration leaves after one step of length `h`.
fn stabilized_error(make: &dyn Fn() -> MechanismBuilder, settings: Settings, h: f64) -> f64 {
    let mut settings = tight(settings);
    settings.loops.solve.method = LoopMethod::Dense;
    let mut once = assembly(0.0);
    once.iterations = 1;
    (settings.dt, settings.stabilize) = (h, Some(once));
    match &mut settings.scheme {
        Scheme::Explicit(explicit) => explicit.most_substeps = 1,
        Scheme::Displacement(displacement) => displacement.most_substeps = 1,
        _ => {}
    }
    let mut run = Run::new(make(), settings);
    let report = run.step();
    assert_eq!(report.assembly_iterations, 1);
    let left = run.violation();
    left.position.max(left.rotation)
}

#[test]
fn one_stabilizing_iteration_squares_the_error() {
    let spinning = |_: usize, body: BodySpec| {
        let omega = DVec3::new(0.0, 6.0, 0.0);
        let linear = omega.cross(body.pose.translation);
        body.with_motion(Motion::new(omega, linear))
    };
    let pendulum = || Chain::new(2, JointKind::Ball).build_with(spinning);
    // A parallelogram: two bars side by side, a third across their ends.
    let linkage = || {
        let mut builder = MechanismBuilder::new();
        let omega = DVec3::Y * 6.0;
        let pin = |builder: &mut MechanismBuilder, body: BodyId, other: Option<BodyId>, at: DVec3| {
            let above = other.map_or(Pose::IDENTITY, |b| builder.body_pose(b));
            let frames = frames_at(&builder.body_pose(body), &above, at, DVec3::Y);
            builder.add_joint(JointSpec::new("", JointKind::Ball, body, other, frames));
        };
        let [left, right] = [0.0, 1.0].map(|x| {
            let pose = Pose::new(exp_so3(DVec3::Y * std::f64::consts::FRAC_PI_2), DVec3::new(x, 0.0, -0.25));
            let motion = Motion::new(omega, omega.cross(DVec3::Z * -0.25));
            let bar = builder
                .add_body(BodySpec::dynamic("", pose, slab(DVec3::new(0.5, 0.05, 0.05))).with_motion(motion));
            pin(&mut builder, bar, None, DVec3::X * x);
            bar
        });
        let pose = Pose::from_translation(DVec3::new(0.5, 0.0, -0.5));
        let motion = Motion::new(DVec3::ZERO, omega.cross(DVec3::Z * -0.5));
        let across = builder
            .add_body(BodySpec::dynamic("", pose, slab(DVec3::new(1.0, 0.05, 0.05))).with_motion(motion));
        pin(&mut builder, across, Some(left), DVec3::new(0.0, 0.0, -0.5));
        pin(&mut builder, across, Some(right), DVec3::new(1.0, 0.0, -0.5));
        builder
    };
    let makers: [(&str, &dyn Fn() -> MechanismBuilder); 2] = [("pendulum", &pendulum), ("linkage", &linkage)];
    for (name, make) in makers {
        for (settings, p) in [
            (implicit(0.0, Order::First, 1), 1.0),
            (explicit(0.0, RungeKutta::First, 0.0), 1.0),
            (explicit(0.0, RungeKutta::Second, 0.0), 2.0),
        ] {
            let [coarse, fine] = [0.04, 0.02].map(|h| stabilized_error(make, settings, h));
            let order = ops::ln(coarse / fine) / ops::ln(2.0);
            println!("{name}, integrator of order {p}: {coarse:e} → {fine:e}, order {order:.2}");
            assert!(order > 2.0 * (p + 1.0) - 0.4, "{name}: {order}");
        }
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn vector(value: &Value) -> DVec3 {
    DVec3::new(number(&value[0]), number(&value[1]), number(&value[2]))
}
