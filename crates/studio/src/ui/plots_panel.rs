//! Plots panel: curves of the run, and numbers of the present step.

use egui::{ComboBox, Ui};
use egui_plot::{Legend, Line, Plot, PlotPoints, VLine};

use crate::snapshot::{Measured, Snapshot};
use crate::{curves::StepSample, engine::Engine};

/// Name of a curve, and its value in a sample.
type SampleCurve = (&'static str, fn(&StepSample) -> f64);

/// Names of plots, and their curves.
const PLOTS: [(&str, &[SampleCurve]); 7] = [
    (
        "Energy (J)",
        &[
            ("kinetic", |s| s.energy[0]),
            ("gravity", |s| s.energy[1]),
            ("elastic", |s| s.energy[2]),
            ("total", |s| s.energy.iter().sum()),
        ],
    ),
    ("Momentum", &[("angular (kg·m²/s)", |s| s.momentum[0]), ("linear (kg·m/s)", |s| s.momentum[1])]),
    ("Joint error", &[("position (m)", |s| s.error[0]), ("rotation (rad)", |s| s.error[1])]),
    ("Loops", &[("residual", |s| s.loops[0]), ("iterations", |s| s.loops[1])]),
    (
        "Joint",
        &[
            ("coordinate (rad, m)", |s| s.joint[0]),
            ("rate", |s| s.joint[1]),
            ("torque (N·m), force (N)", |s| s.joint[2]),
        ],
    ),
    ("Flesh", &[("diagonalized share", |s| s.flesh[0]), ("contacts", |s| s.flesh[1])]),
    ("Step time (ms)", &[("step", |s| s.milliseconds)]),
];
/// Index of the plot of a joint.
const JOINT: usize = 4;

/// The selected plot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlotsPanel {
    /// Index in [`PLOTS`].
    plot: usize,
    /// The plotted joint.
    pub(super) joint: Option<usize>,
}

impl PlotsPanel {
    pub(super) fn show(&mut self, ui: &mut Ui, engine: &mut Engine, snapshot: &Snapshot) {
        ui.separator();
        ui.horizontal(|ui| {
            let shown = ComboBox::from_label("Plot").selected_text(PLOTS[self.plot].0).show_ui(ui, |ui| {
                for (i, (name, _)) in PLOTS.iter().enumerate() {
                    ui.selectable_value(&mut self.plot, i, *name);
                }
            });
            shown.response.on_hover_text("Curves to show");
        });
        if self.plot == JOINT {
            self.joint_choice(ui, snapshot);
        }
        self.chart(ui, engine, snapshot);
        numbers(ui, snapshot);
    }

    fn chart(&self, ui: &mut Ui, engine: &mut Engine, snapshot: &Snapshot) {
        let (name, curves) = PLOTS[self.plot];
        let mut points = vec![Vec::new(); curves.len()];
        engine.board(|board| {
            for sample in board.samples() {
                for (list, (_, value)) in points.iter_mut().zip(curves) {
                    let value = value(sample);
                    if value.is_finite() {
                        list.push([sample.time, value]);
                    }
                }
            }
        });
        let now = snapshot.clock.time;
        let joint = self.joint.filter(|_| self.plot == JOINT);
        let limits = joint.and_then(|joint| snapshot.overview.joints.get(joint)?.limits);
        let chart = Plot::new(name).height(170.0).legend(Legend::default()).allow_scroll(false);
        chart.show(ui, |chart| {
            for (list, (name, _)) in points.into_iter().zip(curves) {
                chart.line(Line::new(*name, PlotPoints::from(list)));
            }
            for limit in limits.into_iter().flat_map(|(low, high)| [low, high]) {
                chart.hline(egui_plot::HLine::new("", limit));
            }
            if now.is_finite() {
                chart.vline(VLine::new("", now));
            }
        });
    }

    fn joint_choice(&mut self, ui: &mut Ui, snapshot: &Snapshot) {
        let joints = &snapshot.overview.joints;
        let name = self.joint.and_then(|joint| joints.get(joint)).map_or("choose a joint", |card| &card.name);
        let shown = ComboBox::from_label("of").selected_text(name).show_ui(ui, |ui| {
            for (i, card) in joints.iter().enumerate().take(500) {
                ui.selectable_value(&mut self.joint, Some(i), &card.name);
            }
        });
        shown.response.on_hover_text("Joint whose coordinate, rate and torque are shown");
    }
}

/// Numbers of the last step as a table.
fn numbers(ui: &mut Ui, snapshot: &Snapshot) {
    let Measured { report, sample, stages } = &snapshot.measured;
    egui::Grid::new("numbers").num_columns(2).striped(true).show(ui, |ui| {
        let mut row = |name: &str, value: String| {
            ui.label(name);
            ui.monospace(value);
            ui.end_row();
        };
        row("Energy", format!("{:.5} J", sample.energy.iter().sum::<f64>()));
        row("Joint error", format!("{:.1e} m, {:.1e} rad", sample.error[0], sample.error[1]));
        let loops = &report.mechanism.loops;
        if loops.rows > 0 {
            let (rows, iterations) = (loops.rows, loops.iterations);
            row("Loops", format!("{rows} rows, {iterations} iterations, {:.1e}", loops.residual));
        }
        if !snapshot.overview.flesh.is_empty() {
            let inverted = format!("{} inverted", report.flesh.elements.n_inverted);
            let share = Some(100.0 * sample.flesh[0]).filter(|share| share.is_finite());
            let flesh = share.map(|share| format!("{share:.1} % diagonalized, {inverted}"));
            row("Flesh", flesh.unwrap_or(inverted));
            let contacts = &report.flesh.contacts;
            row("Contacts", format!("{} hold, {} slide", contacts.n_stick, contacts.n_slip));
        }
        row("Step time", format!("{:.2} ms", sample.milliseconds));
        for (name, milliseconds) in stages {
            row(name, format!("{milliseconds:.3} ms"));
        }
    });
}
