//! Loops over large arrays, on several threads with the feature `parallel`.
//!
//! An array is halved until its slices are short. Where, depends on its length only, so the sums have the same bits at any number
//! of threads. Short arrays stay whole. Nothing allocates.

use crate::threads::join;

/// Longest slice of nodes, and of numbers, that is not halved: about 0.02 ms of work.
pub(crate) const NODES: usize = 4096;
pub(crate) const NUMBERS: usize = 3 * NODES;

/// Calls `work` with the first index and the values of each slice, at most `longest` of them.
pub(crate) fn for_slices<T: Send>(
    values: &mut [T],
    longest: usize,
    work: &(impl Fn(usize, &mut [T]) + Sync),
) {
    sum_slices((0, values), longest, &|first, values| {
        work(first, values);
        0.0
    });
}

/// [`for_slices`] of the values from index `first` on, and the sum of what `work` returns.
pub(crate) fn sum_slices<T: Send>(
    (first, values): (usize, &mut [T]),
    longest: usize,
    work: &(impl Fn(usize, &mut [T]) -> f64 + Sync),
) -> f64 {
    if values.len() <= longest {
        return work(first, values);
    }
    let half = values.len() / 2;
    let (low, high) = values.split_at_mut(half);
    let (low, high) =
        join(|| sum_slices((first, low), longest, work), || sum_slices((first + half, high), longest, work));
    low + high
}
