//! What became of each part of a file that was read: used, repaired, approximated or ignored. Nothing is dropped in silence.

use std::collections::BTreeMap;
use std::fmt;

use sinew_scene::SceneDoc;

/// What became of a part of a file, if it was not used just as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Wrong in the file, and put right: windings that are turned, vertices that are joined.
    Repaired,
    /// Used, but not just as it is meant.
    Approximated,
    /// Not used.
    Ignored,
}

impl Outcome {
    /// All of them, in the order of a summary.
    pub const ALL: [Self; 3] = [Self::Repaired, Self::Approximated, Self::Ignored];

    /// Its name in a summary.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::Approximated => "approximated",
            Self::Ignored => "ignored",
        }
    }
}

/// Where something is in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePlace {
    /// The file, as it was named.
    pub file: String,
    /// Its line, from 1; 0 if lines mean nothing there.
    pub line: u32,
    /// The element: a tag with its name, a node, a chunk.
    pub element: String,
}

impl FilePlace {
    /// A place without a line.
    pub fn whole(file: impl Into<String>) -> Self {
        Self { file: file.into(), ..Self::default() }
    }
}

impl fmt::Display for FilePlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.file)?;
        if self.line > 0 {
            write!(out, ":{}", self.line)?;
        }
        if !self.element.is_empty() {
            write!(out, ": {}", self.element)?;
        }
        Ok(())
    }
}

/// A part of a file that was not used just as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFinding {
    /// What became of it.
    pub outcome: Outcome,
    /// Where it is.
    pub place: FilePlace,
    /// What was done, and why.
    pub what: String,
}

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportReport {
    /// How many parts of each kind were used.
    pub used: BTreeMap<&'static str, usize>,
    /// What was not used just as it is written, in the order of the file.
    pub findings: Vec<ImportFinding>,
    /// Where bodies and joints of the scene come from, by name.
    bodies: BTreeMap<String, FilePlace>,
    joints: BTreeMap<String, FilePlace>,
}

impl ImportReport {
    /// Counts `n` more parts of a kind as used, for instance `links`.
    pub fn count(&mut self, kind: &'static str, n: usize) {
        if n > 0 {
            *self.used.entry(kind).or_default() += n;
        }
    }

    /// Notes a part that was not used just as it is written.
    pub fn note(&mut self, outcome: Outcome, place: FilePlace, what: impl Into<String>) {
        self.findings.push(ImportFinding { outcome, place, what: what.into() });
    }

    /// Where a field of the scene, such as `joints[3].limits`, comes from; none if that is not known.
    pub fn place_of(&self, scene: &SceneDoc, field: &str) -> Option<&FilePlace> {
        let (list, rest) = field.split_once('[')?;
        let number: usize = rest.split_once(']')?.0.parse().ok()?;
        match list {
            "bodies" => self.bodies.get(&scene.bodies.get(number)?.name),
            "joints" => self.joints.get(&scene.joints.get(number)?.name),
            _ => None,
        }
    }

    /// Remembers where a body comes from.
    pub(crate) fn place_body(&mut self, name: &str, place: &FilePlace) {
        self.bodies.insert(name.to_owned(), place.clone());
    }

    /// Remembers where a joint comes from.
    pub(crate) fn place_joint(&mut self, name: &str, place: &FilePlace) {
        self.joints.insert(name.to_owned(), place.clone());
    }

    /// The findings of one outcome.
    pub fn of(&self, outcome: Outcome) -> impl Iterator<Item = &ImportFinding> {
        self.findings.iter().filter(move |finding| finding.outcome == outcome)
    }

    /// Findings by file and line.
    pub(crate) fn sort(&mut self) {
        self.findings.sort_by(|a, b| a.place.cmp(&b.place));
    }
}

/// Most lines of findings that a summary prints of one outcome.
const SHOWN: usize = 50;

impl fmt::Display for ImportReport {
    /// The summary: counts, then each finding with its place.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used: Vec<String> = self.used.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        write!(
            out,
            "used           {}",
            if used.is_empty() { "nothing".to_owned() } else { used.join(", ") }
        )?;
        for outcome in Outcome::ALL {
            let n = self.of(outcome).count();
            for finding in self.of(outcome).take(SHOWN) {
                write!(out, "\n{:<14} {}: {}", outcome.name(), finding.place, finding.what)?;
            }
            if n > SHOWN {
                write!(out, "\n{:<14} and {} more", outcome.name(), n - SHOWN)?;
            }
        }
        Ok(())
    }
}
