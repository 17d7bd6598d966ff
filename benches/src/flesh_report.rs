//! The figures of the flesh suite as tables, as JSON and as curves.

use crate::control_suite::{PaperModel, TABLE_2};
use crate::flesh_suite::{FleshSuite, MODES, ShareRow, TABLE_1};
use crate::{Clock, ReportTable, SuiteReport, grouped, short};
use serde_json::{Value, json};
use sinew_fem::Diagonalize;
use sinew_picture::{Figure, PlotCurve};

fn per_tet(seconds: f64, n_tets: usize) -> f64 {
    seconds * 1e9 / n_tets as f64
}

impl FleshSuite {
    /// Time of forces and steps over the share of largely deformed elements.
    pub(crate) fn shares_table(&self) -> ReportTable {
        let title = "Forces, and explicit steps, over the share of largely deformed elements: ns per tetrahedron, best";
        let head = "body | tetrahedra | share | Selective | Always | Never | steps: Selective | Always | Never | step in µs";
        let mut table = ReportTable::new(title, head);
        for rows in self.shares.chunks(MODES.len()) {
            let first = &rows[0];
            let times = |of: fn(&ShareRow) -> Clock| {
                rows.iter().map(move |row| short(per_tet(of(row).best, row.n_tets)))
            };
            let share = format!("{:.1} %", 100.0 * first.share);
            let cells = [first.body.to_string(), grouped(first.n_tets), share].into_iter();
            let cells = cells.chain(times(|row| row.forces)).chain(times(|row| row.step));
            table.row(cells.chain([short(first.step.best * 1e6)]));
        }
        table
    }

    /// Table 1 of the paper: its ratios and speed-ups, and ours at the same ratio.
    pub(crate) fn gains_table(&self) -> ReportTable {
        let title = "Beside KP08 table 1: selective over always, at the paper's ratio";
        let mut table = ReportTable::new(title, "motion | ratio | paper | ours");
        for (motion, body, ratio, paper) in TABLE_1 {
            let gain = self.gain_at(body, ratio).map_or("–".into(), short);
            table.row([motion.into(), short(ratio), short(paper), gain]);
        }
        table.note("By the curves of the table above, bones added: as the paper estimates its own.");
        table
    }

    /// Motions in explicit steps.
    pub(crate) fn motions_table(&self) -> ReportTable {
        let title = "Motions in explicit steps of 1 ms, contact included: µs per step";
        let head =
            "motion | tetrahedra | large | sub-steps | flesh | bones | together | always | speed-up | paper";
        let mut table = ReportTable::new(title, head);
        for row in &self.motions {
            let us = |seconds: f64| short(seconds * 1e6);
            let paper = TABLE_2.iter().find(|paper| row.motion.name.starts_with(paper.name));
            table.row([
                row.motion.name.into(),
                grouped(row.n_tets),
                format!("{:.1} %", 100.0 * row.share),
                short(row.substeps),
                us(row.selective[0]),
                us(row.selective[1]),
                us(row.selective.iter().sum()),
                us(row.always.iter().sum()),
                format!("{}×", short(row.gain())),
                paper.map_or("–".into(), |paper| short(paper.times_us[0])),
            ]);
        }
        table.note("Paper: KP08 table 2, joint control, its machine; 714, 415 and 119 tetrahedra.");
        table
    }

    /// Growth with the size.
    pub(crate) fn sizes_table(&self) -> ReportTable {
        let title = "Beams, 10 % deformed largely: ns per tetrahedron";
        let head = "tetrahedra | threads | large | forces | median | step | median | bytes of the model | \
                    held with state and scratch";
        let mut table = ReportTable::new(title, head);
        for row in &self.sizes {
            let times = [row.forces.best, row.forces.median, row.step.best, row.step.median];
            let cells =
                [grouped(row.n_tets), row.n_threads.to_string(), format!("{:.1} %", 100.0 * row.share)];
            let cells = cells.into_iter().chain(times.map(|time| short(per_tet(time, row.n_tets))));
            table.row(cells.chain(row.bytes.map(short)));
        }
        table
    }

    /// Implicit steps.
    pub(crate) fn implicit_table(&self) -> ReportTable {
        let title =
            "Implicit steps of 1/60 s to a relative residual of 1e-5, one Newton iteration: ms per step";
        let head =
            "scene | tetrahedra | free nodes | best | median | longest | solves | iterations | contacts";
        let mut table = ReportTable::new(title, head);
        for row in &self.implicit {
            let times = [row.times.best(), row.times.median(), row.times.longest()];
            let cells = [row.name.clone(), grouped(row.n_tets), grouped(row.n_free)].into_iter();
            let cells = cells.chain(times.map(|time| short(time * 1e3)));
            let counts = [short(row.solves), short(row.iterations), row.contacts.to_string()];
            table.row(cells.chain(counts));
        }
        table
    }
}

impl SuiteReport for FleshSuite {
    fn to_json(&self) -> Value {
        let clock = |clock: Clock, n_tets: usize| clock.to_json(per_tet(1.0, n_tets));
        let shares = self.shares.iter().map(|row| {
            json!({
                "name": format!("{} {} {:?}", row.body, row.asked, row.mode),
                "tets": row.n_tets,
                "share": row.share,
                "forces_ns_per_tet": clock(row.forces, row.n_tets),
                "step_ns_per_tet": clock(row.step, row.n_tets),
            })
        });
        let gains = TABLE_1.iter().map(|&(name, body, ratio, paper)| {
            json!({ "name": name, "ratio": ratio, "paper": paper, "ours": self.gain_at(body, ratio) })
        });
        let motions = self.motions.iter().map(|row| {
            json!({
                "name": row.motion.name,
                "tets": row.n_tets,
                "share": row.share,
                "substeps": row.substeps,
                "us_flesh": row.selective[0] * 1e6,
                "us_bones": row.selective[1] * 1e6,
                "us_always": row.always.iter().sum::<f64>() * 1e6,
                "speed_up": row.gain(),
            })
        });
        let sizes = self.sizes.iter().map(|row| {
            json!({
                "name": format!("{} tets {} threads", row.n_tets, row.n_threads),
                "share": row.share,
                "forces_ns_per_tet": clock(row.forces, row.n_tets),
                "step_ns_per_tet": clock(row.step, row.n_tets),
                "model_bytes_per_tet": row.bytes[0],
                "held_bytes_per_tet": row.bytes[1],
            })
        });
        let implicit = self.implicit.iter().map(|row| {
            json!({
                "name": row.name,
                "tets": row.n_tets,
                "free_nodes": row.n_free,
                "ms_best": row.times.best() * 1e3,
                "ms_median": row.times.median() * 1e3,
                "ms_longest": row.times.longest() * 1e3,
                "solves": row.solves,
                "iterations": row.iterations,
                "contacts": row.contacts,
            })
        });
        json!({
            "shares": shares.collect::<Value>(),
            "gains": gains.collect::<Value>(),
            "motions": motions.collect::<Value>(),
            "sizes": sizes.collect::<Value>(),
            "implicit": implicit.collect::<Value>(),
        })
    }

    /// Time of an explicit step over the share of largely deformed elements (KP08 Figure 5).
    fn figure(&self) -> Figure {
        let curve = |body: &str, mode: Diagonalize, name: &str| -> PlotCurve {
            let rows = self.shares.iter().filter(|row| row.body == body && row.mode == mode);
            (format!("{body}, {name}"), rows.map(|row| (row.share, row.step.best * 1e6)).collect())
        };
        let [selective, always, never] = MODES;
        let bodies = TABLE_2.iter().flat_map(|PaperModel { name, .. }| {
            [curve(name, selective, "selective"), curve(name, always, "always")]
        });
        Figure {
            title: "Explicit step of flesh, one thread: µs",
            across: "share of largely deformed elements",
            curves: bodies.chain([curve("worm", never, "never")]).collect(),
            log: false,
        }
    }
}
