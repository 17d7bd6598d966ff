//! The help window: shortcuts of keyboard and mouse.

use egui::{Align2, Context, Grid, Window};

use crate::ui::studio::Studio;

/// Every shortcut and what it does.
const SHORTCUTS: [(&str, &str); 20] = [
    ("Space", "play or pause"),
    ("Left, Right", "go back one step, make one step"),
    ("Home, End", "go to the first or the last step"),
    ("B", "branch here: discard the later recording"),
    ("R", "read the file again, or restart a built-in scene"),
    ("F", "move the camera to show everything"),
    ("M", "mesh of flesh: fixed nodes black, free nodes red"),
    ("P, G", "write a PNG picture, a GIF animation"),
    ("Ctrl+S", "save the recording as a scene"),
    ("F1", "open or close this window"),
    ("Escape", "let go of the body; cancel a GIF"),
    ("Drag a body", "pull it; while paused, pose it"),
    ("Ctrl+drag a body", "push it away or pull it nearer"),
    ("Alt+drag a body", "turn it"),
    ("Right-click a body", "pin the clicked point, or release the body"),
    ("Shift+right-click a body", "pin it with its orientation"),
    ("Drag the background", "rotate the camera"),
    ("Shift+drag, middle drag", "move the camera sideways"),
    ("Wheel", "zoom"),
    ("Drop a file", "open it"),
];

impl Studio {
    pub(super) fn help(&mut self, ctx: &Context) {
        let mut is_open = self.widgets.is_help_open;
        let window = Window::new("Shortcuts").open(&mut is_open).resizable(false);
        let window = window.pivot(Align2::CENTER_CENTER).default_pos(self.view.rect.center());
        window.show(ctx, |ui| {
            Grid::new("shortcuts").num_columns(2).striped(true).show(ui, |ui| {
                for (keys, what) in SHORTCUTS {
                    ui.strong(keys);
                    ui.label(what);
                    ui.end_row();
                }
            });
        });
        self.widgets.is_help_open = is_open;
    }
}
