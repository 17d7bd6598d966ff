//! Keyboard shortcuts.

use egui::{Key, Modifiers};

use crate::{camera::Orbit, command::SessionCommand, engine::Board, ui::studio::Studio};

impl Studio {
    /// Handles shortcuts, unless a text field has the keyboard.
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
        let clock = self.snapshot.clock;
        for (key, command) in [
            (Key::Space, SessionCommand::Play(!self.snapshot.is_playing)),
            (Key::Home, SessionCommand::Seek(0)),
            (Key::End, SessionCommand::Seek(clock.n_steps)),
            (Key::ArrowLeft, SessionCommand::Seek(clock.step.saturating_sub(1))),
            (Key::ArrowRight, SessionCommand::Step),
            (Key::B, SessionCommand::Branch),
            (Key::R, SessionCommand::Reload),
        ] {
            if plain(key) {
                self.engine.send(command);
            }
        }
        if plain(Key::F) {
            self.view.orbit = Orbit::around(self.snapshot.extent(), self.snapshot.gravity());
        }
        if plain(Key::P) {
            self.picture();
        }
        if plain(Key::G) {
            self.film();
        }
        if plain(Key::M) {
            self.view.show.nodes = !self.view.show.nodes;
        }
        if plain(Key::F1) {
            self.widgets.is_help_open = !self.widgets.is_help_open;
        }
        if plain(Key::Escape) {
            self.escape();
        }
    }

    /// Lets go of the body, closes the help; if there is neither, cancels a film.
    fn escape(&mut self) {
        if !self.drag.is_active() && !self.widgets.is_help_open {
            self.engine.board(Board::stop_film);
        }
        self.let_go();
        self.widgets.is_help_open = false;
    }
}
