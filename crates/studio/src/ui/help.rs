//! The window of shortcuts.

use egui::{Align2, Context, Grid, Window};

use super::Studio;

/// Every shortcut and what it does.
const SHORTCUTS: [(&str, &str); 20] = [
    ("Space", "play or pause"),
    ("Left, Right", "one step back, one step on"),
    ("Home, End", "first and last step"),
    ("B", "branch here: forget what was recorded later"),
    ("R", "read the file again; begin again if there is none"),
    ("F", "see everything, where it is now"),
    ("M", "coarse mesh of flesh: fixed nodes black, free ones red"),
    ("P, G", "write a PNG, a GIF"),
    ("Ctrl+S", "save what was done as a scene"),
    ("F1", "this window"),
    ("Escape", "let go; stop a GIF that is being made"),
    ("Drag a body", "pull it; pose it while time stands still"),
    ("Ctrl+drag a body", "push it away or bring it near"),
    ("Alt+drag a body", "turn it"),
    ("Right-click a body", "pin its point, or let it go"),
    ("Shift+right-click a body", "pin it with its orientation"),
    ("Drag elsewhere", "go around"),
    ("Shift+drag, middle drag", "move sideways"),
    ("Wheel", "come nearer, go away"),
    ("Drop a file", "open it"),
];

impl Studio {
    pub(super) fn help(&mut self, ctx: &Context) {
        let mut is_open = self.is_help_open;
        let window = Window::new("Shortcuts").open(&mut is_open).resizable(false);
        let window = window.pivot(Align2::CENTER_CENTER).default_pos(self.rect.center());
        window.show(ctx, |ui| {
            Grid::new("shortcuts").num_columns(2).striped(true).show(ui, |ui| {
                for (keys, what) in SHORTCUTS {
                    ui.strong(keys);
                    ui.label(what);
                    ui.end_row();
                }
            });
        });
        self.is_help_open = is_open;
    }
}
