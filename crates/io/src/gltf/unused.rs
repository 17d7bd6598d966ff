//! What of a file has no effect: listed, so that nothing is dropped in silence.

use std::collections::BTreeSet;

use super::document::Document;
use super::json::JsonItem;
use super::nodes::Nodes;
use crate::error::ImportFault;
use crate::report::{ImportReport, Outcome};

/// Lists at the top that are not read.
const LISTS: [(&str, &str); 4] = [
    ("cameras", "cameras are not used"),
    ("textures", "textures are not used"),
    ("images", "images are not read"),
    ("materials", "materials are not used"),
];

/// Lists what has no effect, whatever becomes of the rest.
pub(super) fn note_unused(
    document: &Document<'_>,
    nodes: &Nodes,
    report: &mut ImportReport,
) -> Result<(), ImportFault> {
    note_nodes(document, nodes, report)?;
    note_meshes(document, nodes, report);
    for (list, what) in LISTS {
        for item in document.entries(list) {
            report.note(Outcome::Ignored, item.place(), what);
        }
    }
    for item in document.entries("scenes").skip(1) {
        report.note(Outcome::Ignored, item.place(), "all nodes are read, whatever scene they are in");
    }
    let root = document.root();
    for name in root.get("extensions").iter().flat_map(JsonItem::keys) {
        report.note(Outcome::Ignored, root.place(), format!("the extension `{name}` is not used"));
    }
    Ok(())
}

/// Nodes that are no joints, have no mesh, and hold none that are or have.
fn note_nodes(document: &Document<'_>, nodes: &Nodes, report: &mut ImportReport) -> Result<(), ImportFault> {
    let mut counts: Vec<bool> = nodes.nodes.iter().map(|node| node.mesh.is_some()).collect();
    let used: BTreeSet<usize> = nodes.nodes.iter().filter_map(|node| node.skin).collect();
    for (number, skin) in document.entries("skins").enumerate() {
        if !used.contains(&number) {
            report.note(Outcome::Ignored, skin.place(), "no node has this skin");
            continue;
        }
        for joint in skin.indices("joints")? {
            counts.get_mut(joint).into_iter().for_each(|counts| *counts = true);
        }
    }
    for &node in nodes.order.iter().rev() {
        if let (true, Some(parent)) = (counts[node], nodes.nodes[node].parent) {
            counts[parent] = true;
        }
    }
    for (node, _) in nodes.nodes.iter().zip(&counts).filter(|(_, counts)| !**counts) {
        report.note(Outcome::Ignored, node.place.clone(), "it has no mesh and is no joint");
    }
    Ok(())
}

/// Meshes of no node, and attributes of vertices that are not read.
fn note_meshes(document: &Document<'_>, nodes: &Nodes, report: &mut ImportReport) {
    let shown: BTreeSet<usize> = nodes.nodes.iter().filter_map(|node| node.mesh).collect();
    for (number, mesh) in document.entries("meshes").enumerate() {
        if !shown.contains(&number) {
            report.note(Outcome::Ignored, mesh.place(), "no node has this mesh");
            continue;
        }
        let is_read =
            |name: &&str| ["POSITION", "JOINTS_", "WEIGHTS_"].iter().any(|read| name.starts_with(read));
        let attributes = mesh.list("primitives").filter_map(|primitive| primitive.get("attributes"));
        let names: BTreeSet<&str> =
            attributes.flat_map(|attributes| attributes.keys().collect::<Vec<_>>()).collect();
        let unread: Vec<&str> = names.into_iter().filter(|name| !is_read(name)).collect();
        if !unread.is_empty() {
            let what = format!("of its vertices {} are not used", unread.join(", "));
            report.note(Outcome::Ignored, mesh.place(), what);
        }
    }
}
