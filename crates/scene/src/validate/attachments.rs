//! Rules for the attachment of flesh to bodies: bodies, shapes and nodes exist.

use std::fmt::Display;

use super::issues::Issues;
use super::lookup::{Touchable, touchable};
use crate::doc::{AttachDoc, AttachedDoc, FleshDoc, FleshMeshDoc, SceneDoc};
use crate::{error::SceneIssueKind as Kind, generate::skeleton};

/// Listed nodes exist, bodies near which nodes are attached have shapes, and only characters attach by bone.
pub(super) fn attachments_fit(scene: &SceneDoc, issues: &mut Issues) {
    for (i, flesh) in scene.flesh.iter().enumerate() {
        for (k, attach) in flesh.attach.iter().enumerate() {
            let path = format!("flesh[{i}].attach[{k}]");
            check_body(scene, issues, flesh, attach, &path);
            if let (AttachedDoc::List(nodes), Some(n)) = (&attach.nodes, n_nodes(&flesh.mesh)) {
                for (j, &node) in nodes.iter().enumerate() {
                    require_node(issues, node, n, || format!("{path}.nodes[{j}]"));
                }
            }
        }
    }
}

/// The body to which nodes are attached.
fn check_body(
    scene: &SceneDoc,
    issues: &mut Issues,
    flesh: &FleshDoc,
    attach: &AttachDoc,
    path: impl Display + Copy,
) {
    let no_body_has_shapes =
        || scene.bodies.iter().all(|body| body.shapes.is_empty()) && scene.generators.is_empty();
    match (&attach.nodes, attach.body.as_deref()) {
        (AttachedDoc::OfCharacter(prefix), None) => check_character(scene, issues, flesh, prefix, path),
        (AttachedDoc::OfCharacter(_), Some(_)) => {
            let message = "OfCharacter chooses the bone of each node itself";
            issues.add(Kind::WrongAttachment, format!("{path}.body"), message, "leave the body out");
        }
        (AttachedDoc::Within(_), Some(body)) if touchable(scene, body) == Some(Touchable::NoShapes) => {
            let message = format!("the body `{body}` has no shapes to measure the distance from");
            let hint = "give it shapes, or use List(…) or Inside(low: …, high: …)";
            issues.add(Kind::NoShapes, format!("{path}.body"), message, hint);
        }
        (_, None) if no_body_has_shapes() => {
            let message = "no body has shapes to attach to";
            issues.add(Kind::NoShapes, path, message, "add body: \"world\", or a body with shapes");
        }
        _ => {}
    }
}

/// The flesh is that of a character, and all of its bones exist.
fn check_character(
    scene: &SceneDoc,
    issues: &mut Issues,
    flesh: &FleshDoc,
    prefix: &str,
    path: impl Display + Copy,
) {
    let field = format!("{path}.nodes");
    let FleshMeshDoc::Character { kind } = flesh.mesh else {
        let hint = "use Within(…), List(…) or Inside(low: …, high: …)";
        return issues.add(Kind::WrongAttachment, field, "the mesh of this flesh is not a character", hint);
    };
    let mut names = skeleton(kind).bones.iter().map(|bone| format!("{prefix}_{}", bone.name));
    if let Some(missing) = names.find(|name| touchable(scene, name).is_none()) {
        let message = format!("there is no body called `{missing}`");
        issues.add(Kind::UnknownName, field, message, "use the prefix of the names of the bones");
    }
}

/// Number of nodes of a mesh, if the document says it.
pub(super) fn n_nodes(mesh: &FleshMeshDoc) -> Option<u64> {
    match mesh {
        FleshMeshDoc::Beam { cells, .. } => {
            Some(cells.iter().map(|&n| u64::from(n) + 1).fold(1, u64::saturating_mul))
        }
        FleshMeshDoc::Tets { nodes, .. } => Some(nodes.len() as u64),
        _ => None,
    }
}

/// A node that exists.
pub(super) fn require_node(issues: &mut Issues, node: u32, n: u64, field: impl FnOnce() -> String) {
    if u64::from(node) >= n {
        let hint = format!("use 0 to {}", n.saturating_sub(1));
        issues.add(Kind::OutOfRange, field(), format!("there is no node {node}"), hint);
    }
}
