//! The message area above the viewport: errors and notes.

use std::time::Duration;

use egui::{Align2, Color32, Context, Label, RichText, ScrollArea, Window};

use crate::{fault::Fault, ui::studio::Studio};

/// Display time of a note (s).
const NOTE_SECONDS: f64 = 6.0;
/// Colour of errors.
const RED: Color32 = Color32::from_rgb(0xb0, 0x20, 0x20);

impl Studio {
    pub(super) fn messages(&mut self, ctx: &Context) {
        let (fault, note, trouble) =
            self.engine.board(|board| (board.fault.clone(), board.note.take(), board.trouble.clone()));
        if let Some(fault) = fault {
            self.fault_window(ctx, &fault);
        }
        if let Some(text) = trouble {
            let window =
                Window::new("The simulation has stopped").anchor(Align2::CENTER_BOTTOM, [0.0, -90.0]);
            window.resizable(false).show(ctx, |ui| ui.colored_label(RED, text));
        }
        self.show_note(ctx, note);
    }

    fn fault_window(&mut self, ctx: &Context, fault: &Fault) {
        let mut is_open = true;
        let window = Window::new("Error").open(&mut is_open).anchor(Align2::CENTER_TOP, [0.0, 8.0]);
        let mut is_dismissed = false;
        window.default_width(520.0).show(ctx, |ui| {
            ScrollArea::vertical().max_height(200.0).show(ui, |ui| {
                for line in &fault.lines {
                    ui.label(RichText::new(line).monospace().color(RED));
                }
            });
            ui.weak("The previous scene is still running.");
            is_dismissed = ui.button("Dismiss").on_hover_text("Close this message").clicked();
        });
        if is_dismissed || !is_open {
            self.engine.board(|board| board.fault = None);
        }
    }

    /// Shows the last note for some seconds.
    fn show_note(&mut self, ctx: &Context, new: Option<String>) {
        let now = ctx.input(|input| input.time);
        if let Some(text) = new {
            self.widgets.note = Some((text, now));
        }
        self.widgets.note.take_if(|(_, since)| now - *since >= NOTE_SECONDS);
        if let Some((text, since)) = &self.widgets.note {
            let left = NOTE_SECONDS - (now - since);
            ctx.request_repaint_after(Duration::from_secs_f64(left));
            let area = egui::Area::new(egui::Id::unique("note")).anchor(Align2::CENTER_BOTTOM, [0.0, -62.0]);
            let frame = egui::Frame::popup(&ctx.global_style());
            let label = Label::new(text).extend();
            area.interactable(false).show(ctx, |ui| frame.show(ui, |ui| ui.add(label)));
        }
    }
}
