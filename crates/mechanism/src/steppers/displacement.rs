//! Displacement steps (Störmer) with assembly as the only constraint work (Fau98 §4.2).
//!
//! The state is the pose and the increment of the last step, `Δx` and `θ` (`R = exp(θ)R₋`), made over the time `h₀`:
//! ```text
//! Δx ← (h/h₀) Δx + (f/m) h(h+h₀)/2
//! ℓ  ← (h/h₀) R_m I R_mᵀ θ + τ h(h+h₀)/2,     R_m = exp(−θ/2) R          momentum carried over
//! R' I R'ᵀ θ' = ℓ,   R' = exp(θ'/2) R                                     by fixed point
//! pose⁺ = assemble(pose ⊕ (θ', Δx))
//! ```
//! The assembly moves bodies along the joint directions of the start of the step (`x = M⁻¹J₀ᵀλ`, as SHAKE does), and
//! its rotations are added to `ℓ`, so that both momenta are exact and the motion is of second order. If that does not
//! converge, the step is made in halves; if that does not help, the bodies are assembled at the predicted poses, and what that
//! changes of the momenta of free islands is given back to the increments that are carried on. docs/errata.md compares the
//! variants. A rolling joint must not slip on the way: with `δ` the displacement of the step, `J(q ⊕ δ/2) δ = 0` in its velocity
//! rows, the discrete constraint of Lagrange and d'Alembert; that needs [`JacobianAt::Start`] and is lost where the bodies are
//! assembled at the predicted poses. Joint springs are explicit. The twists of the state are mean velocities over the last step.
//! SI units, world axes. Cost: one linear solve per iteration of the assembly, through the row library.

use glam::{DQuat, DVec3};
use sinew_math::{Force, Motion, Pose, Sym3, exp_so3, normalize_quat, quat_to_mat3};
use sinew_topology::NONE;

use crate::assembly::{AssemblyErrors, Placement};
use crate::forces::MotorTarget;
use crate::joints::{RowForm, unwrap_angle};
use crate::loops::{LoopDemand, LoopWorkspace, OpeningPolicy, Surroundings};
use crate::model::{BodyId, Model, State, WORLD};
use crate::prepare::{first_non_finite, increment, move_pose};
use crate::settings::{Assembly, CarriedRotation, Displacement, JacobianAt};
use crate::steppers::momentum::{BodiesAsOne, bodies_of, keep_still};
use crate::steppers::{
    ActiveStep, NotMade, Remedy, StepTask, add_displacing_reactions, add_inside_reactions,
};
use crate::tree::{Evaluation, LinearizationPoint, TreeSystem, sweep};
use crate::watch::{Stage, StepReport};
use crate::workspace::{DisplacementScratch, Workspace};

/// One displacement step. A tentative one that cannot be made along the directions of its start changes nothing.
pub(crate) fn step(step: &mut ActiveStep<'_, '_>, scheme: &Displacement) -> Result<StepReport, NotMade> {
    step.take_input();
    let mut scratch = step.workspace.displacement.take().unwrap_or_default();
    fill_forces(&step.task, step.state, &step.workspace.targets, &mut scratch.forces);
    let can_tell = scheme.jacobian == JacobianAt::Start && scheme.rotation == CarriedRotation::Momentum;
    if step.workspace.reactions.is_asked && can_tell {
        add_inside_reactions(step);
    } else {
        step.workspace.reactions.give_up();
    }
    predict(&step.task, step.state, scheme, &mut scratch);
    step.run.done(Stage::Prepare);

    let (mut error, mut iterations) = correct_along_start(step, scheme, &mut scratch);
    let met_along_start = error.largest() <= scheme.tolerance;
    let ActiveStep { task, state, workspace, run } = step;
    if !met_along_start && task.is_tentative {
        workspace.displacement = Some(scratch);
        let remedy = Remedy::Divide(error.largest());
        return Err(NotMade { solves: iterations, worst: None, remedy });
    }
    if !met_along_start {
        // Along the directions of the start it cannot be done: assemble where the bodies are.
        workspace.reactions.give_up();
        predict(task, state, scheme, &mut scratch);
        let &Displacement { tolerance, iterations: limit, .. } = scheme;
        let settings = &Assembly { tolerance, iterations: limit, ..Assembly::default() };
        let (model, input, opening) = (task.model, task.input, OpeningPolicy::Yield);
        std::mem::swap(&mut state.poses, &mut scratch.poses);
        let placed = Placement { model, input, settings, opening, state, workspace, run }.place();
        error = placed.error;
        iterations += placed.iterations;
        std::mem::swap(&mut state.poses, &mut scratch.poses);
    }

    let carries_momentum = scheme.rotation == CarriedRotation::Momentum;
    if carries_momentum && !met_along_start {
        carry_assembled(task, state, &mut scratch);
    }
    finish(task, state, &scratch, carries_momentum);
    workspace.displacement = Some(scratch);
    run.done(Stage::Integrate);
    Ok(StepReport {
        position_error: error.gap,
        rotation_error: error.lean,
        loop_error: error.loop_gap,
        iterations,
        non_finite: first_non_finite(state),
        ..StepReport::default()
    })
}

/// Corrects the predicted poses until the joints are met. Returns the errors left, and the number of corrections.
fn correct_along_start(
    step: &mut ActiveStep<'_, '_>,
    scheme: &Displacement,
    scratch: &mut DisplacementScratch,
) -> (AssemblyErrors, u32) {
    let (model, input) = (step.task.model, step.task.input);
    let errors =
        |state: &State, poses: &[Pose]| AssemblyErrors::at(model, state, poses, input, OpeningPolicy::Yield);
    let kept = step.run.settings;
    let mut iterations = 0;
    let mut error = errors(step.state, &scratch.poses);
    let mut smallest = error.largest();
    let start = errors(step.state, &step.state.poses).relative;
    while error.largest() > scheme.tolerance && iterations < scheme.iterations {
        let e = error.largest();
        if e > DIVERGED * smallest {
            break;
        }
        // The loops need not be more precise than the next linearization.
        smallest = smallest.min(e);
        step.run.settings.solve.precision = (0.1 * e * e).min(1e-3 * e).max(0.1 * scheme.tolerance);
        // Directions that the rows of one pose have and those of another have not are told apart by how far they differ.
        step.run.settings.solve.openness = start.max(error.relative);
        solve(step, scheme, &scratch.poses);
        if scheme.jacobian == JacobianAt::Start {
            keep_still(model, &step.state.poses, input, &mut step.workspace.tree.motions);
        }
        correct(model, step.state, scheme, &step.workspace.tree.motions, scratch);
        iterations += 1;
        error = errors(step.state, &scratch.poses);
    }
    step.run.settings = kept;
    (error, iterations)
}

/// Gravity, drag, inputs, springs and forces inside joints, per body.
fn fill_forces(task: &StepTask<'_>, state: &State, targets: &[MotorTarget], forces: &mut Vec<Force>) {
    let StepTask { model, input, settings, .. } = *task;
    let at = Evaluation { targets, ..Evaluation::of_state(model, state, input) };
    at.fill_external(forces);
    for pair in &model.pairs {
        if pair.joint != WORLD {
            at.add_inside(pair.joint, forces);
        }
        let body = pair.body as usize;
        let motion = &state.motions[body];
        let inertia = world_inertia(model, body, state.poses[body].rotation);
        forces[body] += Force {
            angular: inertia.mul_vec(motion.angular) * -pair.inertial.angular_damping,
            linear: (settings.gravity - motion.linear * pair.inertial.linear_damping) * pair.inertial.mass,
        };
    }
}

/// Inertia of a body about its centre of mass in world axes, at a rotation.
fn world_inertia(model: &Model, body: usize, rotation: DQuat) -> Sym3 {
    model.bodies[body].inertia.rotated_by(&quat_to_mat3(rotation))
}

/// Carries the last increment over and adds the forces.
fn predict(task: &StepTask<'_>, state: &State, scheme: &Displacement, scratch: &mut DisplacementScratch) {
    let (model, h) = (task.model, task.settings.dt);
    let DisplacementScratch { forces, carried, turns, poses } = scratch;
    let n = state.poses.len();
    let has_past = state.history.step > 0.0;
    let h0 = if has_past { state.history.step } else { h };
    let (ratio, square) = (h / h0, 0.5 * h * (h + h0));
    poses.clone_from(&state.poses);
    carried.clear();
    carried.resize(n, Motion::ZERO);
    turns.clear();
    turns.resize(n, DVec3::ZERO);
    for body in 0..n {
        if model.pair_of_body[body] == NONE {
            continue;
        }
        let (pose, force, mass) = (&state.poses[body], forces[body], model.bodies[body].mass);
        let last = if has_past {
            state.history.increments[body]
        } else {
            first_increment(model, state, body, force, h)
        };
        let inertia = world_inertia(model, body, pose.rotation);
        let turn = last.angular;
        let step = last.linear * ratio + force.linear * (square / mass);
        let half_back = exp_so3(turn * -0.5) * pose.rotation;
        let momentum = match scheme.rotation {
            CarriedRotation::Plain => inertia.mul_vec(turn) * ratio + force.angular * (h * h),
            _ => world_inertia(model, body, half_back).mul_vec(turn) * ratio + force.angular * square,
        };
        carried[body] = Motion { angular: momentum, linear: step };
        turns[body] = turn_of(model, body, pose.rotation, momentum, turn * ratio, scheme.rotation);
        poses[body] = move_pose(pose, Motion { angular: turns[body], linear: step });
    }
    task.place_kinematic(poses);
}

/// What the last increment would have been, so that the first step starts with the twist of the state: the step adds
/// `h² a` before it moves.
fn first_increment(model: &Model, state: &State, body: usize, force: Force, h: f64) -> Motion {
    let (pose, motion) = (&state.poses[body], state.motions[body]);
    let inertia = world_inertia(model, body, pose.rotation);
    let torque = force.angular - motion.angular.cross(inertia.mul_vec(motion.angular));
    let turning = inertia.inverse().map_or(DVec3::ZERO, |inverse| inverse.mul_vec(torque));
    let falling = force.linear / model.bodies[body].mass;
    Motion { angular: turning, linear: falling } * (-0.5 * h * h) + motion * h
}

/// Growth of the error that ends the iteration.
const DIVERGED: f64 = 4.0;

/// Fixed-point iterations for the turn at most.
const TURN_ITERATIONS: usize = 20;

/// Solves `R' I R'ᵀ θ' = ℓ`, `R' = exp(θ'/2) R`.
fn turn_of(
    model: &Model,
    body: usize,
    rotation: DQuat,
    momentum: DVec3,
    guess: DVec3,
    carried: CarriedRotation,
) -> DVec3 {
    let solve = |rotation: DQuat| {
        let inertia = world_inertia(model, body, rotation);
        inertia.inverse().map_or(DVec3::ZERO, |inverse| inverse.mul_vec(momentum))
    };
    if carried == CarriedRotation::Plain {
        return solve(rotation);
    }
    let mut turn = guess;
    for _ in 0..TURN_ITERATIONS {
        let next = solve(exp_so3(turn * 0.5) * rotation);
        let change = (next - turn).length_squared();
        turn = next;
        if change <= 1e-32 * turn.length_squared() {
            return turn;
        }
    }
    turn
}

/// One displacement that lowers the joint errors, into `tree.motions`.
fn solve(step: &mut ActiveStep<'_, '_>, scheme: &Displacement, poses: &[Pose]) {
    let ActiveStep { task, state, workspace, run } = step;
    let StepTask { model, input, settings, .. } = *task;
    let Workspace { tree, points, loads, loops, reactions, .. } = &mut **workspace;
    points.base.clear();
    points.base.resize(poses.len(), Motion::ZERO);
    loads.clear();
    let is_start = scheme.jacobian == JacobianAt::Start;
    let at = LinearizationPoint {
        poses: if is_start { &state.poses } else { poses },
        form: if is_start { RowForm::Position } else { RowForm::SmallError },
        measured: is_start.then_some(poses),
        ..LinearizationPoint::zero_step(model, input, poses, &points.base, &state.twists, 1.0)
    };
    let mut loops = LoopWorkspace::of(model, model.has_loops(input), tree, loops);
    if let Some(loops) = &mut loops {
        loops.start(&state.loops, false, 0.0);
        loops.linearize(&at, &LoopDemand::default(), loads);
    }
    let system = TreeSystem::zero_step(at, &[], loads);
    sweep::solve(&system, tree, &mut |stage| run.done(stage));
    if let Some(loops) = &mut loops {
        loops.fill_graph(&system);
        let solution = (&tree.factor, tree.motions.as_mut_slice());
        loops.close(model, (at.poses, at.motions), solution, Surroundings::Pairs, run);
        run.done(Stage::Refine);
    }
    if reactions.is_asked && is_start {
        let h0 = if state.history.step > 0.0 { state.history.step } else { settings.dt };
        let per_square = 2.0 / (settings.dt * (settings.dt + h0));
        add_displacing_reactions(&at, &tree.motions, loops.as_deref(), per_square, reactions);
    }
    loads.clear();
}

/// Adds the displacement found to what is carried, and to the poses.
fn correct(
    model: &Model,
    state: &State,
    scheme: &Displacement,
    motions: &[Motion],
    scratch: &mut DisplacementScratch,
) {
    let DisplacementScratch { carried, turns, poses, .. } = scratch;
    for (body, pose) in poses.iter_mut().enumerate() {
        let Some(&x) = motions.get(model.pair_of_body[body] as usize) else { continue };
        let start = state.poses[body].rotation;
        carried[body].linear += x.linear;
        pose.translation += x.linear;
        pose.rotation = if scheme.rotation == CarriedRotation::Momentum {
            carried[body].angular += world_inertia(model, body, start).mul_vec(x.angular);
            let momentum = carried[body].angular;
            turns[body] = turn_of(model, body, start, momentum, turns[body], scheme.rotation);
            normalize_quat(exp_so3(turns[body]) * start)
        } else {
            normalize_quat(exp_so3(x.angular) * pose.rotation)
        };
    }
}

/// What the way to assembled poses carries on: its turns and displacements, and a rigid motion that gives free islands the momentum
/// that was predicted for them.
fn carry_assembled(task: &StepTask<'_>, state: &State, scratch: &mut DisplacementScratch) {
    let (model, islands) = (task.model, &task.model.derived.islands);
    let DisplacementScratch { forces, carried, turns, poses } = scratch;
    let as_one = |poses: &[Pose], carried: &[Motion], bodies| {
        let motion = |body: BodyId| {
            let Motion { angular: momentum, linear } = carried[body.index()];
            let inertia = world_inertia(model, body.index(), poses[body.index()].rotation);
            let angular = inertia.inverse().map_or(DVec3::ZERO, |inverse| inverse.mul_vec(momentum));
            Motion { angular, linear }
        };
        BodiesAsOne::at(model, poses, motion, bodies_of(bodies))
    };
    forces.clear();
    forces.extend(islands.free().map(|bodies| as_one(&state.poses, carried, bodies).momentum));
    for (body, pose) in poses.iter().enumerate() {
        let Motion { angular: turn, linear } = increment(&state.poses[body], pose);
        let half_back = exp_so3(turn * -0.5) * pose.rotation;
        turns[body] = turn;
        carried[body] = Motion { angular: world_inertia(model, body, half_back).mul_vec(turn), linear };
    }
    for (bodies, predicted) in
        islands.free().zip(forces).filter(|(bodies, _)| !task.input.touches_one(bodies))
    {
        let whole = as_one(poses, carried, bodies);
        let Some(rigid) = whole.motion_with(*predicted - whole.momentum) else { continue };
        for &body in bodies {
            let body = body as usize;
            let Motion { angular, linear } = whole.carry(rigid, &poses[body]);
            let rotation = poses[body].rotation;
            carried[body].linear += linear;
            carried[body].angular += world_inertia(model, body, rotation).mul_vec(angular);
            // The turn that has led here: the one onwards with the opposite momentum, backwards.
            let (momentum, guess) = (-carried[body].angular, -turns[body]);
            turns[body] = -turn_of(model, body, rotation, momentum, guess, CarriedRotation::Momentum);
        }
    }
}

/// Leaves poses, increments and mean velocities in the state. Increments that were carried stay as they are: the
/// difference of two positions is rounded by the size of the positions, and short steps divide it by a short time.
fn finish(task: &StepTask<'_>, state: &mut State, scratch: &DisplacementScratch, carries_momentum: bool) {
    let (model, h) = (task.model, task.settings.dt);
    let n = state.poses.len();
    let history = &mut state.history;
    history.motions.clone_from(&state.motions);
    history.increments.resize(n, Motion::ZERO);
    for body in 0..n {
        if model.pair_of_body[body] == NONE {
            continue;
        }
        let new = scratch.poses[body];
        let step = if carries_momentum {
            Motion { angular: scratch.turns[body], linear: scratch.carried[body].linear }
        } else {
            increment(&state.poses[body], &new)
        };
        history.increments[body] = step;
        state.motions[body] = step * (1.0 / h);
        state.poses[body] = new;
    }
    history.step = h;
    task.place_kinematic(&mut state.poses);
    state.forget_pulls();
    state.time += h;
    for (index, _) in model.joints.iter().enumerate().filter(|(_, joint)| joint.tracks_twist) {
        state.twists[index] = unwrap_angle(model.principal_twist(index, &state.poses), state.twists[index]);
    }
}
