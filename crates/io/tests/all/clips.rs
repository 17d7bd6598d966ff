//! A motion for tests of writers: a tree of joints, a loop, two looks, flesh, a spring, names that need care.

use sinew_io::Clip;
use sinew_sim::{SceneDoc, World};

const SCENE: &str = r#"(format: 1, name: "odd </script> & \"name\"", dt: 0.01,
    colliders: [(shape: Plane(point: (0, 0, -2), normal: (0, 0, 1)))],
    bodies: [
        (name: "rod", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))]),
        (name: "fore arm", pose: (position: (1.5, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1)), Sphere(radius: 0.2)]),
        (name: "ball", pose: (position: (3, 0, -1.5)), shapes: [Sphere(radius: 0.3)], contact: ()),
    ],
    joints: [
        (name: "pivot", kind: Hinge, child: "rod", damping: 0.3, frames: World(axis: (0, 1, 0))),
        (name: "elbow", kind: Ball, child: "fore arm", parent: "rod", frames: World(anchor: (1, 0, 0))),
    ],
    generators: [Character(name: "worm", kind: Worm, pose: (position: (0, 1, -1.8)), contact: (friction: 0.6))],
    springs: [(name: "s", from: Body(name: "ball"), to: World(3, 0, 0), rest_length: 1.0, stiffness: 50.0, damping: 1.0)])"#;

/// Its world, stepped, and the clip with `n` frames, one per step.
pub(crate) fn moved(n: usize) -> (World, Clip) {
    let scene = SceneDoc::from_ron(SCENE, "odd.ron").expect("a scene");
    let mut world = World::from_scene(&scene).expect("a world");
    let mut clip = Clip::new(scene.name.clone(), &world);
    for i in 0..n {
        if i > 0 {
            world.step();
        }
        clip.push(&world);
    }
    (world, clip)
}
