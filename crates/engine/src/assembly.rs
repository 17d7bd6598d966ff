//! Assembly: bodies move until the joints are met, and flesh moves with its bones.

use sinew_mechanism::{Assembly, AssemblyOutcome, AssemblyReport, Input};

use crate::model::Model;
use crate::settings::Settings;
use crate::state::State;
use crate::workspace::Workspace;

/// Moves the bodies until the joints are met: kinematic bodies at the targets of the input, hard grabs as trackers (inverse
/// kinematics). Flesh goes along ([`sinew_flesh::FleshModel::carry`]).
pub fn assemble(
    model: &Model,
    state: &mut State,
    input: &Input,
    assembly: &Assembly,
    settings: &Settings,
    workspace: &mut Workspace,
) -> AssemblyReport {
    workspace.forget_last_step();
    let before = model.flesh().map(|_| state.bodies.clone());
    let (bodies, work) = (&mut state.bodies, &mut workspace.mechanism);
    let report = sinew_mechanism::assemble(model.mechanism(), bodies, input, assembly, &settings.loops, work);
    if let (Some(flesh), Some(before)) = (model.flesh(), before)
        && report.outcome != AssemblyOutcome::Refused
    {
        flesh.carry(&before, &state.bodies, &mut state.flesh, &mut workspace.carry);
    }
    report
}
