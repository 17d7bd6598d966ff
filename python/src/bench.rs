//! The loops of `python/benches/overhead.py` in Rust: what a program without Python would do, timed in seconds.

use std::time::Instant;

use pyo3::prelude::*;
use sinew_sim::{State, Workspace, step_batch};

use crate::batch::PyBatch;
use crate::threads::detached;
use crate::world::PyWorld;

/// So many steps of a copy of a world, from its beginning.
#[pyfunction]
pub(crate) fn bench_steps(py: Python<'_>, world: &PyWorld, n: u64) -> PyResult<f64> {
    let mut world = world.lock()?.world.clone();
    world.reset();
    Ok(detached(py, || {
        let begin = Instant::now();
        for _ in 0..n {
            world.step();
        }
        begin.elapsed().as_secs_f64()
    }))
}

/// So many steps of the states where the members of a batch begin, by `step_batch`.
#[pyfunction]
pub(crate) fn bench_batch(py: Python<'_>, batch: &PyBatch, n: u64) -> PyResult<f64> {
    let members = batch.lock()?;
    let world = members.world.clone();
    let mut states: Vec<State> = vec![world.checkpoint(); members.all.len()];
    drop(members);
    let input = world.input_at(world.time());
    Ok(detached(py, || {
        let mut workspaces: Vec<Workspace> = Vec::new();
        let begin = Instant::now();
        for _ in 0..n {
            step_batch(
                world.model(),
                &mut states,
                std::slice::from_ref(&input),
                world.settings(),
                &mut workspaces,
            );
        }
        begin.elapsed().as_secs_f64()
    }))
}
