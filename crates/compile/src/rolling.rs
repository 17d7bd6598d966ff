//! Rolling and torsional friction that a scene gives and no step takes.

use sinew_scene::{FleshSteppingDoc, SceneDoc, SceneIssue, SceneIssueKind};

/// The place of the contact of a collider: its own, or that of the body that touches with all its shapes.
fn contact_path(scene: &SceneDoc, collider: usize) -> String {
    let body = || scene.bodies.iter().position(|body| body.name == scene.colliders[collider].body);
    let n_bodies = scene.bodies.iter().filter(|body| body.contact.is_some()).count();
    if collider + n_bodies < scene.colliders.len() {
        format!("colliders[{collider}].contact")
    } else {
        format!("bodies[{}].contact", body().unwrap_or_default())
    }
}

/// Colliders with rolling or torsional friction beside implicit flesh: the place, and the fix.
pub(crate) fn rolling_doubts(scene: &SceneDoc) -> impl Iterator<Item = SceneIssue> + '_ {
    let is_soft = scene.flesh.iter().any(|flesh| flesh.stepping == FleshSteppingDoc::Implicit);
    scene.colliders.iter().enumerate().filter_map(move |(i, collider)| {
        let contact = &collider.contact;
        let field = if contact.rolling_friction > 0.0 {
            "rolling_friction"
        } else if contact.torsional_friction > 0.0 {
            "torsional_friction"
        } else {
            return None;
        };
        is_soft.then(|| SceneIssue {
            field: format!("{}.{field}", contact_path(scene, i)),
            kind: SceneIssueKind::OutOfRange,
            message: "it has no effect in a scene with implicit flesh".to_owned(),
            hint: "leave it out, or step the flesh with `stepping: Explicit(substeps: 0)`".to_owned(),
        })
    })
}
