//! The report of a long soak: Markdown with all bounds, a page of plots (SVG), and a table of all rounds (CSV).

use std::fmt::Write;

use sinew_picture::{Panel, PlotSeries, draw_panels};

use crate::endless::EndlessRun;
use crate::machine::Machine;
use crate::soak_log::{SceneSlice, SoakLog};

/// Colours of the scenes in the plots.
const COLORS: [&str; 8] =
    ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f"];

/// A soak as it is told.
pub struct SoakReport<'a> {
    /// Where and when.
    pub machine: &'a Machine,
    /// The command line.
    pub command: &'a str,
    /// How long it should last (s).
    pub planned: f64,
    /// What is beside the Markdown: names of the plots and of the table.
    pub files: [&'a str; 2],
    /// The scenes.
    pub runs: &'a [EndlessRun],
    /// What was seen.
    pub log: &'a SoakLog,
}

/// What a plot shows: title, value of a slice, whether the axis is logarithmic.
type SlicePlot = (&'static str, fn(&SceneSlice) -> f64, bool);

const PLOTS: [SlicePlot; 5] = [
    ("gap [m]", |slice| slice.worst.gap, true),
    ("depth [m]", |slice| slice.worst.depth, true),
    ("kinetic [J/kg]", |slice| slice.worst.kinetic, true),
    ("excess [%]", |slice| 1e2 * slice.worst.excess, false),
    ("steps per second", |slice| slice.worst.steps as f64 / slice.seconds, true),
];

impl SoakReport<'_> {
    /// The text.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        self.head(&mut text);
        self.verdicts(&mut text);
        self.steps(&mut text);
        self.notices(&mut text);
        text
    }

    fn head(&self, text: &mut String) {
        let lasted = self.log.rounds.last().map_or(0.0, |round| round.time);
        let state = if lasted >= self.planned { "to its end" } else { "so far" };
        let failed = self.log.verdicts(self.runs).iter().filter(|verdict| !verdict.holds).count();
        let [plots, table] = self.files;
        let _ = writeln!(
            text,
            "# Soak of {:.2} hours\n\n`{}`, {}.\n\n{:.2} hours {state}, {} rounds of {} scenes. {}\n\n\
             Each scene goes on from where it was, with its tracks to and fro or its score again and again, pushed and held at random. \
             Values are the largest of all steps; [all rounds]({table}).\n\n![Plots]({plots})\n",
            self.planned / 3600.0,
            self.command,
            self.machine,
            lasted / 3600.0,
            self.log.rounds.len(),
            self.runs.len(),
            if failed == 0 { "All bounds hold.".to_owned() } else { format!("**{failed} bounds fail.**") },
        );
    }

    fn verdicts(&self, text: &mut String) {
        let _ = writeln!(text, "## Bounds\n\n| Scene | What | Bound | Found | |\n|---|---|---|---|---|");
        for verdict in self.log.verdicts(self.runs) {
            let scene = if verdict.scene.is_empty() { "all" } else { verdict.scene };
            let (what, bound, found) = (verdict.what, short(verdict.bound), short(verdict.found));
            let holds = if verdict.holds { "holds" } else { "**fails**" };
            let _ = writeln!(text, "| {scene} | {what} | {bound} | {found} | {holds} |");
        }
        let _ = writeln!(
            text,
            "\nEnergy without source is what lasted for half a second, as a share of what was exchanged since the account began anew, some \
             seconds before; scores and scenes with prescribed motions have no account. Growth of memory is that of the median from the second quarter to the last.\n"
        );
    }

    fn steps(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "## Steps\n\n| Scene | Built in as | Steps | Seconds of the scene | Steps with a warning | Steps per second, first and last quarter | \
             Memory after the first quarter (kB) |\n|---|---|---|---|---|---|---|"
        );
        for (i, run) in self.runs.iter().enumerate() {
            let worst = self.log.worst(i);
            let _ = writeln!(
                text,
                "| {} | `{}` | {} | {:.0} | {} | {:.0}, {:.0} | {:+.0} |",
                run.name(),
                run.title(),
                worst.steps,
                run.seconds(),
                worst.warned,
                self.log.speed(i, 0),
                self.log.speed(i, 3),
                1e-3 * self.log.grown(i)
            );
        }
        text.push('\n');
    }

    fn notices(&self, text: &mut String) {
        let _ = writeln!(text, "## Notices\n\n| Scene | Notice | Steps | First |\n|---|---|---|---|");
        for run in self.runs {
            for count in run.notices().iter() {
                let kind = if count.notice.is_warning() { "warning: " } else { "" };
                let others = if count.has_others { ", and others" } else { "" };
                let _ = writeln!(
                    text,
                    "| {} | {kind}{}{others} | {} | {} |",
                    run.name(),
                    count.what,
                    count.steps,
                    count.first_step
                );
            }
        }
    }

    /// The plots, one curve per scene.
    pub fn plots(&self) -> String {
        let rounds = &self.log.rounds;
        let time: Vec<f64> = rounds.iter().map(|round| round.time).collect();
        let memory: Vec<f64> = rounds.iter().map(|round| 1e-6 * round.resident.unwrap_or(f64::NAN)).collect();
        let values = |i: usize, value: fn(&SceneSlice) -> f64| -> Vec<f64> {
            rounds.iter().map(|round| value(&round.slices[i])).collect()
        };
        let curves: Vec<Vec<Vec<f64>>> =
            PLOTS.iter().map(|plot| (0..self.runs.len()).map(|i| values(i, plot.1)).collect()).collect();
        let whole = PlotSeries { name: "memory", color: COLORS[0], values: &memory, width: 1.5 };
        let mut panels = vec![Panel { title: "resident memory [MB]", series: vec![whole], log: false }];
        for (&(title, _, log), curves) in PLOTS.iter().zip(&curves) {
            let curve = |(i, run): (usize, &EndlessRun)| (run.name(), COLORS[i % COLORS.len()], &curves[i]);
            let scenes = self.runs.iter().enumerate().map(curve);
            let series = scenes.map(|(name, color, values)| PlotSeries { name, color, values, width: 1.2 });
            panels.push(Panel { title, series: series.collect(), log });
        }
        draw_panels("Soak", &format!("{} · {}", self.command, self.machine), &time, &panels)
    }

    /// A line per round and scene.
    pub fn table(&self) -> String {
        let mut text = "time_s,resident_bytes,scene,steps,seconds,warned,gap_m,depth_m,kinetic_j_per_kg,excess,grown_bytes\n".to_owned();
        for round in &self.log.rounds {
            for (run, slice) in self.runs.iter().zip(&round.slices) {
                let worst = &slice.worst;
                let bytes = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
                let _ = writeln!(
                    text,
                    "{:.2},{},{},{},{:.4},{},{:e},{:e},{:e},{:e},{}",
                    round.time,
                    bytes(round.resident),
                    run.name(),
                    worst.steps,
                    slice.seconds,
                    worst.warned,
                    worst.gap,
                    worst.depth,
                    worst.kinetic,
                    worst.excess,
                    bytes(slice.grown)
                );
            }
        }
        text
    }
}

/// A number in a table.
fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (0.01..1e5).contains(&size) {
        format!("{value:.*}", if size < 10.0 { 3 } else { 1 })
    } else {
        format!("{value:.1e}")
    }
}
