//! What joints have that a stepper cannot obey: it is refused, not dropped.
//!
//! Displacement steps predict bodies one by one, so an armature would resist some motions of a joint and not others.
//!
//! Joint coordinates are exact, so nothing yields; a drive would need its accelerations; forces act along single coordinates and on the rotation
//! of ball joints; and an armature inside a joint that closes a loop resists nothing, for that joint has no coordinate.

use sinew_engine::ReducedModel;
use sinew_mechanism::{JointId, Model};
use sinew_scene::{JointDoc, JointKind, SceneDoc, StepperDoc};

use crate::error::{BuildError, joint_path};

/// Refuses armatures in displacement steps.
pub(crate) fn refuse_armatures(scene: &SceneDoc, expanded: &SceneDoc) -> Result<(), BuildError> {
    let has_armature = |doc: &&JointDoc| {
        let free = doc.free.iter().flat_map(|free| free.coordinates());
        doc.armature > 0.0 || free.flat_map(|(_, forces)| forces).any(|forces| forces.armature > 0.0)
    };
    if !matches!(scene.stepper, StepperDoc::Displacement(_)) {
        return Ok(());
    }
    expanded.joints.iter().find(has_armature).map_or(Ok(()), |doc| {
        Err(BuildError::Unsupported {
            field: joint_path(scene, &doc.name),
            what: "displacement steps do not know the armature of a joint",
            hint: "leave it out, give its body more inertia, or use another stepper",
        })
    })
}

/// Refuses the first joint that has something which is dropped; `expanded` is the scene with its generators written out.
pub(crate) fn refuse_dropped(
    scene: &SceneDoc,
    expanded: &SceneDoc,
    (mechanism, reduced): (&Model, &ReducedModel),
) -> Result<(), BuildError> {
    for doc in &expanded.joints {
        let Some(joint) = mechanism.joint(&doc.name) else { continue };
        if let Some(what) = dropped(doc, joint, (mechanism, reduced)) {
            let message = format!(
                "joint `{}` has {what}, which joint coordinates do not know; use another stepper",
                doc.name
            );
            return Err(BuildError::Reduced { field: joint_path(scene, &doc.name), message });
        }
    }
    Ok(())
}

/// What of a joint would be dropped.
fn dropped(
    doc: &JointDoc,
    joint: JointId,
    (mechanism, reduced): (&Model, &ReducedModel),
) -> Option<&'static str> {
    let in_tree = mechanism.is_tree_joint(joint);
    let is_passive = || {
        let link = reduced.tree().links().find(|&link| reduced.tree().joint(link) == Some(joint));
        let actuation = reduced.controller().map(|controller| controller.actuation());
        !link.zip(actuation).is_some_and(|(link, actuation)| actuation.is_active(link))
    };
    let turns_about_two = matches!(doc.kind, JointKind::Universal) && in_tree;
    if doc.drive.is_some() {
        Some("a drive")
    } else if doc.compliance > 0.0 {
        Some("a compliance")
    } else if doc.armature > 0.0 && !in_tree {
        Some("an armature and closes a loop")
    } else if turns_about_two && mechanism.has_rotation_force(joint) && is_passive() {
        Some("forces on a rotation about two axes")
    } else {
        None
    }
}
