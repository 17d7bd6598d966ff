//! Work on chunks of a slice: on all threads of the pool with feature `parallel`, else one after the other.
//!
//! Chunks are independent, so results do not depend on the number of threads.

/// Calls `work` with scratch memory, the index of a chunk, and the chunk of `length` elements (the last may be
/// shorter).
#[cfg(feature = "parallel")]
pub(crate) fn for_each_chunk<T: Send, S>(
    all: &mut [T],
    length: usize,
    scratch: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, usize, &mut [T]) + Send + Sync,
) {
    use rayon::prelude::*;
    all.par_chunks_mut(length)
        .enumerate()
        .for_each_init(scratch, |scratch, (i, part)| work(scratch, i, part));
}

/// Calls `work` with scratch memory, the index of a chunk, and the chunk of `length` elements (the last may be
/// shorter).
#[cfg(not(feature = "parallel"))]
pub(crate) fn for_each_chunk<T, S>(
    all: &mut [T],
    length: usize,
    scratch: impl Fn() -> S,
    work: impl Fn(&mut S, usize, &mut [T]),
) {
    let mut scratch = scratch();
    all.chunks_mut(length).enumerate().for_each(|(i, part)| work(&mut scratch, i, part));
}
