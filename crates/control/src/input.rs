//! Input of the controller for one step: time and step length (s), gravity (m/s²), wrenches, live drags.

use glam::DVec3;
use sinew_math::Force;
use sinew_recursive::{LoopedTree, Tree, TreeState};

use crate::{
    actuation::Actuation,
    goal::{Goal, GoalTimes},
};

/// The circumstances of one step.
#[derive(Clone, Copy, Debug)]
pub struct ControlInput<'a> {
    /// Time of the run at the start of the step (s).
    pub time: f64,
    /// Length of the step (s).
    pub dt: f64,
    /// Acceleration of gravity, world axes (m/s²).
    pub gravity: DVec3,
    /// One wrench per link, or nothing: torque about the centre of mass of its body (N·m) and force (N), world axes, as in
    /// `sinew_recursive::Dynamics::hybrid` (flesh, contact, wind).
    pub external: &'a [Force],
    /// Torques of passive joints, such as springs, per dof (N·m, N), or empty.
    pub torques: &'a [f64],
    /// Live drags: goals beside those of the score, used while the score guides.
    pub drags: &'a [Goal],
    /// Whether the caller steps the springs of a landing ([`Controller::springs`](crate::Controller::springs))
    /// implicitly. The command then leaves them out.
    pub implicit_springs: bool,
}

impl<'a> ControlInput<'a> {
    /// Input with gravity and nothing else; set the other fields as needed.
    pub fn new(time: f64, dt: f64, gravity: DVec3) -> Self {
        Self { time, dt, gravity, external: &[], torques: &[], drags: &[], implicit_springs: false }
    }

    pub(crate) fn torque(&self, dof: usize) -> f64 {
        self.torques.get(dof).copied().unwrap_or(0.0)
    }
}

/// A character, its state and the input of a step.
#[derive(Clone, Copy)]
pub(crate) struct ControlContext<'a> {
    pub(crate) looped: &'a LoopedTree,
    pub(crate) tree: &'a Tree,
    pub(crate) actuation: &'a Actuation,
    pub(crate) state: &'a TreeState,
    pub(crate) input: &'a ControlInput<'a>,
    pub(crate) step: GoalTimes,
}

impl ControlContext<'_> {
    /// Time of the score (s).
    pub(crate) fn time(&self) -> f64 {
        self.step.score[1]
    }

    pub(crate) fn is_finite(&self) -> bool {
        let input = self.input;
        self.state.is_finite()
            && input.gravity.is_finite()
            && input.time.is_finite()
            && input.dt > 0.0
            && input.external.iter().all(|f| f.is_finite())
            && input.torques.iter().all(|t| t.is_finite())
    }
}
