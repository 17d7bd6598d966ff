//! Where links are, how they move, and how their motion depends on the rates.
//!
//! All quantities of a link are in **world axes at the origin of its link (joint) frame**: the body-frame equations of KP08
//! Table 3 turned by the link's rotation, so that `X` is a shift by the arm `r` between origins:
//! ```text
//! V = X V_p + S v,   η = ad(V) S v + Ṡ v,   X = [1 0; −[r] 1]
//! world acceleration of a point d from the origin (KP08 eq. 21–22, gravity given back):
//!   (ω̇, v̇ + ω×v + g + ω̇×d + ω×(ω×d))
//! ```
//! Cost: one pass over links, about 60 ns for a hinge. Rates in rad/s and m/s.

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, Pose, SpatialInertia, ops};
use sinew_mechanism::JointKind;
use sinew_topology::NONE;

use crate::articulated::shift_motion;
use crate::joint_space::{JointSpace, MAX_DOFS, pose_from};
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
            let parent =
                if link.parent == NONE { &LinkMotion::WORLD } else { &self.motions[link.parent as usize] };
            let base = parent.rotation * link.base_rotation;
            let base_point = parent.rotation * link.base_point;
            let here = if link.kind == JointKind::Hinge {
                let (angle, rate) =
                    (state.coordinates[link.first_coordinate as usize], state.rates[link.first_dof as usize]);
                let axis = base.x_axis;
                self.columns[link.first_dof as usize] = Motion::new(axis, DVec3::ZERO);
                hinge(link, parent, &base, base_point, angle, rate)
            } else {
                let (q, v) = (&state.coordinates[link.coordinates()], &state.rates[link.dofs()]);
                general(link, parent, &base, base_point, (q, v), &mut self.columns[link.dofs()])
            };
            self.motions[k] = here;
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

#[inline]
fn hinge(link: &Link, parent: &LinkMotion, base: &DMat3, arm: DVec3, angle: f64, rate: f64) -> LinkMotion {
    let (s, c) = ops::sin_cos(angle);
    let axis = base.x_axis;
    let rotation =
        DMat3::from_cols(axis, base.y_axis * c + base.z_axis * s, base.z_axis * c - base.y_axis * s);
    let turn = axis * rate;
    let carried = shift_motion(parent.velocity, arm);
    let velocity = Motion::new(carried.angular + turn, carried.linear);
    let product = Motion::new(carried.angular.cross(turn), carried.linear.cross(turn));
    moved(link, parent, rotation, arm, velocity, product)
}

fn general(
    link: &Link,
    parent: &LinkMotion,
    base: &DMat3,
    base_point: DVec3,
    (q, v): (&[f64], &[f64]),
    columns: &mut [Motion],
) -> LinkMotion {
    let mut joint = JointSpace::new(link.kind, q, v);
    if link.reversed {
        reverse(&mut joint);
    }
    let rotation = *base * joint.rotation;
    let arm = base_point + *base * joint.translation;
    let turned = |m: Motion| Motion::new(rotation * m.angular, rotation * m.linear);
    let mut relative = Motion::ZERO;
    for (k, column) in columns.iter_mut().enumerate() {
        *column = turned(joint.columns[k]);
        relative += *column * v[k];
    }
    let velocity = shift_motion(parent.velocity, arm) + relative;
    let product = velocity.cross(relative) + turned(joint.drift);
    moved(link, parent, rotation, arm, velocity, product)
}

/// The joint seen from the other side: `T = J⁻¹`, `S → −Ad(J) S`, `Ṡv → −Ad(J) Ṡv` (since `ad(Sv) Sv = 0`).
fn reverse(joint: &mut JointSpace) {
    let (r, p) = (joint.rotation, joint.translation);
    let act = |m: Motion| {
        let angular = r * m.angular;
        -Motion::new(angular, r * m.linear + p.cross(angular))
    };
    for k in 0..MAX_DOFS {
        joint.columns[k] = act(joint.columns[k]);
    }
    joint.drift = act(joint.drift);
    joint.rotation = r.transpose();
    joint.translation = -(joint.rotation * p);
}

#[inline]
fn moved(
    link: &Link,
    parent: &LinkMotion,
    rotation: DMat3,
    arm: DVec3,
    velocity: Motion,
    product: Motion,
) -> LinkMotion {
    let inertia = SpatialInertia {
        mass: link.inertia.mass,
        first_moment: rotation * link.inertia.first_moment,
        rotational: link.inertia.rotational.rotated_by(&rotation),
    };
    let gyroscopic = velocity.cross_dual(inertia.mul(velocity));
    let origin = parent.origin + arm;
    LinkMotion { rotation, origin, arm, velocity, product, inertia, gyroscopic }
}
