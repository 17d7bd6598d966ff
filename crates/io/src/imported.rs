//! What reading a file gives.

use sinew_scene::SceneDoc;

use crate::report::ImportReport;

/// A scene made of a file of another tool, and what became of that file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Imported {
    /// The scene, with the contents of the files that it names.
    pub scene: SceneDoc,
    /// What was used, repaired, approximated and ignored.
    pub report: ImportReport,
}
