//! What was repaired, divided, left open or worth knowing over all steps of a run.

use serde::{Deserialize, Serialize};
use sinew_sim::{EnergyAccount, EnergyExcess, HealthNotice, NoticeCount, NoticeCounts, StepReport, World};

use crate::text::{count, quantity};

/// Share of the size of its bodies from which an open joint can be seen.
const VISIBLE: f64 = 0.02;

/// Share of what was exchanged from which energy is called gained although it may be lost again within half a second.
const GAINED_AT_ONCE: f64 = 0.1;

/// Sums and maxima over the steps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HealthSummary {
    /// Singular pivots that were regularized.
    pub(crate) regularized: u64,
    /// Invalid inputs that were ignored.
    pub(crate) ignored_inputs: u64,
    /// Linear solves of the implicit stepper.
    pub(crate) solves: u64,
    /// Steps that were divided, and into how many parts at most.
    pub(crate) divided_steps: u64,
    pub(crate) most_parts: u32,
    /// Islands that made one step of second order with the first, at most.
    pub(crate) most_fallen_islands: u32,
    /// Steps that left a joint open, by more than a thousandth of the size of its bodies.
    pub(crate) open_steps: u64,
    /// The largest of these errors, relative to the size of the bodies, and its joint.
    pub(crate) largest_opening: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_joint: Option<String>,
    /// Bodies that sleep at the end.
    pub(crate) asleep: u32,
    /// Most energy above what was put in, at any time.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_gain: Option<LargestGain>,
    /// When the scene first had ten times the energy that was put in, s.
    #[serde(skip_serializing_if = "Option::is_none", rename = "exploded_s")]
    exploded: Option<f64>,
    /// What is probably not meant, with its place in the scene.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) doubts: Vec<String>,
    #[serde(serialize_with = "with_severity")]
    pub(crate) notices: NoticeCounts,
    /// Where energy comes from.
    #[serde(skip)]
    pub(crate) watch: EnergyWatch,
}

/// Looks for energy without a source while settings stay in force.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EnergyWatch {
    account: Option<EnergyAccount>,
    /// When the settings in force began, s.
    in_force_since: Option<f64>,
    /// Whether a gain goes on that was told.
    is_told: bool,
}

/// Energy above what was put in.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct LargestGain {
    /// J, and as a share of what was exchanged.
    energy: f64,
    share: f64,
    /// At the end of this step.
    step: u64,
}

impl HealthSummary {
    /// Of a world before its first step.
    pub(crate) fn begin(world: &World) -> Self {
        Self { watch: EnergyWatch::begin(world), ..Self::default() }
    }

    /// Adds a step.
    pub(crate) fn note(&mut self, world: &World, report: &StepReport) {
        let (health, mechanism) = (&report.health, &report.mechanism);
        self.regularized += u64::from(health.regularized);
        self.ignored_inputs += u64::from(health.ignored_inputs);
        self.asleep = report.asleep;
        self.solves += u64::from(mechanism.iterations);
        self.divided_steps += u64::from(mechanism.substeps > 1);
        self.most_parts = self.most_parts.max(mechanism.substeps);
        self.most_fallen_islands = self.most_fallen_islands.max(mechanism.fallen_islands);
        if let Some(joint) = health.open_joint {
            self.open_steps += 1;
            if mechanism.unclosed > self.largest_opening {
                self.largest_opening = mechanism.unclosed;
                self.open_joint = Some(world.mechanism().joint_name(joint).to_owned());
            }
        }
        self.notices.note(report, world.model());
        self.note_energy(world, report.index);
    }

    /// Adds that tetrahedra are inverted after the last step of a number, from a first on.
    pub(crate) fn note_inverted(&mut self, world: &World, steps: u64, first: u64) {
        self.notices.note_of_model(HealthNotice::Inverted, steps + 1 - first, first, world.model());
    }

    /// Adds that the last step of a number left what means nothing any more; what a step tells itself is counted already.
    pub(crate) fn note_lost(&mut self, world: &World, notice: HealthNotice, step: u64) {
        if notice == HealthNotice::Implausible {
            self.notices.note_of_model(notice, 1, step, world.model());
        }
    }

    /// Adds energy that came without a source, from where the gain began.
    fn note_energy(&mut self, world: &World, index: u64) {
        let excess = self.watch.excess(world);
        if excess.is_explosion() && self.exploded.is_none() {
            self.exploded = Some(world.time());
        }
        if excess.energy > self.largest_gain.map_or(0.0, |gain| gain.energy) {
            self.largest_gain = Some(LargestGain { energy: excess.energy, share: excess.now, step: index });
        }
        let was_told = self.watch.is_told;
        self.watch.is_told =
            excess.steps > 0 && (was_told || excess.is_gain() || excess.now > GAINED_AT_ONCE);
        if self.watch.is_told {
            let steps = if was_told { 1 } else { excess.steps };
            let (first, model) = (index + 1 - steps, world.model());
            self.notices.note_of_model(HealthNotice::EnergyGained, steps, first, model);
        }
    }

    /// Adds another run.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.regularized += other.regularized;
        self.ignored_inputs += other.ignored_inputs;
        self.solves += other.solves;
        self.divided_steps += other.divided_steps;
        self.most_parts = self.most_parts.max(other.most_parts);
        self.most_fallen_islands = self.most_fallen_islands.max(other.most_fallen_islands);
        self.open_steps += other.open_steps;
        if other.largest_opening > self.largest_opening {
            self.largest_opening = other.largest_opening;
            self.open_joint.clone_from(&other.open_joint);
        }
        self.asleep = other.asleep;
        self.exploded = self.exploded.or(other.exploded);
        let gains = [self.largest_gain, other.largest_gain].into_iter().flatten();
        self.largest_gain = gains.max_by(|a, b| a.energy.total_cmp(&b.energy));
        self.notices.merge(&other.notices);
    }

    /// The lines of the report, for a number of steps.
    pub(crate) fn lines(&self, steps: u64) -> Vec<String> {
        let mut lines = Vec::new();
        if self.asleep > 0 {
            let bodies = count(self.asleep as usize, "body", "bodies");
            lines.push(format!("  asleep         {bodies} at the end"));
        }
        if self.solves > steps {
            let per_step = quantity(self.solves as f64 / steps.max(1) as f64);
            let divided = match self.divided_steps {
                0 => String::new(),
                n => format!("; {n} of {steps} steps divided, into up to {} parts", self.most_parts),
            };
            lines.push(format!("  joints closed  in {per_step} solves per step{divided}"));
        }
        let shown = self.notices.iter().filter(|known| known.notice != HealthNotice::Divided);
        lines.extend(shown.map(|known| self.line(known, steps)));
        lines.extend(self.doubts.iter().map(|doubt| format!("  {:<14} {doubt}", "WARNING")));
        lines
    }

    /// The line of a notice.
    fn line(&self, known: &NoticeCount, steps: u64) -> String {
        let head = if known.notice.is_warning() { "WARNING" } else { "note" };
        let what = match known.notice {
            HealthNotice::OpenJoint => &self.opening(),
            HealthNotice::EnergyGained => &format!("{}{}", known.what, self.gain()),
            _ => &known.what,
        };
        let (n, first) = (known.steps, known.first_step);
        let others = if known.has_others { ", others too" } else { "" };
        let islands = match self.most_fallen_islands {
            n if n > 1 && known.notice == HealthNotice::FirstOrder => format!(", up to {n} islands at once"),
            _ => String::new(),
        };
        format!("  {head:<14} {what} ({n} of {steps} steps, first {first}{others}{islands})")
    }

    /// What is visibly open, if anything is.
    pub(crate) fn visibly_open(&self) -> Option<String> {
        (self.largest_opening > VISIBLE).then(|| {
            format!("{}: use shorter steps, or look for joints that contradict each other", self.opening())
        })
    }

    /// What energy from nothing has made of the motion, if it was much.
    pub(crate) fn exploded(&self) -> Option<String> {
        self.exploded.map(|time| {
            let after = quantity(time);
            format!("after {after} s the scene has ten times the energy that was put in: use shorter steps, stiffer flesh or smaller loads")
        })
    }

    /// How much energy was gained, to be read after the words for it.
    fn gain(&self) -> String {
        let Some(LargestGain { energy, share, step }) = self.largest_gain else { return String::new() };
        let [energy, percent] = [energy, 100.0 * share].map(quantity);
        format!(", up to {energy} J in step {step}, {percent} % of what was exchanged")
    }

    fn opening(&self) -> String {
        let name = self.open_joint.as_deref().unwrap_or_default();
        let percent = quantity(100.0 * self.largest_opening);
        format!("joint `{name}` is left open by up to {percent} % of the size of its bodies")
    }
}

/// Notices, each with whether the result is not what the scene asked for.
fn with_severity<S: serde::Serializer>(counts: &NoticeCounts, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct SevereCount<'a> {
        is_warning: bool,
        #[serde(flatten)]
        count: &'a NoticeCount,
    }
    let counts = counts.iter();
    serializer.collect_seq(counts.map(|count| SevereCount { is_warning: count.notice.is_warning(), count }))
}

impl EnergyWatch {
    /// Begins with a world before its first step.
    fn begin(world: &World) -> Self {
        let in_force_since = world.values_in_force().map(|values| values.at_s);
        Self { account: Some(account(world)), in_force_since, ..Self::default() }
    }

    /// Energy above what was put in, after a step.
    fn excess(&mut self, world: &World) -> EnergyExcess {
        let (model, state, input, settings) = (world.model(), world.state(), world.input(), world.settings());
        let since = world.values_in_force().map(|values| values.at_s);
        if since != self.in_force_since {
            (self.account, self.in_force_since) = (None, since);
        }
        match &mut self.account {
            Some(account) => account.note(model, state, input, settings),
            None => {
                self.account = Some(account(world));
                EnergyExcess::default()
            }
        }
    }
}

/// The account of a world from now on.
fn account(world: &World) -> EnergyAccount {
    EnergyAccount::new(world.model(), world.state(), world.input(), world.settings())
}
