//! Time steps of torque-free rotation, by four methods.
//!
//! `I ω̇ = −ω × Iω` with `I = R I₀ Rᵀ` (docs/maths, Newton–Euler). Angular velocities in world axes (rad/s), step `h`
//! in seconds, inertia about the centre of mass (kg·m²).
//!
//! | Function | conserves | error | use for |
//! |---|---|---|---|
//! | [`PrincipalInertia::implicit_step`] | – (energy never grows) | energy decays | stiff scenes |
//! | [`midpoint_step`] | momentum and energy to round-off | – | – |
//! | [`spin_step`] | the same, and the angle of a spin about an axis | – | free bodies |
//! | [`momentum_step`] | momentum to round-off | energy grows | exact momentum at low cost |
//!
//! A singular inertia (a thin rod, a point) has no gyroscopic response about its null axis. Steps that need `I₀⁻¹` then
//! keep ω and only rotate the body. Constant cost; nothing fails.

use crate::exp_log::{cayley, exp_so3, normalize_quat, quat_to_mat3};
use crate::lanes::{Scalar, Vector3};
use crate::x2::{Mat3x2, Sym3x2, Vec3x2};
use crate::{ops, spatial::skew, sym3::Sym3};
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
        tensor(self.moments, [rotation.x_axis, rotation.y_axis, rotation.z_axis])
    }

    /// Angular velocity after one Newton step on `I(ω − ω₀) + h ω × Iω = 0`, started at `ω₀ = omega`; principal axes.
    ///
    /// With `J = I + h([ω]I − [Iω])`: `ω = ω₀ − J⁻¹ h ω₀ × Iω₀`, divided by `I` row by row. Turn the body by `exp(hω)`
    /// afterwards. The exact solution never gains energy (`ω·Iω = ω·Iω₀`). A single Newton step can, by a factor of
    /// a thousand for slender bodies with `h|ω|` near 1; the result is then scaled back to the initial energy.
    #[inline]
    pub fn implicit_step(&self, omega: DVec3, h: f64) -> DVec3 {
        let after = newton_step(self.ratios, omega, h);
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
        let after = newton_step(Vec3x2::new(one.ratios, two.ratios), omega, h);
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
        tensor(Vec3x2::new(one.moments, two.moments), [r.x_axis, r.y_axis, r.z_axis])
    }
}

/// `R diag(moments) Rᵀ` of the axes `R`.
#[inline(always)]
fn tensor<V: Vector3>(moments: V, [x, y, z]: [V; 3]) -> Sym3<V::Number> {
    let m = moments.xyz();
    let ([ax, ay, az], [bx, by, bz], [cx, cy, cz]) = ((x * m[0]).xyz(), (y * m[1]).xyz(), (z * m[2]).xyz());
    let ([xx, xy, xz], [yx, yy, yz], [zx, zy, zz]) = (x.xyz(), y.xyz(), z.xyz());
    Sym3 {
        xx: ax * xx + bx * yx + cx * zx,
        yy: ay * xy + by * yy + cy * zy,
        zz: az * xz + bz * yz + cz * zz,
        xy: ax * xy + bx * yy + cx * zy,
        xz: ax * xz + bx * yz + cx * zz,
        yz: ay * xz + by * yz + cy * zz,
    }
}

/// `ω₀ − J⁻¹ h ω₀ × Iω₀` of [`PrincipalInertia::implicit_step`], from the ratios `d` of its moments.
#[inline(always)]
fn newton_step<V: Vector3>(ratios: V, omega: V, h: f64) -> V {
    let number = V::Number::splat;
    let ([dx, dy, dz], [ax, ay, az]) = (ratios.xyz(), (omega * number(h)).xyz());
    let (yz, zx, xy) = (ay * az, az * ax, ax * ay);
    // J = [1, a₃d₁, a₂d₁; a₃d₂, 1, a₁d₂; a₂d₃, a₁d₃, 1], right-hand side h² ω × Iω / I = (yz d₁, zx d₂, xy d₃).
    let (d23, d31, d12) = (dy * dz, dz * dx, dx * dy);
    let (xx, yy, zz) = (ax * ax * d23, ay * ay * d31, az * az * d12);
    let one = number(1.0);
    let det = one - (xx + yy + zz) + number(2.0) * (ax * yz) * (dx * d23);
    let (bx, by, bz) = (yz * dx, zx * dy, xy * dz);
    let adjugate_b = V::from_xyz([
        (one - xx) * bx + (xy * d31 - az * dx) * by + (zx * d12 - ay * dx) * bz,
        (xy * d23 - az * dy) * bx + (one - yy) * by + (yz * d12 - ax * dy) * bz,
        (zx * d23 - ay * dz) * bx + (yz * d31 - ax * dz) * by + (one - zz) * bz,
    ]);
    omega - adjugate_b * (one / (det * number(h)))
}

/// Rotation (world from body) and angular velocity (world axes) after one implicit midpoint step, with the inertia about the centre of mass in
/// body axes.
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

/// Half the turn in a step that [`spin_step`] gets right for a spin about an axis, rad.
const MOST_HALF_TURN: f64 = 1.25;

/// Rotation and angular velocity after a midpoint step that turns a body which spins about an axis by just `hω`, up to 2.5 rad.
///
/// [`midpoint_step`] turns it by `2 atan(hω/2)`, 1.4 % less at 25 rad/s and 60 Hz. It keeps energy and momentum whatever its length, so it is made with the
/// length `2 tan(hω/2)/ω`, which is of second order, too.
pub fn spin_step(inertia_body: &Sym3, rotation: DQuat, omega: DVec3, h: f64) -> (DQuat, DVec3) {
    let half_turn = (0.5 * h * omega.length()).min(MOST_HALF_TURN);
    let (sine, cosine) = ops::sin_cos(half_turn);
    let longer = if half_turn > 1e-6 { sine / (cosine * half_turn) } else { 1.0 };
    midpoint_step(inertia_body, rotation, omega, h * longer)
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
