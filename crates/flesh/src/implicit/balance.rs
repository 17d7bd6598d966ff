//! Momentum and angular momentum of flesh that nothing holds.
//!
//! Conjugate gradients stop while a residual `r` is left, and its sum over the nodes is momentum from nothing. So each body of flesh without bones and pins is
//! moved as a whole until that sum is zero: one Galerkin correction `c = (Σ_ab A_ab)⁻¹ Σ_a r_a` with the translations. Elastic forces have no sum, so the matrix
//! is the mass and what contacts and drag add to it. Only the sum over each body of flesh is zero then, not that over each of several pieces. World
//! axes, kg·m/s. Cost: one product.
//!
//! In a step of first order `x⁺ × m u = x × m u`. So flesh that nothing touches has kept its angular momentum if `Σ (x − c) × m (u − v) = 0`: the rest, of cells that deform while they turn, is taken back as a rigid turn.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym3};

use super::companion::{Balance, Flesh};
use crate::model::NO_SLOT;
use crate::node_vectors::get_node;

impl Flesh<'_> {
    /// Whether nothing but contacts, and what acts on places, acts on a body of flesh.
    fn is_free(&self, flesh: usize) -> bool {
        self.model.bodies[flesh].bones.is_empty() && !self.work.outside[flesh].has_pins()
    }

    /// Corrects the velocities at the end of the step, given the twists of all bodies.
    pub(super) fn balance(&mut self, motions: &[Motion]) {
        let n_flesh = self.model.bodies.len();
        if !(0..n_flesh).any(|flesh| self.is_free(flesh)) {
            return;
        }
        let mut own = std::mem::take(&mut self.work.value);
        let mut buffers = std::mem::take(&mut self.work.balance);
        own.clear();
        own.extend(self.work.velocities.iter().flatten().flat_map(|velocity| velocity.to_array()));
        let Balance { product, motions: solved, impulses } = &mut buffers;
        product.resize(own.len(), 0.0);
        impulses.resize(self.model.ports.len(), Force::ZERO);
        self.fill_solved(motions, solved);
        self.times(&own, solved, &|body| motions[body], product, impulses);
        let mut first = 0;
        for flesh in 0..n_flesh {
            if self.is_free(flesh) {
                self.correct(flesh, |node| get_node(product, first + node));
                self.keep_spin(flesh);
            }
            first += self.work.velocities[flesh].len();
        }
        (self.work.value, self.work.balance) = (own, buffers);
    }

    /// The twists of the bodies that are solved for, of those of all.
    fn fill_solved(&self, motions: &[Motion], solved: &mut Vec<Motion>) {
        solved.resize(self.model.ports.len(), Motion::ZERO);
        for (&slot, motion) in self.model.slots.iter().zip(motions).filter(|(slot, _)| **slot != NO_SLOT) {
            solved[slot as usize] = *motion;
        }
    }

    /// Moves a body of flesh as a whole, for given products of its nodes.
    fn correct(&mut self, flesh: usize, product: impl Fn(usize) -> DVec3) {
        let elements = &self.work.elements[flesh];
        let left = elements.constant.iter().enumerate();
        let left = left.fold(DVec3::ZERO, |sum, (node, constant)| sum + (*constant - product(node)));
        let mass = elements.mass_with_drag(&self.model.bodies[flesh]);
        let places = &self.work.contacts.couplings.in_matrix[flesh];
        let matrix = places.iter().fold(Sym3::diagonal(DVec3::splat(mass)), |sum, (_, block)| sum + *block);
        let Ok(factor) = matrix.cholesky() else { return };
        let change = factor.solve(left);
        if change.is_finite() {
            self.work.velocities[flesh].iter_mut().for_each(|velocity| *velocity += change);
        }
    }

    /// Gives back the angular momentum that the solve has changed, to flesh that nothing touches.
    fn keep_spin(&mut self, flesh: usize) {
        let Self { model, state, work, skin, .. } = self;
        let is_touched =
            !work.contacts.couplings.in_matrix[flesh].is_empty() || skin.is_some_and(|skin| !skin.is_empty());
        // Zero in steps of first order, and not negative.
        if is_touched || work.lengths.carry > 0.0 {
            return;
        }
        let (nodes, ends) = (&state.nodes[flesh], &mut work.velocities[flesh]);
        let weighed = || model.bodies[flesh].fem.masses().iter().zip(&nodes.positions);
        let (mass, sum) = weighed().fold((0.0, DVec3::ZERO), |(mass, sum), (m, x)| (mass + m, sum + *x * *m));
        let centre = sum / mass;
        let (mut inertia, mut missing) = (Sym3::ZERO, DVec3::ZERO);
        for ((m, x), (v, u)) in weighed().zip(nodes.velocities.iter().zip(ends.iter())) {
            let arm = *x - centre;
            inertia += Sym3::minus_skew_squared(arm) * *m;
            missing += arm.cross(*v - *u) * *m;
        }
        let turn = inertia.inverse().map(|inverse| inverse.mul_vec(missing));
        if let Some(turn) = turn.filter(|turn| turn.is_finite()) {
            ends.iter_mut().zip(&nodes.positions).for_each(|(u, x)| *u += turn.cross(*x - centre));
        }
    }
}
