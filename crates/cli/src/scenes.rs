//! Scenes by file or built-in name, and worlds built from them. Errors name file, line and column.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use sinew_io::Imported;
use sinew_scene::{SceneDoc, SceneErrors, SceneLimits, SceneSource, no_such_scene};
use sinew_scenes::SCENES;
use sinew_sim::{BuildError, SweptScene, World};

use crate::args::{ChangeArgs, ImportChoices};
use crate::{error::CommandError, import};

/// The scene of `sinew` without a command.
pub(crate) const SHOWCASE: &str = "showcase";

/// A scene, and what was read for it.
pub(crate) struct FoundScene {
    source: SceneSource,
    /// The files that were read.
    read: Vec<PathBuf>,
    /// The file that it is made of, and what became of that.
    made_of: Option<(String, Imported)>,
    /// Paths and values that were replaced.
    set: Vec<(String, String)>,
}

impl FoundScene {
    /// All files that are read for the scene, which is parsed from the source.
    pub(crate) fn files(&self, scene: &SceneDoc) -> Vec<PathBuf> {
        let folder = self.read.first().and_then(|path| path.parent()).unwrap_or(Path::new(""));
        let named = scene.files.keys().map(|name| folder.join(name)).filter(|path| path.is_file());
        self.read.iter().cloned().chain(named).collect()
    }

    /// The scene, or all of its errors.
    pub(crate) fn parse(&self) -> Result<SceneDoc, CommandError> {
        self.source.parse().map_err(|errors| match &self.made_of {
            Some(_) => self.located(&SceneDoc::default(), &errors.into()),
            None => errors.into(),
        })
    }

    fn located(&self, scene: &SceneDoc, error: &BuildError) -> CommandError {
        CommandError(self.lines(scene, error).join("\n"))
    }

    /// A line per error, with its place: in the text of the scene, or in the file that the scene is made of.
    fn lines(&self, scene: &SceneDoc, error: &BuildError) -> Vec<String> {
        let Some((file, Imported { scene: made, report, .. })) = &self.made_of else {
            return error.located(&self.source, scene);
        };
        let line = |field: &str, what: &dyn Display| {
            let place = report.place_of(made, field).map_or_else(|| file.clone(), ToString::to_string);
            format!(
                "{place}: in the scene made of it, {what}; `sinew import {file} -o SCENE.ron` writes that scene"
            )
        };
        match error {
            BuildError::Scene(issues) => {
                let listed = issues.iter().take(SceneErrors::LISTED);
                let lines = listed.map(|issue| line(&issue.field, issue));
                lines.chain(SceneErrors::beyond_listed(issues.len())).collect()
            }
            _ => error.fields().iter().map(|field| line(field, error)).collect(),
        }
    }
}

/// The scene at a path, with or without its ending, or the built-in scene of that name if there is no such file. Files of other tools are imported.
pub(crate) fn find(
    scene: &str,
    choices: &ImportChoices,
    limits: SceneLimits,
) -> Result<FoundScene, CommandError> {
    let path = Path::new(scene);
    if import::is_foreign(path) && path.exists() {
        let (imported, read) = import::read_and_tell(path, choices)?;
        let source = SceneSource::new(imported.scene.to_ron(), format!("{scene} (as a scene)"));
        let source = source.with_files(imported.scene.files.clone()).with_limits(limits);
        return Ok(FoundScene { source, read, made_of: Some((scene.to_owned(), imported)), set: Vec::new() });
    }
    if !import::is_foreign(path) {
        import::refuse_choices(path, choices)?;
    }
    let with_ending = path.with_extension("ron");
    let candidates = [path, &with_ending].into_iter().take(if path.extension().is_none() { 2 } else { 1 });
    let mut files = candidates.filter(|path| path.exists() && !path.is_dir());
    let is_unknown = path.exists() && sinew_scenes::text(scene).is_none();
    let file = files.next().or(is_unknown.then_some(path));
    let built_in = || find_built_in(scene).map(|source| source.with_limits(limits));
    let source = file.map_or_else(built_in, |path| Ok(SceneSource::load_within(path, limits)?))?;
    let read = file.map(Path::to_owned).into_iter().collect();
    Ok(FoundScene { source, read, made_of: None, set: Vec::new() })
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
pub(crate) fn changed(scene: &str, changes: &ChangeArgs) -> Result<FoundScene, CommandError> {
    let mut found = find(scene, &changes.import, changes.limits())?;
    for (path, value) in &changes.set {
        found.source.set(path, value)?;
    }
    found.set.clone_from(&changes.set);
    Ok(found)
}

/// The sweep members of `scene`, which was parsed from `found`; one member without a sweep.
pub(crate) fn members(found: &FoundScene, scene: &SceneDoc) -> Result<Vec<SweptScene>, CommandError> {
    // The values of a member are in no file: errors point at the value that the sweep replaces.
    let members = sinew_sim::sweep_runs(scene).map_err(|errors| found.located(scene, &errors.into()))?;
    let ends: Vec<&SceneDoc> =
        members.first().into_iter().chain(members.last()).map(|member| &member.scene).collect();
    match found.set.iter().find(|given| is_swept_away(given, scene, &ends)) {
        None => Ok(members),
        Some((path, value)) => {
            let swept: Vec<&str> = scene.sweep.iter().map(|sweep| sweep.path.as_str()).collect();
            let swept = swept.join("` and `");
            Err(CommandError(format!(
                "--set {path}={value}: the sweep of the scene gives `{swept}` its own values (add --set sweep=[] for one run, or set the values of the sweep)"
            )))
        }
    }
}

/// Whether a value that was set is in the scene, but not in all of its members.
fn is_swept_away((path, value): &(String, String), scene: &SceneDoc, members: &[&SceneDoc]) -> bool {
    let without_sweep = SceneDoc { sweep: Vec::new(), ..scene.clone() };
    let changes = |scene: &SceneDoc| {
        let mut set = scene.clone();
        set.set(path, value).is_ok() && set != *scene
    };
    let is_there =
        !scene.sweep.is_empty() && !path.trim_start().starts_with("sweep") && !changes(&without_sweep);
    is_there && members.iter().any(|member| changes(member))
}

/// The world of `scene`, a sweep member of the scene parsed from `found`.
pub(crate) fn build(found: &FoundScene, scene: &SceneDoc) -> Result<World, CommandError> {
    World::from_scene(scene).map_err(|error| found.located(scene, &error))
}

/// What of a world is probably not meant, with its place.
pub(crate) fn doubts(found: &FoundScene, scene: &SceneDoc, world: &World) -> Vec<String> {
    found.lines(scene, &BuildError::Scene(world.info().doubts.clone()))
}
