//! Lists of scenes: the scenes of a folder, or the built-in ones.

use std::fs;
use std::path::{Path, PathBuf};

use sinew_scene::no_such_scene;

use crate::fault::Fault;

/// A list of scenes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Library {
    /// Names and origins, sorted by name.
    pub scenes: Vec<(String, Origin)>,
}

/// Origin of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// A built-in scene of this name.
    BuiltIn(String),
}

impl Library {
    /// The scenes of a folder; an empty list if it cannot be read.
    pub fn of_folder(folder: &Path) -> Self {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let files =
            entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "ron"));
        let named = files.filter_map(|path| Some((path.file_stem()?.to_string_lossy().into_owned(), path)));
        let mut scenes: Vec<_> = named.map(|(name, path)| (name, Origin::File(path))).collect();
        scenes.sort_by(|a, b| a.0.cmp(&b.0));
        Self { scenes }
    }

    /// The built-in scenes.
    pub fn built_in() -> Self {
        let names = sinew_scenes::SCENES.iter().map(|(name, _)| (*name).to_owned());
        Self { scenes: names.map(|name| (name.clone(), Origin::BuiltIn(name))).collect() }
    }

    /// The scenes of a folder, or the built-in ones if it has none.
    pub fn of_folder_or_built_in(folder: &Path) -> Self {
        let found = Self::of_folder(folder);
        if found.scenes.is_empty() { Self::built_in() } else { found }
    }

    /// The scene of a command-line argument: a file, or the name of a scene of this list or of a built-in one. Fails if
    /// there is no such scene; the message suggests similar names.
    pub fn find(&self, word: &str) -> Result<Origin, Fault> {
        if Path::new(word).exists() {
            return Ok(Origin::File(word.into()));
        }
        let built_in = Self::built_in().scenes;
        let known: Vec<_> = self.scenes.iter().chain(&built_in).collect();
        let named = known.iter().find(|(name, _)| name == word).map(|(_, origin)| origin.clone());
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        named.ok_or_else(|| Fault::new(no_such_scene(word, &names)))
    }
}
