//! The window: eframe around the user interface; and a picture of the window without a display.

use std::{path::PathBuf, sync::Arc, time::Instant};

use eframe::{App, CreationContext, NativeOptions, Renderer};
use sinew_picture::encode_png;

use crate::library::{Library, Origin};
use crate::painter::{ScenePainter, SoftwarePainter};
use crate::{
    command::SessionCommand, engine::Engine, export, fault::Fault, gl::GlPainter, open_scene::OpenScene,
    screenshot::Screenshot, session::Session, ui::Studio,
};

/// Options of the window.
#[derive(Clone, Debug)]
pub struct Start {
    /// The scene to open: a file, or the name of a scene of the library.
    pub scene: Option<String>,
    /// Folder of scenes to choose from; the built-in scenes if it has none.
    pub library: PathBuf,
    /// Folder of written files.
    pub folder: PathBuf,
    /// Closes the window after this number of frames; for tests.
    pub frames: Option<u32>,
    /// Writes a picture of the window to this file instead of opening it.
    pub shot: Option<PathBuf>,
    /// Whether that picture shows the tetrahedral mesh of flesh.
    pub mesh: bool,
}

impl Default for Start {
    /// No scene, the fixtures of the project as library, output to the current folder.
    fn default() -> Self {
        Self {
            scene: None,
            library: PathBuf::from("fixtures/mechanisms"),
            folder: PathBuf::from("."),
            frames: None,
            shot: None,
            mesh: false,
        }
    }
}

/// Plays two seconds without a window and writes a picture of the window. Fails if the scene cannot be opened or the
/// picture cannot be written.
pub fn run_shot(start: &Start) -> Result<(), Fault> {
    let library = Library::of_folder_or_built_in(&start.library);
    let opened = match &start.scene {
        Some(scene) => OpenScene::of(&library.find(scene)?)?,
        None => OpenScene::pendulum(),
    };
    let mut studio = Studio::new(Engine::inline(Session::new(opened)), library, &start.folder);
    studio.engine().send(SessionCommand::Play(true));
    let mut shot = Screenshot::new(1280, 820)?;
    let key = |key, pressed| egui::Event::Key {
        key,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers: Default::default(),
    };
    if start.mesh {
        shot.show(&mut studio, 0.0, vec![key(egui::Key::M, true), key(egui::Key::M, false)]);
    }
    (0..20).for_each(|_| studio.engine().pass(0.1));
    shot.show(&mut studio, 0.0, Vec::new());
    let mut bytes = Vec::new();
    encode_png(shot.show(&mut studio, 0.0, Vec::new()), &mut bytes)?;
    let path = start.shot.clone().unwrap_or_default();
    export::write(&path, &bytes)
}

/// Opens the window; returns when it is closed. Fails if there is no such scene, no display, or no OpenGL.
pub fn run(start: Start) -> Result<(), Fault> {
    let library = Library::of_folder_or_built_in(&start.library);
    let origin = start.scene.as_ref().map(|scene| library.find(scene)).transpose()?;
    let scene = start.scene.clone().unwrap_or_else(|| "worm".to_owned());
    let viewport =
        egui::ViewportBuilder::default().with_inner_size([1280.0, 820.0]).with_title("Sinew studio");
    let options =
        NativeOptions { viewport, renderer: Renderer::Glow, depth_buffer: 24, ..NativeOptions::default() };
    let begin = move |context: &CreationContext<'_>| -> Result<Box<dyn App>, _> {
        Ok(Box::new(StudioWindow::new(context, &start, library, origin)))
    };
    eframe::run_native("sinew-studio", options, Box::new(begin))
        .map_err(|error| no_window(&error.to_string(), &scene))
}

/// Explains why there is no window, and what works without one.
fn no_window(error: &str, scene: &str) -> Fault {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"].into_iter().any(is_set);
    let why = if cfg!(all(unix, not(target_os = "macos"))) && !has_display {
        "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)"
    } else {
        // Remove the source location of the window system.
        error
            .split_once("os error at ")
            .and_then(|(_, at)| at.split_once(": "))
            .map_or(error, |(_, what)| what)
    };
    Fault {
        lines: vec![
            format!("cannot open a window: {why}"),
            format!("without one, `sinew run {scene} --gif FILE` makes an animation of the scene"),
            format!("and `sinew-studio {scene} --shot FILE` a picture of the window"),
        ],
    }
}

struct StudioWindow {
    studio: Studio,
    stage: Box<dyn ScenePainter>,
    last: Instant,
    frames: Option<u32>,
    /// Name of the scene in the title.
    name: String,
}

impl StudioWindow {
    fn new(context: &CreationContext<'_>, start: &Start, library: Library, origin: Option<Origin>) -> Self {
        context.egui_ctx.set_theme(egui::Theme::Light);
        let wake = context.egui_ctx.clone();
        let (opened, fault) = first_scene(origin.as_ref());
        let mut engine = Engine::threaded(Session::new(opened), move || wake.request_repaint());
        engine.board(|board| board.fault = fault);
        let mut studio = Studio::new(engine, library, &start.folder);
        if let Some(Origin::File(path)) = &origin {
            studio.watch(path);
        }
        let gl = context.gl.as_ref().and_then(|gl| GlPainter::new(Arc::clone(gl)).ok());
        let stage: Box<dyn ScenePainter> =
            gl.map_or_else(|| Box::new(SoftwarePainter::default()) as _, |gl| Box::new(gl) as _);
        Self { studio, stage, last: Instant::now(), frames: start.frames, name: String::new() }
    }
}

/// The requested scene, or the default scene and an error.
fn first_scene(origin: Option<&Origin>) -> (OpenScene, Option<Fault>) {
    match origin.map(OpenScene::of) {
        Some(Ok(opened)) => (opened, None),
        Some(Err(fault)) => (OpenScene::pendulum(), Some(fault)),
        None => (OpenScene::pendulum(), None),
    }
}

impl App for StudioWindow {
    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        let now = Instant::now();
        let elapsed = (now - std::mem::replace(&mut self.last, now)).as_secs_f64();
        self.studio.ui(ui, &mut *self.stage, elapsed);
        let name = &self.studio.snapshot().overview.name;
        if self.name != *name {
            self.name.clone_from(name);
            ui.ctx().send_viewport_cmd(egui::ViewportCommand::Title(format!("{name} · Sinew studio")));
        }
        if let Some(frames) = &mut self.frames {
            ui.ctx().request_repaint();
            *frames = frames.saturating_sub(1);
            if *frames == 0 {
                ui.ctx().send_viewport_cmd(egui::ViewportCommand::Close);
            }
        }
    }
}
