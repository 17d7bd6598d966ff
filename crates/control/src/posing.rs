//! Inverse kinematics: joint coordinates that meet goals on several bones, within the joint limits.
//!
//! Damped least squares with levels (KP08 §3.3 after its reference 38). In each iteration the goals are rows `𝒥 x = e`
//! on the displacements `x` of the chosen joints, with `e` the error, cut to a length for which the linearization
//! holds. They are solved by the same hierarchy as guidance. Joints at a limit that would move further out are locked,
//! and the rest is solved again; coordinates that still end beyond a limit are put on it. A step that does not reduce
//! the error is rejected and the damping grows; after an accepted step it shrinks (Levenberg–Marquardt). The first
//! level whose error changes decides; growth of second order in the step does not count, because the next step removes
//! it.
//!
//! Goals on velocities and accelerations are skipped. World axes, m, rad. Cost per iteration:
//! `O(rows · depth + rows² · dofs)`. The number of iterations is bounded; an unreachable goal leaves a residual.

use glam::DVec3;
use sinew_math::{Motion, Pose};
use sinew_recursive::{Dynamics, LinkId, Tree, TreeState};

use crate::goal::{Aim, Goal, GoalPoint, GoalRows, GoalTimes, check_goals};
use crate::hierarchy::{Damping, Hierarchy};
use crate::limits::{LimitState, for_each_limit};
use crate::{actuation::Actuation, error::ControlError, gyration::gyration};

/// Settings of [`find_pose`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PoseSettings {
    /// Largest number of iterations.
    pub max_iterations: usize,
    /// Distance (m) and angle (rad) at which a goal counts as met.
    pub tolerance: f64,
    /// Whether passive joints (the root) may move as well.
    pub move_passive: bool,
}

impl Default for PoseSettings {
    /// 100 iterations, tolerance 1e-9, passive joints fixed.
    fn default() -> Self {
        Self { max_iterations: 100, tolerance: 1e-9, move_passive: false }
    }
}

/// Report of [`find_pose`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PoseReport {
    /// Iterations done.
    pub iterations: usize,
    /// Whether every goal is met.
    pub converged: bool,
    /// Distance of every goal to its target (m or rad); 0 for goals on velocities and accelerations.
    pub residuals: Vec<f64>,
}

/// Moves the coordinates of `state` so that the goals are met as well as possible; rates are unchanged.
/// [`PointTarget::Held`](crate::PointTarget) means the position at the start; a path counts at its first time.
///
/// # Errors
/// [`ControlError::UnknownBone`] or [`ControlError::NotValid`] names the goal; [`ControlError::OutOfRange`] a state that
/// is not finite.
pub fn find_pose(
    tree: &Tree,
    actuation: &Actuation,
    goals: &[Goal],
    settings: &PoseSettings,
    state: &mut TreeState,
) -> Result<PoseReport, ControlError> {
    check_goals(tree, goals)?;
    if !state.is_finite() {
        return Err(ControlError::OutOfRange { what: "the initial state", range: "finite" });
    }
    let mut search = Search::new(tree, actuation, goals, settings, state);
    Ok(search.run(state, settings))
}

/// Paths are where they begin; up is along z.
const AT_START: GoalTimes = GoalTimes { score: [f64::NEG_INFINITY; 3], dt: 1.0, up: DVec3::Z };

/// Largest error that one iteration asks to remove (rad, and m in radii of gyration of the character).
const LARGEST_STEP: f64 = 0.5;
/// Damping as a share of the squared size of the rows: first, smallest and largest.
const FIRST_DAMPING: f64 = 1e-4;
const LEAST_DAMPING: f64 = 1e-14;
const MOST_DAMPING: f64 = 1e6;
/// A joint nearer to a limit than this is at the limit (rad, m).
const AT_LIMIT: f64 = 1e-9;
/// Smallest relative change of an error that counts.
const CHANGE: f64 = 1e-6;
/// Largest number of solves in one iteration, each with more locked joints.
const MAX_LOCKS: usize = 6;

struct Search<'a> {
    tree: &'a Tree,
    actuation: &'a Actuation,
    goals: &'a [Goal],
    held: Vec<Pose>,
    /// Levels in use, in order.
    levels: Vec<u8>,
    movable: Vec<LinkId>,
    /// Dof of each variable.
    variables: Vec<usize>,
    weights: Vec<f64>,
    dynamics: Dynamics,
    hierarchy: Hierarchy,
    jacobian: Vec<Motion>,
    /// Radius of gyration: the length that counts like a radian (m).
    length: f64,
}

impl<'a> Search<'a> {
    fn new(
        tree: &'a Tree,
        actuation: &'a Actuation,
        goals: &'a [Goal],
        settings: &PoseSettings,
        state: &TreeState,
    ) -> Self {
        let mut dynamics = Dynamics::new(tree);
        let length = gyration(tree, &mut dynamics).0;
        dynamics.kinematics(tree, state);
        let held = goals.iter().map(|goal| GoalPoint::new(tree, &dynamics, goal).pose).collect();
        let mut levels: Vec<u8> = goals.iter().map(|goal| goal.level).collect();
        levels.sort_unstable();
        levels.dedup();
        let may_move = |link: &LinkId| settings.move_passive || actuation.is_active(*link);
        let movable: Vec<LinkId> = tree.links().filter(may_move).collect();
        let variables: Vec<usize> = movable.iter().flat_map(|link| tree.dofs(*link)).collect();
        let weights = variables.iter().map(|dof| actuation.weight(*dof)).collect();
        let jacobian = vec![Motion::ZERO; tree.n_dofs()];
        let hierarchy = Hierarchy::new();
        Self {
            tree,
            actuation,
            goals,
            held,
            levels,
            movable,
            variables,
            weights,
            dynamics,
            hierarchy,
            jacobian,
            length,
        }
    }

    fn run(&mut self, state: &mut TreeState, settings: &PoseSettings) -> PoseReport {
        self.project(&mut state.coordinates);
        let mut share = FIRST_DAMPING;
        let mut iterations = 0;
        let mut wanted = self.wanted(state);
        let mut met = self.residuals(&wanted).iter().all(|r| *r <= settings.tolerance);
        let mut trial = state.clone();
        while !met && iterations < settings.max_iterations && share <= MOST_DAMPING {
            iterations += 1;
            let length = self.step(state, &wanted, share, &mut trial);
            let reached = self.wanted(&trial);
            if self.is_closer(&wanted, &reached, length) {
                std::mem::swap(state, &mut trial);
                wanted = reached;
                share = (share * 0.1).max(LEAST_DAMPING);
                met = self.residuals(&wanted).iter().all(|r| *r <= settings.tolerance);
            } else {
                share *= 10.0;
            }
        }
        PoseReport { iterations, converged: met, residuals: self.residuals(&wanted) }
    }

    /// Rows of every goal on the pose, at a state; `dynamics` is left at its kinematics.
    fn wanted(&mut self, state: &TreeState) -> Vec<Option<GoalRows>> {
        self.dynamics.kinematics(self.tree, state);
        let rows = |(goal, held): (&Goal, &Pose)| {
            let now = GoalPoint::new(self.tree, &self.dynamics, goal);
            let on_pose = matches!(
                goal.aim,
                Aim::Position(_) | Aim::Component { .. } | Aim::Height(_) | Aim::Orientation(_)
            );
            on_pose.then(|| GoalRows::new(goal, &now, held, &AT_START))
        };
        self.goals.iter().zip(&self.held).map(rows).collect()
    }

    fn residuals(&self, wanted: &[Option<GoalRows>]) -> Vec<f64> {
        wanted.iter().map(|row| row.as_ref().map_or(0.0, GoalRows::distance)).collect()
    }

    /// Squared error of a level, lengths in radii of gyration.
    fn error(&self, wanted: &[Option<GoalRows>], level: u8) -> f64 {
        let of_level = self.goals.iter().zip(wanted).filter(|(goal, _)| goal.level == level);
        let square = |row: &GoalRows| {
            let distance = if row.angular { row.distance() } else { row.distance() / self.length };
            distance * distance
        };
        of_level.filter_map(|(_, row)| row.as_ref()).map(square).sum()
    }

    /// Whether a step of some length (rad) reduced the error: the first level with a changed error decides.
    fn is_closer(&self, before: &[Option<GoalRows>], after: &[Option<GoalRows>], length: f64) -> bool {
        let curved = 0.5 * length * length;
        for level in &self.levels {
            let (old, new) = (self.error(before, *level), self.error(after, *level));
            if new < old * (1.0 - CHANGE) {
                return true;
            }
            if new > 4.0 * old + curved * curved {
                return false;
            }
        }
        false
    }

    /// One damped step from `state` to `trial`; returns its length.
    fn step(
        &mut self,
        state: &TreeState,
        wanted: &[Option<GoalRows>],
        share: f64,
        trial: &mut TreeState,
    ) -> f64 {
        self.dynamics.kinematics(self.tree, state);
        let mut locks: Vec<LimitState> = Vec::new();
        let near = self.near_limits(&state.coordinates);
        let mut delta = vec![0.0; self.tree.n_dofs()];
        for _ in 0..MAX_LOCKS {
            self.solve(wanted, share, &locks);
            for (dof, x) in self.variables.iter().zip(self.hierarchy.solution()) {
                delta[*dof] = *x;
            }
            let pushing = |e: &&LimitState| e.rate(&delta) > 1e-15 && !locks.contains(e);
            let more: Vec<LimitState> = near.iter().filter(pushing).copied().collect();
            if more.is_empty() {
                break;
            }
            locks.extend(more);
        }
        trial.coordinates.copy_from_slice(&state.coordinates);
        self.tree.advance(&mut trial.coordinates, &delta, 1.0);
        self.project(&mut trial.coordinates);
        delta.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// Solves the goals, with joints kept from moving along `locks`.
    fn solve(&mut self, wanted: &[Option<GoalRows>], share: f64, locks: &[LimitState]) {
        self.hierarchy.begin(&self.weights);
        for level in &self.levels {
            let (mut rows, mut targets) = (Vec::new(), Vec::new());
            for (goal, own) in self.goals.iter().zip(wanted).filter(|(goal, _)| goal.level == *level) {
                let Some(own) = own else { continue };
                let point = GoalPoint::new(self.tree, &self.dynamics, goal).pose.translation;
                self.dynamics.fill_jacobian(self.tree, goal.bone, point, &mut self.jacobian);
                let unit = if own.angular { 1.0 } else { 1.0 / self.length };
                let cut = (LARGEST_STEP / (unit * own.distance())).min(1.0);
                for k in 0..own.n_rows {
                    let part = |m: &Motion| own.axes[k].dot(if own.angular { m.angular } else { m.linear });
                    let mut row: Vec<f64> = self.jacobian.iter().map(|m| unit * part(m)).collect();
                    for lock in locks {
                        let along = lock.rate(&row);
                        for i in 0..lock.n {
                            row[lock.dof + i] -= along * lock.direction[i];
                        }
                    }
                    rows.extend(self.variables.iter().map(|dof| row[*dof]));
                    targets.push(unit * cut * own.error[k]);
                }
            }
            self.hierarchy.level(&rows, &targets, Damping::Relative { share, floor: 1e-6 });
        }
    }

    /// Limits that movable joints have reached.
    fn near_limits(&self, coordinates: &[f64]) -> Vec<LimitState> {
        let mut near = Vec::new();
        for link in &self.movable {
            let found = |excess| near.push(excess);
            for_each_limit(self.tree, self.actuation, *link, coordinates, AT_LIMIT, found);
        }
        near
    }

    /// Puts movable joints that are beyond a limit back on it.
    fn project(&self, coordinates: &mut [f64]) {
        let mut delta = vec![0.0; self.tree.n_dofs()];
        let mut any = false;
        for excess in self.near_limits(coordinates).iter().filter(|excess| excess.beyond > 0.0) {
            any = true;
            for i in 0..excess.n {
                delta[excess.dof + i] = -excess.beyond * excess.direction[i];
            }
        }
        if any {
            self.tree.advance(coordinates, &delta, 1.0);
        }
    }
}
