//! The loops of `python/benches/overhead.py` in Rust: what a program without Python would do, timed in seconds and in slices: a run repeats
//! itself to the bit, so the least time of a slice over several runs is that of the same work without what else the machine did.

use std::time::Instant;

use pyo3::prelude::*;
use sinew_sim::{Input, State, step_batch};

use crate::batch::PyBatch;
use crate::threads::detached;
use crate::world::PyWorld;

/// So many slices of so many steps of a copy of a world, from its beginning; the time of each slice.
#[pyfunction]
pub(crate) fn bench_steps(py: Python<'_>, world: &PyWorld, slices: usize, steps: u64) -> PyResult<Vec<f64>> {
    let mut world = world.lock()?.world.clone();
    world.reset();
    let mut slice = || {
        let begin = Instant::now();
        for _ in 0..steps {
            world.step();
        }
        begin.elapsed().as_secs_f64()
    };
    Ok(detached(py, || (0..slices).map(|_| slice()).collect()))
}

/// So many steps of states where the members of a batch begin, by `step_batch`, with the recorded input; the time of each step.
#[pyfunction]
pub(crate) fn bench_batch(py: Python<'_>, batch: &PyBatch, steps: usize) -> PyResult<Vec<f64>> {
    let (world, n) = {
        let members = batch.lock()?;
        (members.world.clone(), members.all.len())
    };
    let mut states: Vec<State> = vec![world.checkpoint(); n];
    let (mut input, mut workspaces) = (Input::default(), Vec::new());
    let mut step = || {
        let begin = Instant::now();
        world.fill_input(&states[0], &mut input);
        step_batch(
            world.model(),
            &mut states,
            std::slice::from_ref(&input),
            world.settings(),
            &mut workspaces,
        );
        begin.elapsed().as_secs_f64()
    };
    Ok(detached(py, || (0..steps).map(|_| step()).collect()))
}
