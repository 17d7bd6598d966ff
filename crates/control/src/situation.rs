//! What a command is made for: a state, what acts on it, and when.

use glam::DVec3;
use sinew_math::Force;
use sinew_recursive::{Tree, TreeState};

use crate::actuation::Actuation;
use crate::goal::Goal;

/// The circumstances of one step.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Time of the run at the start of the step (s).
    pub time: f64,
    /// Length of the step (s).
    pub dt: f64,
    /// Acceleration of gravity, world axes (m/s²).
    pub gravity: DVec3,
    /// One wrench per link as in `sinew_recursive::Dynamics::hybrid` (flesh, contact, wind), or nothing.
    pub external: &'a [Force],
    /// Torques of passive joints, such as springs, per dof (N·m, N), or nothing.
    pub torques: &'a [f64],
    /// Live drags: goals beside those of the score while it guides.
    pub drags: &'a [Goal],
    /// Whether the caller steps the springs of a landing ([`Controller::springs`](crate::Controller::springs)) implicitly; the command
    /// then leaves them out.
    pub implicit_springs: bool,
}

impl<'a> Moment<'a> {
    /// A moment with gravity and nothing else; set the other fields as needed.
    #[must_use]
    pub fn new(time: f64, dt: f64, gravity: DVec3) -> Self {
        Self { time, dt, gravity, external: &[], torques: &[], drags: &[], implicit_springs: false }
    }

    pub(crate) fn torque(&self, dof: usize) -> f64 {
        self.torques.get(dof).copied().unwrap_or(0.0)
    }
}

/// A moment of a character.
#[derive(Clone, Copy)]
pub(crate) struct Situation<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) actuation: &'a Actuation,
    pub(crate) state: &'a TreeState,
    pub(crate) moment: &'a Moment<'a>,
    /// Time of the score (s).
    pub(crate) time: f64,
}

impl Situation<'_> {
    pub(crate) fn is_finite(&self) -> bool {
        let m = self.moment;
        self.state.is_finite()
            && m.gravity.is_finite()
            && m.time.is_finite()
            && m.dt > 0.0
            && m.external.iter().all(|f| f.is_finite())
            && m.torques.iter().all(|t| t.is_finite())
    }
}
