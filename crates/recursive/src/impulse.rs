//! Changes of rates by generalized impulses, with the elimination of the last `respond`.
//!
//! `(M + D) Δv = r` for passive joints, `Δv = 0` for prescribed ones, at the pose, the modes and the resistances `D` of the last
//! [`Dynamics::respond_resisted`](crate::Dynamics::respond_resisted):
//! ```text
//! leaves to roots:  b = Σ Xᵀβ,      β = b + UΨ(r − Sᵀb)      (prescribed: β = b)
//! roots to leaves:  a = X ΔV_p,     Δv = Ψ(r − Uᵀa − Sᵀb),   ΔV = a + S Δv
//! ```
//! Impulses in N·m·s and N·s, changes in rad/s and m/s. Cost: linear in links, without a new elimination. Nothing fails.

use sinew_math::{Force, Motion, shift_force, shift_motion};
use sinew_topology::NONE;

use crate::{command::JointMode, dynamics::Dynamics, joint_space::MAX_DOFS, tree::Tree};

impl Dynamics {
    /// Writes the changes of all rates. `impulses` and `out` have one number per dof.
    pub(crate) fn respond_to_impulses(&mut self, tree: &Tree, impulses: &[f64], out: &mut [f64]) {
        self.loads.fill(Force::ZERO);
        for (k, link) in tree.links.iter().enumerate().rev() {
            if link.parent == NONE {
                continue;
            }
            let mut handed = self.loads[k];
            self.passive_changes(tree, k, impulses, Motion::ZERO, out);
            for dof in link.dofs() {
                handed += self.reach[dof] * out[dof];
            }
            self.loads[link.parent as usize] += shift_force(handed, self.motions[k].arm);
        }
        for (k, link) in tree.links.iter().enumerate() {
            let above = if link.parent == NONE { Motion::ZERO } else { self.rates[link.parent as usize] };
            let mut change = shift_motion(above, self.motions[k].arm);
            self.passive_changes(tree, k, impulses, change, out);
            for dof in link.dofs() {
                change += self.columns[dof] * out[dof];
            }
            self.rates[k] = change;
        }
    }

    /// `Ψ(r − Uᵀa − Sᵀb)` of a passive joint, zero of a prescribed one.
    #[inline]
    fn passive_changes(&self, tree: &Tree, k: usize, impulses: &[f64], carried: Motion, out: &mut [f64]) {
        let link = &tree.links[k];
        if self.modes[k] == JointMode::Prescribed {
            out[link.dofs()].fill(0.0);
            return;
        }
        let load = self.loads[k];
        let mut rest = [0.0; MAX_DOFS];
        for (rest, dof) in rest.iter_mut().zip(link.dofs()) {
            *rest = impulses[dof] - self.reach[dof].dot(carried) - self.columns[dof].dot(load);
        }
        for (m, dof) in link.dofs().enumerate() {
            out[dof] = self.psi_row(link, m, &rest);
        }
    }
}
