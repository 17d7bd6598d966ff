//! What was repaired, divided or left open over all steps of a run.

use serde::Serialize;
use sinew_sim::{StepReport, World};

use crate::text::quantity;

/// Share of the size of its bodies from which an open joint can be seen.
const VISIBLE: f64 = 0.02;

/// Sums and maxima over the steps.
#[derive(Clone, Debug, Default, Serialize)]
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
    /// Steps that left a joint open, by more than a thousandth of the size of its bodies.
    pub(crate) open_steps: u64,
    /// The largest of these errors, relative to the size of the bodies, and its joint.
    pub(crate) largest_opening: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_joint: Option<String>,
}

impl HealthSummary {
    /// Adds a step.
    pub(crate) fn note(&mut self, world: &World, report: &StepReport) {
        let (health, mechanism) = (&report.health, &report.mechanism);
        self.regularized += u64::from(health.regularized);
        self.ignored_inputs += u64::from(health.ignored_inputs);
        self.solves += u64::from(mechanism.iterations);
        self.divided_steps += u64::from(mechanism.substeps > 1);
        self.most_parts = self.most_parts.max(mechanism.substeps);
        if let Some(joint) = health.open_joint {
            self.open_steps += 1;
            if mechanism.unclosed > self.largest_opening {
                self.largest_opening = mechanism.unclosed;
                self.open_joint = Some(world.mechanism().joint_name(joint).to_owned());
            }
        }
    }

    /// Adds another run.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.regularized += other.regularized;
        self.ignored_inputs += other.ignored_inputs;
        self.solves += other.solves;
        self.divided_steps += other.divided_steps;
        self.most_parts = self.most_parts.max(other.most_parts);
        self.open_steps += other.open_steps;
        if other.largest_opening > self.largest_opening {
            self.largest_opening = other.largest_opening;
            self.open_joint.clone_from(&other.open_joint);
        }
    }

    /// The lines of the report, for a number of steps.
    pub(crate) fn lines(&self, steps: u64) -> Vec<String> {
        let mut lines = Vec::new();
        if self.solves > steps {
            let per_step = quantity(self.solves as f64 / steps.max(1) as f64);
            let divided = match self.divided_steps {
                0 => String::new(),
                n => format!("; {n} of {steps} steps divided, into up to {} parts", self.most_parts),
            };
            lines.push(format!("  joints closed  in {per_step} solves per step{divided}"));
        }
        if self.open_steps > 0 {
            lines.push(format!("  OPEN           {} ({} of {steps} steps)", self.opening(), self.open_steps));
        }
        if self.regularized + self.ignored_inputs > 0 {
            let (soft, ignored) = (self.regularized, self.ignored_inputs);
            lines.push(format!(
                "  repaired       {soft} singular pivots made soft, {ignored} invalid inputs ignored"
            ));
        }
        lines
    }

    /// What is visibly open, if anything is.
    pub(crate) fn visibly_open(&self) -> Option<String> {
        (self.largest_opening > VISIBLE).then(|| {
            format!("{}: use shorter steps, or look for joints that contradict each other", self.opening())
        })
    }

    fn opening(&self) -> String {
        let name = self.open_joint.as_deref().unwrap_or_default();
        let percent = quantity(100.0 * self.largest_opening);
        format!("joint `{name}` is left open by up to {percent} % of the size of its bodies")
    }
}
