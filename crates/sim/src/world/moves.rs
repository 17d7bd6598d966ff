//! Where an edit moves the numbers of bodies, joints, colliders and flesh, and whom it wakes.

use std::collections::BTreeSet;

use sinew_compile::WORLD;
use sinew_engine::{Model, PartMoves, SleepState};
use sinew_mechanism::JointId;
use sinew_scene::{
    BodyDoc, BodyKindDoc, ColliderDoc, EditableScene, EndDoc, FleshDoc, GONE, GearDoc, Handle, JointDoc,
    PairDoc, RopeDoc, ScenePart, SpringDoc,
};

/// Per number in the lists of the scene before its edit, the number now. A body or flesh that the edit puts elsewhere counts as new.
pub(super) fn part_moves(scene: &EditableScene) -> PartMoves {
    let mut bodies = scene.moves::<BodyDoc>();
    mark_placed::<BodyDoc>(scene, &mut bodies, |now, old| {
        (now.pose, now.velocity) == (old.pose, old.velocity)
    });
    let mut flesh = scene.moves::<FleshDoc>();
    mark_placed::<FleshDoc>(scene, &mut flesh, |now, old| {
        (now.pose, now.velocity) == (old.pose, old.velocity)
    });
    PartMoves { bodies, joints: scene.moves::<JointDoc>(), colliders: collider_moves(scene), flesh }
}

/// Marks replaced parts that do not stay where they are.
fn mark_placed<P: ScenePart>(scene: &EditableScene, moves: &mut [u32], stays: impl Fn(&P, &P) -> bool) {
    let is_placed =
        |(handle, now): &(Handle<P>, &P)| scene.before(*handle).is_some_and(|old| !stays(now, old));
    let placed: BTreeSet<u32> = scene
        .touched::<P>()
        .filter(is_placed)
        .filter_map(|(handle, _)| Some(scene.position(handle)? as u32))
        .collect();
    if !placed.is_empty() {
        moves.iter_mut().filter(|now| placed.contains(now)).for_each(|now| *now = GONE);
    }
}

/// Adds what models have beside the parts of their scenes.
pub(super) fn add_model_parts(moves: &mut PartMoves, (old, new): (&Model, &Model), n_bodies: usize) {
    let (old, new) = (old.mechanism(), new.mechanism());
    // The world, where flesh is fixed to it, is the last body.
    if moves.bodies.len() < old.n_bodies() {
        moves.bodies.push(if n_bodies < new.n_bodies() { n_bodies as u32 } else { GONE });
    }
    // Joints that carry further forces come after those of the scene.
    let further = (moves.joints.len()..old.n_joints()).map(|joint| {
        let now = new.joint(old.joint_name(JointId::from_index(joint)));
        now.map_or(GONE, |joint| joint.index() as u32)
    });
    moves.joints.extend(further);
}

/// Parts of colliders: those of the list, then those of bodies that touch with all their shapes.
fn collider_moves(scene: &EditableScene) -> Vec<u32> {
    let touches = |body: &BodyDoc| body.contact.is_some();
    let mut moves = scene.moves::<ColliderDoc>();
    let listed = scene.scene().colliders.len() as u32;
    let bodies = scene.scene().bodies.iter();
    let ranks: Vec<u32> = bodies
        .scan(listed, |next, body| {
            *next += u32::from(touches(body));
            Some(if touches(body) { *next - 1 } else { GONE })
        })
        .collect();
    let touching = scene.handles_before::<BodyDoc>().filter(|&body| scene.before(body).is_some_and(touches));
    let rank = |body: Handle<BodyDoc>| scene.position(body).map_or(GONE, |place| ranks[place]);
    moves.extend(touching.map(rank));
    moves
}

/// Wakes whatever the edit may have disturbed.
pub(super) fn wake_disturbed(scene: &EditableScene, model: &Model, sleep: &mut SleepState) {
    if sleep.n_asleep() == 0 {
        return;
    }
    let new_bodies = || scene.touched::<BodyDoc>().filter(|(body, _)| scene.before(*body).is_none());
    let added: BTreeSet<&str> = new_bodies().map(|(_, body)| body.name.as_str()).collect();
    let is_there = |name: &str| model.mechanism().body(name).is_some();
    let carries = |body: &BodyDoc| body.kind != BodyKindDoc::Dynamic && body.contact.is_some();
    let wakes_all = changed::<PairDoc>(scene).next().is_some()
        || changed::<FleshDoc>(scene).next().is_some()
        || changed::<ColliderDoc>(scene)
            .any(|it| it.body == WORLD || is_there(&it.body) && !added.contains(it.body.as_str()))
        || new_bodies().any(|(_, body)| carries(body));
    if wakes_all {
        sleep.wake_all();
        return;
    }
    let ends = |end: &'_ EndDoc| end.body().map(str::to_owned);
    let mut disturbed: Vec<String> = changed::<BodyDoc>(scene).map(|body| body.name.clone()).collect();
    for joint in changed::<JointDoc>(scene) {
        disturbed.push(joint.child.clone());
        disturbed.extend(joint.parent.clone());
    }
    for gear in changed::<GearDoc>(scene) {
        let joints = [&gear.driver, &gear.driven].map(|joint| scene.find::<JointDoc>(joint));
        let joints = joints.into_iter().flatten().filter_map(|joint| scene.get(joint));
        disturbed.extend(joints.map(|joint| joint.child.clone()));
    }
    disturbed.extend(changed::<SpringDoc>(scene).flat_map(|it| [&it.from, &it.to]).filter_map(ends));
    disturbed.extend(changed::<RopeDoc>(scene).flat_map(|it| &it.path).filter_map(ends));
    for name in disturbed {
        if let Some(body) = model.mechanism().body(&name) {
            sleep.disturb(body);
        }
    }
}

/// What was added, removed or replaced, replaced parts as they were and as they are.
fn changed<P: ScenePart>(scene: &EditableScene) -> impl Iterator<Item = &P> {
    scene.touched::<P>().map(|(_, part)| part).chain(scene.replaced::<P>())
}
