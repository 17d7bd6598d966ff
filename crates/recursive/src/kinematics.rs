//! Where links are, how they move, and how their motion depends on the rates.
//!
//! All quantities of a link are in **world axes at the origin of its link (joint) frame**: the body-frame equations of KP08
//! Table 3 turned by the link's rotation, so that `X` is a shift by the arm `r` between origins:
//! ```text
//! V = X V_p + S v,   η = ad(V) S v + Ṡ v,   X = [1 0; −[r] 1]
//! world acceleration of a point d from the origin (KP08 eq. 21–22, gravity given back):
//!   (ω̇, v̇ + ω×v + g + ω̇×d + ω×(ω×d))
//! ```
//! Cost: one pass over links, about 45 ns for a hinge. Rates in rad/s and m/s.

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, Pose, SpatialInertia, ops, shift_motion};
use sinew_mechanism::JointKind;
use sinew_topology::NONE;

use crate::joint_space::{JointSpace, pose_from};
use crate::tree::Link;
use crate::{Dynamics, LinkId, Tree, TreeState};

/// A link at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkMotion {
    /// `world_from_link`.
    pub(crate) rotation: DMat3,
    pub(crate) origin: DVec3,
    /// From the parent's origin.
    pub(crate) arm: DVec3,
    /// `V`.
    pub(crate) velocity: Motion,
    /// `η`.
    pub(crate) product: Motion,
    /// About the origin.
    pub(crate) inertia: SpatialInertia,
    /// `−ad(V)ᵀ J V`.
    pub(crate) gyroscopic: Force,
}

impl LinkMotion {
    pub(crate) const WORLD: Self = Self {
        rotation: DMat3::IDENTITY,
        origin: DVec3::ZERO,
        arm: DVec3::ZERO,
        velocity: Motion::ZERO,
        product: Motion::ZERO,
        inertia: SpatialInertia::ZERO,
        gyroscopic: Force::ZERO,
    };
}

impl Dynamics {
    /// Places and twists of all links (first sweep of KP08 Table 3).
    ///
    /// # Panics
    /// If the state or this workspace belongs to another tree.
    pub fn kinematics(&mut self, tree: &Tree, state: &TreeState) {
        assert_eq!(state.coordinates.len(), tree.n_coordinates(), "coordinates of another tree");
        assert_eq!(state.rates.len(), tree.n_dofs(), "rates of another tree");
        assert_eq!(self.motions.len(), tree.n_links(), "workspace of another tree");
        for (k, link) in tree.links.iter().enumerate() {
            let (above, rest) = self.motions.split_at_mut(k);
            let parent = if link.parent == NONE { &LinkMotion::WORLD } else { &above[link.parent as usize] };
            let here = &mut rest[0];
            if link.kind == JointKind::Hinge {
                let dof = link.first_dof as usize;
                let angle = state.coordinates[link.first_coordinate as usize];
                here.move_hinge(link, parent, angle, state.rates[dof]);
                self.columns[dof] = Motion::new(here.rotation.x_axis, DVec3::ZERO);
            } else {
                let (q, v) = (&state.coordinates[link.coordinates()], &state.rates[link.dofs()]);
                here.move_joint(link, parent, q, v, &mut self.columns[link.dofs()]);
            }
        }
    }

    /// World pose of a link's joint frame.
    pub fn joint_pose(&self, link: LinkId) -> Pose {
        let here = &self.motions[link.index()];
        pose_from(&here.rotation, here.origin)
    }

    /// World pose of the body's central frame, as in a mechanism's state.
    pub fn body_pose(&self, tree: &Tree, link: LinkId) -> Pose {
        self.joint_pose(link).compose(&tree.links[link.index()].central)
    }

    /// Rotation matrix of a link, `world_from_link`.
    pub fn rotation(&self, link: LinkId) -> DMat3 {
        self.motions[link.index()].rotation
    }

    /// Origin of a link's joint frame, world (m).
    pub fn origin(&self, link: LinkId) -> DVec3 {
        self.motions[link.index()].origin
    }

    /// Twist at the origin of the joint frame, world axes (rad/s, m/s).
    pub fn joint_motion(&self, link: LinkId) -> Motion {
        self.motions[link.index()].velocity
    }

    /// Twist at the origin of the central frame, world axes, as in a mechanism's state.
    pub fn body_motion(&self, tree: &Tree, link: LinkId) -> Motion {
        let here = &self.motions[link.index()];
        shift_motion(here.velocity, here.rotation * tree.links[link.index()].central.translation)
    }

    /// Twist of a link at a world point (rad/s, m/s).
    pub fn motion_at(&self, link: LinkId, point: DVec3) -> Motion {
        let here = &self.motions[link.index()];
        shift_motion(here.velocity, point - here.origin)
    }

    /// Subspace of a joint: column of `S` for the rate `dof` of any link, world axes at that link's origin.
    pub fn column(&self, dof: usize) -> Motion {
        self.columns[dof]
    }

    /// World acceleration of a link at a world point, `(ω̇, a)` in rad/s² and m/s², after [`Dynamics::hybrid`]. Gravity is part of it
    /// as of any true acceleration: a body in free fall has `a = g`.
    pub fn acceleration_at(&self, link: LinkId, point: DVec3) -> Motion {
        self.world_acceleration(link.index(), point, self.accelerated[link.index()], self.gravity)
    }

    /// Velocity product `J̇v` of a link at a world point: its acceleration at zero joint accelerations without gravity (eq. 21–22).
    pub fn velocity_product_at(&self, tree: &Tree, link: LinkId, point: DVec3) -> Motion {
        let origin = self.motions[link.index()].origin;
        let mut sum = Motion::ZERO;
        let mut at = link.index() as u32;
        while at != NONE {
            let here = &self.motions[at as usize];
            sum += shift_motion(here.product, origin - here.origin);
            at = tree.links[at as usize].parent;
        }
        self.world_acceleration(link.index(), point, sum, DVec3::ZERO)
    }

    fn world_acceleration(&self, link: usize, point: DVec3, rate: Motion, gravity: DVec3) -> Motion {
        let here = &self.motions[link];
        let d = point - here.origin;
        let omega = here.velocity.angular;
        let turning = omega.cross(here.velocity.linear + omega.cross(d));
        Motion::new(rate.angular, rate.linear + rate.angular.cross(d) + turning + gravity)
    }

    /// Link Jacobian at a world point: fills one column `(ω, v)` per rate, world axes. Columns of joints off the path are zero.
    pub fn fill_jacobian(&self, tree: &Tree, link: LinkId, point: DVec3, out: &mut [Motion]) {
        out.fill(Motion::ZERO);
        let mut at = link.index() as u32;
        while at != NONE {
            let here = &tree.links[at as usize];
            let arm = point - self.motions[at as usize].origin;
            for dof in here.dofs() {
                out[dof] = shift_motion(self.columns[dof], arm);
            }
            at = here.parent;
        }
    }
}

impl LinkMotion {
    /// `S = (axis, 0)`, `Ṡ = 0`.
    #[inline]
    fn move_hinge(&mut self, link: &Link, parent: &Self, angle: f64, rate: f64) {
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

    /// Any joint.
    fn move_joint(&mut self, link: &Link, parent: &Self, q: &[f64], v: &[f64], columns: &mut [Motion]) {
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

    /// What follows from rotation, arm and velocity.
    #[inline]
    fn complete(&mut self, link: &Link, parent: &Self) {
        self.origin = parent.origin + self.arm;
        self.inertia.mass = link.inertia.mass;
        self.inertia.first_moment = self.rotation * link.inertia.first_moment;
        self.inertia.rotational = link.inertia.rotational.rotated_by(&self.rotation);
        self.gyroscopic = self.velocity.cross_dual(self.inertia.mul(self.velocity));
    }
}
