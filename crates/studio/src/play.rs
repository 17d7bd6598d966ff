//! Playing: steps in time with the clock, repetition of recorded steps, seeking.
//!
//! A recorded step is repeated with its grabs; a new step is recorded. Seeking steps from the present moment or from
//! the last checkpoint, whichever is nearer.

use std::{sync::Arc, time::Instant};

use sinew_scene::SceneDoc;
use sinew_sim::{Stage, StepReport, World};

use crate::session::AllGrabs;
use crate::timeline::StepGrabs;
use crate::{fault::Fault, open_scene::OpenScene, overview::SceneOverview, session::Session};

impl Session {
    /// Makes the steps that are due after `elapsed` seconds of wall-clock time, until `may_go_on` returns false after
    /// a step. Returns the number of steps. The remaining steps stay due, up to a bounded backlog.
    pub fn advance(&mut self, elapsed: f64, mut may_go_on: impl FnMut() -> bool) -> u32 {
        let mut made = 0;
        if self.is_playing {
            self.pacer.pass(elapsed);
        }
        while self.is_playing && self.pacer.take(self.world.settings().dt) {
            self.step_once();
            made += 1;
            if !may_go_on() {
                break;
            }
        }
        made
    }

    /// Wall-clock time until the next step is due (s); infinite while paused.
    pub fn wait(&self) -> f64 {
        if self.is_playing { self.pacer.wait(self.world.settings().dt) } else { f64::INFINITY }
    }

    /// Makes one step: repeats a recorded step if there are no grabs, else records a new one.
    pub fn step_once(&mut self) {
        self.end_posing();
        let is_new = self.step == self.timeline.n_steps() || !self.grabs.is_empty();
        if !is_new {
            self.repeat();
            self.measure(0.0);
            self.look_for_trouble();
            return;
        }
        self.branch();
        self.build(self.timeline.change_at(self.step));
        let holds = self.grabs.in_order();
        let begin = Instant::now();
        let made = self.make(holds, true);
        let milliseconds = 1e3 * begin.elapsed().as_secs_f64();
        self.timeline.push(made, self.world.state());
        self.step += 1;
        self.measure(milliseconds);
        self.extend_curves();
        self.look_for_trouble();
    }

    /// Goes to the moment after `step` steps (at most the last recorded one), bit for bit.
    pub fn seek(&mut self, step: u64) {
        let step = step.min(self.timeline.n_steps());
        // The last step is repeated, because its report is not part of the state.
        let (from, state) = self.timeline.before(step.saturating_sub(1));
        // The present moment may be nearer than the checkpoint, unless bodies were posed by hand.
        if self.is_posed
            || self.step > step
            || self.step < from
            || self.built != self.timeline.change_at(self.step)
        {
            let state = state.clone();
            self.build(self.timeline.change_at(from));
            self.step = from;
            // Every state of the timeline fits every document of it.
            let _ = self.world.restore(&state);
            (self.is_posed, self.measured.report) = (false, StepReport::default());
        }
        while self.step < step {
            self.repeat();
        }
        self.build(self.timeline.change_at(step));
        self.world.take_changes();
        self.note_guidance();
        self.measure(0.0);
        self.pacer.restart();
        self.trouble = None;
        self.look_for_trouble();
    }

    pub(crate) fn end_posing(&mut self) {
        if self.is_posed {
            self.seek(self.step);
        }
    }

    /// Repeats the next recorded step.
    fn repeat(&mut self) {
        self.build(self.timeline.change_at(self.step));
        let holds = (self.timeline.grabs_at(self.step).to_vec(), self.timeline.skin_at(self.step).to_vec());
        self.make(holds, false);
        self.step += 1;
    }

    /// Rebuilds the world from another document of the timeline, in the present state.
    pub(crate) fn build(&mut self, change: usize) {
        let doc = &Arc::clone(&self.timeline.changes()[change].doc);
        if self.built != change {
            // Building cannot fail: this document was built before.
            if let Ok(mut world) = self.world_of(doc) {
                let _ = world.restore(self.world.state());
                self.world = world;
                self.note_guidance();
            }
            self.built = change;
        }
    }

    /// The world of another document. If only score and changes differ, the present world is reused.
    pub(crate) fn world_of(&self, doc: &SceneDoc) -> Result<World, Fault> {
        let before = self.doc();
        let same = SceneDoc { score: before.score.clone(), changes: before.changes.clone(), ..doc.clone() };
        let is_new_score = doc.score != before.score;
        if same != **before || is_new_score && !self.overview.is_guided {
            return OpenScene::rebuild(doc);
        }
        let fault = |error: sinew_sim::BuildError| Fault::new(error.to_string());
        let mut world = if doc.changes == before.changes {
            self.world.clone()
        } else {
            self.world.with_changes(doc).map_err(fault)?
        };
        if is_new_score {
            world.set_score(doc.score.as_ref(), &doc.tracks).map_err(fault)?;
        }
        Ok(world)
    }

    /// Makes one step of the world with these grabs in addition to the inputs of the scene.
    pub(crate) fn make(&mut self, (holds, skin): AllGrabs, is_timed: bool) -> StepGrabs {
        self.world.take_changes();
        let start = self.world.time();
        let end = start + self.world.settings().dt;
        self.measured.report = if holds.is_empty() && skin.is_empty() {
            if is_timed && self.step.is_multiple_of(8) { self.timed_step() } else { self.world.step() }
        } else {
            self.input = self.world.input_at(start);
            self.input.grabs.extend(holds.iter().map(|hold| hold.grab));
            self.input.skin.grabs.extend(skin.iter().map(|hold| hold.grab));
            self.world.step_with(&self.input)
        };
        self.note_guidance();
        StepGrabs { start, end, grabs: holds, skin }
    }

    /// Updates whether bones can be guided, which depends on the stepper.
    pub(crate) fn note_guidance(&mut self) {
        let is_guided = self.world.model().reduced().is_some();
        if is_guided != self.overview.is_guided {
            self.overview = Arc::new(SceneOverview { is_guided, ..SceneOverview::clone(&self.overview) });
        }
    }

    fn timed_step(&mut self) -> StepReport {
        self.measured.stages.clear();
        let (stages, mut last) = (&mut self.measured.stages, Instant::now());
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

    /// Stops playing if a body, a force or the energy is not finite.
    pub(crate) fn look_for_trouble(&mut self) {
        let health = &self.measured.report.health;
        let what = match (health.non_finite, health.non_finite_tet) {
            (Some(body), _) => format!("body `{}`", self.world.mechanism().body_name(body)),
            (None, Some(tet)) => format!("the force of tetrahedron {tet}"),
            _ if self.measured.sample.energy.iter().any(|part| !part.is_finite()) => "the energy".to_owned(),
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
