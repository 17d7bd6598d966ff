//! Translation and rotation errors of a joint.

use sinew_math::JointKind;

use crate::joints::rows::Rows;

/// Largest translation (m) and rotation (rad) error among the rows of a joint.
pub(crate) fn joint_errors(kind: JointKind, drives_twist: bool, rows: &Rows) -> (f64, f64) {
    let n_translation = match kind.locked_mask() {
        Some(mask) => (mask >> 3).count_ones() as usize,
        None => match kind {
            JointKind::Screw { .. } => 2,
            JointKind::Universal => 3,
            _ => kind.n_rows(),
        },
    };
    let (mut position, mut rotation) = (0.0, 0.0);
    for i in 0..rows.n {
        let square = rows.residual[i] * rows.residual[i];
        let last_own = kind.n_rows().wrapping_sub(1);
        let is_length = i < n_translation
            || (i == last_own && matches!(kind, JointKind::Screw { .. }))
            || (i > last_own && last_own != usize::MAX && !(drives_twist && i == last_own + 1));
        *(if is_length { &mut position } else { &mut rotation }) += square;
    }
    (f64::sqrt(position), f64::sqrt(rotation))
}
