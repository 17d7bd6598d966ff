//! Replacing one value in the text of a scene, for `--set` and sweeps.

use crate::left_out::left_out_vector;
use crate::outline::TextNode;
use crate::path::{Step, component_index, follow, parse_path, replace};
use crate::path_fault::{component_fault, path_fault};
use crate::read::{Complaint, outline, read};

/// Why a value cannot be replaced.
pub(crate) enum EditFault {
    /// The new value is not one RON value.
    BadValue,
    /// There is no value at the path.
    NoSuchPath,
    /// The same, with message and hint: what is missing, and what there is.
    NotThere(String, String),
    /// This text, before or after the edit, is not well-formed.
    Malformed(String, Complaint),
    /// The value does not fit; it begins at this byte of the edited text.
    Unreadable(usize, Complaint),
}

/// `text` with `value` at `path`, replaced where it stands, or added where it was left out. Types are checked, rules are not.
pub(crate) fn with_value(text: &str, path: &str, value: &str) -> Result<String, EditFault> {
    if outline(value).is_err() {
        return Err(EditFault::BadValue);
    }
    let malformed = |text: &str| {
        let text = text.to_owned();
        |complaint| EditFault::Malformed(text, complaint)
    };
    let root = outline(text).map_err(malformed(text))?;
    let steps = parse_path(path).ok_or(EditFault::NoSuchPath)?;
    let written = with_left_out_vector(text, &root, &steps);
    let edited = match &written {
        Some(text) => outline(text).ok().and_then(|root| replace(text, &root, &steps, value)),
        None => replace(text, &root, &steps, value),
    };
    let explained = |(message, hint)| EditFault::NotThere(message, hint);
    let Some((edited, at)) = edited else {
        let fault = path_fault(text, &root, &steps).or_else(|| component_fault(text, &root, &steps));
        return Err(fault.map_or(EditFault::NoSuchPath, explained));
    };
    let new_root = outline(&edited).map_err(malformed(&edited))?;
    match read(&edited, &new_root) {
        Ok(_) => Ok(edited),
        Err(complaint) => {
            let fault = component_fault(text, &root, &steps).map(explained);
            Err(fault.unwrap_or(EditFault::Unreadable(at, complaint)))
        }
    }
}

/// `text` with the vector of a path that names one of its components, if it was left out: it has the usual value with which the scene stays the
/// same.
fn with_left_out_vector(text: &str, root: &TextNode<'_>, steps: &[Step<'_>]) -> Option<String> {
    let (last, parent) = steps.split_last()?;
    let is_component = match last {
        Step::Index(_) => true,
        Step::Field(name) => component_index(name).is_some(),
        Step::Named(_) => false,
    };
    let is_written = follow(text, root, parent).1.is_empty();
    if !is_component || is_written {
        return None;
    }
    left_out_vector(text, root, parent).map(|(edited, _)| edited)
}

#[cfg(test)]
mod tests {
    use super::with_value;

    #[test]
    fn components_of_vectors_that_were_left_out_can_be_set() {
        let text = r#"(format: 1, bodies: [(name: "a", shapes: [Sphere(radius: 1)])])"#;
        let set = |path| with_value(text, path, "7").ok();
        let gravity = set("gravity[2]").expect("a component");
        assert!(gravity.contains("gravity: (0, 0, 7)") && set("gravity.z") == Some(gravity));
        assert!(set("gravity.x").is_some_and(|text| text.contains("gravity: (7, 0, -9.81)")));
        let placed = set("bodies[\"a\"].pose.position.y").expect("a component");
        assert!(placed.contains("pose: (position: (0, 7, 0))"), "{placed}");
        let twice = with_value(&placed, "bodies[0].pose.position.x", "8").ok();
        assert!(twice.is_some_and(|text| text.contains("pose: (position: (8, 7, 0))")));
        assert_eq!(
            [set("gravity.u"), set("gravity[3]"), set("bodies[1].pose.position.x")],
            [None, None, None]
        );
    }
}
