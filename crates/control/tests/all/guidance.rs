//! Goals become commands: wanted accelerations are produced, styles are minimal, physics is respected, levels are
//! independent.

use glam::DVec3;
use sinew_control::{Act, levels};
use sinew_control::{Actuation, Aim, Facing, Gains, Goal, Guide, PointTarget, PoseGoal, Score, Style};
use sinew_math::{Force, Motion, exp_so3, log_so3};
use sinew_mechanism::JointKind;
use sinew_recursive::{Dynamics, JointMode, LinkId, Tree};
use sinew_testkit::{Rng, assert_close};

use crate::support::{GRAVITY, Run, arm, chain, ends, length, random_state, random_wrenches, worm};

const STYLES: [Style; 3] = [Style::Acceleration, Style::Torque, Style::Velocity];

/// Guidance that bends nothing for the sake of robustness.
fn sharp(style: Style, goals: Vec<Goal>) -> Guide {
    Guide { robustness: 1e-15, ..Guide::new(style, goals) }
}

/// A step in which the pull of a goal hardly changes (s).
const SHORT: f64 = 2e-8;

fn acceleration(run: &mut Run, bone: LinkId, point: DVec3) -> Motion {
    let place = run.place(bone, point);
    let _ = run.dynamics.respond(&run.tree, &run.command, run.gravity, &[]);
    run.dynamics.acceleration_at(bone, place)
}

#[test]
fn every_style_produces_the_wanted_acceleration() {
    let mut rng = Rng::new(71);
    for round in 0..30 {
        for style in STYLES {
            let tree = [worm(), arm(6), chain(5, &[JointKind::Ball], false)][round % 3].clone();
            let [_, tip] = ends(&tree);
            let point = rng.vec3(-0.1, 0.1);
            // an arm in a plane can meet two components
            let (aims, axes) = if round % 3 == 1 {
                let component =
                    |axis| Aim::Component { axis, place: PointTarget::At(DVec3::new(0.4, 0.0, 0.5)) };
                (vec![component(DVec3::X * 2.0), component(DVec3::Z)], vec![DVec3::X, DVec3::Z])
            } else {
                (vec![Aim::Position(PointTarget::At(rng.vec3(-1.0, 1.0)))], DVec3::AXES.to_vec())
            };
            let target = match &aims[0] {
                Aim::Position(PointTarget::At(target)) => *target,
                _ => DVec3::new(0.4, 0.0, 0.5),
            };
            let gains = Gains { stiffness: 30.0, ..Gains::damper(4.0) };
            let goal = |aim| Goal { bone: tip, point, aim, gains, level: levels::DRAG };
            let mut run = Run::guided(tree, sharp(style, aims.into_iter().map(goal).collect()));
            run.state = random_state(&mut rng, &run.tree, 0.6, 0.5);
            run.dt = SHORT;
            let report = run.decide(&[], &[]);
            assert!(!report.not_finite && report.ignored_drags == 0);
            let place = run.place(tip, point);
            let velocity = run.dynamics.motion_at(tip, place).linear;
            let wanted = (target - place) * 30.0 - velocity * 4.0;
            let got = acceleration(&mut run, tip, point).linear;
            for axis in axes {
                assert_close!(axis.dot(got), axis.dot(wanted), 1e-6);
            }
            let short = run.controller.goal_reports().iter().map(|r| r.shortfall);
            assert!(length(short) < 1e-6, "{style:?}");
        }
    }
}

#[test]
fn a_driven_root_takes_part() {
    let mut rng = Rng::new(77);
    for style in STYLES {
        let tree = worm();
        let [_, tip] = ends(&tree);
        let root = tree.links().next().unwrap();
        let mut actuation = Actuation::new(&tree);
        assert!(!actuation.is_active(root));
        actuation.set_active(root, true);
        // nothing but a driven root can lift a character
        let lift = DVec3::new(3.0, -2.0, 30.0);
        let goals = tree.links().take(2).chain([tip]).map(|bone| Goal::hold(bone, Aim::Acceleration(lift)));
        let score = Score::single(Act::Guide(sharp(style, goals.collect())));
        let mut run = Run::new(tree.clone(), actuation, score);
        run.state = random_state(&mut rng, &run.tree, 0.5, 0.5);
        let _ = run.decide(&[], &[]);
        assert_eq!(run.command.mode(root) == JointMode::Prescribed, style != Style::Torque);
        assert_close!(acceleration(&mut run, tip, DVec3::ZERO).linear, lift, 1e-6);
        assert_close!(acceleration(&mut run, root, DVec3::ZERO).linear, lift, 1e-6);
    }
}

#[test]
fn orientation_and_motion_goals_produce_their_accelerations() {
    let mut rng = Rng::new(72);
    let facing = rng.rotation();
    let vector = rng.vec3(-1.0, 1.0);
    let aims = [
        Aim::Orientation(Facing::At(facing)),
        Aim::Velocity(vector),
        Aim::Spin(vector),
        Aim::Acceleration(vector),
        Aim::SpinRate(vector),
    ];
    for (k, aim) in aims.into_iter().enumerate() {
        let tree = worm();
        let [_, tip] = ends(&tree);
        let mut run = Run::guided(tree, sharp(Style::Acceleration, vec![Goal::hold(tip, aim)]));
        run.state = random_state(&mut rng, &run.tree, 0.6, 0.5);
        run.dt = SHORT;
        let _ = run.decide(&[], &[]);
        let place = run.place(tip, DVec3::ZERO);
        let motion = run.dynamics.motion_at(tip, place);
        let rotation = run.dynamics.body_pose(&run.tree, tip).rotation;
        let got = acceleration(&mut run, tip, DVec3::ZERO);
        let (gains, got, wanted) = (Gains::default(), [got.angular, got.linear], vector);
        let turn = log_so3(facing * rotation.conjugate());
        let (got, wanted) = match k {
            0 => (got[0], turn * gains.stiffness - motion.angular * gains.damping),
            1 => (got[1], (wanted - motion.linear) * gains.damping),
            2 => (got[0], (wanted - motion.angular) * gains.damping),
            3 => (got[1], wanted),
            _ => (got[0], wanted),
        };
        assert_close!(got, wanted, 1e-6);
    }
}

#[test]
fn heights_are_against_gravity() {
    let mut rng = Rng::new(73);
    for (gravity, up) in [
        (GRAVITY, DVec3::Z),
        (DVec3::new(6.0, 8.0, 0.0), DVec3::new(-0.6, -0.8, 0.0)),
        (DVec3::ZERO, DVec3::Z),
    ] {
        let tree = worm();
        let [_, tip] = ends(&tree);
        let (target, gains) = (rng.vec3(-1.0, 1.0), Gains::default());
        let goal = Goal::hold(tip, Aim::Height(PointTarget::At(target)));
        let mut run = Run::guided(tree, sharp(Style::Acceleration, vec![goal]));
        run.state = random_state(&mut rng, &run.tree, 0.6, 0.5);
        (run.gravity, run.dt) = (gravity, SHORT);
        let _ = run.decide(&[], &[]);
        let place = run.place(tip, DVec3::ZERO);
        let velocity = run.dynamics.motion_at(tip, place).linear;
        let wanted = (target - place) * gains.stiffness - velocity * gains.damping;
        assert_close!(acceleration(&mut run, tip, DVec3::ZERO).linear.dot(up), wanted.dot(up), 1e-6);
    }
}

/// The three measures of a command: accelerations and torques of driven joints, rates of all joints after the step.
fn measures(run: &Run) -> [f64; 3] {
    let tree = &run.tree;
    let driven: Vec<usize> = tree
        .links()
        .filter(|l| run.controller.actuation().is_active(*l))
        .flat_map(|l| tree.dofs(l))
        .collect();
    let (a, t) = (run.dynamics.accelerations(), run.dynamics.torques());
    [
        length(driven.iter().map(|dof| a[*dof])),
        length(driven.iter().map(|dof| t[*dof])),
        length((0..tree.n_dofs()).map(|dof| run.state.rates[dof] + 1e-3 * a[dof])),
    ]
}

#[test]
fn each_style_is_smallest_in_its_own_measure() {
    let mut rng = Rng::new(73);
    for round in 0..20 {
        let tree =
            if round % 2 == 0 { worm() } else { chain(6, &[JointKind::Ball, JointKind::Hinge], false) };
        let [_, tip] = ends(&tree);
        let goal = Goal::drag(tip, DVec3::X * 0.1, PointTarget::At(rng.vec3(-1.0, 1.0)));
        let state = random_state(&mut rng, &tree, 0.5, 1.0);
        let all: Vec<[f64; 3]> = STYLES
            .into_iter()
            .map(|style| {
                let mut run = Run::guided(tree.clone(), sharp(style, vec![goal.clone()]));
                run.state = state.clone();
                let _ = run.decide(&[], &[]);
                measures(&run)
            })
            .collect();
        for measure in 0..3 {
            for other in (0..3).filter(|other| *other != measure) {
                let (own, theirs) = (all[measure][measure], all[other][measure]);
                assert!(
                    own < theirs * (1.0 - 1e-6),
                    "measure {measure}: {own} against {theirs} of style {other}"
                );
            }
        }
    }
}

#[test]
fn no_command_of_a_floating_character_changes_its_momentum_but_by_forces_from_outside() {
    let mut rng = Rng::new(74);
    for style in STYLES {
        let tree = worm();
        let [head, tip] = ends(&tree);
        let goals = vec![
            Goal::hold(head, Aim::Orientation(Facing::Held)),
            Goal::drag(tip, DVec3::X * 0.1, PointTarget::At(DVec3::new(0.3, 0.5, 0.7))),
        ];
        let rest = tree.neutral_state().coordinates;
        let pose = PoseGoal { coordinates: rest, gains: Gains::default(), ramp: 0.0 };
        let mut run = Run::guided(tree, Guide::new(style, goals).with_pose(pose));
        for _ in 0..20 {
            run.state = random_state(&mut rng, &run.tree, 0.6, 1.0);
            let external = random_wrenches(&mut rng, &run.tree);
            let _ = run.decide(&external, &[]);
            let (mut rate, mut given, mut size) = (Force::ZERO, Force::ZERO, 0.0);
            for link in run.tree.links() {
                let (change, force) = newton_euler(&run.tree, &run.dynamics, link);
                rate += change;
                let center = run.dynamics.body_pose(&run.tree, link).translation;
                let wrench = external[link.index()];
                given += Force::new(wrench.angular + center.cross(wrench.linear), wrench.linear) + force;
                size += change.linear.length() + change.angular.length();
            }
            let error = rate - given;
            assert!(
                error.linear.length() + error.angular.length() < 1e-10 * size,
                "{style:?}: {error:?} of {size}"
            );
            // and no torque acts on the root
            for link in run.tree.links().filter(|link| run.tree.parent(*link).is_none()) {
                assert_eq!(run.command.mode(link), JointMode::Passive);
                assert!(length(run.command.values[run.tree.dofs(link)].iter().copied()) <= 0.0);
            }
        }
    }
}

/// Rate of momentum about the world origin from accelerations, and the wrench of gravity.
fn newton_euler(tree: &Tree, dynamics: &Dynamics, link: LinkId) -> (Force, Force) {
    let inertia = tree.inertia(link).transformed_by(tree.central_frame(link).inverse());
    let pose = dynamics.body_pose(tree, link);
    let rotation = pose.rotation_matrix();
    let moments = inertia.rotational.rotated_by(&rotation);
    let (center, mass) = (pose.translation, inertia.mass);
    let accelerated = dynamics.acceleration_at(link, center);
    let omega = dynamics.motion_at(link, center).angular;
    let spin = moments.mul_vec(accelerated.angular) + omega.cross(moments.mul_vec(omega));
    let (push, weight) = (accelerated.linear * mass, GRAVITY * mass);
    (Force::new(spin + center.cross(push), push), Force::new(center.cross(weight), weight))
}

#[test]
fn lower_levels_do_not_touch_higher_ones() {
    let mut rng = Rng::new(75);
    for style in STYLES {
        let tree = worm();
        let [head, tip] = ends(&tree);
        let hold = Goal::hold(head, Aim::Orientation(Facing::At(exp_so3(DVec3::new(0.3, 0.1, 0.2)))));
        let state = random_state(&mut rng, &tree, 0.5, 0.5);
        let mut held = Vec::new();
        for more in [vec![], vec![Goal::drag(tip, DVec3::ZERO, PointTarget::At(DVec3::new(9.0, -7.0, 50.0)))]]
        {
            let goals = [vec![hold.clone()], more].concat();
            let mut run = Run::guided(tree.clone(), Guide::new(style, goals));
            (run.state, run.dt) = (state.clone(), 1e-5);
            let _ = run.decide(&[], &[]);
            held.push(acceleration(&mut run, head, DVec3::ZERO).angular);
        }
        assert!((held[0] - held[1]).length() < 1e-10 * held[0].length().max(1.0), "{style:?} {held:?}");
    }
}

#[test]
fn levels_can_be_moved() {
    // two goals that fight for the same point: the one with the smaller number wins
    let tree = worm();
    let [_, tip] = ends(&tree);
    for (first, second) in [(1, 2), (2, 1)] {
        let up = Goal::hold(tip, Aim::Acceleration(DVec3::Z)).at_level(first);
        let down = Goal::hold(tip, Aim::Acceleration(-DVec3::Z)).at_level(second);
        let mut run = Run::guided(tree.clone(), sharp(Style::Acceleration, vec![up, down]));
        let _ = run.decide(&[], &[]);
        let wanted = if first < second { DVec3::Z } else { -DVec3::Z };
        assert_close!(acceleration(&mut run, tip, DVec3::ZERO).linear, wanted, 1e-6);
        let lost = run.controller.goal_reports().iter().map(|r| r.shortfall).fold(0.0, f64::max);
        assert_close!(lost, 2.0, 1e-6);
    }
    // at one level they meet in the middle
    let both = [DVec3::Z * 3.0, -DVec3::Z].map(|a| Goal::hold(tip, Aim::Acceleration(a)).at_level(7));
    let mut run = Run::guided(tree, sharp(Style::Acceleration, both.to_vec()));
    let _ = run.decide(&[], &[]);
    assert_close!(acceleration(&mut run, tip, DVec3::ZERO).linear, DVec3::Z, 1e-6);
}

#[test]
fn guided_bones_reach_what_they_can() {
    for style in STYLES {
        let tree = chain(5, &[JointKind::Ball], false);
        let [_, tip] = ends(&tree);
        let target = DVec3::new(0.4, 0.3, 0.4);
        let goal = Goal::drag(tip, DVec3::X * 0.1, PointTarget::At(target));
        let rest = tree.neutral_state().coordinates;
        // where the goal leaves a choice, motion dies out
        let pose = PoseGoal { coordinates: rest, gains: Gains::damper(10.0), ramp: 0.0 };
        let mut run = Run::guided(tree, Guide::new(style, vec![goal]).with_pose(pose));
        let _ = run.run(3.0, &[]);
        let place = run.place(tip, DVec3::X * 0.1);
        assert!((place - target).length() < 1e-3, "{style:?}: {place}");
        assert!(length(run.state.rates.iter().copied()) < 0.05, "{style:?}: {:?}", run.state.rates);
    }
}

#[test]
fn out_of_reach_and_singular_targets_stay_bounded() {
    for style in STYLES {
        // stretched out, the arm cannot be pulled further: every row of the drag is singular
        let tree = arm(4);
        let [_, tip] = ends(&tree);
        let goal = Goal::drag(tip, DVec3::X * 0.1, PointTarget::At(DVec3::X * 20.0));
        let rest = tree.neutral_state().coordinates;
        let pose = PoseGoal { coordinates: rest, gains: Gains::damper(10.0), ramp: 0.0 };
        let mut run = Run::guided(tree, Guide::new(style, vec![goal]).with_pose(pose));
        for _ in 0..100 {
            let report = run.run(0.03, &[]);
            assert!(!report.not_finite);
            let largest = run.command.values.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            assert!(largest < 1e5, "{style:?}: {largest}");
            assert!(
                run.state.is_finite() && length(run.state.rates.iter().copied()) < 50.0,
                "{style:?} {:?}",
                run.state
            );
        }
        assert!(run.controller.goal_reports()[0].shortfall > 1.0);
        let place = run.place(tip, DVec3::X * 0.1);
        assert!(place.x > 0.7, "{style:?}: {place}");
    }
}

#[test]
fn weights_make_joints_limp() {
    let tree = arm(5);
    let [_, tip] = ends(&tree);
    let goal = Goal::drag(tip, DVec3::ZERO, PointTarget::At(DVec3::new(0.6, 0.0, 0.4)));
    let stiff = tree.links().nth(2).unwrap();
    let mut moved = Vec::new();
    for weight in [1.0, 1e6] {
        let mut actuation = Actuation::new(&tree);
        actuation.set_weight(&tree, stiff, weight).unwrap();
        let score = Score::single(Act::Guide(Guide::new(Style::Velocity, vec![goal.clone()])));
        let mut run = Run::new(tree.clone(), actuation, score);
        let _ = run.run(0.5, &[]);
        moved.push(run.state.coordinates[tree.coordinates(stiff).start].abs());
    }
    assert!(moved[0] > 0.02 && moved[1] < 1e-3 * moved[0], "{moved:?}");
}

#[test]
fn a_pose_is_taken_where_goals_leave_room() {
    let mut rng = Rng::new(76);
    for style in STYLES {
        let tree = chain(5, &[JointKind::Ball, JointKind::Hinge], false);
        let wanted = random_state(&mut rng, &tree, 0.5, 0.0).coordinates;
        let pose = PoseGoal { coordinates: wanted.clone(), gains: Gains::critical(8.0), ramp: 0.3 };
        let mut run = Run::guided(tree, Guide::new(style, vec![]).with_pose(pose));
        // nothing is asked for before the ramp begins to rise
        let _ = run.decide(&[], &[]);
        if style == Style::Acceleration {
            assert!(length(run.command.values.iter().copied()) <= 0.0);
        }
        let _ = run.run(3.0, &[]);
        let mut gap = vec![0.0; run.tree.n_dofs()];
        run.tree.difference(&run.state.coordinates, &wanted, &mut gap);
        assert!(length(gap.iter().copied()) < 1e-3, "{style:?}: {gap:?}");
    }
}

#[test]
fn a_pose_may_share_a_level_with_goals() {
    let tree = arm(3);
    let [_, tip] = ends(&tree);
    let goal = Goal::hold(tip, Aim::Acceleration(DVec3::Z));
    let pose = PoseGoal { coordinates: tree.neutral_state().coordinates, gains: Gains::default(), ramp: 0.0 };
    let mut guide = sharp(Style::Acceleration, vec![goal]).with_pose(pose);
    let mut shares = Vec::new();
    for level in [levels::POSE, levels::HOLD, 0] {
        guide.pose_level = level;
        let mut run = Run::guided(tree.clone(), guide.clone());
        let _ = run.decide(&[], &[]);
        shares.push(acceleration(&mut run, tip, DVec3::ZERO).linear.z);
    }
    assert_close!(shares[0], 1.0, 1e-6);
    assert!(shares[1] > 0.2 && shares[1] < 0.95, "a compromise: {shares:?}");
    assert_close!(shares[2], 0.0, 1e-9);
}

#[test]
fn floating_characters_do_not_whip_themselves_to_pieces() {
    let mut rng = Rng::new(5);
    for case in 0..36 {
        let style = STYLES[case % 3];
        let (n, falls) = (4 + case % 5, case % 2 == 1);
        let tree = chain(n, &[JointKind::Ball, JointKind::Universal], true);
        let [_, tip] = ends(&tree);
        let coordinates = tree.neutral_state().coordinates;
        // straight, so that the way along the chain is singular, and mostly out of reach without anything to hold on to
        let place = DVec3::X * (0.2 * n as f64 - 0.1) + rng.vec3(-0.4, 0.4);
        let goal = Goal::drag(tip, DVec3::ZERO, PointTarget::At(place))
            .with_gains(Gains::critical(10.0).with_reach(0.3));
        let gains = Gains::damper(if case % 4 < 2 { 20.0 } else { 10.0 });
        let guide = Guide::new(style, vec![goal]).with_pose(PoseGoal { coordinates, gains, ramp: 0.0 });
        let mut run = Run::guided(tree, guide);
        (run.gravity, run.dt) = if falls { (GRAVITY, 1.0 / 240.0) } else { (DVec3::ZERO, 1.0 / 60.0) };
        let mut fastest = 0.0_f64;
        for _ in 0..90 {
            let report = run.run(1.0 / 30.0, &[]);
            assert!(!report.not_finite, "case {case}, {style:?} at {}", run.time);
            let spin = |link| run.dynamics.joint_motion(link).angular.length();
            fastest = run.tree.links().map(spin).fold(fastest, f64::max);
        }
        assert!(fastest < 100.0, "case {case}, {style:?}: {fastest} rad/s");
    }
}
