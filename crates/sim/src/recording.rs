//! Recordings of runs, from which the state after any step can be restored, whatever was changed on the way.
//!
//! A recording keeps the input of every step and a copy of the state every `every` steps. States between are found by stepping again
//! from the copy before, which gives the same bits because a step depends on nothing but model, state, input and settings. Where one of the first
//! three changes between two steps (an edit, a change of the scene, another setting, a body that is put elsewhere), a *leg* begins, which
//! keeps what holds from there. Memory: one state per `every` steps and per leg, one input per step, one scene per edit. Cost of a rewind:
//! at most `every − 1` steps, and a compilation if the parts were others.

use std::num::NonZeroUsize;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use sinew_compile::BuildError;
use sinew_engine::{Model, Settings, State, StepReport, Workspace, step};
use sinew_mechanism::Input;
use sinew_scene::{EditableScene, SceneDoc, SceneHandles};

use crate::World;
use crate::saved_files::SavedFiles;
use crate::world::scene::PartsNow;

/// Inputs and checkpoints of a run of one world, with its edits.
///
/// ```
/// use sinew_sim::{BodyDoc, ColliderDoc, DVec3, Recording, SceneDoc, Shape, World};
///
/// let ball = BodyDoc::new("ball").at(DVec3::Z).shape(Shape::Sphere { radius: 0.1 }).touching();
/// let mut world = World::from_scene(&SceneDoc::new("yard").with(ColliderDoc::floor(0.0)).with(ball))?;
/// let ball = world.find::<BodyDoc>("ball").expect("it is there");
/// let mut recording = Recording::new(&world, 10);
/// let mut digests = vec![world.digest()];
/// for i in 0..40 {
///     if i == 25 {
///         world.remove(ball)?;
///     }
///     recording.step(&mut world);
///     digests.push(world.digest());
/// }
/// recording.rewind(&mut world, 17)?;
/// assert_eq!(world.digest(), digests[17]);
/// assert!(world.get(ball).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It can be saved and read with serde, which keeps every bit that the format keeps. Handles from before are valid in worlds that a recording which was read takes
/// back; parts that come later have others.
#[derive(Clone, Debug)]
pub struct Recording {
    every: NonZeroUsize,
    /// In order of their first steps; the first is 0.
    legs: Vec<Leg>,
    /// State after step `i · every`.
    checkpoints: Vec<State>,
    inputs: Vec<Input>,
    /// State after the last step.
    last: State,
}

/// Steps with one model and the same settings, from one state.
#[derive(Clone, Debug)]
struct Leg {
    /// Number of steps before.
    first: usize,
    parts: PartsNow,
    settings: Settings,
    start: State,
}

impl Leg {
    fn of(world: &World, first: usize) -> Self {
        Self { first, parts: world.parts_now(), settings: *world.settings(), start: world.checkpoint() }
    }

    /// Whether a world would make its next step as those of this leg.
    fn goes_on(&self, world: &World) -> bool {
        std::ptr::eq(&*self.parts.model, world.model()) && self.settings == *world.settings()
    }
}

impl Recording {
    /// Begins at the present state of a world; a copy of the state is kept every `every` steps (at least 1).
    pub fn new(world: &World, every: usize) -> Self {
        let start = world.checkpoint();
        Self {
            every: NonZeroUsize::new(every).unwrap_or(NonZeroUsize::MIN),
            legs: vec![Leg::of(world, 0)],
            checkpoints: vec![start.clone()],
            inputs: Vec::new(),
            last: start,
        }
    }

    /// Number of steps recorded.
    pub fn n_steps(&self) -> usize {
        self.inputs.len()
    }

    /// The inputs, one per step.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// [`World::step`], recorded.
    pub fn step(&mut self, world: &mut World) -> StepReport {
        self.step_by(world, World::step)
    }

    /// Records a step that `make` makes with one of the step functions of [`World`].
    pub fn step_by<T>(&mut self, world: &mut World, make: impl FnOnce(&mut World) -> T) -> T {
        world.take_changes();
        let goes_on = self.legs.last().is_some_and(|leg| leg.goes_on(world));
        if !goes_on || self.last != *world.state() {
            self.legs.push(Leg::of(world, self.n_steps()));
        }
        let made = make(world);
        self.inputs.push(world.input().clone());
        self.last.clone_from(world.state());
        if self.n_steps().is_multiple_of(self.every.get()) {
            self.checkpoints.push(self.last.clone());
        }
        made
    }

    /// The state after `n_steps` steps, with the bits it had then; `None` if so many were not recorded.
    pub fn state_after(&self, n_steps: usize) -> Option<State> {
        if n_steps > self.n_steps() {
            return None;
        }
        let kept = n_steps / self.every;
        let (mut state, mut next) = (self.checkpoints[kept].clone(), kept * self.every.get());
        let mut work: Option<(&Arc<Model>, Workspace)> = None;
        while next < n_steps {
            let leg = self.leg_of(next);
            if leg.first == next {
                state.clone_from(&leg.start);
            }
            let model = &leg.parts.model;
            let fitting = work.take().filter(|(other, _)| Arc::ptr_eq(other, model));
            let (_, workspace) = work.insert(fitting.unwrap_or_else(|| (model, Workspace::new(model))));
            step(model, &mut state, &self.inputs[next], &leg.settings, workspace);
            next += 1;
        }
        Some(state)
    }

    /// Takes a world of this run to where it was after `n_steps` steps: state, parts with their handles, and settings. It goes on from there with the
    /// same bits. Handles of parts that came later mean nothing from then on: parts that come after the rewind have others.
    ///
    /// # Errors
    /// If so many steps were not recorded; the world then stays as it is.
    pub fn rewind(&self, world: &mut World, n_steps: usize) -> Result<(), RewindError> {
        let past_the_end = RewindError::NotRecorded { asked: n_steps, recorded: self.n_steps() };
        let state = self.state_after(n_steps).ok_or(past_the_end)?;
        let leg = if n_steps == 0 { &self.legs[0] } else { self.leg_of(n_steps - 1) };
        world.go_back(&leg.parts, leg.settings, &state).map_err(RewindError::Build)
    }

    /// A world of this run where it was after `n_steps` steps, to look at a recording that was read: see [`Recording::rewind`].
    ///
    /// # Errors
    /// If so many steps were not recorded, or the run is one of a model without a scene.
    pub fn world_after(&self, n_steps: usize) -> Result<World, RewindError> {
        let scene = self.legs[0].parts.scene.as_ref().ok_or(RewindError::NoScene)?;
        let mut world = World::from_editable(EditableScene::clone(scene)).map_err(RewindError::Build)?;
        self.rewind(&mut world, n_steps)?;
        Ok(world)
    }

    /// Makes all steps again, shows each with its report, and returns the world at the end. It has the bits of then if nothing has changed
    /// but the machine: compare [`World::state`] with [`Recording::state_after`].
    ///
    /// # Errors
    /// As [`Recording::world_after`].
    pub fn replay(&self, mut show: impl FnMut(&World, &StepReport)) -> Result<World, RewindError> {
        let mut world = self.world_after(0)?;
        let mut next_leg = 0;
        for (i, input) in self.inputs.iter().enumerate() {
            while let Some(leg) = self.legs.get(next_leg).filter(|leg| leg.first == i) {
                world.go_back(&leg.parts, leg.settings, &leg.start).map_err(RewindError::Build)?;
                next_leg += 1;
            }
            let report = world.step_with(input);
            show(&world, &report);
        }
        Ok(world)
    }

    /// Forgets everything after `n_steps` steps, so that the run can take another turn from there. Nothing if there are not more.
    pub fn truncate(&mut self, n_steps: usize) {
        let Some(last) = self.state_after(n_steps) else { return };
        self.last = last;
        self.inputs.truncate(n_steps);
        self.checkpoints.truncate(n_steps / self.every + 1);
        self.legs.retain(|leg| leg.first < n_steps.max(1));
    }

    /// The leg that the step after `n_before` steps belongs to.
    fn leg_of(&self, n_before: usize) -> &Leg {
        let end = self.legs.partition_point(|leg| leg.first <= n_before);
        &self.legs[end.max(1) - 1]
    }
}

/// Why a world cannot be taken to a moment of a recording.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RewindError {
    /// The recording ends before.
    NotRecorded {
        /// Steps asked for.
        asked: usize,
        /// Steps there are.
        recorded: usize,
    },
    /// The scene of then does not compile, which it did.
    Build(BuildError),
    /// The run is one of a model without a scene.
    NoScene,
}

impl std::fmt::Display for RewindError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotRecorded { asked, recorded } => {
                write!(
                    f,
                    "step {asked} was not recorded; the recording has {recorded} steps (Recording::n_steps)"
                )
            }
            Self::Build(error) => error.fmt(f),
            Self::NoScene => f.write_str(
                "the recording has no scene: its world was made from a model; rewind a world of that model",
            ),
        }
    }
}

impl std::error::Error for RewindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotRecorded { .. } | Self::NoScene => None,
            Self::Build(error) => Some(error),
        }
    }
}

/// The scenes of a recording with their handles, if they have any, as copies of the first one.
fn with_handles<'a>(
    scenes: &'a [SceneDoc],
    handles: &'a [SceneHandles],
) -> impl Iterator<Item = Option<EditableScene>> + 'a {
    let mut first: Option<EditableScene> = None;
    scenes.iter().enumerate().map(move |(index, scene)| {
        let mut scene = match handles.get(index) {
            Some(handles) => EditableScene::with_handles(scene, handles)?,
            None => EditableScene::new(scene),
        };
        match &first {
            Some(first) => scene.share_handles(first),
            None => first = Some(scene.clone()),
        }
        Some(scene)
    })
}

/// A recording as it is saved.
#[derive(Serialize, Deserialize)]
struct SavedRecording {
    every: NonZeroUsize,
    scenes: Vec<SceneDoc>,
    /// Older recordings have none.
    #[serde(default)]
    files: SavedFiles,
    /// Per scene; older recordings have none.
    #[serde(default)]
    handles: Vec<SceneHandles>,
    legs: Vec<SavedLeg>,
    checkpoints: Vec<State>,
    inputs: Vec<Input>,
    last: State,
}

#[derive(Serialize, Deserialize)]
struct SavedLeg {
    first: usize,
    /// Number among the scenes.
    scene: usize,
    /// Names of what touched when the edit before it removed it.
    #[serde(default)]
    gone: Vec<String>,
    settings: Settings,
    start: State,
}

impl Serialize for Recording {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut scenes: Vec<&Arc<EditableScene>> = Vec::new();
        let mut legs = Vec::new();
        for leg in &self.legs {
            let scene = leg.parts.scene.as_ref().ok_or_else(|| {
                ser::Error::custom(
                    "a world made from a model has no scene to save; save its states with state_to_bytes",
                )
            })?;
            if !scenes.last().is_some_and(|last| Arc::ptr_eq(last, scene)) {
                scenes.push(scene);
            }
            let Leg { first, settings, .. } = *leg;
            let (scene, gone) = (scenes.len() - 1, leg.parts.gone.to_vec());
            legs.push(SavedLeg { first, scene, gone, settings, start: leg.start.clone() });
        }
        let handles = scenes.iter().map(|scene| scene.handles()).collect();
        let scenes: Vec<SceneDoc> = scenes.into_iter().map(|scene| scene.scene().clone()).collect();
        let files = SavedFiles::of(&scenes);
        let Self { every, checkpoints, inputs, last, .. } = self.clone();
        SavedRecording { every, scenes, files, handles, legs, checkpoints, inputs, last }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Recording {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = SavedRecording::deserialize(deserializer)?;
        let SavedRecording { every, mut scenes, files, handles, legs, checkpoints, inputs, last } = saved;
        files.give(&mut scenes);
        let begins = legs.first().is_some_and(|leg| leg.first == 0);
        if !begins || checkpoints.len() != inputs.len() / every + 1 {
            return Err(de::Error::custom("the recording is damaged: a state is missing"));
        }
        let mut worlds = Vec::new();
        for scene in with_handles(&scenes, &handles) {
            let scene =
                scene.ok_or_else(|| de::Error::custom("the recording is damaged: handles of other parts"))?;
            worlds.push(World::from_editable(scene).map_err(de::Error::custom)?);
        }
        let mut read = Vec::new();
        for SavedLeg { first, scene, gone, settings, start } in legs {
            let world = worlds
                .get_mut(scene)
                .ok_or_else(|| de::Error::custom("the recording is damaged: a scene is missing"))?;
            // Its time tells which of the models of the scene holds.
            world.restore(&start).map_err(de::Error::custom)?;
            let parts = PartsNow { gone: gone.into(), ..world.parts_now() };
            read.push(Leg { first, parts, settings, start });
        }
        Ok(Self { every, legs: read, checkpoints, inputs, last })
    }
}
