//! Changes on the way and cameras: written, read, and what they make of a scene.

use glam::DVec3;
use sinew_scene::{FirmnessDoc, GeneratorDoc, SceneDoc, StepperDoc, Steps};

const TEXT: &str = r#"(format: 1, name: "changing", dt: 0.1, duration_s: 3,
    joints: [(name: "pin", kind: Hinge, child: "rod", damping: 2, spring: (stiffness: 10, damping: 4))],
    bodies: [(name: "rod", shapes: [Sphere(radius: 0.1)])],
    changes: [
        (at_s: 0, joint_damping: 0.5),
        (at_s: 1, gravity: (0, 0, 0), dt: 0.05, loop_iterations: 3),
        (at_s: 1.5, stepper: Explicit(baumgarte: 3), joint_stiffness: 2, flesh_stiffness: 3, friction: 0.1),
        (at_s: 2, joint_stiffness: 3),
    ],
    cameras: [
        (name: "side", from: (0, -3, 1), at: (0, 0, 1)),
        (name: "wide", from: (3, 0, 1), at: (0, 0, 1), field_of_view: 1.2),
    ])"#;

fn scene() -> SceneDoc {
    SceneDoc::from_ron(TEXT, "changing.ron").unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn changes_and_cameras_read_back_equal() {
    let scene = scene();
    assert_eq!((scene.changes.len(), scene.cameras.len()), (4, 2));
    assert_eq!(scene.cameras[1].field_of_view, Some(1.2));
    let again = SceneDoc::from_ron(&scene.to_ron(), "again.ron").expect("what was written can be read");
    assert_eq!(again, scene);
    assert!(!SceneDoc::default().to_ron().contains("changes"), "what is usual is not written");
    let mut set = scene;
    set.set("changes[1].dt", "0.02").expect("a number");
    assert_eq!(set.changes[1].dt, Some(0.02));
    set.set("changes[1].dt", "-1").expect_err("no time step");
}

#[test]
fn what_is_left_out_stays_and_factors_are_on_what_is_written() {
    let scene = scene();
    assert_eq!(scene.changes_at_start(), 1);
    let stiffness = |n: usize| scene.after_changes(n).joints[0].spring.map(|spring| spring.stiffness);
    assert_eq!([0, 1, 2, 3, 4].map(stiffness), [10.0, 10.0, 10.0, 20.0, 30.0].map(Some));
    let last = scene.after_changes(4);
    assert_eq!((last.gravity, last.dt, last.loops.iterations), (DVec3::ZERO, 0.05, 3));
    assert!(matches!(last.stepper, StepperDoc::Explicit(_)) && last.changes.is_empty());
    assert_eq!((last.joints[0].damping, last.joints[0].spring.expect("a spring").damping), (1.0, 2.0));
    assert_eq!(scene.after_changes(0), SceneDoc { changes: Vec::new(), ..scene });
}

#[test]
fn factors_reach_joints_flesh_and_contacts_of_characters() {
    let text = "(format: 1, generators: [Character(name: \"worm\", joint: (stiffness: 8, damping: 0.5), contact: (friction: 0.6))],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)), contact: (friction: 0.8))],
        changes: [(at_s: 1, joint_stiffness: 2, joint_damping: 3, flesh_stiffness: 0.5, friction: 0.25)])";
    let scene = SceneDoc::from_ron(text, "worm.ron").expect("a good scene");
    let after = scene.after_changes(1);
    let [GeneratorDoc::Character(before), GeneratorDoc::Character(now)] =
        [&scene, &after].map(|doc| &doc.generators[0])
    else {
        unreachable!("a character was written")
    };
    assert_eq!((now.joint.stiffness, now.joint.damping), (16.0, 1.5));
    assert_ne!(now.material, before.material);
    assert_eq!(now.contact.as_ref().map(|contact| contact.friction), Some(0.15));
    assert_eq!(after.colliders[0].contact.friction.to_bits(), 0.2f64.to_bits());
}

#[test]
fn factors_on_firmness_are_on_what_it_is_by_itself_or_as_told() {
    let text = "(format: 1, colliders: [
            (shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),
            (shape: Solid(Sphere(radius: 1)), contact: (firmness: Scaled(stiffness: 3, damping: 5))),
            (shape: Solid(Sphere(radius: 1)), contact: (firmness: Given(stiffness: 100, damping: 10))),
        ],
        changes: [(at_s: 1, friction: 2), (at_s: 2, contact_stiffness: 2), (at_s: 3, contact_damping: 0)])";
    let scene = SceneDoc::from_ron(text, "firm.ron").expect("a good scene");
    let firmness = |n: usize| {
        let after = scene.after_changes(n);
        [0, 1, 2].map(|i| after.colliders[i].contact.firmness)
    };
    let scaled = |stiffness, damping| FirmnessDoc::Scaled { stiffness, damping };
    let given = |stiffness, damping| FirmnessDoc::Given { stiffness, damping };
    assert_eq!(firmness(1), [FirmnessDoc::Auto, scaled(3.0, 5.0), given(100.0, 10.0)]);
    assert_eq!(firmness(2), [scaled(2.0, 1.0), scaled(6.0, 5.0), given(200.0, 10.0)]);
    assert_eq!(firmness(3), [scaled(2.0, 0.0), scaled(6.0, 0.0), given(200.0, 0.0)]);
    let again = SceneDoc::from_ron(&scene.to_ron(), "again.ron").expect("what was written can be read");
    assert_eq!(again, scene);
}

#[test]
fn changes_are_merged_and_compared_thing_by_thing() {
    let scene = scene();
    let (mut sum, last) = (scene.changes[2].clone(), &scene.changes[3]);
    sum.merge(last);
    assert_eq!((sum.joint_stiffness, sum.friction), (Some(3.0), Some(0.1)));
    assert!(last.beyond(&sum).is_empty());
    let rest = sum.beyond(last);
    assert_eq!((rest.joint_stiffness, rest.friction), (None, Some(0.1)));
    sum.silence(&rest);
    assert_eq!((sum.joint_stiffness, sum.friction, sum.stepper), (Some(3.0), None, None));
}

#[test]
fn steps_are_counted_across_their_lengths() {
    let steps = Steps::of(&scene());
    assert_eq!([0.0, 0.95, 1.0, 1.01, 2.0].map(|time| steps.reaching(time)), [0, 10, 10, 11, 30]);
    assert_eq!([0.04, 0.06, 1.02, 1.03].map(|time| steps.nearest(time)), [0, 1, 10, 11]);
    assert_eq!(steps.lengths(10), (0.1, 0.1));
    assert_eq!(steps.lengths(11), (0.05, 0.1));
    for n in [0, 1, 9, 10, 11, 500] {
        assert_eq!((steps.nearest(steps.time_after(n)), steps.reaching(steps.time_after(n))), (n, n));
    }
    // A change in the first half of a step comes before it, one in the second half after it.
    for (at_s, first) in [(0.14, 1), (0.16, 2)] {
        let mut scene = scene();
        scene.changes[1].at_s = at_s;
        assert_eq!(Steps::of(&scene).lengths(first), (0.1, 0.1));
        assert_eq!(Steps::of(&scene).lengths(first + 1), (0.05, 0.1));
    }
}

#[test]
fn factors_on_contacts_reach_bodies_that_touch_with_their_shapes() {
    let text = r#"(format: 1, changes: [(at_s: 0, friction: 2, contact_stiffness: 3)],
        bodies: [(name: "box", shapes: [Box(size: (1, 1, 1))], contact: (friction: 0.4))],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)), contact: (friction: 0.4))])"#;
    let scene = SceneDoc::from_ron(text, "box.ron").expect("a good scene").after_changes(1);
    let [body, floor] = [scene.bodies[0].contact.expect("it touches"), scene.colliders[0].contact];
    assert_eq!((body.friction, body.firmness), (floor.friction, floor.firmness));
    assert!((body.friction - 0.8).abs() < 1e-15);
}
