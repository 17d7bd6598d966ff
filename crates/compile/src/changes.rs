//! Scenes whose settings change on the way: one period from each change to the next.
//!
//! Every period has its own settings. It has its own model only where a change reaches into the model; other models are shared. All
//! periods are built before the run, so that whatever is wrong with a change is reported at once. Cost: one build for each combination
//! of factors.

use std::sync::Arc;

use sinew_engine::{Appearance, Model, Settings, State};
use sinew_scene::{ChangeDoc, SceneDoc, StepperDoc, validate};

use crate::rigid::RigidParts;
use crate::{
    build::build, error::BuildError, idle::idle_forces, info::SceneInfo, script::Script, settings::settings,
    untimely::untimely,
};

/// Everything that a scene becomes.
#[derive(Clone, Debug)]
pub struct CompiledScene {
    /// At least one, in order of time.
    pub periods: Vec<ScenePeriod>,
    /// The state to begin with.
    pub start: State,
    /// The recorded inputs.
    pub script: Script,
    /// What to draw.
    pub appearance: Appearance,
    /// Name, steps and samples.
    pub info: SceneInfo,
    /// Its bodies, joints and colliders, for edits; none if it has more than these.
    pub parts: Option<RigidParts>,
}

/// A scene from one change to the next.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ScenePeriod {
    /// Shared between periods whose changes do not reach into it.
    pub model: Arc<Model>,
    /// How it is stepped.
    pub settings: Settings,
    /// The value of everything that a change can set, and when the period begins.
    pub values: ChangeDoc,
}

impl ScenePeriod {
    /// Whether the period has the model that other values would give.
    fn has_model_of(&self, values: &ChangeDoc) -> bool {
        // Of all steppers only the one in joint coordinates needs something of the model; gravity and step length need nothing.
        let made = |values: &ChangeDoc| {
            let is_reduced = matches!(values.stepper, Some(StepperDoc::Reduced(_)));
            (is_reduced, values.factors())
        };
        made(&self.values) == made(values)
    }
}

/// Compiles a scene with all its changes.
///
/// # Errors
/// Everything that breaks a rule of the format, or the first thing that the model cannot be built with; see
/// [`BuildError::fields`] for the places.
pub fn compile(scene: &SceneDoc) -> Result<CompiledScene, BuildError> {
    validate(scene).map_err(BuildError::Scene)?;
    let n = scene.changes_at_start();
    let built = if scene.changes.is_empty() { build(scene) } else { build(&scene.after_changes(n)) }
        .map_err(|error| if n > 0 { error.in_change(scene, n - 1) } else { error })?;
    let first = ScenePeriod {
        model: Arc::new(built.model),
        settings: built.settings,
        values: scene.settings_after(n),
    };
    // What is written is doubted, not what a change makes of it.
    let mut info = built.info.of_steps(scene);
    info.doubts.extend(untimely(scene));
    info.doubts.extend(idle_forces(scene));
    Ok(CompiledScene {
        periods: periods(scene, first, &[], &built.start)?,
        start: built.start,
        script: built.script,
        appearance: built.appearance,
        info,
        parts: built.is_plain.then_some(built.parts),
    })
}

/// The periods of a valid scene, beginning with the first. Models of `known` periods are shared where they are the same.
///
/// # Errors
/// If a change cannot be built, or alters which joints are solved exactly.
pub fn periods(
    scene: &SceneDoc,
    first: ScenePeriod,
    known: &[ScenePeriod],
    start: &State,
) -> Result<Vec<ScenePeriod>, BuildError> {
    let flesh = first.settings.flesh;
    let mut periods = vec![first];
    for i in scene.changes_at_start()..scene.changes.len() {
        let values = scene.settings_after(i + 1);
        let alike = periods.iter().chain(known).find(|period| period.has_model_of(&values));
        let model = match alike {
            Some(period) => Arc::clone(&period.model),
            None => {
                let built = build(&scene.after_changes(i + 1));
                Arc::new(built.map_err(|error| error.in_change(scene, i))?.model)
            }
        };
        if !start.fits(&model) {
            return Err(BuildError::Unsupported {
                field: format!("changes[{i}]"),
                what: "this change alters which joints close loops",
                hint: "write two scenes instead",
            });
        }
        let mut settings = settings(scene, &values);
        settings.flesh = flesh;
        periods.push(ScenePeriod { model, settings, values });
    }
    Ok(periods)
}
