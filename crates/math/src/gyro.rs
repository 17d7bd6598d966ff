//! One step of torque-free rotation, three ways.
//!
//! `I ω̇ = −ω × Iω` with `I = R I₀ Rᵀ` (docs/maths, Newton–Euler). Angular velocities in world axes (rad/s), step `h`
//! in seconds, inertia about the centre of mass (kg·m²).
//!
//! | Function | keeps | loses | for |
//! |---|---|---|---|
//! | [`implicit_body_step`] | energy never grows | energy decays | stiff scenes |
//! | [`midpoint_step`] | momentum and energy to round-off | – | free bodies |
//! | [`momentum_step`] | momentum to round-off | energy grows | where momentum matters most |
//!
//! A singular inertia (a thin rod, a point) has no gyroscopic response about its null axis: the steps that need `I₀⁻¹`
//! then keep ω and only turn the body.

use crate::{Sym3, cayley, exp_so3, normalize_quat, quat_to_mat3, skew};
use glam::{DMat3, DQuat, DVec3};

/// Most Newton iterations of the midpoint step; three suffice while `h|ω| < 1`.
const MAX_NEWTON: usize = 12;

/// Newton stops after a correction below this fraction of the momentum: it converges quadratically, so the next one
/// would be below rounding.
const NEWTON_TOLERANCE: f64 = 1e-9;

/// Angular velocity after one Newton step on `I(ω − ω₀) + h ω × Iω = 0`, started at `ω₀ = omega`.
///
/// With `J = I + h([ω]I − [Iω])`: `ω = ω₀ − J⁻¹ h ω₀ × Iω₀`. The equation is the same in body axes (`I₀`, `Rᵀω`) and in
/// world axes, so no rotation is needed; turn the body by `exp(hω)` afterwards.
///
/// The exact solution never gains energy (`ω·Iω = ω·Iω₀`). A single Newton step can, a thousandfold for slender bodies
/// where `h|ω|` is about 1; it is then scaled back to the energy it started with.
#[inline]
pub fn implicit_body_step(inertia_world: &Sym3, omega: DVec3, h: f64) -> DVec3 {
    let momentum = inertia_world.mul_vec(omega);
    let full = inertia_world.to_mat3();
    let jacobian = full + (skew(omega) * full - skew(momentum)) * h;
    let after = omega - solve3(&jacobian, omega.cross(momentum) * h);
    let (before, now) = (omega.dot(momentum), inertia_world.quadratic_form(after));
    if now <= before {
        after
    } else if now.is_finite() {
        after * (before / now).sqrt()
    } else {
        omega
    }
}

/// Rotation and angular velocity after one implicit midpoint step.
///
/// In body axes `Π₁ = Π₀ + (h/2)(Π₀ + Π₁) × ω_m`, `ω_m = ½ I₀⁻¹(Π₀ + Π₁)`, solved by Newton's method to round-off, then
/// `R⁺ = R cay(h ω_m)`. Since `Π₁ = cay(h ω_m)ᵀ Π₀`, the spatial momentum is kept whatever the iteration count.
pub fn midpoint_step(inertia_body: &Sym3, rotation: DQuat, omega: DVec3, h: f64) -> (DQuat, DVec3) {
    let Some(inverse) = inertia_body.inverse() else {
        return (normalize_quat(exp_so3(omega * h) * rotation), omega);
    };
    let body_from_world = rotation.conjugate();
    let start = inertia_body.mul_vec(body_from_world * omega);
    // explicit guess
    let mut end = start + start.cross(body_from_world * omega) * h;
    for _ in 0..MAX_NEWTON {
        let sum = start + end;
        let middle = inverse.mul_vec(sum) * 0.5;
        let residual = end - start - sum.cross(middle) * (0.5 * h);
        let jacobian = DMat3::IDENTITY + (skew(middle) - skew(sum * 0.5) * inverse.to_mat3()) * (0.5 * h);
        let correction = solve3(&jacobian, residual);
        if !correction.is_finite() {
            break;
        }
        end -= correction;
        if correction.length_squared() <= NEWTON_TOLERANCE * NEWTON_TOLERANCE * start.length_squared() {
            break;
        }
    }
    let turn = cayley(inverse.mul_vec(start + end) * (0.5 * h));
    let rotation_after = normalize_quat(rotation * turn);
    (rotation_after, rotation_after * inverse.mul_vec(turn.conjugate() * start))
}

/// Rotation and angular velocity after `R⁺ = exp(hω) R`, `ω⁺ = R⁺ I₀⁻¹ R⁺ᵀ L` with the momentum `L` kept.
pub fn momentum_step(inertia_body: &Sym3, rotation: DQuat, omega: DVec3, h: f64) -> (DQuat, DVec3) {
    let rotation_after = normalize_quat(exp_so3(omega * h) * rotation);
    let Some(inverse) = inertia_body.inverse() else {
        return (rotation_after, omega);
    };
    let momentum = inertia_body.rotated_by(&quat_to_mat3(rotation)).mul_vec(omega);
    (rotation_after, inverse.rotated_by(&quat_to_mat3(rotation_after)).mul_vec(momentum))
}

/// `A⁻¹ b` by Cramer's rule; not finite if `A` is singular.
#[inline]
fn solve3(a: &DMat3, b: DVec3) -> DVec3 {
    let (yz, zx, xy) = (a.y_axis.cross(a.z_axis), a.z_axis.cross(a.x_axis), a.x_axis.cross(a.y_axis));
    DVec3::new(yz.dot(b), zx.dot(b), xy.dot(b)) / a.x_axis.dot(yz)
}
