//! The budget suite: how far loops are open, for how much time per step.
//!
//! A fixture runs from its start to its end, and every solve may make the same number of iterations on its loops; the
//! distance of the worst loop joint is measured after every step. Tree joints hold at any budget. One thread, which the
//! caller provides.

use crate::{
    Clock, MeasureEffort, ReportTable, SceneRun, Subject, Suite, SuiteFailure, SuiteOptions, SuiteReport,
    short,
};
use serde_json::{Value, json};
use sinew_mechanism::{JointId, LoopMethod, Model, State};
use sinew_picture::{Figure, PlotCurve};
use std::time::Instant;

/// Iterations per solve that are compared.
pub(crate) const BUDGETS: [u32; 9] = [0, 1, 2, 4, 8, 16, 32, 64, 128];
/// Fixtures: highly cyclic (Fau99 figure 6, three solves per step), and moderately (Fau98 figure 6, one).
const SCENES: [&str; 2] = ["mesh_320", "plate_on_strings"];

/// One scene at one budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BudgetRow {
    /// The scene.
    pub(crate) scene: &'static str,
    /// Iterations allowed per solve.
    pub(crate) budget: u32,
    /// Iterations made per step.
    pub(crate) iterations: f64,
    /// Time per step.
    pub(crate) clock: Clock,
    /// Largest distance between the points of a loop joint after any step, m.
    pub(crate) largest: f64,
    /// The same after the last step, m.
    pub(crate) last: f64,
}

/// The suite with all it has measured so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BudgetSuite {
    /// Scenes and budgets.
    pub(crate) rows: Vec<BudgetRow>,
}

impl Suite for BudgetSuite {
    const NAME: &'static str = "budget";
    const FLAGS: &'static [&'static str] = &[];

    fn measure(&mut self, options: &SuiteOptions) -> Result<(), SuiteFailure> {
        self.measure_all(&options.effort())?;
        self.table().show();
        Ok(())
    }
}

impl BudgetSuite {
    fn measure_all(&mut self, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        for scene in SCENES {
            let mut run = SceneRun::fixture(scene)?;
            run.save();
            for budget in BUDGETS {
                self.rows.push(measure_budget(scene, &mut run, budget, effort));
            }
        }
        Ok(())
    }

    /// Error and time over the budget.
    pub(crate) fn table(&self) -> ReportTable {
        let title = "Iterations per solve: loop error in m and µs per step";
        let head = "scene | budget | iterations | best | median | largest error | error at the end";
        let mut table = ReportTable::new(title, head);
        for row in &self.rows {
            let times = [row.clock.best, row.clock.median].map(|seconds| short(seconds * 1e6));
            let errors = [row.largest, row.last].map(|error| format!("{error:.1e}"));
            let cells = [row.scene.to_string(), row.budget.to_string(), short(row.iterations)].into_iter();
            table.row(cells.chain(times).chain(errors));
        }
        table
    }
}

impl SuiteReport for BudgetSuite {
    fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({
                "name": format!("{} {}", row.scene, row.budget),
                "iterations": row.iterations,
                "us_per_step_best": row.clock.best * 1e6,
                "us_per_step_median": row.clock.median * 1e6,
                "largest_m": row.largest,
                "last_m": row.last,
            })
        });
        json!({
            "rows": rows.collect::<Value>(),
        })
    }

    /// Error over time.
    fn figure(&self) -> Figure {
        let curve = |scene: &str| -> PlotCurve {
            let rows = self.rows.iter().filter(|row| row.scene == scene);
            (scene.to_string(), rows.map(|row| (row.clock.best * 1e6, row.largest)).collect())
        };
        Figure {
            title: "Largest loop error in m, over the time spent on a step",
            across: "µs per step",
            curves: SCENES.map(curve).into(),
            log: true,
        }
    }
}

fn measure_budget(scene: &'static str, run: &mut SceneRun, budget: u32, effort: &MeasureEffort) -> BudgetRow {
    let solve = &mut run.world_mut().settings_mut().loops.solve;
    // A budget bounds iterations; by default these loops are solved directly.
    (solve.method, solve.iterations) = (LoopMethod::ConjugateResidual, budget);
    run.restore();
    let n_steps = run.world().info().n_steps;
    let (mut largest, mut last, mut iterations) = (0.0_f64, 0.0, 0);
    for _ in 0..n_steps {
        iterations += run.world_mut().step().mechanism.loops.iterations;
        last = loop_error(run.world().mechanism(), &run.world().state().bodies);
        largest = largest.max(last);
    }
    let n_runs = effort.batch_work / (n_steps as usize * run.n_links());
    let times = (0..n_runs.clamp(1, effort.n_batches)).map(|_| {
        run.restore();
        let start = Instant::now();
        (0..n_steps).for_each(|_| run.step());
        start.elapsed().as_secs_f64() / n_steps as f64
    });
    let clock = Clock::of(times.collect());
    let iterations = f64::from(iterations) / n_steps as f64;
    BudgetRow { scene, budget, iterations, clock, largest, last }
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
    use super::{BUDGETS, BudgetSuite, MeasureEffort, SuiteReport};

    #[test]
    fn more_iterations_close_the_loops() {
        let mut suite = BudgetSuite::default();
        suite.measure_all(&MeasureEffort { n_batches: 1, batch_work: 1, max_links: 1 }).unwrap();
        assert_eq!(suite.rows.len(), 2 * BUDGETS.len());
        for rows in suite.rows.chunks(BUDGETS.len()) {
            assert!(rows[0].iterations <= 0.0, "{:?}", rows[0]);
            let [none, few, many] = [0, 2, BUDGETS.len() - 1].map(|i| rows[i].largest);
            assert!(none > 0.1 && few < none && many < 0.1 * few, "{rows:?}");
        }
        assert_eq!(suite.figure().to_svg("").matches("<polyline").count(), 2);
        assert_eq!(suite.to_json()["rows"][1]["name"], "mesh_320 1");
        assert!(suite.table().to_string().contains("plate_on_strings"));
    }
}
