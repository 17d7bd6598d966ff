//! Where the points of goals are a step before and after the present one.
//!
//! A step moves joints at mean rates. With `p` the accelerations of passive joints by velocity products alone, which a step spreads over its
//! length, these are `v − ½h p` in the step before and `v + h (q̈ − ½p)` in this one. The mean velocity of a point is
//!
//! ```text
//! w  = (x(q) − x(q ⊖ h (v − ½h p)))/h              in the step before, which goals compare with their targets
//! w⁺ = ẋ − ½h γ + h (a + b)                        in this one, for an acceleration a of the point at the beginning of the step
//! ```
//!
//! where `γ` is the acceleration of the point with `p` and no command, and `b` what is missing, of first order in the step. `b` is found by
//! moving the tree with a command; the command is then solved again for `a − b`. So a bone arrives where it should however far joints turn in
//! a step. World axes, SI. Cost: one pass of kinematics, for every command that is tried.

use std::cmp::Ordering;

use sinew_math::{Motion, Pose, log_so3};
use sinew_recursive::{Dynamics, Tree, TreeState};

use crate::goal::{Goal, GoalPoint};
use crate::input::ControlContext;

/// Factor on the robustness of a level that is given up.
const GIVEN_UP: f64 = 1e6;

/// The tree at another time.
#[derive(Clone, Debug)]
pub(super) struct Elsewhere {
    state: TreeState,
    dynamics: Dynamics,
    /// `p`, per dof.
    pub(super) products: Vec<f64>,
}

/// A point in the present step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GoalCourse {
    pub(super) pose: Pose,
    /// `ẋ − ½h γ`.
    pub(super) coasting: Motion,
    /// `b`.
    pub(super) bend: Motion,
}

/// How far rows are trusted in the present command.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trust {
    /// The level that is in doubt. Levels after it are given up, those before it are trusted.
    pub(super) level: u8,
    /// Factor on its robustness.
    doubt: f64,
    /// Factor on the robustness of all levels at the present velocities.
    caution: f64,
    /// By how much the courses of points changed with the last command.
    pub(super) missed: f64,
}

impl Trust {
    /// In all rows, the last level of goals given.
    pub(super) fn new(last: Option<u8>, caution: f64) -> Self {
        Self { level: last.unwrap_or(u8::MAX), doubt: 1.0, caution, missed: f64::INFINITY }
    }

    /// Factor on the robustness of a level.
    pub(super) fn factor(&self, level: u8) -> f64 {
        self.caution
            * match level.cmp(&self.level) {
                Ordering::Less => 1.0,
                Ordering::Equal => self.doubt,
                Ordering::Greater => GIVEN_UP,
            }
    }

    /// Less of it; the level before this one is next.
    pub(super) fn lower(&mut self, before: Option<u8>) {
        self.doubt *= 2.0;
        if let Some(level) = before
            && self.doubt > GIVEN_UP
        {
            *self = Self::new(Some(level), self.caution);
        }
    }
}

impl Elsewhere {
    pub(super) fn new(tree: &Tree, dynamics: &Dynamics) -> Self {
        let (state, dynamics) = (tree.neutral_state(), dynamics.clone());
        Self { products: vec![0.0; tree.n_dofs()], state, dynamics }
    }

    /// Moves the tree from the present state for `h` seconds at rates that have the accelerations `q̈` since the beginning of the step.
    pub(super) fn go(&mut self, at: &ControlContext<'_>, h: f64, acceleration: impl Fn(usize) -> f64) {
        let Self { state, dynamics, products } = self;
        state.coordinates.copy_from_slice(&at.state.coordinates);
        for (dof, rate) in state.rates.iter_mut().enumerate() {
            *rate = at.state.rates[dof] + at.input.dt * (acceleration(dof) - 0.5 * products[dof]);
        }
        at.tree.advance(&mut state.coordinates, &state.rates, h);
        dynamics.kinematics(at.tree, state);
    }

    /// Mean velocity of the point of a goal, in the time `h` between its present pose and the one here.
    pub(super) fn mean_motion(&self, tree: &Tree, goal: &Goal, now: &Pose, h: f64) -> Motion {
        let there = GoalPoint::new(tree, &self.dynamics, goal).pose;
        let turn = log_so3(there.rotation * now.rotation.conjugate());
        Motion::new(turn, there.translation - now.translation) * (1.0 / h)
    }
}
