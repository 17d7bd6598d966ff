//! Rules for changes on the way: times in order, numbers in range, and a scene that keeps every other rule after each of them.

use super::{Issues, RULES};
use crate::doc::{ChangeDoc, SceneDoc};
use crate::error::{SceneIssue, SceneIssueKind as Kind};

/// Changes come one after the other, not before the beginning, and each changes something.
pub(super) fn changes_are_in_order(scene: &SceneDoc, issues: &mut Issues) {
    for (i, change) in scene.changes.iter().enumerate() {
        let at = || format!("changes[{i}].at_s");
        issues.require_not_negative(change.at_s, at);
        if i > 0 && change.at_s <= scene.changes[i - 1].at_s {
            let message = format!("{} s does not come after {} s", change.at_s, scene.changes[i - 1].at_s);
            issues.add(Kind::UnorderedTimes, at(), message, "list times in increasing order");
        }
        if change.is_empty() {
            let hint = "say what changes, for instance gravity: (0, 0, 0)";
            issues.add(Kind::Empty, format!("changes[{i}]"), "this changes nothing", hint);
        }
    }
}

/// Factors are not negative, and flesh and contacts stay stiff.
pub(super) fn changes_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, change) in scene.changes.iter().enumerate() {
        for (name, factor) in change.factors() {
            let (factor, field) = (factor.unwrap_or(1.0), || format!("changes[{i}].{name}"));
            if is_positive(name) {
                issues.require_positive(factor, field);
            } else {
                issues.require_not_negative(factor, field);
            }
        }
    }
}

/// After every change the scene keeps all the other rules. What a change breaks is told where the change says it; what was broken
/// before is not told again.
pub(super) fn changes_keep_the_rules(scene: &SceneDoc, issues: &mut Issues) {
    if scene.changes.is_empty() {
        return;
    }
    let mut known = broken(scene.after_changes(0));
    for i in 0..scene.changes.len() {
        let mut settings = scene.settings_after(i);
        for (name, part) in scene.changes[i].parts() {
            if is_out_of_range(&part) {
                continue;
            }
            settings.merge(&part);
            let mut changed = SceneDoc { changes: Vec::new(), ..scene.clone() };
            changed.apply(&settings);
            let found = broken(changed);
            for issue in found.iter().filter(|issue| !known.contains(issue)) {
                let (field, message) = told(issue, name);
                let field = format!("changes[{i}].{field}");
                if !issues.0.iter().any(|other| other.field == field && other.kind == issue.kind) {
                    issues.add(issue.kind, field, message, issue.hint.clone());
                }
            }
            known = found;
        }
    }
}

/// Whether another rule complains about a factor.
fn is_out_of_range(part: &ChangeDoc) -> bool {
    let is_good =
        |name, factor: f64| factor.is_finite() && factor >= 0.0 && (factor > 0.0 || !is_positive(name));
    part.factors().into_iter().any(|(name, factor)| factor.is_some_and(|factor| !is_good(name, factor)))
}

/// Whether a factor has to be above 0: without stiffness there is neither flesh nor contact.
fn is_positive(name: &str) -> bool {
    matches!(name, "flesh_stiffness" | "contact_stiffness")
}

/// What is wrong with a scene without changes.
fn broken(scene: SceneDoc) -> Vec<SceneIssue> {
    let mut issues = Issues(Vec::new());
    RULES.iter().for_each(|rule| rule(&scene, &mut issues));
    issues.0
}

/// Where in a change an issue belongs, and what to say: what a setting breaks elsewhere is named.
fn told(issue: &SceneIssue, name: &str) -> (String, String) {
    let rest = issue.field.strip_prefix(name);
    let is_own = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    if is_own {
        (issue.field.clone(), issue.message.clone())
    } else {
        (name.to_owned(), format!("with this, at {}: {}", issue.field, issue.message))
    }
}
