//! Free nodes of a mesh on their own: the matrix with fixed nodes held, ready for conjugate gradients.
//!
//! Nodes that move with something else (bones) need a system of their own around the same matrix and preconditioner:
//! scatter the motion of the others to their nodes, multiply, gather.

use super::cg::SpdSystem;
use super::matrix::BlockMatrix;
use super::precondition::NodePreconditioner;

/// `A` restricted to the free nodes. Vectors have three numbers for every node; those of fixed nodes are zero in the
/// right-hand side and in the start, and stay so. What fixed nodes do goes to the right-hand side: `b − A v_fixed`.
///
/// ```
/// use glam::DVec3;
/// use sinew_solvers::{BlockMatrix, CgScratch, CgSettings, HeldNodes, SparsePattern, TwoLevel, conjugate_gradient};
///
/// // One tetrahedron; its first corner is held, and each free one weighs 2 kg.
/// let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
/// let mut matrix = BlockMatrix::new(SparsePattern::new(4, &[[0, 1, 2, 3]])?);
/// matrix.assemble(|fill| (0..4).for_each(|node| fill.add_mass(node, 2.0)));
///
/// let mut preconditioner = TwoLevel::new(matrix.pattern(), &corners, &[true, false, false, false]);
/// preconditioner.refresh(&matrix, &corners);
/// let mut system = HeldNodes { matrix: &matrix, preconditioner: &mut preconditioner, fixed: &[0] };
///
/// let (mut x, mut b) = ([0.0; 12], [0.0; 12]);
/// b[5] = 10.0;
/// conjugate_gradient(&mut system, &b, &mut x, &CgSettings::default(), &mut CgScratch::new());
/// assert!((x[5] - 5.0).abs() < 1e-3);
/// # Ok::<(), sinew_solvers::PatternError>(())
/// ```
#[derive(Debug)]
pub struct HeldNodes<'a, P> {
    /// The matrix of all nodes.
    pub matrix: &'a BlockMatrix,
    /// Its preconditioner, which knows the same fixed nodes.
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
