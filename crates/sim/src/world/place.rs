//! Parts that are added to a running world are placed where its bodies are now; those that are not touched stay on their bodies.
//!
//! A scene gives joint frames and lengths of ropes in the world at the poses where it begins. So frames of new joints and lengths of new ropes are
//! written in body frames at the poses of now, and those on a body that is put elsewhere at the poses where it was.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{
    BodyDoc, EditableScene, EndDoc, FrameDoc, JointDoc, JointFramesDoc, LocalFramesDoc, RopeDoc, TargetDoc,
};

use super::World;

/// Where bodies are by name: when the scene began, and now, or where an edit puts them.
type Places<'a> = BTreeMap<&'a str, [Pose; 2]>;

/// Writes the frames and lengths that an edit would change in body frames.
pub(super) fn place_new(world: &World, before: &EditableScene, after: &mut EditableScene) {
    let joints: Vec<_> = after
        .parts::<JointDoc>()
        .filter(|(_, joint)| matches!(joint.frames, JointFramesDoc::World(_)))
        .map(|(handle, joint)| (handle, joint.clone(), before.get(handle) != Some(joint)))
        .collect();
    let ropes: Vec<_> = after
        .parts::<RopeDoc>()
        .filter(|(_, rope)| rope.length.is_none())
        .map(|(handle, rope)| (handle, rope.clone(), before.get(handle) != Some(rope)))
        .collect();
    let moved = moved_bodies(before, after);
    let is_moved = |name: &str| moved.iter().any(|moved| moved == name);
    let touched = |is_new: bool, mut bodies: Vec<&str>| is_new || bodies.drain(..).any(is_moved);
    let touches_joint = |joint: &JointDoc, is_new: bool| {
        touched(is_new, std::iter::once(joint.child.as_str()).chain(joint.parent.as_deref()).collect())
    };
    let touches_rope =
        |rope: &RopeDoc, is_new| touched(is_new, rope.path.iter().filter_map(EndDoc::body).collect());
    let joints: Vec<_> =
        joints.into_iter().filter(|(_, joint, is_new)| touches_joint(joint, *is_new)).collect();
    let ropes: Vec<_> = ropes.into_iter().filter(|(_, rope, is_new)| touches_rope(rope, *is_new)).collect();
    if joints.is_empty() && ropes.is_empty() {
        return;
    }
    let scene = after.scene().clone();
    let places = places(world, before, &scene.bodies);
    for (handle, mut joint, is_new) in joints {
        joint.frames = in_bodies(&joint, &places, usize::from(is_new));
        after.replace(handle, joint);
    }
    for (handle, mut rope, is_new) in ropes {
        rope.length = Some(TargetDoc::Value(length(&rope, &places, usize::from(is_new))));
        after.replace(handle, rope);
    }
}

/// Names of bodies that an edit puts elsewhere.
fn moved_bodies(before: &EditableScene, after: &EditableScene) -> Vec<String> {
    let is_moved = |body: &BodyDoc, old: &BodyDoc| (body.pose, body.velocity) != (old.pose, old.velocity);
    let parts = after.parts::<BodyDoc>();
    let moved = parts.filter(|(handle, body)| before.get(*handle).is_some_and(|old| is_moved(body, old)));
    moved.map(|(_, body)| body.name.clone()).collect()
}

fn places<'a>(world: &World, before: &EditableScene, bodies: &'a [BodyDoc]) -> Places<'a> {
    let place = |body: &'a BodyDoc| {
        let written = body.pose.to_pose();
        let old = before.find::<BodyDoc>(&body.name).and_then(|handle| before.get(handle));
        let both = match (old, world.body(&body.name)) {
            (Some(old), Some(id)) if (old.pose, old.velocity) == (body.pose, body.velocity) => {
                [written, world.pose(id)]
            }
            (Some(old), _) => [old.pose.to_pose(), written],
            (None, _) => [written; 2],
        };
        (body.name.as_str(), both)
    };
    bodies.iter().map(place).collect()
}

/// The frames of a joint on its bodies, at the poses of the beginning (0) or of now (1).
fn in_bodies(joint: &JointDoc, places: &Places<'_>, when: usize) -> JointFramesDoc {
    let pose =
        |name: Option<&str>| name.and_then(|name| places.get(name)).map_or(Pose::IDENTITY, |at| at[when]);
    let (child, parent) = (pose(Some(&joint.child)), pose(joint.parent.as_deref()));
    let (child, parent) = joint.frames.in_bodies(&child, &parent);
    let frame = |pose: Pose| FrameDoc {
        anchor: pose.translation,
        axis: pose.rotation * DVec3::X,
        reference: Some(pose.rotation * DVec3::Y),
    };
    JointFramesDoc::Local(LocalFramesDoc { child: frame(child), parent: frame(parent) })
}

fn length(rope: &RopeDoc, places: &Places<'_>, when: usize) -> f64 {
    let place = |end: &EndDoc| match end {
        EndDoc::World(point) => *point,
        EndDoc::Body { name, point } => {
            places.get(name.as_str()).map_or(*point, |at| at[when].transform_point(*point))
        }
    };
    rope.path.windows(2).map(|pair| place(&pair[0]).distance(place(&pair[1]))).sum()
}
