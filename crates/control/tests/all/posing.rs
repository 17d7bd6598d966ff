//! Inverse kinematics: goals met where they can be, limits kept, residuals where not.

use glam::DVec3;
use sinew_control::{Actuation, Aim, ControlError, Facing, Goal, PointTarget, PoseSettings, find_pose};
use sinew_mechanism::JointKind;
use sinew_recursive::{Dynamics, LinkId, Tree, TreeState};
use sinew_testkit::Rng;

use crate::support::{arm, chain, ends, random_state, worm};

fn place(tree: &Tree, state: &TreeState, bone: LinkId, point: DVec3) -> DVec3 {
    let mut dynamics = Dynamics::new(tree);
    dynamics.kinematics(tree, state);
    dynamics.body_pose(tree, bone).transform_point(point)
}

#[test]
fn reachable_poses_are_found() {
    let mut rng = Rng::new(91);
    let mut most = 0;
    for _ in 0..40 {
        let tree = chain(7, &[JointKind::Ball, JointKind::Universal], false);
        let [_, tip] = ends(&tree);
        let middle = tree.links().nth(3).unwrap();
        // what a known pose shows is reachable
        let known = random_state(&mut rng, &tree, 0.7, 0.0);
        let mut dynamics = Dynamics::new(&tree);
        dynamics.kinematics(&tree, &known);
        let pose = dynamics.body_pose(&tree, tip);
        let goals = [
            Goal::drag(tip, DVec3::X * 0.1, PointTarget::At(pose.transform_point(DVec3::X * 0.1))),
            Goal::hold(tip, Aim::Orientation(Facing::At(pose.rotation))),
            Goal::hold(
                middle,
                Aim::Component {
                    axis: DVec3::Z,
                    place: PointTarget::At(dynamics.body_pose(&tree, middle).translation),
                },
            ),
        ];
        let mut state = random_state(&mut rng, &tree, 0.2, 0.0);
        let report =
            find_pose(&tree, &Actuation::new(&tree), &goals, &PoseSettings::default(), &mut state).unwrap();
        assert!(report.converged, "{report:?}");
        assert!(report.residuals.iter().all(|r| *r <= 1e-9));
        let there = place(&tree, &state, tip, DVec3::X * 0.1);
        assert!((there - pose.transform_point(DVec3::X * 0.1)).length() < 1e-9);
        most = most.max(report.iterations);
    }
    assert!(most <= 40, "{most} iterations");
}

#[test]
fn unreachable_goals_leave_the_smallest_residual() {
    let tree = arm(4);
    let [_, tip] = ends(&tree);
    let target = DVec3::new(3.0, 0.0, 4.0);
    let goal = Goal::drag(tip, DVec3::X * 0.1, PointTarget::At(target));
    let mut state = tree.neutral_state();
    state.coordinates.fill(0.2);
    let settings = PoseSettings { max_iterations: 400, ..PoseSettings::default() };
    let report = find_pose(&tree, &Actuation::new(&tree), &[goal], &settings, &mut state).unwrap();
    assert!(!report.converged && state.is_finite());
    // 0.8 m of arm towards a target 5 m away
    assert!((report.residuals[0] - 4.2).abs() < 1e-4, "{report:?}");
}

#[test]
fn limits_are_kept() {
    let mut rng = Rng::new(92);
    for round in 0..20 {
        let tree = chain(6, &[JointKind::Hinge, JointKind::Ball], false);
        let [_, tip] = ends(&tree);
        let mut actuation = Actuation::new(&tree);
        for link in tree.links() {
            actuation.set_limits(&tree, link, 0, [-0.3, 0.5]).unwrap();
            actuation.set_turn_limit(link, 0.5).unwrap();
        }
        let mut known = tree.neutral_state();
        for link in tree.links() {
            let (q, n) = (tree.coordinates(link), tree.dofs(link).len());
            let turn = rng.unit_vec() * rng.uniform(0.2, 0.5);
            if n == 3 {
                let turned = sinew_math::exp_so3(turn);
                known.coordinates[q].copy_from_slice(&[turned.w, turned.x, turned.y, turned.z]);
            } else {
                known.coordinates[q.start] = if rng.chance(0.5) { 0.5 } else { -0.3 };
            }
        }
        let target = place(&tree, &known, tip, DVec3::ZERO);
        let goal = Goal::drag(tip, DVec3::ZERO, PointTarget::At(target));
        let mut state = tree.neutral_state();
        let settings = PoseSettings { max_iterations: 300, tolerance: 1e-7, move_passive: false };
        let report = find_pose(&tree, &actuation, &[goal], &settings, &mut state).unwrap();
        for link in tree.links() {
            let q = &state.coordinates[tree.coordinates(link)];
            if q.len() == 1 {
                assert!(q[0] <= 0.5 + 1e-9 && q[0] >= -0.3 - 1e-9);
            } else {
                assert!(2.0 * sinew_math::ops::acos(q[0].abs().min(1.0)) <= 0.5 + 1e-7);
            }
        }
        assert!(report.residuals[0] < 1e-3, "{round}: {report:?}");
    }
}

#[test]
fn levels_decide_who_gives_way() {
    let tree = arm(4);
    let [_, tip] = ends(&tree);
    let (near, far) = (DVec3::new(0.5, 0.0, 0.3), DVec3::new(0.3, 0.0, -0.4));
    let goals = [
        Goal::drag(tip, DVec3::ZERO, PointTarget::At(far)).at_level(5),
        Goal::drag(tip, DVec3::ZERO, PointTarget::At(near)).at_level(1),
    ];
    let mut state = tree.neutral_state();
    let report =
        find_pose(&tree, &Actuation::new(&tree), &goals, &PoseSettings::default(), &mut state).unwrap();
    assert!(report.residuals[1] < 1e-9, "{report:?}");
    assert!((report.residuals[0] - near.distance(far)).abs() < 1e-6);
}

#[test]
fn the_root_moves_only_if_asked_to() {
    let tree = worm();
    let [_, tip] = ends(&tree);
    let goal = Goal::drag(tip, DVec3::ZERO, PointTarget::At(DVec3::new(8.0, 1.0, 2.0)));
    for move_passive in [false, true] {
        let mut state = tree.neutral_state();
        let settings = PoseSettings { move_passive, ..PoseSettings::default() };
        let report =
            find_pose(&tree, &Actuation::new(&tree), std::slice::from_ref(&goal), &settings, &mut state)
                .unwrap();
        assert_eq!(report.converged, move_passive, "{report:?}");
    }
}

#[test]
fn bad_goals_are_named() {
    let tree = arm(2);
    let [_, tip] = ends(&tree);
    let mut state = tree.neutral_state();
    let ask = |goal: Goal, state: &mut TreeState| {
        find_pose(&tree, &Actuation::new(&tree), &[goal], &PoseSettings::default(), state)
    };
    let unknown = Goal::drag(LinkId::from_index(7), DVec3::ZERO, PointTarget::Held);
    let fault = ControlError::UnknownBone { what: "goal", index: 0, bone: 7, n_bones: 2 };
    assert_eq!(ask(unknown, &mut state), Err(fault));
    let nan = Goal::drag(tip, DVec3::ZERO, PointTarget::At(DVec3::NAN));
    let refused = ask(nan, &mut state);
    assert!(matches!(refused, Err(ControlError::NotValid { what: "goal", index: 0, .. })));
    let held = Goal::drag(tip, DVec3::ZERO, PointTarget::Held);
    assert_eq!(ask(held, &mut state).map(|r| (r.iterations, r.converged)), Ok((0, true)));
}
