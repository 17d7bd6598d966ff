//! Plots of the run, and numbers of the present step.

use egui::{ComboBox, Ui};
use egui_plot::{Legend, Line, Plot as Chart, PlotPoints, VLine};

use crate::snapshot::Measured;
use crate::ui::plot::Plot;
use crate::ui::studio::Studio;

impl Studio {
    pub(super) fn plots_panel(&mut self, ui: &mut Ui) {
        ui.separator();
        ui.horizontal(|ui| {
            let shown = ComboBox::from_label("Plot").selected_text(self.plot.name()).show_ui(ui, |ui| {
                for plot in Plot::ALL {
                    ui.selectable_value(&mut self.plot, plot, plot.name());
                }
            });
            shown.response.on_hover_text("Curves to show");
        });
        if self.plot == Plot::Joint {
            self.joint_choice(ui);
        }
        self.chart(ui);
        self.numbers(ui);
    }

    fn chart(&mut self, ui: &mut Ui) {
        let curves = self.plot.curves();
        let mut points = vec![Vec::new(); curves.len()];
        self.engine.board(|board| {
            for sample in board.samples() {
                for (list, (_, value)) in points.iter_mut().zip(curves) {
                    let value = value(sample);
                    if value.is_finite() {
                        list.push([sample.time, value]);
                    }
                }
            }
        });
        let now = self.snapshot.clock.time;
        let joint = self.joint.filter(|_| self.plot == Plot::Joint);
        let limits = joint.and_then(|joint| self.snapshot.overview.joints.get(joint)?.limits);
        let chart = Chart::new(self.plot.name()).height(170.0).legend(Legend::default()).allow_scroll(false);
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

    fn joint_choice(&mut self, ui: &mut Ui) {
        let joints = &self.snapshot.overview.joints;
        let name = self.joint.and_then(|joint| joints.get(joint)).map_or("choose a joint", |card| &card.name);
        let shown = ComboBox::from_label("of").selected_text(name).show_ui(ui, |ui| {
            for (i, card) in joints.iter().enumerate().take(500) {
                ui.selectable_value(&mut self.joint, Some(i), &card.name);
            }
        });
        shown.response.on_hover_text("Joint whose coordinate, rate and torque are shown");
    }

    /// Numbers of the last step as a table.
    fn numbers(&self, ui: &mut Ui) {
        let Measured { report, sample, stages } = &self.snapshot.measured;
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
            if !self.snapshot.overview.flesh.is_empty() {
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
}
