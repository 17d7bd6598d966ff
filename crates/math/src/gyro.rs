//! Time steps of torque-free rotation, by three methods.
//!
//! `I ω̇ = −ω × Iω` with `I = R I₀ Rᵀ` (docs/maths, Newton–Euler). Angular velocities in world axes (rad/s), step `h`
//! in seconds, inertia about the centre of mass (kg·m²).
//!
//! | Function | conserves | error | use for |
//! |---|---|---|---|
//! | [`PrincipalInertia::implicit_step`] | – (energy never grows) | energy decays | stiff scenes |
//! | [`midpoint_step`] | momentum and energy to round-off | – | free bodies |
//! | [`momentum_step`] | momentum to round-off | energy grows | exact momentum at low cost |
//!
//! A singular inertia (a thin rod, a point) has no gyroscopic response about its null axis. Steps that need `I₀⁻¹` then
//! keep ω and only rotate the body. Constant cost; nothing fails.

use crate::exp_log::{cayley, exp_so3, normalize_quat, quat_to_mat3};
use crate::x2::{Mat3x2, Sym3x2, Vec3x2, twice};
use crate::{spatial::skew, sym3::Sym3};
use glam::{DMat3, DQuat, DVec3};

/// Largest number of Newton iterations of the midpoint step; three suffice while `h|ω| < 1`.
const MAX_NEWTON: usize = 12;

/// Newton stops after a correction below this fraction of the momentum: it converges quadratically, so the next one
/// would be below rounding.
const NEWTON_TOLERANCE: f64 = 1e-9;

/// Inertia about the centre of mass in principal axes, with the ratios that gyroscopic torques need.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PrincipalInertia {
    /// Principal moments (kg·m²).
    pub moments: DVec3,
    /// `(I₃−I₂)/I₁, (I₁−I₃)/I₂, (I₂−I₁)/I₃`; zero about an axis without inertia.
    ratios: DVec3,
}

impl PrincipalInertia {
    /// From the three principal moments.
    pub fn new(moments: DVec3) -> Self {
        let ratio = |difference: f64, moment: f64| if moment > 0.0 { difference / moment } else { 0.0 };
        let ratios = DVec3::new(
            ratio(moments.z - moments.y, moments.x),
            ratio(moments.x - moments.z, moments.y),
            ratio(moments.y - moments.x, moments.z),
        );
        Self { moments, ratios }
    }

    /// The tensor in the axes that `rotation` maps the principal axes to.
    #[inline]
    pub fn rotated_by(&self, rotation: &DMat3) -> Sym3 {
        let r = rotation;
        let (a, b, c) = (r.x_axis * self.moments.x, r.y_axis * self.moments.y, r.z_axis * self.moments.z);
        Sym3 {
            xx: a.x * r.x_axis.x + b.x * r.y_axis.x + c.x * r.z_axis.x,
            yy: a.y * r.x_axis.y + b.y * r.y_axis.y + c.y * r.z_axis.y,
            zz: a.z * r.x_axis.z + b.z * r.y_axis.z + c.z * r.z_axis.z,
            xy: a.x * r.x_axis.y + b.x * r.y_axis.y + c.x * r.z_axis.y,
            xz: a.x * r.x_axis.z + b.x * r.y_axis.z + c.x * r.z_axis.z,
            yz: a.y * r.x_axis.z + b.y * r.y_axis.z + c.y * r.z_axis.z,
        }
    }

    /// Angular velocity after one Newton step on `I(ω − ω₀) + h ω × Iω = 0`, started at `ω₀ = omega`; principal axes.
    ///
    /// With `J = I + h([ω]I − [Iω])`: `ω = ω₀ − J⁻¹ h ω₀ × Iω₀`, divided by `I` row by row. Turn the body by `exp(hω)`
    /// afterwards. The exact solution never gains energy (`ω·Iω = ω·Iω₀`). A single Newton step can, by a factor of
    /// a thousand for slender bodies with `h|ω|` near 1; the result is then scaled back to the initial energy.
    #[inline]
    pub fn implicit_step(&self, omega: DVec3, h: f64) -> DVec3 {
        let d = self.ratios;
        let a = omega * h;
        let (yz, zx, xy) = (a.y * a.z, a.z * a.x, a.x * a.y);
        // J = [1, a₃d₁, a₂d₁; a₃d₂, 1, a₁d₂; a₂d₃, a₁d₃, 1], right-hand side h² ω × Iω / I = (yz d₁, zx d₂, xy d₃).
        let (d23, d31, d12) = (d.y * d.z, d.z * d.x, d.x * d.y);
        let (xx, yy, zz) = (a.x * a.x * d23, a.y * a.y * d31, a.z * a.z * d12);
        let det = 1.0 - (xx + yy + zz) + 2.0 * (a.x * yz) * (d.x * d23);
        let b = DVec3::new(yz * d.x, zx * d.y, xy * d.z);
        let adjugate_b = DVec3::new(
            (1.0 - xx) * b.x + (xy * d31 - a.z * d.x) * b.y + (zx * d12 - a.y * d.x) * b.z,
            (xy * d23 - a.z * d.y) * b.x + (1.0 - yy) * b.y + (yz * d12 - a.x * d.y) * b.z,
            (zx * d23 - a.y * d.z) * b.x + (yz * d31 - a.x * d.z) * b.y + (1.0 - zz) * b.z,
        );
        let after = omega - adjugate_b * (1.0 / (det * h));
        let energy = |w: DVec3| (w * w).dot(self.moments);
        let (before, now) = (energy(omega), energy(after));
        if now <= before {
            after
        } else if now.is_finite() {
            after * (before / now).sqrt()
        } else {
            omega
        }
    }

    /// [`Self::implicit_step`] of two bodies, with the same bits.
    #[inline]
    pub fn implicit_step_x2([one, two]: [&Self; 2], omega: Vec3x2, h: f64) -> Vec3x2 {
        let d = Vec3x2::new(one.ratios, two.ratios);
        let a = omega * twice(h);
        let (yz, zx, xy) = (a.y * a.z, a.z * a.x, a.x * a.y);
        let (d23, d31, d12) = (d.y * d.z, d.z * d.x, d.x * d.y);
        let (xx, yy, zz) = (a.x * a.x * d23, a.y * a.y * d31, a.z * a.z * d12);
        let unit = twice(1.0);
        let det = unit - (xx + yy + zz) + twice(2.0) * (a.x * yz) * (d.x * d23);
        let b = Vec3x2 { x: yz * d.x, y: zx * d.y, z: xy * d.z };
        let adjugate_b = Vec3x2 {
            x: (unit - xx) * b.x + (xy * d31 - a.z * d.x) * b.y + (zx * d12 - a.y * d.x) * b.z,
            y: (xy * d23 - a.z * d.y) * b.x + (unit - yy) * b.y + (yz * d12 - a.x * d.y) * b.z,
            z: (zx * d23 - a.y * d.z) * b.x + (yz * d31 - a.x * d.z) * b.y + (unit - zz) * b.z,
        };
        let after = omega - adjugate_b * (unit / (det * twice(h)));
        let moments = Vec3x2::new(one.moments, two.moments);
        let energy = |w: Vec3x2| w.times(w).dot(moments);
        if energy(after).simd_le(energy(omega)).all() {
            after
        } else {
            Vec3x2::new(one.implicit_step(omega.half::<0>(), h), two.implicit_step(omega.half::<1>(), h))
        }
    }

    /// [`Self::rotated_by`] of two bodies, with the same bits.
    #[inline]
    pub fn rotated_by_x2([one, two]: [&Self; 2], r: &Mat3x2) -> Sym3x2 {
        let m = Vec3x2::new(one.moments, two.moments);
        let (a, b, c) = (r.x_axis * m.x, r.y_axis * m.y, r.z_axis * m.z);
        Sym3x2 {
            xx: a.x * r.x_axis.x + b.x * r.y_axis.x + c.x * r.z_axis.x,
            yy: a.y * r.x_axis.y + b.y * r.y_axis.y + c.y * r.z_axis.y,
            zz: a.z * r.x_axis.z + b.z * r.y_axis.z + c.z * r.z_axis.z,
            xy: a.x * r.x_axis.y + b.x * r.y_axis.y + c.x * r.z_axis.y,
            xz: a.x * r.x_axis.z + b.x * r.y_axis.z + c.x * r.z_axis.z,
            yz: a.y * r.x_axis.z + b.y * r.y_axis.z + c.y * r.z_axis.z,
        }
    }
}

/// Rotation and angular velocity after one implicit midpoint step.
///
/// In body axes `Π₁ = Π₀ + (h/2)(Π₀ + Π₁) × ω_m`, `ω_m = ½ I₀⁻¹(Π₀ + Π₁)`, solved by Newton's method to round-off, then
/// `R⁺ = R cay(h ω_m)`. Since `Π₁ = cay(h ω_m)ᵀ Π₀`, the spatial momentum is conserved for any number of iterations.
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

/// Rotation and angular velocity after `R⁺ = exp(hω) R`, `ω⁺ = R⁺ I₀⁻¹ R⁺ᵀ L` with constant momentum `L`.
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
