//! The user interface on egui: panels, viewport, keys and messages. It runs without a window too, which is how it is
//! tested.

mod drag;
mod drop;
mod help;
mod keys;
mod library_panel;
mod messages;
mod plots_panel;
mod score_panel;
mod settings_panel;
mod studio;
mod transport_bar;
mod viewport;

use std::time::Duration;

pub use drag::Drag;
pub use studio::Studio;

use crate::painter::ScenePainter;

/// Smallest window with side panels, in points.
const LEAST: egui::Vec2 = egui::vec2(600.0, 320.0);

impl Studio {
    /// Shows one frame of the interface; `elapsed` is the wall-clock time since the last one (s).
    pub fn ui(&mut self, ui: &mut egui::Ui, painter: &mut dyn ScenePainter, elapsed: f64) {
        self.reread_changed_file(elapsed);
        self.take_dropped_files(ui.ctx());
        self.take_keys(ui.ctx());
        self.engine.pass(elapsed);
        self.refresh();
        egui::Panel::bottom("transport").show(ui, |ui| self.transport(ui));
        // In a small window the viewport takes all the room.
        let size = ui.ctx().content_rect().size();
        if size.x >= LEAST.x && size.y >= LEAST.y {
            let left = egui::Panel::left("library").default_size(190.0).min_size(150.0);
            left.show(ui, |ui| self.library_panel(ui));
            let right = egui::Panel::right("settings").default_size(290.0).min_size(240.0);
            right.show(ui, |ui| {
                egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                    let (engine, snapshot) = (&mut self.engine, &self.snapshot);
                    self.settings.show(ui, engine, snapshot, &mut self.drag);
                    self.score.show(ui, engine, snapshot);
                    self.plots.show(ui, engine, snapshot);
                });
            });
        }
        egui::CentralPanel::no_frame().show(ui, |ui| self.viewport(ui, painter));
        self.messages(ui.ctx());
        self.drop_hint(ui.ctx());
        self.help(ui.ctx());
        if self.snapshot.is_playing {
            ui.ctx().request_repaint();
        } else if let Some(wait) = self.watched.wait() {
            // The file may change while the window is idle.
            ui.ctx().request_repaint_after(Duration::from_secs_f64(wait));
        }
    }
}
