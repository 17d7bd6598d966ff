//! Score panel: control of the actuators, goals of bones, keyframes.

use egui::{ComboBox, DragValue, Ui};
use sinew_scene::StyleDoc;

use crate::command::SessionCommand;
use crate::pick::{Hit, PickTarget};
use crate::score::{ControlChoice, control_at, keep, key};
use crate::ui::score_editor::PinGoal;
use crate::ui::studio::Studio;

impl Studio {
    pub(super) fn score_panel(&mut self, ui: &mut Ui) {
        if !self.snapshot.overview.is_guided {
            return;
        }
        ui.separator();
        ui.heading("Score");
        let now = self.control();
        let name = now.map_or("none", ControlChoice::name);
        let shown = ComboBox::from_label("Control").selected_text(name).show_ui(ui, |ui| {
            ControlChoice::ALL
                .into_iter()
                .find(|&choice| ui.selectable_label(now == Some(choice), choice.name()).clicked())
        });
        shown.response.on_hover_text("Control of the actuators from this moment on");
        if let Some(choice) = shown.inner.flatten() {
            self.switch(choice);
        }
        self.goal_list(ui);
        self.key_list(ui);
    }

    fn goal_list(&mut self, ui: &mut Ui) {
        let keeps =
            ComboBox::from_label("Pins keep").selected_text(self.score.pin_goal.name()).show_ui(ui, |ui| {
                for (goal, name) in PinGoal::ALL {
                    ui.selectable_value(&mut self.score.pin_goal, goal, name);
                }
            });
        keeps.response.on_hover_text("What a right click on a bone keeps constant");
        let mut removed = None;
        for (i, goal) in self.score.goals.iter().enumerate() {
            ui.horizontal(|ui| {
                if ui.small_button("x").on_hover_text("Remove this goal").clicked() {
                    removed = Some(i);
                }
                ui.label(format!("{}: {:?}", goal.bone, goal.want));
            });
        }
        if let Some(i) = removed {
            self.score.goals.remove(i);
            self.guide();
        }
    }

    fn key_list(&mut self, ui: &mut Ui) {
        let tip = "Store the present pose, which may be posed by dragging while paused";
        if ui.button("Add keyframe").on_hover_text(tip).clicked() {
            let at_s = self.score.keys.last().map_or(0.5, |key| key.at_s + 0.5);
            self.score.keys.push(key(&self.snapshot.overview, &self.snapshot.readings, at_s));
        }
        let mut removed = None;
        for (i, key) in self.score.keys.iter_mut().enumerate() {
            ui.horizontal(|ui| {
                if ui.small_button("x").on_hover_text("Remove this keyframe").clicked() {
                    removed = Some(i);
                }
                let field = DragValue::new(&mut key.at_s).speed(0.01).range(1e-3..=1e3).suffix(" s");
                ui.add(field).on_hover_text("Time of the pose after the start of the keyframes (s)");
                ui.label(format!("{} joints", key.joints.len()));
            });
        }
        if let Some(i) = removed {
            self.score.keys.remove(i);
        }
        if !self.score.keys.is_empty()
            && ui.button("Play keyframes").on_hover_text("Follow the keyframes from this moment on").clicked()
        {
            self.score.keys.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
            self.switch(ControlChoice::Keyframes);
        }
    }

    /// The control in force.
    fn control(&self) -> Option<ControlChoice> {
        control_at(&self.snapshot.doc, self.snapshot.clock.time + 0.5 * self.snapshot.clock.dt)
            .map(ControlChoice::of)
    }

    /// Switches to another control from this moment on.
    fn switch(&mut self, choice: ControlChoice) {
        let control = choice.control(&self.score.goals, &self.score.keys);
        self.engine.send(SessionCommand::Direct(Box::new(control)));
    }

    /// Guides from this moment on, with the present style if there is one.
    fn guide(&mut self) {
        let style = match self.control() {
            Some(ControlChoice::Guide(style)) => style,
            _ => StyleDoc::default(),
        };
        self.switch(ControlChoice::Guide(style));
    }

    /// Switches to guiding before a bone is dragged.
    pub(super) fn prepare_to_guide(&mut self) {
        if self.snapshot.overview.is_guided
            && self.snapshot.is_playing
            && !matches!(self.control(), Some(ControlChoice::Guide(_)))
        {
            self.guide();
        }
    }

    /// Adds a goal for the bone under the mouse, from this moment on.
    pub(super) fn keep(&mut self, hit: &Hit) {
        let PickTarget::Body(body) = hit.target else { return };
        let (Some(card), Some(pose)) =
            (self.snapshot.overview.bodies.get(body.index()), self.snapshot.poses.get(body.index()))
        else {
            return;
        };
        self.score.goals.push(keep(
            &card.name,
            pose.inverse().transform_point(hit.point),
            self.score.pin_goal.doc(),
        ));
        self.guide();
    }
}
