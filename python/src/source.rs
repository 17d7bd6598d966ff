//! Scenes from whatever `sinew.load` is given: a path, the name of a built-in scene, or text (RON, URDF, MJCF, SDFormat).

use std::path::Path;

use pyo3::prelude::*;
use sinew_io::{Files, ImportOptions, Imported, RootHold, import, read_mjcf, read_sdf, read_urdf};
use sinew_scene::{SceneDoc, SceneSource, no_such_scene};
use sinew_scenes::SCENES;
use sinew_sim::{BuildError, World};

use crate::errors::{build_error, import_error, scene_error, unreadable};
use crate::threads::detached;

/// A scene, and the text that errors point into if there is one.
#[derive(Clone, Debug)]
pub(crate) struct LoadedScene {
    pub(crate) scene: SceneDoc,
    pub(crate) source: Option<SceneSource>,
    /// What an import left out or changed.
    pub(crate) notes: Vec<String>,
}

/// How files of other tools are read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadingChoices {
    pub(crate) root: Option<RootHold>,
    pub(crate) flesh: bool,
}

impl ReadingChoices {
    fn options(self) -> ImportOptions {
        let mut options = ImportOptions::default();
        options.root = self.root.unwrap_or_default();
        options.rig.flesh = self.flesh;
        options
    }
}

impl LoadedScene {
    /// Reads a scene without the interpreter lock.
    pub(crate) fn find(py: Python<'_>, given: &str, choices: ReadingChoices) -> PyResult<Self> {
        if is_text(given) {
            return Self::of_text(py, given, choices);
        }
        let path = Path::new(given);
        if is_foreign(path) && path.exists() {
            let read = || import(path, &Files::beside(path), &choices.options());
            return Self::imported(py, detached(py, read));
        }
        let with_ending = path.with_extension("ron");
        let mut candidates =
            [path, &with_ending].into_iter().take(if path.extension().is_none() { 2 } else { 1 });
        let file = candidates.find(|path| path.is_file());
        if let Some(file) = file {
            let source = SceneSource::load(file).map_err(|errors| scene_error(py, &errors))?;
            return Self::parsed(py, source);
        }
        let Some(text) = sinew_scenes::text(given) else {
            let names: Vec<&str> = SCENES.iter().map(|(name, _)| *name).collect();
            return Err(unreadable(py, given, &no_such_scene(given, &names)));
        };
        Self::parsed(py, SceneSource::new(text, format!("{given}.ron")))
    }

    /// Text itself: XML by its outermost tag, else RON.
    fn of_text(py: Python<'_>, text: &str, choices: ReadingChoices) -> PyResult<Self> {
        if !text.trim_start().starts_with('<') {
            return Self::parsed(py, SceneSource::new(text, "<text>"));
        }
        let options = choices.options();
        let has = |tag: &str| text.contains(&format!("<{tag}"));
        let files = Files::in_memory(Default::default());
        let read = || match () {
            () if has("robot") && !has("mujoco") && !has("sdf") => {
                read_urdf(text, "<text>", &files, &options)
            }
            () if has("sdf") && !has("mujoco") => read_sdf(text, "<text>", &files, &options),
            () => read_mjcf(text, "<text>", &files, &options),
        };
        Self::imported(py, read())
    }

    /// A scene that was written as text.
    pub(crate) fn parsed(py: Python<'_>, source: SceneSource) -> PyResult<Self> {
        let scene = detached(py, || source.parse()).map_err(|errors| scene_error(py, &errors))?;
        Ok(Self { scene, source: Some(source), notes: Vec::new() })
    }

    fn imported(py: Python<'_>, read: Result<Imported, sinew_io::ImportError>) -> PyResult<Self> {
        let Imported { scene, report, .. } = read.map_err(|error| import_error(py, &error))?;
        let notes = report
            .findings
            .iter()
            .map(|finding| format!("{}: {} ({})", finding.place, finding.what, finding.outcome.name()));
        Ok(Self { notes: notes.collect(), scene, source: None })
    }

    /// The world of the scene, built without the interpreter lock.
    pub(crate) fn build(&self, py: Python<'_>) -> PyResult<World> {
        build(py, &self.scene, self.source.as_ref())
    }
}

/// The world of a scene, built without the interpreter lock.
pub(crate) fn build(py: Python<'_>, scene: &SceneDoc, source: Option<&SceneSource>) -> PyResult<World> {
    let built: Result<World, BuildError> = detached(py, || World::from_scene(scene));
    built.map_err(|error| build_error(py, &error, scene, source))
}

/// Whether something is a scene itself instead of its name.
fn is_text(given: &str) -> bool {
    let start = given.trim_start();
    start.starts_with(['(', '<', '#']) || start.starts_with("//") || given.contains('\n')
}

/// Whether a path is a file of another tool.
fn is_foreign(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    sinew_io::ENDINGS.contains(&ending.as_str()) || ending == "xacro"
}
