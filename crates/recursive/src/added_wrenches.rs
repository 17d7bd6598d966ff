//! Wrenches that come in after a response: new accelerations and reactions with the elimination that is there.
//!
//! Articulated inertias do not depend on wrenches. A wrench `w` on a link changes `B` by `−w` and what is above it by
//! ```text
//! Δβ = ΔB − UΨSᵀΔB   (prescribed: Δβ = ΔB),      ΔB_parent += XᵀΔβ
//! ```
//! after which the sweep from the roots is made again (`hybrid`). World axes; wrenches at the centres of mass. Cost: linear in links, a third
//! of a response. Nothing fails.

use sinew_math::{Force, shift_force};
use sinew_topology::NONE;

use crate::command::JointMode;
use crate::joint_space::MAX_DOFS;
use crate::{dynamics::Dynamics, tree::Tree};

impl Dynamics {
    /// Adds wrenches to `B` of the last response. One per link.
    pub(crate) fn add_wrenches(&mut self, tree: &Tree, wrenches: &[Force]) {
        self.loads.fill(Force::ZERO);
        for (k, link) in tree.links.iter().enumerate().rev() {
            let arm = self.motions[k].rotation * link.central.translation;
            let change = self.loads[k] - shift_force(wrenches[k], arm);
            self.bias[k] += change;
            if link.parent != NONE {
                let handed = shift_force(self.passed_up(tree, k, change), self.motions[k].arm);
                self.loads[link.parent as usize] += handed;
            }
        }
    }

    /// `F − UΨSᵀF`: what a joint hands up of a wrench on its link.
    #[inline]
    pub(crate) fn passed_up(&self, tree: &Tree, k: usize, wrench: Force) -> Force {
        if self.modes[k] == JointMode::Prescribed {
            return wrench;
        }
        let link = &tree.links[k];
        let mut along = [0.0; MAX_DOFS];
        for (along, dof) in along.iter_mut().zip(link.dofs()) {
            *along = self.columns[dof].dot(wrench);
        }
        let mut handed = wrench;
        for (m, dof) in link.dofs().enumerate() {
            handed -= self.reach[dof] * self.psi_row(link, m, &along);
        }
        handed
    }
}
