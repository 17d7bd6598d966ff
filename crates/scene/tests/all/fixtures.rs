//! The mechanism fixtures load, survive a round trip, and describe what their index says.

use sinew_math::Pose;
use sinew_scene::{ExpectDoc, JointKind, SceneDoc, Shape};
use std::collections::BTreeMap;

fn scenes() -> Vec<SceneDoc> {
    let load = |path: std::path::PathBuf| {
        let scene = SceneDoc::load(&path).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(path.file_stem().and_then(|stem| stem.to_str()), Some(scene.name.as_str()));
        scene
    };
    super::fixtures_in("mechanisms").into_iter().map(load).collect()
}

#[test]
fn every_scene_has_the_size_it_should() {
    let sizes: BTreeMap<_, _> = scenes()
        .iter()
        .map(|scene| {
            let all = scene.expanded();
            (scene.name.clone(), (all.bodies.len(), all.joints.len()))
        })
        .collect();
    for (name, size) in [
        ("pendulum", (1, 1)),
        ("double_pendulum", (2, 2)),
        ("chain_10", (10, 10)),
        ("chain_100", (100, 100)),
        ("chain_1000", (1000, 1000)),
        ("chain_10000", (10_000, 10_000)),
        ("branching_tree", (491, 491)),
        ("robot", (21, 20)),
        ("hand", (16, 15)),
        ("stiff_sweep", (100, 100)),
        ("showcase", (375, 375)),
    ] {
        assert_eq!(sizes.get(name), Some(&size), "{name}");
    }
}

#[test]
fn every_scene_says_what_to_expect_and_describes_itself() {
    for scene in scenes() {
        let expect = &scene.expect;
        let joints_checked = expect.max_position_error_m.or(expect.max_tree_error).is_some();
        let has_joints = !scene.expanded().joints.is_empty();
        assert!(if has_joints { joints_checked } else { *expect != ExpectDoc::default() }, "{}", scene.name);
        assert!(scene.description.ends_with('.'), "{}", scene.name);
    }
}

#[test]
fn text_reads_back_equal() {
    // Contents of files are no part of the text.
    let again = |scene: &SceneDoc| {
        let read = SceneDoc::from_ron(&scene.to_ron(), "again").unwrap_or_else(|errors| panic!("{errors}"));
        SceneDoc { files: scene.files.clone(), ..read }
    };
    for scene in scenes() {
        assert_eq!(again(&scene), scene);
        if scene.name != "chain_10000" {
            let all = scene.expanded();
            assert_eq!(again(&all), all, "expanded {}", scene.name);
        }
    }
}

#[test]
fn joints_begin_assembled() {
    for scene in scenes().into_iter().filter(|scene| !scene.assemble) {
        let all = scene.expanded();
        let poses: BTreeMap<_, _> = all.bodies.iter().map(|b| (b.name.as_str(), b.pose.to_pose())).collect();
        for joint in all.joints.iter().filter(|joint| joint.from_s == 0.0) {
            use JointKind::{Ball, Fixed, Hinge, Universal};
            if !matches!(joint.kind, Ball | Fixed | Hinge | Universal) {
                continue;
            }
            let world_from_parent = match joint.parent.as_deref() {
                Some(parent) => poses[parent],
                None => Pose::IDENTITY,
            };
            let world_from_child = poses[joint.child.as_str()];
            let (on_child, on_parent) = joint.frames.in_bodies(&world_from_child, &world_from_parent);
            let gap = world_from_child.compose(&on_child).translation
                - world_from_parent.compose(&on_parent).translation;
            assert!(gap.length() < 1e-9, "{}: {} is {gap} apart", scene.name, joint.name);
        }
    }
}

#[test]
fn limbs_meet_at_their_joints() {
    // In the two characters every capsule begins at its joint: no bone floats beside its neighbour.
    for name in ["robot", "hand"] {
        let scene = scenes().into_iter().find(|scene| scene.name == name).unwrap();
        for joint in &scene.joints {
            let body = scene.bodies.iter().find(|b| b.name == joint.child).unwrap();
            let Shape::Capsule { length, .. } = body.shapes[0].solid else { continue };
            let (on_child, _) = joint.frames.in_bodies(&body.pose.to_pose(), &Pose::IDENTITY);
            let gap = on_child.translation + glam::DVec3::X * (0.5 * length);
            assert!(gap.length() < 2e-6, "{name}: {} begins {gap} from its joint", joint.name);
        }
    }
}

#[test]
fn grabs_begin_where_the_body_is() {
    for scene in scenes() {
        let all = scene.expanded();
        for input in &scene.inputs {
            let sinew_scene::InputDoc::Grab(grab) = input else { continue };
            let body = all.bodies.iter().find(|b| b.name == grab.body).unwrap();
            let track = scene.tracks.iter().find(|t| t.name == grab.track).unwrap();
            let held = body.pose.to_pose().transform_point(grab.point);
            let gap = sinew_scene::Track::new(track).sample(grab.from_s).carry(grab.point) - held;
            assert!(gap.length() < 1e-6, "{}: the grab of {} begins {gap} away", scene.name, grab.body);
        }
    }
}
