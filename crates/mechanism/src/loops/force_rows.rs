//! Joints and forces as rows on two bodies. A force `q − κ G v` is the compliant row `G v + λ/κ = q/κ` (docs/maths/loops.md).

use glam::DVec3;
use sinew_math::{Force, Motion, Sym3, shift_force, shift_motion, symmetric_eigen};
use sinew_solvers::{LoopRow, LoopRows};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::forces::{ForceSink, PointSpring, ScalarImpulse};
use crate::model::{LoopModel, Model, motion_of, pose_of};
use crate::tree::{JointAt, LinearizationPoint, SHORT_ROW};

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

/// Idle rows for a joint that is let go or broken, which keep no force of the steps before. Those between bodies stay, so that no plan changes.
pub(crate) fn release(rows: &mut LoopRows, lambda: &mut [f64], model: &Model, looped: &LoopModel) {
    let first = rows.len();
    let n_own = model.joints[looped.joint as usize].n_rows();
    for n in [n_own, model.loop_multipliers(looped) - n_own] {
        if n > 0 {
            rows.push(looped.ports, &[INACTIVE; 6][..n], 1.0);
        }
    }
    lambda[first..rows.len()].fill(0.0);
}

/// The rows of a joint itself, with a factor of its error that they are not to remove (1/s), and how many of them a degenerate pose has shortened: those ask for
/// less, as in the tree.
pub(crate) fn rigid_rows(
    at: &LinearizationPoint<'_>,
    here: &JointAt<'_>,
    kept: f64,
) -> (SmallVec<[LoopRow; 6]>, u32) {
    let (compliance, mut degenerate) = (here.joint.compliance, 0);
    let soft = if compliance > 0.0 { compliance / (at.step.h * at.step.h) } else { 0.0 };
    let row = |i: usize| {
        let [on1, on2] = [here.rows.jacobian1[i], here.rows.jacobian2[i]].map(Force::from_array);
        let square = on1.dot(Motion::from_array(on1.to_array()));
        let mut rhs = here.rhs(i) + here.rows.residual[i] * kept;
        if square < SHORT_ROW * SHORT_ROW {
            rhs *= square / (SHORT_ROW * SHORT_ROW);
            degenerate += 1;
        }
        if soft.is_finite() { LoopRow { on1, on2, rhs, compliance: soft } } else { INACTIVE }
    };
    let rows = (0..here.rows.n).map(row).collect();
    (rows, degenerate)
}

/// The rows of a spring between two bodies.
pub(crate) fn spring_rows(at: &LinearizationPoint<'_>, spring: &PointSpring) -> [LoopRow; 3] {
    let bodies = [spring.body1, spring.body2];
    let [pose1, pose2] = bodies.map(|body| pose_of(at.poses, body));
    let arm = pose1.rotation * spring.point1;
    let shift = pose1.translation - pose2.translation;
    let gap = at.spring_gap(spring);
    let moved = bodies.map(|body| at.displaced.map_or(Motion::ZERO, |d| motion_of(d, body)));
    let linear = |motions: &[Motion]| {
        let [motion1, motion2] = bodies.map(|body| motion_of(motions, body));
        shift_motion(motion1 - shift_motion(motion2, shift), arm).linear
    };
    let bend = at.spring_bend(spring, linear);
    spring.linearized_rows(gap, at.step.h).map(|row| {
        // Both ends act at the first point, so that action meets reaction across the gap, too.
        let on1 = Force::new(arm.cross(row.axis), row.axis);
        let on2 = shift_force(on1, shift) * -1.0;
        let damped = (row.kappa - row.stiff) * row.axis.dot(bend);
        let q = row.stiff * (on1.dot(moved[0]) + on2.dot(moved[1])) - row.pull - damped;
        force_row(on1, on2, ScalarImpulse { q, kappa: row.kappa })
    })
}
