//! The bottom bar: play, pause, step, speed, timeline, files.

use std::time::Duration;

use egui::{Button, Slider, Ui};

use crate::{command::SessionCommand, engine::Board, pacing::StepPacer, ui::studio::Studio};

/// Time between updates of the progress of a film.
const LOOK: Duration = Duration::from_millis(100);

impl Studio {
    pub(super) fn transport(&mut self, ui: &mut Ui) {
        ui.add_space(4.0);
        ui.horizontal_wrapped(|ui| {
            self.play_controls(ui);
            let range = StepPacer::RANGE.0..=StepPacer::RANGE.1;
            let speed = Slider::new(&mut self.widgets.speed, range).logarithmic(true).text("Speed");
            if ui.add(speed).on_hover_text("Simulated seconds per second").changed() {
                self.engine.send(SessionCommand::Speed(self.widgets.speed));
            }
            ui.separator();
            self.file_controls(ui);
        });
        ui.horizontal(|ui| self.timeline(ui));
        ui.add_space(2.0);
    }

    fn play_controls(&mut self, ui: &mut Ui) {
        let (is_playing, clock) = (self.snapshot.is_playing, self.snapshot.clock);
        let (play, back) = (if is_playing { "Pause" } else { "Play" }, clock.step.saturating_sub(1));
        for (name, tip, command) in [
            (play, "Play or pause (Space)", SessionCommand::Play(!is_playing)),
            ("Start", "Go to the first step (Home)", SessionCommand::Seek(0)),
            ("Back", "Go back one step, bit for bit (Left)", SessionCommand::Seek(back)),
            ("Step", "Make one step (Right)", SessionCommand::Step),
            ("End", "Go to the last recorded step (End)", SessionCommand::Seek(clock.n_steps)),
        ] {
            if ui.button(name).on_hover_text(tip).clicked() {
                self.engine.send(command);
            }
        }
        let branch = ui.add_enabled(clock.step < clock.n_steps, Button::new("Branch here"));
        let tip = "Discard the recording after this moment and continue from here (B)";
        if branch.on_hover_text(tip).on_disabled_hover_text(tip).clicked() {
            self.engine.send(SessionCommand::Branch);
        }
    }

    fn file_controls(&mut self, ui: &mut Ui) {
        let tip = "Save the recording as a scene that runs to the same bits (Ctrl+S)";
        if ui.button("Save").on_hover_text(tip).clicked() {
            self.save();
        }
        if ui.button("PNG").on_hover_text("Write a picture of this moment (P)").clicked() {
            self.picture();
        }
        self.film_controls(ui);
    }

    fn timeline(&mut self, ui: &mut Ui) {
        let clock = self.snapshot.clock;
        let mut step = clock.step;
        ui.spacing_mut().slider_width = (ui.available_width() - 330.0).max(40.0);
        let slider = Slider::new(&mut step, 0..=clock.n_steps.max(1)).text("Timeline").show_value(false);
        if ui.add(slider).on_hover_text("Recorded steps; drag to go to one").changed() {
            self.engine.send(SessionCommand::Seek(step));
        }
        let late = if self.snapshot.is_late { " · slower than asked" } else { "" };
        let posed = if self.snapshot.is_posed { " · posed by hand" } else { "" };
        let megabytes = self.snapshot.bytes as f64 / 1e6;
        ui.label(format!("{:.2} s · step {} of {}{late}{posed}", clock.time, clock.step, clock.n_steps))
            .on_hover_text(match self.snapshot.is_playing {
                true => format!("recording: {megabytes:.1} MB"),
                false => format!("recording: {megabytes:.1} MB · digest {:016x}", self.snapshot.digest),
            });
    }

    /// Starts a film, or shows its progress.
    fn film_controls(&mut self, ui: &mut Ui) {
        let Some(share) = self.engine.board(|board| board.film()) else {
            if ui.button("GIF").on_hover_text("Write the recording as an animation (G)").clicked() {
                self.film();
            }
            return;
        };
        ui.label(format!("GIF: {:.0} %", 100.0 * share)).on_hover_text("Progress of the animation");
        if ui.button("Stop").on_hover_text("Cancel the animation; no file is written (Escape)").clicked() {
            self.engine.board(Board::stop_film);
        }
        ui.ctx().request_repaint_after(LOOK);
    }
}
