//! Score panel: control of the actuators, goals of bones, keyframes.

use egui::{ComboBox, DragValue, Ui};
use sinew_scene::{ControlDoc, GoalDoc, KeyDoc, SceneDoc, StyleDoc, WantDoc};

use crate::pick::{Hit, PickTarget};
use crate::score::{ControlChoice, control_at, keep, key};
use crate::{command::SessionCommand, engine::Engine, snapshot::Snapshot};

/// What a pin keeps constant.
const PIN_GOALS: [(&str, WantDoc); 5] = [
    ("position", WantDoc::KeepPosition),
    ("height", WantDoc::KeepHeight),
    ("orientation", WantDoc::KeepOrientation),
    ("zero velocity", WantDoc::Stop),
    ("zero acceleration", WantDoc::Coast),
];

/// Goals and keyframes of the next phase.
#[derive(Clone, Debug, Default)]
pub(super) struct ScorePanel {
    goals: Vec<GoalDoc>,
    keys: Vec<KeyDoc>,
    /// Index in [`PIN_GOALS`].
    pin_goal: usize,
}

impl ScorePanel {
    /// The last goals and keyframes of a score.
    pub(super) fn of(doc: &SceneDoc) -> Self {
        let mut panel = Self::default();
        for phase in doc.score.iter().flat_map(|score| &score.phases) {
            match &phase.control {
                ControlDoc::Keyframes(frames) => panel.keys.clone_from(&frames.keys),
                ControlDoc::Guide(guide) => {
                    let kept = guide
                        .goals
                        .iter()
                        .filter(|goal| !matches!(goal.want, WantDoc::Follow { .. } | WantDoc::Turn { .. }));
                    panel.goals = kept.cloned().collect();
                }
                ControlDoc::Passive | ControlDoc::Land(_) => {}
            }
        }
        panel
    }

    pub(super) fn show(&mut self, ui: &mut Ui, engine: &mut Engine, snapshot: &Snapshot) {
        if !snapshot.overview.is_guided {
            return;
        }
        ui.separator();
        ui.heading("Score");
        let now = control(snapshot);
        let name = now.map_or("none", ControlChoice::name);
        let shown = ComboBox::from_label("Control").selected_text(name).show_ui(ui, |ui| {
            ControlChoice::ALL
                .into_iter()
                .find(|&choice| ui.selectable_label(now == Some(choice), choice.name()).clicked())
        });
        shown.response.on_hover_text("Control of the actuators from this moment on");
        if let Some(choice) = shown.inner.flatten() {
            self.switch(engine, choice);
        }
        self.goal_list(ui, engine, snapshot);
        self.key_list(ui, engine, snapshot);
    }

    fn goal_list(&mut self, ui: &mut Ui, engine: &mut Engine, snapshot: &Snapshot) {
        let name = PIN_GOALS[self.pin_goal].0;
        let keeps = ComboBox::from_label("Pins keep").selected_text(name).show_ui(ui, |ui| {
            for (i, (name, _)) in PIN_GOALS.iter().enumerate() {
                ui.selectable_value(&mut self.pin_goal, i, *name);
            }
        });
        keeps.response.on_hover_text("What a right click on a bone keeps constant");
        let n = self.goals.len();
        self.goals.retain(|goal| {
            stays(ui, "Remove this goal", |ui| {
                ui.label(format!("{}: {:?}", goal.bone, goal.want));
            })
        });
        if self.goals.len() < n {
            self.guide(engine, snapshot);
        }
    }

    fn key_list(&mut self, ui: &mut Ui, engine: &mut Engine, snapshot: &Snapshot) {
        let tip = "Store the present pose, which may be posed by dragging while paused";
        if ui.button("Add keyframe").on_hover_text(tip).clicked() {
            let at_s = self.keys.last().map_or(0.5, |key| key.at_s + 0.5);
            self.keys.push(key(&snapshot.overview, &snapshot.readings, at_s));
        }
        self.keys.retain_mut(|key| {
            stays(ui, "Remove this keyframe", |ui| {
                let field = DragValue::new(&mut key.at_s).speed(0.01).range(1e-3..=1e3).suffix(" s");
                ui.add(field).on_hover_text("Time of the pose after the start of the keyframes (s)");
                ui.label(format!("{} joints", key.joints.len()));
            })
        });
        if !self.keys.is_empty()
            && ui.button("Play keyframes").on_hover_text("Follow the keyframes from this moment on").clicked()
        {
            self.keys.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
            self.switch(engine, ControlChoice::Keyframes);
        }
    }

    /// Switches to another control from this moment on.
    fn switch(&self, engine: &mut Engine, choice: ControlChoice) {
        let control = choice.control(&self.goals, &self.keys);
        engine.send(SessionCommand::Direct(Box::new(control)));
    }

    /// Guides from this moment on, with the present style if there is one.
    fn guide(&self, engine: &mut Engine, snapshot: &Snapshot) {
        let style = match control(snapshot) {
            Some(ControlChoice::Guide(style)) => style,
            _ => StyleDoc::default(),
        };
        self.switch(engine, ControlChoice::Guide(style));
    }

    /// Switches to guiding before a bone is dragged.
    pub(super) fn prepare_to_guide(&self, engine: &mut Engine, snapshot: &Snapshot) {
        if snapshot.overview.is_guided
            && snapshot.is_playing
            && !matches!(control(snapshot), Some(ControlChoice::Guide(_)))
        {
            self.guide(engine, snapshot);
        }
    }

    /// Adds a goal for the bone under the mouse, from this moment on.
    pub(super) fn keep(&mut self, engine: &mut Engine, snapshot: &Snapshot, hit: &Hit) {
        let PickTarget::Body(body) = hit.target else { return };
        let (Some(card), Some(pose)) =
            (snapshot.overview.bodies.get(body.index()), snapshot.poses.get(body.index()))
        else {
            return;
        };
        let point = pose.inverse().transform_point(hit.point);
        self.goals.push(keep(&card.name, point, PIN_GOALS[self.pin_goal].1.clone()));
        self.guide(engine, snapshot);
    }
}

/// A row that a button removes; returns whether it stays.
fn stays(ui: &mut Ui, tip: &str, rest: impl FnOnce(&mut Ui)) -> bool {
    ui.horizontal(|ui| {
        let is_removed = ui.small_button("x").on_hover_text(tip).clicked();
        rest(ui);
        !is_removed
    })
    .inner
}

/// The control in force.
fn control(snapshot: &Snapshot) -> Option<ControlChoice> {
    let clock = snapshot.clock;
    control_at(&snapshot.doc, clock.time + 0.5 * clock.dt).map(ControlChoice::of)
}
