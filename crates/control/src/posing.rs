//! Inverse kinematics for posing: coordinates at which several bones are where they should be, within the limits of the joints.
//!
//! Damped least squares with levels (KP08 §3.3 after its reference 38): in each iteration the goals are rows `𝒥 x = e` on the
//! displacements `x` of the chosen joints, `e` the distance to go (cut to a step that the linearization can bear), solved by the same
//! hierarchy as guidance. Joints at a limit that would go further are left out and the rest is solved again; what still ends beyond is
//! put on the limit. Steps that come no closer are taken back and make the damping larger, others smaller (Levenberg and Marquardt);
//! a step comes closer if the first level whose error changes is one whose error shrinks, growth of second order in the step not
//! counted, as the next step takes it back.
//!
//! Only positions, components and orientations count as goals; the rest of a [`Goal`] aims at motion and is skipped. World axes, m, rad.
//! Cost per iteration: `O(rows · depth + rows² · dofs)`. Ends after a bounded number of iterations; an unreachable goal leaves a
//! residual.

use sinew_math::{Motion, Pose};
use sinew_recursive::{Dynamics, LinkId, Tree, TreeState};

use crate::actuation::Actuation;
use crate::error::ControlError;
use crate::excess::{Excess, for_each_excess};
use crate::goal::{Aim, Goal, Sight, Wish};
use crate::guidance::gyration;
use crate::hierarchy::{Damping, Hierarchy};

/// How to look for a pose.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PoseSettings {
    /// Most iterations.
    pub max_iterations: usize,
    /// Distance (m) and angle (rad) at which a goal counts as met.
    pub tolerance: f64,
    /// Whether passive joints (the root) may move, too.
    pub move_passive: bool,
}

impl Default for PoseSettings {
    /// 100 iterations, 1e-9, passive joints stay.
    fn default() -> Self {
        Self { max_iterations: 100, tolerance: 1e-9, move_passive: false }
    }
}

/// What came of a search for a pose.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseReport {
    /// Iterations made.
    pub iterations: usize,
    /// Whether every goal is met.
    pub converged: bool,
    /// Distance to go of every goal (m or rad); 0 for goals that aim at motion.
    pub residuals: Vec<f64>,
}

/// Moves the coordinates of `state` to where the goals are met as well as possible; rates stay. [`Place::Held`](crate::Place) means
/// where the bone is at the start; a path counts at its first time.
///
/// # Errors
/// [`ControlError::UnknownBone`] or [`ControlError::NotValid`] names the goal; [`ControlError::NotValid`] a state that is not finite.
pub fn find_pose(
    tree: &Tree,
    actuation: &Actuation,
    goals: &[Goal],
    settings: &PoseSettings,
    state: &mut TreeState,
) -> Result<PoseReport, ControlError> {
    for (index, goal) in goals.iter().enumerate() {
        let (bone, n_bones) = (goal.bone.index(), tree.n_links());
        if bone >= n_bones {
            return Err(ControlError::UnknownBone { what: "goal", index, bone, n_bones });
        }
        if !goal.is_valid() {
            return Err(ControlError::NotValid { what: "goal", index });
        }
    }
    if !state.is_finite() {
        return Err(ControlError::NotValid { what: "state", index: 0 });
    }
    let mut search = Search::new(tree, actuation, goals, settings, state);
    Ok(search.run(state, settings))
}

/// Largest displacement to go that one iteration asks for (rad, and m in radii of gyration of the character).
const LARGEST_STEP: f64 = 0.5;
/// Damping as a share of the squared size of the rows: first, least and most.
const FIRST_DAMPING: f64 = 1e-4;
const LEAST_DAMPING: f64 = 1e-14;
const MOST_DAMPING: f64 = 1e6;
/// Nearer than this to a limit is at the limit (rad, m).
const AT_LIMIT: f64 = 1e-9;
/// Relative change of an error that counts as one.
const CHANGE: f64 = 1e-6;
/// Most solves of one iteration, each with more joints left out.
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
    /// Length that counts like a radian (m).
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
        let held = goals.iter().map(|goal| Sight::new(tree, &dynamics, goal).pose).collect();
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
        let mut wishes = self.wishes(state);
        let mut met = self.residuals(&wishes).iter().all(|r| *r <= settings.tolerance);
        let mut trial = state.clone();
        while !met && iterations < settings.max_iterations && share <= MOST_DAMPING {
            iterations += 1;
            let length = self.step(state, &wishes, share, &mut trial);
            let reached = self.wishes(&trial);
            if self.is_closer(&wishes, &reached, length) {
                std::mem::swap(state, &mut trial);
                wishes = reached;
                share = (share * 0.1).max(LEAST_DAMPING);
                met = self.residuals(&wishes).iter().all(|r| *r <= settings.tolerance);
            } else {
                share *= 10.0;
            }
        }
        PoseReport { iterations, converged: met, residuals: self.residuals(&wishes) }
    }

    /// What every goal wants at a state; `dynamics` is left at its kinematics.
    fn wishes(&mut self, state: &TreeState) -> Vec<Option<Wish>> {
        self.dynamics.kinematics(self.tree, state);
        let wish = |(goal, held): (&Goal, &Pose)| {
            let poses = matches!(goal.aim, Aim::Position(_) | Aim::Component { .. } | Aim::Orientation(_));
            poses.then(|| {
                Wish::new(goal, &Sight::new(self.tree, &self.dynamics, goal), held, f64::NEG_INFINITY)
            })
        };
        self.goals.iter().zip(&self.held).map(wish).collect()
    }

    fn residuals(&self, wishes: &[Option<Wish>]) -> Vec<f64> {
        wishes.iter().map(|wish| wish.as_ref().map_or(0.0, Wish::distance)).collect()
    }

    /// Squared error of a level, lengths in units of the character's.
    fn error(&self, wishes: &[Option<Wish>], level: u8) -> f64 {
        let of_level = self.goals.iter().zip(wishes).filter(|(goal, _)| goal.level == level);
        let square = |wish: &Wish| {
            let distance = if wish.angular { wish.distance() } else { wish.distance() / self.length };
            distance * distance
        };
        of_level.filter_map(|(_, wish)| wish.as_ref()).map(square).sum()
    }

    /// Whether a step of some length (rad) led closer: the first level with a changed error decides.
    fn is_closer(&self, before: &[Option<Wish>], after: &[Option<Wish>], length: f64) -> bool {
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
    fn step(&mut self, state: &TreeState, wishes: &[Option<Wish>], share: f64, trial: &mut TreeState) -> f64 {
        self.dynamics.kinematics(self.tree, state);
        let mut locks: Vec<Excess> = Vec::new();
        let near = self.near_limits(&state.coordinates);
        let mut delta = vec![0.0; self.tree.n_dofs()];
        for _ in 0..MAX_LOCKS {
            self.solve(wishes, share, &locks);
            for (dof, x) in self.variables.iter().zip(self.hierarchy.solution()) {
                delta[*dof] = *x;
            }
            let pushing = |e: &&Excess| e.rate(&delta) > 1e-15 && !locks.contains(e);
            let more: Vec<Excess> = near.iter().filter(pushing).copied().collect();
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

    /// The hierarchy of goals, with joints kept from moving along `locks`.
    fn solve(&mut self, wishes: &[Option<Wish>], share: f64, locks: &[Excess]) {
        self.hierarchy.begin(&self.weights);
        for level in &self.levels {
            let (mut rows, mut targets) = (Vec::new(), Vec::new());
            for (goal, wish) in self.goals.iter().zip(wishes).filter(|(goal, _)| goal.level == *level) {
                let Some(wish) = wish else { continue };
                let point = Sight::new(self.tree, &self.dynamics, goal).pose.translation;
                self.dynamics.fill_jacobian(self.tree, goal.bone, point, &mut self.jacobian);
                let unit = if wish.angular { 1.0 } else { 1.0 / self.length };
                let cut = (LARGEST_STEP / (unit * wish.distance())).min(1.0);
                for k in 0..wish.n_rows {
                    let part = |m: &Motion| wish.axes[k].dot(if wish.angular { m.angular } else { m.linear });
                    let mut row: Vec<f64> = self.jacobian.iter().map(|m| unit * part(m)).collect();
                    for lock in locks {
                        let along = lock.rate(&row);
                        for i in 0..lock.n {
                            row[lock.dof + i] -= along * lock.direction[i];
                        }
                    }
                    rows.extend(self.variables.iter().map(|dof| row[*dof]));
                    targets.push(unit * cut * wish.error[k]);
                }
            }
            self.hierarchy.level(&rows, &targets, Damping::Relative { share, floor: 1e-6 });
        }
    }

    /// Limits that movable joints are at.
    fn near_limits(&self, coordinates: &[f64]) -> Vec<Excess> {
        let mut near = Vec::new();
        for link in &self.movable {
            let found = |excess| near.push(excess);
            for_each_excess(self.tree, self.actuation, *link, coordinates, AT_LIMIT, found);
        }
        near
    }

    /// Puts movable joints that are beyond a limit on it.
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
