//! Rules for springs and recorded inputs.

use std::collections::BTreeMap;

use super::{Issues, kinds};
use crate::doc::{BodyKindDoc, EndDoc, InputDoc, SceneDoc};
use crate::error::SceneIssueKind as Kind;

/// Springs have no negative numbers and hold at least one body.
pub(super) fn springs_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, spring) in scene.springs.iter().enumerate() {
        issues.require_not_negative(spring.stiffness, || format!("springs[{i}].stiffness"));
        issues.require_not_negative(spring.damping, || format!("springs[{i}].damping"));
        issues.require_not_negative(spring.rest_length, || format!("springs[{i}].rest_length"));
        if matches!((&spring.from, &spring.to), (EndDoc::World(_), EndDoc::World(_))) {
            let hint = "make one end Body(name: …, point: …)";
            issues.add(
                Kind::NothingToMove,
                format!("springs[{i}]"),
                "both ends of this spring are in the world",
                hint,
            );
        }
    }
}

/// Stiffness, damping and times are not negative; nothing ends before it begins.
pub(super) fn inputs_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, input) in scene.inputs.iter().enumerate() {
        let field = |name: &str| format!("inputs[{i}].{name}");
        let (from, to) = match input {
            InputDoc::Kinematic(_) => (0.0, None),
            InputDoc::Grab(grab) => {
                issues.require_not_negative(grab.stiffness, || field("stiffness"));
                issues.require_not_negative(grab.damping, || field("damping"));
                (grab.from_s, grab.to_s)
            }
            InputDoc::Wrench(wrench) => (wrench.from_s, wrench.to_s),
            InputDoc::JointForces(switch) => {
                issues.require_not_negative(switch.scale, || field("scale"));
                issues.require_not_negative(switch.at_s, || field("at_s"));
                (0.0, None)
            }
        };
        issues.require_window(from, to, field);
    }
}

/// Tracks move kinematic bodies, one track each; forces move dynamic ones. Unknown names are left to another rule.
pub(super) fn inputs_fit_their_body(scene: &SceneDoc, issues: &mut Issues) {
    let kinds = kinds(scene);
    let mut followers = BTreeMap::new();
    for (i, input) in scene.inputs.iter().enumerate() {
        let (body, wanted) = match input {
            InputDoc::Kinematic(input) => (&input.body, BodyKindDoc::Kinematic),
            InputDoc::Grab(input) => (&input.body, BodyKindDoc::Dynamic),
            InputDoc::Wrench(input) => (&input.body, BodyKindDoc::Dynamic),
            InputDoc::JointForces(_) => continue,
        };
        let field = format!("inputs[{i}].body");
        if let Some(kind) = kinds.get(body.as_str()).filter(|kind| **kind != wanted) {
            let message = format!("`{body}` is {kind:?}");
            issues.add(
                Kind::WrongBodyKind,
                field,
                message,
                format!("this input needs a body of kind {wanted:?}"),
            );
        } else if wanted == BodyKindDoc::Kinematic && followers.insert(body, i).is_some() {
            let message = format!("`{body}` already follows a track");
            issues.add(Kind::DuplicateName, field, message, "a body follows one track");
        }
    }
}
