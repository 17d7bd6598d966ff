//! Settings panel: gravity, step length, stepper, loops, stiffness, damping, contact.

use egui::{ComboBox, DragValue, Response, Slider, SliderClamping, Ui};
use glam::DVec3;
use sinew_scene::{ChangeDoc, DisplacementDoc, ExplicitDoc, ImplicitDoc, StepperDoc};

use crate::{command::SessionCommand, engine::Engine, score::Since, snapshot::Snapshot, ui::drag::Drag};

/// Names and tooltips of the factors, in the order of [`sinew_scene::ChangeDoc::factors`].
const FACTORS: [(&str, &str); 6] = [
    ("Joint stiffness", "Factor on the springs of all joints"),
    ("Joint damping", "Factor on the damping of all joints"),
    ("Flesh stiffness", "Factor on Young's modulus of all flesh"),
    ("Contact stiffness", "Factor on the normal stiffness of all contacts"),
    ("Contact damping", "Factor on the damping of all contacts"),
    ("Friction", "Factor on the friction of all contacts"),
];

/// Settings while they are edited.
#[derive(Clone, Debug, Default)]
pub(super) struct SettingsPanel {
    /// The settings in force and the number of errors when the values were last updated.
    seen: (ChangeDoc, u64),
    /// Edited values.
    gravity: DVec3,
    dt: f64,
    stepper: StepperDoc,
    loop_iterations: u32,
    /// As in [`ChangeDoc::factors`].
    factors: [f64; 6],
    since_start: bool,
}

impl SettingsPanel {
    pub(super) fn show(&mut self, ui: &mut Ui, engine: &mut Engine, snapshot: &Snapshot, drag: &mut Drag) {
        ui.heading("Settings");
        self.see(&snapshot.in_force, engine.board(|board| board.n_faults));
        let mut done = self.edit_numbers(ui);
        done |= stepper(ui, &mut self.stepper, &snapshot.doc.stepper);
        for (value, (name, tip)) in self.factors.iter_mut().zip(FACTORS) {
            let slider = Slider::new(value, 0.01..=100.0).logarithmic(true).text(name);
            let slider = slider.clamping(SliderClamping::Edits);
            done |= is_done(&ui.add(slider).on_hover_text(tip));
        }
        ui.checkbox(&mut self.since_start, "From the start")
            .on_hover_text("Apply edits from the start and repeat the recording with them; else from now on");
        ui.add(Slider::new(&mut drag.firmness, 0.05..=20.0).logarithmic(true).text("Hold"))
            .on_hover_text("Stiffness of the mouse's grip on bodies");
        let wanted = self.edited();
        if done && !wanted.is_empty() {
            let since = if self.since_start { Since::Start } else { Since::Now };
            engine.send(SessionCommand::Tune { wanted: Box::new(wanted), since });
        }
    }

    /// Gravity, step length and loop iterations; returns whether an edit is complete.
    fn edit_numbers(&mut self, ui: &mut Ui) -> bool {
        let mut done = false;
        ui.horizontal(|ui| {
            ui.label("Gravity");
            let axes = [&mut self.gravity.x, &mut self.gravity.y, &mut self.gravity.z];
            for (value, axis) in axes.into_iter().zip(["x", "y", "z"]) {
                let field = ui.add(DragValue::new(value).speed(0.1).max_decimals(2));
                done |= is_done(&field.on_hover_text(format!("Gravity along {axis} (m/s²)")));
            }
        });
        ui.horizontal(|ui| {
            ui.label("Step");
            let field =
                DragValue::new(&mut self.dt).speed(1e-4).range(1e-6..=0.1).clamp_existing_to_range(false);
            let field = field.max_decimals(6).suffix(" s");
            done |= is_done(&ui.add(field).on_hover_text("Step length (s)"));
        });
        ui.horizontal(|ui| {
            ui.label("Loops");
            let field = DragValue::new(&mut self.loop_iterations).range(0..=10_000);
            let field = field.clamp_existing_to_range(false).suffix(" iterations");
            done |= is_done(&ui.add(field).on_hover_text("Largest number of loop iterations per solve"));
        });
        done
    }

    /// Takes over the settings in force if they have changed or an edit was rejected.
    fn see(&mut self, in_force: &ChangeDoc, n_faults: u64) {
        if self.seen.0 == *in_force && self.seen.1 == n_faults {
            return;
        }
        *self = Self {
            seen: (in_force.clone(), n_faults),
            gravity: in_force.gravity.unwrap_or_default(),
            dt: in_force.dt.unwrap_or_default(),
            stepper: in_force.stepper.clone().unwrap_or_default(),
            loop_iterations: in_force.loop_iterations.unwrap_or_default(),
            factors: in_force.factors().map(|(_, factor)| factor.unwrap_or(1.0)),
            since_start: self.since_start,
        };
    }

    /// The values that differ from the settings in force.
    fn edited(&self) -> ChangeDoc {
        let mut shown = ChangeDoc {
            at_s: 0.0,
            gravity: Some(self.gravity),
            dt: Some(self.dt),
            stepper: Some(self.stepper.clone()),
            loop_iterations: Some(self.loop_iterations),
            ..ChangeDoc::default()
        };
        shown.factors_mut().into_iter().zip(self.factors).for_each(|(value, factor)| *value = Some(factor));
        shown.beyond(&self.seen.0)
    }
}

/// Whether an edit is complete; false while the mouse drags.
fn is_done(response: &Response) -> bool {
    response.drag_stopped() || response.lost_focus() || response.changed() && !response.dragged()
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
