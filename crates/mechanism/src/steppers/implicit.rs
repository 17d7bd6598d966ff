//! The implicit stepper: backward Euler or BDF2 with implicit joint forces and position constraints.
//!
//! Each solve is Her11 eq. 3–4 with the corrections of docs/errata.md, at a linearization point (`tree::point`); the scheme is
//! in `scheme`. Where the solve leaves joints open, Newton iterations follow: they measure joint errors and forces at the pose
//! just found and keep the directions of the first solve (docs/maths/stiff-joints.md). The best solution found is taken.
//!
//! The anchor error with one solve is at most about ½h²ω²ℓ and does not accumulate (first order), or O(h⁴) (second
//! order). Cost: linear in the number of bodies; no allocation.

use crate::measure::joint_error;
use crate::model::{JointModel, motion_of};
use crate::steppers::{
    ActiveStep, Closing, ImplicitStep, JointCare, NewtonPhase, NotMade, OrderFallback, Remedy,
    SchemeCoefficients, StepTask, integrate,
};
use crate::tree::TreeReport;
use crate::watch::OPEN;
use crate::{Companion, Implicit, JointId, Model, Order, SolveOutcome, Stage, State, StepReport};

/// Relative error of contact forces from which on a step is divided; halves are worth it as long as they leave less than all of it.
const UNSETTLED: f64 = 0.2;

/// One implicit step, with a companion if there is one. A tentative step that leaves joints open changes nothing.
pub(crate) fn step(
    active: &mut ActiveStep<'_, '_>,
    settings: &Implicit,
    mut companion: Option<&mut dyn Companion>,
) -> Result<StepReport, NotMade> {
    // The scheme is chosen before kinematic bodies move: their twists would look like a jolt.
    let mut fallen = std::mem::take(&mut active.workspace.islands.fallen);
    let order = if active.task.mends() { Order::First } else { settings.order };
    let (task, state) = (&active.task, &*active.state);
    let dt = task.settings.dt;
    let touching = companion.as_mut().map(|companion| &mut **companion as &mut dyn Companion);
    let fallback = OrderFallback::find(task.model, (state, order), task.settings, touching, &mut fallen);
    let scheme = SchemeCoefficients::new(state, order, dt, fallback);
    let made = step_by(scheme, active, settings, companion);
    active.workspace.islands.fallen = fallen;
    made
}

/// One implicit step by a scheme.
fn step_by(
    scheme: SchemeCoefficients<'_>,
    active: &mut ActiveStep<'_, '_>,
    settings: &Implicit,
    companion: Option<&mut dyn Companion>,
) -> Result<StepReport, NotMade> {
    active.take_input();
    let ActiveStep { task, state, workspace, run } = active;
    let mut reactions = std::mem::take(&mut workspace.reactions);
    let mut islands = std::mem::take(&mut workspace.islands);
    let mut step = ImplicitStep::new(task, settings, scheme, workspace, companion);
    step.start(state, run);
    step.start_at_end(state, run);
    run.done(Stage::Prepare);

    if task.model.derived.has_bounded_loops && !step.is_iterated() {
        run.settings.solve.precision = run.settings.solve.precision.min(STILL);
    }
    let mut solved = step.solve(state, run);
    let begun = solved;
    let may_mend = settings.newton_iterations > 1 && settings.most_substeps > 1;
    let may_mend = may_mend && !task.mends() && !step.solver.has_unknowns();
    let torn = if may_mend && !step.is_iterated() { find_torn(task, state, &solved.seen) } else { None };
    let is_torn = torn.is_some();
    let is_too_long = step.solver.outcome() == SolveOutcome::TooLong && task.is_tentative;
    let Closing { solves, unclosed, residual, worst, may_divide } = if is_torn || is_too_long || task.mends()
    {
        Closing::ONE
    } else {
        step.close_joints(state, &mut solved, run)
    };
    let is_open = unclosed > OPEN;
    let remedy = if is_torn {
        Some(if task.care == JointCare::Nothing { Remedy::Assemble } else { Remedy::Mend })
    } else if residual > OPEN && may_divide && task.is_tentative {
        Some(Remedy::Divide(residual))
    } else if let Some(error) = unsettled(task, step.solver.outcome()) {
        Some(Remedy::Divide(error * task.settings.dt))
    } else {
        (is_open && may_divide && may_mend).then_some(Remedy::Mend)
    };
    let remedy = step.or_break(remedy, state, (is_torn, is_open), run);
    if let Some(remedy) = remedy {
        step.solver.loads.clear();
        (workspace.reactions, workspace.islands) = (reactions, islands);
        return Err(NotMade { solves, worst: torn.or(worst), remedy });
    }
    let may_gain = solves > 1 || !task.model.loops.is_empty();
    if may_gain && task.settings.limit_energy {
        islands.start(task, state, step.here.targets);
    }
    step.store_forces(state);
    let noticed = step.notice(&run.report);
    if reactions.is_asked {
        step.add_reactions(state, &mut reactions);
    }
    let is_damped = step.here.phase == NewtonPhase::Moved;
    let is_at_start = step.here.phase == NewtonPhase::First;
    let non_finite = integrate(task, &scheme, state, (&step.solver, &step.here.points.rotors));
    if is_at_start {
        turn_twists(task.model, state, &scheme);
    }
    (workspace.reactions, workspace.islands) = (reactions, islands);
    state.time += task.settings.dt;
    run.done(Stage::Integrate);
    Ok(StepReport {
        position_error: begun.seen.gap_squared.sqrt(),
        rotation_error: begun.seen.lean_squared.sqrt(),
        loop_error: begun.loop_error,
        iterations: solves,
        unclosed,
        damped_parts: u32::from(is_damped),
        fallen_islands: scheme.fallback.n_islands,
        worst_joint: worst.filter(|_| is_open),
        regularized: solved.seen.regularized,
        noticed,
        non_finite,
        ..StepReport::default()
    })
}

/// Error for which a step is divided because of how the solves of a companion ended; none if it is not.
fn unsettled(task: &StepTask<'_>, outcome: SolveOutcome) -> Option<f64> {
    match outcome {
        SolveOutcome::TooLong if task.is_tentative => Some(f64::INFINITY),
        SolveOutcome::Unsettled(error) if error > UNSETTLED && task.is_tentative && !task.may_damp => {
            Some(error)
        }
        _ => None,
    }
}

/// Precision of loops with dry friction or motors at their bounds, m/s: these tell rest from a hundredth of the speed that friction creeps at.
const STILL: f64 = 1e-12;

/// Joint error, relative to the size of the joint's bodies, with which a step does not begin.
const TORN: f64 = 1e-2;

/// Whether no joint is torn where the step begins, by its errors there.
fn is_closed(model: &Model, seen: &TreeReport) -> bool {
    seen.lean_squared.sqrt() <= TORN && seen.gap_squared.sqrt() <= TORN * model.derived.smallest_size
}

/// A joint that is torn where the step begins; `seen` are the errors at its linearization point.
fn find_torn(task: &StepTask<'_>, state: &State, seen: &TreeReport) -> Option<JointId> {
    let model = task.model;
    if is_closed(model, seen) {
        return None;
    }
    // What a drive has yet to do in the step is no error.
    let is_torn = |((joint, size), index): ((&JointModel, &f64), u32)| {
        let (gap, lean) = joint_error(model, state, &state.poses, task.input, (index, 0.0));
        joint.n_driven() == 0 && (gap / size).max(lean) > TORN
    };
    model.joints.iter().zip(&model.derived.joint_sizes).zip(0..).position(is_torn).map(JointId::from_index)
}

/// Turn within a step beyond which the twist angle of the start of the step no longer tells full turns apart at its end, rad.
const FAST_TURN: f64 = 0.5;

/// Moves twist angles on from the start of a first-order step to its end, where joints turn fast. The angles only tell full turns apart.
fn turn_twists(model: &Model, state: &mut State, scheme: &SchemeCoefficients<'_>) {
    let in_tree = model.twist_joints.iter().map(|&(joint, _)| joint);
    let in_loops = model.loops.iter().map(|looped| looped.joint);
    for index in in_tree.chain(in_loops.filter(|&joint| model.joints[joint as usize].tracks_twist)) {
        let joint = &model.joints[index as usize];
        let SchemeCoefficients { is_second, h, .. } = scheme.of_joint(joint);
        if is_second {
            continue;
        }
        let spin = |body: u32| motion_of(&state.motions, body).angular.length_squared();
        if h * h * (spin(joint.body1) + spin(joint.body2)) > FAST_TURN * FAST_TURN {
            let turn = h * model.twist_rate(&state.poses, joint, |body| motion_of(&state.motions, body));
            state.twists[index as usize] += turn;
        }
    }
}
