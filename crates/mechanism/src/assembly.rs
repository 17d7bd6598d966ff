//! Assembly: from any poses to poses that meet the joints (Fau98 §3), and the same for velocities.
//!
//! Each iteration is a step of length zero (`iterate`): the displacement `x` of least `xᵀMx` with `J x = −C`, tree rows
//! exactly, loops by refinement; every body's turn is cut at 0.8 rad, poses are composed (`R ← exp(δθ)R`), and the joints
//! are linearized again. Trackers are kinematic bodies (they do not react) and hard grabs.
//!
//! Convergence is quadratic near a solution. A long taut chain is corrected most cheaply by buckling, which makes new
//! errors; where an iteration gains too little it is made again with the geometric stiffness of its own joint forces
//! added to `M` (`geometric`), and so are those after it. Where the error still stops falling the displacement is halved;
//! where it does not vanish and the bodies no longer move, the scene is impossible and the poses are a least-squares
//! answer: tree joints met, joints outside the tree open. Units: m and rad. Cost: one linear solve per iteration.

use glam::DVec3;
use sinew_math::{Motion, Pose};
use sinew_solvers::LoopReport;
use sinew_topology::NONE;

use crate::implicit::{increment, kinematic_target, move_pose};
use crate::iterate::Iterate;
use crate::loops::{LoopWork, Refinement, Surroundings};
use crate::measure::joint_error;
use crate::rows::RowForm;
use crate::workspace::Workspace;
use crate::{Assembly, Input, Loops, Model, Stage, State, sweep};

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

/// How an assembly ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum AssemblyOutcome {
    /// Every joint is met.
    Assembled,
    /// The joints contradict each other; the poses are as good as it gets.
    LeastSquares,
    /// The iterations were used up.
    #[default]
    Unfinished,
    /// The state belongs to another model, or a number in it is not finite; nothing was done.
    Refused,
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
        *workspace = Workspace::new(model);
    }
    for &body in &model.kinematic {
        state.poses[body as usize] = kinematic_target(model, state, input, body as usize);
    }
    let mut nobody = |_: Stage| {};
    let mut run = Refinement::new(loops, input, &mut nobody);
    let placed = place(model, state, input, settings, workspace, &mut run);
    if settings.velocities {
        match_velocities(model, state, input, workspace, &mut run);
    }
    state.forget_history();
    state.pulls.fill(DVec3::ZERO);
    state.loops.forces.fill(0.0);
    state.loops.pulls.fill(DVec3::ZERO);
    AssemblyReport {
        outcome: placed.outcome,
        iterations: placed.iterations,
        position_error: placed.error.gap,
        rotation_error: placed.error.lean,
        loops: run.report,
    }
}

/// Post-stabilization after a step; returns the number of displacements.
pub(crate) fn stabilize(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Assembly,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
) -> u32 {
    workspace.points.extra_poses.clone_from(&state.poses);
    let placed = place(model, state, input, settings, workspace, run);
    if settings.velocities {
        match_velocities(model, state, input, workspace, run);
    }
    if state.history.step > 0.0 && placed.iterations > 0 {
        let moved = state.poses.iter().zip(&workspace.points.extra_poses);
        for (step, (now, before)) in state.history.increments.iter_mut().zip(moved) {
            *step = increment(&move_pose(before, *step * -1.0), now);
        }
    }
    placed.iterations
}

/// Largest joint errors, m and rad.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Misfit {
    pub(crate) gap: f64,
    pub(crate) lean: f64,
    /// Largest of both among tree joints, and among the others.
    tree: f64,
    loops: f64,
}

impl Misfit {
    pub(crate) fn largest(&self) -> f64 {
        self.tree.max(self.loops)
    }

    /// What the iteration should lower: tree joints first.
    fn merit(&self) -> f64 {
        100.0 * self.tree + self.loops
    }
}

/// Errors of all rigid joints and hard grabs at some poses.
pub(crate) fn misfit(model: &Model, state: &State, poses: &[Pose], input: &Input) -> Misfit {
    let mut out = Misfit::default();
    let mut see = |is_tree: bool, (gap, lean): (f64, f64)| {
        out.gap = out.gap.max(gap);
        out.lean = out.lean.max(lean);
        let largest = if is_tree { &mut out.tree } else { &mut out.loops };
        *largest = largest.max(gap).max(lean);
    };
    for pair in &model.pairs {
        if pair.joint != NONE {
            see(true, joint_error(model, state, poses, input, pair.joint));
        }
    }
    for looped in &model.loops {
        see(false, joint_error(model, state, poses, input, looped.joint));
    }
    for grab in input.hard_grabs(model) {
        let body = grab.body.index();
        let point = poses[body].transform_point(model.bodies[body].central_point(grab.point));
        see(false, (point.distance(grab.target), 0.0));
    }
    out
}

struct Placed {
    outcome: AssemblyOutcome,
    iterations: u32,
    error: Misfit,
}

/// Share of the error that an iteration may leave before joint forces stiffen it.
const GAIN: f64 = 0.25;

/// Iterations without progress before the displacement is halved.
const PATIENCE: u32 = 4;

/// Smallest share of a displacement.
const SMALLEST_SHARE: f64 = 1.0 / 64.0;

fn place(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Assembly,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
) -> Placed {
    let mut error = misfit(model, state, &state.poses, input);
    let mut iterations = 0;
    let (mut best, mut since_best, mut share) = (error.merit(), 0, 1.0);
    let mut best_poses: Option<Vec<Pose>> = None;
    let mut is_stiff = false;
    let kept = run.settings;
    let outcome = loop {
        if error.largest() <= settings.tolerance {
            break AssemblyOutcome::Assembled;
        }
        if iterations >= settings.iterations || !error.largest().is_finite() {
            break AssemblyOutcome::Unfinished;
        }
        let e = error.largest();
        run.settings.solve.precision = (0.1 * e * e).min(1e-3 * e).max(0.1 * settings.tolerance);
        workspace.points.base.clear();
        workspace.points.base.resize(state.poses.len(), Motion::ZERO);
        solve_zero_step(model, state, input, workspace, Aim::Place { is_stiff }, run);
        workspace.points.poses.clone_from(&state.poses);
        let mut moved = displace(model, &mut state.poses, workspace, settings.max_turn, share);
        let mut after = misfit(model, state, &state.poses, input);
        if !is_stiff && after.merit() > GAIN * error.merit() {
            is_stiff = true;
            state.poses.clone_from(&workspace.points.poses);
            solve_zero_step(model, state, input, workspace, Aim::Place { is_stiff }, run);
            moved = displace(model, &mut state.poses, workspace, settings.max_turn, share);
            after = misfit(model, state, &state.poses, input);
        }
        error = after;
        for &(joint, pair) in &model.twist_joints {
            state.twists[joint as usize] = workspace.tree.twists[pair as usize];
        }
        if let Some(loops) = &workspace.loops {
            loops.store_twists(model, &mut state.twists);
        }
        iterations += 1;
        if error.merit() < 0.9 * best {
            if share < 1.0 {
                best_poses = Some(state.poses.clone());
            }
            (best, since_best, share) = (error.merit(), 0, f64::min(1.0, 2.0 * share));
        } else {
            since_best += 1;
            if since_best % PATIENCE == 0 && share > SMALLEST_SHARE {
                share *= 0.5;
                best_poses.get_or_insert_with(|| state.poses.clone());
            }
        }
        if moved <= 1e-3 * settings.tolerance.max(1e-9) * share && error.largest() > settings.tolerance {
            break AssemblyOutcome::LeastSquares;
        }
    };
    run.settings = kept;
    if let (AssemblyOutcome::Unfinished, Some(poses)) = (outcome, best_poses) {
        let there = misfit(model, state, &poses, input);
        if there.merit() < error.merit() || !error.largest().is_finite() {
            (state.poses, error) = (poses, there);
        }
    }
    Placed { outcome, iterations, error }
}

/// What a step of length zero is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// Displacements that meet the joints, with the geometric stiffness of the last solve or without.
    Place { is_stiff: bool },
    /// Velocities that keep them.
    Rate,
}

/// Solves the tree and the loops for `points.base` in a step of length zero.
fn solve_zero_step(
    model: &Model,
    state: &State,
    input: &Input,
    workspace: &mut Workspace,
    aim: Aim,
    run: &mut Refinement<'_>,
) {
    let Workspace { tree, points, extras, loops, .. } = workspace;
    extras.clear();
    let is_rate = aim == Aim::Rate;
    let (form, per_h) = if is_rate { (RowForm::Position, 0.0) } else { (RowForm::SmallError, 1.0) };
    let pulls: &[DVec3] = if aim == (Aim::Place { is_stiff: true }) { &points.pulls } else { &[] };
    let mut at = Iterate {
        form,
        rates: is_rate,
        pulls,
        ..Iterate::zero_step(model, &state.poses, &points.base, &state.twists, input, per_h)
    };
    let mut loops = LoopWork::of(model, input, tree, loops);
    if let Some(loops) = &mut loops {
        loops.start(&state.loops, false, 0.0);
        loops.linearize(&at, &points.loop_pulls, extras);
    }
    (at.extra_slots, at.extras) = (&extras.slots, &extras.loads);
    sweep::solve(&at, tree, &mut |_| {});
    if let Some(loops) = &mut loops {
        let surroundings = if loops.are_bodies_free(&at) { Surroundings::Free } else { Surroundings::Pairs };
        loops.close(model, at.poses, tree, surroundings, run);
    }
    if !is_rate {
        let of_pair = |(body, &pair): (usize, &u32)| match tree.motions.get(pair as usize) {
            Some(x) => x.linear * model.bodies[body].mass,
            None => DVec3::ZERO,
        };
        points.pulls.clear();
        points.pulls.extend(model.pair_of_body.iter().enumerate().map(of_pair));
    }
    if let Some(loops) = &mut loops {
        loops.settle(model, 1.0, &mut points.pulls);
        points.loop_pulls.clone_from(&loops.pulls);
    }
    extras.clear();
}

/// Moves the poses by a share of the solution, turns cut; returns the largest move, m or rad.
fn displace(model: &Model, poses: &mut [Pose], workspace: &Workspace, max_turn: f64, share: f64) -> f64 {
    let mut largest = 0.0_f64;
    for (pose, &pair) in poses.iter_mut().zip(&model.pair_of_body) {
        if pair == NONE {
            continue;
        }
        let mut x = workspace.tree.motions[pair as usize] * share;
        let turn = x.angular.length();
        if turn > max_turn {
            x.angular *= max_turn / turn;
        }
        largest = largest.max(turn).max(x.linear.length());
        *pose = move_pose(pose, x);
    }
    largest
}

/// The velocities nearest to the present ones, in the metric of the masses, that keep the joints.
fn match_velocities(
    model: &Model,
    state: &mut State,
    input: &Input,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
) {
    workspace.points.base.clone_from(&state.motions);
    solve_zero_step(model, state, input, workspace, Aim::Rate, run);
    for (motion, &pair) in state.motions.iter_mut().zip(&model.pair_of_body) {
        if pair != NONE {
            *motion = workspace.tree.motions[pair as usize];
        }
    }
}
