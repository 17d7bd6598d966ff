//! How a session plays: steps in time with the clock, steps again, visits to any moment.
//!
//! A step that was recorded is made again with the holds it had; a new one is recorded. A visit goes on from where we are or from the
//! last checkpoint before it, whichever is nearer.

use std::sync::Arc;
use std::time::Instant;

use sinew_scene::SceneDoc;
use sinew_sim::{Stage, StepReport, World};

use crate::timeline::{Hands, Hold};
use crate::{Cast, Fault, Opened, Session};

impl Session {
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

    /// Makes one step: repeats it if it was recorded and nothing new is done, or records it.
    pub fn step_once(&mut self) {
        self.end_posing();
        let is_new = self.step == self.timeline.n_steps() || !self.holds.is_empty() || !self.pins.is_empty();
        if !is_new {
            self.repeat();
            self.measure(0.0);
            self.look_for_trouble();
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
        self.extend_trace();
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
    pub(crate) fn build(&mut self, change: usize) {
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
    pub(crate) fn world_of(&self, doc: &SceneDoc) -> Result<World, Fault> {
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
    pub(crate) fn make(&mut self, holds: Vec<Hold>, is_timed: bool) -> Hands {
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
    pub(crate) fn note_guidance(&mut self) {
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

    pub(crate) fn look_for_trouble(&mut self) {
        let health = &self.report.health;
        let what = match (health.non_finite, health.non_finite_tet) {
            (Some(body), _) => format!("body `{}`", self.world.mechanism().body_name(body)),
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
}
