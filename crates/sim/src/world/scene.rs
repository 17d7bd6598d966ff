//! Worlds of scenes: built from a document, with changes on the way and a score that can be replaced.
//!
//! A scene with changes is a sequence of periods, each with its own settings and, where stiffness, damping, friction or joint coordinates
//! change, its own model. Period k + 1 is in force for a step that begins at t if its time is at most t + h/2, where h is the step
//! length in period k. The state is carried over unchanged; its history knows the length of the last step. So the period follows from
//! the time alone, and a run goes on from a restored state with the same bits.

use std::sync::Arc;

use sinew_compile::{
    BuildError, CompiledScene, SceneInfo, ScenePeriod, ScriptTimes, compile, controller, periods,
};
use sinew_engine::{Model, NoticeCounts, Scheme, Settings, State, Workspace};
use sinew_mechanism::Input;
use sinew_scene::{ChangeDoc, EditableScene, SceneDoc, ScoreDoc, TrackDoc, validate};

use super::World;
use super::clock::FrameClock;

/// What a world has between two edits.
#[derive(Clone, Debug)]
pub(crate) struct PartsNow {
    /// None for worlds made from a model.
    pub(crate) scene: Option<Arc<EditableScene>>,
    /// The model in force.
    pub(crate) model: Arc<Model>,
    /// Names of what touched when the last edit removed it.
    pub(crate) gone: Arc<[String]>,
}

impl World {
    /// Builds a scene: generators are expanded, names resolved, the elimination planned.
    ///
    /// # Errors
    /// Everything that breaks a rule of the format, or the first thing that the mechanism cannot be built with;
    /// see [`BuildError::fields`] for the places.
    pub fn from_scene(scene: &SceneDoc) -> Result<Self, BuildError> {
        Ok(Self::compiled(Arc::new(EditableScene::new(scene)), compile(scene)?))
    }

    /// The world of a scene whose parts have handles.
    pub(crate) fn from_editable(scene: EditableScene) -> Result<Self, BuildError> {
        let compiled = compile(scene.scene())?;
        Ok(Self::compiled(Arc::new(scene), compiled))
    }

    fn compiled(scene: Arc<EditableScene>, compiled: CompiledScene) -> Self {
        let CompiledScene { periods, start, script, appearance, info, parts } = compiled;
        let first = &periods[0];
        let mut world = Self {
            scene: Some(scene),
            workspace: Workspace::new(&first.model),
            model: Arc::clone(&first.model),
            settings: first.settings,
            state: start.clone(),
            start,
            input: Input::default(),
            appearance,
            period: 0,
            periods,
            playback: script.into(),
            info,
            clock: FrameClock::default(),
            notices: NoticeCounts::default(),
            gone: Arc::default(),
            parts,
        };
        world.reset();
        world
    }

    /// What the world has until the next edit.
    pub(crate) fn parts_now(&self) -> PartsNow {
        let Self { scene, model, gone, .. } = self;
        PartsNow { scene: scene.clone(), model: Arc::clone(model), gone: Arc::clone(gone) }
    }

    /// Goes to a moment of this world: with the parts, the settings and the state of then.
    pub(crate) fn go_back(
        &mut self,
        PartsNow { scene, model, gone }: &PartsNow,
        settings: Settings,
        state: &State,
    ) -> Result<(), BuildError> {
        let is_here =
            |scene: &&Arc<EditableScene>| self.scene.as_ref().is_some_and(|own| Arc::ptr_eq(own, scene));
        if let Some(scene) = scene.as_ref().filter(|scene| !is_here(scene)) {
            // Handles of parts that came later are not given again.
            self.scene.iter().for_each(|own| scene.pass_handles(own));
            *self = Self::compiled(Arc::clone(scene), compile(scene.scene())?);
        }
        self.gone = Arc::clone(gone);
        self.state.clone_from(state);
        self.arrive();
        if !Arc::ptr_eq(model, &self.model) {
            self.model = Arc::clone(model);
            self.workspace.refit(model);
        }
        self.settings = settings;
        Ok(())
    }

    /// The same world at the same moment with other changes: those of `scene`, which must differ from the scene that the world was
    /// built from by its `changes` and its duration only. What both need is shared, so this costs little unless a factor is new.
    ///
    /// # Errors
    /// As [`World::from_scene`].
    pub fn with_changes(&self, scene: &SceneDoc) -> Result<Self, BuildError> {
        validate(scene).map_err(BuildError::Scene)?;
        let values = scene.settings_after(scene.changes_at_start());
        let first = self.periods.first().filter(|first| values.beyond(&first.values).is_empty());
        let mut world = match first {
            Some(first) => {
                let mut world = self.clone();
                world.periods = periods(scene, first.clone(), &self.periods, &self.start)?;
                world.info = self.info.of_steps(scene);
                // Edits of scenes with changes compile the whole scene.
                world.parts = None;
                if let Some(kept) = &mut world.scene {
                    Arc::make_mut(kept).set_changes(&scene.changes, scene.duration_s);
                }
                world
            }
            // How it is assembled may depend on the settings of its beginning.
            None => Self { state: self.state.clone(), ..Self::from_scene(scene)? },
        };
        // Whatever was in force before.
        world.enter(world.period_at(world.time()));
        world.load_input(ScriptTimes::ending_at(world.time(), world.settings.dt));
        Ok(world)
    }

    /// Applies the changes of the scene that are due before the next step. Steps do so themselves.
    pub fn take_changes(&mut self) {
        let period = self.period_at(self.time());
        if period != self.period {
            self.enter(period);
        }
        // What rests may not rest under other settings.
        if self.is_other_period(&self.state) {
            self.state.sleep.wake_all();
        }
    }

    /// The model and the settings for a step that begins at a time, s: those of the world, unless a change of the scene puts others in force there.
    ///
    /// ```
    /// use sinew_sim::{SceneDoc, World};
    ///
    /// let text = r#"(format: 1, changes: [(at_s: 1, dt: 0.005)], bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)])])"#;
    /// let world = World::from_scene(&SceneDoc::from_ron(text, "ball.ron")?)?;
    /// assert_eq!(world.in_force_at(2.0).1.dt, 0.005);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_force_at(&self, time: f64) -> (&Arc<Model>, &Settings) {
        let period = self.period_at(time);
        match self.periods.get(period).filter(|_| period != self.period) {
            Some(other) => (&other.model, &other.settings),
            None => (&self.model, &self.settings),
        }
    }

    /// Wakes what rests in a state of this world if it came to rest under other settings than those in force: what [`World::take_changes`] does to the state of
    /// the world itself.
    pub fn wake_if_changed(&self, state: &mut State) {
        if self.is_other_period(state) {
            state.sleep.wake_all();
        }
    }

    /// Whether other settings are in force than when the bodies of a state began to rest.
    fn is_other_period(&self, state: &State) -> bool {
        self.periods.len() > 1 && self.period_at(state.bodies.time) != self.period_at(state.sleep.begun)
    }

    /// The present value of everything that a change of the scene can set; `None` for worlds built by hand.
    pub fn values_in_force(&self) -> Option<&ChangeDoc> {
        self.periods.get(self.period).map(|period| &period.values)
    }

    /// The number of the step that ends nearest to a time, s.
    pub(crate) fn step_nearest(&self, time: f64) -> u64 {
        if self.periods.len() > 1 {
            self.info.steps.nearest(time)
        } else {
            sinew_engine::step_index(time, self.settings.dt)
        }
    }

    /// The period in force for the step that begins at a time, s.
    pub(super) fn period_at(&self, time: f64) -> usize {
        let is_due = |pair: &&[ScenePeriod]| pair[1].values.at_s <= time + 0.5 * pair[0].settings.dt;
        self.periods.windows(2).take_while(is_due).count()
    }

    pub(super) fn enter(&mut self, period: usize) {
        let Some(entered) = self.periods.get(period) else { return };
        self.period = period;
        self.settings = entered.settings;
        if !Arc::ptr_eq(&self.model, &entered.model) {
            self.model = Arc::clone(&entered.model);
            self.workspace.refit(&self.model);
        }
    }

    /// The recorded input of the step that begins at `time`, s: targets are those at its end, and what begins or
    /// ends at a certain time does so with the step whose middle comes next. Forces on points of bodies act where
    /// those are now.
    pub fn input_at(&self, time: f64) -> Input {
        let mut input = Input::default();
        let times = ScriptTimes::beginning_at(time, self.in_force_at(time).1.dt);
        self.playback.script.fill(self.mechanism(), &self.state.bodies, times, &mut Vec::new(), &mut input);
        input
    }

    /// Writes the recorded input of the step that leads on from a state of this world's model, as [`World::step`] would read it there; what it writes replaces what
    /// was in `input`. For many states of one scene, each at its own time. It does not follow changes of settings.
    ///
    /// ```
    /// use sinew_sim::{Input, SceneDoc, Workspace, World, digest, step};
    ///
    /// let text = r#"(format: 1, gravity: (0, 0, 0),
    ///   bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)])],
    ///   inputs: [Wrench(body: "ball", force: (0, 0, 1))],
    /// )"#;
    /// let mut world = World::from_scene(&SceneDoc::from_ron(text, "push.ron")?)?;
    /// let (mut state, mut input) = (world.checkpoint(), Input::default());
    /// world.fill_input(&state, &mut input);
    /// step(world.model(), &mut state, &input, world.settings(), &mut Workspace::new(world.model()));
    /// world.step();
    /// assert_eq!(digest(&state), world.digest());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fill_input(&self, state: &State, input: &mut Input) {
        let time = state.bodies.time;
        let times = ScriptTimes::beginning_at(time, self.in_force_at(time).1.dt);
        input.servos.clear();
        self.playback.script.fill(self.mechanism(), &state.bodies, times, &mut Vec::new(), input);
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
        let (start, is_implicit) = (&self.start.bodies, matches!(self.settings.scheme, Scheme::Implicit(_)));
        let compiled =
            |score| controller(score, tracks, self.mechanism(), reduced.looped(), start, is_implicit);
        let controller = score.map(compiled);
        let controller = controller.transpose()?;
        // Periods that share a model go on doing so.
        let mut replaced: Vec<(Arc<Model>, Arc<Model>)> = Vec::new();
        for model in self.periods.iter_mut().map(|period| &mut period.model).chain([&mut self.model]) {
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
        self.workspace.forget_controller();
        if let Some(scene) = &mut self.scene {
            Arc::make_mut(scene).set_score(score, tracks);
        }
        Ok(())
    }

    /// Name, length and sample times of the scene.
    pub fn info(&self) -> &SceneInfo {
        &self.info
    }
}
