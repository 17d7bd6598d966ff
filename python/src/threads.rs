//! Threads after a fork. The threads of rayon belong to the process that started them: in a child of `fork`, as `multiprocessing` makes them on Linux, they
//! are gone, and whoever waits for them waits forever. A child therefore works in a pool of its own, made when it first needs one.
//!
//! A process that was not forked pays nothing: its work runs where it is called, on the common pool.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How many forks lie between this process and the one that loaded the package.
static FORKS: AtomicU64 = AtomicU64::new(0);
static POOL: Mutex<Option<(u64, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs without the interpreter lock, on threads that exist.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| match FORKS.load(Ordering::Relaxed) {
        0 => work(),
        forks => match pool(forks) {
            Some(pool) => pool.install(work),
            None => work(),
        },
    })
}

/// The pool of this process; none if it may not start threads.
fn pool(forks: u64) -> Option<Arc<ThreadPool>> {
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((made_after, pool)) = &*known
        && *made_after == forks
    {
        return Some(Arc::clone(pool));
    }
    let made = Arc::new(ThreadPoolBuilder::new().build().ok()?);
    // The threads of the one before are in the parent: there is nobody to be told that it is dropped.
    std::mem::forget(known.replace((forks, Arc::clone(&made))));
    Some(made)
}

/// Python calls it in the child of a fork.
#[pyfunction]
pub(crate) fn after_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
