//! What the user changes while time goes on: settings, what actuators do, cameras; and turns that the run takes.
//!
//! A change is written into the document with the time at which the session takes it, so that a run of the document from the beginning
//! does what was done, and then what was changed.

use std::mem;
use std::sync::Arc;

use sinew_scene::{CameraDoc, ChangeDoc, ControlDoc, SceneDoc, Steps};
use sinew_sim::StepReport;

use crate::timeline::{BUDGET, Timeline};
use crate::{Cast, Fault, Opened, Session, Since, with_control};

/// What was done may be repeated in this many times as many steps at most, and in this many in any case.
const MOST_TIMES: u64 = 32;
const MOST_STEPS: u64 = 10_000;

impl Session {
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

    /// Puts a document in force from the beginning on and repeats what was done, up to the present time. What was held is held from
    /// the same time to the same time, also if steps have another length.
    ///
    /// # Errors
    /// If it cannot be built, has other bodies, or takes very many more steps; the session goes on as it was.
    pub fn change_all(&mut self, doc: SceneDoc) -> Result<(), Fault> {
        let world = Opened::rebuild(&doc)?;
        if !self.world.state().fits(world.model()) {
            return Err(Fault::new("this change makes other bodies: open the scene again"));
        }
        let (n_steps, most) =
            (Steps::of(&doc).nearest(self.world.time()), MOST_STEPS.max(MOST_TIMES * self.step));
        if n_steps > most {
            return Err(Fault::new(format!(
                "this would make {n_steps} steps of the {} so far: change it from now on, or choose longer steps",
                self.step
            )));
        }
        let end = self.world.time();
        let new = Timeline::new(world.state(), Arc::new(doc), BUDGET);
        let before = mem::replace(&mut self.timeline, new);
        let mut done = before.hands().values().peekable();
        self.cast = Arc::new(Cast::of(&self.timeline.changes()[0].doc, &world));
        (self.world, self.built, self.step, self.is_posed) = (world, 0, 0, false);
        self.trace.clear();
        (self.trouble, self.report) = (None, StepReport::default());
        self.measure(0.0);
        while self.trouble.is_none() {
            self.world.take_changes();
            // Of two steps, the recording ends with the one that ends nearer to the present time.
            let middle = self.world.time() + 0.5 * self.world.settings().dt;
            if middle >= end {
                break;
            }
            while done.next_if(|hands| hands.end <= middle).is_some() {}
            let holds = done.peek().filter(|hands| hands.start <= middle).map(|hands| hands.holds.clone());
            let hands = self.make(holds.unwrap_or_default(), false);
            self.timeline.push(hands, self.world.state());
            self.step += 1;
            self.measure(0.0);
            self.extend_trace();
            self.look_for_trouble();
        }
        Ok(())
    }

    /// Changes settings from the present moment on to what is `wanted`; its time does not count.
    ///
    /// # Errors
    /// If the scene cannot be built so; the session goes on as it was.
    pub fn tune(&mut self, wanted: &ChangeDoc) -> Result<(), Fault> {
        self.end_posing();
        self.world.take_changes();
        let mut doc = SceneDoc::clone(self.doc());
        let said = self.world.values_in_force().cloned().unwrap_or_default();
        // A change of the file may be in force up to half a step before its time; this one comes after it.
        let change = ChangeDoc { at_s: self.world.time().max(said.at_s), ..wanted.beyond(&said) };
        if change.is_empty() {
            return Ok(());
        }
        put(&mut doc.changes, change);
        // How a scene is put together at first may depend on its settings.
        if self.step == 0 { self.change_all(doc) } else { self.change(doc) }
    }

    /// Changes settings from the beginning on to what is `wanted`, and repeats what was done up to the present moment. Other changes
    /// of the same settings are forgotten.
    ///
    /// # Errors
    /// If the scene cannot be built so; the session goes on as it was.
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

    /// Has actuators do something else from the present moment on.
    ///
    /// # Errors
    /// If the score cannot be played; the session goes on as it was.
    pub fn direct(&mut self, control: ControlDoc) -> Result<(), Fault> {
        self.end_posing();
        self.world.take_changes();
        let (doc, since) = with_control(self.doc(), (self.world.time(), self.world.settings().dt), control);
        match since {
            Since::Now => self.change(doc),
            Since::Start => self.change_all(doc),
        }
    }

    /// Keeps a camera in the scene; one of the same name is replaced.
    pub fn add_camera(&mut self, camera: &CameraDoc) {
        self.timeline.edit(|doc| {
            doc.cameras.retain(|other| other.name != camera.name);
            doc.cameras.push(camera.clone());
        });
    }
}

/// Adds a change in order of time; one at the same time says both.
fn put(changes: &mut Vec<ChangeDoc>, change: ChangeDoc) {
    let i = changes.partition_point(|other| other.at_s < change.at_s);
    match changes.get_mut(i).filter(|other| other.at_s <= change.at_s) {
        Some(other) => other.merge(&change),
        None => changes.insert(i, change),
    }
}
