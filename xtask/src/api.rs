//! Listings of the public API under review: `docs/api/PACKAGE.txt`, one line per item. A change of the API is a change of
//! these files, which a reviewer sees. Types of other packages in signatures are refused, and enums of errors that cannot
//! grow (ADR 0043).

use std::fs;
use std::path::PathBuf;

use crate::api_source::{ApiSource, Listing};
use crate::release::published_libraries;
use crate::shell::{TaskFailure, TaskOutcome, relative, root, verdict};
use crate::source::{files_below, read};

/// Packages whose types a library shows on purpose: the studio draws itself into windows of eframe.
const SHOWN: &[(&str, &[&str])] = &[("sinew-studio", &["egui", "eframe"])];

const HEADER: &str = "\
# The public API, one item per line, sorted by path. Made by `cargo xtask api`, checked by `cargo xtask api --check`.
# Read from the sources: what any feature gives is listed, macros are named but not expanded, `#[optional(…)]` is derived with a
# feature, and a method of a trait ends with `;` if it has no default.
";

/// Writes the listings, or compares them with the sources.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    match args {
        [] => write(),
        [flag] if flag == "--check" => check(),
        [extra, ..] => Err(TaskFailure::Usage(format!("unexpected argument `{extra}`"))),
    }
}

fn write() -> TaskOutcome {
    let folder = folder();
    let failed = |error: std::io::Error| TaskFailure::Check(format!("{}: {error}", relative(&folder)));
    fs::create_dir_all(&folder).map_err(failed)?;
    for path in files_below(&folder, ".txt") {
        fs::remove_file(path).map_err(failed)?;
    }
    for (package, listing) in listings()? {
        fs::write(folder.join(format!("{package}.txt")), text(&listing)).map_err(failed)?;
    }
    check()
}

pub(crate) fn check() -> TaskOutcome {
    let mut faults = Vec::new();
    let listings = listings()?;
    for (package, listing) in &listings {
        let (written, now) = (read(&folder().join(format!("{package}.txt"))), text(listing));
        if let Some(difference) = first_difference(&written, &now) {
            faults.push(format!("docs/api/{package}.txt {difference}; `cargo xtask api` writes it anew"));
        }
        faults.extend(listing.foreign.iter().map(|name| format!("type of another package: {name}")));
        let closed = listing.lines.iter().filter(|(path, line)| is_closed_error(path, line));
        faults.extend(
            closed.map(|(path, _)| format!("an error that cannot grow: {path} is not non_exhaustive")),
        );
    }
    let known = |path: &PathBuf| listings.iter().any(|(package, _)| path.ends_with(format!("{package}.txt")));
    let lost = files_below(&folder(), ".txt").into_iter().filter(|path| !known(path));
    faults.extend(lost.map(|path| format!("{} lists no published library", relative(&path))));
    let n: usize = listings.iter().map(|(_, listing)| listing.lines.len()).sum();
    verdict("api", &faults, &format!("{n} public items of {} libraries are as listed", listings.len()))
}

fn folder() -> PathBuf {
    root().join("docs/api")
}

fn listings() -> Result<Vec<(String, Listing)>, TaskFailure> {
    let libraries = published_libraries()?.into_iter();
    let read = libraries.map(|(package, folder)| {
        let shown = SHOWN.iter().find(|(name, _)| *name == package).map_or(&[][..], |(_, shown)| shown);
        let listing = ApiSource::read(&root().join(folder), &package, shown).listing();
        (package, listing)
    });
    Ok(read.collect())
}

fn text(listing: &Listing) -> String {
    let lines = listing.lines.iter().map(|(_, line)| format!("{}\n", line.trim()));
    HEADER.chars().chain(lines.collect::<String>().chars()).collect()
}

/// Whether a line declares an enum of errors to which no error can be added.
fn is_closed_error(path: &str, line: &str) -> bool {
    path.ends_with("Error") && line.contains("pub enum ") && !line.contains("#[non_exhaustive]")
}

/// What was listed first that is there no more, or the first that is new.
fn first_difference(written: &str, now: &str) -> Option<String> {
    if written.is_empty() {
        return Some("is missing".into());
    }
    let missing = |from: &str, of: &str| -> Vec<String> {
        let of: std::collections::BTreeSet<&str> = of.lines().collect();
        from.lines().filter(|line| !of.contains(line)).map(String::from).collect()
    };
    let (gone, new) = (missing(written, now), missing(now, written));
    match (gone.first(), new.first()) {
        (Some(gone), Some(new)) => Some(format!("has changed: `{gone}` is now `{new}`, or gone")),
        (Some(gone), None) => Some(format!("has changed: `{gone}` is gone")),
        (None, Some(new)) => Some(format!("has changed: `{new}` is new")),
        (None, None) => (written != now).then(|| "has its lines in another order".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{check, first_difference, is_closed_error};

    #[test]
    fn the_listings_are_those_of_the_sources() {
        check().unwrap_or_else(|failure| panic!("{failure:?}"));
    }

    #[test]
    fn errors_must_be_able_to_grow() {
        assert!(is_closed_error("a::BadError", "#[derive(Debug)] pub enum a::BadError"));
        assert!(!is_closed_error("a::GoodError", "#[non_exhaustive] pub enum a::GoodError"));
        assert!(!is_closed_error("a::GoodError", "impl Display for GoodError"));
    }

    #[test]
    fn differences_name_the_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\n", "a\nb\n"), Some("has changed: `b` is new".into()));
        assert_eq!(first_difference("a\nb\n", "a\n"), Some("has changed: `b` is gone".into()));
        assert_eq!(first_difference("b\na\n", "a\nb\n"), Some("has its lines in another order".into()));
    }
}
