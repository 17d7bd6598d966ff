//! Files that a scene names, such as meshes. The loader reads their bytes; a missing file is an error with its place.

use std::collections::BTreeMap;

use crate::doc::{FleshMeshDoc, SceneDoc};
use crate::error::{SceneIssue, SceneIssueKind};

impl SceneDoc {
    /// Gives other names to the files that the scene names, for a scene that is written to another folder; their contents stay.
    /// Every name is asked for once.
    pub fn rename_files(&mut self, mut rename: impl FnMut(&str) -> String) {
        let mut renamed = BTreeMap::new();
        let mut rename =
            |name: &str| -> String { renamed.entry(name.to_owned()).or_insert_with(|| rename(name)).clone() };
        let files = std::mem::take(&mut self.files);
        self.files = files.into_iter().map(|(name, bytes)| (rename(&name), bytes)).collect();
        for flesh in &mut self.flesh {
            match &mut flesh.mesh {
                FleshMeshDoc::TetGen { node, ele, .. } => (*node, *ele) = (rename(node), rename(ele)),
                FleshMeshDoc::Embedded { file }
                | FleshMeshDoc::Surface { file, .. }
                | FleshMeshDoc::TetFile { file, .. } => *file = rename(file),
                FleshMeshDoc::Beam { .. } | FleshMeshDoc::Tets { .. } | FleshMeshDoc::Character { .. } => {}
            }
        }
        for collider in &mut self.colliders {
            collider.shape.rename_file(&mut rename);
        }
    }
}

/// The files that flesh and colliders name: the path of the field, and the name as written.
fn named_files(scene: &SceneDoc) -> impl Iterator<Item = (String, &str)> {
    let colliders = scene.colliders.iter().enumerate().map(|(i, it)| (i, it.shape.file()));
    let colliders = colliders.filter(|(_, name)| !name.is_empty());
    let colliders = colliders.map(|(i, name)| (format!("colliders[{i}].shape.file"), name));
    let flesh = scene.flesh.iter().enumerate().flat_map(|(i, flesh)| {
        let files = match &flesh.mesh {
            FleshMeshDoc::TetGen { node, ele, .. } => vec![("node", node), ("ele", ele)],
            FleshMeshDoc::Embedded { file }
            | FleshMeshDoc::Surface { file, .. }
            | FleshMeshDoc::TetFile { file, .. } => vec![("file", file)],
            FleshMeshDoc::Beam { .. } | FleshMeshDoc::Tets { .. } | FleshMeshDoc::Character { .. } => {
                Vec::new()
            }
        };
        files.into_iter().map(move |(field, name)| (format!("flesh[{i}].mesh.{field}"), name.as_str()))
    });
    flesh.chain(colliders)
}

/// Reads every file that the scene names, once each, or reports those that cannot be read.
pub(crate) fn read_files(
    scene: &mut SceneDoc,
    read: impl Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<(), Vec<SceneIssue>> {
    let mut files = std::mem::take(&mut scene.files);
    let mut issues = Vec::new();
    for (field, name) in named_files(scene) {
        if files.contains_key(name) {
            continue;
        }
        match read(name) {
            Ok(bytes) => {
                files.insert(name.to_owned(), bytes);
            }
            Err(problem) => issues.push(SceneIssue {
                field,
                kind: SceneIssueKind::Unreadable,
                message: format!("cannot read `{name}`: {problem}"),
                hint: "use a path relative to the folder of the scene".to_owned(),
            }),
        }
    }
    scene.files = files;
    if issues.is_empty() { Ok(()) } else { Err(issues) }
}
