//! Scratch memory of steps in joint coordinates.

use sinew_control::{Controller, Goal};
use sinew_math::{Force, Motion};
use sinew_mechanism::{Input, MotorTarget};
use sinew_recursive::{Dynamics, HybridCommand, LoopedIntegrator, TreeState};

use super::momentum::FloatingMomenta;
use crate::reduced_model::{JointTorques, ReducedModel};

/// Scratch of reduced steps; losing it changes no result.
#[derive(Clone, Debug)]
pub(crate) struct ReducedWorkspace {
    pub(crate) dynamics: Dynamics,
    pub(crate) integrator: LoopedIntegrator,
    pub(super) momenta: FloatingMomenta,
    pub(super) tree_state: TreeState,
    /// Where a part of a Runge–Kutta step begins.
    pub(super) begun: TreeState,
    pub(super) command: HybridCommand,
    pub(super) controller: Option<Controller>,
    pub(super) joints: JointTorques,
    /// Per link, and per body.
    pub(super) external: Vec<Force>,
    pub(super) wrenches: Vec<Force>,
    /// Goals of all motors, where joints that close loops have any.
    pub(super) targets: Vec<MotorTarget>,
    pub(super) drags: Vec<Goal>,
    /// Mean accelerations of the bodies, if they were asked for.
    pub(crate) accelerations: Vec<Motion>,
    /// Bodies at a stage of Runge–Kutta.
    pub(super) stage_bodies: sinew_mechanism::State,
}

impl ReducedWorkspace {
    pub(crate) fn new(reduced: &ReducedModel, bodies: &sinew_mechanism::State) -> Self {
        let tree = reduced.tree();
        Self {
            dynamics: Dynamics::new(tree),
            integrator: LoopedIntegrator::new(reduced.looped()),
            momenta: FloatingMomenta::new(tree),
            tree_state: tree.neutral_state(),
            begun: tree.neutral_state(),
            command: HybridCommand::passive(tree),
            controller: reduced.controller.clone(),
            joints: JointTorques::new(tree.n_dofs()),
            external: vec![Force::ZERO; tree.n_links()],
            wrenches: Vec::new(),
            targets: Vec::new(),
            drags: Vec::new(),
            accelerations: Vec::new(),
            stage_bodies: bodies.clone(),
        }
    }

    /// Lets the joints go that the input releases.
    pub(super) fn release(&mut self, reduced: &ReducedModel, input: &Input) {
        let is_released = |joint| input.released.contains(&joint);
        self.integrator.release(reduced.looped(), is_released);
        if let Some(controller) = &mut self.controller {
            controller.release(reduced.looped(), is_released);
        }
    }
}
