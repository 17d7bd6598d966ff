//! Rules for springs and recorded inputs: bodies of the right kind, one track per body, numbers in range.

use std::collections::BTreeMap;

use super::{issues::Issues, lookup::kinds};
use crate::doc::{BodyKindDoc, EndDoc, InputDoc, SceneDoc};
use crate::error::SceneIssueKind as Kind;

/// Springs have no negative numbers and hold at least one body.
pub(super) fn springs_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, spring) in scene.springs.iter().enumerate() {
        let path = format_args!("springs[{i}]");
        let numbers = [
            ("stiffness", spring.stiffness),
            ("damping", spring.damping),
            ("rest_length", spring.rest_length),
        ];
        issues.require_not_negative(path, &numbers);
        if matches!((&spring.from, &spring.to), (EndDoc::World(_), EndDoc::World(_))) {
            let message = "both ends of this spring are fixed to the world";
            issues.add(Kind::NothingToMove, path, message, "make one end Body(name: …, point: …)");
        }
    }
}

/// Stiffness, damping and times are not negative; nothing ends before it starts.
pub(super) fn inputs_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, input) in scene.inputs.iter().enumerate() {
        let path = format_args!("inputs[{i}]");
        match input {
            InputDoc::Kinematic(_) => {}
            InputDoc::Grab(grab) => {
                let numbers = [("stiffness", grab.stiffness), ("damping", grab.damping)];
                issues.require_not_negative(path, &numbers);
                issues.require_window(path, grab.from_s, grab.to_s);
            }
            InputDoc::Wrench(wrench) => issues.require_window(path, wrench.from_s, wrench.to_s),
            InputDoc::FleshGrab(grab) => {
                let numbers = [("stiffness", grab.stiffness), ("damping", grab.damping)];
                issues.require_not_negative(path, &numbers);
                issues.require_window(path, grab.from_s, grab.to_s);
            }
            InputDoc::Pressure(input) => issues.require_window(path, input.from_s, input.to_s),
            InputDoc::Wind(input) => {
                issues.require_not_negative(path, &[("drag", input.drag)]);
                issues.require_window(path, input.from_s, input.to_s);
            }
            InputDoc::JointForces(switch) => {
                issues.require_not_negative(path, &[("scale", switch.scale), ("at_s", switch.at_s)]);
            }
        }
    }
}

/// Tracks move kinematic bodies, one track each; grabs and wrenches act on dynamic ones. Unknown names are left to another
/// rule.
pub(super) fn inputs_fit_their_body(scene: &SceneDoc, issues: &mut Issues) {
    let kinds = kinds(scene);
    let mut followers = BTreeMap::new();
    for (i, input) in scene.inputs.iter().enumerate() {
        let Some(body) = input.body() else { continue };
        let is_moved = matches!(input, InputDoc::Kinematic(_));
        let wanted = if is_moved { BodyKindDoc::Kinematic } else { BodyKindDoc::Dynamic };
        let field = format_args!("inputs[{i}].body");
        if let Some(kind) = kinds.get(body).filter(|kind| **kind != wanted) {
            let message = format!("the body `{body}` is {kind:?}");
            let hint = format!("this input needs a body of kind {wanted:?}");
            issues.add(Kind::WrongBodyKind, field, message, hint);
        } else if wanted == BodyKindDoc::Kinematic && followers.insert(body, i).is_some() {
            let message = format!("the body `{body}` already follows a track");
            issues.add(
                Kind::DuplicateName,
                field,
                message,
                "remove one of the inputs: a body follows one track",
            );
        }
    }
}
