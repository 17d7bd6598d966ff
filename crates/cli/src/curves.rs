//! Energies and joint errors of a run over time, as CSV and as a plot.

use std::fmt::Write as _;

use sinew_picture::{Panel, PlotSeries, draw_panels};

/// Curves with one value for the initial state and one per step.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunCurves {
    /// Time (s).
    pub(crate) time: Vec<f64>,
    /// Kinetic energy (J).
    pub(crate) kinetic: Vec<f64>,
    /// Gravitational energy (J).
    pub(crate) gravitational: Vec<f64>,
    /// Elastic energy of springs, limits and flesh (J).
    pub(crate) elastic: Vec<f64>,
    /// Largest position error of a joint (m).
    pub(crate) position_error: Vec<f64>,
    /// Largest rotation error of a joint (rad).
    pub(crate) rotation_error: Vec<f64>,
}

const KINETIC: &str = "#2b6fd6";
const GRAVITATIONAL: &str = "#e07b39";
const ELASTIC: &str = "#2f9e63";
const TOTAL: &str = "#1d2430";
const POSITION: &str = "#c03a4b";
const ROTATION: &str = "#7a5bd0";

impl RunCurves {
    /// Total energy over time (J).
    pub(crate) fn total(&self) -> Vec<f64> {
        let sum = |i: usize| self.kinetic[i] + self.gravitational[i] + self.elastic[i];
        (0..self.time.len()).map(sum).collect()
    }

    /// The curves as CSV with a header line. Reading the numbers back gives the same bits.
    pub(crate) fn to_csv(&self) -> String {
        let mut text = String::from(
            "time_s,kinetic_j,gravitational_j,elastic_j,total_j,position_error_m,rotation_error_rad\n",
        );
        for (i, total) in self.total().into_iter().enumerate() {
            let row = [
                self.time[i],
                self.kinetic[i],
                self.gravitational[i],
                self.elastic[i],
                total,
                self.position_error[i],
                self.rotation_error[i],
            ];
            let cells = row.map(|value| format!("{value:?}"));
            writeln!(text, "{}", cells.join(",")).expect("writing to a string");
        }
        text
    }

    /// SVG plot with two panels: energies, and joint errors on a logarithmic scale.
    pub(crate) fn to_plot(&self, title: &str, subtitle: &str) -> String {
        let total = self.total();
        let mut energies = vec![
            PlotSeries { name: "kinetic", color: KINETIC, values: &self.kinetic, width: 1.6 },
            PlotSeries { name: "gravity", color: GRAVITATIONAL, values: &self.gravitational, width: 1.6 },
        ];
        if self.elastic.iter().any(|&value| value != 0.0) {
            energies.push(PlotSeries { name: "elastic", color: ELASTIC, values: &self.elastic, width: 1.6 });
        }
        energies.push(PlotSeries { name: "total", color: TOTAL, values: &total, width: 2.2 });
        let mut errors = vec![PlotSeries {
            name: "position [m]",
            color: POSITION,
            values: &self.position_error,
            width: 1.6,
        }];
        let mut errors_title = "largest joint error [m]";
        if self.rotation_error.iter().any(|&value| value != 0.0) {
            errors_title = "largest joint error";
            let values = &self.rotation_error;
            errors.push(PlotSeries { name: "rotation [rad]", color: ROTATION, values, width: 1.6 });
        }
        let panels = [
            Panel { title: "energy [J]", series: energies, log: false },
            Panel { title: errors_title, series: errors, log: true },
        ];
        draw_panels(title, subtitle, &self.time, &panels)
    }
}

#[cfg(test)]
mod tests {
    use super::RunCurves;

    #[test]
    fn csv_has_a_row_per_time_and_exact_numbers() {
        let one = |value: f64| vec![value, 2.0 * value];
        let trace = RunCurves {
            time: one(0.1),
            kinetic: one(1.0 / 3.0),
            gravitational: one(-1.0),
            elastic: one(0.0),
            position_error: one(1e-17),
            rotation_error: one(0.0),
        };
        let csv = trace.to_csv();
        let rows: Vec<&str> = csv.lines().collect();
        assert_eq!(rows.len(), 3);
        let cells: Vec<f64> = rows[1].split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(cells[1].to_bits(), (1.0f64 / 3.0).to_bits());
        assert_eq!(cells.len(), rows[0].split(',').count());
    }
}
