//! Scenes whose settings change on the way: one stage from each change to the next.
//!
//! Every stage has its settings. A model of its own it has only where a change reaches into it; others are shared. All are built before
//! the run, so that whatever is wrong with a change is told at once. Cost: a build for each combination of factors.

use std::sync::Arc;

use sinew_mechanism::Settings;
use sinew_scene::{ChangeDoc, SceneDoc, StepperDoc, validate};

use crate::build::{Parts, build_plain, info};
use crate::settings::settings;
use crate::{BuildError, Model, SceneInfo, State};

/// A scene from one change to the next: what it is made of, and how it is stepped.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) model: Arc<Model>,
    pub(crate) settings: Settings,
    /// Everything that a change can say, and when it begins.
    pub(crate) said: ChangeDoc,
}

impl Stage {
    /// Whether both are made of the same.
    fn is_made_like(&self, said: &ChangeDoc) -> bool {
        // Neither gravity nor length of steps, nor any scheme but the one in joint coordinates, is part of a model.
        let made = |said: &ChangeDoc| {
            let reduced = match said.stepper {
                Some(StepperDoc::Reduced(doc)) => Some(doc),
                _ => None,
            };
            (reduced, said.factors())
        };
        made(&self.said) == made(said)
    }
}

/// Builds a scene with all its changes.
pub(crate) fn build(scene: &SceneDoc) -> Result<Parts, BuildError> {
    validate(scene).map_err(BuildError::Scene)?;
    let n = scene.changes_at_start();
    let mut parts =
        if scene.changes.is_empty() { build_plain(scene) } else { build_plain(&scene.after_changes(n)) }
            .map_err(|error| if n > 0 { error.in_change(scene, n - 1) } else { error })?;
    parts.info = SceneInfo { assembly: parts.info.assembly, ..info(scene) };
    let first = parts.stages.remove(0);
    parts.stages = stages(scene, Stage { said: scene.settings_after(n), ..first }, &[], &parts.start)?;
    Ok(parts)
}

/// The stages of a scene that keeps the rules, beginning with the first. Models of stages that are `known` are taken over where
/// they are made alike.
pub(crate) fn stages(
    scene: &SceneDoc,
    first: Stage,
    known: &[Stage],
    start: &State,
) -> Result<Vec<Stage>, BuildError> {
    let mut stages = vec![first];
    for i in scene.changes_at_start()..scene.changes.len() {
        let said = scene.settings_after(i + 1);
        let alike = stages.iter().chain(known).find(|stage| stage.is_made_like(&said));
        let model = match alike {
            Some(stage) => Arc::clone(&stage.model),
            None => {
                let parts =
                    build_plain(&scene.after_changes(i + 1)).map_err(|error| error.in_change(scene, i))?;
                Arc::clone(&parts.stages[0].model)
            }
        };
        if !start.fits(&model) {
            return Err(BuildError::Unsupported {
                field: format!("changes[{i}]"),
                what: "with this, other joints are solved in other ways",
                hint: "make two scenes of it",
            });
        }
        let settings = settings(scene, &said);
        stages.push(Stage { model, settings, said });
    }
    Ok(stages)
}
