//! Forces outside the tree as compliant rows: `q − κ G v` is the row `G v + λ/κ = q/κ` (docs/maths/loops.md).

use glam::DVec3;
use sinew_math::{Force, Sym3, shift_force, symmetric_eigen};
use sinew_solvers::{LoopRow, LoopRows};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::forces::{ForceSink, ScalarImpulse};
use crate::model::JointModel;

/// A row that asks for nothing.
pub(crate) const INACTIVE: LoopRow =
    LoopRow { on1: Force::ZERO, on2: Force::ZERO, rhs: 0.0, compliance: 1.0 };

/// Rows that ask for nothing, each a block of its own: they keep the places of multipliers that others have in other
/// steps.
pub(crate) fn idle(rows: &mut LoopRows, n: usize) {
    for _ in 0..n {
        rows.push([NONE; 2], &[INACTIVE], 1.0);
    }
}

/// The impulse `q − κ G v` as a row.
pub(crate) fn force_row(on1: Force, on2: Force, impulse: ScalarImpulse) -> LoopRow {
    let compliance = 1.0 / impulse.kappa;
    if compliance.is_finite() {
        LoopRow { on1, on2, rhs: impulse.q * compliance, compliance }
    } else {
        INACTIVE
    }
}

/// The forces of a joint outside the tree, as rows.
pub(crate) struct ForceRows {
    /// `x₁ − x₂`.
    pub(crate) shift: DVec3,
    /// In the order of the forces; idle where a force is constant.
    pub(crate) rows: SmallVec<[LoopRow; 6]>,
    /// Impulse on body 1 that nothing in the step changes.
    pub(crate) constant: Force,
}

impl ForceSink for ForceRows {
    fn along(&mut self, gradient: Force, impulse: ScalarImpulse) {
        let row = force_row(gradient, shift_force(gradient, self.shift) * -1.0, impulse);
        if row == INACTIVE {
            self.constant += gradient * impulse.q;
        }
        self.rows.push(row);
    }

    fn turning(&mut self, tangent: Sym3, impulse: DVec3) {
        let (values, axes) = symmetric_eigen(tangent);
        for (kappa, axis) in values.to_array().into_iter().zip([axes.x_axis, axes.y_axis, axes.z_axis]) {
            let impulse = ScalarImpulse { q: impulse.dot(axis), kappa: kappa.max(0.0) };
            self.along(Force::new(axis, DVec3::ZERO), impulse);
        }
    }
}

/// Idle rows for a joint that is let go, which keep no force of the steps before.
pub(crate) fn release(rows: &mut LoopRows, lambda: &mut [f64], joint: &JointModel) {
    let first = rows.len();
    idle(rows, joint.n_rows());
    lambda[first..rows.len()].fill(0.0);
}

/// Compliant rows between two bodies.
#[derive(Clone, Debug)]
pub(crate) struct Tie {
    /// Pairs of the two bodies; both are moved by forces.
    pub(crate) ports: [u32; 2],
    /// Along three axes.
    pub(crate) rows: [LoopRow; 3],
}
