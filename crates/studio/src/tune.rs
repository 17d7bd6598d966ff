//! Changes during a run: settings, control of actuators, cameras; and branches of the recording.
//!
//! A change is written into the document with its time, so that a run of the new document from the start repeats the
//! recording and then continues with the change.

use std::{mem, sync::Arc};

use sinew_scene::{CameraDoc, ChangeDoc, ControlDoc, SceneDoc, Steps};
use sinew_sim::StepReport;

use crate::score::{Since, with_control};
use crate::timeline::{BUDGET, Timeline};
use crate::{fault::Fault, open_scene::OpenScene, overview::SceneOverview, session::Session};

/// Largest number of steps of a repetition: this multiple of the present number, or `MOST_STEPS` if that is more.
const MOST_TIMES: u64 = 32;
const MOST_STEPS: u64 = 10_000;

impl Session {
    /// Discards the recording and the changes after the present moment; changes written in the file stay.
    pub fn branch(&mut self) {
        if self.step == self.timeline.n_steps() {
            return;
        }
        self.timeline.truncate(self.step);
        self.curves.truncate(self.step + 1);
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
        // If this cannot be built, the later changes stay.
        if let Ok(world) = self.world_of(&doc) {
            self.timeline.change(Arc::new(doc));
            (self.world, self.built) = (world, self.timeline.changes().len() - 1);
        }
    }

    /// Continues with another document. It must lead to the present state when run from the start: only later settings
    /// and later control may differ. Fails if the document cannot be built or has other bodies; the session then stays
    /// as it was.
    pub fn change(&mut self, doc: SceneDoc) -> Result<(), Fault> {
        self.end_posing();
        let mut world = self.world_of(&doc)?;
        if world.restore(self.world.state()).is_err() {
            return Err(Fault::new("this change alters the set of bodies: open the scene again"));
        }
        self.branch();
        self.timeline.change(Arc::new(doc));
        self.built = self.timeline.changes().len() - 1;
        self.world = world;
        self.note_guidance();
        self.measure(0.0);
        Ok(())
    }

    /// Restarts with another document and repeats the recording up to the present time. Grabs act at the same times,
    /// even if the step length differs. Fails if the document cannot be built, has other bodies, or needs far more
    /// steps; the session then stays as it was.
    pub fn change_all(&mut self, doc: SceneDoc) -> Result<(), Fault> {
        let world = OpenScene::rebuild(&doc)?;
        if !self.world.state().fits(world.model()) {
            return Err(Fault::new("this change alters the set of bodies: open the scene again"));
        }
        let (n_steps, most) =
            (Steps::of(&doc).nearest(self.world.time()), MOST_STEPS.max(MOST_TIMES * self.step));
        if n_steps > most {
            return Err(Fault::new(format!(
                "repeating the recording would take {n_steps} steps instead of {}: apply the change from now on, or \
                 choose longer steps",
                self.step
            )));
        }
        let end = self.world.time();
        let new = Timeline::new(world.state(), Arc::new(doc), BUDGET);
        let before = mem::replace(&mut self.timeline, new);
        self.overview = Arc::new(SceneOverview::of(&self.timeline.changes()[0].doc, &world));
        (self.world, self.built, self.step, self.is_posed) = (world, 0, 0, false);
        self.curves.clear();
        (self.trouble, self.measured.report) = (None, StepReport::default());
        self.measure(0.0);
        self.repeat_until(end, &before);
        Ok(())
    }

    /// Records steps up to a time (s), with the grabs of another recording.
    fn repeat_until(&mut self, end: f64, before: &Timeline) {
        let mut grabs = before.grabs().values().peekable();
        while self.trouble.is_none() {
            self.world.take_changes();
            // The last step is the one that ends nearest to `end`.
            let middle = self.world.time() + 0.5 * self.world.settings().dt;
            if middle >= end {
                break;
            }
            while grabs.next_if(|step| step.end <= middle).is_some() {}
            let held = grabs.peek().filter(|step| step.start <= middle);
            let held = held.map(|step| (step.grabs.clone(), step.skin.clone()));
            let made = self.make(held.unwrap_or_default(), false);
            self.timeline.push(made, self.world.state());
            self.step += 1;
            self.measure(0.0);
            self.extend_curves();
            self.look_for_trouble();
        }
    }

    /// Changes settings from the present moment on; the time in `wanted` is ignored. Fails if the changed scene cannot
    /// be built; the session then stays as it was.
    pub fn tune(&mut self, wanted: &ChangeDoc) -> Result<(), Fault> {
        self.end_posing();
        self.world.take_changes();
        let mut doc = SceneDoc::clone(self.doc());
        let in_force = self.world.values_in_force().cloned().unwrap_or_default();
        // A change of the file acts up to half a step before its time; the new change must not precede it.
        let change = ChangeDoc { at_s: self.world.time().max(in_force.at_s), ..wanted.beyond(&in_force) };
        if change.is_empty() {
            return Ok(());
        }
        put(&mut doc.changes, change);
        // The initial assembly may depend on settings.
        if self.step == 0 { self.change_all(doc) } else { self.change(doc) }
    }

    /// Changes settings from the start and repeats the recording up to the present moment. Earlier changes of the same
    /// settings are discarded. Fails if the changed scene cannot be built; the session then stays as it was.
    pub fn tune_all(&mut self, wanted: &ChangeDoc) -> Result<(), Fault> {
        self.end_posing();
        self.world.take_changes();
        let mut doc = SceneDoc::clone(self.doc());
        let change = ChangeDoc { at_s: 0.0, ..wanted.clone() };
        if change.is_empty() {
            return Ok(());
        }
        doc.changes.iter_mut().for_each(|earlier| earlier.silence(&change));
        doc.changes.retain(|earlier| !earlier.is_empty());
        put(&mut doc.changes, change);
        self.change_all(doc)
    }

    /// Changes the control of the actuators from the present moment on. Fails if the score cannot be built; the session
    /// then stays as it was.
    pub fn direct(&mut self, control: ControlDoc) -> Result<(), Fault> {
        self.end_posing();
        self.world.take_changes();
        let (doc, since) = with_control(self.doc(), (self.world.time(), self.world.settings().dt), control);
        match since {
            Since::Now => self.change(doc),
            Since::Start => self.change_all(doc),
        }
    }

    /// Adds a camera to the scene, or replaces the one of the same name.
    pub fn add_camera(&mut self, camera: &CameraDoc) {
        self.timeline.edit(|doc| {
            doc.cameras.retain(|other| other.name != camera.name);
            doc.cameras.push(camera.clone());
        });
    }
}

/// Inserts a change in order of time; merges it with a change at the same time.
fn put(changes: &mut Vec<ChangeDoc>, change: ChangeDoc) {
    let i = changes.partition_point(|other| other.at_s < change.at_s);
    match changes.get_mut(i).filter(|other| other.at_s <= change.at_s) {
        Some(other) => other.merge(&change),
        None => changes.insert(i, change),
    }
}
