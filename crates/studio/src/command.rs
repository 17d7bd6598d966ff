//! Commands of a session: open, play, seek, grab, change, save. Each takes effect between two steps.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use glam::DVec3;
use sinew_scene::{CameraDoc, ChangeDoc, ControlDoc};
use sinew_show::ShowOptions;
use sinew_sim::{BodyId, FleshGrab, Grab};

use crate::export::{make_folder, picture, write};
use crate::{
    camera::Orbit, fault::Fault, film_job::FilmJob, open_scene::OpenScene, score::Since, session::Session,
    snapshot::SnapshotWishes,
};

/// A command of a session.
#[derive(Clone, Debug)]
pub enum SessionCommand {
    /// Open a file.
    Open(PathBuf),
    /// Open a built-in scene.
    OpenBuiltIn(String),
    /// Open a scene from text.
    OpenText {
        /// Name in messages, in place of the file name.
        name: String,
        /// The scene in RON.
        text: String,
    },
    /// Open the same scene again.
    Reload,
    /// Read a changed file again, or open it if another scene is open.
    Reread(PathBuf),
    /// Play or pause.
    Play(bool),
    /// Pause and make one step.
    Step,
    /// Set the speed in simulated seconds per second.
    Speed(f64),
    /// Pause and go to the moment after this number of steps.
    Seek(u64),
    /// Discard the recording after the present moment.
    Branch,
    /// Set the dragged points; an empty list lets go.
    Hold(Vec<Grab>),
    /// Set the dragged point of flesh; none lets go.
    HoldFlesh(Option<FleshGrab>),
    /// Pin a point of flesh, or release it.
    PinFlesh(FleshGrab),
    /// Pin points of a body (in its frame, m), or release a pinned body.
    Pin(BodyId, Vec<DVec3>),
    /// Change settings.
    Tune {
        /// The new values; the time of the change is ignored.
        wanted: Box<ChangeDoc>,
        /// When the change takes effect.
        since: Since,
    },
    /// Change the control of the actuators from now on.
    Direct(Box<ControlDoc>),
    /// Add a camera to the scene, or replace the one of the same name.
    AddCamera(CameraDoc),
    /// Set the content of snapshots.
    Wish(SnapshotWishes),
    /// Save the recording as a scene.
    Save(PathBuf),
    /// Write a picture of the present moment.
    Picture {
        /// The PNG file.
        path: PathBuf,
        /// The camera.
        orbit: Orbit,
        /// What is shown.
        show: ShowOptions,
    },
    /// Write the recording as an animation. An [`Engine`](crate::Engine) makes it in the background; a session alone
    /// blocks until it is done.
    Film {
        /// The GIF file.
        path: PathBuf,
        /// The camera.
        orbit: Orbit,
        /// What is shown.
        show: ShowOptions,
    },
}

impl Session {
    /// Executes a command. Returns a note for the user if there is one. If it fails, the session stays as it was.
    pub fn execute(&mut self, command: SessionCommand) -> Result<Option<String>, Fault> {
        match command {
            SessionCommand::Reread(path) if self.path() == Some(&path) => return self.reload_with_note(),
            SessionCommand::Reload => return self.reload_with_note(),
            SessionCommand::Open(path) | SessionCommand::Reread(path) => {
                return Ok(self.open_with_note(OpenScene::load(&path)?, &path.display()));
            }
            SessionCommand::OpenBuiltIn(name) => {
                return Ok(self.open_with_note(OpenScene::built_in(&name)?, &name));
            }
            SessionCommand::OpenText { name, text } => {
                return Ok(self.open_with_note(OpenScene::from_text(&text, &name)?, &name));
            }
            SessionCommand::Play(is_playing) => self.play(is_playing),
            SessionCommand::Step => {
                self.play(false);
                self.step_once();
            }
            SessionCommand::Speed(speed) => self.set_speed(speed),
            SessionCommand::Seek(step) => {
                self.play(false);
                self.seek(step);
            }
            SessionCommand::Branch => self.branch(),
            SessionCommand::Hold(grabs) => self.hold(&grabs),
            SessionCommand::HoldFlesh(grab) => self.hold_flesh(grab),
            SessionCommand::PinFlesh(grab) => self.pin_flesh(grab),
            SessionCommand::Pin(body, points) => self.pin(body, &points),
            SessionCommand::Tune { wanted, since: Since::Now } => self.tune(&wanted)?,
            SessionCommand::Tune { wanted, since: Since::Start } => self.tune_all(&wanted)?,
            SessionCommand::Direct(control) => self.direct(*control)?,
            SessionCommand::AddCamera(camera) => {
                self.add_camera(&camera);
                return Ok(Some(format!("camera `{}` will be saved with the recording", camera.name)));
            }
            SessionCommand::Wish(wishes) => self.wish(wishes),
            SessionCommand::Save(path) => return self.save_scene(&path).map(Some),
            SessionCommand::Picture { path, orbit, show } => {
                write(&path, &picture(self, &orbit, &show)?)?;
                return Ok(Some(format!("wrote {}", path.display())));
            }
            SessionCommand::Film { path, orbit, show } => {
                return FilmJob::begin(self, path, orbit, show)?.wait().map(Some);
            }
        }
        Ok(None)
    }

    fn open_with_note(&mut self, opened: OpenScene, name: &dyn Display) -> Option<String> {
        self.open(opened);
        Some(format!("opened {name}"))
    }

    fn reload_with_note(&mut self) -> Result<Option<String>, Fault> {
        self.reload()?;
        let note = if self.path().is_some() { "read the file again" } else { "began again" };
        Ok(Some(note.to_owned()))
    }

    fn save_scene(&self, path: &Path) -> Result<String, Fault> {
        // The folder must exist before paths relative to it can be found.
        make_folder(path)?;
        let scene = self.recorded_scene_at(path).map_err(|error| Fault::new(error.to_string()))?;
        write(path, scene.to_ron().as_bytes())?;
        Ok(format!("saved {}: `sinew run` repeats it to the bit", path.display()))
    }
}
