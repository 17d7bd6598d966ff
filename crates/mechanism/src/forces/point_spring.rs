//! A spring and damper between points of two bodies, or of a body and the world.
//!
//! With the gap `g` from point 2 to point 1, `L = |g|`, `n = g/L` the force on point 1 is `−k (L − L₀) n`, damped along `n`; a
//! spring of zero rest length is damped in every direction. Implicit: the tangent `k (nnᵀ + max(0, 1 − L₀/L)(1 − nnᵀ))`, which
//! leaves out the part that would destabilize a compressed spring, as a load on one body (across a tree joint, or to something
//! immovable) or as three rows outside the tree. Explicit: the wrench itself. Energy: `½ k (L − L₀)²`. At `L = 0` the direction
//! is undefined: a spring with a rest length then has no force. World axes, m, N, N·s/m.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, Sym3, Sym6, shift_force, shift_motion};
use sinew_solvers::Load;

/// A spring between two points; `body2` may be the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointSpring {
    /// Body positions; only the second may be the world.
    pub(crate) body1: u32,
    /// In central frames, or in the world, m.
    pub(crate) point1: DVec3,
    pub(crate) body2: u32,
    pub(crate) point2: DVec3,
    /// m.
    pub(crate) rest_length: f64,
    /// N/m.
    pub(crate) stiffness: f64,
    /// N·s/m.
    pub(crate) damping: f64,
}

/// A point spring at a linearization point, as seen by body 1.
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

/// A point spring along one axis, as a row on the relative velocity `u` of its ends: the impulse `stiff u_d − pull − κ u⁺`, with
/// `u_d` the velocity whose displacement the gap contains.
pub(crate) struct PointSpringRow {
    pub(crate) axis: DVec3,
    /// `h²k` along the axis.
    pub(crate) stiff: f64,
    /// Impulse of the present gap.
    pub(crate) pull: f64,
    pub(crate) kappa: f64,
}

impl PointSpring {
    /// The same spring with its ends exchanged.
    pub(crate) fn swapped(self) -> Self {
        Self { body1: self.body2, point1: self.point2, body2: self.body1, point2: self.point1, ..self }
    }

    /// Implicit: adds to the load on body 1.
    pub(crate) fn linearize(&self, at: &PointSpringState, h: f64, load: &mut Load) {
        let length = at.gap.length();
        let (k, slack) = (self.stiffness, self.rest_length);
        let (direction, ratio) = if length > f64::MIN_POSITIVE {
            (at.gap / length, 1.0 - slack / length)
        } else {
            (DVec3::ZERO, if slack > 0.0 { 0.0 } else { 1.0 })
        };
        // A compressed spring pushes sideways; its negative tangent would make the system indefinite.
        let transverse = ratio.max(0.0);
        let along = Sym3::outer(direction);
        let tangent = (Sym3::IDENTITY * transverse + along * (1.0 - transverse)) * (h * h * k);
        let damper = if slack > 0.0 { along } else { Sym3::IDENTITY } * (h * self.damping);
        let force = tangent.mul_vec(at.carried) + damper.mul_vec(at.end_velocity) - at.gap * (h * k * ratio);
        let at_point = Sym6 { linear: tangent + damper, ..Sym6::ZERO };
        load.mass.add(&at_point.shifted(at.arm));
        load.momentum += shift_force(Force::new(DVec3::ZERO, force), at.arm);
    }

    /// Implicit, outside the tree: rows along the spring and, as far as it is stretched, across.
    pub(crate) fn linearized_rows(&self, gap: DVec3, h: f64) -> [PointSpringRow; 3] {
        let (k, slack) = (self.stiffness, self.rest_length);
        let length = gap.length();
        let is_short = length <= f64::MIN_POSITIVE;
        let along = if is_short { DVec3::X } else { gap / length };
        let (across1, across2) = along.any_orthonormal_pair();
        let ratio = if is_short { f64::from(u8::from(slack == 0.0)) } else { 1.0 - slack / length };
        [(along, !is_short), (across1, false), (across2, false)].map(|(axis, is_along)| {
            let stiff = h * h * k * if is_along { 1.0 } else { ratio.max(0.0) };
            let damped = if is_along || slack == 0.0 { h * self.damping } else { 0.0 };
            PointSpringRow { axis, stiff, pull: h * k * ratio * gap.dot(axis), kappa: stiff + damped }
        })
    }

    /// From its end on body 2 to that on body 1, with the two bodies at some poses.
    pub(crate) fn gap(&self, [pose1, pose2]: [Pose; 2]) -> DVec3 {
        pose1.transform_point(self.point1) - pose2.transform_point(self.point2)
    }

    /// The gap measured at one pair of poses, along the line between the ends at another pair, where directions are taken: a force along
    /// that line turns neither body about the other. A spring of zero rest length pulls in every direction.
    pub(crate) fn measured_gap(&self, poses: [Pose; 2], measured: [Pose; 2]) -> DVec3 {
        let (gap, line) = (self.gap(measured), self.gap(poses));
        let length = line.length();
        let has_line = self.rest_length > 0.0 && length > f64::MIN_POSITIVE;
        if has_line { line * (gap.length() / length) } else { gap }
    }

    /// Explicit wrench on body 1, at the poses and twists of its two bodies.
    pub(crate) fn explicit(&self, [pose1, pose2]: [Pose; 2], [motion1, motion2]: [Motion; 2]) -> Force {
        let (arm1, arm2) = (pose1.rotation * self.point1, pose2.rotation * self.point2);
        let gap = pose1.translation + arm1 - pose2.translation - arm2;
        let length = gap.length();
        let velocity = shift_motion(motion1, arm1).linear - shift_motion(motion2, arm2).linear;
        let pull = if self.rest_length > 0.0 {
            let along = gap.normalize_or_zero();
            along * (self.stiffness * (length - self.rest_length) + self.damping * along.dot(velocity))
        } else {
            gap * self.stiffness + velocity * self.damping
        };
        shift_force(Force::new(DVec3::ZERO, -pull), arm1)
    }

    /// Elastic energy at the poses of its two bodies, J.
    pub(crate) fn energy(&self, [pose1, pose2]: [Pose; 2]) -> f64 {
        let length = pose1.transform_point(self.point1).distance(pose2.transform_point(self.point2));
        let stretch = length - self.rest_length;
        0.5 * self.stiffness * stretch * stretch
    }
}
