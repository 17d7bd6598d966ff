//! Settings of guidance: goals, style, target pose and levels of importance (KP08 §3.1, §3.2).

use sinew_recursive::Tree;

use crate::goal::{Gains, Goal, check_goals};
use crate::{error::ControlError, levels};

/// What is minimized among all commands that meet the goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Style {
    /// Accelerations of the driven joints: the whole body bends.
    #[default]
    Acceleration,
    /// Torques of the driven joints: the motion swings.
    Torque,
    /// Rates of all joints after the step, passive ones included: slow, controlled motion. Rates that no goal needs are
    /// removed within one step, so torques grow as steps shrink.
    Velocity,
}

/// A pose to return to where the goals leave freedom: `q̈ = −γ (k_p (q ⊖ q_ref) + k_d q̇)`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PoseGoal {
    /// Coordinates of all joints, in the layout of a tree's state; those of passive joints are not used.
    pub coordinates: Vec<f64>,
    /// Gains; a stiffness of zero only damps.
    pub gains: Gains,
    /// Time in which `γ` rises from 0 to 1 after the phase began (s); 0 means at once.
    pub ramp: f64,
}

/// Guidance during a phase.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Guide {
    /// What is minimized where goals leave freedom.
    pub style: Style,
    /// Goals on bones; live drags are added in each step.
    pub goals: Vec<Goal>,
    /// The target pose.
    pub pose: Option<PoseGoal>,
    /// Level of the target pose. Cheap if it is alone in its level; together with goals it costs one row per joint.
    pub pose_level: u8,
    /// Gains with which joints approach, and return to, their displacement limits.
    pub limits: Gains,
    /// Level of the displacement limits.
    pub limits_level: u8,
    /// Damping near singular poses: `α` of the singularity-robust inverse is this number times the squared size of the
    /// rows. Commands are at most `1/(2√robustness)` times what they are far from singular poses. The damping is
    /// increased in steps in which bones turn by more than about 0.01 rad.
    pub robustness: f64,
    /// Rate `λ` (1/s) at which directions that are hard to reach settle: the robustness is at least `(λh)²` in steps of length `h`. 0 by default.
    ///
    /// A character that nothing holds reaches some directions by recoil alone. With little robustness it would fling its limbs to get there;
    /// with this one no step changes its rates by more than a wanted acceleration does in the time `1/(2λ)`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub settling: f64,
}

impl Guide {
    /// Guidance by these goals with default levels, no target pose, and a robustness of 1e-3.
    pub fn new(style: Style, goals: Vec<Goal>) -> Self {
        Self {
            style,
            goals,
            pose: None,
            pose_level: levels::POSE,
            limits: Gains::critical(20.0),
            limits_level: levels::LIMITS,
            robustness: 1e-3,
            settling: 0.0,
        }
    }

    /// This guidance with a target pose.
    #[must_use]
    pub fn with_pose(self, pose: PoseGoal) -> Self {
        Self { pose: Some(pose), ..self }
    }

    /// The robustness in a step of this length (s).
    pub(crate) fn share(&self, h: f64) -> f64 {
        let settling = h * self.settling;
        self.robustness.max(settling * settling)
    }

    /// Checks everything against a tree.
    pub(crate) fn check(&self, tree: &Tree) -> Result<(), ControlError> {
        check_goals(tree, &self.goals)?;
        if let Some(pose) = &self.pose {
            check_coordinates(tree, &pose.coordinates, "target pose")?;
            if !(pose.gains.are_valid() && pose.ramp >= 0.0 && pose.ramp.is_finite()) {
                let what = "the gains and the ramp of the target pose";
                return Err(ControlError::OutOfRange { what, range: Gains::RANGE });
            }
        }
        if !self.limits.are_valid() {
            return Err(ControlError::OutOfRange { what: "the gains of the limits", range: Gains::RANGE });
        }
        if !(self.robustness > 0.0 && self.robustness.is_finite()) {
            return Err(ControlError::OutOfRange { what: "the robustness", range: "positive and finite" });
        }
        if !(self.settling >= 0.0 && self.settling.is_finite()) {
            return Err(ControlError::OutOfRange {
                what: "the settling rate",
                range: "finite and not negative",
            });
        }
        Ok(())
    }
}

/// Checks that there is one finite number per coordinate of the tree.
pub(crate) fn check_coordinates(tree: &Tree, q: &[f64], what: &'static str) -> Result<(), ControlError> {
    if q.len() != tree.n_coordinates() {
        return Err(ControlError::WrongSize {
            what,
            index: 0,
            found: q.len(),
            expected: tree.n_coordinates(),
        });
    }
    match q.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(ControlError::NotValid { what, index, range: "finite" }),
        None => Ok(()),
    }
}
