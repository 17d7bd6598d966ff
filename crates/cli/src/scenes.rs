//! Scenes by file or built-in name, and worlds built from them. Errors name file, line and column.

use std::path::Path;

use sinew_scene::{SceneDoc, SceneSource, no_such_scene};
use sinew_scenes::SCENES;
use sinew_sim::{BuildError, SweptScene, World};

use crate::args::{ChangeArgs, ImportChoices};
use crate::{error::CommandError, import};

/// The scene of `sinew` without a command.
pub(crate) const SHOWCASE: &str = "showcase";

/// The scene at a path, with or without its ending, or the built-in scene of that name if there is no such file. Files of other tools are imported.
pub(crate) fn find(scene: &str, choices: &ImportChoices) -> Result<SceneSource, CommandError> {
    let path = Path::new(scene);
    if import::is_foreign(path) && path.exists() {
        return import::source(path, choices);
    }
    let with_ending = path.with_extension("ron");
    let candidates = [path, &with_ending].into_iter().take(if path.extension().is_none() { 2 } else { 1 });
    let mut files = candidates.filter(|path| path.exists() && !path.is_dir());
    if let Some(path) =
        files.next().or((path.exists() && sinew_scenes::text(scene).is_none()).then_some(path))
    {
        return Ok(SceneSource::load(path)?);
    }
    find_built_in(scene)
}

/// The built-in scene of a name.
pub(crate) fn find_built_in(scene: &str) -> Result<SceneSource, CommandError> {
    if let Some(text) = sinew_scenes::text(scene) {
        return Ok(SceneSource::new(text, format!("{scene}.ron")));
    }
    let names: Vec<&str> = SCENES.iter().map(|(name, _)| *name).collect();
    Err(CommandError(no_such_scene(scene, &names)))
}

/// The same with replaced values.
pub(crate) fn changed(scene: &str, changes: &ChangeArgs) -> Result<SceneSource, CommandError> {
    let mut source = find(scene, &changes.import)?;
    for (path, value) in &changes.set {
        source.set(path, value)?;
    }
    Ok(source)
}

/// The sweep members of `scene`, which was read from `source`; one member without a sweep.
pub(crate) fn members(source: &SceneSource, scene: &SceneDoc) -> Result<Vec<SweptScene>, CommandError> {
    // The values of a member are in no file: errors point at the value that the sweep replaces.
    sinew_sim::sweep_runs(scene).map_err(|errors| located(source, scene, &errors.into()))
}

/// The world of `scene`, a sweep member of the scene read from `source`.
pub(crate) fn build(source: &SceneSource, scene: &SceneDoc) -> Result<World, CommandError> {
    World::from_scene(scene).map_err(|error| located(source, scene, &error))
}

/// What of a world is probably not meant, with its place.
pub(crate) fn doubts(source: &SceneSource, scene: &SceneDoc, world: &World) -> Vec<String> {
    BuildError::Scene(world.info().doubts.clone()).located(source, scene)
}

fn located(source: &SceneSource, scene: &SceneDoc, error: &BuildError) -> CommandError {
    CommandError(error.located(source, scene).join("\n"))
}
