//! Torque limits: a driven joint that needs more torque than its limit becomes passive, with its torque at the limit.
//!
//! The torque vector of a joint keeps its direction and gets the length of the limit. This changes the torques of other
//! joints, so the search is repeated. Joints are only added, so it ends. Cost: one hybrid sweep per repetition.

use sinew_recursive::{HybridCommand, JointMode, LinkId, Tree};

use crate::{input::ControlContext, plant::Plant};

/// Largest number of repetitions; any excess that remains is accepted.
const MAX_ROUNDS: usize = 8;

/// Relative excess over the limit that is ignored.
const SLACK: f64 = 1e-9;

/// Joints held at their torque limit in one command.
#[derive(Clone, Debug)]
pub(crate) struct Saturation {
    enabled: bool,
    held: Vec<bool>,
    torques: Vec<f64>,
}

impl Saturation {
    pub(crate) fn new(tree: &Tree, enabled: bool) -> Self {
        Self { enabled, held: vec![false; tree.n_links()], torques: vec![0.0; tree.n_dofs()] }
    }

    /// Starts a command: no joint is at its limit.
    pub(crate) fn begin(&mut self) {
        self.held.fill(false);
    }

    pub(crate) fn holds(&self, link: LinkId) -> bool {
        self.held[link.index()]
    }

    /// Whether the joint of a link is driven in this command: it has an actuator, and is not at its torque limit.
    pub(crate) fn drives(&self, at: &ControlContext<'_>, link: LinkId) -> bool {
        at.actuation.is_active(link) && !self.holds(link)
    }

    /// Torque of a held joint.
    pub(crate) fn torque(&self, dof: usize) -> f64 {
        self.torques[dof]
    }

    pub(crate) fn count(&self) -> usize {
        self.held.iter().filter(|held| **held).count()
    }

    /// Finds further joints beyond their limit under a command; returns whether there are any.
    pub(crate) fn find(
        &mut self,
        at: &ControlContext<'_>,
        plant: &mut Plant,
        command: &HybridCommand,
    ) -> bool {
        if !self.enabled {
            return false;
        }
        let known = command.modes.iter().all(|mode| *mode != JointMode::Prescribed);
        if !known {
            plant.respond(at, command);
        }
        let torques = if known { &command.values } else { plant.torques(at) };
        let mut any = false;
        for link in at.tree.links().filter(|link| at.actuation.is_active(*link)) {
            let dofs = at.tree.dofs(link);
            let size = torques[dofs.clone()].iter().map(|t| t * t).sum::<f64>().sqrt();
            let limit = at.actuation.torque_limit(link);
            if !self.held[link.index()] && size > limit * (1.0 + SLACK) {
                any = true;
                self.held[link.index()] = true;
                for dof in dofs {
                    self.torques[dof] = torques[dof] * (limit / size);
                }
            }
        }
        any
    }

    /// Holds joints of a finished command at their limits, without compensation by other joints.
    pub(crate) fn apply(&mut self, at: &ControlContext<'_>, plant: &mut Plant, command: &mut HybridCommand) {
        for _ in 0..MAX_ROUNDS {
            if !self.find(at, plant, command) {
                break;
            }
            for link in at.tree.links().filter(|link| self.held[link.index()]) {
                command.modes[link.index()] = JointMode::Passive;
                for dof in at.tree.dofs(link) {
                    command.values[dof] = self.torques[dof];
                }
            }
        }
    }
}
