//! The fixtures of the repository.

use std::path::PathBuf;

use sinew_sim::{SceneDoc, World};

/// Folder of fixtures.
pub(crate) fn fixtures(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder)
}

/// Names of all mechanisms, sorted.
pub(crate) fn mechanisms() -> Vec<String> {
    let files = std::fs::read_dir(fixtures("mechanisms")).expect("the folder of fixtures");
    let mut names: Vec<String> = files
        .map(|file| file.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|end| end == "ron"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A mechanism by name.
pub(crate) fn scene(name: &str) -> SceneDoc {
    let path = fixtures("mechanisms").join(format!("{name}.ron"));
    SceneDoc::load(&path).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A mechanism by name, ready to run.
pub(crate) fn world(name: &str) -> World {
    World::from_scene(&scene(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
