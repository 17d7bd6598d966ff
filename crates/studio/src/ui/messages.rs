//! What went wrong, and what was done, above the scene.

use std::time::Duration;

use egui::{Align2, Color32, Context, Label, RichText, ScrollArea, Window};

use super::Studio;

/// How long it is said what was done, s.
const NOTE_SECONDS: f64 = 6.0;

impl Studio {
    pub(super) fn messages(&mut self, ctx: &Context) {
        let (fault, note, trouble) =
            self.engine.board(|board| (board.fault.clone(), board.note.take(), board.trouble.clone()));
        let red = Color32::from_rgb(0xb0, 0x20, 0x20);
        if let Some(fault) = fault {
            let mut is_open = true;
            let window = Window::new("Error").open(&mut is_open).anchor(Align2::CENTER_TOP, [0.0, 8.0]);
            window.default_width(520.0).show(ctx, |ui| {
                ScrollArea::vertical().max_height(200.0).show(ui, |ui| {
                    for line in &fault.lines {
                        ui.label(RichText::new(line).monospace().color(red));
                    }
                });
                ui.weak("What ran before is still running.");
                if ui.button("Dismiss").on_hover_text("Close this message").clicked() {
                    self.engine.board(|board| board.fault = None);
                }
            });
            if !is_open {
                self.engine.board(|board| board.fault = None);
            }
        }
        if let Some(text) = trouble {
            let window = Window::new("Time has stopped").anchor(Align2::CENTER_BOTTOM, [0.0, -90.0]);
            window.resizable(false).show(ctx, |ui| ui.colored_label(red, text));
        }
        let now = ctx.input(|input| input.time);
        if let Some(text) = note {
            self.note = Some((text, now));
        }
        self.note.take_if(|(_, since)| now - *since >= NOTE_SECONDS);
        if let Some((text, since)) = &self.note {
            let left = NOTE_SECONDS - (now - since);
            ctx.request_repaint_after(Duration::from_secs_f64(left));
            let area = egui::Area::new(egui::Id::unique("note")).anchor(Align2::CENTER_BOTTOM, [0.0, -62.0]);
            let frame = egui::Frame::popup(&ctx.global_style());
            let label = Label::new(text).extend();
            area.interactable(false).show(ctx, |ui| frame.show(ui, |ui| ui.add(label)));
        }
    }
}
