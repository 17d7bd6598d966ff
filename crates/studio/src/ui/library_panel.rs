//! Left panel: list of scenes, display options, cameras.

use egui::style::ScrollAnimation;
use egui::{Align, ComboBox, ScrollArea, Ui};
use sinew_show::Tint;

use crate::{camera::Orbit, command::SessionCommand, library::Origin, ui::studio::Studio};

impl Studio {
    pub(super) fn library_panel(&mut self, ui: &mut Ui) {
        // The list gets the remaining height; if that is too little, the whole panel scrolls.
        let cameras = (24.0 * self.snapshot.doc.cameras.len() as f32).min(80.0);
        let height = (ui.available_height() - 360.0 - cameras).max(60.0);
        ScrollArea::vertical().id_salt("library").auto_shrink(false).show(ui, |ui| {
            self.list(ui, height);
            self.display_options(ui);
            self.cameras(ui);
            if ui.button("Shortcuts").on_hover_text("All keys and what they do (F1)").clicked() {
                self.widgets.is_help_open = !self.widgets.is_help_open;
            }
        });
    }

    /// List of scenes of this height.
    fn list(&mut self, ui: &mut Ui, height: f32) {
        ui.heading("Scenes");
        let mut chosen = None;
        ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
            for (name, origin) in &self.library.scenes {
                let is_open = *name == self.snapshot.overview.name;
                let tip = match origin {
                    Origin::File(path) => format!("Open {}", path.display()),
                    Origin::BuiltIn(name) => format!("Open the built-in scene {name}"),
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
        let tip = "Read the file again, or restart a built-in scene; the camera stays (R)";
        if ui.button("Reload").on_hover_text(tip).clicked() {
            self.engine.send(SessionCommand::Reload);
        }
    }

    /// Display options.
    fn display_options(&mut self, ui: &mut Ui) {
        ui.separator();
        ui.heading("Show");
        let show = &mut self.view.show;
        for (value, name, tip) in [
            (&mut show.flesh, "Flesh", "Surfaces of flesh"),
            (&mut show.nodes, "Coarse mesh", "Mesh of flesh, nodes sized by mass: fixed black, free red (M)"),
            (&mut show.joints, "Joints", "Joints as points"),
            (
                &mut show.limits,
                "Limits",
                "Joint limits as arcs, cones and bars; needles are green within the limits and red outside",
            ),
            (&mut show.contacts, "Contact forces", "Contact forces as arrows"),
            (&mut show.joint_forces, "Joint forces", "Joint forces as arrows"),
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
            "Stretch: blue is 40 % shorter, white at rest, red 40 % longer. Diagonalized: red where the selective \
             test chooses tetrahedra; implicit steps diagonalize all of them.",
        );
    }

    /// Cameras of the scene.
    fn cameras(&mut self, ui: &mut Ui) {
        ui.separator();
        ui.heading("Cameras");
        let list = ScrollArea::vertical().id_salt("cameras").max_height(80.0).auto_shrink([false, true]);
        list.show(ui, |ui| {
            for camera in &self.snapshot.doc.cameras {
                let tip = format!("Camera at {:.2}", camera.from);
                if ui.selectable_label(false, &camera.name).on_hover_text(tip).clicked() {
                    self.view.orbit = Orbit::of_camera(camera, self.snapshot.gravity());
                }
            }
        });
        ui.horizontal(|ui| {
            let field = egui::TextEdit::singleline(&mut self.widgets.camera_name)
                .hint_text("name")
                .desired_width(70.0);
            ui.add(field).on_hover_text("Name of the camera; replaces a camera of the same name");
            let tip = "Save this view with the recording under this name; `sinew run --camera NAME` uses it";
            if ui.button("Add camera").on_hover_text(tip).clicked() {
                let taken = &self.snapshot.doc.cameras;
                let mut free = (1..).map(|i| format!("view_{i}"));
                let name = match self.widgets.camera_name.trim() {
                    "" => {
                        free.find(|name| taken.iter().all(|camera| camera.name != *name)).unwrap_or_default()
                    }
                    name => name.to_owned(),
                };
                self.engine.send(SessionCommand::AddCamera(self.view.orbit.to_camera(&name)));
                self.widgets.camera_name.clear();
            }
        });
    }
}
