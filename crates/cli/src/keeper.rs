//! When checkpoints of a run are due, and what became of writing them; nothing for runs without.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::args::CheckpointInterval;
use crate::checkpoint::CheckpointFolder;
use crate::error::CommandError;
use crate::print::print_error;
use crate::run_key::RunKey;

/// Checkpoints by the clock take at most one part in so many of the time.
const SHARE: u32 = 20;

/// Keeps checkpoints of a run, if they are wanted.
pub(crate) struct Keeper<'a>(Option<Kept<'a>>);

struct Kept<'a> {
    folder: &'a CheckpointFolder,
    /// Number of the member, from 1, and what tells its run from others.
    member: usize,
    key: RunKey,
    every: CheckpointInterval,
    /// When the last checkpoint was written, and how long that took.
    last: Instant,
    took: Duration,
    /// The first that could not be written.
    fault: Option<String>,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(
        folder: Option<(&'a CheckpointFolder, CheckpointInterval)>,
        member: usize,
        key: RunKey,
    ) -> Self {
        Self(folder.map(|(folder, every)| Kept {
            folder,
            member,
            key,
            every,
            last: Instant::now(),
            took: Duration::ZERO,
            fault: None,
        }))
    }

    /// The name of the run in part files, if it can be resumed.
    pub(crate) fn run(&self) -> Option<&'a str> {
        self.0.as_ref().map(|kept| kept.folder.run())
    }

    /// What was saved of the member when it was finished.
    pub(crate) fn finished<T: DeserializeOwned>(&self) -> Result<Option<T>, CommandError> {
        self.0.as_ref().map_or(Ok(None), |kept| kept.folder.finished(kept.member, &kept.key))
    }

    /// The last checkpoint of the member.
    pub(crate) fn latest<T: DeserializeOwned>(&self) -> Result<Option<T>, CommandError> {
        self.0.as_ref().map_or(Ok(None), |kept| kept.folder.latest(kept.member, &kept.key))
    }

    /// Whether a checkpoint is due after a step.
    pub(crate) fn is_due(&self, step: u64) -> bool {
        self.0.as_ref().is_some_and(|kept| match kept.every {
            CheckpointInterval::Steps(n) => step.is_multiple_of(n),
            CheckpointInterval::Seconds(seconds) => {
                kept.last.elapsed().as_secs_f64() >= seconds.max((SHARE * kept.took).as_secs_f64())
            }
        })
    }

    /// Saves the member after a step.
    pub(crate) fn save(&mut self, step: u64, saved: &impl Serialize) -> Result<(), String> {
        let Some(kept) = &mut self.0 else { return Ok(()) };
        let begin = Instant::now();
        let done = kept.folder.save((kept.member, step), &kept.key, saved);
        kept.last = Instant::now();
        kept.took = kept.last - begin;
        done
    }

    /// Notes that a checkpoint could not be written. The run goes on: the one before is still there, and the next one may succeed.
    pub(crate) fn note_fault(&mut self, fault: String) {
        let Some(kept) = &mut self.0 else { return };
        if kept.fault.is_none() {
            print_error(&format!("{fault}; the run goes on"));
            kept.fault = Some(fault);
        }
    }

    /// The first checkpoint that could not be written, as an error of the run.
    pub(crate) fn take_fault(&mut self) -> Option<String> {
        self.0.as_mut()?.fault.take()
    }

    /// Saves that the member is finished.
    pub(crate) fn finish(&self, saved: &impl Serialize) -> Result<(), String> {
        self.0.as_ref().map_or(Ok(()), |kept| kept.folder.finish(kept.member, &kept.key, saved))
    }
}
