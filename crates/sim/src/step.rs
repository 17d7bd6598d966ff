//! One step, with the input checked first.
//!
//! An input is whatever a mouse, a tracker or a network sends. The mechanism leaves alone what makes no sense (not finite,
//! a negative gain, a body or joint that is not there or cannot take it); here such entries are counted in
//! [`Health::ignored_inputs`], so that nothing is hidden. Cost: one look at each entry; nothing is allocated.

use sinew_mechanism::{Input, Model, Settings, Stage, State, Watch, Workspace};

use crate::{Health, StepReport};

/// Advances a state by one step of `settings.dt`; the same arguments give the same bits, whatever the workspace
/// was used for before and however many threads there are.
///
/// A step length that is not positive and a state of another model are refused, see [`Health::refused`].
pub fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
) -> StepReport {
    step_observed(model, state, input, settings, workspace, &mut |_: Stage| {})
}

/// [`step`], watched: told when each stage has ended, and asked whether to go on refining loops. The library reads no
/// clock: whoever wants times, or has a time budget, reads it there.
pub fn step_observed(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    watch: &mut dyn Watch,
) -> StepReport {
    let ignored_inputs = input.n_unusable(model);
    let mechanism = sinew_mechanism::step_observed(model, state, input, settings, workspace, watch);
    StepReport {
        index: step_index(state.time, settings.dt),
        time: state.time,
        mechanism,
        health: Health {
            ignored_inputs,
            regularized: mechanism.regularized,
            non_finite: mechanism.non_finite,
            refused: mechanism.refused,
        },
    }
}

/// Number of the step that ends at `time`; 0 at the start.
pub(crate) fn step_index(time: f64, dt: f64) -> u64 {
    (time / dt).round() as u64
}
