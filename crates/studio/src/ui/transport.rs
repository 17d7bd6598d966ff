//! The bar below: play, pause, step, speed, timeline, files.

use std::time::Duration;

use egui::{Button, Key, Modifiers, Slider, Ui};

use super::Studio;
use crate::{Board, Command, Orbit, Pace, Show};

/// Time between two looks at how far a film is.
const LOOK: Duration = Duration::from_millis(100);

impl Studio {
    pub(super) fn transport(&mut self, ui: &mut Ui) {
        ui.add_space(4.0);
        ui.horizontal_wrapped(|ui| {
            let is_playing = self.frame.is_playing;
            let play = ui.button(if is_playing { "Pause" } else { "Play" });
            if play.on_hover_text("Let time go on, or stop it (Space)").clicked() {
                self.engine.send(Command::Play(!is_playing));
            }
            if ui.button("Start").on_hover_text("Back to the beginning (Home)").clicked() {
                self.engine.send(Command::Seek(0));
            }
            if ui.button("Back").on_hover_text("One step back, to the bit (Left)").clicked() {
                self.engine.send(Command::Seek(self.frame.step.saturating_sub(1)));
            }
            if ui.button("Step").on_hover_text("One step on (Right)").clicked() {
                self.engine.send(Command::Step);
            }
            if ui.button("End").on_hover_text("To the last step recorded (End)").clicked() {
                self.engine.send(Command::Seek(self.frame.n_steps));
            }
            let is_inside = self.frame.step < self.frame.n_steps;
            let branch = ui.add_enabled(is_inside, Button::new("Branch here"));
            let tip = "Forget what was recorded after this moment and go on from here (B)";
            if branch.on_hover_text(tip).on_disabled_hover_text(tip).clicked() {
                self.engine.send(Command::Branch);
            }
            let range = Pace::RANGE.0..=Pace::RANGE.1;
            let speed = Slider::new(&mut self.speed, range).logarithmic(true).text("Speed");
            if ui.add(speed).on_hover_text("Simulated seconds per second").changed() {
                self.engine.send(Command::Speed(self.speed));
            }
            ui.separator();
            if ui
                .button("Save")
                .on_hover_text("Write what was done as a scene that runs to the same bits (Ctrl+S)")
                .clicked()
            {
                self.save();
            }
            if ui.button("PNG").on_hover_text("Write a picture of this moment (P)").clicked() {
                self.picture();
            }
            self.film_controls(ui);
        });
        ui.horizontal(|ui| {
            let mut step = self.frame.step;
            ui.spacing_mut().slider_width = (ui.available_width() - 330.0).max(40.0);
            let slider =
                Slider::new(&mut step, 0..=self.frame.n_steps.max(1)).text("Timeline").show_value(false);
            if ui.add(slider).on_hover_text("Every step that was made; drag to visit it").changed() {
                self.engine.send(Command::Seek(step));
            }
            let late = if self.frame.is_late { " · slower than asked" } else { "" };
            let posed = if self.frame.is_posed { " · posed by hand" } else { "" };
            let megabytes = self.frame.bytes as f64 / 1e6;
            ui.label(format!(
                "{:.2} s · step {} of {}{late}{posed}",
                self.frame.time, self.frame.step, self.frame.n_steps
            ))
            .on_hover_text(match self.frame.is_playing {
                true => format!("recording: {megabytes:.1} MB"),
                false => format!("recording: {megabytes:.1} MB · digest {:016x}", self.frame.digest),
            });
        });
        ui.add_space(2.0);
    }

    /// Begins a film, or shows how far it is.
    fn film_controls(&mut self, ui: &mut Ui) {
        let Some(share) = self.engine.board(|board| board.film()) else {
            if ui.button("GIF").on_hover_text("Write the recording as an animation (G)").clicked() {
                self.film();
            }
            return;
        };
        ui.label(format!("GIF: {:.0} %", 100.0 * share))
            .on_hover_text("An animation of what was recorded is being made");
        let stop =
            ui.button("Stop").on_hover_text("Make no animation after all; nothing is written (Escape)");
        if stop.clicked() {
            self.engine.board(Board::stop_film);
        }
        ui.ctx().request_repaint_after(LOOK);
    }

    /// What keys do; those that a text field wants are left to it.
    pub(super) fn take_keys(&mut self, ctx: &egui::Context) {
        if ctx.egui_wants_keyboard_input() {
            return;
        }
        let pressed =
            |modifiers: Modifiers, key: Key| ctx.input_mut(|input| input.consume_key(modifiers, key));
        let plain = |key: Key| pressed(Modifiers::NONE, key);
        if pressed(Modifiers::COMMAND, Key::S) {
            self.save();
        }
        if plain(Key::Space) {
            self.engine.send(Command::Play(!self.frame.is_playing));
        }
        let step = self.frame.step;
        for (key, command) in [
            (Key::Home, Command::Seek(0)),
            (Key::End, Command::Seek(self.frame.n_steps)),
            (Key::ArrowLeft, Command::Seek(step.saturating_sub(1))),
            (Key::ArrowRight, Command::Step),
            (Key::B, Command::Branch),
            (Key::R, Command::Reload),
        ] {
            if plain(key) {
                self.engine.send(command);
            }
        }
        if plain(Key::F) {
            self.orbit = Orbit::around(self.frame.extent(), self.frame.gravity());
        }
        if plain(Key::P) {
            self.picture();
        }
        if plain(Key::G) {
            self.film();
        }
        if plain(Key::M) {
            self.show = Show { nodes: !self.show.nodes, ..self.show };
        }
        if plain(Key::F1) {
            self.is_help_open = !self.is_help_open;
        }
        if plain(Key::Escape) {
            if self.drag.body().is_none() && !self.is_help_open {
                self.engine.board(Board::stop_film);
            }
            self.drag.release();
            self.is_help_open = false;
            self.engine.send(Command::Hold(Vec::new()));
        }
    }
}
