//! Assembly and inverse kinematics within the ranges of joints.

use glam::{DQuat, DVec3};
use sinew_math::{exp_so3, ops};
use sinew_sim::{Assembly, AssemblyOutcome, AssemblyReport, DriveCoordinate, Grab, Input, SceneDoc, World};
use sinew_testkit::Rng;

use crate::common::scene;

fn built(text: &str) -> World {
    let scene = SceneDoc::from_ron(text, "ranges.ron").unwrap_or_else(|error| panic!("{error}"));
    World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"))
}

/// A hard grab of a point of a body.
fn grab(world: &World, body: &str, point: DVec3, target: DVec3) -> Grab {
    let body = world.body(body).expect("a body");
    Grab { body, point, target, stiffness: f64::INFINITY, damping: 0.0 }
}

/// Poses a world so that points of bodies are where they should be.
fn reach(world: &mut World, points: &[(&str, DVec3, DVec3)], limits: bool) -> AssemblyReport {
    let grabs = points.iter().map(|&(body, point, target)| grab(world, body, point, target)).collect();
    let mut settings = Assembly::default();
    (settings.limits, settings.yielding, settings.tolerance) = (limits, 0.01, 1e-8);
    let input = Input { grabs, ..Input::default() };
    world.assemble(&input, &settings)
}

fn twist(world: &World, joint: &str) -> f64 {
    world.reading(world.joint(joint).expect("a joint")).twist
}

/// A leg that hangs with its knee a little bent; it bends one way only.
const LEG: &str = r#"(format: 1, bodies: [
        (name: "thigh", shapes: [Capsule(radius: 0.05, length: 0.4)], pose: (position: (0.25, 0, 0))),
        (name: "shin", shapes: [Capsule(radius: 0.04, length: 0.4)], pose: (position: (0.75, 0, 0))),
    ], joints: [
        (name: "hip", kind: Hinge, child: "thigh", frames: World(axis: (0, 1, 0)), limits: (min: -2, max: 2)),
        (name: "knee", kind: Hinge, child: "shin", parent: "thigh", frames: World(anchor: (0.5, 0, 0), axis: (0, 1, 0)),
            limits: (min: 0, max: 2.5)),
    ])"#;

#[test]
fn a_knee_bends_the_way_it_can() {
    let foot = DVec3::X * 0.25;
    let mut rng = Rng::new(7);
    for _ in 0..60 {
        let (far, angle, start) = (rng.uniform(0.45, 0.95), rng.uniform(-1.0, 1.0), rng.uniform(0.0, 0.3));
        let [at, bent] = [(far, angle), (1.0, 0.0)].map(|(r, turn)| exp_so3(DVec3::Y * turn) * DVec3::X * r);
        let mut world = built(LEG);
        // Bent by a drag to begin with.
        let bent = 0.5 * bent + 0.5 * (exp_so3(DVec3::Y * start) * DVec3::X);
        reach(&mut world, &[("shin", foot, bent)], true);
        let report = reach(&mut world, &[("shin", foot, at)], true);
        let (knee, hip) = (twist(&world, "knee"), twist(&world, "hip"));
        assert_eq!(report.outcome, AssemblyOutcome::Assembled, "{far} {angle} {start}: {report:?} {knee}");
        assert!(knee > -1e-8 && hip.abs() < 2.0 + 1e-8, "{far} {angle} {start}: {knee} {hip}");
        let gap = world.pose(world.body("shin").expect("a shin")).transform_point(foot).distance(at);
        assert!(gap < 1e-7, "{gap}");
    }
}

#[test]
fn what_is_out_of_reach_leaves_joints_at_their_ends() {
    let mut world = built(LEG);
    let target = DVec3::new(-0.2, 0.0, 0.9);
    let report = reach(&mut world, &[("shin", DVec3::X * 0.25, target)], true);
    assert_ne!(report.outcome, AssemblyOutcome::Assembled);
    let (knee, hip) = (twist(&world, "knee"), twist(&world, "hip"));
    assert!(knee > -1e-6 && hip > -2.0 - 1e-6, "{knee} {hip}");
    assert!(world.violation().position < 1e-6);
    // Let go, it is assembled where it is.
    assert_eq!(reach(&mut world, &[], true).outcome, AssemblyOutcome::Assembled);
}

#[test]
fn joints_beyond_their_ends_are_brought_back() {
    let mut world = built(LEG);
    let behind = DVec3::new(0.6, 0.0, 0.3);
    let report = reach(&mut world, &[("shin", DVec3::X * 0.25, behind)], false);
    assert_eq!(report.outcome, AssemblyOutcome::Assembled);
    if twist(&world, "knee") >= 0.0 {
        world = built(&LEG.replace("min: 0, max: 2.5", "min: -2.5, max: 0"));
        reach(&mut world, &[("shin", DVec3::X * 0.25, behind)], false);
    }
    let report = reach(&mut world, &[], true);
    assert_eq!(report.outcome, AssemblyOutcome::Assembled, "{report:?}");
    assert!(twist(&world, "knee").abs() < 1e-7, "{}", twist(&world, "knee"));
}

#[test]
fn slides_and_tilts_have_ends_too() {
    let mut world = built(
        r#"(format: 1, bodies: [
            (name: "slider", shapes: [Box(size: (0.1, 0.1, 0.1))]),
            (name: "arm", shapes: [Capsule(radius: 0.03, length: 0.5)], pose: (position: (0.25, 0, 0))),
        ], joints: [
            (name: "rail", kind: Prismatic, child: "slider", frames: World(axis: (0, 0, 1)), limits: (min: -0.1, max: 0.2)),
            (name: "shoulder", kind: Ball, child: "arm", parent: "slider", frames: World(axis: (1, 0, 0)),
                cone_limit: (angle: 0.5)),
        ])"#,
    );
    let tip = DVec3::X * 0.25;
    let target = DVec3::new(0.45, 0.05, 0.6);
    let near = |world: &World| {
        let at = world.pose(world.body("arm").expect("an arm")).transform_point(tip);
        let slide = world.reading(world.joint("rail").expect("a rail")).slide;
        let shoulder = world.reading(world.joint("shoulder").expect("a shoulder"));
        let axis = exp_so3(shoulder.rotation) * DVec3::X;
        (at.distance(target), slide, ops::acos(axis.x))
    };
    reach(&mut world, &[("arm", tip, target)], false);
    let (_, slide, tilt) = near(&world);
    assert!(slide > 0.2 + 1e-3 || tilt > 0.5 + 1e-3, "without ranges: {slide} {tilt}");
    let report = reach(&mut world, &[("arm", tip, target)], true);
    let (gap, slide, tilt) = near(&world);
    assert!((slide - 0.2).abs() < 1e-6 && (tilt - 0.5).abs() < 1e-6, "{slide} {tilt} {report:?}");
    // It points there: 0.5 m at 0.5 rad from (0, 0, 0.2).
    assert!((gap - 0.166).abs() < 0.005, "{gap}");
}

/// A limb of six hinges along x, and where its tip would be with its joints somewhere in their ranges.
fn limb(rng: &mut Rng) -> (World, DVec3) {
    let (mut bodies, mut joints, mut turns) = (String::new(), String::new(), Vec::new());
    for k in 0..6 {
        let (anchor, middle) = (0.3 * f64::from(k), 0.3 * f64::from(k) + 0.15);
        let axis = [DVec3::Y, DVec3::Z, DVec3::new(0.6, 0.8, 0.0)][rng.below(3)];
        let (low, high) = (-rng.uniform(0.1, 1.0), rng.uniform(0.1, 1.0));
        let parent = if k == 0 { String::new() } else { format!(r#"parent: "b{}", "#, k - 1) };
        bodies += &format!(
            r#"(name: "b{k}", shapes: [Capsule(radius: 0.03, length: 0.2)], pose: (position: ({middle}, 0, 0))),"#
        );
        joints += &format!(
            r#"(name: "j{k}", kind: Hinge, child: "b{k}", {parent}limits: (min: {low}, max: {high}),
                frames: World(anchor: ({anchor}, 0, 0), axis: ({}, {}, {}))),"#,
            axis.x, axis.y, axis.z
        );
        turns.push((DVec3::X * anchor, exp_so3(axis * rng.uniform(low, high))));
    }
    let turn = |tip: DVec3, &(anchor, turn): &(DVec3, DQuat)| anchor + turn * (tip - anchor);
    let tip = turns.iter().rev().fold(DVec3::X * 1.8, turn);
    (built(&format!("(format: 1, bodies: [{bodies}], joints: [{joints}])")), tip)
}

#[test]
fn random_limbs_stay_within_their_ranges() {
    let mut rng = Rng::new(11);
    let (mut reached, mut beyond) = (0, 0);
    for case in 0..120 {
        let (start, tip) = limb(&mut rng);
        // Every other target is somewhere, mostly out of reach.
        let is_near = case % 2 == 0;
        let target = if is_near { tip } else { rng.unit_vec() * rng.uniform(0.5, 1.7) };
        for limits in [true, false] {
            let mut world = start.clone();
            let report = reach(&mut world, &[("b5", DVec3::X * 0.15, target)], limits);
            assert!(world.violation().position < 2e-6, "{case} {limits}: {report:?} {:?}", world.violation());
            let excess = excess(&world);
            if limits {
                assert!(excess < 1e-5, "{case}: {excess} {report:?}");
                reached += u32::from(is_near && report.outcome == AssemblyOutcome::Assembled);
            } else {
                beyond += u32::from(excess > 0.1);
            }
        }
    }
    assert!(reached > 57 && beyond > 60, "{reached} of 60 reached; {beyond} of 120 beyond without ranges");
}

/// How far joints are beyond the ends of their ranges, at most.
fn excess(world: &World) -> f64 {
    let of_joint = |joint| {
        let [low, high] = world.mechanism().coordinate_limits(joint, DriveCoordinate::Twist)?;
        let twist = world.reading(joint).twist;
        Some((twist - high).max(low - twist))
    };
    world.mechanism().joints().filter_map(of_joint).fold(0.0, f64::max)
}

#[test]
fn fingers_do_not_bend_backwards() {
    let start = World::from_scene(&scene("hand")).expect("a hand");
    let tips: Vec<_> =
        start.mechanism().bodies().map(|body| start.mechanism().body_name(body).to_owned()).collect();
    for name in tips.iter().filter(|name| name.contains("far")) {
        for off in [DVec3::Z * 0.08, DVec3::Z * -0.08, DVec3::X * -0.06, DVec3::new(-0.05, 0.0, 0.08)] {
            let mut world = start.clone();
            let at = |body: &str| world.pose(world.body(body).expect("a body")).translation;
            let palm = tips.iter().find(|name| name.contains("palm")).expect("a palm");
            let held = [DVec3::ZERO, DVec3::X * 0.03, DVec3::Y * 0.03].map(|point| {
                let pose = world.pose(world.body(palm).expect("a palm"));
                (palm.as_str(), point, pose.transform_point(point))
            });
            let pulled = (name.as_str(), DVec3::ZERO, at(name) + off);
            let [a, b, c] = held;
            let report = reach(&mut world, &[a, b, c, pulled], true);
            assert!(excess(&world) < 1e-5, "{name} {off}: {} {report:?}", excess(&world));
        }
    }
}

#[test]
fn joints_whose_ends_are_in_one_place_are_locked() {
    let mut rng = Rng::new(5);
    for case in 0..40 {
        let (mut bodies, mut joints) = (String::new(), String::new());
        for k in 0..8 {
            let (anchor, middle) = (0.3 * f64::from(k), 0.3 * f64::from(k) + 0.15);
            let axis = ["(0, 1, 0)", "(0, 0, 1)"][rng.below(2)];
            let parent = if k == 0 { String::new() } else { format!(r#"parent: "b{}", "#, k - 1) };
            let range = if k % 2 == 0 { "min: -1, max: 1" } else { "min: 0, max: 0" };
            bodies += &format!(
                r#"(name: "b{k}", shapes: [Capsule(radius: 0.03, length: 0.2)], pose: (position: ({middle}, 0, 0))),"#
            );
            joints += &format!(
                r#"(name: "j{k}", kind: Hinge, child: "b{k}", {parent}limits: ({range}),
                    frames: World(anchor: ({anchor}, 0, 0), axis: {axis})),"#
            );
        }
        let mut world = built(&format!("(format: 1, bodies: [{bodies}], joints: [{joints}])"));
        let target = DVec3::X + rng.unit_vec() * rng.uniform(0.2, 1.0);
        let report = reach(&mut world, &[("b7", DVec3::X * 0.15, target)], true);
        assert!(excess(&world) < 1e-6, "{case}: {} {report:?}", excess(&world));
    }
}
