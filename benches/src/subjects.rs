//! What is timed: a mechanism built in code, and a fixture scene.

use crate::{Subject, SuiteFailure};
use sinew_mechanism::{Input, Model, Settings, State, StepReport, Workspace, step, step_observed};
use sinew_sim::{SceneDoc, Stage, World, digest};
use std::path::Path;

/// A model with its state, through the mechanism crate alone.
pub struct MechanismRun {
    model: Model,
    settings: Settings,
    input: Input,
    state: State,
    saved: State,
    workspace: Workspace,
    report: StepReport,
}

impl MechanismRun {
    /// At the beginning of its motion.
    pub fn new(model: Model, settings: Settings) -> Self {
        let state = model.initial_state();
        let workspace = Workspace::new(&model);
        let (input, saved, report) = (Input::default(), State::default(), StepReport::default());
        Self { model, settings, input, saved, state, workspace, report }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What the last step reported.
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// The input of the steps to come.
    pub fn input_mut(&mut self) -> &mut Input {
        &mut self.input
    }

    /// Bytes that model, state and workspace say they hold.
    pub fn bytes(&self) -> usize {
        self.model.bytes() + self.workspace.bytes() + state_bytes(&self.state)
    }
}

impl Subject for MechanismRun {
    fn n_links(&self) -> usize {
        self.model.n_bodies()
    }

    fn save(&mut self) {
        self.saved.clone_from(&self.state);
    }

    fn restore(&mut self) {
        self.state.clone_from(&self.saved);
    }

    fn step(&mut self) {
        let Self { model, state, input, settings, workspace, .. } = self;
        self.report = step(model, state, input, settings, workspace);
        assert_eq!(self.report.non_finite, None, "the motion that is timed has broken down");
    }

    fn step_observed(&mut self, mut done: &mut dyn FnMut(Stage)) {
        let Self { model, state, input, settings, workspace, .. } = self;
        self.report = step_observed(model, state, input, settings, workspace, &mut done);
    }

    fn digest(&self) -> Option<u64> {
        Some(digest(&self.state.clone().into()))
    }
}

/// Bytes of the lists of a state.
fn state_bytes(state: &State) -> usize {
    use std::mem::size_of_val;
    size_of_val(state.poses.as_slice())
        + size_of_val(state.motions.as_slice())
        + size_of_val(state.twists.as_slice())
        + size_of_val(state.pulls.as_slice())
        + size_of_val(state.history.motions.as_slice())
        + size_of_val(state.history.increments.as_slice())
}

/// A fixture by name, such as `hand`, as a document.
pub(crate) fn fixture(name: &str) -> Result<SceneDoc, SuiteFailure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/mechanisms");
    Ok(SceneDoc::load(&folder.join(format!("{name}.ron")))?)
}

/// A fixture scene with its recorded inputs, through the facade.
pub struct SceneRun {
    world: World,
    saved: sinew_sim::State,
}

impl SceneRun {
    /// A fixture by name, such as `hand`.
    ///
    /// # Errors
    /// If there is no such fixture or it is not valid.
    pub fn fixture(name: &str) -> Result<Self, SuiteFailure> {
        Self::new(&fixture(name)?)
    }

    /// Any scene.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn new(scene: &SceneDoc) -> Result<Self, SuiteFailure> {
        Ok(Self { world: World::from_scene(scene)?, saved: sinew_sim::State::default() })
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to change its settings.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }
}

impl Subject for SceneRun {
    fn n_links(&self) -> usize {
        self.world.mechanism().n_bodies()
    }

    fn save(&mut self) {
        self.saved = self.world.checkpoint();
    }

    fn restore(&mut self) {
        self.world.restore(&self.saved).expect("the state is one of this world");
    }

    fn step(&mut self) {
        let report = self.world.step();
        assert_eq!(report.health.non_finite, None, "the motion that is timed has broken down");
    }

    fn step_observed(&mut self, mut done: &mut dyn FnMut(Stage)) {
        self.world.step_observed(&mut done);
    }

    fn digest(&self) -> Option<u64> {
        Some(self.world.digest())
    }
}
