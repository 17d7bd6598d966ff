//! The series of the chain suite: one mechanism in one form of the step, over the number of links.

use crate::timing::STAGES;
use crate::{LinkJoint, Links, MeasureEffort, MechanismRun, Subject, Timing, time_steps};
use allocation_counter::measure;
use serde_json::{Value, json};
use sinew_mechanism::{Implicit, MechanismError, Order, Scheme, Settings, TreeForm};

/// Numbers of links of a series.
pub(crate) const SIZES: [usize; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];
/// Stiffness of the joint springs, N·m/rad.
const STIFFNESS: f64 = 10.0;

/// One form of the step on one kind of chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChainSeries {
    /// Name in JSON.
    pub(crate) key: &'static str,
    /// Name for people.
    pub(crate) title: &'static str,
    /// Name for a legend.
    pub(crate) short_title: &'static str,
    /// What ties the links together.
    pub(crate) joint: LinkJoint,
    /// The step.
    pub(crate) settings: Settings,
    /// Links of the longest chain.
    pub(crate) max_links: usize,
}

impl ChainSeries {
    /// All series, the main one first.
    pub(crate) fn all() -> Vec<Self> {
        let [hinge, ball] = [LinkJoint::Hinge(STIFFNESS), LinkJoint::Ball(STIFFNESS)];
        let series = |key, short_title, title, joint, max_links, change: fn(&mut Implicit)| {
            let (mut implicit, mut settings) = (Implicit::default(), Settings::default());
            change(&mut implicit);
            settings.scheme = Scheme::Implicit(implicit);
            Self { key, title, short_title, joint, settings, max_links }
        };
        let block = "Hinge chain, block form (the paper's elimination)";
        let newton = "Hinge chain, three Newton iterations";
        let second = "Hinge chain, second order (BDF2)";
        vec![
            series("hinge", "Hinges", "Hinge chain with springs", hinge, 1_000_000, |_| {}),
            series("ball", "Balls", "Ball chain with springs", ball, 1_000_000, |_| {}),
            series("block", "Hinges, block form", block, hinge, 10_000, |s| s.form = TreeForm::Block),
            series("newton", "Hinges, 3 Newton iterations", newton, hinge, 100_000, |s| {
                (s.newton_iterations, s.newton_tolerance) = (3, 0.0);
            }),
            series("second_order", "Hinges, second order", second, hinge, 100_000, |s| {
                s.order = Order::Second
            }),
        ]
    }

    /// The sizes to measure.
    pub(crate) fn sizes(&self, effort: &MeasureEffort) -> impl Iterator<Item = usize> + use<> {
        let max_links = self.max_links.min(effort.max_links);
        SIZES.into_iter().filter(move |&n| n <= max_links)
    }

    /// Measures a chain of `n` links.
    pub(crate) fn measure(&self, n: usize, effort: &MeasureEffort) -> Result<ChainRow, MechanismError> {
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
        let timing = time_steps(&mut run, effort);
        Ok(ChainRow { series: self.key, n_links: n, timing, memory: Some(memory) })
    }
}

/// Memory of a chain, bytes per link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Memory {
    /// What model, state and workspace say they hold.
    pub(crate) stated: f64,
    /// What the allocator gave them, after two steps.
    pub(crate) held: f64,
    /// The most that was held at once while building.
    pub(crate) peak: f64,
    /// Allocations of a later step.
    pub(crate) allocations: u64,
}

/// One chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChainRow {
    /// Key of its series.
    pub(crate) series: &'static str,
    /// Number of links.
    pub(crate) n_links: usize,
    /// Time of a step.
    pub(crate) timing: Timing,
    /// Memory, if it was counted.
    pub(crate) memory: Option<Memory>,
}

impl ChainRow {
    /// Microseconds per link per step in the fastest batch.
    pub(crate) fn best(&self) -> f64 {
        self.per_link(self.timing.clock.best)
    }

    /// Microseconds per link per step in the middle batch.
    pub(crate) fn median(&self) -> f64 {
        self.per_link(self.timing.clock.median)
    }

    /// Microseconds per link per step of each stage.
    pub(crate) fn stages(&self) -> [f64; STAGES.len()] {
        self.timing.stages.map(|seconds| self.per_link(seconds))
    }

    /// As a JSON object.
    pub(crate) fn to_json(self) -> Value {
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
