//! State of the user interface, and the commands that several panels share.

use std::path::{Path, PathBuf};

use glam::DVec3;
use sinew_show::{Drawing, ShowOptions};

use crate::file_watch::{FileWatch, is_same_file};
use crate::library::{Library, Origin};
use crate::snapshot::{Snapshot, SnapshotWishes};
use crate::{
    camera::Orbit, command::SessionCommand, engine::Engine, pick::Hit, ui::drag::Drag,
    ui::plots_panel::PlotsPanel, ui::score_panel::ScorePanel, ui::settings_panel::SettingsPanel,
};

/// State of the user interface.
pub struct Studio {
    pub(super) engine: Engine,
    pub(super) snapshot: Snapshot,
    pub(super) view: ViewState,
    /// The opening for which the camera was set; see [`Snapshot::opening`].
    opening: u64,
    /// Whether the list of scenes must scroll to the open scene.
    pub(super) is_newly_open: bool,
    pub(super) drag: Drag,
    pub(super) plots: PlotsPanel,
    pub(super) library: Library,
    pub(super) watched: FileWatch,
    pub(super) settings: SettingsPanel,
    pub(super) score: ScorePanel,
    pub(super) widgets: WidgetState,
    wished: SnapshotWishes,
    /// Folder of written files.
    folder: PathBuf,
}

/// What the viewport shows.
pub(super) struct ViewState {
    pub(super) drawing: Drawing,
    pub(super) orbit: Orbit,
    pub(super) show: ShowOptions,
    /// What is under the mouse.
    pub(super) hover: Option<Hit>,
    /// Rectangle of the viewport in the window.
    pub(super) rect: egui::Rect,
}

/// Contents of small widgets.
pub(super) struct WidgetState {
    /// Name of the next camera to add.
    pub(super) camera_name: String,
    pub(super) is_help_open: bool,
    /// The last note, and the time at which it appeared (s).
    pub(super) note: Option<(String, f64)>,
    /// Simulated seconds per second.
    pub(super) speed: f64,
}

impl Studio {
    /// The interface of an engine. `library` lists the scenes to open; files are written to `folder`.
    pub fn new(engine: Engine, library: Library, folder: &Path) -> Self {
        let mut studio = Self {
            engine,
            snapshot: Snapshot::default(),
            view: ViewState {
                drawing: Drawing::default(),
                orbit: Orbit::default(),
                show: ShowOptions::default(),
                hover: None,
                rect: egui::Rect::NOTHING,
            },
            opening: 0,
            is_newly_open: false,
            drag: Drag::default(),
            plots: PlotsPanel::default(),
            library,
            watched: FileWatch::default(),
            settings: SettingsPanel::default(),
            score: ScorePanel::default(),
            widgets: WidgetState { camera_name: String::new(), is_help_open: false, note: None, speed: 1.0 },
            wished: SnapshotWishes::default(),
            folder: folder.to_owned(),
        };
        studio.refresh();
        studio
    }

    /// The newest snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// What the viewport draws.
    pub fn drawing(&self) -> &Drawing {
        &self.view.drawing
    }

    /// The camera of the viewport.
    pub fn orbit(&self) -> &Orbit {
        &self.view.orbit
    }

    /// The engine.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Position in the window of a point of the world (m); `None` if the point is not in front of the camera.
    pub fn place(&self, point: DVec3) -> Option<egui::Pos2> {
        let rect = self.view.rect;
        let size = (f64::from(rect.width()), f64::from(rect.height()));
        let camera = self.view.orbit.to_picture(size, self.view.drawing.reach);
        let (x, y, _) = camera.pixel(point, rect.width() as usize, rect.height() as usize)?;
        Some(rect.min + egui::vec2(x as f32, y as f32))
    }

    /// What is under the mouse.
    pub fn hover(&self) -> Option<&Hit> {
        self.view.hover.as_ref()
    }

    /// Watches a file and reads it again when it changes.
    pub fn watch(&mut self, path: &Path) {
        self.watched = FileWatch::new(path);
    }

    /// Opens a file and watches it.
    pub fn open(&mut self, path: &Path) {
        self.engine.send(SessionCommand::Open(path.to_owned()));
        self.watch(path);
    }

    /// Opens a scene of a library.
    pub fn open_scene(&mut self, origin: &Origin) {
        match origin {
            Origin::File(path) => self.open(path),
            Origin::BuiltIn(name) => self.engine.send(SessionCommand::OpenBuiltIn(name.clone())),
        }
    }

    /// Reads the watched file again if it has changed.
    pub(super) fn reread_changed_file(&mut self, elapsed: f64) {
        match self.watched.look(elapsed) {
            Some(Ok(path)) => self.engine.send(SessionCommand::Reread(path)),
            Some(Err(fault)) => self.engine.board(|board| board.fault = Some(fault)),
            None => {}
        }
    }

    /// Takes the newest snapshot, and requests the content of the next ones.
    pub(super) fn refresh(&mut self) {
        // A digest takes a pass over the whole state.
        let digest = !self.snapshot.is_playing;
        let wished = SnapshotWishes { show: self.view.show, joint: self.plots.joint, digest };
        if wished != self.wished {
            self.wished = wished;
            self.engine.send(SessionCommand::Wish(wished));
        }
        if self.engine.look(&mut self.snapshot) && self.opening != self.snapshot.opening {
            if self.opening > 0 {
                self.watch_opened();
            }
            self.opening = self.snapshot.opening;
            self.is_newly_open = true;
            self.view.orbit = Orbit::of(&self.snapshot.overview, self.snapshot.gravity());
            self.settings = SettingsPanel::default();
            self.score = ScorePanel::of(&self.snapshot.doc);
            self.plots.joint = None;
            self.drag = Drag::default();
        }
    }

    /// Watches the file of the open scene, if it came from a file.
    fn watch_opened(&mut self) {
        match &self.snapshot.path {
            Some(path) if self.watched.is(path) => {}
            Some(path) => self.watched = FileWatch::new(path),
            None => self.watched = FileWatch::default(),
        }
    }

    /// Path of an output file, named after the scene.
    fn file(&self, ending: &str) -> PathBuf {
        let name =
            if self.snapshot.overview.name.is_empty() { "scene" } else { &self.snapshot.overview.name };
        self.folder.join(format!("{}{ending}", name.replace(std::path::is_separator, "_")))
    }

    /// Saves the recording as a scene, never over the open file.
    pub(super) fn save(&mut self) {
        let others = (2..).map(|i| self.file(&format!("_done_{i}.ron")));
        let mut paths = std::iter::once(self.file("_done.ron")).chain(others);
        let open = self.snapshot.path.as_deref();
        if let Some(path) = paths.find(|path| !open.is_some_and(|open| is_same_file(open, path))) {
            self.engine.send(SessionCommand::Save(path));
        }
    }

    pub(super) fn picture(&mut self) {
        let path = self.file(".png");
        self.engine.send(SessionCommand::Picture { path, orbit: self.view.orbit, show: self.view.show });
    }

    pub(super) fn film(&mut self) {
        let path = self.file(".gif");
        self.engine.send(SessionCommand::Film { path, orbit: self.view.orbit, show: self.view.show });
    }
}
