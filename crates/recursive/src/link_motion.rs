//! Position, velocity and inertia of one link, from those of its parent and the state of its joint.
//!
//! All quantities are in **world axes at the origin of the link (joint) frame**: the body-frame equations of KP08 Table
//! 3 turned by the link's rotation, so that `X` is a shift by the arm `r` between origins:
//! ```text
//! V = X V_p + S v,   η = ad(V) S v + Ṡ v,   X = [1 0; −[r] 1]
//! ```
//! Rates in rad/s and m/s. Constant cost, about 40 ns for a hinge. Nothing fails.

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, SpatialInertia, quat_to_mat3, shift_motion};
use sinew_topology::NONE;

use crate::joint_space::{JointSpace, quaternion, three};
use crate::tree::TreeLink;

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

    /// Moves a link on a hinge: `S = (axis, 0)`, `Ṡ = 0`. Unless `MOVING`, all is at rest. Without `INERT`, its inertia stays as it was.
    #[inline(always)]
    pub(crate) fn move_hinge<const MOVING: bool, const INERT: bool>(
        &mut self,
        link: &TreeLink,
        parent: &Self,
        [s, c]: [f64; 2],
        rate: f64,
    ) {
        let base = parent.rotation * link.base_rotation;
        let (axis, y, z) = (base.x_axis, base.y_axis, base.z_axis);
        self.rotation = DMat3::from_cols(axis, y * c + z * s, z * c - y * s);
        self.arm = parent.rotation * link.base_point;
        (self.velocity, self.product) = (Motion::ZERO, Motion::ZERO);
        if MOVING {
            let turn = axis * rate;
            let carried = shift_motion(parent.velocity, self.arm);
            self.velocity = Motion::new(carried.angular + turn, carried.linear);
            self.product = Motion::new(carried.angular.cross(turn), carried.linear.cross(turn));
        }
        self.complete::<INERT>(link, parent);
    }

    /// Moves a link on a free joint as it was declared: `S` are the axes of its frame, `Ṡ = 0` there.
    #[inline(always)]
    pub(crate) fn move_free<const INERT: bool>(
        &mut self,
        link: &TreeLink,
        parent: &Self,
        q: &[f64],
        v: &[f64],
        columns: &mut [Motion],
    ) {
        let base = parent.rotation * link.base_rotation;
        self.rotation = base * quat_to_mat3(quaternion(q));
        let axes = [self.rotation.x_axis, self.rotation.y_axis, self.rotation.z_axis];
        let mut relative = Motion::ZERO;
        for (m, axis) in axes.into_iter().enumerate() {
            columns[m] = Motion::new(axis, DVec3::ZERO);
            columns[3 + m] = Motion::new(DVec3::ZERO, axis);
            relative += Motion::new(axis * v[m], axis * v[3 + m]);
        }
        self.arm = parent.rotation * link.base_point + base * three(&q[4..]);
        self.velocity = shift_motion(parent.velocity, self.arm) + relative;
        self.product = self.velocity.cross(relative);
        self.complete::<INERT>(link, parent);
    }

    /// Moves a link on a joint of any kind. Without `INERT`, its inertia stays as it was.
    pub(crate) fn move_joint<const INERT: bool>(
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
        self.complete::<INERT>(link, parent);
    }

    /// `−ad(V)ᵀ J V`.
    #[inline]
    pub(crate) fn gyroscopic(&self) -> Force {
        self.velocity.cross_dual(self.inertia.mul(self.velocity))
    }

    /// Origin, place and inertia from rotation and arm.
    #[inline(always)]
    fn complete<const INERT: bool>(&mut self, link: &TreeLink, parent: &Self) {
        self.origin = parent.origin + self.arm;
        self.place = if link.parent == NONE { DVec3::ZERO } else { parent.place + self.arm };
        if INERT {
            self.inertia.mass = link.inertia.mass;
            self.inertia.first_moment = self.rotation * link.inertia.first_moment;
            self.inertia.rotational = link.inertia.rotational.rotated_by(&self.rotation);
        }
    }
}
