//! Scenes by file or built-in name, and worlds built from them. Errors name file, line and column.

use std::{fmt::Display, path::Path};

use sinew_scene::{GeneratorDoc, SceneDoc, SceneSource, no_such_scene};
use sinew_scenes::SCENES;
use sinew_sim::{BuildError, SweptScene, World};

use crate::error::CommandError;

/// The scene of `sinew` without a command.
pub(crate) const SHOWCASE: &str = "showcase";

/// The scene at a path, or the built-in scene of that name if there is no such file.
pub(crate) fn find(scene: &str) -> Result<SceneSource, CommandError> {
    let path = Path::new(scene);
    if path.exists() {
        return Ok(SceneSource::load(path)?);
    }
    if let Some(text) = sinew_scenes::text(scene) {
        return Ok(SceneSource::new(text, format!("{scene}.ron")));
    }
    let names: Vec<&str> = SCENES.iter().map(|(name, _)| *name).collect();
    Err(CommandError(no_such_scene(scene, &names)))
}

/// The sweep members of `scene`, which was read from `source`; one member without a sweep.
pub(crate) fn members(source: &SceneSource, scene: &SceneDoc) -> Result<Vec<SweptScene>, CommandError> {
    // The values of a member are in no file: errors point at the value that the sweep replaces.
    sinew_sim::sweep_runs(scene).map_err(|errors| {
        located(source, errors.as_slice().iter().map(|error| (error.issue.field.as_str(), &error.issue)))
    })
}

/// The world of `scene`, a sweep member of the scene read from `source`.
pub(crate) fn build(source: &SceneSource, scene: &SceneDoc) -> Result<World, CommandError> {
    World::from_scene(scene).map_err(|error| match &error {
        BuildError::Scene(issues) => {
            located(source, issues.iter().map(|issue| (issue.field.as_str(), issue)))
        }
        other => {
            let written: Vec<String> =
                other.fields().into_iter().map(|field| written_path(scene, field)).collect();
            located(source, written.iter().map(|field| (field.as_str(), other)))
        }
    })
}

/// Converts a path in the expanded scene to a path in the scene as written. Flesh beyond the written list belongs to
/// the generator of a character.
fn written_path(scene: &SceneDoc, path: &str) -> String {
    let generated = || {
        let (index, _) = path.strip_prefix("flesh[")?.split_once(']')?;
        let nth = index.parse::<usize>().ok()?.checked_sub(scene.flesh.len())?;
        let generators = scene.generators.iter().enumerate();
        let mut characters = generators.filter(|(_, g)| matches!(g, GeneratorDoc::Character(_)));
        Some(format!("generators[{}]", characters.nth(nth)?.0))
    };
    generated().unwrap_or_else(|| path.to_owned())
}

/// One line per error: `file:line:column: message`.
fn located<'e>(source: &SceneSource, errors: impl Iterator<Item = (&'e str, impl Display)>) -> CommandError {
    let line = |(field, what)| match source.locate(field) {
        Some((line, column)) => format!("{}:{line}:{column}: {what}", source.file()),
        None => format!("{}: {what}", source.file()),
    };
    CommandError(errors.map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use sinew_scene::SceneDoc;

    use super::written_path;

    #[test]
    fn flesh_of_characters_is_looked_for_at_their_generators() {
        let text = "(format: 1, flesh: [(name: \"a\", mesh: Beam(size: (1, 1, 1), cells: (1, 1, 1)))], generators: [
            Chain(n: 2, link: (shapes: [Sphere(radius: 1)]), joint: (kind: Hinge)), Character(name: \"d\", kind: Worm), Character(name: \"e\", kind: Fish)])";
        let scene = SceneDoc::from_ron(text, "a.ron").unwrap();
        let written = |path: &str| written_path(&scene, path);
        assert_eq!(written("flesh[0].mesh"), "flesh[0].mesh");
        assert_eq!(written("flesh[1].mesh"), "generators[1]");
        assert_eq!(written("flesh[2]"), "generators[2]");
        assert_eq!(written("flesh[3]"), "flesh[3]");
        assert_eq!(written("colliders[0]"), "colliders[0]");
    }
}
