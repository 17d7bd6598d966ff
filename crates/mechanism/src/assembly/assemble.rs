//! Assembly: from any poses to poses that meet the joints (Fau98 §3), and the same for velocities.
//!
//! Each iteration is a step of length zero (`iterate`): the displacement `x` of least `xᵀMx` with `J x = −C`, tree rows
//! exactly, loops by refinement; every body's turn is cut at 0.8 rad, poses are composed (`R ← exp(δθ)R`), and the joints
//! are linearized again. Trackers are kinematic bodies (they do not react) and hard grabs.
//!
//! Convergence is quadratic near a solution. A long taut chain is corrected most cheaply by buckling, which makes new
//! errors; where an iteration gains too little it is made again with the geometric stiffness of its own joint forces
//! added to `M` (`geometric`), and so are those after it. Where the error still stops falling, rows outside the tree yield
//! (`loops`: Levenberg and Marquardt's damping), or without any the displacement is halved. Where the error no longer
//! changes the scene is impossible and the poses are a least-squares answer: tree joints met, joints outside the tree open.
//!
//! Ranges of joints are kept if asked for (`stops`).
//!
//! Units: m and rad. Cost: one linear solve per iteration, two in the one that begins to buckle.

use glam::DVec3;
use sinew_math::{Motion, Pose};
use sinew_solvers::LoopReport;
use sinew_topology::NONE;

use crate::assembly::errors::{Misfit, misfit};
use crate::input::Input;
use crate::joints::rows::RowForm;
use crate::loops::opening::OpeningPolicy;
use crate::loops::refinement::Refinement;
use crate::loops::step_rows::LoopDemand;
use crate::loops::surroundings::Surroundings;
use crate::loops::work::LoopWork;
use crate::measure::joint::joint_error;
use crate::model::mechanism::Model;
use crate::model::records::WORLD;
use crate::model::state::State;
use crate::poses::{increment, move_pose};
use crate::prepare::kinematic_target;
use crate::settings::{Assembly, Loops};
use crate::tree::point::Iterate;
use crate::tree::sweep;
use crate::watch::Stage;
use crate::workspace::Workspace;

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
    let placed = place(model, state, input, settings, OpeningPolicy::Close, workspace, &mut run);
    if settings.velocities && placed.error.largest().is_finite() {
        match_velocities(model, state, input, OpeningPolicy::Leave, workspace, &mut run);
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
    let n_open = count_open(model, state, input);
    let mut placed = place(model, state, input, settings, OpeningPolicy::Leave, workspace, run);
    let mut opened = OpeningPolicy::Leave;
    if model.may_open(input)
        && (placed.outcome != AssemblyOutcome::Assembled || count_open(model, state, input) > n_open)
    {
        // TwoJoints that may open stand in the way of the others.
        state.poses.clone_from(&workspace.points.extra_poses);
        opened = OpeningPolicy::Ignore;
        let tried = placed.iterations;
        placed = place(model, state, input, settings, opened, workspace, run);
        placed.iterations += tried;
    }
    if settings.velocities {
        match_velocities(model, state, input, opened, workspace, run);
    }
    if state.history.step > 0.0 && placed.iterations > 0 {
        let moved = state.poses.iter().zip(&workspace.points.extra_poses);
        for (step, (now, before)) in state.history.increments.iter_mut().zip(moved) {
            *step = increment(&move_pose(before, *step * -1.0), now);
        }
    }
    placed.iterations
}

/// Number of joints and hard grabs that are open at the poses of a state.
fn count_open(model: &Model, state: &State, input: &Input) -> usize {
    let joints = model.loops.iter().filter(|l| {
        let error = joint_error(model, state, &state.poses, input, l.joint);
        !l.is_primary && OpeningPolicy::Leave.ignores(model, l.ports, error)
    });
    let grabs = input.hard_grabs(model).filter(|g| {
        OpeningPolicy::Leave.ignores(
            model,
            [model.port(g.body.index() as u32), NONE],
            (g.gap(model, &state.poses), 0.0),
        )
    });
    joints.count() + grabs.count()
}

pub(crate) struct AssemblyResult {
    pub(crate) outcome: AssemblyOutcome,
    pub(crate) iterations: u32,
    pub(crate) error: Misfit,
}

/// Share of the error that an iteration may leave, and share of its largest turn that the error must have exceeded (rad
/// and m), before joint forces stiffen it.
const GAIN: f64 = 0.25;
const BUCKLING: f64 = 0.1;

/// What holds an iteration back where the plain one does not gain.
struct Restraint {
    opened: OpeningPolicy,
    /// Joint forces stiffen the corrections.
    is_stiff: bool,
    /// Compliance of rows outside the tree, in terms of the masses of their trees.
    yielding: f64,
    /// Share of a displacement that is made.
    share: f64,
    best: f64,
    /// Iterations since the best.
    stalled: u32,
    /// Iterations since the error last fell noticeably.
    still: u32,
}

/// Iterations without progress before more restraint: far from a solution the error may grow before it falls.
const PATIENCE: u32 = 6;

/// Iterations without any change that mean there will be none.
const STILL: u32 = 6;

impl Restraint {
    /// Learns from an iteration; true if nothing changes any more.
    fn learn(&mut self, before: &Misfit, error: &Misfit, has_loops: bool) -> bool {
        let merit = error.merit();
        // At least half of what the share promises.
        let gains = merit < (1.0 - 0.5 * self.share) * before.merit();
        self.still = if merit < (1.0 - 1e-6) * self.best { 0 } else { self.still + 1 };
        if gains {
            self.share = f64::min(1.0, 2.0 * self.share);
        }
        if merit < 0.95 * self.best {
            self.stalled = 0;
            self.yielding = if self.yielding > 1e-4 { 0.25 * self.yielding } else { 0.0 };
        } else if !gains || has_loops {
            self.stalled += 1;
            if self.stalled.is_multiple_of(PATIENCE) {
                if has_loops {
                    self.yielding = (16.0 * self.yielding).clamp(1.0, 1e8);
                }
                if !has_loops || error.tree > 0.5 * self.best {
                    self.share = f64::max(0.5 * self.share, 1.0 / 64.0);
                }
            }
        }
        self.best = self.best.min(merit);
        self.still >= STILL && error.tree <= STILL_TREE
    }
}

/// Error of tree joints at a least-squares answer, m or rad.
const STILL_TREE: f64 = 1e-6;

/// Moves the poses of a state until the joints are met.
pub(crate) fn place(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Assembly,
    opened: OpeningPolicy,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
) -> AssemblyResult {
    let mut error = misfit(model, state, &state.poses, input, opened).with_limits(model, state, settings);
    let mut restraint = Restraint {
        opened,
        is_stiff: false,
        yielding: settings.yielding.max(0.0),
        share: 1.0,
        best: error.merit(),
        stalled: 0,
        still: 0,
    };
    let mut kept_merit = f64::INFINITY;
    let has_loops = model.has_loops(input);
    let kept = run.settings;
    let mut iterations = 0;
    let outcome = loop {
        if error.largest() <= settings.tolerance {
            break AssemblyOutcome::Assembled;
        }
        if iterations >= settings.iterations || !error.largest().is_finite() {
            break AssemblyOutcome::Unfinished;
        }
        let e = error.largest();
        run.settings.solve.precision = (0.1 * e * e).min(1e-3 * e).max(0.1 * settings.tolerance);
        let before = error;
        let turn;
        (error, turn) = displace(model, state, input, settings, &restraint, workspace, run);
        let buckles = error.merit() > GAIN * before.merit() && BUCKLING * turn > before.largest();
        if buckles && !restraint.is_stiff {
            restraint.is_stiff = true;
            state.poses.clone_from(&workspace.points.poses);
            (error, _) = displace(model, state, input, settings, &restraint, workspace, run);
        }
        iterations += 1;
        if !error.largest().is_finite() {
            state.poses.clone_from(&workspace.points.poses);
            error = before;
            break AssemblyOutcome::Unfinished;
        }
        for &(joint, pair) in &model.twist_joints {
            state.twists[joint as usize] = workspace.tree.twists[pair as usize];
        }
        if let Some(loops) = &workspace.loops {
            loops.store_twists(model, &mut state.twists);
        }
        let is_still = restraint.learn(&before, &error, has_loops);
        restraint.yielding = restraint.yielding.max(settings.yielding);
        // Ends of ranges come and go, and with them what is best: then only what meets the tree counts.
        let may_keep = !settings.limits || error.tree <= STILL_TREE;
        if restraint.stalled > 0 && error.merit() < kept_merit && may_keep {
            kept_merit = error.merit();
            workspace.points.best_poses.clone_from(&state.poses);
        }
        if is_still {
            break AssemblyOutcome::LeastSquares;
        }
    };
    run.settings = kept;
    let is_worse = kept_merit < error.merit() || (kept_merit.is_finite() && !error.largest().is_finite());
    if outcome != AssemblyOutcome::Assembled && is_worse {
        state.poses.clone_from(&workspace.points.best_poses);
        error =
            misfit(model, state, &state.poses, input, restraint.opened).with_limits(model, state, settings);
    }
    AssemblyResult { outcome, iterations, error }
}

/// One displacement; leaves the poses before it in `points.poses`. Returns the errors after it, and the largest turn.
fn displace(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Assembly,
    restraint: &Restraint,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
) -> (Misfit, f64) {
    workspace.points.base.clear();
    workspace.points.base.resize(state.poses.len(), Motion::ZERO);
    workspace.points.poses.clone_from(&state.poses);
    let &Restraint { opened, is_stiff, yielding, .. } = restraint;
    let aim = ZeroStepGoal::Place { opened, is_stiff, yielding, keeps_limits: settings.limits };
    if settings.limits {
        workspace.points.stops.clear(model, &state.poses);
    }
    for _ in 0..ROUNDS {
        solve_zero_step(model, state, input, workspace, aim, run);
        let Workspace { tree, points, .. } = &mut *workspace;
        let moved = |body: u32| {
            let pair = if body == WORLD { NONE } else { model.pair_of_body[body as usize] };
            tree.motions.get(pair as usize).copied().unwrap_or(Motion::ZERO)
        };
        if !settings.limits || !points.stops.settle(model, state, moved) {
            break;
        }
    }
    let mut largest_turn = 0.0;
    for (pose, &pair) in state.poses.iter_mut().zip(&model.pair_of_body) {
        if pair == NONE {
            continue;
        }
        let mut x = workspace.tree.motions[pair as usize] * restraint.share;
        let turn = x.angular.length();
        if turn > settings.max_turn {
            x.angular *= settings.max_turn / turn;
        }
        largest_turn = f64::max(largest_turn, turn);
        *pose = move_pose(pose, x);
    }
    let error = misfit(model, state, &state.poses, input, restraint.opened);
    (error.with_limits(model, state, settings), largest_turn)
}

/// How often a displacement is found at most until no other joint is at an end of its range.
const ROUNDS: u32 = 8;

/// What a step of length zero is for.
#[derive(Clone, Copy, PartialEq)]
enum ZeroStepGoal {
    /// Displacements that meet the joints, with the geometric stiffness of the last solve or without, rows outside the
    /// tree yielding, joints held at ends of their ranges or not.
    Place { opened: OpeningPolicy, is_stiff: bool, yielding: f64, keeps_limits: bool },
    /// Velocities that keep them.
    Rate { opened: OpeningPolicy },
}

/// Solves the tree and the loops for `points.base` in a step of length zero.
fn solve_zero_step(
    model: &Model,
    state: &State,
    input: &Input,
    workspace: &mut Workspace,
    aim: ZeroStepGoal,
    run: &mut Refinement<'_>,
) {
    let Workspace { tree, points, extras, loops, .. } = workspace;
    extras.clear();
    let is_rate = matches!(aim, ZeroStepGoal::Rate { .. });
    let (form, per_h, opened, is_stiff, yielding, keeps_limits) = match aim {
        ZeroStepGoal::Rate { opened } => (RowForm::Position, 0.0, opened, false, 0.0, false),
        ZeroStepGoal::Place { opened, is_stiff, yielding, keeps_limits } => {
            (RowForm::SmallError, 1.0, opened, is_stiff, yielding, keeps_limits)
        }
    };
    let pulls: &[DVec3] = if is_stiff { &points.pulls } else { &[] };
    let mut at = Iterate {
        form,
        rates: is_rate,
        pulls,
        stops: keeps_limits.then_some(&points.stops),
        ..Iterate::zero_step(model, &state.poses, &points.base, &state.twists, input, per_h)
    };
    let mut loops = LoopWork::of(model, model.has_loops(input), tree, loops);
    if let Some(loops) = &mut loops {
        loops.start(&state.loops, false, 0.0);
        let demand = LoopDemand { opening: opened, yielding, pulls: &points.loop_pulls, ties: &[] };
        loops.linearize(&at, &demand, extras);
    }
    (at.extra_slots, at.extras) = (&extras.slots, &extras.loads);
    sweep::solve(&at, tree, &mut |_| {});
    if let Some(loops) = &mut loops {
        let surroundings = if loops.are_bodies_free(&at) { Surroundings::Free } else { Surroundings::Pairs };
        loops.close(model, (at.poses, at.motions), (&tree.factor, &mut tree.motions), surroundings, run);
    }
    if !is_rate {
        let of_pair = |(body, &pair): (usize, &u32)| match tree.motions.get(pair as usize) {
            Some(x) => x.linear * model.bodies[body].mass,
            None => DVec3::ZERO,
        };
        points.pulls.clear();
        points.pulls.extend(model.pair_of_body.iter().enumerate().map(of_pair));
        if let Some(loops) = &mut loops {
            loops.settle(model, 1.0, &mut points.pulls);
            points.loop_pulls.clone_from(&loops.pulls);
        }
    }
    extras.clear();
}

/// The velocities nearest to the present ones, in the metric of the masses, that keep the joints.
fn match_velocities(
    model: &Model,
    state: &mut State,
    input: &Input,
    opened: OpeningPolicy,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
) {
    workspace.points.base.clone_from(&state.motions);
    solve_zero_step(model, state, input, workspace, ZeroStepGoal::Rate { opened }, run);
    let is_finite = workspace.tree.motions.iter().all(|motion| motion.is_finite());
    for (motion, &pair) in state.motions.iter_mut().zip(&model.pair_of_body) {
        if pair != NONE && is_finite {
            *motion = workspace.tree.motions[pair as usize];
        }
    }
}
