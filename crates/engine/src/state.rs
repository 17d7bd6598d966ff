//! The state of a character, which changes from step to step: bodies, flesh, controller. Plain data.

use sinew_control::ControllerState;
use sinew_flesh::FleshState;

/// The state of bodies, flesh and control: plain data. Restoring it restores the future to the bit.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Poses and twists of the bodies, and what the next step needs of the last one.
    pub bodies: sinew_mechanism::State,
    /// Nodes of flesh and the memory of contacts.
    #[cfg_attr(feature = "serde", serde(default))]
    pub flesh: FleshState,
    /// Memory of the controller.
    #[cfg_attr(feature = "serde", serde(default))]
    pub control: ControllerState,
}

impl From<sinew_mechanism::State> for State {
    fn from(bodies: sinew_mechanism::State) -> Self {
        Self { bodies, ..Self::default() }
    }
}
