//! A session: an open scene, its world, its recording, and the grabs of the mouse. No window, no clock, no thread.
//!
//! Within the recorded steps, playing repeats them. A grab or a change in between discards the later steps and starts
//! a new branch. Stepping never fails: when the state is no longer finite, playing stops and [`Session::trouble`]
//! gives the reason; rewinding restores a finite state. Posing by hand (inverse kinematics while paused) moves bodies
//! to poses outside the recording; it ends with the next step or seek.

use std::{mem, path::Path, sync::Arc};

use glam::DVec3;
use sinew_scene::SceneDoc;
use sinew_sim::{Assembly, BodyId, FleshGrab, Grab, Input, World};

use crate::snapshot::{Measured, SnapshotWishes};
use crate::timeline::{BUDGET, NumberedFleshGrab, NumberedGrab, Timeline};
use crate::{
    curves::SessionCurves, fault::Fault, open_scene::OpenScene, overview::SceneOverview, pacing::StepPacer,
};

/// An open scene in use. Clones share the checkpoints of the recording.
#[derive(Clone)]
pub struct Session {
    pub(crate) opened: OpenScene,
    pub(crate) overview: Arc<SceneOverview>,
    pub(crate) world: World,
    /// Index of the document of the timeline that the world was built from.
    pub(crate) built: usize,
    pub(crate) timeline: Timeline,
    pub(crate) step: u64,
    pub(crate) grabs: MouseGrabs,
    pub(crate) is_posed: bool,
    pub(crate) is_playing: bool,
    pub(crate) pacer: StepPacer,
    pub(crate) wishes: SnapshotWishes,
    pub(crate) curves: SessionCurves,
    pub(crate) measured: Measured,
    pub(crate) trouble: Option<String>,
    pub(crate) opening: u64,
    pub(crate) input: Input,
}

/// Grabs of the mouse that act in the next step.
#[derive(Clone, Default)]
pub(crate) struct MouseGrabs {
    /// Dragged points.
    pub(crate) held: Vec<NumberedGrab>,
    /// Pinned points.
    pub(crate) pins: Vec<NumberedGrab>,
    /// Dragged and pinned points of flesh.
    flesh_held: Option<NumberedFleshGrab>,
    flesh_pins: Vec<NumberedFleshGrab>,
    last_number: u32,
}

/// The grabs of one step, of bodies and of flesh, by number.
pub(crate) type AllGrabs = (Vec<NumberedGrab>, Vec<NumberedFleshGrab>);

impl MouseGrabs {
    pub(crate) fn is_empty(&self) -> bool {
        let (bodies, flesh) = self.in_order();
        bodies.is_empty() && flesh.is_empty()
    }

    /// All grabs of a step.
    pub(crate) fn in_order(&self) -> AllGrabs {
        let mut bodies: Vec<_> = self.pins.iter().chain(&self.held).copied().collect();
        let mut flesh: Vec<_> = self.flesh_pins.iter().chain(&self.flesh_held).copied().collect();
        bodies.sort_by_key(|hold| hold.number);
        flesh.sort_by_key(|hold| hold.number);
        (bodies, flesh)
    }

    fn next_number(&mut self) -> u32 {
        self.last_number += 1;
        self.last_number
    }
}

impl Session {
    /// A paused session at the start of a scene.
    pub fn new(opened: OpenScene) -> Self {
        let overview = Arc::new(SceneOverview::of(&opened.doc, &opened.world));
        let world = opened.world.clone();
        let mut session = Self {
            timeline: Timeline::new(world.state(), opened.doc.clone(), BUDGET),
            opened,
            overview,
            world,
            built: 0,
            step: 0,
            grabs: MouseGrabs::default(),
            is_posed: false,
            is_playing: false,
            pacer: StepPacer::default(),
            wishes: SnapshotWishes::default(),
            curves: SessionCurves::default(),
            measured: Measured::default(),
            trouble: None,
            opening: 1,
            input: Input::default(),
        };
        session.measure(0.0);
        session
    }

    /// Opens another scene; wishes, speed and playing stay as they are.
    pub fn open(&mut self, opened: OpenScene) {
        let (wishes, pacer, opening, is_playing) = (self.wishes, self.pacer, self.opening, self.is_playing);
        let curves = mem::take(&mut self.curves);
        *self = Self { curves, ..Self::new(opened) };
        self.curves.clear();
        (self.wishes, self.pacer, self.opening, self.is_playing) = (wishes, pacer, opening + 1, is_playing);
        self.pacer.restart();
    }

    /// Reads the file again, or restarts a scene that did not come from a file. The window keeps its camera. Fails if
    /// the scene cannot be read or built; the session then stays as it was.
    pub fn reload(&mut self) -> Result<(), Fault> {
        let opened = match &self.opened.path {
            Some(path) => OpenScene::load(path)?,
            None => self.opened.clone(),
        };
        let opening = self.opening;
        self.open(opened);
        self.opening = opening;
        Ok(())
    }

    /// The file of the scene, if it came from a file.
    pub fn path(&self) -> Option<&Path> {
        self.opened.path.as_deref()
    }

    /// The world at the present moment.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// What does not change during a run.
    pub fn overview(&self) -> &Arc<SceneOverview> {
        &self.overview
    }

    /// The document in force.
    pub fn doc(&self) -> &Arc<SceneDoc> {
        &self.timeline.changes()[self.built].doc
    }

    /// The recording.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Curves of the run.
    pub fn curves(&self) -> &SessionCurves {
        &self.curves
    }

    /// Number of steps before the present moment.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Why playing has stopped, if the state is no longer finite.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Whether the simulation is playing.
    pub fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// Plays or pauses.
    pub fn play(&mut self, is_playing: bool) {
        self.is_playing = is_playing;
        self.pacer.restart();
    }

    /// Sets the speed in simulated seconds per second.
    pub fn set_speed(&mut self, speed: f64) {
        self.pacer.set_speed(speed);
    }

    /// Sets the content of snapshots.
    pub fn wish(&mut self, wishes: SnapshotWishes) {
        if self.wishes.joint != wishes.joint {
            self.curves.look_at(wishes.joint);
        }
        self.wishes = wishes;
    }

    /// Sets the dragged points; an empty list lets go. While paused, bodies are posed instead.
    pub fn hold(&mut self, grabs: &[Grab]) {
        let before = mem::take(&mut self.grabs.held);
        for (i, grab) in grabs.iter().enumerate() {
            // Adding zero turns −0 into 0, so that a saved file gives the same bits.
            let grab = Grab { target: grab.target + DVec3::ZERO, ..*grab };
            let same = before.get(i).filter(|hold| is_same(&hold.grab, &grab));
            let number = same.map(|hold| hold.number).unwrap_or_else(|| self.grabs.next_number());
            self.grabs.held.push(NumberedGrab { number, grab });
        }
        if !self.is_playing && !grabs.is_empty() && grabs.iter().all(|grab| grab.target.is_finite()) {
            self.pose();
        }
    }

    /// Sets the dragged point of flesh; none lets go. While paused, nothing moves.
    pub fn hold_flesh(&mut self, grab: Option<FleshGrab>) {
        let before = self.grabs.flesh_held.take();
        let Some(grab) = grab else { return };
        let grab = FleshGrab { target: grab.target + DVec3::ZERO, ..grab };
        let is_same = |hold: &NumberedFleshGrab| FleshGrab { target: grab.target, ..hold.grab } == grab;
        let same = before.filter(is_same).map(|hold| hold.number);
        let number = same.unwrap_or_else(|| self.grabs.next_number());
        self.grabs.flesh_held = Some(NumberedFleshGrab { number, grab });
    }

    /// Pins a point of flesh at its target, or releases the pins of the flesh that are there: within [`SAME_PIN`] of its size.
    pub fn pin_flesh(&mut self, grab: FleshGrab) {
        let n = self.grabs.flesh_pins.len();
        let nodes = self
            .world()
            .state()
            .flesh
            .nodes
            .get(grab.flesh as usize)
            .map_or(&[][..], |nodes| &nodes.positions);
        let far = |from: DVec3| nodes.iter().map(|node| node.distance(from)).fold(0.0, f64::max);
        let near = SAME_PIN * far(grab.target);
        let is_other = |pin: &FleshGrab| pin.flesh != grab.flesh || pin.target.distance(grab.target) > near;
        self.grabs.flesh_pins.retain(|pin| is_other(&pin.grab));
        if self.grabs.flesh_pins.len() == n {
            let grab = FleshGrab { target: grab.target + DVec3::ZERO, stiffness: f64::INFINITY, ..grab };
            let number = self.grabs.next_number();
            self.grabs.flesh_pins.push(NumberedFleshGrab { number, grab });
        }
    }

    /// Grabs of the pinned points of flesh.
    pub fn flesh_pins(&self) -> impl Iterator<Item = &FleshGrab> {
        self.grabs.flesh_pins.iter().map(|pin| &pin.grab)
    }

    /// Pins points of a body (`points` in its frame) at their present positions, or releases the body if it was
    /// pinned. One point fixes a position; three points that are not collinear fix the orientation too.
    pub fn pin(&mut self, body: BodyId, points: &[DVec3]) {
        let n = self.grabs.pins.len();
        self.grabs.pins.retain(|pin| pin.grab.body != body);
        if self.grabs.pins.len() < n {
            return;
        }
        // The scene may have been reloaded since the body was picked.
        if body.index() >= self.world.mechanism().n_bodies() {
            return;
        }
        let pose = self.world.pose(body);
        for &point in points {
            let target = pose.transform_point(point) + DVec3::ZERO;
            let number = self.grabs.next_number();
            let grab = Grab { body, point, target, stiffness: f64::INFINITY, damping: 0.0 };
            self.grabs.pins.push(NumberedGrab { number, grab });
        }
    }

    /// Grabs of the pinned points.
    pub fn pins(&self) -> impl Iterator<Item = &Grab> {
        self.grabs.pins.iter().map(|pin| &pin.grab)
    }

    /// Inverse kinematics: moves bodies to the targets of grabs and pins, as far as the joints allow.
    fn pose(&mut self) {
        self.is_posed = true;
        let mut input = self.world.input_at(self.world.time());
        let hard = |hold: &NumberedGrab| Grab { stiffness: f64::INFINITY, ..hold.grab };
        input.grabs.extend(self.grabs.pins.iter().chain(&self.grabs.held).map(hard));
        let mut settings = Assembly::default();
        (settings.yielding, settings.limits) = (YIELDING, true);
        self.world.assemble(&input, &settings);
    }
}

/// Part of the size of flesh within which a click means the same pin.
const SAME_PIN: f64 = 0.02;

/// Compliance of grabs in each correction of a pose; targets may be out of reach.
const YIELDING: f64 = 0.01;

/// Whether two grabs differ only in their targets.
fn is_same(a: &Grab, b: &Grab) -> bool {
    a.body == b.body
        && a.point == b.point
        && a.stiffness.to_bits() == b.stiffness.to_bits()
        && a.damping.to_bits() == b.damping.to_bits()
}
