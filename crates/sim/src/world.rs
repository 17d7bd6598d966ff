//! A scene that runs: model, state, settings and scratch in one value.
//!
//! A scene with changes is a row of stages, each with its own settings and, where stiffness, damping, friction or joint coordinates
//! change, its own model. Stage k + 1 is in force for a step that begins at t if its time is at most t + h/2, h being the length of
//! steps in stage k. The state is carried over as it is: what the next step needs of the last one knows how long that was. So the
//! stage follows from the time alone, and whoever restores a state goes on with the bits of the run.

use std::sync::Arc;

use sinew_math::{Force, Pose};
use sinew_mechanism::{
    Assembly, AssemblyReport, BodyId, Energy, Input, JointId, JointReading, LoopStop, Settings, Stage,
    Violation, Watch, assemble, joint_reading, violation,
};

use crate::draw::Looks;
#[cfg(feature = "scene")]
use crate::script::{Script, When};
#[cfg(feature = "scene")]
use crate::stages::{Stage as SceneStage, stages};
use crate::whole::Acted;
use crate::{Contact, DrawList, Model, State, StepReport, Workspace, digest, step_observed};

/// A model with one state, its settings, its scratch and its recorded inputs.
///
/// Whoever wants many states of one model, or no owner at all, uses [`crate::step`] and [`crate::step_batch`].
#[derive(Clone, Debug)]
pub struct World {
    model: Arc<Model>,
    /// The state that the world began with.
    start: State,
    state: State,
    settings: Settings,
    workspace: Workspace,
    /// The input of the step that led to the state.
    input: Input,
    looks: Looks,
    /// From change to change; none if the world was built by hand.
    #[cfg(feature = "scene")]
    stages: Vec<SceneStage>,
    /// Which of them is in force.
    #[cfg(feature = "scene")]
    stage: usize,
    #[cfg(feature = "scene")]
    script: Script,
    /// Scratch: the tracks at the end of the step.
    #[cfg(feature = "scene")]
    track_points: Vec<sinew_scene::TrackPoint>,
    #[cfg(feature = "scene")]
    info: crate::SceneInfo,
}

/// A state that does not belong to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the state has {found_bodies} bodies and {found_joints} joints, the model {bodies} and {joints}; \
     restore states of the same scene"
)]
pub struct StateMismatch {
    /// Bodies of the model.
    pub bodies: usize,
    /// Joints of the model.
    pub joints: usize,
    /// Bodies of the state.
    pub found_bodies: usize,
    /// Joints of the state.
    pub found_joints: usize,
}

impl World {
    /// A world of a model built by hand: no recorded inputs, nothing known about shapes.
    pub fn new(model: impl Into<Model>, settings: Settings) -> Self {
        let model: Arc<Model> = Arc::new(model.into());
        Self {
            start: model.initial_state(),
            state: model.initial_state(),
            workspace: Workspace::new(&model),
            model,
            settings,
            input: Input::default(),
            looks: Looks::default(),
            #[cfg(feature = "scene")]
            stages: Vec::new(),
            #[cfg(feature = "scene")]
            stage: 0,
            #[cfg(feature = "scene")]
            script: Script::default(),
            #[cfg(feature = "scene")]
            track_points: Vec::new(),
            #[cfg(feature = "scene")]
            info: crate::SceneInfo::default(),
        }
    }

    /// Advances by one step with the recorded inputs of the scene.
    pub fn step(&mut self) -> StepReport {
        self.step_observed(&mut |_: Stage| {})
    }

    /// [`World::step`], watched. If the watch ends the refinement of loops early, [`World::input`] holds the iterations made,
    /// so that replaying the inputs gives the same bits.
    pub fn step_observed(&mut self, watch: &mut dyn Watch) -> StepReport {
        self.take_changes();
        self.load_input(Moment::Next);
        self.advance(watch)
    }

    /// Advances by one step with this input instead of the recorded ones.
    pub fn step_with(&mut self, input: &Input) -> StepReport {
        self.take_changes();
        copy_input(input, &mut self.input);
        self.advance(&mut |_: Stage| {})
    }

    /// The input of the last step.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// A copy of the state, to be restored later or elsewhere.
    pub fn checkpoint(&self) -> State {
        self.state.clone()
    }

    /// Goes back to a state; from there on every step gives the same bits as it did then.
    ///
    /// # Errors
    /// If the state has another number of bodies or joints.
    pub fn restore(&mut self, state: &State) -> Result<(), StateMismatch> {
        let (bodies, joints) = (self.model.n_bodies(), self.model.n_joints());
        let (found_bodies, found_joints) = (state.poses.len(), state.twists.len());
        if !state.fits(&self.model) {
            return Err(StateMismatch { bodies, joints, found_bodies, found_joints });
        }
        self.state.clone_from(state);
        self.take_changes();
        self.workspace.acted = Acted::Nothing;
        self.load_input(Moment::Last);
        Ok(())
    }

    /// Goes back to the beginning.
    pub fn reset(&mut self) {
        self.state.clone_from(&self.start);
        self.take_changes();
        self.workspace.acted = Acted::Nothing;
        self.load_input(Moment::Last);
    }

    /// What each grab of the last implicit step did to its body: torque about the centre of mass (N·m) and force (N),
    /// world axes; the hand feels the opposite.
    pub fn grab_wrenches(&self) -> &[Force] {
        self.workspace.grab_wrenches()
    }

    /// The contacts that acted in the step that led here; none at the beginning and after a state was restored, until
    /// the next step.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        self.workspace.contacts(&self.model)
    }

    /// Brings the bodies together until the joints are met, wherever they are now: kinematic bodies at the goals of the
    /// input, hard grabs as trackers (inverse kinematics).
    pub fn assemble(&mut self, input: &Input, settings: &Assembly) -> AssemblyReport {
        self.workspace.acted = Acted::Nothing;
        let (bodies, work) = (&mut self.state.bodies, &mut self.workspace.mechanism);
        let report = assemble(&self.model, bodies, input, settings, &self.settings.loops, work);
        if let Some(flesh) = self.model.flesh() {
            flesh.follow(&self.state.bodies, &mut self.state.flesh);
        }
        report
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state, to be changed by hand; see [`State::forget_history`].
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The settings, to be changed between steps; a change of the scene replaces them.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Fingerprint of all bits of the state.
    pub fn digest(&self) -> u64 {
        digest(&self.state)
    }

    /// Mechanical energy, J; joint springs count as far as they were switched on in the last step.
    pub fn energy(&self) -> Energy {
        self.model.energy(&self.state, self.settings.gravity, self.input.spring_scale)
    }

    /// Momentum of all dynamic bodies and flesh: angular about the world origin (kg·m²/s), linear (kg·m/s).
    pub fn momentum(&self) -> Force {
        self.model.momentum(&self.state)
    }

    /// How far the joints are from being met, m and rad.
    pub fn violation(&self) -> Violation {
        violation(&self.model, &self.state, &self.input)
    }

    /// The body called `name`.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.model.body(name)
    }

    /// The body of flesh called `name`, by its place among [`sinew_flesh::FleshModel::bodies`].
    pub fn flesh(&self, name: &str) -> Option<usize> {
        self.looks.flesh.iter().position(|look| look.name == name)
    }

    /// The joint called `name`.
    pub fn joint(&self, name: &str) -> Option<JointId> {
        self.model.joint(name)
    }

    /// Pose of a body frame, `world_from_body`.
    pub fn pose(&self, body: BodyId) -> Pose {
        self.model.body_pose(&self.state, body)
    }

    /// Coordinates of a joint and their rates.
    pub fn reading(&self, joint: JointId) -> JointReading {
        joint_reading(&self.model, &self.state, joint)
    }

    /// Replaces the list by what there is to draw now.
    pub fn draw(&self, list: &mut DrawList) {
        self.looks.draw(&self.model, &self.state, &self.input, list);
    }

    fn advance(&mut self, watch: &mut dyn Watch) -> StepReport {
        #[cfg_attr(not(feature = "scene"), expect(unused_mut, reason = "only scenes have changes"))]
        let mut report = step_observed(
            &self.model,
            &mut self.state,
            &self.input,
            &self.settings,
            &mut self.workspace,
            watch,
        );
        if report.mechanism.loops.stop == LoopStop::Asked {
            self.input.loop_iterations = Some(report.mechanism.loops.iterations);
        }
        #[cfg(feature = "scene")]
        if self.stages.len() > 1 && !report.health.refused {
            report.index = self.info.steps.nearest(report.time);
        }
        report
    }

    /// Without scenes there are no changes.
    #[cfg(not(feature = "scene"))]
    fn take_changes(&mut self) {}

    /// Without scenes there are no recorded inputs.
    #[cfg(not(feature = "scene"))]
    fn load_input(&mut self, _: Moment) {
        self.input = Input::default();
    }

    /// Reads the recorded input of a step.
    #[cfg(feature = "scene")]
    fn load_input(&mut self, moment: Moment) {
        let dt = self.settings.dt;
        let when = match moment {
            Moment::Next => When::beginning_at(self.state.time, dt),
            Moment::Last => When::ending_at(self.state.time, dt),
        };
        self.script.fill(&self.model, &self.state, when, &mut self.track_points, &mut self.input);
    }
}

/// A step next to the present state.
#[derive(Clone, Copy)]
enum Moment {
    /// The one that begins here.
    Next,
    /// The one that led here.
    Last,
}

#[cfg(feature = "scene")]
impl World {
    /// Builds a scene: generators are expanded, names resolved, the elimination planned.
    ///
    /// # Errors
    /// Everything that breaks a rule of the format, or the first thing that the mechanism cannot be built with;
    /// see [`crate::BuildError::fields`] for the places.
    pub fn from_scene(scene: &sinew_scene::SceneDoc) -> Result<Self, crate::BuildError> {
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
    pub fn with_changes(&self, scene: &sinew_scene::SceneDoc) -> Result<Self, crate::BuildError> {
        sinew_scene::validate(scene).map_err(crate::BuildError::Scene)?;
        let said = scene.settings_after(scene.changes_at_start());
        let first = self.stages.first().filter(|first| said.beyond(&first.said).is_empty());
        let mut world = match first {
            Some(first) => {
                let mut world = self.clone();
                world.stages = stages(scene, first.clone(), &self.stages, &self.start)?;
                world.info = crate::SceneInfo { assembly: self.info.assembly, ..crate::build::info(scene) };
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
    pub fn said(&self) -> Option<&sinew_scene::ChangeDoc> {
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
    pub fn set_score(
        &mut self,
        score: Option<&sinew_scene::ScoreDoc>,
        tracks: &[sinew_scene::TrackDoc],
    ) -> Result<(), crate::BuildError> {
        let Some(reduced) = self.model.reduced() else {
            return Err(crate::BuildError::Unsupported {
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
    pub fn info(&self) -> &crate::SceneInfo {
        &self.info
    }
}

/// Copies an input into one that may already have room for it.
pub(crate) fn copy_input(from: &Input, to: &mut Input) {
    to.kinematic.clone_from(&from.kinematic);
    to.wrenches.clone_from(&from.wrenches);
    to.grabs.clone_from(&from.grabs);
    to.motors.clone_from(&from.motors);
    to.drives.clone_from(&from.drives);
    to.released.clone_from(&from.released);
    to.spring_scale = from.spring_scale;
    to.loop_iterations = from.loop_iterations;
}
