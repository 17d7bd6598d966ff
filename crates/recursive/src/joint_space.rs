//! Joint coordinates: relative pose `J(q)` of a joint, its subspace `S` and `Ṡv`.
//!
//! `J(q)` is the pose of frame 1 in frame 2. `S v = (J⁻¹J̇)^∨` is the twist of frame 1 relative to frame 2, in the axes
//! of frame 1 at its origin (KP08 appendix A). Rotations in space have four coordinates (a unit quaternion
//! `w, x, y, z`) and three **quasi-velocities** (the relative angular velocity ω in frame 1), so that `S` has no
//! singular pose.
//!
//! | Kind | coordinates | rates `v` | relative pose |
//! |---|---|---|---|
//! | `Fixed` | – | – | 1 |
//! | `Hinge` | ϑ | ϑ̇ | `Rx(ϑ)` |
//! | `Prismatic` | s | ṡ | `Tx(s)` |
//! | `Screw` | ϑ | ϑ̇ | `Tx(pϑ) Rx(ϑ)` |
//! | `Cylindrical` | ϑ, s | ϑ̇, ṡ | `Tx(s) Rx(ϑ)` |
//! | `Planar` | ϑ, y, z | ϑ̇, ẏ, ż | `T(0,y,z) Rx(ϑ)` |
//! | `Universal` | ϑ about i₁, φ about j₂ | ϑ̇, φ̇ | `Ry(φ) Rx(ϑ)` |
//! | `Orientation` | x, y, z | ẋ, ẏ, ż | `T(x,y,z)` |
//! | `Ball` | R | ω | `R` |
//! | `PointOnLine` | R, s | ω, ṡ | `T(s,0,0) R` |
//! | `PointOnPlane` | R, y, z | ω, ẏ, ż | `T(0,y,z) R` |
//! | `Free` | R, x, y, z | ω, and the velocity of the origin in frame 1 | `T(x,y,z) R` |
//! | `RollingSphere` | R, y, z | ω | `T(ρ,y,z) R`, velocity `ρ ω × n` |
//! | `RollingDisc` | R, y, z | ω | `T(ρL,y,z) R`, velocity `−ρ ω × κ` |
//!
//! `n = Rᵀe_x` is the plane normal in frame 1, `L = √(n_y² + n_z²)`, `κ = −(0, n_y, n_z)/L` points to the contact. A
//! disc that lies flat has no lowest point; `L` is then bounded from below. Units: m, rad, s. Constant cost; nothing
//! fails.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{Motion, ops, quat_to_mat3};
use sinew_mechanism::JointKind;

/// Largest number of rates of a joint.
pub(crate) const MAX_DOFS: usize = 6;

/// Largest number of coordinates of a joint.
pub(crate) const MAX_COORDINATES: usize = 7;

/// Smallest `L` of a disc that is used as a divisor.
const FLAT: f64 = 1e-9;

/// A joint at one instant: relative pose, subspace and velocity product.
pub(crate) struct JointSpace {
    /// `frame2_from_frame1`.
    pub(crate) rotation: DMat3,
    /// Origin of frame 1 in frame 2.
    pub(crate) translation: DVec3,
    /// Columns of `S`, as many as the joint has rates.
    pub(crate) columns: [Motion; MAX_DOFS],
    /// `Ṡ v`.
    pub(crate) drift: Motion,
}

pub(crate) fn quaternion(q: &[f64]) -> DQuat {
    DQuat::from_xyzw(q[1], q[2], q[3], q[0])
}

pub(crate) fn three(v: &[f64]) -> DVec3 {
    DVec3::new(v[0], v[1], v[2])
}

fn turn_x(angle: f64) -> DMat3 {
    let (s, c) = ops::sin_cos(angle);
    DMat3::from_cols(DVec3::X, DVec3::new(0.0, c, s), DVec3::new(0.0, -s, c))
}

fn turning(axis: DVec3) -> Motion {
    Motion::new(axis, DVec3::ZERO)
}

fn sliding(axis: DVec3) -> Motion {
    Motion::new(DVec3::ZERO, axis)
}

impl JointSpace {
    /// Evaluates a joint.
    pub(crate) fn new(kind: JointKind, q: &[f64], v: &[f64]) -> Self {
        let mut out = Self {
            rotation: DMat3::IDENTITY,
            translation: DVec3::ZERO,
            columns: [Motion::ZERO; MAX_DOFS],
            drift: Motion::ZERO,
        };
        match kind {
            JointKind::Hinge => {
                out.rotation = turn_x(q[0]);
                out.columns[0] = turning(DVec3::X);
            }
            JointKind::Prismatic => {
                out.translation.x = q[0];
                out.columns[0] = sliding(DVec3::X);
            }
            JointKind::Screw { pitch } => {
                out.rotation = turn_x(q[0]);
                out.translation.x = pitch * q[0];
                out.columns[0] = Motion::new(DVec3::X, DVec3::X * pitch);
            }
            JointKind::Cylindrical => {
                out.rotation = turn_x(q[0]);
                out.translation.x = q[1];
                out.columns[..2].copy_from_slice(&[turning(DVec3::X), sliding(DVec3::X)]);
            }
            JointKind::Planar => {
                out.rotation = turn_x(q[0]);
                out.translation = DVec3::new(0.0, q[1], q[2]);
                out.columns[0] = turning(DVec3::X);
                out.slides(1, &[1, 2], v, DVec3::X * v[0]);
            }
            JointKind::Universal => {
                let turn = turn_x(q[0]);
                let (s, c) = ops::sin_cos(q[1]);
                out.rotation =
                    DMat3::from_cols(DVec3::new(c, 0.0, -s), DVec3::Y, DVec3::new(s, 0.0, c)) * turn;
                // j₂ in frame 1, which turns about i₁ at −ϑ̇
                let across = turn.transpose().y_axis;
                out.columns[..2].copy_from_slice(&[turning(DVec3::X), turning(across)]);
                out.drift.angular = across.cross(DVec3::X) * (v[0] * v[1]);
            }
            JointKind::Orientation => {
                out.translation = three(q);
                out.slides(0, &[0, 1, 2], v, DVec3::ZERO);
            }
            _ if kind.has_quaternion() => out.in_space(kind, q, v),
            _ => {}
        }
        out
    }

    /// Reverses the joint: `T = J⁻¹`, `S → −Ad(J) S`, `Ṡv → −Ad(J) Ṡv` (since `ad(Sv) Sv = 0`).
    pub(crate) fn reverse(&mut self) {
        let (r, p) = (self.rotation, self.translation);
        let act = |m: Motion| {
            let angular = r * m.angular;
            -Motion::new(angular, r * m.linear + p.cross(angular))
        };
        self.columns = self.columns.map(act);
        self.drift = act(self.drift);
        self.rotation = r.transpose();
        self.translation = -(self.rotation * p);
    }

    /// Columns `Rᵀe_m` from `first` on, and the velocity product `−ω × Rᵀṗ` of all of them.
    fn slides(&mut self, first: usize, directions: &[usize], v: &[f64], omega: DVec3) {
        let axes = self.rotation.transpose();
        for (k, &m) in directions.iter().enumerate() {
            let axis = axes.col(m);
            self.columns[first + k] = sliding(axis);
            self.drift.linear -= omega.cross(axis) * v[first + k];
        }
    }

    /// The kinds with a quaternion.
    fn in_space(&mut self, kind: JointKind, q: &[f64], v: &[f64]) {
        self.rotation = quat_to_mat3(quaternion(q));
        let omega = three(v);
        for m in 0..3 {
            self.columns[m] = turning(DVec3::AXES[m]);
        }
        match kind {
            JointKind::PointOnLine => {
                self.translation.x = q[4];
                self.slides(3, &[0], v, omega);
            }
            JointKind::PointOnPlane => {
                self.translation = DVec3::new(0.0, q[4], q[5]);
                self.slides(3, &[1, 2], v, omega);
            }
            JointKind::Free => {
                self.translation = three(&q[4..]);
                for m in 0..3 {
                    self.columns[3 + m] = sliding(DVec3::AXES[m]);
                }
            }
            JointKind::RollingSphere { radius } | JointKind::RollingDisc { radius } => {
                let contact = RollingContact::new(kind, &self.rotation, omega);
                self.translation = DVec3::new(radius * contact.height, q[4], q[5]);
                for m in 0..3 {
                    self.columns[m].linear = -radius * DVec3::AXES[m].cross(contact.arm);
                }
                self.drift.linear = -radius * omega.cross(contact.arm_rate);
            }
            _ => {}
        }
    }
}

/// Contact of a rolling body with the plane, in frame 1 and for unit radius.
pub(crate) struct RollingContact {
    /// From the centre to the contact.
    arm: DVec3,
    /// Its rate in frame 1.
    pub(crate) arm_rate: DVec3,
    /// Height of the centre above the plane.
    height: f64,
}

impl RollingContact {
    pub(crate) fn new(kind: JointKind, rotation: &DMat3, omega: DVec3) -> Self {
        let normal = rotation.transpose().x_axis;
        let normal_rate = normal.cross(omega);
        if matches!(kind, JointKind::RollingSphere { .. }) {
            return Self { arm: -normal, arm_rate: -normal_rate, height: 1.0 };
        }
        let within = |n: DVec3| DVec3::new(0.0, n.y, n.z);
        let level = within(normal).length();
        let arm = -within(normal) / level.max(FLAT);
        let rate = within(normal_rate);
        let arm_rate = (arm * rate.dot(arm) - rate) / level.max(FLAT);
        Self { arm, arm_rate, height: level }
    }

    /// Change of `arm_rate` along the turn `R ← R exp(turn)`, at the same `omega`.
    pub(crate) fn arm_rate_along(kind: JointKind, rotation: &DMat3, omega: DVec3, turn: DVec3) -> DVec3 {
        let normal = rotation.transpose().x_axis;
        let (normal_rate, change) = (normal.cross(omega), normal.cross(turn));
        if matches!(kind, JointKind::RollingSphere { .. }) {
            return -change.cross(omega);
        }
        // derivative of κ̇ = (κ (ẇ·κ) − ẇ)/L, with w = (0, n_y, n_z), L = |w|, κ = −w/L
        let within = |n: DVec3| DVec3::new(0.0, n.y, n.z);
        let level = within(normal).length().max(FLAT);
        let (arm, rate) = (-within(normal) / level, within(normal_rate));
        let (across, rate_change) = (within(change), within(change.cross(omega)));
        let arm_change = (arm * across.dot(arm) - across) / level;
        let arm_rate = (arm * rate.dot(arm) - rate) / level;
        let slope =
            arm_change * rate.dot(arm) + arm * (rate_change.dot(arm) + rate.dot(arm_change)) - rate_change;
        (slope + arm_rate * arm.dot(across)) / level
    }
}

/// Velocity of the centre of a rolling body in frame 2, for the angular velocity `omega` in frame 1.
pub(crate) fn rolling_velocity(kind: JointKind, radius: f64, rotation: &DMat3, omega: DVec3) -> DVec3 {
    *rotation * (-radius * omega.cross(RollingContact::new(kind, rotation, omega).arm))
}
