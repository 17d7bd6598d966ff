//! Assembly: from any poses to poses that meet the joints (Fau98 §3), and the same for velocities.
//!
//! The iteration is in `place`, joint limits are in `limits`. Trackers pull the poses: kinematic bodies, which do not react,
//! and hard grabs. Units: m and rad. Cost: one linear solve per iteration, before those for joint limits; the iteration in
//! which a taut chain first buckles is solved again. Contradictory joints end in a least-squares answer, and the report
//! says so.

use sinew_math::Pose;
use sinew_solvers::LoopReport;

use crate::assembly::{AssemblyErrors, Placement};
use crate::input_index::StepInput;
use crate::loops::{OpeningPolicy, Refinement};
use crate::measure::joint_error;
use crate::prepare::{increment, move_pose};
use crate::{Assembly, AssemblyOutcome, Input, Loops, Model, Stage, State, Workspace, place_kinematic};

/// What an assembly did.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct AssemblyReport {
    /// How it ended.
    pub outcome: AssemblyOutcome,
    /// Displacements made.
    pub iterations: u32,
    /// Largest anchor distance left, m.
    pub position_error: f64,
    /// Largest rotation error left, rad.
    pub rotation_error: f64,
    /// How the loops were closed, all iterations together.
    pub loops: LoopReport,
}

/// Moves the bodies of a state until the joints are met, as little as possible in the metric of their masses; kinematic
/// bodies go to the goals of the input, hard grabs pull. Velocities are made compatible if asked for. What has been
/// recorded of earlier steps is forgotten.
pub fn assemble(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Assembly,
    loops: &Loops,
    workspace: &mut Workspace,
) -> AssemblyReport {
    let is_finite = state.poses.iter().all(Pose::is_finite) && state.motions.iter().all(|m| m.is_finite());
    if !(state.fits(model) && is_finite) {
        return AssemblyReport { outcome: AssemblyOutcome::Refused, ..AssemblyReport::default() };
    }
    if !workspace.fits(model) {
        workspace.refit(model);
    }
    place_kinematic(model, state, input);
    let mut nobody = |_: Stage| {};
    let mut run = Refinement::new(model, loops, input, &mut nobody);
    let opening = OpeningPolicy::Close;
    let mut tables = std::mem::take(&mut workspace.input_index);
    tables.fill(model, state, input);
    let input = StepInput::new(input, &tables);
    let mut placement = Placement { model, input, settings, opening, state, workspace, run: &mut run };
    let placed = placement.place();
    if settings.velocities && placed.error.largest().is_finite() {
        placement.opening = OpeningPolicy::Leave;
        placement.match_velocities();
    }
    workspace.input_index = tables;
    state.forget_history();
    state.forget_pulls();
    state.loops.forces.fill(0.0);
    AssemblyReport {
        outcome: placed.outcome,
        iterations: placed.iterations,
        position_error: placed.error.gap,
        rotation_error: placed.error.lean,
        loops: run.report,
    }
}

/// Stabilization after a step; returns the number of displacements. Unless it mends joints that are torn, poses stay as the step left them
/// where displacements leave joints further open.
pub(crate) fn stabilize(
    model: &Model,
    state: &mut State,
    input: StepInput<'_>,
    (settings, mends): (&Assembly, bool),
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
) -> u32 {
    workspace.points.extra_poses.clone_from(&state.poses);
    let n_open = count_open(model, state, input);
    let largest = |state: &State| {
        AssemblyErrors::at(model, state, &state.poses, input, OpeningPolicy::Ignore).largest()
    };
    let found = largest(state).max(settings.tolerance);
    let opening = OpeningPolicy::Leave;
    let mut placement = Placement { model, input, settings, opening, state, workspace, run };
    let mut placed = placement.place();
    if model.may_open(input)
        && (placed.outcome != AssemblyOutcome::Assembled
            || count_open(model, placement.state, input) > n_open)
    {
        // Joints that may open stand in the way of the others.
        placement.state.poses.clone_from(&placement.workspace.points.extra_poses);
        placement.opening = OpeningPolicy::Ignore;
        let tried = placed.iterations;
        placed = placement.place();
        placed.iterations += tried;
    }
    let is_closed = mends || placed.outcome == AssemblyOutcome::Assembled;
    let is_better = is_closed || largest(placement.state) <= found;
    if !is_better {
        placement.state.poses.clone_from(&placement.workspace.points.extra_poses);
    }
    if settings.velocities {
        placement.match_velocities();
    }
    // The increment of the step now ends at the corrected pose.
    if state.history.step > 0.0 && placed.iterations > 0 {
        let moved = state.poses.iter().zip(&workspace.points.extra_poses);
        for (step, (now, before)) in state.history.increments.iter_mut().zip(moved) {
            *step = increment(&move_pose(before, *step * -1.0), now);
        }
    }
    placed.iterations
}

/// Number of joints and hard grabs that are open at the poses of a state.
fn count_open(model: &Model, state: &State, input: StepInput<'_>) -> usize {
    let joints = model.loops.iter().filter(|l| {
        let error = joint_error(model, state, &state.poses, input, (l.joint, 0.0));
        !l.is_primary && OpeningPolicy::Leave.ignores(model, l.ports, error)
    });
    let grabs = input
        .hard_grabs(model)
        .filter(|g| OpeningPolicy::Leave.ignores(model, g.ports(model), (g.gap(model, &state.poses), 0.0)));
    joints.count() + grabs.count()
}
