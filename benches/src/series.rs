//! The series of the chain suite: one mechanism in one form of the step, over the number of links.

use crate::timing::STAGES;
use crate::{LinkJoint, Links, MeasureEffort, MechanismRun, Subject, Timing, time_steps};
use allocation_counter::measure;
use serde_json::{Value, json};
use sinew_mechanism::{Implicit, MechanismError, Order, Scheme, Settings, TreeForm};

/// Numbers of links of a series.
pub const SIZES: [usize; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];
/// Stiffness of the joint springs, N·m/rad.
const STIFFNESS: f64 = 10.0;

/// One form of the step on one kind of chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainSeries {
    /// Name in JSON.
    pub key: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Name for a legend.
    pub short_title: &'static str,
    /// What ties the links together.
    pub joint: LinkJoint,
    /// The step.
    pub settings: Settings,
    /// Links of the longest chain.
    pub max_links: usize,
}

impl ChainSeries {
    /// All series, the main one first.
    pub fn all() -> Vec<Self> {
        let new = |key, short_title, title, max_links| Self {
            key,
            title,
            short_title,
            joint: LinkJoint::Hinge(STIFFNESS),
            settings: Settings::default(),
            max_links,
        };
        let with = |series: Self, change: fn(&mut Implicit)| {
            let mut implicit = Implicit::default();
            change(&mut implicit);
            let mut settings = series.settings;
            settings.scheme = Scheme::Implicit(implicit);
            Self { settings, ..series }
        };
        let ball = Self {
            joint: LinkJoint::Ball(STIFFNESS),
            ..new("ball", "Balls", "Ball chain with springs", 1_000_000)
        };
        vec![
            new("hinge", "Hinges", "Hinge chain with springs", 1_000_000),
            ball,
            with(
                new(
                    "block",
                    "Hinges, block form",
                    "Hinge chain, block form (the paper's elimination)",
                    10_000,
                ),
                |s| {
                    s.form = TreeForm::Block;
                },
            ),
            with(
                new("newton", "Hinges, 3 Newton iterations", "Hinge chain, three Newton iterations", 100_000),
                |s| {
                    (s.newton_iterations, s.newton_tolerance) = (3, 0.0);
                },
            ),
            with(
                new("second_order", "Hinges, second order", "Hinge chain, second order (BDF2)", 100_000),
                |s| {
                    s.order = Order::Second;
                },
            ),
        ]
    }

    /// The sizes to measure.
    pub fn sizes(&self, effort: &MeasureEffort) -> impl Iterator<Item = usize> + use<> {
        let max_links = self.max_links.min(effort.max_links);
        SIZES.into_iter().filter(move |&n| n <= max_links)
    }

    /// Measures a chain of `n` links.
    ///
    /// # Errors
    /// If the chain cannot be built.
    pub fn measure(&self, n: usize, effort: &MeasureEffort) -> Result<ChainRow, MechanismError> {
        let links = Links::chain(n, self.joint);
        let mut built = None;
        let held = measure(|| {
            built = Some(links.model().map(|model| {
                let mut run = MechanismRun::new(model, self.settings);
                run.step();
                run.step();
                run
            }));
        });
        drop(links);
        let mut run = built.expect("the closure ran")?;
        let allocations = measure(|| run.step()).count_total;
        let memory = Memory {
            stated: run.bytes() as f64 / n as f64,
            held: held.bytes_current as f64 / n as f64,
            peak: held.bytes_max as f64 / n as f64,
            allocations,
        };
        Ok(ChainRow {
            series: self.key,
            n_links: n,
            timing: time_steps(&mut run, effort),
            memory: Some(memory),
        })
    }
}

/// Memory of a chain, bytes per link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// What model, state and workspace say they hold.
    pub stated: f64,
    /// What the allocator gave them, after two steps.
    pub held: f64,
    /// The most that was held at once while building.
    pub peak: f64,
    /// Allocations of a later step.
    pub allocations: u64,
}

/// One chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainRow {
    /// Key of its series.
    pub series: &'static str,
    /// Number of links.
    pub n_links: usize,
    /// Time of a step.
    pub timing: Timing,
    /// Memory, if it was counted.
    pub memory: Option<Memory>,
}

impl ChainRow {
    /// Microseconds per link per step in the fastest batch.
    pub fn best(&self) -> f64 {
        self.per_link(self.timing.best)
    }

    /// Microseconds per link per step in the middle batch.
    pub fn median(&self) -> f64 {
        self.per_link(self.timing.median)
    }

    /// Microseconds per link per step of each stage.
    pub fn stages(&self) -> [f64; STAGES.len()] {
        self.timing.stages.map(|seconds| self.per_link(seconds))
    }

    /// As a JSON object.
    pub fn to_json(&self) -> Value {
        let mut out = json!({
            "name": format!("{}_{}", self.series, self.n_links),
            "links": self.n_links,
            "us_per_link_best": self.best(),
            "us_per_link_median": self.median(),
            "steps_per_batch": self.timing.n_steps,
        });
        if self.timing.stages.iter().any(|&seconds| seconds > 0.0) {
            let stages = STAGES.iter().zip(self.stages());
            out["us_per_link_stages"] = stages.map(|(stage, time)| (stage.name(), json!(time))).collect();
        }
        if let Some(Memory { stated, held, peak, allocations }) = self.memory {
            out["bytes_per_link"] = json!({ "stated": stated, "held": held, "peak_while_building": peak });
            out["allocations_per_step"] = json!(allocations);
        }
        out
    }

    fn per_link(&self, seconds: f64) -> f64 {
        seconds * 1e6 / self.n_links as f64
    }
}

#[cfg(test)]
mod tests {
    use super::ChainSeries;
    use crate::MeasureEffort;

    #[test]
    fn every_series_measures_a_short_chain_without_allocations() {
        let effort = MeasureEffort { n_batches: 1, batch_work: 100, max_links: 10 };
        for series in ChainSeries::all() {
            assert_eq!(series.sizes(&effort).collect::<Vec<_>>(), [10]);
            let row = series.measure(10, &effort).unwrap();
            let memory = row.memory.unwrap();
            assert!(row.best() > 0.0 && memory.allocations == 0, "{row:?}");
            assert!(memory.stated > 0.0 && memory.held <= memory.peak, "{row:?}");
            let json = row.to_json();
            assert_eq!(json["name"], format!("{}_10", series.key));
            assert!(json["us_per_link_stages"]["eliminate"].as_f64().unwrap() > 0.0, "{json}");
        }
    }
}
