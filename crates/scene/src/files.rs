//! Files that a scene names: read beside it once its own text is found to be right, none larger than [`MAX_BYTES`].

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::doc::{FleshMeshDoc, SceneDoc};
use crate::error::{SceneIssue, SceneIssueKind};

/// Largest file that is read (bytes): 256 MB.
const MAX_BYTES: u64 = 256_000_000;

/// The files that flesh names: the path of the field, and the name as written.
fn named_files(scene: &SceneDoc) -> impl Iterator<Item = (String, &String)> {
    scene.flesh.iter().enumerate().flat_map(|(i, flesh)| {
        let files = match &flesh.mesh {
            FleshMeshDoc::TetGen { node, ele } => vec![("node", node), ("ele", ele)],
            FleshMeshDoc::Embedded { file } | FleshMeshDoc::Surface { file, .. } => vec![("file", file)],
            FleshMeshDoc::Beam { .. } | FleshMeshDoc::Tets { .. } | FleshMeshDoc::Character { .. } => {
                Vec::new()
            }
        };
        files.into_iter().map(move |(field, name)| (format!("flesh[{i}].mesh.{field}"), name))
    })
}

/// Reads every file that the scene names, relative to `folder`, each once, or says which cannot be read.
pub(crate) fn read_files(scene: &mut SceneDoc, folder: &Path) -> Result<(), Vec<SceneIssue>> {
    let mut files = std::mem::take(&mut scene.files);
    let mut issues = Vec::new();
    for (field, name) in named_files(scene) {
        if files.contains_key(name) {
            continue;
        }
        match read_file(&folder.join(name)) {
            Ok(bytes) => {
                files.insert(name.clone(), bytes);
            }
            Err(problem) => issues.push(SceneIssue {
                field,
                kind: SceneIssueKind::Unreadable,
                message: format!("cannot read `{name}`: {problem}"),
                hint: "files are named relative to the folder of the scene".to_owned(),
            }),
        }
    }
    scene.files = files;
    if issues.is_empty() { Ok(()) } else { Err(issues) }
}

/// The contents of a file, or why there are none.
fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("this is no file".to_owned());
    }
    let too_large = |n: u64| format!("it has {n} bytes, more than {MAX_BYTES}");
    if metadata.len() > MAX_BYTES {
        return Err(too_large(metadata.len()));
    }
    // A file may grow while it is read.
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
}
