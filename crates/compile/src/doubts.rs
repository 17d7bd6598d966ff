//! What of a scene is probably not meant: meshes in other units, decompositions that are too coarse, bodies that fall through everything, sink in or turn too fast, friction without effect, tracks that overshoot or lose turns. Linear
//! cost.

use std::{collections::BTreeSet, f64::consts::PI};

use sinew_scene::{
    BodyDoc, BodyKindDoc, ContactDoc, EndDoc, FirmnessDoc, InputDoc, SceneDoc, SceneIssue, SceneIssueKind,
};

use crate::{
    collider_meshes::ColliderMeshes, flesh::PreparedFlesh, long_turns::long_turns, overshoot::overshooting,
    rolling::rolling_doubts, units::other_units,
};

/// The doubts about a scene, its generators written out: the place, and the fix.
pub(crate) fn doubts(
    scene: &SceneDoc,
    flesh: &PreparedFlesh,
    meshes: &ColliderMeshes<'_>,
) -> Vec<SceneIssue> {
    let mut found = other_units(scene, flesh, meshes);
    found.extend(meshes.coarse().map(|(i, n, reach)| {
        SceneIssue {
            field: format!("colliders[{i}].shape"),
            kind: SceneIssueKind::OutOfRange,
            message: format!(
                "its parts ({n}) reach out of the mesh by {:.3} mm, more than the tolerance",
                1e3 * reach
            ),
            hint:
                "use a larger max_parts or tolerance; if that does not help, turn the mesh or cut it by hand"
                    .to_owned(),
        }
    }));
    found.extend(fall_through(scene));
    found.extend(thin_contacts(scene));
    found.extend(too_fast_turns(scene));
    found.extend(rolling_doubts(scene));
    found.extend(overshooting(scene));
    found.extend(long_turns(scene));
    found
}

/// Loose bodies that have shapes and no collider, in a scene where others touch.
pub(crate) fn fall_through(scene: &SceneDoc) -> Vec<SceneIssue> {
    let is_touching = scene.colliders.iter().any(|collider| !collider.sensor)
        || scene.bodies.iter().any(|body| body.contact.is_some())
        || scene.flesh.iter().any(|flesh| flesh.contact.is_some());
    let is_ghost = |body: &BodyDoc| {
        body.kind == BodyKindDoc::Dynamic && !body.shapes.is_empty() && body.contact.is_none()
    };
    let mut loose: Vec<usize> = (0..scene.bodies.len()).filter(|&i| is_ghost(&scene.bodies[i])).collect();
    if !is_touching || loose.is_empty() {
        return Vec::new();
    }
    let held = held(scene);
    loose.retain(|&i| !held.contains(scene.bodies[i].name.as_str()));
    let doubt = |i: usize| SceneIssue {
        field: format!("bodies[{i}]"),
        kind: SceneIssueKind::BadCollider,
        message: format!("`{}` has no collider, so it falls through everything", scene.bodies[i].name),
        hint: "give it contact: ()".to_owned(),
    };
    loose.into_iter().map(doubt).collect()
}

/// Bodies thinner than this sink into others by a visible part of themselves, m: contacts give way by 0.1 mm under their weight.
const THIN: f64 = 2.5e-4;

/// Bodies that are so thin that contacts of the firmness `Auto` let them sink in visibly.
pub(crate) fn thin_contacts(scene: &SceneDoc) -> Vec<SceneIssue> {
    let is_soft = |contact: &ContactDoc| contact.firmness == FirmnessDoc::Auto;
    let thinnest = |body: &BodyDoc| {
        let own = body.shapes.iter().map(|shape| 2.0 * shape.solid.half_extents().min_element());
        let own = own.filter(|_| body.contact.as_ref().is_some_and(is_soft));
        own.fold(f64::INFINITY, f64::min)
    };
    let doubt = |(i, body): (usize, &BodyDoc)| {
        let thin = if body.kind == BodyKindDoc::Dynamic { thinnest(body) } else { f64::INFINITY };
        (thin < THIN).then(|| SceneIssue {
            field: format!("bodies[{i}].contact"),
            kind: SceneIssueKind::OutOfRange,
            message: format!(
                "`{}` is {:.3} mm thick, and contacts let it sink in by up to 0.1 mm under its weight",
                body.name,
                1e3 * thin
            ),
            hint: "use firmness: Scaled(stiffness: 1000, damping: 30) or more, or larger units".to_owned(),
        })
    };
    scene.bodies.iter().enumerate().filter_map(doubt).collect()
}

/// Kinematic bodies that keep a velocity with which they turn by more than half a turn in a step: between two poses they go the short way.
fn too_fast_turns(scene: &SceneDoc) -> Vec<SceneIssue> {
    let is_led = |body: &BodyDoc| {
        let led = |input: &InputDoc| matches!(input, InputDoc::Kinematic(input) if input.body == body.name);
        scene.inputs.iter().any(led)
    };
    let turns = |body: &BodyDoc| {
        body.kind == BodyKindDoc::Kinematic && body.velocity.angular.length() * scene.dt > PI && !is_led(body)
    };
    let doubt = |(i, body): (usize, &BodyDoc)| {
        turns(body).then(|| SceneIssue {
            field: format!("bodies[{i}].velocity"),
            kind: SceneIssueKind::OutOfRange,
            message: format!(
                "`{}` turns by more than half a turn in a step, and a step takes it the short way",
                body.name
            ),
            hint: "use a shorter dt, or a Dynamic body on a Hinge with a motor".to_owned(),
        })
    };
    scene.bodies.iter().enumerate().filter_map(doubt).collect()
}

/// Bodies with a collider or flesh, and those that something holds.
fn held(scene: &SceneDoc) -> BTreeSet<&str> {
    let joints = scene.joints.iter().flat_map(|joint| [Some(joint.child.as_str()), joint.parent.as_deref()]);
    let springs = scene.springs.iter().flat_map(|spring| [spring.from.body(), spring.to.body()]);
    let ropes = scene.ropes.iter().flat_map(|rope| rope.path.iter().map(EndDoc::body));
    let flesh = scene.flesh.iter().flat_map(|flesh| &flesh.attach);
    // flesh that names no body may have any
    let bones = flesh.flat_map(|attach| match &attach.body {
        Some(body) => vec![Some(body.as_str())],
        None => scene.bodies.iter().map(|body| Some(body.name.as_str())).collect(),
    });
    let colliders = scene.colliders.iter().map(|collider| Some(collider.body.as_str()));
    joints.chain(springs).chain(ropes).chain(bones).chain(colliders).flatten().collect()
}
