//! Live edit of settings: gravity, step length, stepper, loops, stiffness, damping, contact.

use egui::{ComboBox, DragValue, Response, Slider, SliderClamping, Ui};
use glam::DVec3;
use sinew_scene::{ChangeDoc, DisplacementDoc, ExplicitDoc, ImplicitDoc, StepperDoc};

use super::Studio;
use crate::{Command, Since};

/// Settings under edit.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// What is in force, as it was last seen, and how often something had gone wrong then.
    seen: (ChangeDoc, u64),
    /// What is shown: the same until it is edited.
    gravity: DVec3,
    dt: f64,
    stepper: StepperDoc,
    loop_iterations: u32,
    /// As in [`ChangeDoc::factors`].
    factors: [f64; 6],
    since_start: bool,
}

impl Draft {
    /// Shows what is in force, if that is new or something else was refused.
    fn see(&mut self, said: &ChangeDoc, n_faults: u64) {
        if self.seen.0 == *said && self.seen.1 == n_faults {
            return;
        }
        *self = Self {
            seen: (said.clone(), n_faults),
            gravity: said.gravity.unwrap_or_default(),
            dt: said.dt.unwrap_or_default(),
            stepper: said.stepper.clone().unwrap_or_default(),
            loop_iterations: said.loop_iterations.unwrap_or_default(),
            factors: said.factors().map(|(_, factor)| factor.unwrap_or(1.0)),
            since_start: self.since_start,
        };
    }

    /// What was edited.
    fn edited(&self) -> ChangeDoc {
        let mut shown = ChangeDoc {
            at_s: 0.0,
            gravity: Some(self.gravity),
            dt: Some(self.dt),
            stepper: Some(self.stepper.clone()),
            loop_iterations: Some(self.loop_iterations),
            ..ChangeDoc::default()
        };
        shown.factors_mut().into_iter().zip(self.factors).for_each(|(said, factor)| *said = Some(factor));
        shown.beyond(&self.seen.0)
    }
}

/// Whether an edit is complete: not while the mouse still drags.
fn is_done(response: &Response) -> bool {
    response.drag_stopped() || response.lost_focus() || response.changed() && !response.dragged()
}

impl Studio {
    pub(super) fn settings_panel(&mut self, ui: &mut Ui) {
        ui.heading("Settings");
        let n_faults = self.engine.board(|board| board.n_faults);
        let draft = &mut self.settings;
        draft.see(&self.frame.said, n_faults);
        let mut done = false;
        ui.horizontal(|ui| {
            ui.label("Gravity");
            for (value, axis) in [&mut draft.gravity.x, &mut draft.gravity.y, &mut draft.gravity.z]
                .into_iter()
                .zip(["x", "y", "z"])
            {
                let field = ui.add(DragValue::new(value).speed(0.1).max_decimals(2));
                done |= is_done(&field.on_hover_text(format!("Gravity along {axis}, m/s²")));
            }
        });
        ui.horizontal(|ui| {
            ui.label("Step");
            let field = DragValue::new(&mut draft.dt)
                .speed(1e-4)
                .range(1e-6..=0.1)
                .clamp_existing_to_range(false)
                .max_decimals(6)
                .suffix(" s");
            done |= is_done(&ui.add(field).on_hover_text("Length of a step, s"));
        });
        done |= stepper(ui, &mut draft.stepper, &self.frame.doc.stepper);
        ui.horizontal(|ui| {
            ui.label("Loops");
            let field = DragValue::new(&mut draft.loop_iterations)
                .range(0..=10_000)
                .clamp_existing_to_range(false)
                .suffix(" iterations");
            done |= is_done(&ui.add(field).on_hover_text("Most iterations on closed loops per solve"));
        });
        let names = [
            ("Joint stiffness", "Factor on the springs of all joints"),
            ("Joint damping", "Factor on the damping of all joints"),
            ("Flesh stiffness", "Factor on Young's modulus of all flesh"),
            ("Contact stiffness", "Factor on the normal stiffness of all contacts"),
            ("Contact damping", "Factor on the damping of all contacts"),
            ("Friction", "Factor on the friction of all contacts"),
        ];
        for (value, (name, tip)) in draft.factors.iter_mut().zip(names) {
            let slider = Slider::new(value, 0.01..=100.0).logarithmic(true).text(name);
            let slider = slider.clamping(SliderClamping::Edits);
            done |= is_done(&ui.add(slider).on_hover_text(tip));
        }
        ui.checkbox(&mut draft.since_start, "From the start").on_hover_text(
            "Edits hold from the beginning, and what was done is repeated with them; else from now on",
        );
        ui.add(Slider::new(&mut self.drag.firmness, 0.05..=20.0).logarithmic(true).text("Hold"))
            .on_hover_text("How firmly the mouse holds bodies");
        if done {
            let wanted = self.settings.edited();
            if !wanted.is_empty() {
                let since = if self.settings.since_start { Since::Start } else { Since::Now };
                self.engine.send(Command::Tune { wanted: Box::new(wanted), since });
            }
        }
    }
}

/// Chooses a stepper; the one that the scene begins with stays as it is `written`.
fn stepper(ui: &mut Ui, stepper: &mut StepperDoc, written: &StepperDoc) -> bool {
    let name = |stepper: &StepperDoc| match stepper {
        StepperDoc::Implicit(doc) if doc.order == 2 => "Implicit, second order",
        StepperDoc::Implicit(_) => "Implicit",
        StepperDoc::Explicit(_) => "Explicit",
        StepperDoc::Displacement(_) => "Displacement",
        StepperDoc::Reduced(_) => "Joint coordinates",
    };
    let implicit = |order| StepperDoc::Implicit(ImplicitDoc { order, ..ImplicitDoc::default() });
    let usual = [
        implicit(1),
        implicit(2),
        StepperDoc::Explicit(ExplicitDoc::default()),
        StepperDoc::Displacement(DisplacementDoc::default()),
    ];
    let others = usual.into_iter().filter(|choice| name(choice) != name(written));
    let mut done = false;
    let shown = ComboBox::from_label("Stepper").selected_text(name(stepper)).show_ui(ui, |ui| {
        for choice in std::iter::once(written.clone()).chain(others) {
            let name = name(&choice);
            done |= ui.selectable_value(stepper, choice, name).clicked();
        }
    });
    shown.response.on_hover_text("How time is stepped");
    done
}
