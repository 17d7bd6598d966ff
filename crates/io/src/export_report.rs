//! What became of each part of a scene that was written in another format: used, approximated or left out. Nothing is dropped in silence.

use std::collections::BTreeMap;
use std::fmt;

/// What became of a part of a scene, if the file does not hold it just as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportOutcome {
    /// Written, but not just as it is meant.
    Approximated,
    /// Not written.
    LeftOut,
}

impl ExportOutcome {
    /// Both, in the order of a summary.
    pub const ALL: [Self; 2] = [Self::Approximated, Self::LeftOut];

    /// Its name in a summary.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approximated => "approximated",
            Self::LeftOut => "left out",
        }
    }
}

/// Parts of a scene of which the same is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportFinding {
    /// What became of them.
    pub outcome: ExportOutcome,
    /// Their kind and name, as ``joint `elbow` ``.
    pub parts: Vec<String>,
    /// What was done, and why.
    pub what: String,
}

/// What became of a scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportReport {
    /// How many parts of each kind were written.
    pub used: BTreeMap<&'static str, usize>,
    /// What was not written just as it is, in the order in which it was met.
    pub findings: Vec<ExportFinding>,
}

impl ExportReport {
    /// Counts `n` more parts of a kind as written, for instance `joints`.
    pub(crate) fn count(&mut self, kind: &'static str, n: usize) {
        if n > 0 {
            *self.used.entry(kind).or_default() += n;
        }
    }

    /// Notes a part that the file holds differently.
    pub(crate) fn approximated(&mut self, part: impl Into<String>, what: impl Into<String>) {
        self.note(ExportOutcome::Approximated, part.into(), what.into());
    }

    /// Notes a part that the file does not hold.
    pub(crate) fn left_out(&mut self, part: impl Into<String>, what: impl Into<String>) {
        self.note(ExportOutcome::LeftOut, part.into(), what.into());
    }

    /// Adds a part to the finding that says the same.
    fn note(&mut self, outcome: ExportOutcome, part: String, what: String) {
        let same = self.findings.iter_mut().find(|it| it.outcome == outcome && it.what == what);
        match same {
            Some(finding) if finding.parts.last() == Some(&part) => {}
            Some(finding) => finding.parts.push(part),
            None => self.findings.push(ExportFinding { outcome, parts: vec![part], what }),
        }
    }

    /// The findings of one outcome.
    pub fn of(&self, outcome: ExportOutcome) -> impl Iterator<Item = &ExportFinding> {
        self.findings.iter().filter(move |finding| finding.outcome == outcome)
    }
}

/// Most parts of a finding that a summary names.
const NAMED: usize = 6;

impl fmt::Display for ExportFinding {
    /// The parts, then what became of them.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, named) = (self.parts.len(), &self.parts[..self.parts.len().min(NAMED)]);
        out.write_str(&named.join(", "))?;
        if n > NAMED {
            write!(out, " and {} more", n - NAMED)?;
        }
        write!(out, ": {}", self.what)
    }
}

impl fmt::Display for ExportReport {
    /// The summary: counts, then each finding with its parts.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used: Vec<String> = self.used.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        let used = if used.is_empty() { "nothing".to_owned() } else { used.join(", ") };
        write!(out, "used           {used}")?;
        for outcome in ExportOutcome::ALL {
            for finding in self.of(outcome) {
                write!(out, "\n{:<14} {finding}", outcome.name())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::ExportReport;

    #[test]
    fn parts_of_which_the_same_is_told_share_a_line() {
        let mut report = ExportReport::default();
        report.count("joints", 9);
        (0..8).for_each(|i| report.left_out(format!("joint `j{i}`"), "too stiff"));
        report.left_out("joint `j7`", "too stiff");
        report.approximated("rope `r`", "it is a spring");
        let text = report.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(lines[1], "approximated   rope `r`: it is a spring");
        assert!(lines[2].ends_with("joint `j5` and 2 more: too stiff"), "{text}");
    }
}
