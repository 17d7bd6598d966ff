//! The interface: what the window shows and how it answers, on egui alone. Without a window it runs just the same, which is
//! how it is tested.

mod drop;
mod hand;
mod help;
mod keyframes;
mod library;
mod messages;
mod plots;
mod settings;
mod stage;
mod transport;
mod viewport;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use hand::Drag;
pub use library::{Library, Origin};
pub use plots::Plot;
pub use stage::{Blank, Painted, Stage};

use crate::watched::is_same_file;
use crate::{Command, Drawing, Engine, Frame, Hit, Orbit, Show, Watched, Wishes, wishes};

/// Smallest window with panels on both sides, in points.
const LEAST: egui::Vec2 = egui::vec2(600.0, 320.0);

/// The state of the interface.
pub struct Studio {
    engine: Engine,
    frame: Frame,
    drawing: Drawing,
    orbit: Orbit,
    show: Show,
    /// The opening that the camera was set for.
    opening: u64,
    /// Whether the list of scenes has yet to show the one that was opened.
    is_newly_open: bool,
    hover: Option<Hit>,
    drag: Drag,
    plot: Plot,
    joint: Option<usize>,
    library: Library,
    watched: Watched,
    settings: settings::Draft,
    keys: keyframes::Editor,
    /// Name of the next camera to keep.
    camera_name: String,
    is_help_open: bool,
    /// What was done last, and since when this is said, s.
    note: Option<(String, f64)>,
    speed: f64,
    wished: Wishes,
    /// Where files are written.
    folder: PathBuf,
    /// Where the scene is in the window.
    rect: egui::Rect,
}

impl Studio {
    /// The interface of an engine; `library` lists scenes to open, and files are written to `folder`.
    pub fn new(engine: Engine, library: Library, folder: &Path) -> Self {
        let mut studio = Self {
            engine,
            frame: Frame::default(),
            drawing: Drawing::default(),
            orbit: Orbit::default(),
            show: Show::default(),
            opening: 0,
            is_newly_open: false,
            hover: None,
            drag: Drag::default(),
            plot: Plot::default(),
            joint: None,
            library,
            watched: Watched::default(),
            settings: settings::Draft::default(),
            keys: keyframes::Editor::default(),
            camera_name: String::new(),
            note: None,
            is_help_open: false,
            speed: 1.0,
            wished: Wishes::default(),
            folder: folder.to_owned(),
            rect: egui::Rect::NOTHING,
        };
        studio.refresh();
        studio
    }

    /// The newest snapshot.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// What is drawn.
    pub fn drawing(&self) -> &Drawing {
        &self.drawing
    }

    /// From where it is seen.
    pub fn orbit(&self) -> &Orbit {
        &self.orbit
    }

    /// The engine.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Where a point of the world (m) is in the window; `None` if it is not in front of the eye.
    pub fn place(&self, point: glam::DVec3) -> Option<egui::Pos2> {
        let (width, height) = (self.rect.width(), self.rect.height());
        let camera = self.orbit.to_picture((f64::from(width), f64::from(height)), self.drawing.reach);
        let (x, y, _) = camera.pixel(point, width as usize, height as usize)?;
        Some(self.rect.min + egui::vec2(x as f32, y as f32))
    }

    /// What is under the mouse.
    pub fn hover(&self) -> Option<&Hit> {
        self.hover.as_ref()
    }

    /// Watches a file: when it changes it is read again.
    pub fn watch(&mut self, path: &Path) {
        self.watched = Watched::new(path);
    }

    /// Opens a file and watches it.
    pub fn open(&mut self, path: &Path) {
        self.engine.send(Command::Open(path.to_owned()));
        self.watch(path);
    }

    /// Opens a scene of a library.
    pub fn open_scene(&mut self, origin: &Origin) {
        match origin {
            Origin::File(path) => self.open(path),
            Origin::BuiltIn(name) => self.engine.send(Command::OpenBuiltIn(name.clone())),
        }
    }

    /// One frame of the interface: `elapsed` is the wall-clock time since the last one, s.
    pub fn ui(&mut self, ui: &mut egui::Ui, stage: &mut dyn Stage, elapsed: f64) {
        if let Some(outcome) = self.watched.look(elapsed) {
            match outcome {
                Ok(path) => self.engine.send(Command::Reread(path)),
                Err(fault) => self.engine.board(|board| board.fault = Some(fault)),
            }
        }
        self.take_dropped_files(ui.ctx());
        self.take_keys(ui.ctx());
        self.engine.pass(elapsed);
        self.refresh();
        egui::Panel::bottom("transport").show(ui, |ui| self.transport(ui));
        // Where there is no room for both, the scene has all of it.
        let size = ui.ctx().content_rect().size();
        if size.x >= LEAST.x && size.y >= LEAST.y {
            let left = egui::Panel::left("library").default_size(190.0).min_size(150.0);
            left.show(ui, |ui| self.library_panel(ui));
            let right = egui::Panel::right("settings").default_size(290.0).min_size(240.0);
            right.show(ui, |ui| {
                egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                    self.settings_panel(ui);
                    self.keyframes_panel(ui);
                    self.plots_panel(ui);
                });
            });
        }
        egui::CentralPanel::no_frame().show(ui, |ui| self.viewport(ui, stage));
        self.messages(ui.ctx());
        self.drop_hint(ui.ctx());
        self.help(ui.ctx());
        if self.frame.is_playing {
            ui.ctx().request_repaint();
        } else if let Some(wait) = self.watched.wait() {
            // The file may change while nobody touches the window.
            ui.ctx().request_repaint_after(Duration::from_secs_f64(wait));
        }
    }

    /// Takes the newest snapshot and asks for what the next ones should hold.
    fn refresh(&mut self) {
        let mut wished = wishes(&self.show);
        wished.joint = self.joint;
        // It takes a pass over the whole state.
        wished.digest = !self.frame.is_playing;
        if wished != self.wished {
            self.wished = wished;
            self.engine.send(Command::Wish(wished));
        }
        if self.engine.look(&mut self.frame) && self.opening != self.frame.opening {
            if self.opening > 0 {
                self.watch_opened();
            }
            self.opening = self.frame.opening;
            self.is_newly_open = true;
            self.orbit = Orbit::of(&self.frame.cast, self.frame.gravity());
            self.settings = settings::Draft::default();
            self.keys = keyframes::Editor::of(&self.frame.doc);
            self.joint = None;
            self.drag = Drag::default();
        }
    }

    /// Watches the file that was opened, or none if the scene came from none.
    fn watch_opened(&mut self) {
        match &self.frame.path {
            Some(path) if self.watched.is(path) => {}
            Some(path) => self.watched = Watched::new(path),
            None => self.watched = Watched::default(),
        }
    }

    /// Where a file of this kind is written, named after the scene.
    fn file(&self, ending: &str) -> PathBuf {
        let name = if self.frame.cast.name.is_empty() { "scene" } else { &self.frame.cast.name };
        self.folder.join(format!("{}{ending}", name.replace(std::path::is_separator, "_")))
    }

    fn save(&mut self) {
        // Never over the scene that is open.
        let others = (2..).map(|i| self.file(&format!("_done_{i}.ron")));
        let mut paths = std::iter::once(self.file("_done.ron")).chain(others);
        let open = self.frame.path.as_deref();
        if let Some(path) = paths.find(|path| !open.is_some_and(|open| is_same_file(open, path))) {
            self.engine.send(Command::Save(path));
        }
    }

    fn picture(&mut self) {
        let path = self.file(".png");
        self.engine.send(Command::Picture { path, orbit: self.orbit, show: self.show });
    }

    fn film(&mut self) {
        let path = self.file(".gif");
        self.engine.send(Command::Film { path, orbit: self.orbit, show: self.show });
    }
}
