//! A scene that runs: model, state, settings and scratch in one value.

#[cfg(feature = "scene")]
mod scene;

use std::sync::Arc;

use glam::DVec3;
use sinew_math::{Force, Pose};
use sinew_mechanism::{
    Assembly, AssemblyOutcome, AssemblyReport, BodyId, DriveCoordinate, Energy, Input, JointId, JointReading,
    LoopStop, Settings, Stage, Violation, Watch, assemble, joint_reading, violation,
};

use crate::draw::Looks;
#[cfg(feature = "scene")]
use crate::script::{Script, When};
#[cfg(feature = "scene")]
use crate::stages::Stage as SceneStage;
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

    /// The contacts that acted in the step that led here; none at the beginning, in a clone, and after a state was restored,
    /// bodies were brought together, or a change of the scene came with another model, until the next step.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        self.workspace.contacts(&self.model)
    }

    /// Force of each joint on its body 1 in the step that led here, world axes, N. After steps in joint coordinates it is there until a
    /// state is restored; steps that are neither implicit nor in joint coordinates tell none.
    pub fn joint_forces(&self) -> Vec<DVec3> {
        self.workspace.joint_forces(&self.model, &self.state)
    }

    /// Torque (N·m) or force (N) along a coordinate of a joint, of springs, stops, motors and actuators; without a coordinate, the
    /// length of the torque that turns a ball joint. Actuators are there once a step was made.
    pub fn joint_effort(&self, joint: JointId, along: Option<DriveCoordinate>) -> f64 {
        self.workspace.joint_effort(&self.model, &self.state, &self.input, joint, along)
    }

    /// Brings the bodies together until the joints are met, wherever they are now: kinematic bodies at the goals of the
    /// input, hard grabs as trackers (inverse kinematics). Flesh goes along ([`sinew_flesh::FleshModel::carry`]).
    pub fn assemble(&mut self, input: &Input, settings: &Assembly) -> AssemblyReport {
        self.workspace.acted = Acted::Nothing;
        let before = self.model.flesh().map(|_| self.state.bodies.clone());
        let (bodies, work) = (&mut self.state.bodies, &mut self.workspace.mechanism);
        let report = assemble(&self.model, bodies, input, settings, &self.settings.loops, work);
        if let (Some(flesh), Some(before)) = (self.model.flesh(), before)
            && report.outcome != AssemblyOutcome::Refused
        {
            flesh.carry(&before, &self.state.bodies, &mut self.state.flesh, &mut self.workspace.carry);
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

    /// The state, to be changed by hand; see [`sinew_mechanism::State::forget_history`].
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

    /// The name of a body of flesh; empty if there is none of that number.
    pub fn flesh_name(&self, flesh: usize) -> &str {
        self.looks.flesh.get(flesh).map_or("", |look| &look.name)
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
