//! The report of a run: one JSON object for programs, a few lines of text for people.

use serde::Serialize;
use sinew_sim::{Expectation, digest_bytes};

use crate::event_log::Happenings;
use crate::text::{count, duration, quantity, step_lengths};
use crate::{flesh_summary::FleshSummary, health_summary::HealthSummary, loop_summary::LoopSummary};

/// Results of a run. In JSON, numbers that are not finite are `null`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    #[serde(flatten)]
    pub(crate) size: SceneSize,
    #[serde(flatten)]
    pub(crate) time: RunTime,
    /// Largest position error of a joint at any time (m).
    pub(crate) max_position_error: f64,
    /// Largest rotation error of a joint at any time (rad).
    pub(crate) max_rotation_error: f64,
    /// Statistics of the loop solver.
    pub(crate) loops: LoopSummary,
    /// Statistics of flesh and contacts; absent if the scene has neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flesh: Option<FleshSummary>,
    /// Kinetic, gravitational and elastic energy (J); that of all runs of a sweep together.
    pub(crate) energy_initial: f64,
    pub(crate) energy_final: f64,
    /// Seconds per stage of the step, in the order of the stages.
    pub(crate) stages: StageTimes,
    /// What was repaired, divided or left open.
    #[serde(flatten)]
    pub(crate) health: HealthSummary,
    /// Hash of all bits of the final state.
    pub(crate) digest: String,
    /// What broke and touched.
    #[serde(flatten)]
    pub(crate) happened: Happenings,
    /// Why the run was stopped; absent if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trouble: Option<String>,
    /// The scene's `expect` block, with measured values.
    pub(crate) expectations: Vec<Expectation>,
    /// Expectations about times after the end of the run.
    pub(crate) pending_expectations: usize,
    /// One entry per value of the scene's `sweep`; the other numbers are then those of the whole sweep.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) runs: Vec<SweepSummary>,
}

/// Name and size of a scene.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SceneSize {
    /// Name of the scene.
    pub(crate) scene: String,
    pub(crate) bodies: usize,
    pub(crate) joints: usize,
    /// Scalar equations of the tree joints.
    pub(crate) acyclic_constraints: usize,
    /// Scalar equations of the loop joints.
    pub(crate) loop_constraints: usize,
}

/// Simulated time and computing time of a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RunTime {
    /// Number of steps.
    pub(crate) steps: u64,
    /// Stepper of the last step.
    pub(crate) stepper: String,
    /// Step length (s); the first one if the scene changes it.
    pub(crate) dt: f64,
    /// Shortest and longest step (s).
    #[serde(skip)]
    pub(crate) step_lengths: (f64, f64),
    /// Simulated time (s).
    pub(crate) simulated_seconds: f64,
    pub(crate) threads: usize,
    /// Computing time of the steps (s), without recording and drawing.
    pub(crate) wall_seconds: f64,
    pub(crate) seconds_per_step: f64,
    /// What ended the run before its last step: a signal, or that a file of it could not be written; absent if nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interrupted: Option<String>,
}

/// Seconds per stage by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageTimes(pub(crate) Vec<(&'static str, f64)>);

impl Serialize for StageTimes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// One run of a sweep.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SweepSummary {
    /// Paths and values that were set.
    pub(crate) set: Vec<(String, f64)>,
    #[serde(flatten)]
    pub(crate) summary: Summary,
}

impl Summary {
    /// Sums and maxima over the runs of a sweep; `runs` is not empty.
    pub(crate) fn of_sweep(runs: Vec<SweepSummary>) -> Self {
        // each run lists its own events
        let happened = Happenings::default();
        let mut total = Self { expectations: Vec::new(), happened, ..runs[0].summary.clone() };
        for run in &runs {
            let label = run.label();
            let labelled = |expectation: &Expectation| {
                let mut labelled = expectation.clone();
                labelled.what = format!("{} ({label})", expectation.what);
                labelled
            };
            total.expectations.extend(run.summary.expectations.iter().map(labelled));
        }
        runs[1..].iter().for_each(|run| total.add(&run.summary));
        total.time.seconds_per_step = total.time.wall_seconds / total.time.steps.max(1) as f64;
        total.digest = format!("{:016x}", digest_bytes(total.digest.as_bytes()));
        total.runs = runs;
        total
    }

    /// Adds another run, except for its expectations. Digests are concatenated.
    fn add(&mut self, other: &Self) {
        self.time.steps += other.time.steps;
        self.time.simulated_seconds += other.time.simulated_seconds;
        self.time.wall_seconds += other.time.wall_seconds;
        self.health.merge(&other.health);
        self.pending_expectations += other.pending_expectations;
        self.max_position_error = self.max_position_error.max(other.max_position_error);
        self.max_rotation_error = self.max_rotation_error.max(other.max_rotation_error);
        self.loops.merge(&other.loops);
        if let (Some(total), Some(flesh)) = (&mut self.flesh, &other.flesh) {
            total.merge(flesh);
        }
        self.energy_initial += other.energy_initial;
        self.energy_final += other.energy_final;
        self.digest.push_str(&other.digest);
        self.trouble = self.trouble.take().or_else(|| other.trouble.clone());
        self.time.interrupted = self.time.interrupted.take().or_else(|| other.time.interrupted.clone());
        for (total, (_, seconds)) in self.stages.0.iter_mut().zip(&other.stages.0) {
            total.1 += seconds;
        }
    }

    /// The report as text.
    pub(crate) fn to_text(&self) -> String {
        let mut lines = self.main_lines();
        lines.extend(self.loops.lines());
        lines.extend(self.flesh.iter().flat_map(|flesh| flesh.lines()));
        lines.extend(self.health.lines(self.time.steps));
        lines.extend(self.happened.lines());
        lines.extend(self.runs.iter().flat_map(SweepSummary::lines));
        lines.extend(self.expectation_lines());
        lines.extend(self.time.interrupted.iter().map(|why| format!("  INTERRUPTED    {why}")));
        lines.extend(self.trouble.iter().map(|trouble| format!("  TROUBLE        {trouble}")));
        lines.join("\n") + "\n"
    }

    /// Size, time, stages, joint error, energy, digest.
    fn main_lines(&self) -> Vec<String> {
        let (size, time) = (&self.size, &self.time);
        let loops = match size.loop_constraints {
            0 => String::new(),
            n => format!(", {n} in loops"),
        };
        let (units, unit) = match self.flesh.as_ref().map_or(0, |flesh| flesh.tetrahedra) {
            0 => (size.bodies, "body"),
            n => (n, "tetrahedron"),
        };
        let mut lines = vec![
            format!(
                "{}: {}, {}; {} equations in the tree{loops}",
                size.scene,
                count(size.bodies, "body", "bodies"),
                count(size.joints, "joint", "joints"),
                size.acyclic_constraints,
            ),
            format!(
                "  simulated      {} s in {} of {}, {} stepper",
                quantity(time.simulated_seconds),
                count(time.steps as usize, "step", "steps"),
                step_lengths(time.step_lengths),
                time.stepper,
            ),
            format!(
                "  computed in    {} ({} per step, {} per {unit} and step)",
                duration(time.wall_seconds),
                duration(time.seconds_per_step),
                duration(time.seconds_per_step / units.max(1) as f64),
            ),
        ];
        // A run without steps has no stages.
        lines.extend(
            Some(self.shares())
                .filter(|text| !text.is_empty())
                .map(|text| format!("  stages         {text}")),
        );
        let [position, rotation] = [self.max_position_error, self.max_rotation_error].map(quantity);
        lines.push(format!("  joint error    at most {position} m, {rotation} rad"));
        let [before, after] = [self.energy_initial, self.energy_final].map(quantity);
        let together = if self.runs.is_empty() { "" } else { ", the sum of all runs" };
        lines.push(format!("  energy         {before} J -> {after} J{together}"));
        lines.push(format!("  state digest   {}", self.digest));
        lines
    }

    fn expectation_lines(&self) -> Vec<String> {
        if self.expectations.len() + self.pending_expectations == 0 {
            return Vec::new();
        }
        let met = self.expectations.iter().filter(|e| e.met).count();
        let pending = match self.pending_expectations {
            0 => String::new(),
            n => format!(", {n} not judged: the run ends before their time"),
        };
        let mut lines = vec![format!("  expectations   {met} of {} met{pending}", self.expectations.len())];
        lines.extend(self.expectations.iter().filter(|e| !e.met).map(|broken| {
            let (value, limit) = (quantity(broken.measured), quantity(broken.limit));
            format!("  NOT MET        {}: {value}, expected {} {limit}", broken.what, broken.bound)
        }));
        lines
    }

    /// Percentage of the time per stage; stages below one percent are omitted.
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

impl SweepSummary {
    /// `path=value` for everything that was set; paths are shortened to their last part.
    fn label(&self) -> String {
        let short = |path: &str| path.rsplit('.').next().unwrap_or(path).to_string();
        let parts: Vec<String> =
            self.set.iter().map(|(path, value)| format!("{}={}", short(path), quantity(*value))).collect();
        parts.join(", ")
    }

    fn lines(&self) -> Vec<String> {
        [vec![self.line()], self.summary.happened.lines()].concat()
    }

    fn line(&self) -> String {
        let Summary { max_position_error, energy_initial, energy_final, .. } = self.summary;
        format!(
            "  {:<34} joint error {:>9} m, energy {} J -> {} J",
            self.label(),
            quantity(max_position_error),
            quantity(energy_initial),
            quantity(energy_final),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::StageTimes;

    #[test]
    fn stages_keep_their_order_in_json() {
        let stages = StageTimes(vec![("z", 1.0), ("a", 2.0)]);
        assert_eq!(serde_json::to_string(&stages).unwrap(), r#"{"z":1.0,"a":2.0}"#);
    }
}
