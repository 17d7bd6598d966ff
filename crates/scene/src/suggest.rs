//! Suggestions in error messages: the valid name nearest to a mistyped one, or the list of valid names.

/// A hint for a name that does not exist: the nearest of those that do, else a list of the first twenty.
///
/// ```
/// assert_eq!(sinew_scene::suggestion("pendulm", &["hand", "pendulum"]), "did you mean `pendulum`?");
/// ```
pub fn suggestion<S: AsRef<str>>(found: &str, valid: &[S]) -> String {
    match nearest(found, valid.iter().map(AsRef::as_ref)) {
        Some(name) => format!("did you mean `{name}`?"),
        None if valid.is_empty() => "there are none".to_owned(),
        None => {
            let names: Vec<_> = valid.iter().map(AsRef::as_ref).take(MAX_LISTED).collect();
            let more = if valid.len() > MAX_LISTED { ", …" } else { "" };
            format!("valid are {}{more}", names.join(", "))
        }
    }
}

/// The message for a word on the command line that is neither a file nor a built-in scene.
///
/// ```
/// let said = sinew_scene::no_such_scene("pendulm", &["hand", "pendulum"]);
/// assert!(said.ends_with("(did you mean `pendulum`?)"), "{said}");
/// ```
pub fn no_such_scene<S: AsRef<str>>(word: &str, names: &[S]) -> String {
    let path = std::path::Path::new(word);
    // A word with an extension or a folder is a path, not the name of a scene.
    if path.extension().is_some() || path.components().count() > 1 {
        return format!("{word}: there is no such file");
    }
    let hint = suggestion(word, names);
    format!("{word}: there is no such file, and no built-in scene of that name ({hint})")
}

/// Most names that a hint lists.
const MAX_LISTED: usize = 20;

/// The name with the fewest edits, if they are at most a third of it.
pub(crate) fn nearest<'a>(found: &str, valid: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let budget = 1 + found.chars().count() / 3;
    valid.map(|name| (edits(found, name), name)).filter(|(n, _)| *n <= budget).min().map(|(_, name)| name)
}

/// Insertions, deletions and replacements that turn one word into another; case does not count.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{edits, suggestion};

    #[test]
    fn counts_edits() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("Hinge", "hinge"), 0);
    }

    #[test]
    fn names_the_nearest_or_lists_all() {
        assert_eq!(suggestion("stifness", &["damping", "stiffness"]), "did you mean `stiffness`?");
        assert_eq!(suggestion("zzz", &["damping", "rest"]), "valid are damping, rest");
        assert_eq!(suggestion::<&str>("zzz", &[]), "there are none");
    }
}
