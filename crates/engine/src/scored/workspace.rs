//! Scratch memory of scored steps.

use sinew_control::{Controller, Goal};
use sinew_math::Force;
use sinew_mechanism::Input;
use sinew_recursive::{Dynamics, HybridCommand, LoopDynamics, TreeState};

use super::{following::Following, settling::Settling};
use crate::{ReducedModel, State};

/// Scratch of scored steps; losing it changes no result.
#[derive(Debug)]
pub(crate) struct ScoredWorkspace {
    pub(super) controller: Option<Controller>,
    pub(super) dynamics: Dynamics,
    pub(super) loops: LoopDynamics,
    pub(super) following: Following,
    /// Where the step begins.
    pub(super) start: State,
    pub(super) tree_state: TreeState,
    pub(super) end: TreeState,
    pub(super) command: HybridCommand,
    /// What the actuators do, per degree of freedom.
    pub(super) laws: Vec<Option<ActuatorLaw>>,
    /// Rates at the end of the step that the last tried command and the present one ask for.
    pub(super) rates: [Vec<f64>; 2],
    /// The rows that take a twist of a link to the rates of its joint, per degree of freedom.
    pub(super) gradients: Vec<Force>,
    pub(super) external: Vec<Force>,
    pub(super) drags: Vec<Goal>,
    pub(super) input: Input,
    pub(super) settling: Settling,
    pub(super) inverse: HybridCommand,
}

/// The torque `force − damping · q̇⁺` of an actuator along a degree of freedom.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActuatorLaw {
    pub(super) force: f64,
    pub(super) damping: f64,
}

impl ScoredWorkspace {
    pub(super) fn new(reduced: &ReducedModel, state: &State) -> Self {
        let tree = reduced.tree();
        let zeros = || vec![0.0; tree.n_dofs()];
        Self {
            controller: reduced.controller.clone(),
            dynamics: Dynamics::new(tree),
            loops: LoopDynamics::new(reduced.looped()),
            following: Following::default(),
            start: state.clone(),
            tree_state: tree.neutral_state(),
            end: tree.neutral_state(),
            command: HybridCommand::passive(tree),
            laws: vec![None; tree.n_dofs()],
            rates: [zeros(), zeros()],
            gradients: vec![Force::ZERO; tree.n_dofs()],
            external: vec![Force::ZERO; tree.n_links()],
            drags: Vec::new(),
            input: Input::default(),
            settling: Settling::default(),
            inverse: HybridCommand::prescribed(tree),
        }
    }
}
