//! The twist angle: how far frame 1 is turned about `i₂` once its lean is taken away.
//!
//! For `R = B₂ᵀB₁` and `s = R e_x` (docs/maths, joints):
//! ```text
//! ϑ = atan2(R_zy − R_yz, R_yy + R_zz) = 2 atan2(q_x, q_w)
//! ϑ̇ = g·w,   g = (1, s_y/(1+s_x), s_z/(1+s_x)),   ġ_k = (ṡ_k − g_k ṡ_x)/(1+s_x) for k = y, z
//! ```
//! Frame 2, radians, constant cost. At `α = π` (`s_x = −1`) the twist is undefined: `1 + s_x` is held above
//! [`FLIPPED`], so all numbers stay finite.

use std::f64::consts::TAU;

use glam::{DMat3, DVec3};
use sinew_math::ops;

/// Smallest `1 + s_x` used as a divisor: an axis within about 1e-6 rad of pointing backwards.
const FLIPPED: f64 = 1e-12;

/// Cosine of half the lean below which forces on the twist fade out: within 12 degrees of pointing backwards.
const FADING: f64 = 0.1;

/// Twist angle about x of the relative rotation `R_rel = B₂ᵀB₁`, in (−π, π].
#[must_use]
#[inline]
pub fn twist_angle(relative: &DMat3) -> f64 {
    let sin = relative.y_axis.z - relative.z_axis.y;
    let cos = relative.y_axis.y + relative.z_axis.z;
    ops::atan2(sin, cos)
}

/// `g` with `ϑ̇ = g·w`, from `s = R_rel e_x` (frame 2).
#[must_use]
#[inline]
pub fn twist_gradient(s: DVec3) -> DVec3 {
    let scale = 1.0 / (1.0 + s.x).max(FLIPPED);
    DVec3::new(1.0, s.y * scale, s.z * scale)
}

/// `g` for forces: near half a turn of lean, where the twist is undefined and `|g| = 1/cos(α/2)` grows without bound, it fades out
/// with `cos²(α/2)`.
#[must_use]
pub(crate) fn fading_twist_gradient(s: DVec3) -> DVec3 {
    let gradient = twist_gradient(s);
    gradient * (1.0 / (gradient.length_squared() * FADING * FADING)).min(1.0)
}

/// `ġ·w`: the part of `ϑ̈` quadratic in the relative angular velocity.
#[inline]
pub(crate) fn twist_curvature(s: DVec3, w: DVec3) -> f64 {
    let scale = 1.0 / (1.0 + s.x).max(FLIPPED);
    let g = twist_gradient(s);
    let s_dot = w.cross(s);
    ((s_dot.y - g.y * s_dot.x) * w.y + (s_dot.z - g.z * s_dot.x) * w.z) * scale
}

/// The angle equal to `angle` modulo 2π that is nearest to `previous`: counts turns across ±π.
#[must_use]
#[inline]
pub fn unwrap_angle(angle: f64, previous: f64) -> f64 {
    let turns = (previous - angle) / TAU;
    if turns.abs() <= 0.5 { angle } else { angle + TAU * turns.round() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use sinew_math::{exp_so3, quat_to_mat3};

    #[test]
    fn twist_follows_a_pure_rotation_about_x_and_ignores_swing() {
        for angle in [-3.1, -1.0, 0.0, 1e-12, 2.0, 3.13] {
            let twist = exp_so3(DVec3::X * angle);
            let swing = exp_so3(DVec3::new(0.0, 1.2, -0.5));
            assert!((twist_angle(&quat_to_mat3(twist)) - angle).abs() < 1e-15);
            assert!((twist_angle(&quat_to_mat3(swing * twist)) - angle).abs() < 1e-15);
        }
    }

    #[test]
    fn twist_equals_the_quaternion_form() {
        let q: DQuat = exp_so3(DVec3::new(0.4, -1.3, 0.9));
        let expected = 2.0 * ops::atan2(q.x, q.w);
        assert!((twist_angle(&quat_to_mat3(q)) - expected).abs() < 1e-15);
    }

    #[test]
    fn gradient_is_the_derivative_of_the_angle_and_fades_near_half_a_turn() {
        for alpha in [0.0, 0.4, 1.5, 2.6, 2.93, 3.0, 3.1] {
            let rotation = exp_so3(DVec3::new(0.0, 0.8, -0.6) * alpha) * exp_so3(DVec3::X * 0.7);
            let s = quat_to_mat3(rotation).x_axis;
            let (g, faded) = (twist_gradient(s), fading_twist_gradient(s));
            for axis in DVec3::AXES {
                let at = |t: f64| twist_angle(&quat_to_mat3(exp_so3(axis * t) * rotation));
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - g.dot(axis)).abs() < 1e-6 * g.length_squared(), "{alpha}: {slope} {g}");
            }
            let is_near = alpha > 2.95;
            assert_eq!(faded == g, !is_near, "{alpha}");
            assert!(faded.length() <= 10.0 && faded.cross(g).length() < 1e-12 * g.length_squared());
        }
    }

    #[test]
    fn unwrapping_counts_turns_both_ways() {
        for direction in [1.0, -1.0] {
            let mut continuous = 0.0;
            for step in 0..2000 {
                let truth = direction * 0.05 * f64::from(step);
                let wrapped = twist_angle(&quat_to_mat3(exp_so3(DVec3::X * truth)));
                continuous = unwrap_angle(wrapped, continuous);
                assert!((continuous - truth).abs() < 1e-12, "{truth} {continuous}");
            }
        }
    }

    #[test]
    fn flipped_axis_stays_finite() {
        let half_turn = quat_to_mat3(DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0));
        assert!(twist_angle(&half_turn).is_finite());
        assert!(twist_gradient(half_turn.x_axis).is_finite());
        assert!(twist_curvature(DVec3::new(-1.0, 1e-9, 0.0), DVec3::new(1.0, 2.0, 3.0)).is_finite());
    }
}
