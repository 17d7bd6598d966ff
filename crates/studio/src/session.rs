//! A scene in use: the world, what was recorded of it, and what is done to it next. No window, no clock, no thread.
//!
//! Within the recorded steps, going on repeats them; as soon as something new is done there (a hold, a change), what came
//! after is forgotten and the run takes another turn. Stepping never fails: when a body is no longer finite, time stops and
//! [`Session::trouble`] says why; rewinding helps. Posing by hand (inverse kinematics) shows bodies where they never were:
//! it ends with the next step or visit.

use std::mem;
use std::path::Path;
use std::sync::Arc;

use glam::DVec3;
use sinew_scene::SceneDoc;
use sinew_sim::{Assembly, Grab, Input, StepReport, World};

use crate::timeline::{BUDGET, Hold, Timeline};
use crate::{Cast, Fault, Opened, Pace, Sample, Trace, Wishes};

/// A scene in use. Copies share the checkpoints of the recording.
#[derive(Clone)]
pub struct Session {
    pub(crate) opened: Opened,
    pub(crate) cast: Arc<Cast>,
    pub(crate) world: World,
    /// Which change of the timeline the world was built from.
    pub(crate) built: usize,
    pub(crate) timeline: Timeline,
    pub(crate) step: u64,
    pub(crate) holds: Vec<Hold>,
    pub(crate) pins: Vec<Hold>,
    next_number: u32,
    pub(crate) is_posed: bool,
    pub(crate) is_playing: bool,
    pub(crate) pace: Pace,
    pub(crate) wishes: Wishes,
    pub(crate) trace: Trace,
    pub(crate) report: StepReport,
    pub(crate) sample: Sample,
    pub(crate) stages: Vec<(&'static str, f64)>,
    pub(crate) trouble: Option<String>,
    pub(crate) opening: u64,
    pub(crate) input: Input,
}

impl Session {
    /// A session at the beginning of a scene, paused.
    pub fn new(opened: Opened) -> Self {
        let cast = Arc::new(Cast::of(&opened.doc, &opened.world));
        let world = opened.world.clone();
        let mut session = Self {
            timeline: Timeline::new(world.state(), opened.doc.clone(), BUDGET),
            opened,
            cast,
            world,
            built: 0,
            step: 0,
            holds: Vec::new(),
            pins: Vec::new(),
            next_number: 0,
            is_posed: false,
            is_playing: false,
            pace: Pace::default(),
            wishes: Wishes::default(),
            trace: Trace::default(),
            report: StepReport::default(),
            sample: Sample::default(),
            stages: Vec::new(),
            trouble: None,
            opening: 1,
            input: Input::default(),
        };
        session.measure(0.0);
        session
    }

    /// Replaces the scene by another; wishes and speed stay.
    pub fn open(&mut self, opened: Opened) {
        let (wishes, pace, opening, is_playing) = (self.wishes, self.pace, self.opening, self.is_playing);
        let trace = mem::take(&mut self.trace);
        *self = Self { trace, ..Self::new(opened) };
        self.trace.clear();
        (self.wishes, self.pace, self.opening, self.is_playing) = (wishes, pace, opening + 1, is_playing);
        self.pace.restart();
    }

    /// The same file again, or the same scene if it did not come from a file, from the beginning; the window keeps its camera.
    ///
    /// # Errors
    /// If it cannot be read or built; the session goes on as it was.
    pub fn reload(&mut self) -> Result<(), Fault> {
        let opened = match &self.opened.path {
            Some(path) => Opened::load(path)?,
            None => self.opened.clone(),
        };
        let opening = self.opening;
        self.open(opened);
        self.opening = opening;
        Ok(())
    }

    /// The file, if the scene came from one.
    pub fn path(&self) -> Option<&Path> {
        self.opened.path.as_deref()
    }

    /// The world as it is now.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// What is known of the scene.
    pub fn cast(&self) -> &Arc<Cast> {
        &self.cast
    }

    /// The document in force.
    pub fn doc(&self) -> &Arc<SceneDoc> {
        &self.timeline.changes()[self.built].doc
    }

    /// What was recorded.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Curves of the run.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Number of steps made before the present moment.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Why time has stopped, if it is because of a state that is no longer finite.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Whether time goes on by itself.
    pub fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// Lets time go on by itself, or stops it.
    pub fn play(&mut self, is_playing: bool) {
        self.is_playing = is_playing;
        self.pace.restart();
    }

    /// Simulated seconds per second.
    pub fn set_speed(&mut self, speed: f64) {
        self.pace.set_speed(speed);
    }

    /// What frames should hold.
    pub fn wish(&mut self, wishes: Wishes) {
        if self.wishes.joint != wishes.joint {
            self.trace.look_at(wishes.joint);
        }
        self.wishes = wishes;
    }

    /// Holds points of bodies, moves the holds, or lets go if there are none. While time stands still bodies are posed instead.
    pub fn hold(&mut self, grabs: &[Grab]) {
        let before = mem::take(&mut self.holds);
        for (i, grab) in grabs.iter().enumerate() {
            // One zero, so that a file gives back the same bits.
            let grab = Grab { target: grab.target + DVec3::ZERO, ..*grab };
            let same = before.get(i).filter(|hold| is_same(&hold.grab, &grab));
            let number = same.map(|hold| hold.number).unwrap_or_else(|| self.number());
            self.holds.push(Hold { number, grab });
        }
        if !self.is_playing && !grabs.is_empty() && grabs.iter().all(|grab| grab.target.is_finite()) {
            self.pose();
        }
    }

    /// Pins points of a body where they are (`points` in its frame), or lets it go if it was pinned. One point keeps a
    /// position, three that are not in line keep the orientation too.
    pub fn pin(&mut self, body: sinew_sim::BodyId, points: &[DVec3]) {
        let n = self.pins.len();
        self.pins.retain(|pin| pin.grab.body != body);
        if self.pins.len() < n {
            return;
        }
        // The scene may have been read again since the body was seen.
        if body.index() >= self.world.mechanism().n_bodies() {
            return;
        }
        let pose = self.world.pose(body);
        for &point in points {
            let target = pose.transform_point(point) + DVec3::ZERO;
            let number = self.number();
            self.pins.push(Hold {
                number,
                grab: Grab { body, point, target, stiffness: f64::INFINITY, damping: 0.0 },
            });
        }
    }

    /// Points that are pinned, m.
    pub fn pins(&self) -> impl Iterator<Item = &Grab> {
        self.pins.iter().map(|pin| &pin.grab)
    }

    /// Bodies where holds and pins want them, as far as the joints allow.
    fn pose(&mut self) {
        self.is_posed = true;
        let mut input = self.world.input_at(self.world.time());
        let hard = |hold: &Hold| Grab { stiffness: f64::INFINITY, ..hold.grab };
        input.grabs.extend(self.pins.iter().chain(&self.holds).map(hard));
        let mut settings = Assembly::default();
        (settings.yielding, settings.limits) = (YIELDING, true);
        self.world.assemble(&input, &settings);
    }

    fn number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number
    }
}

/// How much holds yield in each correction of a pose: the mouse goes where no hand can.
const YIELDING: f64 = 0.01;

/// Whether two holds differ by their targets only.
fn is_same(a: &Grab, b: &Grab) -> bool {
    a.body == b.body
        && a.point == b.point
        && a.stiffness.to_bits() == b.stiffness.to_bits()
        && a.damping.to_bits() == b.damping.to_bits()
}
