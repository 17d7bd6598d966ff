//! A scene in use: the world, what was recorded of it, and what is done to it next. No window, no clock, no thread.
//!
//! Within the recorded steps, going on repeats them; as soon as something new is done there (a hold, a change), what came
//! after is forgotten and the run takes another turn. Stepping never fails: when a body is no longer finite, time stops and
//! [`Session::trouble`] says why; rewinding helps. Posing by hand (inverse kinematics) shows bodies where they never were:
//! it ends with the next step or visit.

use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use glam::DVec3;
use sinew_scene::{ChangeDoc, SceneDoc};
use sinew_sim::{Assembly, Grab, Input, Stage, StepReport, World};

use crate::timeline::{BUDGET, Hands, Hold, Timeline};
use crate::{Cast, Fault, Opened, Pace, Sample, Trace, Wishes};

/// A scene in use.
pub struct Session {
    opened: Opened,
    pub(crate) cast: Arc<Cast>,
    pub(crate) world: World,
    /// Which change of the timeline the world was built from.
    built: usize,
    pub(crate) timeline: Timeline,
    pub(crate) step: u64,
    holds: Vec<Hold>,
    pins: Vec<Hold>,
    next_number: u32,
    pub(crate) is_posed: bool,
    pub(crate) is_playing: bool,
    pub(crate) pace: Pace,
    pub(crate) wishes: Wishes,
    trace: Trace,
    pub(crate) report: StepReport,
    pub(crate) sample: Sample,
    pub(crate) stages: Vec<(&'static str, f64)>,
    trouble: Option<String>,
    pub(crate) opening: u64,
    input: Input,
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
        *self = Self::new(opened);
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
        self.wishes = wishes;
    }

    /// Makes the steps that are due after `elapsed` seconds of the wall clock while `may_go_on` says so after each, and tells
    /// how many. Steps that were not made stay due, within reason.
    pub fn advance(&mut self, elapsed: f64, mut may_go_on: impl FnMut() -> bool) -> u32 {
        let mut made = 0;
        if self.is_playing {
            self.pace.pass(elapsed);
        }
        while self.is_playing && self.pace.take(self.world.settings().dt) {
            self.step_once();
            made += 1;
            if !may_go_on() {
                break;
            }
        }
        made
    }

    /// Wall-clock time until the next step is due, s; infinite while time stands still.
    pub fn wait(&self) -> f64 {
        if self.is_playing { self.pace.wait(self.world.settings().dt) } else { f64::INFINITY }
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
        if body.index() >= self.world.model().n_bodies() {
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

    /// Makes one step: repeats it if it was recorded and nothing new is done, or records it.
    pub fn step_once(&mut self) {
        self.end_posing();
        let is_new = self.step == self.timeline.n_steps() || !self.holds.is_empty() || !self.pins.is_empty();
        if !is_new {
            self.repeat();
            self.measure(0.0);
            return;
        }
        self.branch();
        self.build(self.timeline.change_at(self.step));
        let mut holds: Vec<Hold> = self.pins.iter().chain(&self.holds).copied().collect();
        holds.sort_by_key(|hold| hold.number);
        let begin = Instant::now();
        let hands = self.make(holds, true);
        let milliseconds = 1e3 * begin.elapsed().as_secs_f64();
        self.timeline.push(hands, self.world.state());
        self.step += 1;
        self.measure(milliseconds);
        self.trace.push(self.sample);
        self.look_for_trouble();
    }

    /// Goes to the moment after `step` steps, or the last one recorded, with the bits it had then.
    pub fn seek(&mut self, step: u64) {
        let step = step.min(self.timeline.n_steps());
        // The last step is made again, for what is known of a step and not of a state.
        let (from, state) = self.timeline.before(step.saturating_sub(1));
        // Where we are may be nearer than the checkpoint, if it is a moment of the run at all.
        if self.is_posed
            || self.step > step
            || self.step < from
            || self.built != self.timeline.change_at(self.step)
        {
            let state = state.clone();
            self.build(self.timeline.change_at(from));
            self.step = from;
            // A state of the timeline fits every document of it.
            let _ = self.world.restore(&state);
            (self.is_posed, self.report) = (false, StepReport::default());
        }
        while self.step < step {
            self.repeat();
        }
        self.build(self.timeline.change_at(step));
        self.world.take_changes();
        self.note_guidance();
        self.measure(0.0);
        self.pace.restart();
        self.trouble = None;
        self.look_for_trouble();
    }

    /// Forgets what was recorded after the present moment, and what was changed there; changes that the file says stay.
    pub fn branch(&mut self) {
        if self.step == self.timeline.n_steps() {
            return;
        }
        self.timeline.truncate(self.step);
        self.trace.truncate(self.step + 1);
        self.build(self.timeline.change_at(self.step));
        let (now, written) = (self.world.time(), &self.opened.doc.changes);
        let stays = |change: &ChangeDoc| {
            change.at_s <= now || written.iter().any(|other| other.at_s.to_bits() == change.at_s.to_bits())
        };
        if self.doc().changes.iter().all(stays) {
            return;
        }
        let mut doc = SceneDoc::clone(self.doc());
        doc.changes.retain(stays);
        // Without a later change it can be built as well.
        if let Ok(world) = self.world_of(&doc) {
            self.timeline.change(Arc::new(doc));
            (self.world, self.built) = (world, self.timeline.changes().len() - 1);
        }
    }

    /// Puts a document in force that a run from the beginning would lead here with as well: settings and scores may differ from now on.
    ///
    /// # Errors
    /// If it cannot be built, or has other bodies; the session goes on as it was.
    pub fn change(&mut self, doc: SceneDoc) -> Result<(), Fault> {
        self.end_posing();
        let mut world = self.world_of(&doc)?;
        if world.restore(self.world.state()).is_err() {
            return Err(Fault::new("this change makes other bodies: open the scene again"));
        }
        self.branch();
        self.timeline.change(Arc::new(doc));
        self.built = self.timeline.changes().len() - 1;
        self.world = world;
        self.note_guidance();
        self.measure(0.0);
        Ok(())
    }

    /// Puts a document in force from the beginning on and repeats what was done, up to the present moment.
    ///
    /// # Errors
    /// If it cannot be built, or has other bodies; the session goes on as it was.
    pub fn change_all(&mut self, doc: SceneDoc) -> Result<(), Fault> {
        let world = Opened::rebuild(&doc)?;
        if !self.world.state().fits(world.model()) {
            return Err(Fault::new("this change makes other bodies: open the scene again"));
        }
        let (before, step) = (self.timeline.clone(), self.step);
        self.timeline = Timeline::new(world.state(), Arc::new(doc), BUDGET);
        self.cast = Arc::new(Cast::of(&self.timeline.changes()[0].doc, &world));
        (self.world, self.built, self.step, self.is_posed) = (world, 0, 0, false);
        self.trace.clear();
        self.trouble = None;
        while self.step < step && self.trouble.is_none() {
            let hands = self.make(before.holds(self.step).to_vec(), false);
            self.timeline.push(hands, self.world.state());
            self.step += 1;
            self.measure(0.0);
            self.trace.push(self.sample);
            self.look_for_trouble();
        }
        Ok(())
    }

    /// Bodies where holds and pins want them, as far as the joints allow.
    fn pose(&mut self) {
        self.is_posed = true;
        let mut input = self.world.input_at(self.world.time());
        let hard = |hold: &Hold| Grab { stiffness: f64::INFINITY, ..hold.grab };
        input.grabs.extend(self.pins.iter().chain(&self.holds).map(hard));
        let mut settings = Assembly::default();
        settings.yielding = YIELDING;
        self.world.assemble(&input, &settings);
    }

    pub(crate) fn end_posing(&mut self) {
        if self.is_posed {
            self.seek(self.step);
        }
    }

    /// The recorded step that comes next.
    fn repeat(&mut self) {
        self.build(self.timeline.change_at(self.step));
        let holds = self.timeline.holds(self.step).to_vec();
        self.make(holds, false);
        self.step += 1;
    }

    /// Makes sure that the world is that of a change, in the present state.
    fn build(&mut self, change: usize) {
        let doc = &Arc::clone(&self.timeline.changes()[change].doc);
        if self.built != change {
            // It could be built before.
            if let Ok(mut world) = self.world_of(doc) {
                let _ = world.restore(self.world.state());
                self.world = world;
                self.note_guidance();
            }
            self.built = change;
        }
    }

    /// The world of another document; if it differs by its score and its changes alone, what both have need not be built again.
    fn world_of(&self, doc: &SceneDoc) -> Result<World, Fault> {
        let before = self.doc();
        let same = SceneDoc { score: before.score.clone(), changes: before.changes.clone(), ..doc.clone() };
        let is_new_score = doc.score != before.score;
        if same != **before || is_new_score && !self.cast.is_guided {
            return Opened::rebuild(doc);
        }
        let told = |error: sinew_sim::BuildError| Fault::new(error.to_string());
        let mut world = if doc.changes == before.changes {
            self.world.clone()
        } else {
            self.world.with_changes(doc).map_err(told)?
        };
        if is_new_score {
            world.set_score(doc.score.as_ref(), &doc.tracks).map_err(told)?;
        }
        Ok(world)
    }

    /// One step of the world with these holds besides what the scene prescribes.
    fn make(&mut self, holds: Vec<Hold>, is_timed: bool) -> Hands {
        self.world.take_changes();
        let start = self.world.time();
        let end = start + self.world.settings().dt;
        self.report = if holds.is_empty() {
            if is_timed && self.step.is_multiple_of(8) { self.timed_step() } else { self.world.step() }
        } else {
            self.input = self.world.input_at(start);
            self.input.grabs.extend(holds.iter().map(|hold| hold.grab));
            self.world.step_with(&self.input)
        };
        self.note_guidance();
        Hands { start, end, holds }
    }

    /// Whether bones can be guided may change with the stepper.
    fn note_guidance(&mut self) {
        let is_guided = self.world.model().reduced().is_some();
        if is_guided != self.cast.is_guided {
            self.cast = Arc::new(Cast { is_guided, ..Cast::clone(&self.cast) });
        }
    }

    fn timed_step(&mut self) -> StepReport {
        self.stages.clear();
        let (stages, mut last) = (&mut self.stages, Instant::now());
        self.world.step_observed(&mut |stage: Stage| {
            let now = Instant::now();
            let spent = 1e3 * (now - last).as_secs_f64();
            last = now;
            match stages.iter_mut().find(|entry| entry.0 == stage.name()) {
                Some(entry) => entry.1 += spent,
                None => stages.push((stage.name(), spent)),
            }
        })
    }

    fn look_for_trouble(&mut self) {
        let health = &self.report.health;
        let what = match (health.non_finite, health.non_finite_tet) {
            (Some(body), _) => format!("body `{}`", self.world.model().body_name(body)),
            (None, Some(tet)) => format!("the force of tetrahedron {tet}"),
            _ if self.sample.energy.iter().any(|part| !part.is_finite()) => "the energy".to_owned(),
            _ => return,
        };
        self.trouble = Some(format!(
            "{what} is no longer finite after step {} ({:.3} s); rewind, and try softer holds or shorter steps",
            self.step,
            self.world.time()
        ));
        self.is_playing = false;
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
