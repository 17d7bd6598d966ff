//! Scores at run time: phases, holding, live drags, landing, saved states, no allocation, named faults.

use glam::DVec3;
use sinew_control::{
    Act, Actuation, Aim, ControlError, ControlInput, Controller, ControllerState, Facing, Gains, Goal, Guide,
    Key, MotionClip, Phase, Playback, PointPath, PointTarget, PoseGoal, Score, Style, landing_springs,
};
use sinew_mechanism::JointKind;
use sinew_recursive::{Action, HybridCommand, JointMode, LinkId, LoopedTree, Tree};
use sinew_testkit::{Rng, assert_close};

use crate::support::{GRAVITY, Run, arm, chain, ends, length, random_state, worm};

/// Guidance in two styles, a clip, a landing, then nothing.
fn variety(tree: &Tree) -> Score {
    let [head, tip] = ends(tree);
    let path =
        PointPath::new(vec![(0.0, DVec3::new(1.4, 0.0, 0.0)), (0.05, DVec3::new(1.2, 0.1, 0.3))]).unwrap();
    let goals = vec![
        Goal::hold(head, Aim::Orientation(Facing::Held)),
        Goal::drag(tip, DVec3::X * 0.1, PointTarget::Along(path)),
    ];
    let rest = tree.neutral_state().coordinates;
    let pose = PoseGoal { coordinates: rest.clone(), gains: Gains::critical(3.0), ramp: 0.05 };
    let mut bent = tree.neutral_state();
    tree.advance(&mut bent.coordinates, &vec![0.3; tree.n_dofs()], 1.0);
    let keys =
        [Key { time: 0.15, coordinates: rest.clone() }, Key { time: 0.2, coordinates: bent.coordinates }];
    let actuation = Actuation::new(tree);
    let clip = MotionClip::new(tree, &actuation, &keys).unwrap();
    let springs = landing_springs(tree, &actuation, 5.0, 0.2, rest);
    let phases = vec![
        Phase {
            start: 0.0,
            act: Act::Guide(Guide::new(Style::Acceleration, goals.clone()).with_pose(pose.clone())),
        },
        Phase { start: 0.05, act: Act::Guide(Guide::new(Style::Torque, goals.clone()).with_pose(pose)) },
        Phase { start: 0.1, act: Act::Guide(Guide::new(Style::Velocity, goals)) },
        Phase { start: 0.15, act: Act::Keyframes(Playback::new(clip)) },
        Phase { start: 0.2, act: Act::Land(springs) },
        Phase { start: 0.25, act: Act::Passive },
    ];
    Score { phases, ..Score::default() }
}

#[test]
fn phases_follow_each_other_and_a_saved_state_goes_on_with_the_same_bits() {
    let tree = worm();
    let score = variety(&tree);
    let mut run = Run::new(tree.clone(), Actuation::new(&tree), score.clone());
    let mut seen = Vec::new();
    for _ in 0..60 {
        // a fresh controller in every other stretch changes nothing
        let mut other = Run::new(tree.clone(), Actuation::new(&tree), score.clone());
        (other.state, other.control, other.time) = (run.state.clone(), run.control.clone(), run.time);
        let report = run.run(0.005, &[]);
        let _ = other.run(0.005, &[]);
        assert_eq!((&run.state, &run.control), (&other.state, &other.control));
        assert!(!report.not_finite);
        seen.push(report.phase.unwrap());
    }
    seen.dedup();
    assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    assert!(run.command.modes.iter().all(|mode| *mode == JointMode::Passive));
    assert!(length(run.command.values.iter().copied()) <= 0.0);
}

#[test]
fn nothing_is_allocated_once_every_phase_has_been_seen() {
    let tree = worm();
    let mut actuation = Actuation::new(&tree);
    for link in tree.links() {
        actuation.set_torque_limit(link, 2.0).unwrap();
        actuation.set_turn_limit(link, 0.1).unwrap();
    }
    let mut run = Run::new(tree.clone(), actuation, variety(&tree));
    run.state = random_state(&mut Rng::new(4), &tree, 0.4, 0.5);
    let [_, tip] = ends(&tree);
    let drags = [Goal::drag(tip, DVec3::ZERO, PointTarget::At(DVec3::ONE))];
    let sweep = |run: &mut Run| {
        for k in 0..30 {
            run.time = 0.01 * f64::from(k);
            let _ = run.decide(&[], &drags);
        }
    };
    sweep(&mut run);
    let info = allocation_counter::measure(|| sweep(&mut run));
    assert_eq!(info.count_total, 0);
}

#[test]
fn live_drags_pull_and_broken_ones_are_flagged() {
    let tree = chain(4, &[JointKind::Ball], false);
    let [_, tip] = ends(&tree);
    let rest = tree.neutral_state().coordinates;
    let calm = PoseGoal { coordinates: rest, gains: Gains::damper(8.0), ramp: 0.0 };
    let mut run = Run::guided(tree, Guide::new(Style::Acceleration, vec![]).with_pose(calm));
    let target = DVec3::new(0.4, 0.2, 0.3);
    let good = Goal::drag(tip, DVec3::ZERO, PointTarget::At(target));
    let nan = Goal::drag(tip, DVec3::ZERO, PointTarget::At(DVec3::new(0.0, f64::NAN, 0.0)));
    let nobody = Goal::drag(LinkId::from_index(99), DVec3::ZERO, PointTarget::At(target));
    let alone = run.clone_command(std::slice::from_ref(&good));
    let report = run.decide(&[], &[nan.clone(), good.clone(), nobody.clone()]);
    assert_eq!(report.ignored_drags, 2);
    assert_eq!(run.command, alone);
    assert_eq!(run.controller.goal_reports().len(), 3);
    let report = run.run(2.0, &[nan, good, nobody]);
    assert_eq!((report.ignored_drags, report.not_finite), (2, false));
    assert!((run.place(tip, DVec3::ZERO) - target).length() < 1e-3);
}

impl Run {
    fn clone_command(&mut self, drags: &[Goal]) -> HybridCommand {
        let _ = self.decide(&[], drags);
        self.command.clone()
    }
}

#[test]
fn a_state_that_is_not_finite_gets_no_command() {
    let tree = worm();
    let mut run = Run::new(tree.clone(), Actuation::new(&tree), variety(&tree));
    run.state.rates[3] = f64::NAN;
    let report = run.decide(&[], &[]);
    assert!(report.not_finite);
    assert_eq!(run.command, HybridCommand::passive(&tree));
}

#[test]
fn held_bones_stay_where_the_phase_found_them() {
    let tree = chain(6, &[JointKind::Ball], false);
    let [_, tip] = ends(&tree);
    let middle = tree.links().nth(3).unwrap();
    let height = Aim::Component { axis: DVec3::Z, place: PointTarget::Held };
    let goals = vec![
        Goal::hold(middle, height).with_gains(Gains::critical(20.0)),
        Goal::hold(tip, Aim::Orientation(Facing::Held)).with_gains(Gains::critical(20.0)),
        Goal::drag(tip, DVec3::ZERO, PointTarget::At(DVec3::new(0.6, 0.4, 0.3))),
    ];
    let rest = tree.neutral_state().coordinates;
    let calm = PoseGoal { coordinates: rest, gains: Gains::damper(8.0), ramp: 0.0 };
    let mut run = Run::guided(tree, Guide::new(Style::Acceleration, goals).with_pose(calm));
    let before = run.place(middle, DVec3::ZERO).z;
    let turned = run.dynamics.body_pose(&run.tree, tip).rotation;
    let _ = run.run(2.0, &[]);
    assert_close!(run.place(middle, DVec3::ZERO).z, before, 1e-3);
    assert!(run.dynamics.body_pose(&run.tree, tip).rotation.angle_between(turned) < 1e-2);
    assert!(run.controller.goal_reports()[2].distance < 0.02);
}

#[test]
fn landings_settle_and_stiff_ones_are_stepped_implicitly() {
    for (stiffness, damping, implicit) in [(20.0, 3.0, false), (1e6, 1e4, true)] {
        let tree = arm(3);
        let mut rest = tree.neutral_state().coordinates;
        rest.fill(0.3);
        let actuation = Actuation::new(&tree);
        let springs = landing_springs(&tree, &actuation, stiffness, damping, rest.clone());
        let mut run = Run::new(tree, actuation, Score::single(Act::Land(springs)));
        for step in 0..4000 {
            let input = ControlInput {
                implicit_springs: implicit,
                ..ControlInput::new(f64::from(step) * 1e-3, 1e-3, GRAVITY)
            };
            let (tree, state) = (&run.tree, &mut run.state);
            let _ = run.controller.command(&run.looped, state, &input, &mut run.control, &mut run.command);
            let action = Action { h: 1e-3, command: &run.command, gravity: GRAVITY, external: &[] };
            let (integrator, dynamics) = (&mut run.integrator, &mut run.dynamics);
            let _ = match run.controller.springs(&run.control).filter(|_| implicit) {
                Some(springs) => integrator.implicit(tree, dynamics, state, &action, springs),
                None => integrator.symplectic_euler(tree, dynamics, state, &action),
            };
        }
        assert!(length(run.state.rates.iter().copied()) < 1e-3, "{:?}", run.state);
        // at rest the springs carry the weight
        let mut dynamics = run.dynamics.clone();
        let still = HybridCommand::prescribed(&run.tree);
        let _ = dynamics.hybrid(&run.tree, &run.state, &still, GRAVITY, &[]);
        for dof in 0..3 {
            let spring = -stiffness * (run.state.coordinates[dof] - 0.3);
            assert!((spring - dynamics.torques()[dof]).abs() < 0.05, "{spring} {:?}", dynamics.torques());
        }
    }
}

#[test]
fn faults_of_scores_name_the_phase_and_the_thing() {
    let tree = arm(3);
    let [_, tip] = ends(&tree);
    let build = |phases: Vec<Phase>| {
        Controller::new(
            &LoopedTree::from(tree.clone()),
            Actuation::new(&tree),
            Score { phases, ..Score::default() },
        )
        .map(|_| ())
        .unwrap_err()
    };
    let guide = |goals| Act::Guide(Guide::new(Style::Torque, goals));
    let unknown = Goal::drag(LinkId::from_index(12), DVec3::ZERO, PointTarget::Held);
    let fault = build(vec![
        Phase { start: 0.0, act: Act::Passive },
        Phase { start: 1.0, act: guide(vec![Goal::drag(tip, DVec3::ZERO, PointTarget::Held), unknown]) },
    ]);
    assert_eq!(fault.to_string(), "phase 1: goal 1 names bone 12, but the tree has only 3 bones");
    let nan = Goal::drag(tip, DVec3::ZERO, PointTarget::At(DVec3::NAN));
    let fault = build(vec![Phase { start: 0.0, act: guide(vec![nan]) }]);
    assert_eq!(
        fault.to_string(),
        "phase 0: goal 0 must be finite, with directions that are not zero and gains that are not negative"
    );
    let passive = |start| Phase { start, act: Act::Passive };
    assert_eq!(build(vec![passive(1.0), passive(1.0)]), ControlError::TimeNotIncreasing { index: 1 });
    let pose = PoseGoal { coordinates: vec![0.0], gains: Gains::default(), ramp: 0.0 };
    let fault =
        build(vec![Phase { start: 0.0, act: Act::Guide(Guide::new(Style::Torque, vec![]).with_pose(pose)) }]);
    assert_eq!(fault.to_string(), "phase 0: target pose 0 has 1 numbers, but the tree needs 3");
    let mut springs = landing_springs(&tree, &Actuation::new(&tree), 1.0, 1.0, vec![0.0; 3]);
    springs.damping[1] = -1.0;
    let fault = build(vec![Phase { start: 0.0, act: Act::Land(springs) }]);
    assert_eq!(fault.to_string(), "phase 0: damping 1 must be finite and not negative");
    assert_eq!(PointPath::new(vec![]), Err(ControlError::Empty));
    let back = PointPath::new(vec![(0.0, DVec3::ZERO), (0.0, DVec3::ONE)]);
    assert_eq!(back, Err(ControlError::TimeNotIncreasing { index: 1 }));
}

#[test]
fn a_run_begins_before_its_first_phase_without_torques() {
    let tree = arm(2);
    let phases = vec![Phase { start: 1.0, act: Act::Guide(Guide::new(Style::Acceleration, vec![])) }];
    let mut run = Run::new(tree.clone(), Actuation::new(&tree), Score { phases, ..Score::default() });
    assert_eq!(run.decide(&[], &[]).phase, None);
    assert_eq!(
        (run.command.clone(), run.control.clone()),
        (HybridCommand::passive(&tree), ControllerState::default())
    );
    run.time = 1.0;
    assert_eq!(run.decide(&[], &[]).phase, Some(0));
    assert!(run.command.modes.contains(&JointMode::Prescribed));
}
