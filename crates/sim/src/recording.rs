//! Recordings of runs, from which the state after any step can be restored.
//!
//! A recording keeps the input of every step and a copy of the state every `every` steps. States between are found by stepping again
//! from the copy before, which gives the same bits because a step depends on nothing else.
//! Memory: one state per `every` steps and one input per step. Cost of a rewind: at most `every − 1` steps.

use std::num::NonZeroUsize;

use sinew_engine::{Model, Settings, State, Workspace, step};
use sinew_mechanism::Input;

/// Inputs and checkpoints of a run with one model and one set of settings.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Recording {
    every: NonZeroUsize,
    /// State after step `i · every`.
    checkpoints: Vec<State>,
    inputs: Vec<Input>,
}

impl Recording {
    /// Begins at a state; a copy of the state is kept every `every` steps (at least 1).
    pub fn new(start: &State, every: usize) -> Self {
        let every = NonZeroUsize::new(every).unwrap_or(NonZeroUsize::MIN);
        Self { every, checkpoints: vec![start.clone()], inputs: Vec::new() }
    }

    /// Number of steps recorded.
    pub fn n_steps(&self) -> usize {
        self.inputs.len()
    }

    /// The inputs, one per step.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Notes a step: the input it was made with, and the state it led to.
    pub fn push(&mut self, input: &Input, after: &State) {
        self.inputs.push(input.clone());
        if self.inputs.len().is_multiple_of(self.every.get()) {
            self.checkpoints.push(after.clone());
        }
    }

    /// The state after `n_steps` steps, with the bits it had then; `None` if so many were not recorded.
    ///
    /// The model and the settings must be those of the run.
    pub fn state_after(
        &self,
        n_steps: usize,
        model: &Model,
        settings: &Settings,
        workspace: &mut Workspace,
    ) -> Option<State> {
        let missed = self.inputs.get(n_steps - n_steps % self.every..n_steps)?;
        let mut state = self.checkpoints.get(n_steps / self.every)?.clone();
        for input in missed {
            step(model, &mut state, input, settings, workspace);
        }
        Some(state)
    }

    /// Forgets everything after `n_steps` steps, so that the run can take another turn from there.
    pub fn truncate(&mut self, n_steps: usize) {
        self.inputs.truncate(n_steps);
        self.checkpoints.truncate(n_steps / self.every + 1);
    }
}
