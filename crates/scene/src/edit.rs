//! Replacing one value in the text of a scene, for `--set` and sweeps.

use crate::path::{parse_path, replace};
use crate::read::{Complaint, outline, read};

/// Why a value cannot be replaced.
pub(crate) enum EditFault {
    /// The new value is not one RON value.
    BadValue,
    /// There is no value at the path.
    NoSuchPath,
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
    let edited = parse_path(path).and_then(|steps| replace(text, &root, &steps, value));
    let (edited, at) = edited.ok_or(EditFault::NoSuchPath)?;
    let root = outline(&edited).map_err(malformed(&edited))?;
    read(&edited, &root).map_err(|complaint| EditFault::Unreadable(at, complaint))?;
    Ok(edited)
}
