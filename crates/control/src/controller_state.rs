//! State of the controller between steps: what the present phase found at its start.

use sinew_math::Pose;

/// What the controller remembers from one step to the next, as plain data. A run that is resumed with it, the state of
/// the tree and the score continues with the same bits.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ControllerState {
    /// The phase that the score is in; `None` before the first one.
    pub phase: Option<usize>,
    /// Time of the score at which the phase was entered (s).
    pub entered: f64,
    /// Per goal of the phase, when that was entered: orientation of the body frame of the bone, and the goal's point as the translation (world
    /// axes).
    pub held: Vec<Pose>,
    /// For a clip that starts from the present pose: displacements, then rates, of the joints relative to the clip when
    /// the phase was entered, per dof; otherwise empty.
    pub gap: Vec<f64>,
    /// What acted along each dof beside the actuators in the last step (N·m, N), where a stepper has to find that; otherwise empty.
    #[cfg_attr(feature = "serde", serde(default))]
    pub pushes: Vec<f64>,
}
