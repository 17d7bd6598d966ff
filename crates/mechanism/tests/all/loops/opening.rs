//! Joints that may open, and hard grabs: they follow, hold, share, and never whip what they cannot reach.

use glam::{DQuat, DVec3};
use sinew_math::{Motion, Pose};
use sinew_mechanism::{
    Assembly, BodyId, BodySpec, Displacement, Grab, Input, JointFrames, JointId, JointKind, JointSpec,
    LoopMethod, LoopStop, MechanismBuilder, Order, RungeKutta, ScalarForce, Scheme, Settings, Stage, State,
    Watch, Workspace, joint_reading, step, step_observed,
};

use sinew_topology::Priority;

use crate::support::{Chain, Run, explicit, implicit, joined, lump, settings, without_gravity};

fn hard(body: BodyId, point: DVec3, target: DVec3) -> Grab {
    Grab { body, point, target, stiffness: f64::INFINITY, damping: 0.0 }
}

fn stabilized(mut settings: Settings) -> Settings {
    settings.stabilize = Some(Assembly::default());
    settings
}

/// A ball of the given radius at the origin.
fn ball(radius: f64) -> MechanismBuilder {
    let mut builder = MechanismBuilder::new();
    let mass = lump(1.0, DVec3::splat(0.4 * radius * radius));
    builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, mass));
    builder
}

#[test]
fn holds_follow_and_hold_bodies_of_any_size() {
    for radius in [0.02, 0.1, 1.0] {
        let mut run = Run::new(ball(radius), settings(1.0 / 60.0));
        let body = BodyId::from_index(0);
        run.input.grabs.push(hard(body, DVec3::ZERO, DVec3::ZERO));
        let gap = |run: &Run| run.state.poses[0].translation.distance(run.input.grabs[0].target);
        for k in 0..120 {
            run.input.grabs[0].target = DVec3::X * (1.0 / 60.0 * f64::from(k));
            run.step();
            // The jerk at the start makes it yield; it catches up within some steps.
            let most = if k < 10 { 0.01 } else { 4e-3 };
            assert!(gap(&run) < most, "radius {radius}, step {k}: {:e}", gap(&run));
        }
        // A jump is made good, and gravity does not take the ball away.
        run.input.grabs[0].target += DVec3::Y * 0.05;
        run.steps(60);
        assert!(gap(&run) < 1e-9, "radius {radius}: {:e}", gap(&run));
    }
}

#[test]
fn equal_joints_that_contradict_each_other_meet_in_the_middle() {
    let mut builder = ball(0.1);
    for x in [0.0, 1.0] {
        let joint = JointSpec::new(
            "",
            JointKind::Ball,
            BodyId::from_index(0),
            None,
            joined(DVec3::ZERO, DVec3::X * x),
        );
        builder.add_joint(joint.with_priority(Priority::Secondary));
    }
    let mut run = Run::new(builder, without_gravity(settings(1.0 / 60.0)));
    run.state.poses[0].translation = DVec3::X * 0.3;
    run.steps(120);
    assert!((run.state.poses[0].translation.x - 0.5).abs() < 1e-6, "{}", run.state.poses[0].translation);
}

#[test]
fn stabilization_does_not_whip_what_is_just_out_of_reach() {
    for n in [2, 3, 5] {
        for beyond in [-0.01, 0.003, 0.01, 0.03] {
            let mut run = Run::new(Chain::new(n, JointKind::Ball).build(), stabilized(settings(1.0 / 60.0)));
            let tip = BodyId::from_index(n - 1);
            let target = DVec3::X * (0.5 * n as f64 + beyond);
            run.input.grabs.push(hard(tip, DVec3::X * 0.25, target));
            let mut fastest = 0.0f64;
            for _ in 0..240 {
                run.step();
                let speed = run.state.motions.iter().map(|m| m.linear.length()).fold(0.0, f64::max);
                fastest = fastest.max(speed);
            }
            assert!(fastest < 3.0, "{n} links, {beyond} m beyond: {fastest} m/s");
            assert!(run.violation().tree < 1e-9, "{n} links, {beyond} m beyond: {:e}", run.violation().tree);
        }
    }
}

#[test]
fn displacement_steps_count_full_turns() {
    let mut builder = MechanismBuilder::new();
    let spec = BodySpec::dynamic("", Pose::IDENTITY, lump(1.0, DVec3::splat(0.1)));
    let wheel = builder.add_body(spec.with_motion(Motion::new(DVec3::X * 6.0, DVec3::ZERO)));
    let frames = JointFrames {
        rotation1: DQuat::IDENTITY,
        point1: DVec3::ZERO,
        rotation2: DQuat::IDENTITY,
        point2: DVec3::ZERO,
    };
    let hinge = JointSpec::new("", JointKind::Hinge, wheel, None, frames);
    builder.add_joint(hinge.with_twist(ScalarForce::spring(1e-6, 0.0, 0.0)));
    let mut settings = without_gravity(settings(0.01));
    settings.scheme = Scheme::Displacement(Displacement::default());
    let mut run = Run::new(builder, settings);
    run.steps(200);
    let twist = joint_reading(&run.model, &run.state, JointId::from_index(0)).twist;
    assert!((twist - 12.0).abs() < 1e-2, "{twist}");
}

/// Says no after a number of iterations.
struct Until(u32);

impl Watch for Until {
    fn done(&mut self, _: Stage) {}

    fn keep_refining(&mut self, iterations: u32, _: f64) -> bool {
        iterations < self.0
    }
}

#[test]
fn steps_cut_short_in_any_solve_are_replayed_to_the_bit() {
    let displacement = |mut settings: Settings| {
        settings.scheme = Scheme::Displacement(Displacement::default());
        settings
    };
    let schemes = [
        settings(0.01),
        implicit(0.01, Order::Second, 3),
        explicit(0.01, RungeKutta::Fourth, 10.0),
        displacement(settings(0.01)),
    ];
    let mut n_cut = 0;
    for scheme in schemes.into_iter().flat_map(|s| [s, stabilized(s)]) {
        for method in [LoopMethod::ConjugateResidual, LoopMethod::ConjugateGradient] {
            let mut settings = scheme;
            settings.loops.solve.method = method;
            // Two loop joints that contradict each other, and a hold: a second solve of the upper level.
            let mut builder = Chain::new(4, JointKind::Ball).build();
            for x in [1.5, 1.55] {
                let frames = joined(DVec3::X * 0.25, DVec3::X * x);
                builder.add_joint(JointSpec::new("", JointKind::Ball, BodyId::from_index(3), None, frames));
            }
            let model = builder.build().expect("a chain");
            let mut input = Input::default();
            input.grabs.push(hard(BodyId::from_index(1), DVec3::ZERO, DVec3::new(0.7, 0.1, 0.0)));
            for most in 0..40 {
                let run = |input: &Input, watch: &mut dyn Watch| -> (State, u32, LoopStop) {
                    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
                    let report = step_observed(&model, &mut state, input, &settings, &mut workspace, watch);
                    (state, report.loops.iterations, report.loops.stop)
                };
                let (cut, iterations, stop) = run(&input, &mut Until(most));
                if stop != LoopStop::Asked {
                    continue;
                }
                n_cut += 1;
                let again = Input { loop_iterations: Some(iterations), ..input.clone() };
                let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
                step(&model, &mut state, &again, &settings, &mut workspace);
                assert_eq!(state, cut, "{method:?}, {most} iterations, {settings:?}");
            }
        }
    }
    assert!(n_cut > 100, "{n_cut} steps were cut short");
}
