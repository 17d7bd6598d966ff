//! Runs the tasks of a schedule, on several threads with the feature `parallel`.
//!
//! Each task works on its own slice of one flat array, so splitting the array is the only synchronization. Nothing
//! allocates. Results do not depend on the number of threads, nor on which thread runs a task.

use sinew_topology::{NONE, Schedule, Task};
use std::convert::Infallible;

/// Tasks go to another thread only in groups of more pairs than this: about 0.1 ms of work.
pub(crate) const GRAIN: usize = 256;

/// A part of a flat array, and the index of its first entry in the whole array.
pub(crate) struct FlatPart<'a> {
    pub(crate) values: &'a mut [f64],
    pub(crate) start: usize,
}

impl<'a> FlatPart<'a> {
    /// The entries before and from index `at` of the whole.
    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.values.split_at_mut(at - self.start);
        (Self { values: left, start: self.start }, Self { values: right, start: at })
    }

    /// The same part with a shorter lifetime.
    fn reborrow(&mut self) -> FlatPart<'_> {
        FlatPart { values: self.values, start: self.start }
    }
}

/// Leaves → root: `work` on every pair, children before parents, with a part that holds the pair and its
/// parent and starts at `offset` of some pair before it. Returns the first error in elimination order.
#[inline]
pub(crate) fn sweep_up<E: Send>(
    schedule: &Schedule,
    values: &mut [f64],
    offset: &(impl Fn(u32) -> usize + Sync),
    work: &(impl Fn(u32, &mut FlatPart<'_>) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let mut whole = FlatPart { values, start: 0 };
    let tasks = run(&schedule.tasks, whole.reborrow(), offset, &|task, mut part| {
        task.pairs.clone().try_for_each(|pair| work(pair, &mut part).map_err(|error| (pair, error)))
    });
    // A trunk pair before a failed task may have failed first in elimination order.
    let n_done = tasks.as_ref().map_or_else(|&(pair, _)| pair, |()| NONE);
    let mut reachable = schedule.trunk.iter().take_while(|&&pair| pair < n_done);
    let trunk = reachable.try_for_each(|&pair| work(pair, &mut whole));
    trunk.and(tasks.map_err(|(_, error)| error))
}

/// Root → leaves: `work` on every pair, parents before children, in the reverse order of [`sweep_up`].
#[inline]
pub(crate) fn sweep_down(
    schedule: &Schedule,
    values: &mut [f64],
    offset: &(impl Fn(u32) -> usize + Sync),
    work: &(impl Fn(u32, &mut FlatPart<'_>) + Sync),
) {
    let mut whole = FlatPart { values, start: 0 };
    for &pair in schedule.trunk.iter().rev() {
        work(pair, &mut whole);
    }
    let Ok(()) = run(&schedule.tasks, whole, offset, &|task, mut part| {
        task.pairs.clone().rev().for_each(|pair| work(pair, &mut part));
        Ok::<(), Infallible>(())
    });
}

/// Runs `work` on every task, each with the part that starts at `offset(first pair)`. Returns the error of the first
/// task, in order, that failed.
fn run<E: Send>(
    tasks: &[Task],
    mut part: FlatPart<'_>,
    offset: &(impl Fn(u32) -> usize + Sync),
    work: &(impl Fn(&Task, FlatPart<'_>) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let n_pairs: usize = tasks.iter().map(|task| task.pairs.len()).sum();
    if n_pairs <= GRAIN || tasks.len() == 1 {
        return tasks.iter().try_for_each(|task| work(task, part.reborrow()));
    }
    let (left, right) = tasks.split_at(tasks.len() / 2);
    let (left_part, right_part) = part.split_at(offset(right[0].pairs.start));
    let (first, second) =
        join(|| run(left, left_part, offset, work), || run(right, right_part, offset, work));
    first.and(second)
}

#[cfg(feature = "parallel")]
pub(crate) use rayon::join;

#[cfg(not(feature = "parallel"))]
pub(crate) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}
