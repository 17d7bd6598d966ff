//! No input, pose or magnitude makes a step with loops panic, hang or lose its numbers; and a step allocates nothing.

use glam::{DQuat, DVec3};
use sinew_math::{Force, Motion, Pose};
use sinew_mechanism::{
    Assembly, BodyId, BodySpec, CarriedRotation, Grab, Input, JacobianAt, JointFrames, JointKind, JointSpec,
    LoopMethod, LoopStop, MechanismBuilder, MechanismError, Model, Order, PointSpringSpec, RungeKutta,
    Settings, Workspace, assemble, step,
};
use sinew_testkit::Rng;
use sinew_topology::Priority;

use super::displacing::displacing;
use crate::dense_oracle::scene::{Scene, Taste};
use crate::support::{Chain, Run, explicit, implicit, joined, ladder, pin, settings, slab};

/// The implicit schemes, with assembly after the step, and the others.
fn all_settings(dt: f64) -> Vec<(bool, Settings)> {
    let mut stabilized = settings(dt);
    stabilized.stabilize = Some(Assembly::default());
    let mut plain = displacing(dt, JacobianAt::Start, CarriedRotation::Momentum);
    plain.loops = Settings::default().loops;
    vec![
        (true, settings(dt)),
        (true, implicit(dt, Order::Second, 1)),
        // Newton's method may diverge where a step is too long for it.
        (dt < 0.1, implicit(dt, Order::First, 5)),
        (true, stabilized),
        (false, plain),
        (false, explicit(dt, RungeKutta::Fourth, 10.0)),
    ]
}

#[test]
fn joints_between_immovable_bodies_are_refused() {
    let mut builder = Chain::new(2, JointKind::Ball).build();
    let wall = builder.add_body(BodySpec::fixed("wall", Pose::IDENTITY));
    let hand = builder.add_body(BodySpec::kinematic("hand", Pose::IDENTITY));
    let frames = joined(DVec3::ZERO, DVec3::ZERO);
    for (child, parent) in [(wall, Some(hand)), (hand, None), (wall, None)] {
        let mut builder = builder.clone();
        builder.add_joint(JointSpec::new("stuck", JointKind::Ball, child, parent, frames));
        let error = builder.build().expect_err("a refusal");
        assert!(matches!(error, MechanismError::ImmovableJoint { .. }), "{error}");
        assert!(error.to_string().contains("stuck"), "{error}");
    }
}

#[test]
fn wild_graphs_at_extreme_steps_stay_finite() {
    let mut rng = Rng::new(41);
    let taste = Taste { mass_decades: 3, stiffness_decades: 8, ..Taste::WILD };
    for case in 0..80 {
        let mut scene = Scene::random(&mut rng, &taste);
        scene.close(&mut rng, &taste, 4);
        for joint in &mut scene.joints {
            if rng.chance(0.2) {
                joint.priority = Priority::Secondary;
                joint.weight = rng.power_of_ten(-6, 6);
            }
        }
        let model = scene.model();
        for dt in [1e-7, 1e-3, 1.0 / 60.0, 1.0, 1e3] {
            for (is_implicit, settings) in all_settings(dt) {
                let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
                for _ in 0..3 {
                    let report = step(&model, &mut state, &scene.input, &settings, &mut workspace);
                    let lost = report.non_finite.is_some() || !report.loops.residual.is_finite();
                    // Beyond a second only that nothing panics.
                    let lost = lost && dt <= 1.0;
                    assert!(
                        !(is_implicit && lost),
                        "case {case}, {dt} s, {settings:?}: {report:?}\n{scene:#?}"
                    );
                }
            }
        }
    }
}

#[test]
fn degenerate_poses_of_loop_joints_never_break_a_step() {
    let turns = [
        DQuat::IDENTITY,
        DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0),
        DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0),
        DQuat::from_xyzw(0.0, 0.6, 0.8, 0.0),
        DQuat::from_xyzw(0.0, 0.0, 0.5f64.sqrt(), 0.5f64.sqrt()),
    ];
    for kind in JointKind::all(0.3) {
        for turn in turns {
            for offset in [DVec3::ZERO, DVec3::new(0.2, -0.1, 0.4)] {
                let mut builder = Chain::new(3, JointKind::Ball).build();
                let (first, last) = (BodyId::from_index(0), BodyId::from_index(2));
                let frames = JointFrames { rotation1: turn, ..joined(offset, DVec3::ZERO) };
                builder.add_joint(JointSpec::new("", kind, last, Some(first), frames));
                builder.add_joint(JointSpec::new("", kind, last, None, frames));
                for (is_implicit, settings) in all_settings(0.01) {
                    let model = builder.clone().build().expect("a chain");
                    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
                    for k in 0..5 {
                        let report = step(&model, &mut state, &Input::default(), &settings, &mut workspace);
                        let lost = report.non_finite.is_some();
                        assert!(!(is_implicit && lost), "{kind:?} {turn} {offset}, step {k}: {report:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn zero_lengths_and_straight_lines_are_harmless() {
    // All joints of a body in one point; a ring of links folded onto each other; a chain taut between its ends.
    let mut point = MechanismBuilder::new();
    let body = point.add_body(BodySpec::dynamic("", Pose::IDENTITY, slab(DVec3::splat(0.2))));
    for _ in 0..4 {
        point.add_joint(JointSpec::new("", JointKind::Ball, body, None, joined(DVec3::ZERO, DVec3::ZERO)));
    }
    let mut folded = Chain::new(4, JointKind::Ball).build();
    folded.add_joint(JointSpec::new(
        "",
        JointKind::Fixed,
        BodyId::from_index(3),
        Some(BodyId::from_index(3 - 1)),
        joined(DVec3::ZERO, DVec3::ZERO),
    ));
    let mut taut = Chain::new(20, JointKind::Ball).build();
    let frames = joined(DVec3::X * 0.25, DVec3::X * 10.0);
    taut.add_joint(JointSpec::new("", JointKind::Ball, BodyId::from_index(19), None, frames));
    for builder in [point, folded, taut] {
        for (is_implicit, settings) in all_settings(1.0 / 60.0) {
            let model = builder.clone().build().expect("a mechanism");
            let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
            for _ in 0..60 {
                let report = step(&model, &mut state, &Input::default(), &settings, &mut workspace);
                assert!(!(is_implicit && report.non_finite.is_some()), "{settings:?}: {report:?}");
            }
        }
    }
}

#[test]
fn loops_that_ask_for_nothing_are_harmless() {
    // A free joint, a soft joint or a slack spring on one body, a row on another, nearer to the root or further.
    let frames = joined(DVec3::ZERO, DVec3::ZERO);
    for (held, idle) in [(None, 5), (Some(1), 5), (Some(4), 1)] {
        let (idle, other) = (BodyId::from_index(idle), BodyId::from_index(3));
        let mut plain = Chain::new(6, JointKind::Ball).build();
        if let Some(held) = held.map(BodyId::from_index) {
            let at = plain.body_pose(held).translation;
            pin(&mut plain, JointKind::PointOnPlane, (held, None), at, DVec3::Z);
        }
        for what in 0..3 {
            let mut builder = plain.clone();
            let free = JointSpec::new("", JointKind::Free, idle, None, frames);
            let soft = JointSpec::new("", JointKind::Ball, idle, None, frames).with_compliance(1e300);
            let spring = PointSpringSpec::new(idle, DVec3::ZERO, Some(other), DVec3::ZERO, 0.0, 0.0);
            match what {
                0 => drop(builder.add_joint(free)),
                1 => drop(builder.add_joint(soft)),
                _ => builder.add_spring(spring),
            }
            for (_, settings) in all_settings(0.01) {
                let mut run = Run::new(builder.clone(), settings);
                let mut without = Run::new(plain.clone(), settings);
                run.steps(4);
                without.steps(4);
                let gap = run.state.poses.iter().zip(&without.state.poses);
                let gap = gap.map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f64::max);
                assert!(gap < 1e-9, "{what}, held {held:?}, {:?}: {gap:e}", settings.scheme);
            }
        }
    }
}

#[test]
fn numbers_that_are_none_are_ignored_with_loops() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let body = BodyId::from_index(3);
    let mut dirty = Input::default();
    let grab = Grab { body, point: DVec3::ZERO, target: DVec3::ZERO, stiffness: inf, damping: 0.0 };
    dirty.grabs.push(Grab { target: DVec3::NAN, ..grab });
    dirty.grabs.push(Grab { target: DVec3::splat(inf), ..grab });
    dirty.grabs.push(Grab { point: DVec3::NAN, ..grab });
    dirty.grabs.push(Grab { body: BodyId::from_index(99), ..grab });
    dirty.grabs.push(Grab { damping: nan, ..grab });
    dirty.grabs.push(Grab { stiffness: -inf, ..grab });
    dirty.wrenches.push((body, Force::new(DVec3::NAN, DVec3::ZERO)));
    for (_, settings) in all_settings(0.01) {
        let [mut clean, mut spoiled] = [0, 1].map(|_| Run::new(ladder(4), settings));
        spoiled.input = dirty.clone();
        clean.steps(5);
        spoiled.steps(5);
        assert_eq!(clean.state, spoiled.state, "{settings:?}");
    }
}

#[test]
fn states_that_are_lost_are_named_and_nothing_panics() {
    let model = ladder(4).build().expect("a ladder");
    for (_, settings) in all_settings(0.01) {
        for spoil in 0..4 {
            let mut state = model.initial_state();
            match spoil {
                0 => state.poses[2].translation.x = f64::NAN,
                1 => state.motions[3] = Motion::new(DVec3::splat(1e300), DVec3::splat(-1e300)),
                2 => state.loops.forces.fill(f64::NAN),
                _ => state.loops.pulls.fill(DVec3::splat(f64::INFINITY)),
            }
            let mut workspace = Workspace::new(&model);
            for _ in 0..2 {
                let report = step(&model, &mut state, &Input::default(), &settings, &mut workspace);
                assert!(spoil != 0 || report.non_finite.is_some(), "{settings:?}: {report:?}");
            }
            // The scratch has not been spoiled.
            let mut fresh = [model.initial_state(), model.initial_state()];
            step(&model, &mut fresh[0], &Input::default(), &settings, &mut workspace);
            step(&model, &mut fresh[1], &Input::default(), &settings, &mut Workspace::new(&model));
            assert_eq!(fresh[0], fresh[1], "{settings:?}, spoiled {spoil}");
        }
    }
}

#[test]
fn settings_that_make_no_sense_end_a_solve() {
    for precision in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        for iterations in [0, 1, u32::MAX] {
            for method in [
                LoopMethod::ConjugateResidual,
                LoopMethod::ConjugateGradient,
                LoopMethod::BiConjugateGradient,
                LoopMethod::Dense,
            ] {
                let mut settings = settings(0.01);
                let solve = &mut settings.loops.solve;
                (solve.precision, solve.iterations, solve.method) = (precision, iterations, method);
                // What cannot be reached must still end.
                solve.iterations = solve.iterations.min(10_000);
                let mut run = Run::new(ladder(4), settings);
                run.steps(3);
            }
        }
    }
    let mut run = Run::new(ladder(4), settings(0.01));
    run.settings.loops.solve.iterations = 0;
    assert_eq!(run.step().loops.stop, LoopStop::Budget);
}

#[test]
fn assembly_takes_anything() {
    let mut rng = Rng::new(42);
    for case in 0..60 {
        let mut scene = Scene::random(&mut rng, &Taste::WILD);
        scene.close(&mut rng, &Taste::WILD, 4);
        let model = scene.model();
        let mut state = model.initial_state();
        for body in model.bodies() {
            let far = rng.power_of_ten(-3, 6);
            model.set_body_pose(&mut state, body, Pose::new(rng.rotation(), rng.vec3(-far, far)));
        }
        let loops = Settings::default().loops;
        let report = assemble(
            &model,
            &mut state,
            &scene.input,
            &Assembly::default(),
            &loops,
            &mut Workspace::new(&model),
        );
        assert!(state.poses.iter().all(Pose::is_finite), "case {case}: {report:?}");
        assert!(state.motions.iter().all(|m| m.is_finite()), "case {case}: {report:?}");
    }
}

#[test]
fn a_warm_step_with_loops_allocates_nothing() {
    let mut rng = Rng::new(43);
    let mut held = Input::default();
    let (point, target) = (DVec3::ZERO, DVec3::new(0.3, 0.2, -1.0));
    held.grabs.push(Grab {
        body: BodyId::from_index(5),
        point,
        target,
        stiffness: f64::INFINITY,
        damping: 0.0,
    });
    let mut cases: Vec<(Model, Input)> = vec![
        (ladder(12).build().expect("a ladder"), Input::default()),
        (ladder(12).build().expect("a ladder"), held),
    ];
    while cases.len() < 20 {
        let mut scene = Scene::random(&mut rng, &Taste::WILD);
        scene.close(&mut rng, &Taste::WILD, 4);
        cases.push((scene.model(), scene.input));
    }
    for (case, (model, input)) in cases.iter().enumerate() {
        for (_, settings) in all_settings(0.01) {
            let (mut state, mut workspace) = (model.initial_state(), Workspace::new(model));
            for _ in 0..3 {
                step(model, &mut state, input, &settings, &mut workspace);
            }
            // Parts that a step seldom needs have their buffers after the same step was made once.
            step(model, &mut state.clone(), input, &settings, &mut workspace);
            let seen = allocation_counter::measure(|| {
                step(model, &mut state, input, &settings, &mut workspace);
            });
            assert_eq!(seen.count_total, 0, "case {case}: {} bytes with {settings:?}", seen.bytes_total);
        }
    }
}
