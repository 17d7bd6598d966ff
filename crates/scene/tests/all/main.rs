//! Tests of the scene crate through its public face.

mod changes;
mod fixtures;
mod flesh;
mod generators;
mod invalid;
mod loops;
mod messages;
mod reference;
mod resolve;
mod robustness;
mod set;
mod track;

use std::path::PathBuf;

/// The scenes in a folder of `fixtures/`, in order of their names.
fn fixtures_in(folder: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder);
    let entries = std::fs::read_dir(&folder).expect("the fixtures are part of the repository");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    paths.sort();
    paths
}
