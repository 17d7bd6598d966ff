//! Scenes through URDF and MJCF and back.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sinew_io::{ExportOutcome, Exported, Files, ImportOptions, Imported, mjcf, read_mjcf, read_urdf, urdf};
use sinew_scene::{ColliderShapeDoc, JointDoc, JointKind, SceneDoc};
use sinew_sim::World;
use sinew_testkit::Rng;

use crate::oracle::TOLERANCE;
use crate::random_tree::random_tree;
use crate::same_dynamics::differences;

/// Kinds that both formats hold with the same coordinates.
const KINDS: [JointKind; 10] = [
    JointKind::Fixed,
    JointKind::Hinge,
    JointKind::Hinge,
    JointKind::Prismatic,
    JointKind::Cylindrical,
    JointKind::Universal,
    JointKind::Ball,
    JointKind::Planar,
    JointKind::Orientation,
    JointKind::Free,
];

/// Kinds that MJCF holds besides.
const MORE: [JointKind; 2] = [JointKind::PointOnLine, JointKind::PointOnPlane];

pub(crate) fn files_of(exported: &Exported) -> Files {
    Files::in_memory(exported.files.clone())
}

pub(crate) fn from_urdf(scene: &SceneDoc) -> (Exported, Imported) {
    let written = urdf(scene, "robot").unwrap_or_else(|error| panic!("{error}"));
    let options = ImportOptions::default();
    let back = read_urdf(&written.text, "robot.urdf", &files_of(&written), &options);
    let back = back.unwrap_or_else(|error| panic!("{error}\n{}", written.text));
    (written, back)
}

pub(crate) fn from_mjcf(scene: &SceneDoc) -> (Exported, Imported) {
    let written = mjcf(scene, "model").unwrap_or_else(|error| panic!("{error}"));
    let mut options = ImportOptions::default();
    options.key = written.report.used.get("keyframes").map(|_| "initial".to_owned());
    let back = read_mjcf(&written.text, "model.xml", &files_of(&written), &options);
    let back = back.unwrap_or_else(|error| panic!("{error}\n{}", written.text));
    (written, back)
}

fn assert_same(one: &SceneDoc, two: &SceneDoc, rng: &mut Rng) {
    let [mass, acceleration] = differences(one, two, 3, rng);
    assert!(mass <= TOLERANCE, "mass matrices differ by {mass:e}");
    assert!(acceleration <= TOLERANCE, "accelerations differ by {acceleration:e}");
}

/// Compares springs, dampers, friction, rotors and ranges of the joints of one coordinate; how firm limits are if `firm`.
fn assert_same_forces(one: &SceneDoc, two: &SceneDoc, firm: bool) {
    let found: BTreeMap<&str, &JointDoc> =
        two.joints.iter().map(|joint| (joint.name.as_str(), joint)).collect();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1e-3);
    for joint in one.joints.iter().filter(|it| matches!(it.kind, JointKind::Hinge | JointKind::Prismatic)) {
        let other = found[joint.name.as_str()];
        assert_eq!(joint.kind, other.kind);
        let spring = |joint: &JointDoc| joint.spring.unwrap_or_default();
        let damping = |joint: &JointDoc| joint.damping + spring(joint).damping;
        for (a, b) in [
            (damping(joint), damping(other)),
            (joint.friction, other.friction),
            (spring(joint).stiffness, spring(other).stiffness),
            (spring(joint).rest, spring(other).rest),
        ] {
            assert!(near(a, b), "{}: {a} became {b}", joint.name);
        }
        assert_eq!(joint.limits.is_some(), other.limits.is_some(), "{}", joint.name);
        if let (Some(a), Some(b)) = (joint.limits, other.limits) {
            assert!(near(a.min, b.min) && near(a.max, b.max), "{}: {a:?} became {b:?}", joint.name);
            let same = near(a.stiffness, b.stiffness) && near(a.damping, b.damping) && near(a.ramp, b.ramp);
            assert!(same || !firm, "{}: {a:?} became {b:?}", joint.name);
        }
        if firm {
            assert!(near(joint.armature, other.armature), "{}", joint.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_trees_move_alike_behind_a_urdf(seed in any::<u64>(), n in 1..9_usize) {
        let mut rng = Rng::new(seed);
        let scene = random_tree(n, &KINDS, &mut rng);
        let (_, mut back) = from_urdf(&scene);
        back.scene.gravity = scene.gravity;
        assert_same(&scene, &back.scene, &mut rng);
        assert_same_forces(&scene, &back.scene, false);
    }

    #[test]
    fn random_trees_move_alike_behind_an_mjcf(seed in any::<u64>(), n in 1..9_usize) {
        let mut rng = Rng::new(seed);
        let scene = random_tree(n, &[&KINDS[..], &MORE].concat(), &mut rng);
        let (_, back) = from_mjcf(&scene);
        assert_same(&scene, &back.scene, &mut rng);
        assert_same_forces(&scene, &back.scene, true);
        assert_same_start(&scene, &back.scene);
    }
}

/// Bodies begin where they began.
fn assert_same_start(one: &SceneDoc, two: &SceneDoc) {
    let worlds = [one, two].map(|scene| World::from_scene(scene).unwrap_or_else(|error| panic!("{error}")));
    for body in &one.expanded().bodies {
        let poses = [0, 1].map(|i| worlds[i].pose(worlds[i].body(&body.name).expect("a body")));
        let off = poses[0].inverse().compose(&poses[1]);
        let far = off.translation.length().max(off.rotation.xyz().length());
        assert!(far < 1e-9, "{} begins {far:e} away", body.name);
    }
}

#[test]
fn a_second_trip_changes_nothing() {
    let mut rng = Rng::new(3);
    let scene = random_tree(6, &KINDS, &mut rng);
    let (_, back) = from_mjcf(&scene);
    let again = |scene: &SceneDoc| from_mjcf(scene).1.scene;
    let (two, three) = (again(&back.scene), again(&again(&back.scene)));
    assert_eq!((two.bodies.len(), two.joints.len()), (three.bodies.len(), three.joints.len()));
    assert_same(&two, &three, &mut rng);
}

/// Two runs of a second: the largest distance between the same bodies, relative to how far any moves.
fn drift(one: &SceneDoc, two: &SceneDoc) -> f64 {
    let mut worlds =
        [one, two].map(|scene| World::from_scene(scene).unwrap_or_else(|error| panic!("{error}")));
    let centers = |world: &World, name: &str| {
        let body = world.body(name).unwrap_or_else(|| panic!("no body {name}"));
        world.pose(body).transform_point(world.mechanism().center_of_mass(body))
    };
    let names: Vec<String> = one.expanded().bodies.iter().map(|body| body.name.clone()).collect();
    let start: Vec<glam::DVec3> = names.iter().map(|name| centers(&worlds[0], name)).collect();
    let (mut worst, mut far) = (0.0_f64, 1e-3_f64);
    for _ in 0..60 {
        for world in &mut worlds {
            let health = world.step().health;
            assert!(health.is_good(), "{}: {health:?}", one.name);
        }
        for (name, start) in names.iter().zip(&start) {
            let at = [0, 1].map(|i| centers(&worlds[i], name));
            far = far.max(at[0].distance(*start));
            worst = worst.max(at[0].distance(at[1]));
        }
    }
    worst / far
}

pub(crate) fn built_in(name: &str) -> SceneDoc {
    let text = sinew_scenes::text(name).unwrap_or_else(|| panic!("no scene {name}"));
    SceneDoc::from_ron(text, name).unwrap_or_else(|error| panic!("{error}"))
}

/// As the scene steps; a file says nothing of that.
fn stepped_as(one: &SceneDoc, mut two: SceneDoc) -> SceneDoc {
    two.dt = one.dt;
    two.gravity = one.gravity;
    two.stepper.clone_from(&one.stepper);
    two.gyroscopic = one.gyroscopic;
    two.loops.clone_from(&one.loops);
    two
}

#[test]
fn built_in_trees_move_alike() {
    let mut rng = Rng::new(1);
    for name in ["pendulum", "double_pendulum", "chain_10", "gyroscope", "top"] {
        let scene = built_in(name);
        let (_, back) = from_mjcf(&scene);
        assert_same(&scene, &back.scene, &mut rng);
        let drift = drift(&scene, &stepped_as(&scene, back.scene));
        assert!(drift < 1e-3, "{name}: {drift:e}");
    }
}

#[test]
fn loops_come_back_and_hold() {
    for name in ["four_bar", "slider_crank", "ladder_12_1", "bennett"] {
        let scene = built_in(name);
        let (written, back) = from_mjcf(&scene);
        assert!(written.report.used.contains_key("loops"), "{name}: {}", written.report);
        let back = stepped_as(&scene, back.scene);
        let mut world = World::from_scene(&back).unwrap_or_else(|error| panic!("{error}"));
        for _ in 0..60 {
            assert!(world.step().health.is_good(), "{name}");
        }
        let open = world.violation();
        assert!(open.position < 1e-3 && open.rotation < 1e-2, "{name}: {open:?}");
        let drift = drift(&scene, &back);
        assert!(drift < 1e-2, "{name}: {drift:e}");
    }
}

#[test]
fn what_a_format_does_not_hold_is_told_by_name() {
    let text = r#"(format: 1, name: "r", bodies: [
            (name: "a", shapes: [Capsule(radius: 0.1, length: 1)], linear_damping: 1),
            (name: "b", pose: (position: (1, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))], velocity: (linear: (1, 0, 0)))],
        joints: [(name: "pin", kind: Hinge, child: "a", armature: 0.1, frames: World(axis: (0, 1, 0)),
                motor: Position(target: Value(0.5), stiffness: 9, damping: 1, max_force: 3)),
            (name: "elbow", kind: Ball, child: "b", parent: "a", frames: World(anchor: (0.5, 0, 0)), breaks_at: (force: 9)),
            (name: "closing", kind: Prismatic, child: "b", frames: World(axis: (1, 0, 0)))],
        springs: [(name: "coil", from: World(0, 0, 1), to: Body(name: "b"), stiffness: 5)],
        ropes: [(name: "cord", path: [World(0, 0, 1), Body(name: "b")])],
        colliders: [(shape: Plane(point: (0, 0, -1), normal: (0, 0, 1)))])"#;
    let scene = SceneDoc::from_ron(text, "r").unwrap_or_else(|error| panic!("{error}"));
    let told = |exported: &Exported, outcome: ExportOutcome, part: &str, what: &str| {
        let mut findings = exported.report.of(outcome);
        let found = findings.any(|it| it.parts.iter().any(|it| it.contains(part)) && it.what.contains(what));
        assert!(found, "{part}, {what}: {}", exported.report);
    };
    let (robot, _) = from_urdf(&scene);
    for (part, what) in [
        ("`pin`", "rotor"),
        ("`pin`", "motor"),
        ("`coil`", "springs"),
        ("`cord`", "ropes"),
        ("plane", "planes"),
        ("`b`", "velocity"),
        ("`a`", "damping"),
        ("`elbow`", "breaks"),
    ] {
        told(&robot, ExportOutcome::LeftOut, part, what);
    }
    told(&robot, ExportOutcome::Approximated, "`a`", "capsules");
    let (model, _) = from_mjcf(&scene);
    told(&model, ExportOutcome::LeftOut, "`a`", "damping");
    told(&model, ExportOutcome::LeftOut, "`elbow`", "breaks");
    told(&model, ExportOutcome::Approximated, "state", "keyframe");
    for kind in ["springs", "ropes", "motors", "keyframes", "geoms"] {
        assert!(model.report.used.contains_key(kind), "{kind}: {}", model.report);
    }
}

const WORKS: &str = r#"(format: 1, name: "works", bodies: [
        (name: "a", shapes: [Box(size: (1, 0.1, 0.1))]),
        (name: "b", pose: (position: (1, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))]),
        (name: "c", pose: (position: (0, 1, 0)), shapes: [Box(size: (0.3, 0.1, 0.2))])],
    joints: [(name: "pin", kind: Hinge, child: "a", armature: 0.07, damping: 0.3, friction: 0.2,
            limits: (min: -1, max: 1.5), frames: World(axis: (0, 1, 0))),
        (name: "rail", kind: Prismatic, child: "b", parent: "a", armature: 0.4, damping: 2, friction: 0.5,
            limits: (min: -0.2, max: 0.6), frames: World(axis: (1, 0, 0))),
        (name: "bolt", kind: Screw(pitch: 0.02), child: "c", frames: World(axis: (0, 0, 1), anchor: (0, 1, 0)))],
    gears: [(name: "rack", driver: "pin", driven: "rail", ratio: 0.3, offset: 0.01)],
    colliders: [(body: "c", shape: HeightField(at: (position: (0, 0, 0.3)), size: (2, 3),
        heights: [[0.5, 0.7, 0.4], [0.1, 1.3, 0.2]]), contact: (friction: 0.8))])"#;

/// Rotors, screws, height fields and gears, in what each format holds of them.
#[test]
fn rotors_screws_heights_and_gears_come_back_or_are_told() {
    let scene = SceneDoc::from_ron(WORKS, "works").unwrap_or_else(|error| panic!("{error}"));
    let (robot, mut back) = from_urdf(&scene);
    back.scene.gravity = scene.gravity;
    assert_same_forces(&scene, &back.scene, false);
    let left: Vec<String> =
        robot.report.of(ExportOutcome::LeftOut).map(|it| format!("{:?} {}", it.parts, it.what)).collect();
    for what in ["rotor", "height field"] {
        assert!(left.iter().any(|it| it.contains(what)), "{what}: {left:?}");
    }
    let gear = |scene: &SceneDoc, driven: &str| {
        let found = scene.gears.iter().find(|gear| gear.driven == driven);
        let found = found.unwrap_or_else(|| panic!("no gear on {driven}: {:?}", scene.gears));
        (found.driver.clone(), found.ratio, found.offset)
    };
    let near = |found: (String, f64, f64), (driver, ratio, offset): (&str, f64, f64)| {
        assert_eq!(found.0, driver);
        assert!((found.1 - ratio).abs() < 1e-12 && (found.2 - offset).abs() < 1e-12, "{found:?}");
    };
    near(gear(&back.scene, "rail"), ("pin", 0.3, 0.01));
    // A screw is a turn and a slide that follows it.
    assert_eq!(back.scene.gears.len(), 2, "{:?}", back.scene.gears);
    let screw = back.scene.gears.iter().find(|gear| gear.driven != "rail").expect("a screw");
    assert!((screw.ratio.abs() - 0.02).abs() < 1e-12, "{screw:?}");

    let (model, back) = from_mjcf(&scene);
    assert_same_forces(&scene, &back.scene, true);
    near(gear(&back.scene, "rail"), ("pin", 0.3, 0.01));
    let lost = model.report.of(ExportOutcome::LeftOut).count();
    assert_eq!(lost, 0, "{}", model.report);
    let field = |scene: &SceneDoc| {
        let fields = scene.colliders.iter().filter_map(|it| match &it.shape {
            ColliderShapeDoc::HeightField { at, size, heights } => Some((
                it.body.clone(),
                it.contact.friction,
                at.to_pose().translation.z,
                *size,
                heights.clone(),
            )),
            _ => None,
        });
        fields.collect::<Vec<_>>()
    };
    let ([one], [two]) = (&field(&scene)[..], &field(&back.scene)[..]) else { panic!("{}", back.report) };
    assert_eq!((&one.0, one.1, one.3), (&two.0, two.1, two.3));
    for (a, b) in one.4.concat().iter().zip(two.4.concat()) {
        assert!((one.2 + a - two.2 - b).abs() < 1e-15, "{one:?} {two:?}");
    }
    // Without the screw, which is two joints and a gear there.
    let mut plain = scene.clone();
    plain.bodies.retain(|body| body.name != "c");
    plain.joints.retain(|joint| joint.name != "bolt");
    plain.colliders.clear();
    let (_, back) = from_mjcf(&plain);
    let far = drift(&plain, &stepped_as(&plain, back.scene));
    assert!(far < 1e-3, "{far:e}");
}
