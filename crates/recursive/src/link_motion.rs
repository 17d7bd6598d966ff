//! Position, velocity and inertia of one link, from those of its parent and the state of its joint.
//!
//! All quantities are in **world axes at the origin of the link (joint) frame**: the body-frame equations of KP08 Table
//! 3 turned by the link's rotation, so that `X` is a shift by the arm `r` between origins:
//! ```text
//! V = X V_p + S v,   η = ad(V) S v + Ṡ v,   X = [1 0; −[r] 1]
//! ```
//! Rates in rad/s and m/s. Constant cost, about 40 ns for a hinge. Nothing fails.

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, SpatialInertia, ops, shift_motion};
use sinew_topology::NONE;

use crate::{joint_space::JointSpace, tree::TreeLink};

/// A link at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkMotion {
    /// `world_from_link`.
    pub(crate) rotation: DMat3,
    pub(crate) origin: DVec3,
    /// From the parent's origin.
    pub(crate) arm: DVec3,
    /// From the origin of the root link.
    pub(crate) place: DVec3,
    /// `V`.
    pub(crate) velocity: Motion,
    /// `η`.
    pub(crate) product: Motion,
    /// About the origin.
    pub(crate) inertia: SpatialInertia,
}

impl LinkMotion {
    pub(crate) const WORLD: Self = Self {
        rotation: DMat3::IDENTITY,
        origin: DVec3::ZERO,
        arm: DVec3::ZERO,
        place: DVec3::ZERO,
        velocity: Motion::ZERO,
        product: Motion::ZERO,
        inertia: SpatialInertia::ZERO,
    };

    /// Moves a link on a hinge: `S = (axis, 0)`, `Ṡ = 0`.
    #[inline]
    pub(crate) fn move_hinge(&mut self, link: &TreeLink, parent: &Self, angle: f64, rate: f64) {
        let base = parent.rotation * link.base_rotation;
        let (s, c) = ops::sin_cos(angle);
        let (axis, y, z) = (base.x_axis, base.y_axis, base.z_axis);
        self.rotation = DMat3::from_cols(axis, y * c + z * s, z * c - y * s);
        self.arm = parent.rotation * link.base_point;
        let turn = axis * rate;
        let carried = shift_motion(parent.velocity, self.arm);
        self.velocity = Motion::new(carried.angular + turn, carried.linear);
        self.product = Motion::new(carried.angular.cross(turn), carried.linear.cross(turn));
        self.complete(link, parent);
    }

    /// Moves a link on a joint of any kind.
    pub(crate) fn move_joint(
        &mut self,
        link: &TreeLink,
        parent: &Self,
        q: &[f64],
        v: &[f64],
        columns: &mut [Motion],
    ) {
        let mut joint = JointSpace::new(link.kind, q, v);
        if link.reversed {
            joint.reverse();
        }
        let base = parent.rotation * link.base_rotation;
        let rotation = base * joint.rotation;
        let turned = |m: Motion| Motion::new(rotation * m.angular, rotation * m.linear);
        let mut relative = Motion::ZERO;
        for (k, column) in columns.iter_mut().enumerate() {
            *column = turned(joint.columns[k]);
            relative += *column * v[k];
        }
        self.rotation = rotation;
        self.arm = parent.rotation * link.base_point + base * joint.translation;
        self.velocity = shift_motion(parent.velocity, self.arm) + relative;
        self.product = self.velocity.cross(relative) + turned(joint.drift);
        self.complete(link, parent);
    }

    /// `−ad(V)ᵀ J V`.
    #[inline]
    pub(crate) fn gyroscopic(&self) -> Force {
        self.velocity.cross_dual(self.inertia.mul(self.velocity))
    }

    /// Origin, place and inertia from rotation and arm.
    #[inline(always)]
    fn complete(&mut self, link: &TreeLink, parent: &Self) {
        self.origin = parent.origin + self.arm;
        self.place = if link.parent == NONE { DVec3::ZERO } else { parent.place + self.arm };
        self.inertia.mass = link.inertia.mass;
        self.inertia.first_moment = self.rotation * link.inertia.first_moment;
        self.inertia.rotational = link.inertia.rotational.rotated_by(&self.rotation);
    }
}
