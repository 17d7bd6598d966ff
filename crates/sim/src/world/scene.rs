//! Worlds of scenes: built from a document, with changes on the way and a score that can be replaced.
//!
//! A scene with changes is a row of stages, each with its own settings and, where stiffness, damping, friction or joint coordinates
//! change, its own model. Stage k + 1 is in force for a step that begins at t if its time is at most t + h/2, h being the length of
//! steps in stage k. The state is carried over as it is: what the next step needs of the last one knows how long that was. So the
//! stage follows from the time alone, and whoever restores a state goes on with the bits of the run.

use std::sync::Arc;

use sinew_mechanism::Input;
use sinew_scene::{ChangeDoc, SceneDoc, ScoreDoc, TrackDoc, validate};

use super::{Moment, SceneStage, When, World};
use crate::stages::stages;
use crate::{BuildError, Model, SceneInfo, Workspace};

impl World {
    /// Builds a scene: generators are expanded, names resolved, the elimination planned.
    ///
    /// # Errors
    /// Everything that breaks a rule of the format, or the first thing that the mechanism cannot be built with;
    /// see [`BuildError::fields`] for the places.
    pub fn from_scene(scene: &SceneDoc) -> Result<Self, BuildError> {
        let parts = crate::stages::build(scene)?;
        let first = &parts.stages[0];
        let mut world = Self {
            workspace: Workspace::new(&first.model),
            model: Arc::clone(&first.model),
            settings: first.settings,
            state: parts.start.clone(),
            start: parts.start,
            input: Input::default(),
            looks: parts.looks,
            stage: 0,
            stages: parts.stages,
            script: parts.script,
            track_points: Vec::new(),
            info: parts.info,
        };
        world.reset();
        Ok(world)
    }

    /// The same world at the same moment with other changes: those of `scene`, which must differ from the scene that the world was
    /// built from by its `changes` and its duration only. What both need is shared, so this costs little unless a factor is new.
    ///
    /// # Errors
    /// As [`World::from_scene`].
    pub fn with_changes(&self, scene: &SceneDoc) -> Result<Self, BuildError> {
        validate(scene).map_err(BuildError::Scene)?;
        let said = scene.settings_after(scene.changes_at_start());
        let first = self.stages.first().filter(|first| said.beyond(&first.said).is_empty());
        let mut world = match first {
            Some(first) => {
                let mut world = self.clone();
                world.stages = stages(scene, first.clone(), &self.stages, &self.start)?;
                world.info = SceneInfo { assembly: self.info.assembly, ..crate::build::info(scene) };
                world
            }
            // How it is assembled may depend on the settings of its beginning.
            None => Self { state: self.state.clone(), ..Self::from_scene(scene)? },
        };
        // Whatever was in force before.
        world.enter(world.stage_at(world.state.time));
        world.load_input(Moment::Last);
        Ok(world)
    }

    /// Puts those changes of the scene in force that are due before the next step, which would do so itself.
    pub fn take_changes(&mut self) {
        let stage = self.stage_at(self.state.time);
        if stage != self.stage {
            self.enter(stage);
        }
    }

    /// Everything that a change of the scene can say, as it is now; `None` for worlds built by hand.
    pub fn said(&self) -> Option<&ChangeDoc> {
        self.stages.get(self.stage).map(|stage| &stage.said)
    }

    /// The number of the step that ends nearest to a time, s.
    pub(crate) fn step_nearest(&self, time: f64) -> u64 {
        if self.stages.len() > 1 {
            self.info.steps.nearest(time)
        } else {
            crate::step::step_index(time, self.settings.dt)
        }
    }

    /// Which stage is in force for the step that begins at a time, s.
    fn stage_at(&self, time: f64) -> usize {
        let is_due = |pair: &&[SceneStage]| pair[1].said.at_s <= time + 0.5 * pair[0].settings.dt;
        self.stages.windows(2).take_while(is_due).count()
    }

    fn enter(&mut self, stage: usize) {
        let Some(entered) = self.stages.get(stage) else { return };
        self.stage = stage;
        self.settings = entered.settings;
        if !Arc::ptr_eq(&self.model, &entered.model) {
            self.model = Arc::clone(&entered.model);
            self.workspace = Workspace::new(&self.model);
        }
    }

    /// The recorded input of the step that begins at `time`, s: targets are those at its end, and what begins or
    /// ends at a certain time does so with the step whose middle comes next. Forces on points of bodies act where
    /// those are now.
    pub fn input_at(&self, time: f64) -> Input {
        let mut input = Input::default();
        let stage = self.stage_at(time);
        let settings = if stage == self.stage { &self.settings } else { &self.stages[stage].settings };
        let when = When::beginning_at(time, settings.dt);
        self.script.fill(&self.model, &self.state, when, &mut Vec::new(), &mut input);
        input
    }

    /// Replaces the score, or takes it away, and keeps where it is: a score that agrees with the old one up to now goes on with the
    /// same bits. Live control appends phases, and points to the tracks they follow; what was done is then a score that can be
    /// saved and replayed. `score` and `tracks` are as in a scene.
    ///
    /// # Errors
    /// If the scene is not stepped in joint coordinates, or the score does not fit it; the old one then stays.
    pub fn set_score(&mut self, score: Option<&ScoreDoc>, tracks: &[TrackDoc]) -> Result<(), BuildError> {
        let Some(reduced) = self.model.reduced() else {
            return Err(BuildError::Unsupported {
                field: "score".to_owned(),
                what: "this stepper has no actuators to play a score",
                hint: "use stepper: Reduced()",
            });
        };
        let start = &self.start.bodies;
        let controller =
            score.map(|score| crate::score::controller(score, tracks, &self.model, reduced.tree(), start));
        let controller = controller.transpose()?;
        // Stages that share a model go on doing so.
        let mut replaced: Vec<(Arc<Model>, Arc<Model>)> = Vec::new();
        for model in self.stages.iter_mut().map(|stage| &mut stage.model).chain([&mut self.model]) {
            let known = replaced.iter().find(|(before, _)| Arc::ptr_eq(before, model));
            let new = known.map(|(_, new)| Arc::clone(new)).unwrap_or_else(|| {
                let mut new = Model::clone(model);
                new.set_controller(controller.clone());
                let new = Arc::new(new);
                replaced.push((Arc::clone(model), Arc::clone(&new)));
                new
            });
            *model = new;
        }
        self.workspace.reduced = None;
        Ok(())
    }

    /// Name, length and sample times of the scene.
    pub fn info(&self) -> &SceneInfo {
        &self.info
    }
}
