//! The judges judged: what they must find, and what they must not.

use glam::DVec3;
use sinew_scene::{
    BodyDoc, FrameDoc, JointDoc, JointFramesDoc, JointKind, MassDoc, PoseDoc, SceneDoc, Shape, ShapeDoc,
};
use sinew_soak::{SoakFault, Trial, is_frozen, random_scene, shrink};

/// A bar of a metre on a hinge, held or pulled by nothing else.
fn pendulum() -> SceneDoc {
    let bar = BodyDoc {
        name: "bar".to_owned(),
        pose: PoseDoc { position: DVec3::new(0.5, 0.0, 0.0), ..PoseDoc::default() },
        shapes: vec![ShapeDoc::centred(Shape::Box { size: DVec3::new(1.0, 0.1, 0.1) })],
        mass: MassDoc::Total(1.0),
        ..BodyDoc::default()
    };
    let frames = JointFramesDoc::World(FrameDoc { axis: DVec3::Y, ..FrameDoc::default() });
    let pin = JointDoc { name: "pin".to_owned(), child: "bar".to_owned(), frames, ..JointDoc::default() };
    SceneDoc { bodies: vec![bar], joints: vec![pin], ..SceneDoc::default() }
}

#[test]
fn a_pendulum_moves_and_a_held_one_is_not_expected_to() {
    let mut scene = pendulum();
    assert_eq!(is_frozen(&scene).expect("a scene"), None);
    scene.joints[0].kind = JointKind::Fixed;
    assert_eq!(is_frozen(&scene).expect("a scene"), None);
}

#[test]
fn a_gap_without_a_word_is_found_and_shrunk_to() {
    // One solve per step and no division: a whirling bar opens its hinge by `½ (hω)² ℓ`, and says so only in the next.
    let mut scene = pendulum();
    scene.set("stepper", "Implicit(newton_iterations: 1)").expect("a stepper");
    scene.bodies[0].velocity.angular = DVec3::new(0.0, 20.0, 0.0);
    scene.bodies[0].velocity.linear = DVec3::new(0.0, 0.0, -10.0);
    scene.bodies[0].linear_damping = 0.1;
    let trial = Trial::of(&scene).expect("a scene");
    assert!(trial.has(SoakFault::SilentGap), "{trial:?}");
    let small = shrink(&scene, SoakFault::SilentGap, 20);
    assert!(Trial::of(&small).expect("a scene").has(SoakFault::SilentGap));
}

#[test]
fn energy_from_nowhere_is_found() {
    // An explicit step beyond its limit of stability; its joint is closed after every step.
    let mut scene = pendulum();
    scene.set("stepper", "Explicit(method: Euler)").expect("a stepper");
    scene.set("stabilize", "()").expect("a stabilization");
    let trial = Trial::of(&scene).expect("a scene");
    assert!(trial.has(SoakFault::Energy), "{trial:?}");
}

#[test]
fn the_same_seed_gives_the_same_scene_and_it_is_closed_at_the_start() {
    for seed in 1..60 {
        let scene = random_scene(seed, 10.0);
        assert_eq!(scene, random_scene(seed, 10.0));
        let world = sinew_sim::World::from_scene(&scene).expect("a scene");
        let violation = world.violation();
        assert!(violation.position < 1e-12 && violation.rotation < 1e-7, "seed {seed}: {violation:?}");
    }
}
