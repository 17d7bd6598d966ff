//! Moving poses by increments.

use sinew_math::{Motion, Pose, exp_so3, log_so3, normalize_quat};

use crate::model::ids::BodyId;
use crate::model::state::State;

/// `q ⊕ δ`, renormalized.
#[inline]
pub(crate) fn move_pose(pose: &Pose, delta: Motion) -> Pose {
    Pose {
        rotation: normalize_quat(exp_so3(delta.angular) * pose.rotation),
        translation: pose.translation + delta.linear,
    }
}

/// `(log(R⁺Rᵀ), x⁺ − x)`.
pub(crate) fn increment(from: &Pose, to: &Pose) -> Motion {
    Motion {
        angular: log_so3(to.rotation * from.rotation.conjugate()),
        linear: to.translation - from.translation,
    }
}

/// The first body whose state is not finite; a sum over all finds out cheaply whether to look. A bad twist spoils the
/// pose it moves, so the poses tell.
pub(crate) fn first_non_finite(state: &State) -> Option<BodyId> {
    let sum: f64 = state.poses.iter().map(|p| p.translation.element_sum() + p.rotation.w).sum();
    if sum.is_finite() {
        return None;
    }
    let is_bad = |(p, m): (&Pose, &Motion)| !(p.is_finite() && m.is_finite());
    state.poses.iter().zip(&state.motions).position(is_bad).map(BodyId::from_index)
}
