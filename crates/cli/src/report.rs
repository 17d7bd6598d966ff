//! What is said about a run: one JSON object for programs, a few lines for people.

use std::fmt::Write as _;

use serde::Serialize;
use sinew_sim::{Expectation, digest_bytes};

use crate::flesh::FleshSummary;
use crate::loops::LoopSummary;
use crate::svg::quantity;

/// The numbers of a run. In JSON, a number that is not finite is `null`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// Name of the scene.
    pub(crate) scene: String,
    pub(crate) bodies: usize,
    pub(crate) joints: usize,
    /// Scalar equations of the joints in the tree.
    pub(crate) acyclic_constraints: usize,
    /// Scalar equations of the joints that close loops.
    pub(crate) loop_constraints: usize,
    /// Steps made.
    pub(crate) steps: u64,
    /// Time step (s), the first one if the scene changes it.
    pub(crate) dt: f64,
    /// Shortest and longest step (s).
    #[serde(skip)]
    pub(crate) step_lengths: (f64, f64),
    /// Simulated time (s).
    pub(crate) simulated_seconds: f64,
    pub(crate) threads: usize,
    /// Time spent stepping (s), recording and drawing left out.
    pub(crate) wall_seconds: f64,
    pub(crate) seconds_per_step: f64,
    /// Largest distance by which a joint came apart at any time (m).
    pub(crate) max_position_error: f64,
    /// Largest angle by which locked directions disagreed at any time (rad).
    pub(crate) max_rotation_error: f64,
    /// How the loops fared.
    pub(crate) loops: LoopSummary,
    /// How flesh and contacts fared; absent if there are neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flesh: Option<FleshSummary>,
    /// Kinetic, gravitational and elastic energy (J).
    pub(crate) energy_initial: f64,
    pub(crate) energy_final: f64,
    /// Seconds per stage of the step, in the order of the stages.
    pub(crate) stages: Stages,
    /// Pivots that had to be made soft because they were singular, over all steps.
    pub(crate) regularized: u64,
    /// Inputs that were left out because they made no sense, over all steps.
    pub(crate) ignored_inputs: u64,
    /// Fingerprint of all bits of the final state.
    pub(crate) digest: String,
    /// What went wrong, in words; absent if nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trouble: Option<String>,
    /// The scene's `expect` block and how it fared.
    pub(crate) expectations: Vec<Expectation>,
    /// Expectations about times that the run did not reach.
    pub(crate) pending_expectations: usize,
    /// One entry per value of the scene's `sweep`; the numbers above then are those of the whole sweep.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) runs: Vec<SweepRun>,
}

/// Seconds per stage by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stages(pub(crate) Vec<(&'static str, f64)>);

impl Serialize for Stages {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// One run of a sweep.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SweepRun {
    /// Paths and values that were set.
    pub(crate) set: Vec<(String, f64)>,
    #[serde(flatten)]
    pub(crate) summary: Summary,
}

impl Summary {
    /// Sums and extremes over the runs of a sweep; `runs` is not empty.
    pub(crate) fn of_sweep(runs: Vec<SweepRun>) -> Self {
        let first = &runs[0].summary;
        let mut whole = Self { runs: Vec::new(), expectations: Vec::new(), ..first.clone() };
        for run in &runs {
            let Summary { expectations, .. } = &run.summary;
            let label = run.label();
            let labelled =
                |e: &Expectation| Expectation { what: format!("{} ({label})", e.what), ..e.clone() };
            whole.expectations.extend(expectations.iter().map(labelled));
        }
        for run in &runs[1..] {
            let summary = &run.summary;
            whole.steps += summary.steps;
            whole.simulated_seconds += summary.simulated_seconds;
            whole.wall_seconds += summary.wall_seconds;
            whole.regularized += summary.regularized;
            whole.ignored_inputs += summary.ignored_inputs;
            whole.pending_expectations += summary.pending_expectations;
            whole.max_position_error = whole.max_position_error.max(summary.max_position_error);
            whole.max_rotation_error = whole.max_rotation_error.max(summary.max_rotation_error);
            whole.loops.merge(&summary.loops);
            if let (Some(whole), Some(flesh)) = (&mut whole.flesh, &summary.flesh) {
                whole.merge(flesh);
            }
            whole.energy_final = summary.energy_final;
            whole.digest = format!("{}{}", whole.digest, summary.digest);
            whole.trouble = whole.trouble.or_else(|| summary.trouble.clone());
            for (total, (_, seconds)) in whole.stages.0.iter_mut().zip(&summary.stages.0) {
                total.1 += seconds;
            }
        }
        whole.seconds_per_step = whole.wall_seconds / whole.steps.max(1) as f64;
        whole.digest = format!("{:016x}", digest_bytes(whole.digest.as_bytes()));
        whole.runs = runs;
        whole
    }

    /// A few lines for people.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        let loops = match self.loop_constraints {
            0 => String::new(),
            n => format!(", {n} in loops"),
        };
        let tetrahedra = self.flesh.as_ref().map_or(0, |flesh| flesh.tetrahedra);
        let (units, unit) = match tetrahedra {
            0 => (self.bodies, "body"),
            n => (n, "tetrahedron"),
        };
        let lines = [
            format!(
                "{}: {}, {}; {} equations in the tree{loops}",
                self.scene,
                count(self.bodies, "body", "bodies"),
                count(self.joints, "joint", "joints"),
                self.acyclic_constraints,
            ),
            format!(
                "  simulated      {} s in {} of {}",
                quantity(self.simulated_seconds),
                count(self.steps as usize, "step", "steps"),
                step_lengths(self.step_lengths),
            ),
            format!(
                "  computed in    {} ({} per step, {} per {unit} and step)",
                duration(self.wall_seconds),
                duration(self.seconds_per_step),
                duration(self.seconds_per_step / units.max(1) as f64),
            ),
            format!("  stages         {}", self.shares()),
            format!(
                "  joint error    at most {} m, {} rad",
                quantity(self.max_position_error),
                quantity(self.max_rotation_error)
            ),
            format!(
                "  energy         {} J -> {} J",
                quantity(self.energy_initial),
                quantity(self.energy_final)
            ),
            format!("  state digest   {}", self.digest),
        ];
        // Without a step there are no stages to speak of.
        let said = lines.iter().filter(|line| !line.ends_with(' '));
        said.for_each(|line| put(&mut out, line));
        self.loops.lines().iter().for_each(|line| put(&mut out, line));
        self.flesh.iter().flat_map(|flesh| flesh.lines()).for_each(|line| put(&mut out, &line));
        if self.regularized + self.ignored_inputs > 0 {
            let (soft, left_out) = (self.regularized, self.ignored_inputs);
            put(
                &mut out,
                &format!("  repaired       {soft} singular pivots, {left_out} senseless inputs left out"),
            );
        }
        for run in &self.runs {
            put(
                &mut out,
                &format!(
                    "  {:<34} joint error {:>9} m, energy {} J -> {} J",
                    run.label(),
                    quantity(run.summary.max_position_error),
                    quantity(run.summary.energy_initial),
                    quantity(run.summary.energy_final),
                ),
            );
        }
        let met = self.expectations.iter().filter(|e| e.met).count();
        let pending = match self.pending_expectations {
            0 => String::new(),
            n => format!(", {n} not looked at: the run is too short"),
        };
        if self.expectations.len() + self.pending_expectations > 0 {
            put(&mut out, &format!("  expectations   {met} of {} met{pending}", self.expectations.len()));
        }
        for broken in self.expectations.iter().filter(|e| !e.met) {
            let (value, limit) = (quantity(broken.measured), quantity(broken.limit));
            put(
                &mut out,
                &format!("  NOT MET        {}: {value}, expected {} {limit}", broken.what, broken.bound),
            );
        }
        if let Some(trouble) = &self.trouble {
            put(&mut out, &format!("  TROUBLE        {trouble}"));
        }
        out
    }

    /// Whether every expectation holds.
    pub(crate) fn as_expected(&self) -> bool {
        self.expectations.iter().all(|e| e.met)
    }

    /// Percent of the time per stage, stages below one percent left out.
    fn shares(&self) -> String {
        let total = self.stages.0.iter().map(|(_, seconds)| seconds).sum::<f64>().max(f64::MIN_POSITIVE);
        let shares = self.stages.0.iter().map(|(name, seconds)| (name, 100.0 * seconds / total));
        let shown: Vec<String> = shares
            .filter(|(_, percent)| *percent >= 1.0)
            .map(|(name, percent)| format!("{name} {percent:.0} %"))
            .collect();
        shown.join(", ")
    }
}

impl SweepRun {
    /// `path=value` for everything that was set, the path shortened to its last part.
    pub(crate) fn label(&self) -> String {
        let short = |path: &str| path.rsplit('.').next().unwrap_or(path).to_string();
        let parts: Vec<String> =
            self.set.iter().map(|(path, value)| format!("{}={}", short(path), quantity(*value))).collect();
        parts.join(", ")
    }
}

fn put(out: &mut String, line: &str) {
    writeln!(out, "{line}").expect("writing to a string");
}

/// A number with the right form of the noun.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// Shortest and longest step, or the only one there is.
pub(crate) fn step_lengths((short, long): (f64, f64)) -> String {
    if short < long { format!("{} to {}", step_length(short), step_length(long)) } else { step_length(short) }
}

/// A time step: one over a whole number where that is what was meant.
fn step_length(seconds: f64) -> String {
    let rate = (1.0 / seconds).round();
    let whole = (2.0..1e6).contains(&rate) && (seconds * rate - 1.0).abs() < 1e-12;
    if whole { format!("1/{rate} s") } else { duration(seconds) }
}

/// A time in the unit that suits it.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{} s", quantity(s)),
        s if s >= 1e-3 => format!("{} ms", quantity(1e3 * s)),
        s if s >= 1e-6 => format!("{} µs", quantity(1e6 * s)),
        s => format!("{} ns", quantity(1e9 * s)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Stages, duration, step_length};

    #[test]
    fn durations_have_fitting_units() {
        assert_eq!([2.5, 2.5e-3, 2.5e-6, 2.5e-9].map(duration), ["2.5 s", "2.5 ms", "2.5 µs", "2.5 ns"]);
        assert_eq!([1.0 / 60.0, 0.01, 0.0123].map(step_length), ["1/60 s", "1/100 s", "12.3 ms"]);
    }

    #[test]
    fn stages_keep_their_order_in_json() {
        let stages = Stages(vec![("z", 1.0), ("a", 2.0)]);
        assert_eq!(serde_json::to_string(&stages).unwrap(), r#"{"z":1.0,"a":2.0}"#);
    }
}
