//! Displacement limits: which joints are beyond theirs, in which direction and by how much.
//!
//! Coordinates without a rotation in space have an interval. A rotation in space has the length of its rotation vector `φ` limited:
//! the direction is `n = φ/|φ|` in its three rates, and `d|φ|/dt = n·ω` exactly, as `φᵀ Jr⁻¹ = φᵀ`.

use glam::{DQuat, DVec3};
use sinew_math::log_so3;
use sinew_recursive::{LinkId, Tree};

use crate::actuation::Actuation;

/// A joint beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Excess {
    /// First rate concerned.
    pub(crate) dof: usize,
    /// Unit direction that leads further out, in `n` rates from `dof` on.
    pub(crate) direction: [f64; 3],
    pub(crate) n: usize,
    /// Displacement along the direction beyond the limit (rad, m).
    pub(crate) beyond: f64,
}

impl Excess {
    /// The rate along the direction.
    pub(crate) fn rate(&self, rates: &[f64]) -> f64 {
        (0..self.n).map(|k| self.direction[k] * rates[self.dof + k]).sum()
    }
}

/// Whether the first four coordinates of a joint are a quaternion.
pub(crate) fn turns_in_space(tree: &Tree, link: LinkId) -> bool {
    tree.coordinates(link).len() > tree.dofs(link).len()
}

/// The quaternion of a joint that turns in space.
pub(crate) fn quaternion(q: &[f64]) -> DQuat {
    DQuat::from_xyzw(q[1], q[2], q[3], q[0])
}

/// Calls `found` for every limit of a link's joint that the coordinates exceed, or are nearer to than `slack` (rad, m).
pub(crate) fn for_each_excess(
    tree: &Tree,
    actuation: &Actuation,
    link: LinkId,
    coordinates: &[f64],
    slack: f64,
    mut found: impl FnMut(Excess),
) {
    let (q, dofs) = (&coordinates[tree.coordinates(link)], tree.dofs(link));
    let mut plain = dofs.start;
    let mut offset = 0;
    if turns_in_space(tree, link) {
        (plain, offset) = (dofs.start + 3, 1);
        let limit = actuation.turn_limit(link);
        if limit.is_finite() {
            let turn: DVec3 = log_so3(quaternion(q));
            let angle = turn.length();
            if angle > limit - slack {
                let direction = (turn / angle).to_array();
                found(Excess { dof: dofs.start, direction, n: 3, beyond: angle - limit });
            }
        }
    }
    for dof in plain..dofs.end {
        let [lower, upper] = actuation.limits(dof);
        let at = q[dof - dofs.start + offset];
        for (beyond, outward) in [(at - upper, 1.0), (lower - at, -1.0)] {
            if beyond > -slack {
                found(Excess { dof, direction: [outward, 0.0, 0.0], n: 1, beyond });
            }
        }
    }
}
