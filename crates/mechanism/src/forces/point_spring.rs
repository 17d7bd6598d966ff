//! A spring between points of two bodies.

use glam::DVec3;
use sinew_math::{Force, Sym3, Sym6, shift_force};
use sinew_solvers::Load;

/// A spring between two points; `body2` may be the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointSpring {
    pub(crate) body1: u32,
    pub(crate) point1: DVec3,
    pub(crate) body2: u32,
    pub(crate) point2: DVec3,
    pub(crate) rest_length: f64,
    pub(crate) stiffness: f64,
    pub(crate) damping: f64,
}

impl PointSpring {
    pub(crate) fn swapped(self) -> Self {
        Self { body1: self.body2, point1: self.point2, body2: self.body1, point2: self.point1, ..self }
    }
}

/// A point spring at a linearization point, as seen by one of its ends.
pub(crate) struct PointSpringState {
    /// From the centre of mass to the point.
    pub(crate) arm: DVec3,
    /// From the other end to the point.
    pub(crate) gap: DVec3,
    /// Velocity of the point that the gap already contains, plus the other end's velocity that it does not.
    pub(crate) carried: DVec3,
    /// Velocity of the other end, where it is prescribed.
    pub(crate) end_velocity: DVec3,
}

/// Adds an implicit point spring: `f = −k (L − L₀) n`, tangent `k(nnᵀ + max(0, 1 − L₀/L)(1 − nnᵀ))`, damping
/// along `n`, or in all directions if the rest length is zero.
pub(crate) fn add_point_spring(load: &mut Load, spring: &PointSpring, end: &PointSpringState, h: f64) {
    let length = end.gap.length();
    let (k, slack) = (spring.stiffness, spring.rest_length);
    let (direction, ratio) = if length > f64::MIN_POSITIVE {
        (end.gap / length, 1.0 - slack / length)
    } else {
        (DVec3::ZERO, if slack > 0.0 { 0.0 } else { 1.0 })
    };
    let transverse = ratio.max(0.0);
    let along = Sym3::outer(direction);
    let tangent = (Sym3::IDENTITY * transverse + along * (1.0 - transverse)) * (h * h * k);
    // A hold of zero length damps its point in every direction, a spring along itself.
    let damper = if slack > 0.0 { along } else { Sym3::IDENTITY } * (h * spring.damping);
    let force = tangent.mul_vec(end.carried) + damper.mul_vec(end.end_velocity) - end.gap * (h * k * ratio);
    let at_point = Sym6 { linear: tangent + damper, ..Sym6::ZERO };
    load.mass.add(&at_point.shifted(end.arm));
    load.momentum += shift_force(Force::new(DVec3::ZERO, force), end.arm);
}
