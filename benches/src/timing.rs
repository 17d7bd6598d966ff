//! Times of steps: the same motion, again and again, in batches.
//!
//! A subject warms up and saves its state. A batch restores that state, times a run of steps, and repeats this until
//! enough work was done; restoring is outside the clock. Of several batches the fastest says what the code can do and
//! the middle one what the machine allowed. Every run must end in the same bits, otherwise batches would not have timed
//! the same thing.

use serde_json::{Value, json};
use sinew_sim::Stage;
use std::{error::Error, time::Instant};

/// Time of a call or a step, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Clock {
    /// In the fastest batch.
    pub(crate) best: f64,
    /// In the middle batch.
    pub(crate) median: f64,
}

impl Clock {
    /// Of the times of all batches.
    pub(crate) fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self { best: times[0], median: times[times.len() / 2] }
    }

    /// As a JSON object, multiplied by a factor.
    pub(crate) fn to_json(self, factor: f64) -> Value {
        json!({ "best": self.best * factor, "median": self.median * factor })
    }
}

/// Any failure to build or to run something.
pub type SuiteFailure = Box<dyn Error + Send + Sync>;

/// Something whose steps can be timed.
pub trait Subject {
    /// Number of links, to divide times by.
    fn n_links(&self) -> usize;
    /// Keeps the present state for [`Subject::restore`].
    fn save(&mut self);
    /// Goes back to the kept state.
    fn restore(&mut self);
    /// One step.
    fn step(&mut self);
    /// One step that tells when each stage has ended; nothing if the stages are unknown.
    fn step_observed(&mut self, done: &mut dyn FnMut(Stage)) {
        let _ = done;
        self.step();
    }
    /// Fingerprint of the state; `None` if restoring is not exact to the bit.
    fn digest(&self) -> Option<u64>;
}

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeasureEffort {
    /// Number of batches.
    pub(crate) n_batches: usize,
    /// Links times steps of a batch, at least.
    pub(crate) batch_work: usize,
    /// Links of the longest chain.
    pub(crate) max_links: usize,
}

/// Steps of one run at most: 4 s of motion, before everything comes to rest.
const RUN_STEPS: usize = 240;
/// Steps of one run at least.
const MIN_STEPS: usize = 3;
/// Steps before the state is saved, at most; a run is warmed up for as many steps as it has.
const WARM_UP_STEPS: usize = 60;

impl MeasureEffort {
    /// For figures to keep: one to two minutes on a quiet machine.
    pub(crate) const FULL: Self = Self { n_batches: 9, batch_work: 500_000, max_links: 1_000_000 };
    /// For a look: a few seconds.
    pub(crate) const QUICK: Self = Self { n_batches: 3, batch_work: 50_000, max_links: 100_000 };

    /// Whether only a look is wanted.
    pub(crate) fn is_quick(&self) -> bool {
        self.batch_work < Self::FULL.batch_work
    }

    fn run_steps(&self, n_links: usize) -> usize {
        (self.batch_work / n_links.max(1)).clamp(MIN_STEPS, RUN_STEPS)
    }
}

/// Stages of the steps of bodies.
pub(crate) const STAGES: [Stage; 6] =
    [Stage::Prepare, Stage::Eliminate, Stage::Substitute, Stage::Refine, Stage::Integrate, Stage::Stabilize];

/// Names of the stages as columns of a table.
pub(crate) fn stage_names() -> String {
    STAGES.map(Stage::name).join(" | ")
}

/// Time of a step, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timing {
    /// The whole of it.
    pub(crate) clock: Clock,
    /// Per stage, in the order of [`STAGES`], over one batch of its own; includes reading the clock. All zero if
    /// the stages are unknown.
    pub(crate) stages: [f64; STAGES.len()],
    /// Steps timed per batch.
    pub(crate) n_steps: usize,
}

/// Times of the steps of one motion that was run several times, s.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StepTimes {
    /// The shortest time of each step.
    least: Vec<f64>,
    /// Mean of each run.
    runs: Vec<f64>,
}

impl StepTimes {
    /// Of a motion of so many steps that has not run yet.
    pub(crate) fn new(n_steps: usize) -> Self {
        Self { least: vec![f64::INFINITY; n_steps], runs: vec![] }
    }

    /// Adds a step of the run that began with the last step 0.
    pub(crate) fn add(&mut self, step: usize, seconds: f64) {
        if step == 0 {
            self.runs.push(0.0);
        }
        if let Some(run) = self.runs.last_mut() {
            *run += seconds / self.least.len() as f64;
        }
        self.least[step] = self.least[step].min(seconds);
    }

    /// Mean over the steps, each at its shortest: what the code can do.
    pub(crate) fn best(&self) -> f64 {
        self.least.iter().sum::<f64>() / self.least.len() as f64
    }

    /// The longest step, at its shortest.
    pub(crate) fn longest(&self) -> f64 {
        self.least.iter().copied().fold(0.0, f64::max)
    }

    /// Mean of the middle run: what the machine allowed.
    pub(crate) fn median(&self) -> f64 {
        Clock::of(self.runs.clone()).median
    }
}

/// Warms up, saves, and times batches.
///
/// # Panics
/// If two runs from the same state end in different ones.
pub(crate) fn time_steps(subject: &mut impl Subject, effort: &MeasureEffort) -> Timing {
    let run_steps = effort.run_steps(subject.n_links());
    let n_runs = (effort.batch_work / (run_steps * subject.n_links().max(1))).max(1);
    for _ in 0..run_steps.min(WARM_UP_STEPS) {
        subject.step();
    }
    subject.save();
    let mut end = None;
    let mut batch = |subject: &mut _, run: &mut dyn FnMut(&mut _, usize)| {
        let mut seconds = 0.0;
        for _ in 0..n_runs {
            Subject::restore(subject);
            let start = Instant::now();
            run(subject, run_steps);
            seconds += start.elapsed().as_secs_f64();
            let digest = Subject::digest(subject);
            assert_eq!(*end.get_or_insert(digest), digest, "a run from the same state ended elsewhere");
        }
        seconds / (n_runs * run_steps) as f64
    };
    let times = (0..effort.n_batches.max(1))
        .map(|_| batch(subject, &mut |subject, n| (0..n).for_each(|_| subject.step())));
    let clock = Clock::of(times.collect());
    let mut stages = [0.0; STAGES.len()];
    batch(subject, &mut |subject, n| (0..n).for_each(|_| observe(subject, &mut stages)));
    let n_steps = n_runs * run_steps;
    Timing { clock, stages: stages.map(|seconds| seconds / n_steps as f64), n_steps }
}

/// One step whose stages are added to `stages`.
pub(crate) fn observe(subject: &mut impl Subject, stages: &mut [f64; STAGES.len()]) {
    let mut last = Instant::now();
    subject.step_observed(&mut |stage| {
        let now = Instant::now();
        let index = STAGES.iter().position(|&other| other == stage);
        stages[index.unwrap_or(0)] += (now - last).as_secs_f64();
        last = now;
    });
}

#[cfg(test)]
mod tests {
    use super::{MeasureEffort, Subject, time_steps};

    /// Counts its steps.
    struct Counter {
        now: u64,
        saved: u64,
        total: u64,
    }

    impl Subject for Counter {
        fn n_links(&self) -> usize {
            10
        }
        fn save(&mut self) {
            self.saved = self.now;
        }
        fn restore(&mut self) {
            self.now = self.saved;
        }
        fn step(&mut self) {
            self.now += 1;
            self.total += 1;
        }
        fn digest(&self) -> Option<u64> {
            Some(self.now)
        }
    }

    #[test]
    fn batches_have_the_asked_amount_of_work() {
        let effort = MeasureEffort { n_batches: 5, batch_work: 4800, max_links: 10 };
        let mut counter = Counter { now: 0, saved: 0, total: 0 };
        let timing = time_steps(&mut counter, &effort);
        // Two runs of 240 steps in each of five batches and the one with stages, after 60 steps of warm-up.
        assert_eq!((timing.n_steps, counter.total), (480, 60 + 6 * 480));
        assert!(timing.clock.best <= timing.clock.median);
    }

    #[test]
    fn long_chains_still_get_steps() {
        assert_eq!(MeasureEffort::FULL.run_steps(1_000_000), super::MIN_STEPS);
        assert_eq!(MeasureEffort::QUICK.run_steps(10), super::RUN_STEPS);
    }
}
