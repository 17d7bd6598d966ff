//! Calculus with joint coordinates: `q ⊕ δ`, `q ⊖ q₀`, `dq/dt`, and coordinates from a relative pose.
//!
//! The coordinates and rates of each kind are those of `joint_space`. Rotations in space advance by the exponential,
//! `R ← R exp(δ)`, and differ by the logarithm, within π. The path of a rolling body is integrated by a Gauss rule of
//! three points. Units: m, rad, s. Constant cost; nothing fails.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{
    Motion, Pose, exp_so3, left_jacobian, left_jacobian_inverse, log_so3, mat3_to_quat, normalize_quat, ops,
    quat_to_mat3,
};
use sinew_mechanism::{JointKind, twist_angle, unwrap_angle};

use crate::joint_space::{MAX_DOFS, quaternion, rolling_velocity, three};

fn set_quaternion(q: &mut [f64], value: DQuat) {
    [q[0], q[1], q[2], q[3]] = [value.w, value.x, value.y, value.z];
}

/// Sets the coordinates of a joint to zero displacement.
pub(crate) fn set_neutral(kind: JointKind, q: &mut [f64]) {
    q.fill(0.0);
    if kind.has_quaternion() {
        q[0] = 1.0;
    }
}

/// `dq/dt` of the coordinates as plain numbers (quaternions: `½ q ω`).
pub(crate) fn coordinate_rates(kind: JointKind, q: &[f64], v: &[f64], out: &mut [f64]) {
    if !kind.has_quaternion() {
        out.copy_from_slice(v);
        return;
    }
    let rotation = quaternion(q);
    let omega = three(v);
    set_quaternion(out, rotation * DQuat::from_xyzw(omega.x, omega.y, omega.z, 0.0) * 0.5);
    match kind {
        JointKind::Free => {
            out[4..].copy_from_slice(&(quat_to_mat3(rotation) * three(&v[3..])).to_array());
        }
        JointKind::RollingSphere { radius } | JointKind::RollingDisc { radius } => {
            let velocity = rolling_velocity(kind, radius, &quat_to_mat3(rotation), omega);
            [out[4], out[5]] = [velocity.y, velocity.z];
        }
        _ => out[4..].copy_from_slice(&v[3..]),
    }
}

/// `q ⊕ δ`: the coordinates reached with constant rates `δ` in unit time.
pub(crate) fn advance(kind: JointKind, q: &mut [f64], delta: &[f64]) {
    if !kind.has_quaternion() {
        for (x, d) in q.iter_mut().zip(delta) {
            *x += d;
        }
        return;
    }
    let rotation = quaternion(q);
    let turn = three(delta);
    set_quaternion(q, normalize_quat(rotation * exp_so3(turn)));
    match kind {
        JointKind::Free => {
            let shift = quat_to_mat3(rotation) * (left_jacobian(turn) * three(&delta[3..]));
            for m in 0..3 {
                q[4 + m] += shift[m];
            }
        }
        JointKind::RollingSphere { radius } | JointKind::RollingDisc { radius } => {
            for (at, weight) in GAUSS {
                let rotation = quat_to_mat3(rotation * exp_so3(turn * at));
                let velocity = rolling_velocity(kind, radius, &rotation, turn);
                q[4] += weight * velocity.y;
                q[5] += weight * velocity.z;
            }
        }
        _ => {
            for (x, d) in q[4..].iter_mut().zip(&delta[3..]) {
                *x += d;
            }
        }
    }
}

/// The coordinates in the middle and at the end of the time `h` in which the rates go from `v0` to `v1`, both turned by the mean
/// rates. A free body is moved by the mean of its velocities in frame 2, so that it flies straight however fast it spins.
pub(crate) fn advance_between(
    kind: JointKind,
    [v0, v1]: [&[f64]; 2],
    h: f64,
    middle: &mut [f64],
    end: &mut [f64],
) {
    let mut delta = [0.0; MAX_DOFS];
    for (d, (v0, v1)) in delta.iter_mut().zip(v0.iter().zip(v1)) {
        *d = 0.25 * h * (v0 + v1);
    }
    let delta = &mut delta[..v0.len()];
    let start = middle[..].first_chunk::<7>().copied().unwrap_or_default();
    advance(kind, middle, delta);
    delta.iter_mut().for_each(|d| *d *= 2.0);
    advance(kind, end, delta);
    if kind == JointKind::Free {
        let shift = quaternion(&start) * three(&v0[3..]) + quaternion(end) * three(&v1[3..]);
        for m in 0..3 {
            middle[4 + m] = start[4 + m] + 0.25 * h * shift[m];
            end[4 + m] = start[4 + m] + 0.5 * h * shift[m];
        }
    }
}

/// Nodes and weights of the Gauss rule of three points on [0, 1]: `½ ∓ ½√(3/5)`.
const GAUSS: [(f64, f64); 3] =
    [(0.112_701_665_379_258_31, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];

/// `q ⊖ q₀`: the constant rates that lead from `q₀` to `q` in unit time, rotations within π. The path of a rolling body
/// is left out.
pub(crate) fn difference(kind: JointKind, q: &[f64], from: &[f64], out: &mut [f64]) {
    if !kind.has_quaternion() {
        for (k, d) in out.iter_mut().enumerate() {
            *d = q[k] - from[k];
        }
        return;
    }
    let start = quaternion(from);
    let turn = log_so3(start.conjugate() * quaternion(q));
    out[..3].copy_from_slice(&turn.to_array());
    if kind == JointKind::Free {
        let shift = start.conjugate() * (three(&q[4..]) - three(&from[4..]));
        out[3..].copy_from_slice(&(left_jacobian_inverse(turn) * shift).to_array());
    } else {
        for (k, d) in out[3..].iter_mut().enumerate() {
            *d = q[4 + k] - from[4 + k];
        }
    }
}

/// Coordinates and rates from the relative pose `frame2_from_frame1` and the relative twist in frame 1. The twist angle
/// is taken within half a turn of `previous_twist`. Components that the joint forbids are dropped.
pub(crate) fn from_relative(
    kind: JointKind,
    relative: &Pose,
    twist: &Motion,
    previous_twist: f64,
    q: &mut [f64],
    v: &mut [f64],
) {
    let rotation = quat_to_mat3(relative.rotation);
    let angle = || unwrap_angle(twist_angle(&rotation), previous_twist);
    let (place, spin) = (relative.translation, twist.angular);
    let velocity = rotation * twist.linear;
    match kind {
        JointKind::Hinge | JointKind::Screw { .. } => (q[0], v[0]) = (angle(), spin.x),
        JointKind::Prismatic => (q[0], v[0]) = (place.x, velocity.x),
        JointKind::Cylindrical => {
            (q[0], v[0]) = (angle(), spin.x);
            (q[1], v[1]) = (place.x, velocity.x);
        }
        JointKind::Planar => {
            (q[0], v[0]) = (angle(), spin.x);
            (q[1], v[1]) = (place.y, velocity.y);
            (q[2], v[2]) = (place.z, velocity.z);
        }
        JointKind::Universal => {
            let axis = rotation.x_axis;
            q[1] = ops::atan2(-axis.z, axis.x);
            let (s, c) = ops::sin_cos(q[1]);
            // Ry(−φ) R = Rx(ϑ)
            let turn = DMat3::from_cols(DVec3::new(c, 0.0, s), DVec3::Y, DVec3::new(-s, 0.0, c)) * rotation;
            q[0] = twist_angle(&turn);
            (v[0], v[1]) = (spin.x, spin.dot(turn.transpose().y_axis));
        }
        JointKind::Orientation => {
            q.copy_from_slice(&place.to_array());
            v.copy_from_slice(&velocity.to_array());
        }
        _ if kind.has_quaternion() => from_relative_in_space(kind, relative, twist, q, v),
        _ => {}
    }
}

/// The kinds with a quaternion.
fn from_relative_in_space(kind: JointKind, relative: &Pose, twist: &Motion, q: &mut [f64], v: &mut [f64]) {
    let velocity = quat_to_mat3(relative.rotation) * twist.linear;
    set_quaternion(q, relative.rotation);
    v[..3].copy_from_slice(&twist.angular.to_array());
    let (places, velocities) = (relative.translation.to_array(), velocity.to_array());
    match kind {
        JointKind::PointOnLine => (q[4], v[3]) = (places[0], velocity.x),
        JointKind::PointOnPlane => {
            q[4..].copy_from_slice(&places[1..]);
            v[3..].copy_from_slice(&velocities[1..]);
        }
        JointKind::Free => {
            q[4..].copy_from_slice(&places);
            v[3..].copy_from_slice(&twist.linear.to_array());
        }
        JointKind::Ball => {}
        _ => q[4..].copy_from_slice(&places[1..]),
    }
}

/// Normalizes the quaternion of a joint.
pub(crate) fn renormalize(kind: JointKind, q: &mut [f64]) {
    if kind.has_quaternion() {
        set_quaternion(q, normalize_quat(quaternion(q)));
    }
}

/// A pose whose rotation is given as a matrix.
pub(crate) fn pose_from(rotation: &DMat3, translation: DVec3) -> Pose {
    Pose::new(mat3_to_quat(rotation), translation)
}
