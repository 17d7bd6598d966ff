//! The iteration of an assembly: displacements until the joints are met.
//!
//! Each iteration is a step of length zero (`zero_step`): the displacement `x` of least `xᵀMx` with `J x = −C`, tree rows exactly,
//! loops by refinement. Every body's turn is bounded, poses are composed (`R ← exp(δθ)R`), and the joints are linearized again.
//!
//! Convergence is quadratic near a solution. A long taut chain is corrected most cheaply by buckling, which makes new errors.
//! Where an iteration gains too little it is made again with the geometric stiffness of its own joint forces added to `M`
//! (`geometric`), and so are those after it. Where the error still stops falling, rows outside the tree yield (Levenberg and
//! Marquardt's damping), or without any the displacement is halved. Where the error no longer changes the joints contradict each
//! other, and the poses are a least-squares answer: tree joints met, joints outside the tree open. Units: m and rad.

use sinew_math::Motion;
use sinew_topology::NONE;

use crate::assembly::{AssemblyErrors, ZeroStep, limits};
use crate::input_index::StepInput;
use crate::loops::{OpeningPolicy, Refinement};
use crate::model::WORLD;
use crate::prepare::move_pose;
use crate::{Assembly, Model, State, Workspace};

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

/// Moves the poses of a state until the joints are met.
pub(crate) struct Placement<'a, 'b> {
    pub(crate) model: &'a Model,
    pub(crate) input: StepInput<'a>,
    pub(crate) settings: &'a Assembly,
    /// What becomes of joints that may open.
    pub(crate) opening: OpeningPolicy,
    pub(crate) state: &'a mut State,
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) run: &'a mut Refinement<'b>,
}

impl Placement<'_, '_> {
    /// Moves the poses until the joints are met, or nothing changes any more.
    pub(crate) fn place(&mut self) -> AssemblyResult {
        let error = self.errors();
        let restraint = Restraint::new(self.settings, error.merit());
        let mut search = PlacementSearch { error, restraint, kept_merit: f64::INFINITY, iterations: 0 };
        let kept = self.run.settings;
        let outcome = loop {
            if let Some(outcome) = search.outcome(self.settings) {
                break outcome;
            }
            let e = search.error.largest();
            self.run.settings.solve.precision =
                (0.1 * e * e).min(1e-3 * e).max(0.1 * self.settings.tolerance);
            self.run.settings.solve.openness = search.error.relative;
            if let Some(outcome) = self.iterate(&mut search) {
                break outcome;
            }
        };
        self.run.settings = kept;
        let PlacementSearch { mut error, kept_merit, iterations, .. } = search;
        let is_worse = kept_merit < error.merit() || (kept_merit.is_finite() && !error.largest().is_finite());
        if outcome != AssemblyOutcome::Assembled && is_worse {
            self.state.poses.clone_from(&self.workspace.points.best_poses);
            error = self.errors();
        }
        AssemblyResult { outcome, iterations, error }
    }

    /// One displacement, made again with stiffening joint forces if it buckles; an outcome if it ends the search.
    fn iterate(&mut self, search: &mut PlacementSearch) -> Option<AssemblyOutcome> {
        let before = search.error;
        let turn;
        (search.error, turn) = self.displace(&search.restraint);
        // Large turns that gain nothing are those of a taut chain that buckles.
        let buckles = search.error.merit() > GAIN * before.merit() && BUCKLING * turn > before.largest();
        if buckles && !search.restraint.is_stiff {
            search.restraint.is_stiff = true;
            self.state.poses.clone_from(&self.workspace.points.poses);
            (search.error, _) = self.displace(&search.restraint);
        }
        search.iterations += 1;
        if !search.error.largest().is_finite() {
            self.state.poses.clone_from(&self.workspace.points.poses);
            search.error = before;
            return Some(AssemblyOutcome::Unfinished);
        }
        self.workspace.store_twists(self.model, self.state);
        let restraint = &mut search.restraint;
        let is_still = restraint.learn(&before, &search.error, self.model.has_loops(self.input));
        restraint.yielding = restraint.yielding.max(self.settings.yielding);
        if search.keeps_present(self.settings) {
            self.workspace.points.best_poses.clone_from(&self.state.poses);
        }
        is_still.then_some(AssemblyOutcome::LeastSquares)
    }

    /// One displacement; leaves the poses before it in `points.poses`. Returns the errors after it, and the largest turn.
    fn displace(&mut self, restraint: &Restraint) -> (AssemblyErrors, f64) {
        let points = &mut self.workspace.points;
        points.base.clear();
        points.base.resize(self.state.poses.len(), Motion::ZERO);
        points.poses.clone_from(&self.state.poses);
        self.solve_within_limits(restraint);
        let mut largest_turn = 0.0;
        for (pose, &pair) in self.state.poses.iter_mut().zip(&self.model.pair_of_body) {
            let Some(&x) = self.workspace.tree.motions.get(pair as usize) else { continue };
            let mut x = x * restraint.share;
            let turn = x.angular.length();
            if turn > self.settings.max_turn {
                // A linearization says nothing about turns beyond a radian.
                x.angular *= self.settings.max_turn / turn;
            }
            largest_turn = f64::max(largest_turn, turn);
            *pose = move_pose(pose, x);
        }
        (self.errors(), largest_turn)
    }

    /// Finds a displacement, again until no other joint reaches a limit.
    fn solve_within_limits(&mut self, restraint: &Restraint) {
        let Self { model, input, state, workspace, run, .. } = self;
        let keeps_limits = self.settings.limits;
        let &Restraint { is_stiff, yielding, .. } = restraint;
        let step = ZeroStep { is_rate: false, opening: self.opening, is_stiff, yielding, keeps_limits };
        if keeps_limits {
            limits::release_all(&mut workspace.points.held, model, &state.poses);
        }
        for _ in 0..ROUNDS {
            step.solve((model, *input), state, workspace, run);
            let Workspace { tree, points, .. } = &mut **workspace;
            let moved = |body: u32| {
                let pair = if body == WORLD { NONE } else { model.pair_of_body[body as usize] };
                tree.motions.get(pair as usize).copied().unwrap_or(Motion::ZERO)
            };
            if !keeps_limits || !limits::update(&mut points.held, model, state, moved) {
                break;
            }
        }
    }

    /// The velocities nearest to the present ones, in the metric of the masses, that keep the joints.
    pub(crate) fn match_velocities(&mut self) {
        let kept = self.run.settings;
        self.run.settings.solve.openness = self.errors().relative;
        let Self { model, input, state, workspace, run, .. } = self;
        workspace.points.base.clone_from(&state.motions);
        ZeroStep::rate(self.opening).solve((model, *input), state, workspace, run);
        run.settings = kept;
        let is_finite = workspace.tree.motions.iter().all(|motion| motion.is_finite());
        for (motion, &pair) in state.motions.iter_mut().zip(&model.pair_of_body) {
            if pair != NONE && is_finite {
                *motion = workspace.tree.motions[pair as usize];
            }
        }
    }

    /// Errors at the poses of a state, limits included if they are to be kept.
    fn errors(&self) -> AssemblyErrors {
        let errors = AssemblyErrors::at(self.model, self.state, &self.state.poses, self.input, self.opening);
        errors.with_limits(self.model, self.state, self.settings)
    }
}

/// Displacements found at most until no other joint reaches a limit.
const ROUNDS: u32 = 8;

/// The iteration so far.
struct PlacementSearch {
    error: AssemblyErrors,
    restraint: Restraint,
    /// Merit of the poses that were kept as the best.
    kept_merit: f64,
    iterations: u32,
}

impl PlacementSearch {
    /// How it ended, if it has.
    fn outcome(&self, settings: &Assembly) -> Option<AssemblyOutcome> {
        if self.error.largest() <= settings.tolerance {
            return Some(AssemblyOutcome::Assembled);
        }
        let is_over = self.iterations >= settings.iterations || !self.error.largest().is_finite();
        is_over.then_some(AssemblyOutcome::Unfinished)
    }

    /// Whether the present poses are the best so far.
    fn keeps_present(&mut self, settings: &Assembly) -> bool {
        // Held limits come and go, and with them what is best: then only what meets the tree counts.
        let may_keep = !settings.limits || self.error.tree <= STILL_TREE;
        let keeps = self.restraint.stalled > 0 && self.error.merit() < self.kept_merit && may_keep;
        if keeps {
            self.kept_merit = self.error.merit();
        }
        keeps
    }
}

/// What a placement did.
pub(crate) struct AssemblyResult {
    pub(crate) outcome: AssemblyOutcome,
    pub(crate) iterations: u32,
    /// What is left.
    pub(crate) error: AssemblyErrors,
}

/// Share of the error that an iteration may leave, and share of its largest turn that the error must have exceeded (rad
/// and m), before joint forces stiffen it.
const GAIN: f64 = 0.25;
const BUCKLING: f64 = 0.1;

/// What holds an iteration back where the plain one does not gain.
struct Restraint {
    /// Joint forces stiffen the corrections.
    is_stiff: bool,
    /// Compliance of rows outside the tree, in terms of the masses of their trees.
    yielding: f64,
    /// Share of a displacement that is made.
    share: f64,
    /// Smallest merit so far.
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
    /// No restraint beyond what the settings ask for.
    fn new(settings: &Assembly, merit: f64) -> Self {
        let yielding = settings.yielding.max(0.0);
        Self { is_stiff: false, yielding, share: 1.0, best: merit, stalled: 0, still: 0 }
    }

    /// Learns from an iteration; true if nothing changes any more.
    fn learn(&mut self, before: &AssemblyErrors, error: &AssemblyErrors, has_loops: bool) -> bool {
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
