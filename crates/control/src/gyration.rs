//! Radius of gyration of a character (m): the length that converts between metres and radians.

use sinew_recursive::{Dynamics, Tree};

/// Radius of gyration (m) and mass (kg) of a tree at its neutral pose; both 1 if it has no extent.
pub(crate) fn gyration(tree: &Tree, dynamics: &mut Dynamics) -> (f64, f64) {
    dynamics.kinematics(tree, &tree.neutral_state());
    let all = dynamics.total_inertia();
    // ∫ r² dm about the centre is half the trace of the inertia there
    let second =
        0.5 * all.rotational.diagonal_entries().element_sum() - all.first_moment.length_squared() / all.mass;
    let radius = (second / all.mass).max(0.0).sqrt();
    if radius > 0.0 && radius.is_finite() { (radius, all.mass) } else { (1.0, 1.0) }
}
