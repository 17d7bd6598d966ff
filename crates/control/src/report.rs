//! What a command has to say about itself.

/// Summary of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use = "ignored goals and torque limits are reported here"]
pub struct ControlReport {
    /// Phase of the score; `None` before the first one.
    pub phase: Option<usize>,
    /// Live drags that were left out: not finite, of an unknown bone, or in a phase that does not guide.
    pub ignored_drags: usize,
    /// Driven joints whose torque is held at its limit.
    pub saturated: usize,
    /// Displacement limits that hold their joint back.
    pub at_limits: usize,
    /// The state or the forces were not finite, and a command without accelerations and torques was given instead.
    pub not_finite: bool,
}

/// How one goal fares.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GoalReport {
    /// Distance still to go: m or rad; m/s or rad/s for velocities; 0 for accelerations.
    pub distance: f64,
    /// What the command leaves missing of the wanted acceleration (m/s² or rad/s²): the goal is infeasible, singular, or outranked.
    pub shortfall: f64,
}
