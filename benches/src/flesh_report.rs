//! The figures of the flesh suite as tables, as JSON and as curves.

use crate::flesh_shares::Clock;
use crate::flesh_suite::{MODES, TABLE_1};
use crate::{
    Axes, Figure, FigureGoal, FleshSuite, PaperModel, PlotCurve, ReportTable, ShareRow, TABLE_2, grouped,
    short,
};
use serde_json::{Value, json};
use sinew_fem::Diagonalize;

fn per_tet(seconds: f64, n_tets: usize) -> f64 {
    seconds * 1e9 / n_tets as f64
}

impl FleshSuite {
    /// Time of forces and steps over the share of largely deformed elements.
    pub fn shares_table(&self) -> ReportTable {
        let title = "Forces, and explicit steps, over the share of largely deformed elements: ns per tetrahedron, best";
        let mut head = vec!["body", "tetrahedra", "share"];
        head.extend(["Selective", "Always", "Never", "steps: Selective", "Always", "Never", "step in µs"]);
        let mut table = ReportTable::new(title, &head);
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
    pub fn gains_table(&self) -> ReportTable {
        let title = "Beside KP08 table 1: selective over always, at the paper's ratio";
        let mut table = ReportTable::new(title, &["motion", "ratio", "paper", "ours"]);
        for (motion, body, ratio, paper) in TABLE_1 {
            let gain = self.gain_at(body, ratio).map_or("–".into(), short);
            table.row([motion.into(), short(ratio), short(paper), gain]);
        }
        table.note("By the curves of the table above, bones added: as the paper estimates its own.");
        table
    }

    /// Motions in explicit steps.
    pub fn motions_table(&self) -> ReportTable {
        let title = "Motions in explicit steps of 1 ms, contact included: µs per step";
        let mut head = vec!["motion", "tetrahedra", "large", "sub-steps", "flesh", "bones", "together"];
        head.extend(["always", "speed-up", "paper"]);
        let mut table = ReportTable::new(title, &head);
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
                paper.map_or("–".into(), |paper| short(paper.joint_us)),
            ]);
        }
        table.note("Paper: KP08 table 2, joint control, its machine; 714, 415 and 119 tetrahedra.");
        table
    }

    /// Growth with the size.
    pub fn sizes_table(&self) -> ReportTable {
        let title = "Beams, 10 % deformed largely: ns per tetrahedron";
        let mut head = vec!["tetrahedra", "threads", "large", "forces", "median", "step", "median"];
        head.extend(["bytes of the model", "held with state and scratch"]);
        let mut table = ReportTable::new(title, &head);
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
    pub fn implicit_table(&self) -> ReportTable {
        let title =
            "Implicit steps of 1/60 s to a relative residual of 1e-5, one Newton iteration: ms per step";
        let mut head = vec!["scene", "tetrahedra", "free nodes", "best", "median", "longest"];
        head.extend(["solves", "iterations", "contacts"]);
        let mut table = ReportTable::new(title, &head);
        for row in &self.implicit {
            let times = [row.times.best(), row.times.median(), row.times.longest()];
            let cells = [row.name.clone(), grouped(row.n_tets), grouped(row.n_free)].into_iter();
            let cells = cells.chain(times.map(|time| short(time * 1e3)));
            let counts = [short(row.solves), short(row.iterations), row.contacts.to_string()];
            table.row(cells.chain(counts));
        }
        table
    }

    /// Everything as one JSON object; list entries have a `name` by which two runs can be compared.
    pub fn to_json(&self) -> Value {
        let clock = |clock: Clock, n_tets: usize| json!({ "best": per_tet(clock.best, n_tets), "median": per_tet(clock.median, n_tets) });
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
            "suite": "flesh",
            "date": self.machine.date,
            "commit": self.machine.commit,
            "machine": self.machine.to_json(),
            "batches": self.effort.n_batches,
            "shares": shares.collect::<Value>(),
            "gains": gains.collect::<Value>(),
            "motions": motions.collect::<Value>(),
            "sizes": sizes.collect::<Value>(),
            "implicit": implicit.collect::<Value>(),
            "goals": self.goals().iter().map(FigureGoal::to_json).collect::<Value>(),
        })
    }

    /// Time of an explicit step over the share of largely deformed elements (KP08 Figure 5).
    pub fn plot(&self) -> String {
        let curve = |body: &str, mode: Diagonalize, name: &str| PlotCurve {
            name: format!("{body}, {name}"),
            points: self
                .shares
                .iter()
                .filter(|row| row.body == body && row.mode == mode)
                .map(|row| (row.share, row.step.best * 1e6))
                .collect(),
        };
        let [selective, always, never] = MODES;
        let bodies = TABLE_2.iter().flat_map(|PaperModel { name, .. }| {
            [curve(name, selective, "selective"), curve(name, always, "always")]
        });
        Figure {
            title: "Explicit step of flesh, one thread: µs".into(),
            subtitle: self.machine.to_string(),
            across: "share of largely deformed elements".into(),
            curves: bodies.chain([curve("worm", never, "never")]).collect(),
            axes: Axes::Linear,
        }
        .to_svg()
    }
}
