//! The figures of the control suite as tables, as JSON and as curves.

use crate::control_suite::{CONTROLS, COUNTS, ControlSuite, MotionTimes, PARTS, SkeletonRow};
use crate::{ReportTable, SuiteReport, Timing, grouped, short};
use serde_json::{Value, json};
use sinew_picture::{Figure, PlotCurve};

fn us(seconds: f64) -> String {
    short(seconds * 1e6)
}

impl ControlSuite {
    /// Table 2 of the paper, each model of its beside ours.
    pub(crate) fn characters_table(&self) -> ReportTable {
        let title = "Beside KP08 table 2: average time of a step, µs";
        let head = "model |  | DOF | bones | actuators | nodes | tetrahedra | step in ms | joint | Cartesian";
        let mut table = ReportTable::new(title, head);
        for row in &self.characters {
            let ours = row.times.each_ref().map(|times| us(times.steps.best()));
            let theirs = ("paper", row.paper.counts, row.paper.times_us.map(short));
            for (who, counts, times) in [theirs, ("Sinew", row.counts, ours)] {
                let cells = [row.paper.name.to_string(), who.to_string()].into_iter();
                let cells = cells.chain(counts.map(|count| count.to_string()));
                table.row(cells.chain([short(row.dt * 1e3)]).chain(times));
            }
        }
        table.note(
            "Joint: the joint trajectory of the motion, played by perfect servos. Cartesian: the motion, as a user drags it.\n\
             Paper: its machine, a 2.66 GHz Core 2.",
        );
        table
    }

    /// Where the time of the same steps goes.
    pub(crate) fn parts_table(&self) -> ReportTable {
        let title = "The same steps, part by part: µs per step";
        let parts = format!("longest | {}", PARTS.map(|part| part.0).join(" | "));
        let head =
            format!("motion | control | steps | best | median | {parts} | sub-steps | contacts at most");
        let mut table = ReportTable::new(title, &head);
        for row in &self.characters {
            for (control, times) in CONTROLS.into_iter().zip(&row.times) {
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
    pub(crate) fn dynamics_table(&self) -> ReportTable {
        let title = "Dynamics of a chain of hinges in joint coordinates: ns per hinge, best";
        let head = "bones | forward | median | inverse | hybrid | whole step | median | µs per step";
        let mut table = ReportTable::new(title, head);
        for row in &self.skeletons {
            let [forward, inverse, hybrid] = row.sweeps.map(|sweep| sweep.clock);
            let passive = row.passive.clock;
            let times =
                [forward.best, forward.median, inverse.best, hybrid.best, passive.best, passive.median];
            let cells = [grouped(row.n_bones)].into_iter();
            let cells = cells.chain(times.map(|time| short(row.per_bone(time))));
            table.row(cells.chain([us(passive.best)]));
        }
        table.note("Hybrid: every other hinge is prescribed.");
        table
    }

    /// Skeletons with a guided bone.
    pub(crate) fn cartesian_table(&self) -> ReportTable {
        let title = "The same chain with its last bone guided, one goal, accelerations smallest: whole steps";
        let mut table = ReportTable::new(title, "bones | ns per bone | median | over passive | µs per step");
        for (row, timing) in self.guided() {
            table.row([
                grouped(row.n_bones),
                short(row.per_bone(timing.clock.best)),
                short(row.per_bone(timing.clock.median)),
                format!("{}×", short(timing.clock.best / row.passive.clock.best)),
                us(timing.clock.best),
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
}

impl SuiteReport for ControlSuite {
    fn to_json(&self) -> Value {
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
            let mut paper: Value = COUNTS.into_iter().zip(row.paper.counts.map(Value::from)).collect();
            [paper["us_joint"], paper["us_cartesian"]] = row.paper.times_us.map(Value::from);
            let mut out: Value = COUNTS.into_iter().zip(row.counts.map(Value::from)).collect();
            out["name"] = json!(row.paper.name);
            out["motion"] = json!(row.paper.motion);
            out["dt"] = json!(row.dt);
            out["steps"] = json!(row.n_guided);
            [out["joint"], out["cartesian"]] = row.times.each_ref().map(times);
            out["paper"] = paper;
            out
        });
        let skeletons = self.skeletons.iter().map(|row| {
            let per_bone = |timing: Timing| timing.clock.to_json(row.per_bone(1.0));
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
            "characters": characters.collect::<Value>(),
            "skeletons": skeletons.collect::<Value>(),
            "growth": growth,
        })
    }

    /// Time of dynamics and of steps over the number of bones.
    fn figure(&self) -> Figure {
        let curve = |name: &str, of: fn(&SkeletonRow) -> Option<Timing>| -> PlotCurve {
            let point = |row: &SkeletonRow| Some((row.n_bones as f64, of(row)?.clock.best * 1e6));
            (name.into(), self.skeletons.iter().filter_map(point).collect())
        };
        Figure {
            title: "Skeletons in joint coordinates, one thread: µs",
            across: "bones",
            curves: vec![
                curve("forward dynamics", |row| Some(row.sweeps[0])),
                curve("inverse dynamics", |row| Some(row.sweeps[1])),
                curve("step, passive", |row| Some(row.passive)),
                curve("step, one bone guided", |row| row.cartesian),
            ],
            log: true,
        }
    }
}
