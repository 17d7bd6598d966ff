//! How the subspace `S` of a joint changes along its own coordinates, seen from its link.
//!
//! Most joints have a constant `S` in the link. The others have, in frame 1, with `S°` and `Ṡ°v` of `joint_space`:
//! ```text
//! H(u, x) = ∂(S°x) along rates u      Ṡ°v = H(v, v)      G(u) = ∂(Ṡ°v) along u
//! sliding in frame 2   H = (0, −ω_u × y_x)       G = (0, ω × (ω_u × y))       S°x = (ω_x, y_x), S°v = (ω, y)
//! universal            H = (c × e_x u₁x₂, 0)     G = ((c × e_x) × e_x u₁v₁v₂, 0)
//! rolling              H = (0, −ρ x × κ'(u))     G = (0, −ρ ω × κ̇'(u))
//! ```
//! A joint that the tree uses the other way round has `S = −Ad(J)S°`, so `H − (Su) × (Sx)` with `H` carried along, and the same
//! for `G`. Results are in world axes at the origin of the link frame. Constant cost; nothing fails.

use glam::{DMat3, DVec3};
use sinew_math::{Motion, shift_motion};
use sinew_mechanism::JointKind;

use crate::joint_space::{JointSpace, MAX_DOFS, RollingContact, three};
use crate::{dynamics::Dynamics, tree::Tree};

/// Numbers per rate of one joint.
pub(crate) type JointRates = [f64; MAX_DOFS];

/// A joint whose `S` is not constant in its link.
pub(crate) struct SubspaceChange {
    kind: JointKind,
    reversed: bool,
    /// In frame 1, as declared.
    joint: JointSpace,
    rates: JointRates,
    world_from_frame1: DMat3,
    /// From the origin of the link frame to that of frame 1, world axes.
    arm: DVec3,
}

impl SubspaceChange {
    /// `None` if `S` is constant.
    pub(crate) fn new(tree: &Tree, dynamics: &Dynamics, k: usize) -> Option<Self> {
        use JointKind::{Planar, PointOnLine, PointOnPlane, RollingDisc, RollingSphere, Universal};
        let link = &tree.links[k];
        let changes = matches!(
            link.kind,
            Planar | PointOnLine | PointOnPlane | RollingDisc { .. } | RollingSphere { .. } | Universal
        );
        if !(changes || link.reversed) {
            return None;
        }
        let (q, v) =
            (&dynamics.moved.state.coordinates[link.coordinates()], &dynamics.moved.state.rates[link.dofs()]);
        let joint = JointSpace::new(link.kind, q, v);
        let world_from_link = dynamics.motions[k].rotation;
        let (world_from_frame1, arm) = if link.reversed {
            (world_from_link * joint.rotation, world_from_link * joint.translation)
        } else {
            (world_from_link, DVec3::ZERO)
        };
        Some(Self {
            kind: link.kind,
            reversed: link.reversed,
            joint,
            rates: padded(v),
            world_from_frame1,
            arm,
        })
    }

    /// Change of `S x` along the rates `u`.
    pub(crate) fn along(&self, u: &JointRates, x: &JointRates) -> Motion {
        let carried = self.to_world(self.joint_along(u, x));
        if self.reversed { carried - self.twist(u).cross(self.twist(x)) } else { carried }
    }

    /// Change of `Ṡv` along the rates `u`.
    pub(crate) fn drift_along(&self, u: &JointRates) -> Motion {
        let carried = self.to_world(self.joint_drift_along(u));
        let drift = self.to_world(self.joint.drift);
        if self.reversed { carried - self.twist(u).cross(drift) } else { carried }
    }

    /// Change of `Ṡv` with the rates, along `u`.
    pub(crate) fn drift_by_rates(&self, u: &JointRates) -> Motion {
        self.along(u, &self.rates) + self.along(&self.rates, u)
    }

    /// Change of `Sv` along `u`.
    pub(crate) fn twist_along(&self, u: &JointRates) -> Motion {
        self.along(u, &self.rates)
    }

    fn twist(&self, x: &JointRates) -> Motion {
        self.to_world(self.joint_twist(x))
    }

    fn to_world(&self, m: Motion) -> Motion {
        let turned = Motion::new(self.world_from_frame1 * m.angular, self.world_from_frame1 * m.linear);
        if self.reversed { -shift_motion(turned, -self.arm) } else { turned }
    }

    fn joint_twist(&self, x: &JointRates) -> Motion {
        self.joint.columns.iter().zip(x).fold(Motion::ZERO, |sum, (column, x)| sum + *column * *x)
    }

    fn joint_along(&self, u: &JointRates, x: &JointRates) -> Motion {
        match self.kind {
            JointKind::Free => Motion::ZERO,
            JointKind::Universal => Motion::new(self.universal_turn() * (u[0] * x[1]), DVec3::ZERO),
            JointKind::RollingSphere { radius } | JointKind::RollingDisc { radius } => {
                let contact = RollingContact::new(self.kind, &self.joint.rotation, three(u));
                Motion::new(DVec3::ZERO, -radius * three(x).cross(contact.arm_rate))
            }
            _ => {
                let (turn, slide) = (self.joint_twist(u).angular, self.joint_twist(x).linear);
                Motion::new(DVec3::ZERO, -turn.cross(slide))
            }
        }
    }

    fn joint_drift_along(&self, u: &JointRates) -> Motion {
        let v = &self.rates;
        match self.kind {
            JointKind::Universal => {
                Motion::new(self.universal_turn().cross(DVec3::X) * (u[0] * v[0] * v[1]), DVec3::ZERO)
            }
            JointKind::RollingSphere { radius } | JointKind::RollingDisc { radius } => {
                let (omega, rotation) = (three(v), &self.joint.rotation);
                let change = RollingContact::arm_rate_along(self.kind, rotation, omega, three(u));
                Motion::new(DVec3::ZERO, -radius * omega.cross(change))
            }
            _ => {
                let slide = self.joint_along(u, v).linear;
                Motion::new(DVec3::ZERO, -self.joint_twist(v).angular.cross(slide))
            }
        }
    }

    /// `c × e_x`.
    fn universal_turn(&self) -> DVec3 {
        self.joint.columns[1].angular.cross(DVec3::X)
    }
}

impl Dynamics {
    /// `Ṡ` of the joint of a link: the rates of its columns in a frame that stands still at the origin of the link.
    pub(crate) fn column_rates(&self, tree: &Tree, k: usize) -> [Motion; MAX_DOFS] {
        let (dofs, velocity) = (tree.links[k].dofs(), self.motions[k].velocity);
        let mut rates = [Motion::ZERO; MAX_DOFS];
        for (rate, column) in rates.iter_mut().zip(&self.columns[dofs]) {
            *rate = velocity.cross(*column);
        }
        if let Some(change) = SubspaceChange::new(tree, self, k) {
            for (m, rate) in rates[..tree.links[k].n_dofs as usize].iter_mut().enumerate() {
                *rate += change.along(&change.rates, &unit(m));
            }
        }
        rates
    }
}

/// The rates of a joint, followed by zeros.
pub(crate) fn padded(x: &[f64]) -> JointRates {
    std::array::from_fn(|m| x.get(m).copied().unwrap_or(0.0))
}

/// One for the rate `m`, zero for the others.
pub(crate) fn unit(m: usize) -> JointRates {
    std::array::from_fn(|k| if k == m { 1.0 } else { 0.0 })
}
