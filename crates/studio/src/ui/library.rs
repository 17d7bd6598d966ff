//! Scenes to choose from.

use std::fs;
use std::path::{Path, PathBuf};

use egui::{ComboBox, ScrollArea, Ui};

use super::Studio;
use crate::{Command, Tint};

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
        let height = (ui.available_height() - 250.0).max(60.0);
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
            "Stretch: blue 40 % shorter, white at rest, red 40 % longer. Diagonalized: red where tetrahedra are.",
        );
        if ui.button("Shortcuts").on_hover_text("All keys and what they do (F1)").clicked() {
            self.is_help_open = !self.is_help_open;
        }
    }
}
