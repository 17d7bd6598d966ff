//! Energies and joint errors of a run over time: a table, row by row, and a plot.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sinew_picture::{Panel, PlotSeries, draw_panels};
use sinew_sim::World;

use crate::disk::{DiskFile, StreamMark};
use crate::error::CommandError;
use crate::growing::GrowingFile;

/// The first line of a table of curves.
const HEADER: &str = "time_s,kinetic_j,gravitational_j,elastic_j,total_j,position_error_m,rotation_error_rad";

/// Energies (J) and largest joint errors (m, rad) at a time (s).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CurvePoint {
    time: f64,
    kinetic: f64,
    gravitational: f64,
    /// Of springs, limits and flesh.
    elastic: f64,
    position_error: f64,
    rotation_error: f64,
}

/// Curves with one point for the initial state and one per step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunCurves(pub(crate) Vec<CurvePoint>);

/// The table of curves, written while a scene runs. Reading the numbers back gives the same bits.
pub(crate) struct CurveTable(pub(crate) GrowingFile<DiskFile>);

impl CurvePoint {
    /// The present moment of a world.
    pub(crate) fn of(world: &World) -> Self {
        let (energy, violation) = (world.energy(), world.violation());
        Self {
            time: world.time(),
            kinetic: energy.kinetic,
            gravitational: energy.gravity,
            elastic: energy.elastic,
            position_error: violation.position,
            rotation_error: violation.rotation,
        }
    }

    /// Total energy (J).
    fn total(&self) -> f64 {
        self.kinetic + self.gravitational + self.elastic
    }

    /// A line of a table.
    fn line(&self) -> String {
        let Self { time, kinetic, gravitational, elastic, position_error, rotation_error } = *self;
        let row = [time, kinetic, gravitational, elastic, self.total(), position_error, rotation_error];
        row.map(|value| format!("{value:?}")).join(",")
    }
}

impl CurveTable {
    /// Begins a table with the present moment.
    pub(crate) fn begin(path: &Path, run: Option<&str>, world: &World) -> Self {
        let mut table = Self(GrowingFile::begin(path, run));
        table.0.write(|out| writeln!(out, "{HEADER}"));
        table.note(world);
        table
    }

    /// Goes on with the table of a run.
    pub(crate) fn resume(path: &Path, run: &str, mark: StreamMark) -> Result<Self, CommandError> {
        GrowingFile::resume(path, run, mark).map(Self)
    }

    /// Adds the present moment.
    pub(crate) fn note(&mut self, world: &World) {
        self.0.write(|out| writeln!(out, "{}", CurvePoint::of(world).line()));
    }
}

const KINETIC: &str = "#2b6fd6";
const GRAVITATIONAL: &str = "#e07b39";
const ELASTIC: &str = "#2f9e63";
const TOTAL: &str = "#1d2430";
const POSITION: &str = "#c03a4b";
const ROTATION: &str = "#7a5bd0";

impl RunCurves {
    /// SVG plot with two panels: energies, and joint errors on a logarithmic scale.
    pub(crate) fn to_plot(&self, title: &str, subtitle: &str) -> String {
        let values = |of: fn(&CurvePoint) -> f64| -> Vec<f64> { self.0.iter().map(of).collect() };
        let (time, kinetic) = (values(|it| it.time), values(|it| it.kinetic));
        let (gravitational, elastic) = (values(|it| it.gravitational), values(|it| it.elastic));
        let (total, position) = (values(CurvePoint::total), values(|it| it.position_error));
        let rotation = values(|it| it.rotation_error);
        let mut energies = vec![
            PlotSeries { name: "kinetic", color: KINETIC, values: &kinetic, width: 1.6 },
            PlotSeries { name: "gravity", color: GRAVITATIONAL, values: &gravitational, width: 1.6 },
        ];
        if elastic.iter().any(|&value| value != 0.0) {
            energies.push(PlotSeries { name: "elastic", color: ELASTIC, values: &elastic, width: 1.6 });
        }
        energies.push(PlotSeries { name: "total", color: TOTAL, values: &total, width: 2.2 });
        let mut errors =
            vec![PlotSeries { name: "position [m]", color: POSITION, values: &position, width: 1.6 }];
        let mut errors_title = "largest joint error [m]";
        if rotation.iter().any(|&value| value != 0.0) {
            errors_title = "largest joint error";
            let values = &rotation;
            errors.push(PlotSeries { name: "rotation [rad]", color: ROTATION, values, width: 1.6 });
        }
        let panels = [
            Panel { title: "energy [J]", series: energies, log: false },
            Panel { title: errors_title, series: errors, log: true },
        ];
        draw_panels(title, subtitle, &time, &panels)
    }
}

#[cfg(test)]
mod tests {
    use super::{CurvePoint, HEADER};

    #[test]
    fn a_line_has_a_cell_per_name_and_exact_numbers() {
        let point = CurvePoint {
            kinetic: 1.0 / 3.0,
            gravitational: -1.0,
            position_error: 1e-17,
            ..CurvePoint::default()
        };
        let line = point.line();
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(cells[1].to_bits(), (1.0f64 / 3.0).to_bits());
        assert_eq!((cells[4], cells[5]), (1.0 / 3.0 - 1.0, 1e-17));
        assert_eq!(cells.len(), HEADER.split(',').count());
    }
}
