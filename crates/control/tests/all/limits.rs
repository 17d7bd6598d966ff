//! Displacement and torque limits: kept, reported, and made good for by others.

use glam::DVec3;
use sinew_control::{
    Act, Actuation, ControlError, Gains, Goal, Guide, PointTarget, PoseGoal, Score, Style, levels,
};
use sinew_mechanism::JointKind;
use sinew_recursive::{Dynamics, JointMode, LinkId, Tree};
use sinew_testkit::{Rng, assert_close};

use crate::support::{Run, arm, chain, ends, length};

const STYLES: [Style; 3] = [Style::Acceleration, Style::Torque, Style::Velocity];

fn calm(tree: &Tree, guide: Guide) -> Guide {
    let coordinates = tree.neutral_state().coordinates;
    guide.with_pose(PoseGoal { coordinates, gains: Gains::damper(10.0), ramp: 0.0 })
}

#[test]
fn joints_return_within_their_limits_and_stay_there() {
    for style in STYLES {
        let tree = chain(4, &[JointKind::Hinge, JointKind::Ball], false);
        let [_, tip] = ends(&tree);
        let mut actuation = Actuation::new(&tree);
        for link in tree.links() {
            actuation.set_limits(&tree, link, 0, [-0.4, 0.3]).unwrap();
            actuation.set_turn_limit(link, 0.4).unwrap();
        }
        let goal = Goal::drag(tip, DVec3::ZERO, PointTarget::At(DVec3::new(-0.5, 0.3, 0.9)))
            .with_gains(Gains::critical(6.0).with_reach(0.3));
        let mut guide = calm(&tree, Guide::new(style, vec![goal]));
        guide.limits_level = levels::HOLD;
        let mut run = Run::new(tree, actuation, Score::single(Act::Guide(guide)));
        // begins beyond: the hinges by 0.1 rad, the balls by 0.04 rad
        let turn: Vec<f64> = (0..run.tree.n_dofs()).map(|_| -0.25).collect();
        run.tree.advance(&mut run.state.coordinates, &turn, 1.0);
        let begin = beyond(&run);
        assert!(begin > 0.03);
        let (mut held, mut worst) = (0, 0.0_f64);
        for _ in 0..400 {
            let report = run.run(0.01, &[]);
            assert!(!report.not_finite, "{style:?} {} {:?}", run.time, run.state);
            held += report.at_limits;
            worst = worst.max(beyond(&run));
        }
        let end = beyond(&run);
        assert!(worst < begin + 0.01, "{style:?}: {worst} rad beyond a limit on the way");
        assert!(held > 0, "{style:?}: the drag pushes against limits");
        assert!(end < 1e-9, "{style:?}: {end} rad beyond a limit in the end");
    }
}

#[test]
fn no_limit_is_passed_by_random_characters() {
    let mut rng = Rng::new(7);
    let kinds = [JointKind::Ball, JointKind::Universal, JointKind::Hinge];
    let mut touched = 0;
    for case in 0..24 {
        let style = STYLES[case % 3];
        let tree = chain(4 + case % 4, &kinds[case / 3 % 3..], case / 9 % 2 == 0);
        let [_, tip] = ends(&tree);
        let mut actuation = Actuation::new(&tree);
        for link in tree.links().filter(|link| tree.dofs(*link).len() < 4) {
            for along in 0..tree.dofs(link).len() {
                let _ = actuation.set_limits(&tree, link, along, [-0.4, 0.3]);
            }
            let _ = actuation.set_turn_limit(link, 0.4);
        }
        let place = tip_place(&tree, tip) + rng.vec3(-0.3, 0.3);
        let goal = Goal::drag(tip, DVec3::ZERO, PointTarget::At(place)).with_gains(Gains::critical(6.0));
        let mut guide = calm(&tree, Guide::new(style, vec![goal]));
        guide.limits_level = levels::HOLD;
        let mut run = Run::new(tree, actuation, Score::single(Act::Guide(guide)));
        run.gravity = DVec3::ZERO;
        run.dt = 5e-4;
        let mut worst = f64::NEG_INFINITY;
        for _ in 0..100 {
            let report = run.run(0.01, &[]);
            assert!(!report.not_finite, "case {case}, {style:?}: not finite at {}", run.time);
            worst = worst.max(beyond(&run));
        }
        assert!(worst < 1e-3, "case {case}, {style:?}: {worst} rad beyond");
        touched += usize::from(worst > -1e-3);
    }
    assert!(touched > 12, "drags push joints against their limits");
}

#[test]
fn a_ball_that_swings_through_its_middle_is_not_held_back() {
    for style in STYLES {
        for aside in [1e-300, 1e-9, 1e-5, 1e-3] {
            let tree = chain(2, &[JointKind::Ball], false);
            let [_, tip] = ends(&tree);
            let mut actuation = Actuation::new(&tree);
            actuation.set_turn_limit(tip, 1.0).unwrap();
            let guide = calm(&tree, Guide::new(style, Vec::new()));
            let mut run = Run::new(tree, actuation, Score::single(Act::Guide(guide)));
            run.gravity = DVec3::ZERO;
            run.dt = 1.0 / 60.0;
            let mut turn = vec![0.0; run.tree.n_dofs()];
            turn[run.tree.dofs(tip).start] = aside;
            run.tree.advance(&mut run.state.coordinates, &turn, 1.0);
            run.state.rates[run.tree.dofs(tip).start + 1] = 3.0;
            let report = run.decide(&[], &[]);
            assert_eq!(report.at_limits, 0, "{style:?}, {aside} rad: a radian is left");
            let asked = length(run.tree.dofs(tip).map(|dof| run.dynamics.accelerations()[dof]));
            assert!(asked < 100.0, "{style:?}, {aside} rad: {asked} rad/s²");
        }
    }
}

#[test]
fn a_joint_too_weak_to_stay_at_its_limit_is_not_held_there() {
    for style in STYLES {
        let tree = arm(1);
        let link = tree.links().next().unwrap();
        let mut actuation = Actuation::new(&tree);
        // it lies at the lower limit and falls away from it, however hard it pulls
        actuation.set_limits(&tree, link, 0, [0.0, 1.0]).unwrap();
        actuation.set_torque_limit(link, 0.3).unwrap();
        let mut run = Run::new(
            tree.clone(),
            actuation,
            Score::single(Act::Guide(calm(&tree, Guide::new(style, Vec::new())))),
        );
        let report = run.decide(&[], &[]);
        assert_eq!((report.saturated, report.at_limits), (1, 0), "{style:?}");
        assert!(run.dynamics.accelerations()[0] > 1.0, "{style:?}");
    }
}

fn tip_place(tree: &Tree, tip: LinkId) -> DVec3 {
    let mut dynamics = Dynamics::new(tree);
    dynamics.kinematics(tree, &tree.neutral_state());
    dynamics.body_pose(tree, tip).translation
}

/// How far the joints are beyond the limits of these tests at most (rad).
fn beyond(run: &Run) -> f64 {
    let joint = |link| {
        let q = &run.state.coordinates[run.tree.coordinates(link)];
        if q.len() == 4 {
            2.0 * sinew_math::ops::acos(q[0].abs().min(1.0)) - 0.4
        } else {
            q.iter().map(|q| (q - 0.3).max(-0.4 - q)).fold(f64::NEG_INFINITY, f64::max)
        }
    };
    run.tree
        .links()
        .filter(|link| run.tree.dofs(*link).len() < 4)
        .map(joint)
        .fold(f64::NEG_INFINITY, f64::max)
}

fn torque(run: &Run, link: LinkId) -> f64 {
    length(run.tree.dofs(link).map(|dof| run.dynamics.torques()[dof]))
}

#[test]
fn hard_torque_limits_hold_and_are_reported() {
    for style in STYLES {
        let tree = arm(5);
        let [_, tip] = ends(&tree);
        let goal = Goal::drag(tip, DVec3::ZERO, PointTarget::At(DVec3::new(0.5, 0.0, 0.5)));
        let score = Score::single(Act::Guide(Guide {
            robustness: 1e-12,
            ..calm(&tree, Guide::new(style, vec![goal]))
        }));
        let mut bent = tree.neutral_state();
        bent.coordinates.fill(0.4);
        let mut free = Run::new(tree.clone(), Actuation::new(&tree), score.clone());
        free.state = bent.clone();
        assert_eq!(free.decide(&[], &[]).saturated, 0);
        let strongest = tree.links().max_by(|a, b| torque(&free, *a).total_cmp(&torque(&free, *b))).unwrap();
        let limit = 0.7 * torque(&free, strongest);
        let mut actuation = Actuation::new(&tree);
        actuation.set_torque_limit(strongest, limit).unwrap();
        let mut run = Run::new(tree.clone(), actuation.clone(), score.clone());
        run.state = bent;
        let report = run.decide(&[], &[]);
        assert_eq!(report.saturated, 1);
        assert!(run.controller.is_saturated(strongest));
        assert_eq!(run.command.mode(strongest), JointMode::Passive);
        assert_close!(torque(&run, strongest), limit, 1e-9);
        // the goal is still met: the others make good for it
        let short = run.controller.goal_reports()[0].shortfall;
        assert!(short < 1e-3, "{style:?}: {short} m/s² missing");
        // with limits on all joints nobody exceeds his
        for link in tree.links() {
            actuation.set_torque_limit(link, 0.3).unwrap();
        }
        let mut weak = Run::new(tree.clone(), actuation, score);
        for _ in 0..200 {
            let report = weak.run(0.002, &[]);
            let _ = weak.decide(&[], &[]);
            assert!(report.saturated > 0 && !report.not_finite);
            for link in tree.links() {
                assert!(torque(&weak, link) < 0.3 * (1.0 + 1e-8), "{style:?}: {}", torque(&weak, link));
            }
        }
    }
}

#[test]
fn bad_limits_are_refused() {
    let tree = arm(3);
    let mut actuation = Actuation::new(&tree);
    let link = tree.links().next().unwrap();
    let ordered = "on a rate of its joint, with lower ≤ upper";
    let refused = |what, range| Err(ControlError::NotValid { what, index: 0, range });
    assert_eq!(actuation.set_limits(&tree, link, 0, [0.1, -0.1]), refused("the limit of bone", ordered));
    assert_eq!(actuation.set_limits(&tree, link, 1, [-1.0, 1.0]), refused("the limit of bone", ordered));
    assert_eq!(actuation.set_torque_limit(link, 0.0), refused("the torque limit of bone", "positive"));
    assert_eq!(actuation.set_torque_limit(link, f64::NAN), refused("the torque limit of bone", "positive"));
    assert_eq!(actuation.set_turn_limit(link, -1.0), refused("the turn limit of bone", "positive"));
    assert_eq!(actuation.set_weight(&tree, link, 0.0), refused("the weight of bone", "positive and finite"));
    assert_eq!(actuation, Actuation::new(&tree));
}
