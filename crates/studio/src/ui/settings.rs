//! Live edit of a document: gravity, step length, stepper, loops, stiffness, damping, contact.

use egui::{ComboBox, DragValue, Response, Slider, Ui};
use sinew_scene::{DisplacementDoc, ExplicitDoc, ImplicitDoc, SceneDoc, StepperDoc};

use super::Studio;
use crate::{Command, Since, Tuning};

/// A document under edit.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// As it was opened.
    base: SceneDoc,
    doc: SceneDoc,
    tuning: Tuning,
    since_start: bool,
}

impl Draft {
    pub(super) fn of(doc: &SceneDoc) -> Self {
        Self { base: doc.clone(), doc: doc.clone(), ..Self::default() }
    }

    /// The document with all edits; the score is the one in force.
    fn edited(&self, current: &SceneDoc) -> SceneDoc {
        let mut edited = self.base.clone();
        self.tuning.apply(&mut edited);
        edited.gravity = self.doc.gravity;
        edited.dt = self.doc.dt;
        edited.stepper = self.doc.stepper.clone();
        edited.loops = self.doc.loops;
        edited.score.clone_from(&current.score);
        edited
    }
}

/// Whether an edit is complete: not while the mouse still drags.
fn is_done(response: &Response) -> bool {
    response.drag_stopped() || response.lost_focus() || response.changed() && !response.dragged()
}

impl Studio {
    pub(super) fn settings_panel(&mut self, ui: &mut Ui) {
        ui.heading("Settings");
        let draft = &mut self.settings;
        let mut done = false;
        ui.horizontal(|ui| {
            ui.label("Gravity");
            for (value, axis) in
                [&mut draft.doc.gravity.x, &mut draft.doc.gravity.y, &mut draft.doc.gravity.z]
                    .into_iter()
                    .zip(["x", "y", "z"])
            {
                let field = ui.add(DragValue::new(value).speed(0.1).max_decimals(2));
                done |= is_done(&field.on_hover_text(format!("Gravity along {axis}, m/s²")));
            }
        });
        ui.horizontal(|ui| {
            ui.label("Step");
            let field =
                DragValue::new(&mut draft.doc.dt).speed(1e-4).range(1e-6..=0.1).max_decimals(6).suffix(" s");
            done |= is_done(&ui.add(field).on_hover_text("Length of a step, s"));
        });
        done |= stepper(ui, &mut draft.doc.stepper);
        ui.horizontal(|ui| {
            ui.label("Loops");
            let field =
                DragValue::new(&mut draft.doc.loops.iterations).range(0..=10_000).suffix(" iterations");
            done |= is_done(&ui.add(field).on_hover_text("Most iterations on closed loops per solve"));
        });
        let tuning = &mut draft.tuning;
        for (value, name, tip) in [
            (&mut tuning.stiffness, "Joint stiffness", "Factor on the springs of all joints"),
            (&mut tuning.damping, "Joint damping", "Factor on the damping of all joints"),
            (&mut tuning.young, "Flesh stiffness", "Factor on Young's modulus of all flesh"),
            (&mut tuning.friction, "Friction", "Factor on the friction of all contacts"),
        ] {
            let slider = Slider::new(value, 0.01..=100.0).logarithmic(true).text(name);
            done |= is_done(&ui.add(slider).on_hover_text(tip));
        }
        ui.checkbox(&mut draft.since_start, "From the start").on_hover_text(
            "Edits hold from the beginning, and what was done is repeated with them; else from now on",
        );
        ui.add(Slider::new(&mut self.drag.firmness, 0.05..=20.0).logarithmic(true).text("Hold"))
            .on_hover_text("How firmly the mouse holds bodies");
        if done {
            let edited = self.settings.edited(&self.frame.doc);
            if edited != *self.frame.doc {
                let since = if self.settings.since_start { Since::Start } else { Since::Now };
                self.engine.send(Command::Change { doc: Box::new(edited), since });
            }
        }
    }
}

fn stepper(ui: &mut Ui, stepper: &mut StepperDoc) -> bool {
    let implicit = |order| StepperDoc::Implicit(ImplicitDoc { order, ..ImplicitDoc::default() });
    let choices = [
        (implicit(1), "Implicit"),
        (implicit(2), "Implicit, second order"),
        (StepperDoc::Explicit(ExplicitDoc::default()), "Explicit"),
        (StepperDoc::Displacement(DisplacementDoc::default()), "Displacement"),
    ];
    let name = match stepper {
        StepperDoc::Implicit(doc) if doc.order == 2 => "Implicit, second order",
        StepperDoc::Implicit(_) => "Implicit",
        StepperDoc::Explicit(_) => "Explicit",
        StepperDoc::Displacement(_) => "Displacement",
        StepperDoc::Reduced(_) => "Joint coordinates",
    };
    let mut done = false;
    let shown = ComboBox::from_label("Stepper").selected_text(name).show_ui(ui, |ui| {
        for (choice, name) in choices {
            done |= ui.selectable_value(stepper, choice, name).clicked();
        }
    });
    shown.response.on_hover_text("How time is stepped");
    done
}
