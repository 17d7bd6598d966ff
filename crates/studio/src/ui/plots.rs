//! Curves of the run.

use egui::{ComboBox, Ui};
use egui_plot::{Legend, Line, Plot as Chart, PlotPoints, VLine};

use super::Studio;
use crate::Sample;

/// Name of a curve, and its value.
type Curve = (&'static str, fn(&Sample) -> f64);

/// Which curves are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plot {
    /// Energies, J.
    #[default]
    Energy,
    /// Lengths of momentum.
    Momentum,
    /// Errors of joints.
    Error,
    /// Residual of the loops and iterations on them.
    Loops,
    /// Coordinate of a joint.
    Joint,
    /// Share of diagonalized tetrahedra, contacts.
    Flesh,
    /// Wall-clock time of steps.
    Time,
}

impl Plot {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Energy, Self::Momentum, Self::Error, Self::Loops, Self::Joint, Self::Flesh, Self::Time];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Energy => "Energy (J)",
            Self::Momentum => "Momentum",
            Self::Error => "Joint error",
            Self::Loops => "Loops",
            Self::Joint => "Joint",
            Self::Flesh => "Flesh",
            Self::Time => "Step time (ms)",
        }
    }

    /// Names of its curves, and their values.
    fn curves(self) -> &'static [Curve] {
        match self {
            Self::Energy => &[
                ("kinetic", |s| s.energy[0]),
                ("gravity", |s| s.energy[1]),
                ("elastic", |s| s.energy[2]),
                ("total", |s| s.energy.iter().sum()),
            ],
            Self::Momentum => {
                &[("angular (kg·m²/s)", |s| s.momentum[0]), ("linear (kg·m/s)", |s| s.momentum[1])]
            }
            Self::Error => &[("position (m)", |s| s.error[0]), ("rotation (rad)", |s| s.error[1])],
            Self::Loops => &[("residual", |s| s.loops[0]), ("iterations", |s| s.loops[1])],
            Self::Joint => &[
                ("coordinate (rad, m)", |s| s.joint[0]),
                ("rate", |s| s.joint[1]),
                ("torque (N·m), force (N)", |s| s.joint[2]),
            ],
            Self::Flesh => &[("diagonalized share", |s| s.flesh[0]), ("contacts", |s| s.flesh[1])],
            Self::Time => &[("step", |s| s.milliseconds)],
        }
    }
}

impl Studio {
    pub(super) fn plots_panel(&mut self, ui: &mut Ui) {
        ui.separator();
        ui.horizontal(|ui| {
            let shown = ComboBox::from_label("Plot").selected_text(self.plot.name()).show_ui(ui, |ui| {
                for plot in Plot::ALL {
                    ui.selectable_value(&mut self.plot, plot, plot.name());
                }
            });
            shown.response.on_hover_text("Which curves are shown");
        });
        if self.plot == Plot::Joint {
            self.joint_choice(ui);
        }
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
        let now = self.frame.time;
        let limits = self
            .joint
            .filter(|_| self.plot == Plot::Joint)
            .and_then(|joint| self.frame.cast.joints.get(joint)?.limits);
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
        self.numbers(ui);
    }

    fn joint_choice(&mut self, ui: &mut Ui) {
        let joints = &self.frame.cast.joints;
        let name = self.joint.and_then(|joint| joints.get(joint)).map_or("choose a joint", |card| &card.name);
        let shown = ComboBox::from_label("of").selected_text(name).show_ui(ui, |ui| {
            for (i, card) in joints.iter().enumerate().take(500) {
                ui.selectable_value(&mut self.joint, Some(i), &card.name);
            }
        });
        shown.response.on_hover_text("The joint whose coordinate, rate and torque are shown");
    }

    fn numbers(&self, ui: &mut Ui) {
        let (frame, sample) = (&self.frame, &self.frame.sample);
        egui::Grid::new("numbers").num_columns(2).striped(true).show(ui, |ui| {
            let mut row = |name: &str, value: String| {
                ui.label(name);
                ui.monospace(value);
                ui.end_row();
            };
            row("Energy", format!("{:.5} J", sample.energy.iter().sum::<f64>()));
            row("Joint error", format!("{:.1e} m, {:.1e} rad", sample.error[0], sample.error[1]));
            let loops = &frame.report.mechanism.loops;
            if loops.rows > 0 {
                row(
                    "Loops",
                    format!("{} rows, {} iterations, {:.1e}", loops.rows, loops.iterations, loops.residual),
                );
            }
            let flesh = &frame.report.flesh;
            if !frame.cast.flesh.is_empty() {
                let inverted = format!("{} inverted", flesh.elements.n_inverted);
                row(
                    "Flesh",
                    match sample.flesh[0] {
                        share if share.is_finite() => {
                            format!("{:.1} % diagonalized, {inverted}", 100.0 * share)
                        }
                        _ => inverted,
                    },
                );
                row("Contacts", format!("{} hold, {} slide", flesh.contacts.n_stick, flesh.contacts.n_slip));
            }
            row("Step time", format!("{:.2} ms", sample.milliseconds));
            for (name, milliseconds) in &frame.stages {
                row(name, format!("{milliseconds:.3} ms"));
            }
        });
    }
}
