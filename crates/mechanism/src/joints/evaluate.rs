//! Constraint rows of a joint: residual `C`, Jacobians `J₁, J₂`, velocity-product bias `J̇v`, and drive targets.
//!
//! ```text
//! position level       J₁ δ₁ + J₂ δ₂ = −C             δ = (δθ, δx): R⁺ = exp(δθ) R, x⁺ = x + δx
//! velocity level       J₁ v₁ + J₂ v₂ = rate_target     (ċ of a drive, else 0)
//! acceleration level   J₁ v̇₁ + J₂ v̇₂ + bias = acceleration_target   (c̈ of a drive, else 0)
//! ```
//! `v = (ω, v)` in world axes at the centres of mass, angular first. Rows are stacked in the order of the families
//! of the kind (see `JointKind`), then the drives. All rows are measured in frame 2, hence `J₂ = −J₁ X` with
//! `X = [[1, 0], [−[x₁ − x₂], 1]]` at any joint error: the joint transmits a shifted twist, whatever its rows.
//!
//! Which form? `Position` where `J` must be the derivative of `C` (implicit steps, Newton); `Acceleration` for
//! accelerations with `bias` and Baumgarte terms; `SmallError` for assembly from far away, where one retraction
//! removes a relative rotation exactly (docs/maths, joints).
//!
//! Cost: about 250 flops for the relative state and 40 per row; no allocation. It never fails: at the degenerate
//! poses (`i₁` opposite to `i₂`, a disc lying flat, a universal joint with `i₁ ∥ j₂`) the rows stay finite but may
//! lose rank or point in an arbitrary direction.

use sinew_math::JointKind;

use crate::joints::{Drive, RelativeState, RowForm, RowStack, Rows};

/// The rows of a joint of `kind` with its `drives`, at a relative state.
///
/// Each drive adds one row; its coordinate must be free in this kind ([`JointKind::can_drive`], checked in debug
/// builds), each coordinate driven at most once.
///
/// ```
/// use glam::DVec3;
/// use sinew_math::{Motion, Pose};
/// use sinew_mechanism::{JointFrames, JointKind, PairState, RelativeState, RowForm};
/// use sinew_mechanism::{evaluate_rows, rotation_to_axis};
///
/// // A rod of one metre along x, hung at its end from the world by a hinge about y.
/// let rod = Pose::from_translation(DVec3::new(0.5, 0.0, 0.0));
/// let axis = rotation_to_axis(DVec3::Y).expect("not zero");
/// let frames = JointFrames::coincident(&rod, &Pose::IDENTITY, &Pose::from_rotation(axis));
///
/// // It swings about the hinge at 2 rad/s: every row is at rest.
/// let omega = DVec3::new(0.0, 2.0, 0.0);
/// let swinging = Motion::new(omega, omega.cross(rod.translation));
/// let pair = PairState { pose1: rod, motion1: swinging, ..PairState::default() };
/// let state = RelativeState::new(&frames, &pair);
/// let rows = evaluate_rows(JointKind::Hinge, &state, &[], RowForm::Position);
/// assert_eq!(rows.n, 5);
/// assert!(rows.rate_error(&swinging, &Motion::ZERO).iter().all(|rate| rate.abs() < 1e-15));
/// // The anchor on the rod accelerates by ω² · 0.5 m relative to the rod's centre: 2 m/s² along x, in frame 2's −y.
/// assert!((rows.bias[1] - -2.0).abs() < 1e-14);
/// ```
#[must_use]
#[inline]
pub fn evaluate_rows(kind: JointKind, state: &RelativeState, drives: &[Drive], form: RowForm) -> Rows {
    rows_of::<true>(kind, state, drives, form)
}

/// The same without velocity products, for a state that has none.
#[inline]
pub(crate) fn evaluate_rows_without_bias(
    kind: JointKind,
    state: &RelativeState,
    drives: &[Drive],
    form: RowForm,
) -> Rows {
    rows_of::<false>(kind, state, drives, form)
}

#[inline]
fn rows_of<const BIASED: bool>(
    kind: JointKind,
    state: &RelativeState,
    drives: &[Drive],
    form: RowForm,
) -> Rows {
    let mut rows = Rows::default();
    let mut stack = RowStack::<BIASED>::new(state, form, &mut rows);
    push_kind(&mut stack, kind);
    for drive in drives {
        debug_assert!(kind.can_drive(drive.coordinate), "{kind:?} has no {:?} to drive", drive.coordinate);
        stack.drive(drive);
    }
    rows
}

/// Each kind is a list of families, in the order of its rows.
#[inline]
fn push_kind<const BIASED: bool>(stack: &mut RowStack<'_, BIASED>, kind: JointKind) {
    const X: usize = 0;
    const Y: usize = 1;
    const Z: usize = 2;
    match kind {
        JointKind::Fixed => stack.translations(&[X, Y, Z]).lock(),
        JointKind::Hinge => stack.translations(&[X, Y, Z]).axis(),
        JointKind::Prismatic => stack.translations(&[Y, Z]).lock(),
        JointKind::Cylindrical => stack.translations(&[Y, Z]).axis(),
        JointKind::Planar => stack.translations(&[X]).axis(),
        JointKind::Ball => stack.translations(&[X, Y, Z]),
        JointKind::Universal => stack.translations(&[X, Y, Z]).hooke(),
        JointKind::Orientation => stack.lock(),
        JointKind::PointOnLine => stack.translations(&[Y, Z]),
        JointKind::PointOnPlane => stack.translations(&[X]),
        JointKind::Free => stack,
        JointKind::Screw { pitch } => stack.translations(&[Y, Z]).axis().screw(pitch),
        JointKind::RollingSphere { radius } => stack.roll_sphere(radius),
        JointKind::RollingDisc { radius } => stack.roll_disc(radius),
        JointKind::Masked { translations, rotations } => {
            for direction in [X, Y, Z].into_iter().filter(|m| translations >> m & 1 == 1) {
                stack.translations(&[direction]);
            }
            match rotations {
                0 => stack,
                1 => stack.hooke(),
                2 => stack.axis(),
                _ => stack.lock(),
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use sinew_math::{Motion, Pose};
    use sinew_testkit::Rng;

    use super::*;
    use crate::{JointFrames, PairState};

    #[test]
    fn rows_without_velocity_products_are_those_with_them() {
        let mut rng = Rng::new(3);
        let mut pose = || Pose::new(sinew_math::exp_so3(rng.vec3(-0.3, 0.3)), rng.vec3(-0.1, 0.1));
        let frames = JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &pose());
        let (pose1, pose2) = (pose(), pose());
        let mut motion = || Motion::new(rng.vec3(-2.0, 2.0), rng.vec3(-2.0, 2.0));
        let pair = PairState { pose1, pose2, motion1: motion(), motion2: motion(), previous_twist: 0.1 };
        let (with, without) =
            (RelativeState::new(&frames, &pair), RelativeState::without_bias(&frames, &pair));
        for kind in JointKind::all(0.1) {
            for form in [RowForm::Position, RowForm::Acceleration, RowForm::SmallError] {
                let wanted = Rows { bias: [0.0; 6], ..evaluate_rows(kind, &with, &[], form) };
                assert_eq!(
                    evaluate_rows_without_bias(kind, &without, &[], form),
                    wanted,
                    "{kind:?} {form:?}"
                );
            }
        }
    }
}
