//! A running scene: model, state, settings, recorded inputs and scratch in one value. World axes, SI.

mod clock;
mod edit;
pub(crate) mod frame;
mod gone;
mod moves;
mod place;
pub(crate) mod scene;
pub(crate) mod view;

use std::sync::Arc;

use glam::DVec3;
use sinew_compile::{RigidParts, SceneInfo, ScenePeriod, Script, ScriptTimes};
use sinew_contact::{ContactEvent, Groups, Owner, Probe, RayCast, SurfaceHit, TouchSide};
use sinew_engine::{
    Appearance, Contact, Model, NoticeCounts, RestoreError, Settings, Stage, State, StepReport, Watch,
    Workspace, digest, step_observed,
};
use sinew_flesh::SurfacePoint;
use sinew_math::{Force, Motion, Pose};
use sinew_mechanism::{
    Assembly, AssemblyReport, BodyId, DriveCoordinate, Energy, Input, JointId, JointReading, LoopStop,
    MuscleId, TransmissionId, TransmissionReading, Violation, joint_reading, transmission_reading,
};
use sinew_scene::{EditableScene, TrackPoint};

use self::clock::FrameClock;

/// A model with one state, its settings, its scratch and its recorded inputs.
///
/// For many states of one model, use [`crate::step`] and [`crate::step_batch`].
#[derive(Clone, Debug)]
pub struct World {
    /// The scene with its edits; none if the world was made from a model.
    scene: Option<Arc<EditableScene>>,
    model: Arc<Model>,
    /// The state at the beginning.
    start: State,
    state: State,
    settings: Settings,
    workspace: Workspace,
    /// The input of the step that led to the state.
    input: Input,
    appearance: Appearance,
    /// From change to change; none if the world was built by hand.
    periods: Vec<ScenePeriod>,
    /// Which of them is in force.
    period: usize,
    playback: ScriptReader,
    info: SceneInfo,
    clock: FrameClock,
    /// What steps told.
    notices: NoticeCounts,
    /// Names of what touched when the last edit removed it.
    gone: Arc<[String]>,
    /// For edits; none if they need the whole scene to be compiled.
    parts: Option<RigidParts>,
}

/// The recorded inputs of a scene.
#[derive(Clone, Debug, Default)]
struct ScriptReader {
    script: Script,
    /// Scratch: the tracks at the end of the step.
    points: Vec<TrackPoint>,
}

impl From<Script> for ScriptReader {
    fn from(script: Script) -> Self {
        Self { script, points: Vec::new() }
    }
}

impl World {
    /// A world of a model built by hand: no recorded inputs and no shapes.
    pub fn new(model: impl Into<Model>, settings: Settings) -> Self {
        let model: Arc<Model> = Arc::new(model.into());
        Self {
            scene: None,
            start: model.initial_state(),
            state: model.initial_state(),
            workspace: Workspace::new(&model),
            model,
            settings,
            input: Input::default(),
            appearance: Appearance::default(),
            periods: Vec::new(),
            period: 0,
            playback: ScriptReader::default(),
            info: SceneInfo::default(),
            clock: FrameClock::default(),
            notices: NoticeCounts::default(),
            gone: Arc::default(),
            parts: None,
        }
    }

    /// Advances by one step with the recorded inputs of the scene.
    pub fn step(&mut self) -> StepReport {
        self.step_observed(&mut |_: Stage| {})
    }

    /// [`World::step`] with an observer. If it ends the refinement of loops early, [`World::input`] holds the iterations made, so
    /// that replaying the inputs gives the same bits.
    pub fn step_observed(&mut self, watch: &mut dyn Watch) -> StepReport {
        self.take_changes();
        self.load_input(ScriptTimes::beginning_at(self.time(), self.settings.dt));
        self.make_step(watch)
    }

    /// Advances by one step with this input instead of the recorded ones.
    pub fn step_with(&mut self, input: &Input) -> StepReport {
        self.take_changes();
        self.input.clone_from(input);
        self.make_step(&mut |_: Stage| {})
    }

    /// The input of the last step.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// What the steps of this world told, each notice once with how often and since when; those that came before a state was restored
    /// included. Energy is judged by an [`EnergyAccount`](crate::EnergyAccount) beside the world.
    ///
    /// ```
    /// use sinew_sim::{BodyDoc, HealthNotice, Input, SceneDoc, Shape, World};
    ///
    /// let ball = BodyDoc::new("ball").shape(Shape::Sphere { radius: 0.1 });
    /// let mut world = World::from_scene(&SceneDoc::new("fall").with(ball))?;
    /// world.step();
    /// assert!(world.notices().are_good());
    /// world.step_with(&Input { spring_scale: f64::NAN, ..Input::default() });
    /// let ignored = world.notices().get(HealthNotice::IgnoredInput).expect("it was told");
    /// assert_eq!((ignored.steps, ignored.first_step), (1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn notices(&self) -> &NoticeCounts {
        &self.notices
    }

    /// A copy of the state, to be restored later or elsewhere.
    pub fn checkpoint(&self) -> State {
        self.state.clone()
    }

    /// Goes back to a state. From there on every step gives the same bits as it did then.
    ///
    /// # Errors
    /// If the state belongs to another model, or something in it is not finite; the world then stays as it is.
    pub fn restore(&mut self, state: &State) -> Result<(), RestoreError> {
        state.check(&self.model)?;
        self.state.clone_from(state);
        self.arrive();
        Ok(())
    }

    /// Goes back to the beginning, and forgets what steps told.
    pub fn reset(&mut self) {
        self.state.clone_from(&self.start);
        self.notices = NoticeCounts::default();
        self.arrive();
    }

    /// What each grab of the last implicit step did to its body: torque about the centre of mass (N·m) and force (N),
    /// world axes; the hand feels the opposite.
    pub fn grab_wrenches(&self) -> &[Force] {
        self.workspace.grab_wrenches()
    }

    /// Whether a body sleeps: it stays where it is until something wakes it.
    pub fn is_asleep(&self, body: BodyId) -> bool {
        self.state.sleep.is_asleep(body)
    }

    /// Wakes all bodies.
    pub fn wake(&mut self) {
        self.state.sleep.wake_all();
    }

    /// The contacts that acted in the step that led here. There are none until the next step at the beginning, in a clone, after a
    /// state was restored, after an assembly, and after a change of the scene that brought another model.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        self.workspace.contacts(&self.model)
    }

    /// What touched in the step that led here, one entry per pair of colliders or flesh, sorted: touches that began, stayed and ended. Sensors are
    /// included. Restoring a state restores its events.
    ///
    /// ```
    /// use sinew_sim::{SceneDoc, TouchPhase, World};
    ///
    /// let text = r#"(
    ///   format: 1,
    ///   bodies: [(name: "ball", pose: (position: (0, 0, 1)), shapes: [Sphere(radius: 0.1)])],
    ///   colliders: [
    ///     (name: "floor", shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),
    ///     (body: "ball", shape: OfBody),
    ///   ],
    /// )"#;
    /// let mut world = World::from_scene(&SceneDoc::from_ron(text, "drop.ron")?)?;
    /// for _ in 0..60 {
    ///     world.step();
    ///     for event in world.events().iter().filter(|event| event.phase == TouchPhase::Begin) {
    ///         let [a, b] = event.sides.map(|side| world.side_name(side));
    ///         assert_eq!((a, b), ("floor", "ball"));
    ///     }
    /// }
    /// assert_eq!(world.events()[0].phase, TouchPhase::Stay);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn events(&self) -> &[ContactEvent] {
        self.state.events.entries()
    }

    /// The name of a collider or of flesh. What touched when an edit removed it has its name until the next edit.
    pub fn side_name(&self, side: TouchSide) -> &str {
        if let Some(name) = self.gone_name(side) {
            return name;
        }
        match side {
            TouchSide::Collider(part) => self.model.collider_name(part),
            TouchSide::Flesh(flesh) => self.flesh_name(flesh as usize),
        }
    }

    /// The body that a collider belongs to; none for the world and for flesh.
    pub fn side_body(&self, side: TouchSide) -> Option<BodyId> {
        let TouchSide::Collider(part) = side else { return None };
        let contact = self.model.flesh().and_then(|flesh| flesh.contact());
        let models = contact.into_iter().chain(self.model.sensors().map(|sensors| sensors.colliders()));
        let mut owners = models.filter_map(|model| model.owner_of_part(part));
        owners.find_map(|owner| match owner {
            Owner::Body(body) => Some(BodyId::from_index(body as usize)),
            Owner::World => None,
        })
    }

    /// Everything that can be touched, where it is now, for many questions; world coordinates. Sensors, and flesh without `contact`, are not seen.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_sim::{Groups, Pose, RayCast, SceneDoc, Shape, World};
    ///
    /// let text = r#"(
    ///   format: 1,
    ///   bodies: [(name: "ball", pose: (position: (0, 0, 1)), shapes: [Sphere(radius: 0.1)])],
    ///   colliders: [
    ///     (name: "floor", shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),
    ///     (body: "ball", shape: OfBody),
    ///   ],
    /// )"#;
    /// let world = World::from_scene(&SceneDoc::from_ron(text, "look.ron")?)?;
    /// let probe = world.probe();
    /// let down = RayCast::new(DVec3::Z * 3.0, DVec3::NEG_Z);
    /// let first = probe.ray(&down).expect("the ball");
    /// assert_eq!(world.side_name(first.side), "ball");
    /// assert_eq!(world.side_body(first.side), world.body("ball"));
    /// assert!((first.distance - 1.9).abs() < 1e-12);
    /// let names: Vec<_> = probe.ray_all(&down).iter().map(|hit| world.side_name(hit.side)).collect();
    /// assert_eq!(names, ["ball", "floor"]);
    ///
    /// let near = probe.closest_point(DVec3::Z * 0.2, f64::INFINITY, Groups::ALL).expect("the floor");
    /// assert!(world.side_name(near.side) == "floor" && near.distance == 0.2);
    ///
    /// let room = Shape::Box { size: DVec3::ONE }.into();
    /// let found = probe.overlaps(&room, Pose::from_translation(DVec3::Z), Groups::ALL)?;
    /// assert_eq!(found.iter().map(|side| world.side_name(*side)).collect::<Vec<_>>(), ["ball"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn probe(&self) -> Probe<'_> {
        self.model.probe(&self.state)
    }

    /// The first place where a ray of the world meets a surface: [`World::probe`] for a single question.
    pub fn ray(&self, ray: &RayCast) -> Option<SurfaceHit> {
        self.probe().ray(ray)
    }

    /// The surface nearest to a point of the world (m), at most `reach` away (m), with its signed distance: [`World::probe`] for a single
    /// question.
    pub fn closest_point(&self, point: DVec3, reach: f64, groups: Groups) -> Option<SurfaceHit> {
        self.probe().closest_point(point, reach, groups)
    }

    /// Force of each joint on its body 1, its child, in the step that led here, world axes, N. After steps in joint coordinates it is known until
    /// a state is restored. Explicit and displacement steps do not tell it.
    pub fn joint_forces(&self) -> Vec<DVec3> {
        self.workspace.joint_forces(&self.model, &self.state)
    }

    /// What the last step left: joint wrenches and accelerations, if [`Settings::reactions`] asked for them.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Torque (N·m) or force (N) along a coordinate of a joint, of springs, limits, motors and actuators; without a coordinate, the
    /// length of the torque on a ball joint. Actuators are included once a step was made.
    pub fn joint_effort(&self, joint: JointId, along: Option<DriveCoordinate>) -> f64 {
        let given = (&self.input, self.settings.gravity);
        self.workspace.joint_effort(&self.model, &self.state, given, joint, along)
    }

    /// Moves the bodies until the joints are met: kinematic bodies at the targets of the input, hard grabs as trackers (inverse
    /// kinematics). Flesh goes along.
    pub fn assemble(&mut self, input: &Input, assembly: &Assembly) -> AssemblyReport {
        let Self { model, state, settings, workspace, .. } = self;
        sinew_engine::assemble(model, state, input, assembly, settings, workspace)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model, to be shared with states that outlive the world. An edit gives the world another one.
    pub fn shared_model(&self) -> Arc<Model> {
        Arc::clone(&self.model)
    }

    /// The bodies and joints of the model.
    pub fn mechanism(&self) -> &sinew_mechanism::Model {
        self.model.mechanism()
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state, to be changed by hand, which wakes all bodies; see [`sinew_mechanism::State::forget_history`].
    pub fn state_mut(&mut self) -> &mut State {
        self.state.sleep.wake_all();
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
        self.state.bodies.time
    }

    /// Fingerprint of all bits of the state.
    pub fn digest(&self) -> u64 {
        digest(&self.state)
    }

    /// Mechanical energy, J; joint springs count as far as they were switched on in the last step.
    pub fn energy(&self) -> Energy {
        sinew_engine::energy(&self.model, &self.state, self.settings.gravity, self.input.spring_scale)
    }

    /// Momentum of all dynamic bodies and flesh: angular about the world origin (kg·m²/s), linear (kg·m/s), world axes.
    pub fn momentum(&self) -> Force {
        sinew_engine::momentum(&self.model, &self.state)
    }

    /// Largest joint errors, m and rad.
    pub fn violation(&self) -> Violation {
        sinew_engine::violation(&self.model, &self.state, &self.input)
    }

    /// What to draw; empty for worlds built by hand.
    pub fn appearance(&self) -> &Appearance {
        &self.appearance
    }

    /// The body called `name`.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.mechanism().body(name)
    }

    /// The body of flesh called `name`, by its place among [`sinew_flesh::FleshModel::bodies`].
    pub fn flesh(&self, name: &str) -> Option<usize> {
        self.appearance.flesh.iter().position(|flesh| flesh.name == name)
    }

    /// The name of a body of flesh; empty if there is none of that number.
    pub fn flesh_name(&self, flesh: usize) -> &str {
        self.appearance.flesh.get(flesh).map_or("", |flesh| &flesh.name)
    }

    /// The number of a region of the flesh called `flesh`, for [`SkinPressure`](crate::SkinPressure) and [`SkinWind`](crate::SkinWind).
    pub fn region(&self, flesh: &str, region: &str) -> Option<u32> {
        let names = &self.appearance.flesh[self.flesh(flesh)?].regions;
        names.iter().position(|name| name == region).map(|place| place as u32 + 1)
    }

    /// The place in a body of flesh at a point of the world (m), as it is now, for [`FleshGrab`](crate::FleshGrab); the nearest of its skin if the point is outside. None
    /// if there is no such flesh.
    pub fn flesh_point(&self, flesh: usize, point: DVec3) -> Option<SurfacePoint> {
        let body = self.model.flesh()?.bodies().get(flesh)?;
        body.point_at(&self.state.flesh.nodes.get(flesh)?.positions, point)
    }

    /// The muscle of a region of the flesh called `flesh`, for [`Input::activations`].
    pub fn muscle(&self, flesh: &str, region: &str) -> Option<MuscleId> {
        let flesh = self.flesh(flesh)?;
        let muscle = self.appearance.flesh[flesh].muscles.iter().position(|name| name == region)?;
        self.model.flesh()?.muscle(flesh, muscle)
    }

    /// The joint called `name`.
    pub fn joint(&self, name: &str) -> Option<JointId> {
        self.mechanism().joint(name)
    }

    /// The rope or gear called `name`.
    pub fn transmission(&self, name: &str) -> Option<TransmissionId> {
        self.mechanism().transmission(name)
    }

    /// Length and tension of a rope, or value and force of a gear, of the last step.
    pub fn transmission_reading(&self, transmission: TransmissionId) -> TransmissionReading {
        transmission_reading(self.mechanism(), &self.state.bodies, transmission)
    }

    /// Pose of a body frame, `world_from_body`.
    ///
    /// # Panics
    /// If the id is not one of this world as it is now; [`World::get`] with a handle does not.
    pub fn pose(&self, body: BodyId) -> Pose {
        self.mechanism().body_pose(&self.state.bodies, body)
    }

    /// Angular velocity of a body (rad/s), and the velocity (m/s) of the origin of its body frame, world axes.
    pub fn motion(&self, body: BodyId) -> Motion {
        let central = self.state.bodies.motions[body.index()];
        let arm = self.pose(body).translation - self.state.bodies.poses[body.index()].translation;
        Motion::new(central.angular, central.linear + central.angular.cross(arm))
    }

    /// Coordinates of a joint and their rates: along its axis, and in its frame 2.
    pub fn reading(&self, joint: JointId) -> JointReading {
        joint_reading(self.mechanism(), &self.state.bodies, joint)
    }

    fn make_step(&mut self, watch: &mut dyn Watch) -> StepReport {
        let Self { model, state, input, settings, workspace, .. } = self;
        let mut report = step_observed(model, state, input, settings, workspace, watch);
        if report.mechanism.loops.stop == LoopStop::Asked {
            self.input.loop_iterations = Some(report.mechanism.loops.iterations);
        }
        if self.periods.len() > 1 && !report.health.refused {
            report.index = self.info.steps.nearest(report.time);
        }
        self.notices.note(&report, &self.model);
        report
    }

    /// Prepares for a state that no step led to.
    fn arrive(&mut self) {
        self.take_changes();
        self.workspace.forget_last_step();
        self.clock = FrameClock::default();
        self.load_input(ScriptTimes::ending_at(self.time(), self.settings.dt));
    }

    /// Reads the recorded input of a step.
    fn load_input(&mut self, times: ScriptTimes) {
        let Self { model, state, playback, input, .. } = self;
        let ScriptReader { script, points } = playback;
        script.fill(model.mechanism(), &state.bodies, times, points, input);
    }
}
