//! Kinematics of all links: poses, twists, accelerations and Jacobians at points.
//!
//! All quantities of a link are in world axes at the origin of its link (joint) frame; see `link_motion`. The
//! acceleration of a point `d` from the origin, in the world, with gravity added back (KP08 eq. 21):
//! ```text
//! (ω̇, v̇ + ω×v + g + ω̇×d + ω×(ω×d))
//! ```
//! Cost: one pass over the links, or over those of a path. Rates in rad/s and m/s. Nothing fails.

use glam::{DMat3, DVec3};
use sinew_math::{Motion, Pose, shift_motion};
use sinew_mechanism::JointKind;
use sinew_solvers::vectorized;
use sinew_topology::NONE;

use crate::tree::{LinkId, Tree};
use crate::{dynamics::Dynamics, joint_coordinates::pose_from, link_motion::LinkMotion, state::TreeState};

impl Dynamics {
    /// Poses and twists of all links (first sweep of KP08 Table 3).
    ///
    /// # Panics
    /// If the state or this workspace belongs to another tree.
    pub fn kinematics(&mut self, tree: &Tree, state: &TreeState) {
        self.moved.read(tree, &state.coordinates, Some(&state.rates));
        self.moved.choose_all(tree);
        self.sweep::<true, true>(tree);
    }

    /// [`Self::kinematics`] of a tree at rest: poses alone, in less time. All that the mass matrix, its inverse, gravity, the centre of
    /// mass and the centroidal matrix need.
    ///
    /// # Panics
    /// If the coordinates or this workspace belong to another tree.
    pub fn kinematics_at_rest(&mut self, tree: &Tree, coordinates: &[f64]) {
        self.moved.read(tree, coordinates, None);
        self.moved.choose_all(tree);
        self.sweep::<false, true>(tree);
    }

    /// [`Self::kinematics`] of one link and those above it alone: all that Jacobians at its points need. Other links stay where they
    /// were, so nothing else may be asked before the next [`Self::kinematics`].
    ///
    /// # Panics
    /// If the state or this workspace belongs to another tree.
    pub fn path_kinematics(&mut self, tree: &Tree, state: &TreeState, link: LinkId) {
        self.moved.read(tree, &state.coordinates, Some(&state.rates));
        self.moved.choose_path(tree, link.index());
        self.sweep::<true, false>(tree);
    }

    /// Moves the links that were chosen, without twists if not `MOVING`, without inertia if not `INERT`.
    fn sweep<const MOVING: bool, const INERT: bool>(&mut self, tree: &Tree) {
        vectorized(
            #[inline(always)]
            || {
                self.moved.turn(tree);
                for at in 0..self.moved.path().len() {
                    self.move_link::<MOVING, INERT>(tree, at);
                }
            },
        );
    }

    #[inline(always)]
    fn move_link<const MOVING: bool, const INERT: bool>(&mut self, tree: &Tree, at: usize) {
        let (moved, k) = (&self.moved, self.moved.path()[at] as usize);
        let (link, state) = (&tree.links[k], &moved.state);
        let (above, rest) = self.motions.split_at_mut(k);
        let parent = if link.parent == NONE { &LinkMotion::WORLD } else { &above[link.parent as usize] };
        let here = &mut rest[0];
        if link.kind == JointKind::Hinge {
            let dof = link.first_dof as usize;
            here.move_hinge::<MOVING, INERT>(link, parent, moved.turned(at), state.rates[dof]);
            // by halves: six numbers at once go through the stack, which takes longer
            self.columns[dof].angular = here.rotation.x_axis;
            self.columns[dof].linear = DVec3::ZERO;
        } else {
            let (q, v) = (&state.coordinates[link.coordinates()], &state.rates[link.dofs()]);
            let columns = &mut self.columns[link.dofs()];
            if link.kind == JointKind::Free && !link.reversed {
                here.move_free::<INERT>(link, parent, q, v, columns);
            } else {
                here.move_joint::<INERT>(link, parent, q, v, columns);
            }
        }
    }

    /// World pose of a link's joint frame: the joint frame that is fixed to its body, `world_from_link`. Without a joint it is the central frame.
    pub fn joint_pose(&self, link: LinkId) -> Pose {
        let here = &self.motions[link.index()];
        pose_from(&here.rotation, here.origin)
    }

    /// World pose of the body frame of a link's body, `world_from_body`.
    pub fn body_pose(&self, tree: &Tree, link: LinkId) -> Pose {
        self.joint_pose(link).compose(&tree.links[link.index()].from_body)
    }

    /// World pose of the body's central frame, as in a mechanism's state.
    pub fn central_pose(&self, tree: &Tree, link: LinkId) -> Pose {
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

    /// From the origin of the frame in which a link's joint moves, which its parent carries, to that of its joint frame, world axes (m).
    pub fn joint_offset(&self, tree: &Tree, link: LinkId) -> DVec3 {
        let (link, here) = (&tree.links[link.index()], &self.motions[link.index()]);
        let parent = self.motions.get(link.parent as usize).unwrap_or(&LinkMotion::WORLD);
        here.arm - parent.rotation * link.base_point
    }

    /// Twist at the origin of the joint frame, world axes (rad/s, m/s).
    pub fn joint_motion(&self, link: LinkId) -> Motion {
        self.motions[link.index()].velocity
    }

    /// Twist at the origin of the central frame, world axes, as in a mechanism's state.
    pub fn central_motion(&self, tree: &Tree, link: LinkId) -> Motion {
        let here = &self.motions[link.index()];
        shift_motion(here.velocity, here.rotation * tree.links[link.index()].central.translation)
    }

    /// Twist of a link at a world point, world axes (rad/s, m/s).
    pub fn motion_at(&self, link: LinkId, point: DVec3) -> Motion {
        let here = &self.motions[link.index()];
        shift_motion(here.velocity, point - here.origin)
    }

    /// Column of the joint subspace `S` for the rate `dof`, world axes at the origin of its link.
    pub fn column(&self, dof: usize) -> Motion {
        self.columns[dof]
    }

    /// Acceleration of a link at a world point, world axes, `(ω̇, a)` in rad/s² and m/s², after [`Dynamics::hybrid`]. Gravity
    /// is included: a body in free fall has `a = g`.
    pub fn acceleration_at(&self, link: LinkId, point: DVec3) -> Motion {
        self.world_acceleration(link.index(), point, self.accelerated[link.index()], self.gravity)
    }

    /// Velocity product `J̇v` of a link at a world point, world axes: its acceleration at zero joint accelerations, without
    /// gravity.
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

    /// Link Jacobian at a world point: one column `(ω, v)` per rate, world axes. Columns of joints that do not move the
    /// link are zero.
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

    /// Rate of the link Jacobian at a world point that the link carries, world axes: `J̇` of `a = J q̈ + J̇ v`.
    pub fn fill_jacobian_rate(&self, tree: &Tree, link: LinkId, point: DVec3, out: &mut [Motion]) {
        out.fill(Motion::ZERO);
        let velocity = self.motion_at(link, point).linear;
        let mut at = link.index() as u32;
        while at != NONE {
            let (k, here) = (at as usize, &tree.links[at as usize]);
            let origin = &self.motions[k].origin;
            for (dof, rate) in here.dofs().zip(self.column_rates(tree, k)) {
                out[dof] = shift_motion(rate, point - origin);
                out[dof].linear += self.columns[dof].angular.cross(velocity);
            }
            at = here.parent;
        }
    }
}
