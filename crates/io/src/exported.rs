//! What a writer of robots gives back.

use std::collections::BTreeMap;

use crate::export_report::ExportReport;

/// A scene in the format of another tool, and what became of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Exported {
    /// The text of the file.
    pub text: String,
    /// The files of meshes that it names, to be written beside it.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What was used, approximated and left out.
    pub report: ExportReport,
}
