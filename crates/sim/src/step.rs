//! One step, with the input checked first.
//!
//! An input is whatever a mouse, a tracker or a network sends, so each entry is looked at before it can reach the
//! state: an entry that is not finite, has a negative gain, or names a body or joint that the model does not have
//! is left out of the step and counted in [`Health::ignored_inputs`]. Good inputs are passed on as they are.
//!
//! Cost: one look at each input entry on top of the mechanism's step. Nothing is allocated unless an entry is bad.

use sinew_mechanism::{Drive, Grab, Input, Model, MotorTarget, Settings, Stage, State, Workspace};

use crate::{Health, StepReport};

/// Advances a state by one step of `settings.dt`; the same arguments give the same bits, whatever the workspace
/// was used for before and however many threads there are.
///
/// The state and the workspace must have been made for this model.
pub fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
) -> StepReport {
    step_observed(model, state, input, settings, workspace, &mut |_| {})
}

/// [`step`], telling `done` when each stage has ended. The library reads no clock: whoever wants times takes them
/// there.
pub fn step_observed(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    done: &mut dyn FnMut(Stage),
) -> StepReport {
    let ignored_inputs = count_bad(model, input);
    let cleaned;
    let input = if ignored_inputs == 0 {
        input
    } else {
        cleaned = without_bad(model, input);
        &cleaned
    };
    let mechanism = sinew_mechanism::step_observed(model, state, input, settings, workspace, done);
    StepReport {
        index: step_index(state.time, settings.dt),
        time: state.time,
        mechanism,
        health: Health {
            ignored_inputs,
            regularized: mechanism.regularized,
            non_finite: mechanism.non_finite,
        },
    }
}

/// Number of the step that ends at `time`; 0 at the start.
pub(crate) fn step_index(time: f64, dt: f64) -> u64 {
    (time / dt).round() as u64
}

fn count_bad(model: &Model, input: &Input) -> u32 {
    let bodies = input.kinematic.iter().filter(|(b, p)| !(b.index() < model.n_bodies() && p.is_finite()));
    let wrenches = input.wrenches.iter().filter(|(b, w)| !(b.index() < model.n_bodies() && w.is_finite()));
    let grabs = input.grabs.iter().filter(|g| !is_good_grab(model, g));
    let motors = input.motors.iter().filter(|(j, t)| !(j.index() < model.n_joints() && is_good_target(t)));
    let drives = input.drives.iter().filter(|(j, d)| !(j.index() < model.n_joints() && is_good_drive(d)));
    let scale = usize::from(!is_good_scale(input.spring_scale));
    let n = bodies.count() + wrenches.count() + grabs.count() + motors.count() + drives.count() + scale;
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn without_bad(model: &Model, input: &Input) -> Input {
    let mut out = input.clone();
    out.kinematic.retain(|(b, p)| b.index() < model.n_bodies() && p.is_finite());
    out.wrenches.retain(|(b, w)| b.index() < model.n_bodies() && w.is_finite());
    out.grabs.retain(|g| is_good_grab(model, g));
    out.motors.retain(|(j, t)| j.index() < model.n_joints() && is_good_target(t));
    out.drives.retain(|(j, d)| j.index() < model.n_joints() && is_good_drive(d));
    if !is_good_scale(out.spring_scale) {
        out.spring_scale = 1.0;
    }
    out
}

fn is_good_grab(model: &Model, grab: &Grab) -> bool {
    let gains = [grab.stiffness, grab.damping];
    grab.body.index() < model.n_bodies()
        && grab.point.is_finite()
        && grab.target.is_finite()
        && gains.into_iter().all(|gain| gain.is_finite() && gain >= 0.0)
}

fn is_good_target(target: &MotorTarget) -> bool {
    target.position.is_finite() && target.velocity.is_finite()
}

fn is_good_drive(drive: &Drive) -> bool {
    drive.value.is_finite() && drive.rate.is_finite() && drive.acceleration.is_finite()
}

fn is_good_scale(scale: f64) -> bool {
    scale.is_finite() && scale >= 0.0
}
