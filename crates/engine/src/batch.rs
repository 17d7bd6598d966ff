//! Many states of one model, advanced by one step each.
//!
//! The result is that of [`crate::step`], to the bit. With the feature `parallel`, the states are shared among the threads of the current
//! rayon pool. Each thread has one [`Workspace`], so scratch does not grow with the number of states. Cost: the sum of the steps,
//! divided by the threads.

use sinew_mechanism::Input;

use crate::model::Model;
use crate::report::StepReport;
use crate::settings::Settings;
use crate::state::State;
use crate::step::step;
use crate::workspace::Workspace;

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
    let lanes = n_lanes().clamp(1, states.len().max(1));
    while workspaces.len() < lanes {
        workspaces.push(Workspace::new(model));
    }
    let lane_length = states.len().div_ceil(lanes).max(1);
    let mut reports = vec![StepReport::default(); states.len()];
    let nothing = Input::default();
    let input_of = |i: usize| inputs.get(i).or(inputs.last()).unwrap_or(&nothing);
    let run = |(lane, ((states, reports), workspace)): (usize, Lane<'_>)| {
        for (i, (state, report)) in states.iter_mut().zip(reports).enumerate() {
            *report = step(model, state, input_of(lane * lane_length + i), settings, workspace);
        }
    };
    for_each_lane(states, &mut reports, workspaces, lane_length, run);
    reports
}

/// States, their reports, and the scratch they share.
type Lane<'a> = ((&'a mut [State], &'a mut [StepReport]), &'a mut Workspace);

#[cfg(feature = "parallel")]
fn n_lanes() -> usize {
    rayon::current_num_threads()
}

#[cfg(not(feature = "parallel"))]
fn n_lanes() -> usize {
    1
}

#[cfg(feature = "parallel")]
fn for_each_lane(
    states: &mut [State],
    reports: &mut [StepReport],
    workspaces: &mut [Workspace],
    lane_length: usize,
    run: impl Fn((usize, Lane<'_>)) + Sync + Send,
) {
    use rayon::prelude::*;
    states
        .par_chunks_mut(lane_length)
        .zip(reports.par_chunks_mut(lane_length))
        .zip(workspaces.par_iter_mut())
        .enumerate()
        .for_each(run);
}

#[cfg(not(feature = "parallel"))]
fn for_each_lane(
    states: &mut [State],
    reports: &mut [StepReport],
    workspaces: &mut [Workspace],
    lane_length: usize,
    run: impl Fn((usize, Lane<'_>)),
) {
    states
        .chunks_mut(lane_length)
        .zip(reports.chunks_mut(lane_length))
        .zip(workspaces)
        .enumerate()
        .for_each(run);
}
