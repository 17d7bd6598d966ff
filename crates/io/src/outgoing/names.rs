//! OutNames as a file can hold them: without control characters, not empty, each given once.

use std::collections::{BTreeMap, BTreeSet};

use crate::export_report::ExportReport;
use crate::xml_text::clean;

/// OutNames of one kind of thing in a file.
#[derive(Debug, Default)]
pub(crate) struct OutNames {
    taken: BTreeSet<String>,
    /// Per name that was asked for, the number last tried.
    last: BTreeMap<String, usize>,
}

impl OutNames {
    /// With names that nothing may have.
    pub(crate) fn reserving(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|name| (*name).to_owned()).collect(), last: BTreeMap::new() }
    }

    /// The name, or one like it that nothing has yet.
    pub(crate) fn fresh(&mut self, wanted: &str) -> String {
        let wanted = clean(wanted);
        let base = if wanted.is_empty() { "unnamed".to_owned() } else { wanted };
        if self.taken.insert(base.clone()) {
            return base;
        }
        let last = self.last.entry(base.clone()).or_insert(1);
        loop {
            *last += 1;
            let name = format!("{base}_{last}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// The same for a part of the scene; told if it has another name in the file.
    pub(crate) fn give(&mut self, kind: &str, name: &str, report: &mut ExportReport) -> String {
        let given = self.fresh(name);
        if given != name {
            report.approximated(format!("{kind} `{name}`"), format!("it is called `{given}` in the file"));
        }
        given
    }
}

#[cfg(test)]
mod tests {
    use super::{ExportReport, OutNames};

    #[test]
    fn names_are_given_once_and_can_be_held() {
        let mut names = OutNames::reserving(&["world"]);
        let mut report = ExportReport::default();
        let given: Vec<String> = ["a", "a_2", "a", "a", "", "\n", "world"]
            .iter()
            .map(|name| names.give("body", name, &mut report))
            .collect();
        assert_eq!(given, ["a", "a_2", "a_3", "a_4", "unnamed", "unnamed_2", "world_2"]);
        assert_eq!(report.findings.len(), 5);
    }
}
