//! The score: switch the control while it plays, keep things of bones, and pose keyframes.

use egui::{ComboBox, DragValue, Ui};
use sinew_scene::{ControlDoc, GoalDoc, KeyDoc, SceneDoc, StyleDoc, WantDoc};

use super::Studio;
use crate::direct::{Mode, control_at, keep, key};
use crate::{Command, Hit, Target};

/// Goals and keys that the next phase will have.
#[derive(Clone, Debug, Default)]
pub(super) struct Editor {
    goals: Vec<GoalDoc>,
    keys: Vec<KeyDoc>,
    want: Want,
}

/// What a pin keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Want {
    #[default]
    Position,
    Height,
    Orientation,
    Rest,
    Coast,
}

impl Want {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Position, "position"),
        (Self::Height, "height"),
        (Self::Orientation, "orientation"),
        (Self::Rest, "zero velocity"),
        (Self::Coast, "zero acceleration"),
    ];

    fn doc(self) -> WantDoc {
        match self {
            Self::Position => WantDoc::KeepPosition,
            Self::Height => WantDoc::KeepHeight,
            Self::Orientation => WantDoc::KeepOrientation,
            Self::Rest => WantDoc::Stop,
            Self::Coast => WantDoc::Coast,
        }
    }
}

impl Editor {
    /// Goals and keys of the last phases that have any.
    pub(super) fn of(doc: &SceneDoc) -> Self {
        let mut editor = Self::default();
        for phase in doc.score.iter().flat_map(|score| &score.phases) {
            match &phase.control {
                ControlDoc::Keyframes(frames) => editor.keys.clone_from(&frames.keys),
                ControlDoc::Guide(guide) => {
                    let kept = guide
                        .goals
                        .iter()
                        .filter(|goal| !matches!(goal.want, WantDoc::Follow { .. } | WantDoc::Turn { .. }));
                    editor.goals = kept.cloned().collect();
                }
                ControlDoc::Passive | ControlDoc::Land(_) => {}
            }
        }
        editor
    }
}

impl Studio {
    pub(super) fn keyframes_panel(&mut self, ui: &mut Ui) {
        if !self.frame.cast.is_guided {
            return;
        }
        ui.separator();
        ui.heading("Score");
        let now = self.mode();
        let shown =
            ComboBox::from_label("Control").selected_text(now.map_or("none", Mode::name)).show_ui(ui, |ui| {
                Mode::ALL
                    .into_iter()
                    .find(|&mode| ui.selectable_label(now == Some(mode), mode.name()).clicked())
            });
        shown.response.on_hover_text("What the actuators do from this moment on");
        if let Some(mode) = shown.inner.flatten() {
            self.switch(mode);
        }
        let keeps = ComboBox::from_label("Pins keep").selected_text(self.want_name()).show_ui(ui, |ui| {
            for (want, name) in Want::ALL {
                ui.selectable_value(&mut self.keys.want, want, name);
            }
        });
        keeps.response.on_hover_text("What a right click on a bone keeps from then on");
        let mut forgotten = None;
        for (i, goal) in self.keys.goals.iter().enumerate() {
            ui.horizontal(|ui| {
                if ui.small_button("x").on_hover_text("Let it go").clicked() {
                    forgotten = Some(i);
                }
                ui.label(format!("{}: {:?}", goal.bone, goal.want));
            });
        }
        if let Some(i) = forgotten {
            self.keys.goals.remove(i);
            self.guide();
        }
        self.keys_list(ui);
    }

    fn keys_list(&mut self, ui: &mut Ui) {
        let tip = "Store the pose of this moment, or the one made by dragging while time stands still";
        if ui.button("Add keyframe").on_hover_text(tip).clicked() {
            let at_s = self.keys.keys.last().map_or(0.5, |key| key.at_s + 0.5);
            self.keys.keys.push(key(&self.frame.cast, &self.frame.readings, at_s));
        }
        let mut forgotten = None;
        for (i, key) in self.keys.keys.iter_mut().enumerate() {
            ui.horizontal(|ui| {
                if ui.small_button("x").on_hover_text("Remove this keyframe").clicked() {
                    forgotten = Some(i);
                }
                let field = DragValue::new(&mut key.at_s).speed(0.01).range(1e-3..=1e3).suffix(" s");
                ui.add(field).on_hover_text("When the pose is reached, after the keyframes begin");
                ui.label(format!("{} joints", key.joints.len()));
            });
        }
        if let Some(i) = forgotten {
            self.keys.keys.remove(i);
        }
        if !self.keys.keys.is_empty()
            && ui.button("Play keyframes").on_hover_text("Follow them from this moment on").clicked()
        {
            self.keys.keys.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
            self.switch(Mode::Keyframes);
        }
    }

    fn want_name(&self) -> &'static str {
        Want::ALL.into_iter().find(|(want, _)| *want == self.keys.want).map_or("", |(_, name)| name)
    }

    /// The control in force.
    fn mode(&self) -> Option<Mode> {
        control_at(&self.frame.doc, self.frame.time + 0.5 * self.frame.dt).map(Mode::of)
    }

    /// Switches to another control from this moment on.
    fn switch(&mut self, mode: Mode) {
        let control = mode.control(&self.keys.goals, &self.keys.keys);
        self.engine.send(Command::Direct(Box::new(control)));
    }

    /// Guides from this moment on, in the style of before.
    fn guide(&mut self) {
        let style = match self.mode() {
            Some(Mode::Guide(style)) => style,
            _ => StyleDoc::default(),
        };
        self.switch(Mode::Guide(style));
    }

    /// Before a bone is dragged: makes sure that it is guided.
    pub(super) fn prepare_to_guide(&mut self) {
        if self.frame.cast.is_guided && self.frame.is_playing && !matches!(self.mode(), Some(Mode::Guide(_)))
        {
            self.guide();
        }
    }

    /// Keeps something of the bone under the mouse from this moment on.
    pub(super) fn keep(&mut self, hit: &Hit) {
        let Target::Body(body) = hit.target else { return };
        let (Some(card), Some(pose)) =
            (self.frame.cast.bodies.get(body.index()), self.frame.poses.get(body.index()))
        else {
            return;
        };
        self.keys.goals.push(keep(
            &card.name,
            pose.inverse().transform_point(hit.point),
            self.keys.want.doc(),
        ));
        self.guide();
    }
}
