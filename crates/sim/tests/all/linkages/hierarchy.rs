//! Where not everything can be met, only joints that may open do.

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::PriorityDoc;
use sinew_sim::World;

use crate::common::scene;

#[test]
fn pulled_characters_keep_their_own_limbs() {
    let scene = scene("three_characters_pulled");
    let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    let (mut tree, mut bound): (f64, f64) = (0.0, 0.0);
    for _ in 0..world.info().n_steps {
        world.step();
        for joint in &scene.joints {
            let pose = |name: &str| world.pose(world.body(name).expect("a body"));
            let child = pose(&joint.child);
            let parent = joint.parent.as_deref().map_or(Pose::IDENTITY, pose);
            let (on_child, on_parent) = joint.frames.in_bodies(&child, &parent);
            let point = |of: Pose, frame: Pose| -> DVec3 { of.transform_point(frame.translation) };
            let gap = point(child, on_child).distance(point(parent, on_parent));
            match joint.priority {
                PriorityDoc::Secondary => bound = bound.max(gap),
                _ => tree = tree.max(gap),
            }
        }
    }
    assert!(tree < 1e-6, "limbs come {tree:e} m apart");
    assert!(bound > 0.1, "hands and feet are only {bound:e} m apart");
}
