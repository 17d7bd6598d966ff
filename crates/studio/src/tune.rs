//! What the user changes while time goes on: settings, what actuators do, cameras.
//!
//! A change is written into the document with the time at which the session takes it, so that a run of the document from the beginning
//! does what was done, and then what was changed.

use sinew_scene::{CameraDoc, ChangeDoc, ControlDoc, SceneDoc};

use crate::{Fault, Session, Since, with_control};

impl Session {
    /// Changes settings from the present moment on to what is `wanted`; its time does not count.
    ///
    /// # Errors
    /// If the scene cannot be built so; the session goes on as it was.
    pub fn tune(&mut self, wanted: &ChangeDoc) -> Result<(), Fault> {
        self.end_posing();
        self.world.take_changes();
        let mut doc = SceneDoc::clone(self.doc());
        let said = self.world.said().cloned().unwrap_or_default();
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
