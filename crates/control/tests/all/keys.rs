//! Keyframes: clips with all joint kinds, their derivatives, playing them, warping them, refusing them.

use glam::DVec3;
use sinew_control::{
    Act, Actuation, ControlError, Controller, Key, MotionClip, Phase, Playback, Score, TimeWarp,
};
use sinew_mechanism::JointKind;
use sinew_recursive::{JointMode, LoopedTree, Tree};
use sinew_testkit::{Rng, assert_close};

use crate::support::{Run, chain, length, random_state, worm};

fn keys(rng: &mut Rng, tree: &Tree, times: &[f64]) -> Vec<Key> {
    let key = |time: &f64| Key { time: *time, coordinates: random_state(rng, tree, 0.6, 0.0).coordinates };
    times.iter().map(key).collect()
}

#[test]
fn clips_pass_through_their_keys_and_know_their_derivatives() {
    let mut rng = Rng::new(81);
    let kinds = [JointKind::Ball, JointKind::Universal, JointKind::Cylindrical, JointKind::PointOnPlane];
    let tree = chain(6, &kinds, true);
    let mut actuation = Actuation::new(&tree);
    tree.links().for_each(|link| actuation.set_active(link, true));
    let keys = keys(&mut rng, &tree, &[0.0, 0.4, 1.0, 1.5]);
    let clip = MotionClip::new(&tree, &actuation, &keys).unwrap();
    assert_close!(clip.span(), [0.0, 1.5], 0.0);
    let n = tree.n_dofs();
    let (mut v, mut a) = (vec![0.0; n], vec![0.0; n]);
    let mut q = keys[0].coordinates.clone();
    let mut gap = vec![0.0; n];
    for key in &keys {
        clip.sample(&tree, key.time, &mut q, &mut v, &mut a);
        tree.difference(&q, &key.coordinates, &mut gap);
        assert!(length(gap.iter().copied()) < 1e-12);
    }
    assert!(length(v.iter().copied()) < 1e-12, "at rest at the end");
    let h = 1e-5;
    let (mut before, mut after) = (q.clone(), q.clone());
    let (mut rates, mut scratch) = ([vec![0.0; n], vec![0.0; n]], vec![0.0; n]);
    for _ in 0..50 {
        let t = rng.uniform(0.01, 1.49);
        clip.sample(&tree, t, &mut q, &mut v, &mut a);
        clip.sample(&tree, t - h, &mut before, &mut rates[0], &mut scratch);
        clip.sample(&tree, t + h, &mut after, &mut rates[1], &mut scratch);
        tree.difference(&after, &before, &mut gap);
        let by_difference: Vec<f64> = gap.iter().map(|d| d / (2.0 * h)).collect();
        assert_close!(v, by_difference, 1e-6);
        if keys.iter().all(|key| (key.time - t).abs() > 1e-4) {
            let second: Vec<f64> = (0..n).map(|k| (rates[1][k] - rates[0][k]) / (2.0 * h)).collect();
            assert_close!(a, second, 1e-5);
        }
    }
}

#[test]
fn driven_joints_follow_a_clip_exactly_while_the_root_falls_as_it_must() {
    let mut rng = Rng::new(82);
    let tree = worm();
    let actuation = Actuation::new(&tree);
    let keys = keys(&mut rng, &tree, &[0.0, 0.2, 0.5]);
    let clip = MotionClip::new(&tree, &actuation, &keys).unwrap();
    let warp = TimeWarp::sine(0.02, 0.5).unwrap();
    let score = Score { warp: warp.clone(), ..Score::single(Act::Keyframes(Playback::new(clip.clone()))) };
    let mut drift = Vec::new();
    for dt in [1e-3, 5e-4] {
        let mut run = Run::new(tree.clone(), actuation.clone(), score.clone());
        run.dt = dt;
        run.state.coordinates = keys[0].coordinates.clone();
        run.dynamics.kinematics(&tree, &run.state);
        let start = run.dynamics.total_inertia();
        let (mut q, mut gap) = (keys[0].coordinates.clone(), vec![0.0; tree.n_dofs()]);
        for _ in 0..50 {
            let report = run.run(0.01, &[]);
            assert_eq!((report.phase, report.not_finite), (Some(0), false));
            clip.place(&tree, warp.at(run.time)[0], &mut q);
            tree.difference(&run.state.coordinates, &q, &mut gap);
            let joints = tree.links().filter(|link| actuation.is_active(*link));
            let off = length(joints.flat_map(|link| tree.dofs(link)).map(|dof| gap[dof]));
            assert!(off < 1e-9, "{off} rad off the clip at {}", run.time);
        }
        assert!(run.command.modes.contains(&JointMode::Passive));
        // only gravity acts on the whole
        let end = run.dynamics.total_inertia();
        let fallen = (end.first_moment - start.first_moment) / end.mass;
        drift.push(fallen.distance(DVec3::Z * (-9.81 * 0.5 * run.time * run.time)));
    }
    // up to the order of the integrator, which is one
    assert!(drift[0] < 0.03 && drift[1] < 0.6 * drift[0], "{drift:?}");
}

#[test]
fn a_joint_off_the_clip_returns_to_it() {
    let mut rng = Rng::new(83);
    let tree = chain(4, &[JointKind::Ball], false);
    let actuation = Actuation::new(&tree);
    let keys = keys(&mut rng, &tree, &[0.0, 1.0]);
    let clip = MotionClip::new(&tree, &actuation, &keys).unwrap();
    let score = Score {
        phases: vec![Phase { start: 0.0, act: Act::Keyframes(Playback::new(clip)) }],
        ..Score::default()
    };
    let mut run = Run::new(tree, actuation, score);
    run.state = random_state(&mut rng, &run.tree, 0.5, 1.0);
    let _ = run.run(1.5, &[]);
    let mut gap = vec![0.0; run.tree.n_dofs()];
    run.tree.difference(&run.state.coordinates, &keys[1].coordinates, &mut gap);
    assert!(length(gap.iter().copied()) < 1e-6, "{gap:?}");
}

#[test]
fn a_clip_that_begins_wherever_the_joints_are_has_no_jerk_at_its_start() {
    let mut rng = Rng::new(85);
    let tree = worm();
    let actuation = Actuation::new(&tree);
    let keys = keys(&mut rng, &tree, &[0.0, 0.3, 0.6]);
    let clip = MotionClip::new(&tree, &actuation, &keys).unwrap();
    let start = random_state(&mut rng, &tree, 0.4, 1.0);
    let driven: Vec<usize> =
        tree.links().filter(|link| actuation.is_active(*link)).flat_map(|link| tree.dofs(link)).collect();
    let mut first = Vec::new();
    for playback in [Playback::new(clip.clone()), Playback::new(clip.clone()).from_here()] {
        let score = Score::single(Act::Keyframes(playback));
        let mut run = Run::new(tree.clone(), actuation.clone(), score);
        run.state = start.clone();
        let _ = run.decide(&[], &[]);
        first.push(length(driven.iter().map(|dof| run.command.values[*dof])));
        let _ = run.run(0.3, &[]);
        let mut gap = vec![0.0; tree.n_dofs()];
        tree.difference(&run.state.coordinates, &keys[1].coordinates, &mut gap);
        let off = length(driven.iter().map(|dof| gap[*dof]));
        assert!(off < 1e-3, "{off} rad off at the next key");
    }
    // servos jump at the gap, a clip from here starts with the acceleration of the clip
    assert!(first[1] < 0.2 * first[0], "{first:?}");
}

#[test]
fn bad_keys_name_themselves() {
    let mut rng = Rng::new(84);
    let tree = chain(3, &[JointKind::Ball], false);
    let mut actuation = Actuation::new(&tree);
    let good = keys(&mut rng, &tree, &[0.0, 1.0, 2.0]);
    let refuse = |actuation: &Actuation, keys: &[Key]| MotionClip::new(&tree, actuation, keys).unwrap_err();
    assert_eq!(refuse(&actuation, &[]), ControlError::Empty);
    let mut bad = good.clone();
    bad[2].time = 1.0;
    assert_eq!(refuse(&actuation, &bad), ControlError::TimeNotIncreasing { index: 2 });
    let mut bad = good.clone();
    bad[1].coordinates.pop();
    assert!(matches!(refuse(&actuation, &bad), ControlError::WrongSize { what: "key", index: 1, .. }));
    let mut bad = good.clone();
    bad[1].coordinates[0] = f64::NAN;
    assert_eq!(refuse(&actuation, &bad), ControlError::NotValid { what: "key", index: 1, range: "finite" });
    let ball = tree.links().find(|link| tree.dofs(*link).len() == 3).unwrap();
    let first = tree.coordinates(ball).start;
    let mut bad = good.clone();
    for (key, quaternion) in [(0, [1.0, 0.0, 0.0, 0.0]), (2, [0.0, 1.0, 0.0, 0.0])] {
        bad[key].coordinates[first..first + 4].copy_from_slice(&quaternion);
    }
    assert_eq!(refuse(&actuation, &bad), ControlError::KeyTooFar { key: 2, bone: ball.index() });
    actuation.set_turn_limit(ball, 1e-3).unwrap();
    assert_eq!(refuse(&actuation, &good), ControlError::KeyBeyondLimits { key: 0, bone: ball.index() });
    // a clip of another tree
    let clip = MotionClip::new(&tree, &Actuation::new(&tree), &good).unwrap();
    let other = chain(4, &[JointKind::Ball], false);
    let score = Score::single(Act::Keyframes(Playback::new(clip)));
    let fault = Controller::new(&LoopedTree::from(other.clone()), Actuation::new(&other), score).unwrap_err();
    assert!(matches!(fault, ControlError::Phase { phase: 0, .. }), "{fault}");
}
