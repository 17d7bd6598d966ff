//! What was seen of endless scenes that take turns: a round gives each of them a slice of computing time. Bounds are judged at the end, or at
//! any time before.
//!
//! Memory is flat if its median in the last quarter of the rounds is above that in the second by no more than 2 % or 1 MB, whichever is more: in the
//! first quarter buffers grow to what the scenes need. Below eight rounds it is not judged.

use crate::endless::{EndlessRun, SliceWorst};

/// Growth of memory that is still flat: share, and bytes.
const GROWTH: (f64, f64) = (0.02, 1e6);
/// Rounds from which memory is judged.
const ENOUGH: usize = 8;

/// The turn of one scene.
#[derive(Clone, Copy, Debug, Default)]
pub struct SceneSlice {
    /// Worst values of its steps.
    pub worst: SliceWorst,
    /// Computing time (s).
    pub seconds: f64,
    /// Growth of resident memory (bytes), if the system tells it.
    pub grown: Option<f64>,
}

/// The turns of all scenes.
#[derive(Clone, Debug)]
pub struct SoakRound {
    /// When it ended, from the beginning of the soak (s).
    pub time: f64,
    /// Resident memory at its end (bytes), if the system tells it.
    pub resident: Option<f64>,
    /// One per scene.
    pub slices: Vec<SceneSlice>,
}

/// All rounds so far.
#[derive(Clone, Debug, Default)]
pub struct SoakLog {
    /// In order.
    pub rounds: Vec<SoakRound>,
}

/// A bound and what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SoakVerdict {
    /// The scene; empty for the whole process.
    pub scene: &'static str,
    /// What is bounded, with its unit.
    pub what: &'static str,
    /// The bound.
    pub bound: f64,
    /// The largest value.
    pub found: f64,
    /// Whether it holds.
    pub holds: bool,
}

impl SoakLog {
    /// All bounds. Gaps are judged where there are joints, depths where there are contacts, excess where nothing is
    /// prescribed.
    pub fn verdicts(&self, runs: &[EndlessRun]) -> Vec<SoakVerdict> {
        let mut verdicts: Vec<SoakVerdict> = self.memory().into_iter().collect();
        for (i, run) in runs.iter().enumerate() {
            let (worst, bounds) = (self.worst(i), run.bounds());
            let lost = f64::from(u8::from(worst.is_lost));
            let rows = [
                ("largest gap (mm)", 1e3 * bounds.gap, 1e3 * worst.gap, bounds.gap > 0.0),
                ("largest depth (mm)", 1e3 * bounds.depth, 1e3 * worst.depth, bounds.depth > 0.0),
                ("kinetic energy (J/kg)", bounds.kinetic, worst.kinetic, true),
                ("energy without source (%)", 1e2 * bounds.excess, 1e2 * worst.excess, worst.accounted > 0),
                ("motion lost", 0.0, lost, true),
            ];
            for (what, bound, found, _) in rows.into_iter().filter(|row| row.3) {
                verdicts.push(SoakVerdict { scene: run.name(), what, bound, found, holds: found <= bound });
            }
        }
        verdicts
    }

    /// Worst values of a scene.
    pub fn worst(&self, scene: usize) -> SliceWorst {
        self.rounds.iter().fold(SliceWorst::default(), |worst, round| worst.and(round.slices[scene].worst))
    }

    /// Steps per second of a scene in a quarter of the rounds, counted from 0.
    pub fn speed(&self, scene: usize, quarter: usize) -> f64 {
        let (mut steps, mut seconds) = (0.0, 0.0);
        for round in self.quarter(quarter) {
            steps += round.slices[scene].worst.steps as f64;
            seconds += round.slices[scene].seconds;
        }
        steps / seconds
    }

    /// By how much memory grew in the turns of a scene after the first quarter (bytes).
    pub fn grown(&self, scene: usize) -> f64 {
        let later = self.rounds.iter().skip(self.rounds.len() / 4);
        later.filter_map(|round| round.slices[scene].grown).sum()
    }

    /// Whether memory is flat; none if that is not known.
    fn memory(&self) -> Option<SoakVerdict> {
        let median = |quarter: usize| {
            let mut values: Vec<f64> = self.quarter(quarter).iter().filter_map(|it| it.resident).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied()
        };
        let (early, late) = (median(1)?, median(3)?);
        let bound = (GROWTH.0 * early).max(GROWTH.1);
        let found = late - early;
        (self.rounds.len() >= ENOUGH).then_some(SoakVerdict {
            scene: "",
            what: "growth of memory (kB)",
            bound: 1e-3 * bound,
            found: 1e-3 * found,
            holds: found <= bound,
        })
    }

    fn quarter(&self, quarter: usize) -> &[SoakRound] {
        let at = |k: usize| k * self.rounds.len() / 4;
        &self.rounds[at(quarter)..at(quarter + 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::{SoakLog, SoakRound};

    fn log(resident: impl Fn(f64) -> f64) -> SoakLog {
        let round = |i: u32| SoakRound {
            time: f64::from(i),
            resident: Some(resident(f64::from(i))),
            slices: Vec::new(),
        };
        SoakLog { rounds: (0..100).map(round).collect() }
    }

    #[test]
    fn memory_that_grows_to_what_is_needed_is_flat_and_a_leak_is_not() {
        let filled = log(|i| 80e6 + 20e6 * (i / 10.0).min(1.0)).memory().expect("enough rounds");
        assert!(filled.holds && filled.found == 0.0, "{filled:?}");
        let leak = log(|i| 100e6 + 0.1e6 * i).memory().expect("enough rounds");
        assert!(!leak.holds, "{leak:?}");
        assert!((leak.found - 5e3).abs() < 1e-6 && (leak.bound - 0.02 * 103.7e3).abs() < 10.0, "{leak:?}");
    }

    #[test]
    fn memory_of_a_few_rounds_is_not_judged() {
        let mut few = log(|_| 1e6);
        few.rounds.truncate(7);
        assert_eq!(few.memory(), None);
    }
}
