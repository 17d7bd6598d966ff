//! The system of a mesh with fixed nodes, for conjugate gradients.
//!
//! Nodes that move with bodies (bones) need another system around the same matrix and preconditioner; see
//! [`CarrierCoupling`](super::carriers::CarrierCoupling). Cost per product: that of the matrix.

use super::{cg::SpdSystem, matrix::BlockMatrix, precondition::NodePreconditioner};

/// `A` restricted to the free nodes. Vectors have three numbers for every node. Those of fixed nodes must be zero in
/// the right-hand side and in the start, and stay zero. Known motions of fixed nodes go to the right-hand side:
/// `b − A v_fixed`.
#[derive(Debug)]
pub struct HeldNodes<'a, P> {
    /// The matrix of all nodes.
    pub matrix: &'a mut BlockMatrix,
    /// Its preconditioner, with the same fixed nodes.
    pub preconditioner: &'a mut P,
    /// The fixed nodes.
    pub fixed: &'a [u32],
}

impl<P: NodePreconditioner> SpdSystem for HeldNodes<'_, P> {
    fn n_unknowns(&self) -> usize {
        self.matrix.n_unknowns()
    }

    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        self.matrix.times(x, y);
        for &node in self.fixed {
            y[3 * node as usize..][..3].fill(0.0);
        }
    }

    fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        self.preconditioner.apply(r, z);
    }
}
