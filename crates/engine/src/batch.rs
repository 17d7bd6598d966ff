//! Many states of one model, advanced by one step each.
//!
//! The result is that of [`crate::step`], to the bit. With the feature `parallel`, the states are shared among the threads of the current
//! rayon pool. Each thread has one [`Workspace`], so scratch does not grow with the number of states. Cost: the sum of the steps,
//! divided by the threads.

#[cfg(feature = "parallel")]
use rayon::prelude::*;
use sinew_mechanism::Input;

use crate::{Model, Settings, State, StepReport, Workspace, step};

/// Advances every state by one step.
///
/// Input `i` belongs to state `i`. If there are fewer inputs than states, the rest gets the last input; an empty list means no
/// input. `workspaces` is scratch: begin with an empty vector and pass it again every time. The reports are in the order of the
/// states.
pub fn step_batch(
    model: &Model,
    states: &mut [State],
    inputs: &[Input],
    settings: &Settings,
    workspaces: &mut Vec<Workspace>,
) -> Vec<StepReport> {
    #[cfg(feature = "parallel")]
    let n_threads = rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    let n_threads = 1;
    let n_lanes = n_threads.clamp(1, states.len().max(1));
    while workspaces.len() < n_lanes {
        workspaces.push(Workspace::new(model));
    }
    let lane_length = states.len().div_ceil(n_lanes).max(1);
    let mut reports = vec![StepReport::default(); states.len()];
    let nothing = Input::default();
    let input_of = |i: usize| inputs.get(i).or(inputs.last()).unwrap_or(&nothing);
    let run = |(lane, ((states, reports), workspace)): (usize, Lane<'_>)| {
        for (i, (state, report)) in states.iter_mut().zip(reports).enumerate() {
            *report = step(model, state, input_of(lane * lane_length + i), settings, workspace);
        }
    };
    let lanes = states.chunks_mut(lane_length).zip(reports.chunks_mut(lane_length)).zip(workspaces);
    let lanes: Vec<(usize, Lane<'_>)> = lanes.enumerate().collect();
    #[cfg(feature = "parallel")]
    lanes.into_par_iter().for_each(run);
    #[cfg(not(feature = "parallel"))]
    lanes.into_iter().for_each(run);
    reports
}

/// States, their reports, and the scratch they share.
type Lane<'a> = ((&'a mut [State], &'a mut [StepReport]), &'a mut Workspace);
