//! Centre of mass, momentum about it, and gravity, of all links of a tree.
//!
//! `h_c = A v`: column `d` of the centroidal momentum matrix `A` is `I^c S_d`, the momentum of the links at and below `d` under a
//! unit rate, about the centre of mass of all. World axes, kg·m²/s and kg·m/s. Cost: one or two passes over the links. Nothing
//! fails; the centre of a tree without mass is not finite.

use glam::DVec3;
use sinew_math::{Force, Motion, shift_force};

use crate::{dynamics::Dynamics, tree::Tree};

impl Dynamics {
    /// Centre of mass of all links, world (m), at the last [`Dynamics::kinematics`].
    pub fn centre_of_mass(&self) -> DVec3 {
        let (mut moment, mut mass) = (DVec3::ZERO, 0.0);
        for here in &self.motions {
            moment += here.inertia.first_moment + here.origin * here.inertia.mass;
            mass += here.inertia.mass;
        }
        moment / mass
    }

    /// Momentum of all links about their centre of mass, world axes (kg·m²/s, kg·m/s). The linear part is the mass times the
    /// velocity of the centre.
    pub fn centroidal_momentum(&self) -> Force {
        shift_force(self.momentum(), -self.centre_of_mass())
    }

    /// Writes the centroidal momentum matrix: one column per rate, about the centre of mass of all links, world axes. Its product with the rates is
    /// [`Self::centroidal_momentum`].
    pub fn fill_centroidal_matrix(&mut self, tree: &Tree, out: &mut [Force]) {
        self.compose(tree);
        let centre = self.centre_of_mass();
        for (k, link) in tree.links.iter().enumerate() {
            for dof in link.dofs() {
                let momentum = self.composite[k].mul(self.columns[dof]);
                out[dof] = shift_force(momentum, self.motions[k].origin - centre);
            }
        }
    }

    /// Writes the torques (N·m, N) that hold the tree at rest against gravity (m/s², world axes), per dof: the bias at zero rates.
    ///
    /// # Panics
    /// If `out` belongs to another tree.
    pub fn fill_gravity(&mut self, tree: &Tree, gravity: DVec3, out: &mut [f64]) {
        assert_eq!(out.len(), tree.n_dofs(), "there must be one torque per dof");
        let lift = Motion::new(DVec3::ZERO, -gravity);
        for (load, here) in self.loads.iter_mut().zip(&self.motions) {
            *load = here.inertia.mul(lift);
        }
        self.sum_loads(tree, out);
    }
}
