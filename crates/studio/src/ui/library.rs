//! Scenes to choose from.

use std::fs;
use std::path::{Path, PathBuf};

use egui::{ScrollArea, Ui};

use super::Studio;
use crate::{Command, Orbit};

/// A list of scenes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Library {
    /// Names and files, in order of the names.
    pub scenes: Vec<(String, PathBuf)>,
}

impl Library {
    /// The scenes of a folder; none if it cannot be read.
    pub fn of_folder(folder: &Path) -> Self {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let files =
            entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "ron"));
        let named = files.filter_map(|path| Some((path.file_stem()?.to_string_lossy().into_owned(), path)));
        let mut scenes: Vec<_> = named.collect();
        scenes.sort();
        Self { scenes }
    }
}

impl Studio {
    pub(super) fn library_panel(&mut self, ui: &mut Ui) {
        ui.heading("Scenes");
        let mut chosen = None;
        let height = (ui.available_height() - 270.0).max(60.0);
        ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
            for (name, path) in &self.library.scenes {
                let is_open = *name == self.frame.cast.name;
                if ui
                    .selectable_label(is_open, name)
                    .on_hover_text(format!("Open {}", path.display()))
                    .clicked()
                {
                    chosen = Some(path.clone());
                }
            }
        });
        if let Some(path) = chosen {
            self.open(&path);
        }
        if ui.button("Reload").on_hover_text("Read the file again; the camera stays (R)").clicked() {
            self.engine.send(Command::Reload);
        }
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
                "Ranges of joints as arcs, with a needle: green inside, red outside",
            ),
            (&mut show.joint_forces, "Joint forces", "Forces in joints as arrows"),
        ] {
            ui.checkbox(value, name).on_hover_text(tip);
        }
        self.cameras(ui);
        if ui.button("Shortcuts").on_hover_text("All keys and what they do (F1)").clicked() {
            self.is_help_open = !self.is_help_open;
        }
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
                        self.orbit = Orbit::of_camera(camera, self.frame.doc.gravity);
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
