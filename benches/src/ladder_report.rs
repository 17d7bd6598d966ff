//! The figures of the ladder suite as tables, as JSON and as curves.

use crate::ladder_suite::{LadderSuite, SolveRow};
use crate::ladders::{Ladder, Method};
use crate::timing::{STAGES, stage_names};
use crate::{ReportTable, SuiteReport, short};
use serde_json::{Value, json};
use sinew_picture::Figure;

impl LadderSuite {
    /// Table 2 of the paper beside ours, ms.
    pub(crate) fn solves_table(&self) -> ReportTable {
        let title = "Beside Fau99 table 2 (their figures, their machine): ms per solve to 1e-3";
        let head = "ladder | a | l | method | paper | best | median | iterations | residual | ns/row/iteration | \
                    our method is faster by";
        let mut table = ReportTable::new(title, head);
        self.solves.iter().for_each(|row| table.row(self.solve_cells(row)));
        table
    }

    fn solve_cells(&self, row: &SolveRow) -> Vec<String> {
        let (tree, loops) = self.counts(row.ladder);
        let mut cells = vec![row.ladder.name(), tree.to_string(), loops.to_string()];
        cells.extend([row.method.title.into(), row.paper_ms().map_or("–".into(), short)]);
        match row.outcome {
            Ok(solve) => {
                let ours = self.solve(&row.ladder.name(), Method::ALL[3].key);
                let gain = ours.map_or(String::new(), |ours| {
                    format!("{}×", short(solve.clock.best / ours.1.clock.best))
                });
                let iterative = |cell: String| if row.method.is_dense() { "–".into() } else { cell };
                cells.extend([
                    short(solve.clock.best * 1e3),
                    short(solve.clock.median * 1e3),
                    iterative(solve.iterations.to_string()),
                    format!("{:.1e}", solve.residual),
                    iterative(short(solve.per_row(row.rows.1) * 1e9)),
                    gain,
                ]);
            }
            Err(seconds) => cells.push(format!("left out: about {} s", short(seconds))),
        }
        cells
    }

    /// Rows of the tree and of the loops of a ladder, as the paper counts them.
    fn counts(&self, ladder: Ladder) -> (usize, usize) {
        let (p, r) = (ladder.p as usize, ladder.r as usize);
        (3 * r * (2 * p + 1), 3 * r)
    }

    /// Whole steps.
    pub(crate) fn steps_table(&self) -> ReportTable {
        let times = format!("best | median | {}", stage_names());
        let head = format!("ladder | closed | bodies | {times} | iterations | assembly | error in m");
        let title = "Whole implicit step at 1/60 s with closed joints: µs per step";
        let mut table = ReportTable::new(title, &head);
        for step in &self.steps {
            let (tree, _) = self.counts(step.ladder);
            let times =
                [step.timing.clock.best, step.timing.clock.median].into_iter().chain(step.timing.stages);
            let cells = [step.ladder.name(), step.closes().to_owned(), (tree / 3).to_string()].into_iter();
            let cells = cells.chain(times.map(|seconds| short(seconds * 1e6)));
            table.row(cells.chain(step.iterations.map(short)).chain([format!("{:.1e}", step.error)]));
        }
        table
    }

    /// Warm starts.
    pub(crate) fn warm_table(&self) -> ReportTable {
        let title = "Swinging ladders, 60 implicit steps to 1e-3 m/s: iterations per step";
        let mut table = ReportTable::new(title, "ladder | dt in s | cold | warm | ratio");
        for row in &self.warm {
            let counts = [row.cold, row.warm].map(short);
            let cells = [row.ladder.name(), format!("1/{:.0}", 1.0 / row.dt)].into_iter().chain(counts);
            table.row(cells.chain([format!("{}×", short(row.cold / row.warm))]));
        }
        table
    }

    /// Grabs.
    pub(crate) fn grabs_table(&self) -> ReportTable {
        let title = "A chain of 1,000 links, its middle held by a hard grab: µs per step";
        let head = "without | first with | later with | first without | adding | removing";
        let mut table = ReportTable::new(title, head);
        let grabs = &self.grabs;
        let times = [grabs.step, grabs.first, grabs.held, grabs.released, grabs.adding(), grabs.removing()];
        table.row(times.map(|seconds| short(seconds * 1e6)));
        table
    }
}

impl SuiteReport for LadderSuite {
    fn to_json(&self) -> Value {
        let us = |seconds: f64| seconds * 1e6;
        let solves = self.solves.iter().map(|row| {
            let mut out = json!({
                "name": format!("{} {}", row.method.key, row.ladder.name()),
                "tree_rows": row.rows.0,
                "loop_rows": row.rows.1,
                "paper_ms": row.paper_ms(),
            });
            match row.outcome {
                Ok(solve) => {
                    out["us_best"] = json!(us(solve.clock.best));
                    out["us_median"] = json!(us(solve.clock.median));
                    out["us_refine"] = json!(us(solve.refine));
                    out["iterations"] = json!(solve.iterations);
                    out["residual"] = json!(solve.residual);
                }
                Err(seconds) => out["left_out_predicted_s"] = json!(seconds),
            }
            out
        });
        let steps = self.steps.iter().map(|step| {
            let stages = STAGES.iter().zip(step.timing.stages);
            json!({
                "name": format!("step {}", step.ladder.name()),
                "closed": step.closes(),
                "us_best": us(step.timing.clock.best),
                "us_median": us(step.timing.clock.median),
                "us_stages": stages.map(|(stage, time)| (stage.name(), json!(us(time)))).collect::<Value>(),
                "loop_iterations": step.iterations[0],
                "assembly_iterations": step.iterations[1],
                "error_m": step.error,
            })
        });
        let warm = self.warm.iter().map(|row| {
            let name = format!("{} {:.0} Hz", row.ladder.name(), 1.0 / row.dt);
            json!({ "name": name, "cold": row.cold, "warm": row.warm })
        });
        let grabs = &self.grabs;
        json!({
            "solves": solves.collect::<Value>(),
            "steps": steps.collect::<Value>(),
            "warm_start": warm.collect::<Value>(),
            "grabs": {
                "us_step": us(grabs.step),
                "us_first": us(grabs.first),
                "us_held": us(grabs.held),
                "us_released": us(grabs.released),
            },
        })
    }

    /// Time of a solve over the number of constraints, ours and the paper's.
    fn figure(&self) -> Figure {
        let ours = Method::ALL.iter().map(|method| {
            let rows = self.solves.iter().filter(|row| row.method == *method);
            let point =
                |row: &SolveRow| Some(((row.rows.0 + row.rows.1) as f64, row.outcome.ok()?.clock.best * 1e3));
            (method.title.into(), rows.filter_map(point).collect())
        });
        let paper = [&Method::ALL[1], &Method::ALL[3]].into_iter().map(|method| {
            let points = Ladder::ALL.iter().zip(method.paper_ms).filter_map(|(&ladder, ms)| {
                let (tree, loops) = self.counts(ladder);
                Some(((tree + loops) as f64, ms?))
            });
            (format!("{}, Fau99", method.title), points.collect())
        });
        Figure {
            title: "Loop system of rope ladders to 1e-3, one thread: ms per solve",
            across: "constraints",
            curves: ours.chain(paper).collect(),
            log: true,
        }
    }
}
