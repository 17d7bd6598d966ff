//! The budget suite: how far loops are open, for how much time per step.
//!
//! A fixture runs from its start to its end, and every solve may make the same number of iterations on its loops; the
//! distance of the worst loop joint is measured after every step. Tree joints hold at any budget. One thread, which the
//! caller provides.

use crate::{
    Axes, Figure, Machine, MeasureEffort, PlotCurve, ReportTable, SceneRun, Subject, SuiteFailure, short,
};
use serde_json::{Value, json};
use sinew_mechanism::{JointId, Model, State};
use std::time::Instant;

/// Iterations per solve that are compared.
pub const BUDGETS: [u32; 9] = [0, 1, 2, 4, 8, 16, 32, 64, 128];
/// Fixtures: highly cyclic (Fau99 figure 6, three solves per step), and moderately (Fau98 figure 6, one).
const SCENES: [&str; 2] = ["mesh_320", "plate_on_strings"];

/// One scene at one budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetRow {
    /// The scene.
    pub scene: &'static str,
    /// Iterations allowed per solve.
    pub budget: u32,
    /// Iterations made per step.
    pub iterations: f64,
    /// Time per step in the fastest run, s.
    pub best: f64,
    /// The same in the middle run, s.
    pub median: f64,
    /// Largest distance between the points of a loop joint after any step, m.
    pub largest: f64,
    /// The same after the last step, m.
    pub last: f64,
}

/// The suite with all it has measured so far.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetSuite {
    /// How much is measured.
    pub effort: MeasureEffort,
    /// Where and when.
    pub machine: Machine,
    /// Scenes and budgets.
    pub rows: Vec<BudgetRow>,
}

impl BudgetSuite {
    /// Nothing measured yet.
    pub fn new(effort: MeasureEffort) -> Self {
        Self { effort, machine: Machine::here(), rows: vec![] }
    }

    /// Measures both scenes.
    ///
    /// # Errors
    /// If a scene cannot be built.
    pub fn measure(&mut self) -> Result<(), SuiteFailure> {
        for scene in SCENES {
            let mut run = SceneRun::fixture(scene)?;
            run.save();
            for budget in BUDGETS {
                self.rows.push(measure_budget(scene, &mut run, budget, &self.effort));
            }
        }
        Ok(())
    }

    /// Error and time over the budget.
    pub fn table(&self) -> ReportTable {
        let title = "Iterations per solve: loop error in m and µs per step";
        let head = ["scene", "budget", "iterations", "best", "median", "largest error", "error at the end"];
        let mut table = ReportTable::new(title, &head);
        for row in &self.rows {
            let times = [row.best, row.median].map(|seconds| short(seconds * 1e6));
            let errors = [row.largest, row.last].map(|error| format!("{error:.1e}"));
            let cells = [row.scene.to_string(), row.budget.to_string(), short(row.iterations)].into_iter();
            table.row(cells.chain(times).chain(errors));
        }
        table
    }

    /// Everything as one JSON object; list entries have a `name` by which two runs can be compared.
    pub fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({
                "name": format!("{} {}", row.scene, row.budget),
                "iterations": row.iterations,
                "us_per_step_best": row.best * 1e6,
                "us_per_step_median": row.median * 1e6,
                "largest_m": row.largest,
                "last_m": row.last,
            })
        });
        json!({
            "suite": "budget",
            "date": self.machine.date,
            "commit": self.machine.commit,
            "machine": self.machine.to_json(),
            "batches": self.effort.n_batches,
            "rows": rows.collect::<Value>(),
        })
    }

    /// Error over time.
    pub fn plot(&self) -> String {
        let curve = |scene: &str| PlotCurve {
            name: scene.to_string(),
            points: self
                .rows
                .iter()
                .filter(|row| row.scene == scene)
                .map(|row| (row.best * 1e6, row.largest))
                .collect(),
        };
        Figure {
            title: "Largest loop error in m, over the time spent on a step".into(),
            subtitle: self.machine.to_string(),
            across: "µs per step".into(),
            curves: SCENES.map(curve).into(),
            axes: Axes::Logarithmic,
        }
        .to_svg()
    }
}

fn measure_budget(scene: &'static str, run: &mut SceneRun, budget: u32, effort: &MeasureEffort) -> BudgetRow {
    run.world_mut().settings_mut().loops.solve.iterations = budget;
    run.restore();
    let n_steps = run.world().info().n_steps;
    let (mut largest, mut last, mut iterations) = (0.0_f64, 0.0, 0);
    for _ in 0..n_steps {
        iterations += run.world_mut().step().mechanism.loops.iterations;
        last = loop_error(run.world().mechanism(), &run.world().state().bodies);
        largest = largest.max(last);
    }
    let n_runs = effort.batch_work / (n_steps as usize * run.n_links());
    let mut times: Vec<f64> = (0..n_runs.clamp(1, effort.n_batches))
        .map(|_| {
            run.restore();
            let start = Instant::now();
            (0..n_steps).for_each(|_| run.step());
            start.elapsed().as_secs_f64() / n_steps as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (best, median) = (times[0], times[times.len() / 2]);
    BudgetRow {
        scene,
        budget,
        iterations: f64::from(iterations) / n_steps as f64,
        best,
        median,
        largest,
        last,
    }
}

/// Largest distance between the two points of a joint outside the tree, m.
fn loop_error(model: &Model, state: &State) -> f64 {
    let loops = model.plan().loop_constraints().iter();
    let gap = |index: usize| {
        let (point1, point2) = model.joint_anchors(state, JointId::from_index(index));
        point1.distance(point2)
    };
    loops.map(|constraint| gap(constraint.index())).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::{BUDGETS, BudgetSuite};
    use crate::MeasureEffort;

    #[test]
    fn more_iterations_close_the_loops() {
        let mut suite = BudgetSuite::new(MeasureEffort { n_batches: 1, batch_work: 1, max_links: 1 });
        suite.measure().unwrap();
        assert_eq!(suite.rows.len(), 2 * BUDGETS.len());
        for rows in suite.rows.chunks(BUDGETS.len()) {
            assert!(rows[0].iterations <= 0.0, "{:?}", rows[0]);
            let [none, few, many] = [0, 2, BUDGETS.len() - 1].map(|i| rows[i].largest);
            assert!(none > 0.1 && few < none && many < 0.1 * few, "{rows:?}");
        }
        assert_eq!(suite.plot().matches("<polyline").count(), 2);
        assert_eq!(suite.to_json()["rows"][1]["name"], "mesh_320 1");
        assert!(suite.table().to_string().contains("plate_on_strings"));
    }
}
