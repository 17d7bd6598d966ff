//! Characters posed by hand: flesh follows bones that no time has moved.

use glam::DVec3;
use sinew_flesh::CarryScratch;
use sinew_math::{Pose, exp_so3, signed_svd};
use sinew_sim::{Assembly, AssemblyOutcome, BodyId, Grab, Input, World};

use crate::common::{run, small, world};

/// Hard holds of points of bodies (in their frames), each at some distance from where it is.
fn holds(world: &World, points: &[(&str, DVec3, DVec3)]) -> Input {
    let hold = |&(name, point, off): &(&str, DVec3, DVec3)| {
        let body = world.body(name).expect("a body");
        let target = world.pose(body).transform_point(point) + off;
        Grab { body, point, target, stiffness: f64::INFINITY, damping: 0.0 }
    };
    Input { grabs: points.iter().map(hold).collect(), ..Input::default() }
}

/// Turns a hinge with all that hangs on it, and carries the flesh along.
fn bend(world: &mut World, joint: &str, angle: f64) {
    let id = world.joint(joint).expect("a joint");
    let whole = world.model().clone();
    let model = whole.mechanism();
    let child = model.joint_bodies(id).0.expect("a body");
    let axis = world.pose(child).rotation * model.joint_frames(id).rotation1 * DVec3::X;
    let (anchor, _) = model.joint_anchors(&world.state().bodies, id);
    let turn = exp_so3(axis * angle);
    let turn = Pose::new(turn, anchor - turn * anchor);
    let mut moved: Vec<BodyId> = vec![child];
    let pairs = model.joints().filter(|&other| other != id).map(|other| model.joint_bodies(other));
    let pairs: Vec<_> = pairs.flat_map(|(a, b)| [(a, b), (b, a)]).filter_map(|(a, b)| a.zip(b)).collect();
    while let Some((_, more)) = pairs.iter().find(|(a, b)| moved.contains(a) && !moved.contains(b)) {
        moved.push(*more);
    }
    let state = world.state_mut();
    let before = state.bodies.clone();
    moved
        .iter()
        .for_each(|body| state.bodies.poses[body.index()] = turn.compose(&before.poses[body.index()]));
    let after = state.bodies.clone();
    whole.flesh().expect("flesh").carry(&before, &after, &mut state.flesh, &mut CarryScratch::default());
}

/// Least and largest principal stretch of all tetrahedra; the least is negative if one is inverted.
fn stretches(world: &World) -> (f64, f64) {
    let body = &world.model().flesh().expect("flesh").bodies()[0];
    let positions = &world.state().flesh.nodes[0].positions;
    (0..body.fem().n_tets()).fold((f64::INFINITY, 0.0), |(low, high), tet| {
        let (_, s, _) = signed_svd(body.fem().mesh().deformation(tet, positions));
        (low.min(s.z), f64::max(high, s.x))
    })
}

#[test]
fn bent_characters_are_neither_torn_nor_inverted() {
    for (name, hinges, angle, [low, high]) in [
        (
            "worm",
            &["worm_hinge_4", "worm_hinge_5", "worm_hinge_6"][..],
            std::f64::consts::FRAC_PI_6,
            [0.45, 1.4],
        ),
        ("worm", &["worm_hinge_3"], 1.2, [0.1, 1.65]),
        ("worm", &["worm_hinge_3"], -1.2, [0.1, 1.65]),
        ("fish", &["fish_hinge_3"], 0.7, [0.3, 1.6]),
        ("hand_flesh", &["hand_index_near"], 1.57, [0.0, 2.4]),
        ("hand_flesh", &["hand_index_middle"], 1.57, [0.15, 1.5]),
        ("hand_flesh", &["hand_index_far"], 1.4, [0.15, 1.5]),
        ("hand_flesh", &["hand_thumb_metacarpal"], 0.9, [0.1, 1.6]),
        ("hand_flesh", &["hand_index_near", "hand_index_middle", "hand_index_far"], 1.0, [0.4, 2.0]),
    ] {
        let mut world = world(name);
        hinges.iter().for_each(|hinge| bend(&mut world, hinge, angle));
        let found = stretches(&world);
        assert!(found.0 > low && found.1 < high, "{hinges:?} by {angle}: {found:?}");
    }
}

#[test]
fn flesh_that_lies_on_the_ground_is_bent_and_comes_back() {
    let mut world = world("worm");
    run(&mut world, 40);
    let before = world.checkpoint();
    bend(&mut world, "worm_hinge_2", 0.8);
    bend(&mut world, "worm_hinge_5", -0.7);
    let (low, high) = stretches(&world);
    assert!(low > 0.0 && high < 2.0, "{low} {high}");
    bend(&mut world, "worm_hinge_2", -0.8);
    bend(&mut world, "worm_hinge_5", 0.7);
    let nodes = world.state().flesh.nodes[0].positions.iter().zip(&before.flesh.nodes[0].positions);
    let farthest = nodes.map(|(now, then)| now.distance(*then)).fold(0.0, f64::max);
    assert!(farthest < 1e-12, "{farthest}");
}

const WORM: &str = r#"gravity: (0, 0, 0), generators: [Character(name: "worm", kind: Worm,
    material: StVenantKirchhoff(young: 5.0e4, poisson: 0.4), joint: (stiffness: 5.0, damping: 0.1))]"#;

/// The tail stays, and the head turns up and back.
const REARED: [(&str, DVec3, DVec3); 3] = [
    ("worm_bone_0", DVec3::ZERO, DVec3::ZERO),
    ("worm_bone_2", DVec3::ZERO, DVec3::ZERO),
    ("worm_bone_6", DVec3::ZERO, DVec3::new(-0.2, 0.0, 0.3)),
];

#[test]
fn a_run_from_a_pose_made_by_hand_is_calm() {
    let mut world = small(WORM);
    world.state_mut().bodies.motions.iter_mut().for_each(|motion| motion.linear = DVec3::Y * 0.1);
    world.state_mut().flesh.nodes[0].velocities.fill(DVec3::Y * 0.1);
    let mut torn = world.clone();
    let report = world.assemble(&holds(&world, &REARED), &Assembly::default());
    assert_eq!(report.outcome, AssemblyOutcome::Assembled);
    // What it was without free nodes.
    let (from, to) = (torn.checkpoint(), world.state().bodies.clone());
    torn.state_mut().bodies = to;
    let model = torn.model().clone();
    let bodies = torn.state().bodies.clone();
    model.flesh().expect("flesh").follow(&bodies, &mut torn.state_mut().flesh);
    let elastic = |world: &World| {
        world.model().flesh().expect("flesh").energy(&world.state().flesh, DVec3::ZERO).elastic
    };
    assert!(elastic(&world) < 0.02 * elastic(&torn), "{} {}", elastic(&world), elastic(&torn));
    assert!(stretches(&world).0 > 0.2 && stretches(&world).1 < 1.7, "{:?}", stretches(&world));
    let nodes = world.state().flesh.nodes[0].velocities.iter();
    let fastest = nodes.map(|v| v.length()).fold(0.0, f64::max);
    let bones = world.state().bodies.motions.iter().map(|motion| motion.linear.length()).fold(0.0, f64::max);
    assert!(fastest <= 2.0 * bones && bones < 0.2, "{fastest} {bones}");
    assert_ne!(from.flesh.nodes[0].positions, world.state().flesh.nodes[0].positions);
    let mut energy = world.energy().total();
    for _ in 0..120 {
        let report = world.step_with(&Input::default());
        assert!(report.health.is_good(), "{report:?}");
        let now = world.energy().total();
        assert!(now <= energy * (1.0 + 1e-6), "{energy} {now}");
        energy = now;
    }
}

#[test]
fn contacts_of_the_last_step_hold_nothing_that_was_posed_since() {
    let mut world = world("worm");
    run(&mut world, 60);
    assert!(!world.state().flesh.anchors.entries().is_empty());
    world.assemble(&holds(&world, &[("worm_bone_6", DVec3::ZERO, DVec3::Z * 0.1)]), &Assembly::default());
    assert!(world.state().flesh.anchors.entries().is_empty());
    run(&mut world, 10);
}

#[test]
fn scenes_that_are_assembled_at_the_start_begin_with_flesh_around_their_bones() {
    let hold = r#"assemble: true, tracks: [(name: "up", curve: Points([(0, (0.5, 0, 0.2)), (1, (0.5, 0, 0.2))]))],
        inputs: [Grab(body: "worm_bone_6", track: "up", stiffness: inf)]"#;
    let start = small(&format!("{WORM}, {hold}"));
    let (low, high) = stretches(&start);
    assert!(low > 0.5 && high < 1.4, "{low} {high}");
    let mut world = small(WORM);
    let head = world.body("worm_bone_6").expect("a head");
    let off = DVec3::new(0.5, 0.0, 0.2) - world.pose(head).translation;
    world.assemble(&holds(&world, &[("worm_bone_6", DVec3::ZERO, off)]), &Assembly::default());
    let nodes = |world: &World| world.state().flesh.nodes[0].positions.clone();
    assert!(off.length() > 0.1 && nodes(&world) == nodes(&start));
}

#[test]
fn what_cannot_be_assembled_leaves_flesh_alone() {
    let mut world = small(WORM);
    let nodes = world.state().flesh.clone();
    world.state_mut().bodies.poses[3].translation.x = f64::NAN;
    let report = world.assemble(&Input::default(), &Assembly::default());
    assert_eq!(report.outcome, AssemblyOutcome::Refused);
    assert_eq!(world.state().flesh, nodes);
}

#[test]
fn a_target_out_of_reach_moves_what_reaches_for_it_and_nothing_else() {
    let mut settings = Assembly::default();
    settings.yielding = 0.01;
    // The palm is held with its orientation; fingers bend in planes, and the target leaves that plane.
    let points = |aside: f64, share: f64| {
        [
            ("hand_palm", DVec3::ZERO, DVec3::ZERO),
            ("hand_palm", DVec3::X * 0.03, DVec3::ZERO),
            ("hand_palm", DVec3::Y * 0.03, DVec3::ZERO),
            ("hand_index_far", DVec3::ZERO, DVec3::new(-0.04, aside, -0.05) * share),
        ]
    };
    let start = world("hand_flesh");
    let in_plane = -0.0024;
    for (aside, n, left) in
        [(in_plane, 1, 1e-4), (0.001, 1, 1e-3), (0.001, 20, 1e-3), (0.02, 1, 6e-3), (0.02, 20, 6e-3)]
    {
        let mut world = start.clone();
        for k in 1..=n {
            let input = holds(&start, &points(aside, f64::from(k) / f64::from(n)));
            let report = world.assemble(&input, &settings);
            assert_eq!(report.outcome, AssemblyOutcome::LeastSquares);
            assert!(report.position_error < left, "{aside} {k}: {report:?}");
        }
        for joint in world.mechanism().joints() {
            let (name, angle) = (world.mechanism().joint_name(joint), world.reading(joint).twist);
            let most = if name.contains("index") { 2.0 } else { 0.3 };
            assert!(angle.abs() < most, "{aside} in {n}: {name} is at {angle}");
        }
        let (low, high) = stretches(&world);
        assert!(low > 0.0 && high < 2.5, "{aside} in {n}: {low} {high}");
    }
    // What can be reached is reached.
    let mut world = start.clone();
    let report = world.assemble(&holds(&start, &points(0.02, 1.0)[3..]), &settings);
    assert!(report.outcome == AssemblyOutcome::Assembled && report.iterations < 20, "{report:?}");
}
