//! Notices of many steps: each kind once, with how often and since when it was told. Cost: a look at the report of each step; text is made
//! when a kind is told for the first time.

use crate::{Culprit, HealthNotice, Model, StepReport};

/// A notice over many steps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct NoticeCount {
    /// Which one.
    pub notice: HealthNotice,
    /// What it was about when it was told first.
    pub culprit: Culprit,
    /// In words, with the name of the culprit.
    pub what: String,
    /// Whether it was told of others too.
    pub has_others: bool,
    /// Steps in which it was told.
    pub steps: u64,
    /// The first of them.
    pub first_step: u64,
}

/// Notices of many steps, warnings first.
///
/// ```
/// use sinew_engine::NoticeCounts;
///
/// let counts = NoticeCounts::default();
/// assert!(counts.are_good() && counts.iter().next().is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct NoticeCounts {
    /// Sorted by notice.
    counts: Vec<NoticeCount>,
}

impl NoticeCounts {
    /// Adds what a step of `model` tells.
    pub fn note(&mut self, report: &StepReport, model: &Model) {
        for notice in report.notices() {
            self.add(notice, 1, report.index, || notice.0.tell(notice.1, model));
        }
    }

    /// Adds a notice of the whole model, of `steps` steps, the first of them `first`.
    pub fn note_of_model(&mut self, notice: HealthNotice, steps: u64, first: u64, model: &Model) {
        self.add((notice, Culprit::Model), steps, first, || notice.tell(Culprit::Model, model));
    }

    /// Adds a notice of `steps` steps, the first of them `first`, in the words that `tell` gives.
    fn add(
        &mut self,
        (notice, culprit): (HealthNotice, Culprit),
        steps: u64,
        first: u64,
        tell: impl FnOnce() -> String,
    ) {
        let at = self.counts.partition_point(|known| known.notice < notice);
        match self.counts.get_mut(at).filter(|known| known.notice == notice) {
            Some(known) => {
                known.steps += steps;
                known.first_step = known.first_step.min(first);
                known.has_others |= known.culprit != culprit;
            }
            None => {
                let what = tell();
                let new = NoticeCount { notice, culprit, what, has_others: false, steps, first_step: first };
                self.counts.insert(at, new);
            }
        }
    }

    /// Adds the notices of another run.
    pub fn merge(&mut self, other: &Self) {
        for count in &other.counts {
            self.add((count.notice, count.culprit), count.steps, count.first_step, || count.what.clone());
        }
    }

    /// All of them, warnings first.
    pub fn iter(&self) -> impl Iterator<Item = &NoticeCount> {
        self.counts.iter()
    }

    /// How often a notice was told; none if it was not.
    pub fn get(&self, notice: HealthNotice) -> Option<&NoticeCount> {
        self.iter().find(|count| count.notice == notice)
    }

    /// Whether there is no warning.
    pub fn are_good(&self) -> bool {
        self.iter().all(|count| !count.notice.is_warning())
    }
}
