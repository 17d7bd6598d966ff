//! Scenes to choose from.

use std::fs;
use std::path::{Path, PathBuf};

use egui::style::ScrollAnimation;
use egui::{Align, ComboBox, ScrollArea, Ui};

use sinew_scene::no_such_scene;

use super::Studio;
use crate::{Command, Fault, Orbit, Tint};

/// A list of scenes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Library {
    /// Names and where they come from, in order of the names.
    pub scenes: Vec<(String, Origin)>,
}

/// Where a scene comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// It is built in, by this name.
    BuiltIn(String),
}

impl Library {
    /// The scenes of a folder; none if it cannot be read.
    pub fn of_folder(folder: &Path) -> Self {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let files =
            entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "ron"));
        let named = files.filter_map(|path| Some((path.file_stem()?.to_string_lossy().into_owned(), path)));
        let mut scenes: Vec<_> = named.map(|(name, path)| (name, Origin::File(path))).collect();
        scenes.sort_by(|a, b| a.0.cmp(&b.0));
        Self { scenes }
    }

    /// The scenes that are built in.
    pub fn built_in() -> Self {
        let names = sinew_scenes::SCENES.iter().map(|(name, _)| (*name).to_owned());
        Self { scenes: names.map(|name| (name.clone(), Origin::BuiltIn(name))).collect() }
    }

    /// The scenes of a folder, or those that are built in if it holds none.
    pub fn of_folder_or_built_in(folder: &Path) -> Self {
        let found = Self::of_folder(folder);
        if found.scenes.is_empty() { Self::built_in() } else { found }
    }

    /// The scene that a word on the command line means: a file, or by its name one of the list or one that is built in.
    ///
    /// # Errors
    /// If it is none of these, with what may have been meant.
    pub fn find(&self, word: &str) -> Result<Origin, Fault> {
        if Path::new(word).exists() {
            return Ok(Origin::File(word.into()));
        }
        let built_in = Self::built_in().scenes;
        let known: Vec<_> = self.scenes.iter().chain(&built_in).collect();
        let named = known.iter().find(|(name, _)| name == word).map(|(_, origin)| origin.clone());
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        named.ok_or_else(|| Fault::new(no_such_scene(word, &names)))
    }
}

impl Studio {
    pub(super) fn library_panel(&mut self, ui: &mut Ui) {
        // The list takes what the rest leaves; if that is too little, all of it scrolls.
        let cameras = (24.0 * self.frame.doc.cameras.len() as f32).min(80.0);
        let height = (ui.available_height() - 360.0 - cameras).max(60.0);
        ScrollArea::vertical().id_salt("library").auto_shrink(false).show(ui, |ui| {
            self.list(ui, height);
            self.things_to_show(ui);
            self.cameras(ui);
            if ui.button("Shortcuts").on_hover_text("All keys and what they do (F1)").clicked() {
                self.is_help_open = !self.is_help_open;
            }
        });
    }

    /// Scenes to choose from, in a list of this height.
    fn list(&mut self, ui: &mut Ui, height: f32) {
        ui.heading("Scenes");
        let mut chosen = None;
        ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
            for (name, origin) in &self.library.scenes {
                let is_open = *name == self.frame.cast.name;
                let tip = match origin {
                    Origin::File(path) => format!("Open {}", path.display()),
                    Origin::BuiltIn(name) => format!("Open {name}, which is built in"),
                };
                let entry = ui.selectable_label(is_open, name).on_hover_text(tip);
                if is_open && self.is_newly_open {
                    self.is_newly_open = !ui.clip_rect().contains_rect(entry.rect);
                    if self.is_newly_open {
                        entry.scroll_to_me_animation(Some(Align::Center), ScrollAnimation::none());
                    }
                }
                if entry.clicked() {
                    chosen = Some(origin.clone());
                }
            }
        });
        if let Some(origin) = chosen {
            self.open_scene(&origin);
        }
        if ui
            .button("Reload")
            .on_hover_text("Read the file again, or begin again if there is none; the camera stays (R)")
            .clicked()
        {
            self.engine.send(Command::Reload);
        }
    }

    /// What is shown.
    fn things_to_show(&mut self, ui: &mut Ui) {
        ui.separator();
        ui.heading("Show");
        let show = &mut self.show;
        for (value, name, tip) in [
            (&mut show.flesh, "Flesh", "Surfaces of flesh"),
            (&mut show.nodes, "Coarse mesh", "Nodes sized by mass: fixed ones black, free ones red (M)"),
            (&mut show.joints, "Joints", "Joints as points"),
            (
                &mut show.limits,
                "Limits",
                "Ranges of joints as arcs, cones and bars, with a needle: green inside, red outside",
            ),
            (&mut show.contacts, "Contact forces", "Forces of contacts as arrows"),
            (&mut show.joint_forces, "Joint forces", "Forces in joints as arrows"),
        ] {
            ui.checkbox(value, name).on_hover_text(tip);
        }
        let colors = ComboBox::from_label("Flesh colour").selected_text(show.tint.name()).width(90.0);
        let colors = colors.show_ui(ui, |ui| {
            for tint in Tint::ALL {
                ui.selectable_value(&mut show.tint, tint, tint.name());
            }
        });
        colors.response.on_hover_text(
            "Stretch: blue 40 % shorter, white at rest, red 40 % longer. Diagonalized: red where the \
             selective test picks tetrahedra, whatever the stepper does with them.",
        );
    }

    /// From where the scene can be seen.
    fn cameras(&mut self, ui: &mut Ui) {
        ui.separator();
        ui.heading("Cameras");
        ScrollArea::vertical().id_salt("cameras").max_height(80.0).auto_shrink([false, true]).show(
            ui,
            |ui| {
                for camera in &self.frame.doc.cameras {
                    let tip = format!("See the scene from {:.2}", camera.from);
                    if ui.selectable_label(false, &camera.name).on_hover_text(tip).clicked() {
                        self.orbit = Orbit::of_camera(camera, self.frame.gravity());
                    }
                }
            },
        );
        ui.horizontal(|ui| {
            let field =
                egui::TextEdit::singleline(&mut self.camera_name).hint_text("name").desired_width(70.0);
            ui.add(field).on_hover_text("Name of the camera; one of the same name is replaced");
            let tip = "Keep this view, under this name, in what is saved; `sinew run --camera NAME` uses it";
            if ui.button("Add camera").on_hover_text(tip).clicked() {
                let taken = &self.frame.doc.cameras;
                let mut free = (1..).map(|i| format!("view_{i}"));
                let name = match self.camera_name.trim() {
                    "" => {
                        free.find(|name| taken.iter().all(|camera| camera.name != *name)).unwrap_or_default()
                    }
                    name => name.to_owned(),
                };
                self.engine.send(Command::AddCamera(self.orbit.to_camera(&name)));
                self.camera_name.clear();
            }
        });
    }
}
