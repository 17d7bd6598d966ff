//! The figures of the control suite as tables, as JSON and as curves.

use crate::control_suite::PARTS;
use crate::{
    Axes, CharacterRow, ControlSuite, Figure, FigureGoal, MotionTimes, PlotCurve, ReportTable, SkeletonRow,
    Timing, grouped, short,
};
use serde_json::{Value, json};

fn us(seconds: f64) -> String {
    short(seconds * 1e6)
}

/// A row under both kinds of control.
fn controls(row: &CharacterRow) -> [(&'static str, &MotionTimes); 2] {
    [("joint", &row.joint), ("Cartesian", &row.cartesian)]
}

impl ControlSuite {
    /// Table 2 of the paper, each model of its beside ours.
    pub fn characters_table(&self) -> ReportTable {
        let title = "Beside KP08 table 2: average time of a step, µs";
        let mut head = vec!["model", "", "DOF", "bones", "actuators", "nodes", "tetrahedra"];
        head.extend(["step in ms", "joint", "Cartesian"]);
        let mut table = ReportTable::new(title, &head);
        for row in &self.characters {
            let paper = &row.paper;
            let sizes = |sizes: [usize; 5]| sizes.map(|size| size.to_string());
            let theirs = [paper.n_dofs, paper.n_bones, paper.n_actuators, paper.n_nodes, paper.n_tets];
            let ours = [row.n_dofs, row.n_bones, row.n_actuators, row.n_nodes, row.n_tets];
            let dt = short(row.dt * 1e3);
            let line = |who: &str, counts, times: [String; 2]| {
                let name = [paper.name.to_string(), who.to_string()].into_iter();
                name.chain(sizes(counts)).chain([dt.clone()]).chain(times)
            };
            table.row(line("paper", theirs, [short(paper.joint_us), short(paper.cartesian_us)]));
            table.row(line("Sinew", ours, controls(row).map(|(_, times)| us(times.steps.best()))));
        }
        table.note(
            "Joint: the joint trajectory of the motion, played by perfect servos. Cartesian: the motion, as a user drags it.\n\
             Paper: its machine, a 2.66 GHz Core 2.",
        );
        table
    }

    /// Where the time of the same steps goes.
    pub fn parts_table(&self) -> ReportTable {
        let title = "The same steps, part by part: µs per step";
        let mut head = vec!["motion", "control", "steps", "best", "median", "longest"];
        head.extend(PARTS.map(|part| part.0));
        head.extend(["sub-steps", "contacts at most"]);
        let mut table = ReportTable::new(title, &head);
        for row in &self.characters {
            for (control, times) in controls(row) {
                let steps = &times.steps;
                let cells = [row.paper.motion.into(), control.into(), grouped(row.n_guided)].into_iter();
                let cells = cells.chain([steps.best(), steps.median(), steps.longest()].map(us));
                let cells = cells.chain(times.parts.map(us));
                table.row(cells.chain([short(times.substeps), times.contacts.to_string()]));
            }
        }
        table.note("Steps are those in which a bone is guided, and the same ones of the replay.");
        table
    }

    /// Dynamics of skeletons.
    pub fn dynamics_table(&self) -> ReportTable {
        let title = "Dynamics of a chain of hinges in joint coordinates: ns per hinge, best";
        let mut head = vec!["bones", "forward", "median", "inverse", "hybrid", "whole step", "median"];
        head.push("µs per step");
        let mut table = ReportTable::new(title, &head);
        for row in &self.skeletons {
            let [forward, inverse, hybrid] = row.sweeps;
            let times = [
                forward.best,
                forward.median,
                inverse.best,
                hybrid.best,
                row.passive.best,
                row.passive.median,
            ];
            let cells = [grouped(row.n_bones)].into_iter();
            let cells = cells.chain(times.map(|time| short(row.per_bone(time))));
            table.row(cells.chain([us(row.passive.best)]));
        }
        table.note("Hybrid: every other hinge is prescribed.");
        table
    }

    /// Skeletons with a guided bone.
    pub fn cartesian_table(&self) -> ReportTable {
        let title = "The same chain with its last bone guided, one goal, accelerations smallest: whole steps";
        let head = ["bones", "ns per bone", "median", "over passive", "µs per step"];
        let mut table = ReportTable::new(title, &head);
        for (row, timing) in self.guided() {
            table.row([
                grouped(row.n_bones),
                short(row.per_bone(timing.best)),
                short(row.per_bone(timing.median)),
                format!("{}×", short(timing.best / row.passive.best)),
                us(timing.best),
            ]);
        }
        if let Some([(n, forward), (guided, cartesian)]) = self.growth() {
            table.note(format!(
                "Time per bone, over that of 10 bones: forward dynamics of {} bones {}×, Cartesian control of {} bones {}×.",
                grouped(n),
                short(forward),
                grouped(guided),
                short(cartesian),
            ));
        }
        table
    }

    fn guided(&self) -> impl Iterator<Item = (&SkeletonRow, Timing)> {
        self.skeletons.iter().filter_map(|row| Some((row, row.cartesian?)))
    }

    /// Everything as one JSON object; list entries have a `name` by which two runs can be compared.
    pub fn to_json(&self) -> Value {
        let times = |times: &MotionTimes| {
            let parts =
                PARTS.iter().zip(times.parts).map(|(part, time)| (part.0.to_string(), json!(time * 1e6)));
            json!({
                "us_best": times.steps.best() * 1e6,
                "us_median": times.steps.median() * 1e6,
                "us_longest": times.steps.longest() * 1e6,
                "us_parts": parts.collect::<serde_json::Map<_, _>>(),
                "substeps": times.substeps,
                "contacts": times.contacts,
            })
        };
        let characters = self.characters.iter().map(|row| {
            json!({
                "name": row.paper.name,
                "motion": row.paper.motion,
                "dofs": row.n_dofs,
                "bones": row.n_bones,
                "actuators": row.n_actuators,
                "nodes": row.n_nodes,
                "tets": row.n_tets,
                "dt": row.dt,
                "steps": row.n_guided,
                "joint": times(&row.joint),
                "cartesian": times(&row.cartesian),
                "paper": {
                    "dofs": row.paper.n_dofs,
                    "bones": row.paper.n_bones,
                    "actuators": row.paper.n_actuators,
                    "nodes": row.paper.n_nodes,
                    "tets": row.paper.n_tets,
                    "us_joint": row.paper.joint_us,
                    "us_cartesian": row.paper.cartesian_us,
                },
            })
        });
        let skeletons = self.skeletons.iter().map(|row| {
            let per_bone = |timing: Timing| {
                json!({ "best": row.per_bone(timing.best), "median": row.per_bone(timing.median) })
            };
            let [forward, inverse, hybrid] = row.sweeps.map(per_bone);
            json!({
                "name": format!("skeleton_{}", row.n_bones),
                "forward_ns_per_bone": forward,
                "inverse_ns_per_bone": inverse,
                "hybrid_ns_per_bone": hybrid,
                "passive_step_ns_per_bone": per_bone(row.passive),
                "cartesian_step_ns_per_bone": row.cartesian.map(per_bone),
            })
        });
        let growth = self.growth().map(|[forward, cartesian]| {
            let entry = |(bones, ratio): (usize, f64)| json!({ "bones": bones, "ratio": ratio });
            json!({ "forward": entry(forward), "cartesian": entry(cartesian) })
        });
        json!({
            "suite": "control",
            "date": self.machine.date,
            "commit": self.machine.commit,
            "machine": self.machine.to_json(),
            "batches": self.effort.n_batches,
            "characters": characters.collect::<Value>(),
            "skeletons": skeletons.collect::<Value>(),
            "growth": growth,
            "goals": self.goals().iter().map(FigureGoal::to_json).collect::<Value>(),
        })
    }

    /// Time of dynamics and of steps over the number of bones.
    pub fn plot(&self) -> String {
        let curve = |name: &str, of: fn(&SkeletonRow) -> Option<Timing>| PlotCurve {
            name: name.into(),
            points: self
                .skeletons
                .iter()
                .filter_map(|row| Some((row.n_bones as f64, of(row)?.best * 1e6)))
                .collect(),
        };
        Figure {
            title: "Skeletons in joint coordinates, one thread: µs".into(),
            subtitle: self.machine.to_string(),
            across: "bones".into(),
            curves: vec![
                curve("forward dynamics", |row| Some(row.sweeps[0])),
                curve("inverse dynamics", |row| Some(row.sweeps[1])),
                curve("step, passive", |row| Some(row.passive)),
                curve("step, one bone guided", |row| row.cartesian),
            ],
            axes: Axes::Logarithmic,
        }
        .to_svg()
    }
}
