//! A visitor behind the work that it visits, on two threads with the feature `parallel`.
//!
//! The visitor sees all batches in order, one at a time, as on one thread; meanwhile the next batch is computed. So the number of
//! threads changes no bits. Nothing allocates here.

#[cfg(feature = "parallel")]
use rayon::join;

#[cfg(not(feature = "parallel"))]
fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

/// Whether there is a second thread.
pub(crate) fn has_threads() -> bool {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads() > 1;
    #[cfg(not(feature = "parallel"))]
    return false;
}

/// Fills a batch from each item and visits it.
pub(crate) fn visit_behind<T: Send, B: Send + Sync>(
    mut items: impl Iterator<Item = T>,
    [mut now, mut next]: [&mut B; 2],
    fill: &(impl Fn(T, &mut B) + Sync),
    visit: &mut (impl FnMut(&B) + Send),
) {
    if !has_threads() {
        // One batch stays in the cache.
        return items.for_each(|item| {
            fill(item, now);
            visit(now);
        });
    }
    let Some(first) = items.next() else { return };
    fill(first, now);
    for item in items {
        join(|| visit(now), || fill(item, next));
        std::mem::swap(&mut now, &mut next);
    }
    visit(now);
}
