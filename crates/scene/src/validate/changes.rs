//! Rules for changes during the run: times in order, factors in range, and a scene that keeps every other rule after each
//! change.

use super::issues::Issues;
use crate::doc::{ChangeDoc, SceneDoc};
use crate::error::{SceneIssue, SceneIssueKind as Kind};

/// Changes are in order of time, none is before the start, and each changes something.
pub(super) fn changes_are_in_order(scene: &SceneDoc, issues: &mut Issues) {
    for (i, change) in scene.changes.iter().enumerate() {
        issues.require_not_negative(format_args!("changes[{i}]"), &[("at_s", change.at_s)]);
        let before = i.checked_sub(1).map(|k| scene.changes[k].at_s);
        issues.require_later(before, change.at_s, || format!("changes[{i}].at_s"));
        if change.is_empty() {
            let hint = "add a setting to change, for instance gravity: (0, 0, 0)";
            issues.add(Kind::Empty, format!("changes[{i}]"), "this change changes nothing", hint);
        }
    }
}

/// Factors are not negative; those of flesh and contact stiffness are positive.
pub(super) fn changes_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, change) in scene.changes.iter().enumerate() {
        let path = format!("changes[{i}]");
        for (name, factor) in change.factors() {
            let number = [(name, factor.unwrap_or(1.0))];
            if must_be_positive(name) {
                issues.require_positive(&path, &number);
            } else {
                issues.require_not_negative(&path, &number);
            }
        }
    }
}

/// After every change the scene keeps the rules that `check` knows. An issue is reported at the change that causes it; issues
/// that were there before are not repeated.
pub(super) fn changes_keep_the_rules(
    scene: &SceneDoc,
    issues: &mut Issues,
    check: impl Fn(&SceneDoc) -> Vec<SceneIssue>,
) {
    if scene.changes.is_empty() {
        return;
    }
    let mut known = check(&scene.after_changes(0));
    for i in 0..scene.changes.len() {
        let mut settings = scene.settings_after(i);
        for (name, part) in scene.changes[i].parts() {
            if is_out_of_range(&part) {
                continue;
            }
            settings.merge(&part);
            let mut changed = SceneDoc { changes: Vec::new(), ..scene.clone() };
            changed.apply(&settings);
            let found = check(&changed);
            for issue in found.iter().filter(|issue| !known.contains(issue)) {
                let (field, message) = at_change(issue, name);
                let field = format!("changes[{i}].{field}");
                if !issues.0.iter().any(|other| other.field == field && other.kind == issue.kind) {
                    issues.add(issue.kind, field, message, issue.hint.clone());
                }
            }
            known = found;
        }
    }
}

/// Whether `changes_are_in_range` or `numbers_are_finite` reports a factor.
fn is_out_of_range(part: &ChangeDoc) -> bool {
    let is_good =
        |name, factor: f64| factor.is_finite() && factor >= 0.0 && (factor > 0.0 || !must_be_positive(name));
    part.factors().into_iter().any(|(name, factor)| factor.is_some_and(|factor| !is_good(name, factor)))
}

/// Flesh and contact need some stiffness.
fn must_be_positive(name: &str) -> bool {
    matches!(name, "flesh_stiffness" | "contact_stiffness")
}

/// The field of a change at which an issue is reported, and its message; it names the field that is really wrong if that is
/// another one.
fn at_change(issue: &SceneIssue, name: &str) -> (String, String) {
    let rest = issue.field.strip_prefix(name);
    if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])) {
        (issue.field.clone(), issue.message.clone())
    } else {
        (name.to_owned(), format!("after this change, {}: {}", issue.field, issue.message))
    }
}
