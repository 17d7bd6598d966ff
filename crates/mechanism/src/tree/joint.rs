//! A joint at a linearization point, in the general form: through the row library.

use glam::DVec3;
use sinew_math::{Motion, RowSpace};
use sinew_solvers::{Load, PairJoint};

/// A joint linearized in the general form: rows on the tree child and the force inside.
pub(crate) struct Linearized {
    /// `x_a − x_b`.
    pub(crate) shift: DVec3,
    pub(crate) n: usize,
    /// `J_a`.
    pub(crate) rows: [[f64; 6]; 6],
    /// `b_λ` on `r = v_a − X v_b`.
    pub(crate) rhs: [f64; 6],
    /// `K` and `q`.
    pub(crate) inside: Load,
    pub(crate) twist: f64,
    pub(crate) position_error: f64,
    pub(crate) rotation_error: f64,
    /// Rows that a degenerate pose has all but erased.
    pub(crate) degenerate: u32,
}

/// Rows have size one unless the pose is degenerate; a row shorter than this counts as all but erased.
pub(crate) const SHORT_ROW: f64 = 1e-2;

impl Linearized {
    /// Fades out what short rows ask for, so that a degenerate pose gives bounded motion: a row of length `l` below the
    /// threshold `l₀` keeps `(l/l₀)²` of its right-hand side.
    pub(crate) fn soften_degenerate(&mut self) {
        for i in 0..self.n {
            let square: f64 = self.rows[i].iter().map(|x| x * x).sum();
            if square < SHORT_ROW * SHORT_ROW {
                self.rhs[i] *= square / (SHORT_ROW * SHORT_ROW);
                self.degenerate += 1;
            }
        }
    }
}

/// The pair form of a linearized joint: basis of the free directions, offset, and the force seen along them.
///
/// If the rows have lost rank (a degenerate pose), the directions beyond `F` are held instead of freed and
/// the joint counts as regularized.
pub(crate) fn reduce<const F: usize>(joint: &Linearized) -> (PairJoint<F>, u32) {
    let space = RowSpace::factor(&joint.rows[..joint.n]);
    let (null, n_free) = space.null_basis();
    let basis: [Motion; F] = std::array::from_fn(|i| Motion::from_array(null[i]));
    let offset = Motion::from_array(space.particular(&joint.rhs[..joint.n]));
    let mut stiffness = [[0.0; F]; F];
    let mut impulse = [0.0; F];
    let momentum = joint.inside.momentum - joint.inside.mass.mul(offset);
    for i in 0..F {
        let column = joint.inside.mass.mul(basis[i]);
        impulse[i] = momentum.dot(basis[i]);
        for j in 0..F {
            stiffness[i][j] = column.dot(basis[j]);
        }
    }
    let held = joint.degenerate.max(u32::from(n_free > F));
    (PairJoint { shift: joint.shift, basis, offset, stiffness, impulse }, held)
}
