//! Parts that are added to a running world are placed where its bodies are now; those that are not touched stay on their bodies.
//!
//! A scene gives joint frames and lengths of ropes in the world at the poses where it begins. So frames of new joints and lengths of new ropes are
//! written in body frames at the poses of now, and those on a body that is put elsewhere at the poses where it was.

use std::collections::BTreeMap;

use sinew_math::Pose;
use sinew_mechanism::BodyId;
use sinew_scene::{BodyDoc, EditableScene, EndDoc, JointDoc, JointFramesDoc, RopeDoc, TargetDoc};

use super::World;

/// A body: where it was when the scene began, where it is now or an edit puts it, and whether an edit puts it elsewhere.
struct Place {
    poses: [Pose; 2],
    is_moved: bool,
}

type Places = BTreeMap<String, Place>;

/// Writes the frames and lengths that the edit of `scene` would change in body frames.
pub(super) fn place_new(world: &World, scene: &mut EditableScene) {
    let is_open = |joint: &JointDoc| joint.frames.is_in_world();
    let puts = |(handle, body): (_, &BodyDoc)| {
        scene
            .before(handle)
            .is_some_and(|old: &BodyDoc| (old.pose, old.velocity) != (body.pose, body.velocity))
    };
    let moves_bodies = scene.touched::<BodyDoc>().any(puts);
    let joints = scene.touched::<JointDoc>().any(|(_, joint)| is_open(joint));
    let ropes = scene.touched::<RopeDoc>().any(|(_, rope)| rope.length.is_none());
    if !(joints || ropes || moves_bodies) {
        return;
    }
    let places = places(world, scene);
    let renamed = renamed(scene);
    let is_moved = |body: &str| places.get(body).is_some_and(|place| place.is_moved);
    let placed =
        scene.parts::<JointDoc>().filter(|(_, joint)| is_open(joint)).filter_map(|(handle, joint)| {
            let is_other = |old: &JointDoc| {
                old.frames != joint.frames
                    || name_now(&renamed, &old.child) != joint.child
                    || old.parent.as_deref().map(|name| name_now(&renamed, name)) != joint.parent.as_deref()
            };
            let is_new = scene.before(handle).is_none_or(is_other);
            let is_touched = is_moved(&joint.child) || joint.parent.as_deref().is_some_and(is_moved);
            let frames = || in_bodies(joint, &places, usize::from(is_new));
            (is_new || is_touched).then(|| (handle, JointDoc { frames: frames(), ..joint.clone() }))
        });
    let joints: Vec<_> = placed.collect();
    let placed =
        scene.parts::<RopeDoc>().filter(|(_, rope)| rope.length.is_none()).filter_map(|(handle, rope)| {
            let is_same_end = |(old, end): (&EndDoc, &EndDoc)| {
                let body = old.body().map(|name| name_now(&renamed, name));
                (body, old.point()) == (end.body(), end.point())
            };
            let is_other = |old: &RopeDoc| {
                old.path.len() != rope.path.len() || !old.path.iter().zip(&rope.path).all(is_same_end)
            };
            let is_new = scene.before(handle).is_none_or(is_other);
            let is_touched = rope.path.iter().filter_map(EndDoc::body).any(is_moved);
            let length = TargetDoc::Value(length(rope, &places, usize::from(is_new)));
            (is_new || is_touched).then(|| (handle, RopeDoc { length: Some(length), ..rope.clone() }))
        });
    let ropes: Vec<_> = placed.collect();
    for (handle, joint) in joints {
        scene.replace(handle, joint);
    }
    for (handle, rope) in ropes {
        scene.replace(handle, rope);
    }
}

/// The name of a body after the edit.
fn name_now<'s>(renamed: &BTreeMap<&'s str, &'s str>, before: &'s str) -> &'s str {
    renamed.get(before).copied().unwrap_or(before)
}

/// Names of bodies before the edit, and now, where they differ.
fn renamed(scene: &EditableScene) -> BTreeMap<&str, &str> {
    let names = scene.touched().filter_map(|(handle, body): (_, &BodyDoc)| {
        Some((scene.before(handle)?.name.as_str(), body.name.as_str()))
    });
    names.filter(|(before, now)| before != now).collect()
}

fn places(world: &World, scene: &EditableScene) -> Places {
    let place = |(handle, body): (_, &BodyDoc)| {
        let written = body.pose.to_pose();
        let old = scene.before(handle).map(|old: &BodyDoc| (old.pose, old.velocity));
        // The world is still what it was before the edit.
        let id = scene.position_before(handle).map(BodyId::from_index);
        let now = id.map_or(written, |id| world.pose(id));
        let place = match old {
            None => Place { poses: [written; 2], is_moved: false },
            Some(old) if old == (body.pose, body.velocity) => {
                Place { poses: [written, now], is_moved: false }
            }
            Some((pose, _)) => Place { poses: [pose.to_pose(), written], is_moved: true },
        };
        (body.name.clone(), place)
    };
    scene.parts::<BodyDoc>().map(place).collect()
}

/// The frames of a joint on its bodies, at the poses of the beginning (0) or of now (1).
fn in_bodies(joint: &JointDoc, places: &Places, when: usize) -> JointFramesDoc {
    let pose = |name: Option<&str>| {
        name.and_then(|name| places.get(name)).map_or(Pose::IDENTITY, |place| place.poses[when])
    };
    let (child, parent) = (pose(Some(&joint.child)), pose(joint.parent.as_deref()));
    joint.frames.on_bodies(&child, &parent)
}

fn length(rope: &RopeDoc, places: &Places, when: usize) -> f64 {
    rope.path_length(|name| places.get(name).map(|place| place.poses[when]))
}
