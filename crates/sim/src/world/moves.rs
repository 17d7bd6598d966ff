//! Where an edit moves the numbers of bodies, joints, colliders and flesh, and whom it wakes.

use sinew_compile::WORLD;
use sinew_engine::{Model, PartMoves, SleepState};
use sinew_mechanism::JointId;
use sinew_scene::{
    BodyDoc, BodyKindDoc, ColliderDoc, EditableScene, EndDoc, FleshDoc, GONE, GearDoc, JointDoc, PairDoc,
    RopeDoc, SceneDoc, ScenePart, SpringDoc,
};

/// Per number before, the number now. A body or flesh that the edit puts elsewhere counts as new.
pub(super) fn part_moves(
    (before, old_model): (&EditableScene, &Model),
    (after, model): (&EditableScene, &Model),
) -> PartMoves {
    let mut bodies = after.moves::<BodyDoc>(before);
    for (to, old) in bodies.iter_mut().zip(&before.scene().bodies) {
        let is_same = |new: &BodyDoc| (new.pose, new.velocity) == (old.pose, old.velocity);
        if !after.scene().bodies.get(*to as usize).is_some_and(is_same) {
            *to = GONE;
        }
    }
    let colliders = collider_moves(before, after);
    // The world, where flesh is fixed to it, is the last body.
    if bodies.len() < old_model.mechanism().n_bodies() {
        let ground = after.scene().bodies.len();
        bodies.push(if ground < model.mechanism().n_bodies() { ground as u32 } else { GONE });
    }
    let mut joints = after.moves::<JointDoc>(before);
    // Joints that carry further forces come after those of the scene.
    let (old, new) = (old_model.mechanism(), model.mechanism());
    joints.extend((joints.len()..old.n_joints()).map(|joint| {
        let now = new.joint(old.joint_name(JointId::from_index(joint)));
        now.map_or(GONE, |joint| joint.index() as u32)
    }));
    let mut flesh = after.moves::<FleshDoc>(before);
    for (to, old) in flesh.iter_mut().zip(&before.scene().flesh) {
        let is_same = |new: &FleshDoc| (new.pose, new.velocity) == (old.pose, old.velocity);
        if !after.scene().flesh.get(*to as usize).is_some_and(is_same) {
            *to = GONE;
        }
    }
    PartMoves { bodies, joints, colliders, flesh }
}

/// Parts of colliders: those of the list, then those of bodies that touch with all their shapes.
fn collider_moves(before: &EditableScene, after: &EditableScene) -> Vec<u32> {
    let mut moves = after.moves::<ColliderDoc>(before);
    let touching = |scene: &SceneDoc| {
        let bodies = scene.bodies.iter().enumerate().filter(|(_, body)| body.contact.is_some());
        bodies.map(|(place, _)| place as u32).collect::<Vec<u32>>()
    };
    let (now, listed) = (touching(after.scene()), after.scene().colliders.len() as u32);
    let bodies = after.moves::<BodyDoc>(before);
    let place =
        |body: u32| now.binary_search(&bodies[body as usize]).map_or(GONE, |rank| listed + rank as u32);
    moves.extend(touching(before.scene()).into_iter().map(place));
    moves
}

/// Wakes whatever the edit may have disturbed.
pub(super) fn wake_disturbed(
    (before, after): (&EditableScene, &EditableScene),
    model: &Model,
    sleep: &mut SleepState,
) {
    if sleep.n_asleep() == 0 {
        return;
    }
    let is_new = |name: &str| before.find::<BodyDoc>(name).is_none();
    let is_gone = |name: &str| after.find::<BodyDoc>(name).is_none();
    let carries = |body: &BodyDoc| body.kind != BodyKindDoc::Dynamic && body.contact.is_some();
    let wakes_all = changed::<PairDoc>(before, after).next().is_some()
        || changed::<FleshDoc>(before, after).next().is_some()
        || changed::<ColliderDoc>(before, after)
            .any(|it| it.body == WORLD || !(is_new(&it.body) || is_gone(&it.body)))
        || changed::<BodyDoc>(before, after).any(|body| is_new(&body.name) && carries(body));
    if wakes_all {
        sleep.wake_all();
        return;
    }
    let ends = |end: &'_ EndDoc| end.body().map(str::to_owned);
    let mut disturbed: Vec<String> =
        changed::<BodyDoc>(before, after).map(|body| body.name.clone()).collect();
    for joint in changed::<JointDoc>(before, after) {
        disturbed.push(joint.child.clone());
        disturbed.extend(joint.parent.clone());
    }
    for gear in changed::<GearDoc>(before, after) {
        let joints = [&gear.driver, &gear.driven].map(|joint| after.find::<JointDoc>(joint));
        let joints = joints.into_iter().flatten().filter_map(|joint| after.get(joint));
        disturbed.extend(joints.map(|joint| joint.child.clone()));
    }
    disturbed.extend(changed::<SpringDoc>(before, after).flat_map(|it| [&it.from, &it.to]).filter_map(ends));
    disturbed.extend(changed::<RopeDoc>(before, after).flat_map(|it| &it.path).filter_map(ends));
    for name in disturbed {
        if let Some(body) = model.mechanism().body(&name) {
            sleep.disturb(body);
        }
    }
}

/// What was added, removed or replaced.
fn changed<'a, P: ScenePart>(
    before: &'a EditableScene,
    after: &'a EditableScene,
) -> impl Iterator<Item = &'a P> {
    let new = after.parts::<P>().filter(|(handle, part)| before.get(*handle) != Some(*part));
    let old = before.parts::<P>().filter(|(handle, _)| after.get(*handle).is_none());
    new.chain(old).map(|(_, part)| part)
}
