//! Reports of the controller: what a command did, and how far each goal is from being met.

use sinew_recursive::LinkId;

/// Summary of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use = "ignored goals and torque limits are reported here"]
#[non_exhaustive]
pub struct ControlReport {
    /// Phase of the score; `None` before the first one.
    pub phase: Option<usize>,
    /// Live drags that were ignored: not finite, of an unknown bone, or in a phase that does not guide.
    pub ignored_drags: usize,
    /// Driven joints at their torque limit.
    pub saturated: usize,
    /// Displacement limits that are active.
    pub at_limits: usize,
    /// A key that the clip is on the way to, counted from the beginning of the phase, and a joint on a loop that does not come to it: the loop does not let it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub missed_key: Option<(usize, LinkId)>,
    /// The state, the forces or the command were not finite; the command given is passive without torques.
    pub not_finite: bool,
}

/// Report on one goal.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct GoalReport {
    /// Distance to the target: m or rad; m/s or rad/s for velocities; 0 for accelerations.
    pub distance: f64,
    /// Part of the wanted acceleration that the command does not produce (m/s² or rad/s²), because the goal is
    /// infeasible, singular, or outranked.
    pub shortfall: f64,
    /// Whether the target is visibly off, by more than a twentieth of the radius of gyration or of a radian, and the command does not
    /// produce half of the wanted acceleration: the goal is out of reach, outranked, or too hard to reach.
    #[cfg_attr(feature = "serde", serde(default))]
    pub is_missed: bool,
}
