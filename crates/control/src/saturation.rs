//! Hard torque limits: joints that would need more than they have become passive, with their torque at the limit.
//!
//! The torque vector of a joint keeps its direction and gets the length of the limit. As this changes the torques of other joints, it
//! is repeated; joints are only ever added, so it ends.

use sinew_recursive::{Dynamics, HybridCommand, JointMode, LinkId, Tree};

use crate::situation::Situation;

/// Repetitions after which remaining excess is left as it is.
const MAX_ROUNDS: usize = 8;

/// How much more than the limit counts as more.
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

    /// Nobody is at a limit.
    pub(crate) fn begin(&mut self) {
        self.held.fill(false);
    }

    pub(crate) fn holds(&self, link: LinkId) -> bool {
        self.held[link.index()]
    }

    /// Torque of a held joint.
    pub(crate) fn torque(&self, dof: usize) -> f64 {
        self.torques[dof]
    }

    pub(crate) fn count(&self) -> usize {
        self.held.iter().filter(|held| **held).count()
    }

    /// Looks for more joints beyond their limit under a command; says whether there are any.
    pub(crate) fn find(
        &mut self,
        at: &Situation<'_>,
        dynamics: &mut Dynamics,
        command: &HybridCommand,
    ) -> bool {
        if !self.enabled {
            return false;
        }
        let known = command.modes.iter().all(|mode| *mode == JointMode::Passive);
        if !known {
            // a locked direction is reported by the caller's own sweep
            let _ = dynamics.respond(at.tree, command, at.moment.gravity, at.moment.external);
        }
        let torques = if known { &command.values } else { dynamics.torques() };
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

    /// Holds joints of a finished command at their limits, without asking others to make good for it.
    pub(crate) fn apply(&mut self, at: &Situation<'_>, dynamics: &mut Dynamics, command: &mut HybridCommand) {
        for _ in 0..MAX_ROUNDS {
            if !self.find(at, dynamics, command) {
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
