//! Displacement steps (Störmer) with assembly as the only constraint work (Fau98 §4.2).
//!
//! The state is the pose and the increment of the last step, `Δx` and `θ` (`R = exp(θ)R₋`), made over the time `h₀`:
//! ```text
//! Δx ← (h/h₀) Δx + (f/m) h(h+h₀)/2
//! ℓ  ← (h/h₀) R_m I R_mᵀ θ + τ h(h+h₀)/2,     R_m = exp(−θ/2) R          momentum carried over
//! R' I R'ᵀ θ' = ℓ,   R' = exp(θ'/2) R                                     by fixed point
//! pose⁺ = assemble(pose ⊕ (θ', Δx))
//! ```
//! The assembly moves bodies along the joint directions of the start of the step (`x = M⁻¹J₀ᵀλ`, as SHAKE does; the
//! printed choice, at the predicted pose, loses energy), and its rotations are added to `ℓ`, so that both momenta are exact
//! and the motion is of second order. Where that iteration does not converge the bodies are assembled where they are, which
//! keeps linear momentum only. docs/errata.md compares the variants.
//!
//! Joint springs are explicit. The twists of the state are mean velocities over the last step. Units SI, world axes.
//! Cost: one linear solve per iteration of the assembly, through the row library.

use glam::{DQuat, DVec3};
use sinew_math::{Force, Motion, Pose, Sym3, exp_so3, log_so3, normalize_quat, quat_to_mat3};
use sinew_topology::NONE;

use crate::assembly::assemble;
use crate::assembly::errors::{Misfit, misfit};
use crate::input::Input;
use crate::joints::rows::RowForm;
use crate::joints::twist::unwrap_angle;
use crate::loops::opening::OpeningPolicy;
use crate::loops::refinement::Refinement;
use crate::loops::step_rows::LoopDemand;
use crate::loops::surroundings::Surroundings;
use crate::loops::work::LoopWork;
use crate::model::mechanism::Model;
use crate::model::records::WORLD;
use crate::model::state::State;
use crate::poses::{first_non_finite, move_pose};
use crate::prepare::{kinematic_target, move_kinematic, set_targets};
use crate::report::StepReport;
use crate::settings::{Assembly, CarriedRotation, Displacement, JacobianAt, Settings};
use crate::tree::acceleration::Evaluation;
use crate::tree::point::Iterate;
use crate::tree::sweep;
use crate::watch::Stage;
use crate::workspace::{DisplacementScratch, Workspace};

pub(crate) fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    scheme: &Displacement,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
) -> StepReport {
    let h = settings.dt;
    move_kinematic(model, state, input, h);
    set_targets(model, input, &mut workspace.targets);
    let mut scratch = workspace.displacement.take().unwrap_or_default();
    fill_forces(model, state, input, settings, workspace, &mut scratch.forces);
    predict(model, state, input, scheme, h, &mut scratch);
    run.done(Stage::Prepare);

    let kept = run.settings;
    let mut iterations = 0;
    let mut error = misfit(model, state, &scratch.poses, input, OpeningPolicy::Yield);
    let mut smallest = error.largest();
    while error.largest() > scheme.tolerance && iterations < scheme.iterations {
        let e = error.largest();
        if e > DIVERGED * smallest {
            break;
        }
        smallest = smallest.min(e);
        run.settings.solve.precision = (0.1 * e * e).min(1e-3 * e).max(0.1 * scheme.tolerance);
        solve(model, state, input, scheme, workspace, &scratch.poses, run);
        correct(model, state, scheme, workspace, &mut scratch);
        iterations += 1;
        error = misfit(model, state, &scratch.poses, input, OpeningPolicy::Yield);
    }
    run.settings = kept;
    if error.largest() > scheme.tolerance {
        // Along the directions of the start it cannot be done: assemble where the bodies are.
        predict(model, state, input, scheme, h, &mut scratch);
        let whole =
            Assembly { tolerance: scheme.tolerance, iterations: scheme.iterations, ..Assembly::default() };
        std::mem::swap(&mut state.poses, &mut scratch.poses);
        let placed = assemble::place(model, state, input, &whole, OpeningPolicy::Yield, workspace, run);
        error = placed.error;
        iterations += placed.iterations;
        std::mem::swap(&mut state.poses, &mut scratch.poses);
    }

    finish(model, state, input, h, &scratch);
    for (index, _) in model.joints.iter().enumerate().filter(|(_, joint)| joint.tracks_twist) {
        state.twists[index] = unwrap_angle(model.principal_twist(index, &state.poses), state.twists[index]);
    }
    workspace.displacement = Some(scratch);
    run.done(Stage::Integrate);
    let Misfit { gap, lean, .. } = error;
    StepReport {
        position_error: gap,
        rotation_error: lean,
        loop_error: error.loop_gap,
        iterations,
        non_finite: first_non_finite(state),
        ..StepReport::default()
    }
}

/// Gravity, drag, inputs, springs and forces inside joints, per body.
fn fill_forces(
    model: &Model,
    state: &State,
    input: &Input,
    settings: &Settings,
    workspace: &Workspace,
    forces: &mut Vec<Force>,
) {
    let at = Evaluation {
        model,
        poses: &state.poses,
        motions: &state.motions,
        twists: &state.twists,
        input,
        targets: &workspace.targets,
        gravity: settings.gravity,
        baumgarte: 0.0,
        remaining: 0.0,
        external: &[],
    };
    at.fill_external(forces);
    for pair in &model.pairs {
        if pair.joint != WORLD {
            at.add_inside(pair.joint, forces);
        }
        let body = pair.body as usize;
        let motion = &state.motions[body];
        let inertia = world_inertia(model, body, state.poses[body].rotation);
        forces[body] += Force {
            angular: inertia.mul_vec(motion.angular) * -pair.angular_damping,
            linear: (settings.gravity - motion.linear * pair.linear_damping) * pair.mass,
        };
    }
}

fn world_inertia(model: &Model, body: usize, rotation: DQuat) -> Sym3 {
    model.bodies[body].inertia.rotated_by(&quat_to_mat3(rotation))
}

/// Carries the last increment over and adds the forces.
fn predict(
    model: &Model,
    state: &State,
    input: &Input,
    scheme: &Displacement,
    h: f64,
    scratch: &mut DisplacementScratch,
) {
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
            poses[body] = kinematic_target(model, state, input, body);
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
            break;
        }
    }
    turn
}

/// One displacement that lowers the joint errors, into `tree.motions`.
fn solve(
    model: &Model,
    state: &State,
    input: &Input,
    scheme: &Displacement,
    workspace: &mut Workspace,
    poses: &[Pose],
    run: &mut Refinement<'_>,
) {
    let Workspace { tree, points, extras, loops, .. } = workspace;
    points.base.clear();
    points.base.resize(poses.len(), Motion::ZERO);
    extras.clear();
    let is_start = scheme.jacobian == JacobianAt::Start;
    let mut at = Iterate {
        poses: if is_start { &state.poses } else { poses },
        form: if is_start { RowForm::Position } else { RowForm::SmallError },
        measured: is_start.then_some(poses),
        ..Iterate::zero_step(model, poses, &points.base, &state.twists, input, 1.0)
    };
    let mut loops = LoopWork::of(model, model.has_loops(input), tree, loops);
    if let Some(loops) = &mut loops {
        loops.start(&state.loops, false, 0.0);
        loops.linearize(&at, &LoopDemand::default(), extras);
    }
    (at.extra_slots, at.extras) = (&extras.slots, &extras.loads);
    sweep::solve(&at, tree, &mut |stage| run.done(stage));
    if let Some(loops) = &mut loops {
        loops.close(
            model,
            (at.poses, at.motions),
            (&tree.factor, &mut tree.motions),
            Surroundings::Pairs,
            run,
        );
        run.done(Stage::Refine);
    }
    extras.clear();
}

/// Adds the displacement found to what is carried, and to the poses.
fn correct(
    model: &Model,
    state: &State,
    scheme: &Displacement,
    workspace: &Workspace,
    scratch: &mut DisplacementScratch,
) {
    let DisplacementScratch { carried, turns, poses, .. } = scratch;
    for (body, pose) in poses.iter_mut().enumerate() {
        let pair = model.pair_of_body[body];
        if pair == NONE {
            continue;
        }
        let x = workspace.tree.motions[pair as usize];
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

/// Leaves poses, increments and mean velocities in the state.
fn finish(model: &Model, state: &mut State, input: &Input, h: f64, scratch: &DisplacementScratch) {
    let n = state.poses.len();
    let history = &mut state.history;
    history.motions.clone_from(&state.motions);
    history.increments.resize(n, Motion::ZERO);
    for body in 0..n {
        if model.pair_of_body[body] == NONE {
            continue;
        }
        let (old, new) = (state.poses[body], scratch.poses[body]);
        let turn = log_so3(new.rotation * old.rotation.conjugate());
        let step = Motion { angular: turn, linear: new.translation - old.translation };
        history.increments[body] = step;
        state.motions[body] = step * (1.0 / h);
        state.poses[body] = new;
    }
    history.step = h;
    for &body in &model.kinematic {
        state.poses[body as usize] = kinematic_target(model, state, input, body as usize);
    }
    state.pulls.fill(DVec3::ZERO);
    state.loops.pulls.fill(DVec3::ZERO);
    state.time += h;
}
