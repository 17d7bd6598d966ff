//! The format number of scene files.
//!
//! Every file states the format it was written in. The number is read first, since the fields of another format may be
//! unknown to this version. When a format 2 appears, `upgrade` rewrites the text of older formats step by step.

use crate::error::{SceneIssue, SceneIssueKind};
use crate::outline::TextNode;

/// The format this version reads and writes.
pub(crate) const FORMAT: u32 = 1;

/// Brings `text`, whose outline is `root`, to [`FORMAT`]; there is no older format yet.
pub(crate) fn upgrade<'t>(text: &'t str, root: &TextNode<'_>) -> Result<&'t str, SceneIssue> {
    let written = root.field("format").map(|node| &text[node.span.clone()]);
    let message = match written.map(str::parse) {
        Some(Ok(FORMAT)) => return Ok(text),
        Some(Ok(newer)) if newer > FORMAT => format!("format {newer} needs a newer program"),
        Some(_) => "this is not a format number".to_owned(),
        None => "the format number is missing".to_owned(),
    };
    Err(SceneIssue {
        field: "format".to_owned(),
        kind: SceneIssueKind::UnsupportedFormat,
        message,
        hint: format!("write format: {FORMAT}"),
    })
}
