//! Bounded work on the loops: budgets, stop signals, replays and warm starts.

use glam::DVec3;
use sinew_mechanism::{
    BodyId, Grab, Input, JointKind, JointSpec, LoopMethod, LoopStop, MechanismBuilder, Model, Order,
    Settings, Stage, State, StepReport, Watch, Workspace, step, step_observed,
};

use crate::convergence::distance;
use crate::support::{Run, implicit, ladder, settings, tight};

/// Stops the refinement of a step after some iterations.
struct StopAfter(u32);

impl Watch for StopAfter {
    fn keep_refining(&mut self, iterations: u32, residual: f64) -> bool {
        assert!(residual >= 0.0);
        iterations < self.0
    }
}

/// The ladder, its lowest rung grabbed far out of reach: primary and secondary rows, never satisfied.
fn grabbed_ladder() -> (MechanismBuilder, Input) {
    let mut input = Input::default();
    let (body, target, stiffness) = (BodyId::from_index(23), DVec3::new(9.0, 1.0, 0.0), f64::INFINITY);
    input.grabs.push(Grab { body, point: DVec3::ZERO, target, stiffness, damping: 0.0 });
    (ladder(8), input)
}

#[test]
fn a_stopped_step_is_replayed_by_its_count() {
    let (builder, grabbed) = grabbed_ladder();
    let model = builder.build().expect("a ladder");
    let mut stopped = 0;
    for input in [Input::default(), grabbed] {
        for settings in [settings(0.01), implicit(0.01, Order::First, 3), implicit(0.01, Order::Second, 2)] {
            for most in [0, 1, 2, 5, 9, 17] {
                let (mut watched, mut replayed) = (model.initial_state(), model.initial_state());
                let [mut one, mut other] = [0, 1].map(|_| Workspace::new(&model));
                for _ in 0..4 {
                    let watch = &mut StopAfter(most);
                    let report = step_observed(&model, &mut watched, &input, &settings, &mut one, watch);
                    assert!(report.loops.iterations <= most);
                    stopped += u32::from(report.loops.stop == LoopStop::Asked);
                    let budget = Input { loop_iterations: Some(report.loops.iterations), ..input.clone() };
                    let again = step(&model, &mut replayed, &budget, &settings, &mut other);
                    assert_eq!(again.loops.iterations, report.loops.iterations);
                    assert_eq!(watched, replayed, "{most}: {report:?} {again:?}");
                }
            }
        }
    }
    assert!(stopped > 40, "{stopped}");
}

#[test]
fn a_budget_of_zero_is_the_step_of_the_tree() {
    let full = ladder(6);
    let model = full.build().expect("a ladder");
    // The same bodies, the rungs free at one end: not built by hand but by leaving the loop rows at zero force.
    for settings in [settings(0.01), implicit(0.01, Order::Second, 3)] {
        let mut cold = settings;
        cold.loops.warm_start = false;
        let input = Input { loop_iterations: Some(0), ..Input::default() };
        let mut state = model.initial_state();
        let mut workspace = Workspace::new(&model);
        for _ in 0..5 {
            let report: StepReport = step(&model, &mut state, &input, &cold, &mut workspace);
            assert_eq!((report.loops.iterations, report.loops.stop), (0, LoopStop::Budget), "{report:?}");
            assert!(report.loops.residual > 1e-6 && report.loops.residual.is_finite());
            assert!(state.loops.forces.iter().all(|f| *f == 0.0));
        }
        // Bars of both strings fall alike, rungs hang down from one side: the loops are open.
        let open = model.joints().filter(|j| !model.is_tree_joint(*j)).map(|j| {
            let (a, b) = model.joint_anchors(&state, j);
            a.distance(b)
        });
        assert!(open.fold(0.0, f64::max) > 1e-4);
    }
}

#[test]
fn warm_starts_find_the_same_motion_sooner() {
    let run = |make: &dyn Fn() -> MechanismBuilder, settings: Settings, warm: bool| -> (State, Model, u32) {
        let mut settings = settings;
        settings.loops.warm_start = warm;
        settings.loops.solve.method = LoopMethod::ConjugateResidual;
        let mut run = Run::new(make(), settings);
        let mut iterations = 0;
        for _ in 0..100 {
            let report = run.step();
            let is_met = report.loops.residual <= 10.0 * settings.loops.solve.precision.max(1e-9);
            assert!(is_met, "{report:?}");
            iterations += report.loops.iterations;
        }
        (run.state, run.model, iterations)
    };
    let twelve = || ladder(12);
    let pinned = || {
        // The lower end pinned where it is: a net that barely moves.
        let mut builder = ladder(12);
        let rung = BodyId::from_index(35);
        let pose = builder.body_pose(rung);
        let frames = sinew_mechanism::JointFrames::coincident(&pose, &sinew_math::Pose::IDENTITY, &pose);
        builder.add_joint(JointSpec::new("", JointKind::Ball, rung, None, frames));
        builder
    };
    let makers: [(&str, &dyn Fn() -> MechanismBuilder); 2] = [("swinging", &twelve), ("pinned", &pinned)];
    for (name, make) in makers {
        for precision in [1e-3, 1e-6, 1e-9] {
            let mut loose = settings(1.0 / 240.0);
            (loose.loops.solve.precision, loose.loops.solve.iterations) = (precision, 5_000);
            let (_, _, warm) = run(make, loose, true);
            let (_, _, cold) = run(make, loose, false);
            println!("{name} ladder at {precision:e}: {warm} iterations warm, {cold} cold, in 100 steps");
            assert!(warm <= cold, "{name} at {precision:e}: {warm} > {cold}");
        }
    }
    let [(warm, ..), (cold, ..)] = [true, false].map(|w| run(&twelve, tight(settings(1.0 / 240.0)), w));
    let gap = distance(&warm, &cold);
    assert!(gap < 1e-8, "{gap:e}");
}

#[test]
fn stages_end_in_order_with_loops() {
    let model = ladder(3).build().expect("a ladder");
    let mut seen = Vec::new();
    let mut stabilized = settings(0.01);
    stabilized.stabilize = Some(sinew_mechanism::Assembly::default());
    let mut watch = |stage: Stage| seen.push(stage);
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    step_observed(&model, &mut state, &Input::default(), &stabilized, &mut workspace, &mut watch);
    assert!(seen.windows(2).all(|w| w[0] < w[1]), "{seen:?}");
    assert_eq!(seen.last(), Some(&Stage::Stabilize));
    assert!(seen.contains(&Stage::Refine));
}
