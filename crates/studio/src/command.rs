//! What can be asked of a session from outside: by the window, or by whatever stands in its place.

use std::path::PathBuf;

use glam::DVec3;
use sinew_scene::{CameraDoc, ChangeDoc, ControlDoc};
use sinew_sim::{BodyId, Grab};

use crate::export::{make_folder, picture, write};
use crate::film::Film;
use crate::{Fault, Opened, Orbit, Session, Show, Wishes};

/// What can be asked of a session.
#[derive(Clone, Debug)]
pub enum Command {
    /// Open a file.
    Open(PathBuf),
    /// Open a scene that is built in, by its name.
    OpenBuiltIn(String),
    /// Open a scene by its text; the name stands for the file in messages.
    OpenText {
        /// What it is called in messages.
        name: String,
        /// The scene, RON.
        text: String,
    },
    /// Open the same scene again.
    Reload,
    /// A file has changed: read it again, or open it if another scene is open.
    Reread(PathBuf),
    /// Let time go on, or stop it.
    Play(bool),
    /// Stop, and make one step.
    Step,
    /// Simulated seconds per second.
    Speed(f64),
    /// Stop, and go to the moment after so many steps.
    Seek(u64),
    /// Forget what was recorded after the present moment.
    Branch,
    /// Hold points of bodies, move the holds, or let go if there are none.
    Hold(Vec<Grab>),
    /// Pin points of a body (in its frame, m), or let it go.
    Pin(BodyId, Vec<DVec3>),
    /// Change settings; the time in the change does not count.
    Tune {
        /// What is wanted.
        wanted: Box<ChangeDoc>,
        /// From when on.
        since: Since,
    },
    /// Have actuators do something else from now on.
    Direct(Box<ControlDoc>),
    /// Keep a camera in what is saved; one of the same name is replaced.
    AddCamera(CameraDoc),
    /// What snapshots should hold.
    Wish(Wishes),
    /// Write what was done as a scene.
    Save(PathBuf),
    /// Write a picture of the present moment.
    Picture {
        /// The file, PNG.
        path: PathBuf,
        /// From where it is seen.
        orbit: Orbit,
        /// What is shown.
        show: Show,
    },
    /// Write the recording as an animation. An [`Engine`](crate::Engine) makes it on the side; a session alone stays with it
    /// until it is done.
    Film {
        /// The file, GIF.
        path: PathBuf,
        /// From where it is seen.
        orbit: Orbit,
        /// What is shown.
        show: Show,
    },
}

/// From when on something new is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Since {
    /// From the present moment.
    #[default]
    Now,
    /// From the beginning; what was done is repeated.
    Start,
}

impl Session {
    /// Does what is asked. If there is something to tell, it is told.
    ///
    /// # Errors
    /// If it cannot be done; the session goes on as it was.
    pub fn obey(&mut self, command: Command) -> Result<Option<String>, Fault> {
        match command {
            Command::Reread(path) if self.path() == Some(&path) => return self.obey(Command::Reload),
            Command::Open(path) | Command::Reread(path) => {
                self.open(Opened::load(&path)?);
                return Ok(Some(format!("opened {}", path.display())));
            }
            Command::OpenBuiltIn(name) => {
                self.open(Opened::built_in(&name)?);
                return Ok(Some(format!("opened {name}")));
            }
            Command::OpenText { name, text } => {
                self.open(Opened::from_text(&text, &name)?);
                return Ok(Some(format!("opened {name}")));
            }
            Command::Reload => {
                self.reload()?;
                let what = if self.path().is_some() { "read the file again" } else { "began again" };
                return Ok(Some(what.to_owned()));
            }
            Command::Play(is_playing) => self.play(is_playing),
            Command::Step => {
                self.play(false);
                self.step_once();
            }
            Command::Speed(speed) => self.set_speed(speed),
            Command::Seek(step) => {
                self.play(false);
                self.seek(step);
            }
            Command::Branch => self.branch(),
            Command::Hold(grabs) => self.hold(&grabs),
            Command::Pin(body, points) => self.pin(body, &points),
            Command::Tune { wanted, since: Since::Now } => self.tune(&wanted)?,
            Command::Tune { wanted, since: Since::Start } => self.tune_all(&wanted)?,
            Command::Direct(control) => self.direct(*control)?,
            Command::AddCamera(camera) => {
                self.add_camera(&camera);
                return Ok(Some(format!("camera `{}` will be saved with what was done", camera.name)));
            }
            Command::Wish(wishes) => self.wish(wishes),
            Command::Save(path) => {
                // Files are named by the way from there.
                make_folder(&path)?;
                let scene = self.recorded_scene_at(&path).map_err(|error| Fault::new(error.to_string()))?;
                write(&path, scene.to_ron().as_bytes())?;
                return Ok(Some(format!("saved {}: `sinew run` repeats it to the bit", path.display())));
            }
            Command::Picture { path, orbit, show } => {
                write(&path, &picture(self, &orbit, &show)?)?;
                return Ok(Some(format!("wrote {}", path.display())));
            }
            Command::Film { path, orbit, show } => {
                let mut film = Film::begin(self, path, orbit, show)?;
                return film.wait().map(Some);
            }
        }
        Ok(None)
    }
}
