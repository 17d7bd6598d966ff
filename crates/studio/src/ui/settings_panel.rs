//! Settings panel: gravity, step length, stepper, loops, stiffness, damping, contact.

use egui::{ComboBox, DragValue, Response, Slider, SliderClamping, Ui};
use sinew_scene::{DisplacementDoc, ExplicitDoc, ImplicitDoc, StepperDoc};

use crate::command::SessionCommand;
use crate::score::Since;
use crate::ui::settings_draft::SettingsDraft;
use crate::ui::studio::Studio;

/// Whether an edit is complete; false while the mouse drags.
fn is_done(response: &Response) -> bool {
    response.drag_stopped() || response.lost_focus() || response.changed() && !response.dragged()
}

/// Names and tooltips of the factors, in the order of [`sinew_scene::ChangeDoc::factors`].
const FACTORS: [(&str, &str); 6] = [
    ("Joint stiffness", "Factor on the springs of all joints"),
    ("Joint damping", "Factor on the damping of all joints"),
    ("Flesh stiffness", "Factor on Young's modulus of all flesh"),
    ("Contact stiffness", "Factor on the normal stiffness of all contacts"),
    ("Contact damping", "Factor on the damping of all contacts"),
    ("Friction", "Factor on the friction of all contacts"),
];

impl Studio {
    pub(super) fn settings_panel(&mut self, ui: &mut Ui) {
        ui.heading("Settings");
        let n_faults = self.engine.board(|board| board.n_faults);
        let draft = &mut self.settings;
        draft.see(&self.snapshot.in_force, n_faults);
        let mut done = edit_numbers(ui, draft);
        done |= stepper(ui, &mut draft.stepper, &self.snapshot.doc.stepper);
        ui.horizontal(|ui| {
            ui.label("Loops");
            let field = DragValue::new(&mut draft.loop_iterations)
                .range(0..=10_000)
                .clamp_existing_to_range(false)
                .suffix(" iterations");
            done |= is_done(&ui.add(field).on_hover_text("Largest number of loop iterations per solve"));
        });
        for (value, (name, tip)) in draft.factors.iter_mut().zip(FACTORS) {
            let slider = Slider::new(value, 0.01..=100.0).logarithmic(true).text(name);
            let slider = slider.clamping(SliderClamping::Edits);
            done |= is_done(&ui.add(slider).on_hover_text(tip));
        }
        ui.checkbox(&mut draft.since_start, "From the start")
            .on_hover_text("Apply edits from the start and repeat the recording with them; else from now on");
        ui.add(Slider::new(&mut self.drag.firmness, 0.05..=20.0).logarithmic(true).text("Hold"))
            .on_hover_text("Stiffness of the mouse's grip on bodies");
        if done {
            let wanted = self.settings.edited();
            if !wanted.is_empty() {
                let since = if self.settings.since_start { Since::Start } else { Since::Now };
                self.engine.send(SessionCommand::Tune { wanted: Box::new(wanted), since });
            }
        }
    }
}

/// Gravity and step length; returns whether an edit is complete.
fn edit_numbers(ui: &mut Ui, draft: &mut SettingsDraft) -> bool {
    let mut done = false;
    ui.horizontal(|ui| {
        ui.label("Gravity");
        let axes = [&mut draft.gravity.x, &mut draft.gravity.y, &mut draft.gravity.z];
        for (value, axis) in axes.into_iter().zip(["x", "y", "z"]) {
            let field = ui.add(DragValue::new(value).speed(0.1).max_decimals(2));
            done |= is_done(&field.on_hover_text(format!("Gravity along {axis} (m/s²)")));
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
        done |= is_done(&ui.add(field).on_hover_text("Step length (s)"));
    });
    done
}

/// Choice of the stepper; the stepper of the document keeps its options. Returns whether an edit is complete.
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
    shown.response.on_hover_text("Integration method");
    done
}
