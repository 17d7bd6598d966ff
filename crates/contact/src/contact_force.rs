//! The force of one contact and its derivatives, for explicit steps and for tests of the implicit ones.
//!
//! With the depth `d = −n·(y − y₀)` of a point `y` and its velocity `ẏ` relative to the other side, `n` from the other
//! side towards the point (KP08 §4.1, damping after Hunt and Crossley; docs/maths/contact.md §1):
//!
//! ```text
//! f_n = max(0, k_n d − c_n d (n·ẏ))    f = f_n n − μ f_n v_t/s    v_t = (1 − nnᵀ)ẏ    s = √(|v_t|² + v_s²)
//! ∂f/∂y = −(k_n − c_n n·ẏ)(n − μ v_t/s) nᵀ
//! ∂f/∂ẏ = −c_n d (n − μ v_t/s) nᵀ − μ f_n ((1 − nnᵀ)/s − v_t v_tᵀ/s³)
//! ```
//!
//! Zero for `d ≤ 0`. A load `T < μ f_n` along the surface creeps at `v_s ρ/√(1 − ρ²)`, `ρ = T/(μ f_n)`; the form with a
//! stretch (Cundall and Strack 1979) does not creep. World axes, SI units. Any finite input gives a finite result.

use crate::material::ContactLaw;
use glam::{DMat3, DVec3};

/// A force on the first side, and the stretch of the contact afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactForce {
    /// Along the normal (N), ≥ 0.
    pub normal: f64,
    /// On the first side (N, world); the other side gets its negative at the same point.
    pub force: DVec3,
    /// Stretch of the contact along the surface afterwards (m, world).
    pub stretch: DVec3,
}

impl ContactLaw {
    /// `f_n` (N) at a depth (m) and a speed of separation `n·ẏ` (m/s).
    #[inline]
    pub fn normal_force(&self, depth: f64, separation: f64) -> f64 {
        if depth > 0.0 { (depth * (self.stiffness - self.damping * separation)).max(0.0) } else { 0.0 }
    }

    /// The force (N, world) on the first side without a stretch: regularized Coulomb friction. `normal` and the relative `velocity` of the
    /// first side (m/s) at the contact are in world axes.
    #[inline]
    pub fn force(&self, normal: DVec3, depth: f64, velocity: DVec3) -> DVec3 {
        let separation = normal.dot(velocity);
        let sliding = velocity - normal * separation;
        self.normal_force(depth, separation) * (normal - sliding * (self.friction / self.soft_speed(sliding)))
    }

    /// `∂f/∂y` (N/m) and `∂f/∂ẏ` (N·s/m) of [`ContactLaw::force`]; zero where there is no force.
    pub fn derivatives(&self, normal: DVec3, depth: f64, velocity: DVec3) -> (DMat3, DMat3) {
        let separation = normal.dot(velocity);
        let force = self.normal_force(depth, separation);
        if force <= 0.0 {
            return (DMat3::ZERO, DMat3::ZERO);
        }
        let sliding = velocity - normal * separation;
        let s = self.soft_speed(sliding);
        let direction = normal - sliding * (self.friction / s);
        let by_position = outer(direction, normal) * -(self.stiffness - self.damping * separation);
        let across = (DMat3::IDENTITY - outer(normal, normal)) * (1.0 / s)
            - outer(sliding, sliding) * (1.0 / (s * s * s));
        let by_velocity =
            outer(direction, normal) * -(self.damping * depth) - across * (self.friction * force);
        (by_position, by_velocity)
    }

    /// The force of an explicit step of `dt` seconds that ends at this depth and velocity. `before` is the stretch (m)
    /// of the contact before the step: `ξ⁺ = ξ + h v_t`, `f_t = −k_t ξ⁺ − c_n d v_t`, both cut to the cone
    /// `|f_t| ≤ μ f_n`.
    pub fn force_with_memory(
        &self,
        normal: DVec3,
        depth: f64,
        velocity: DVec3,
        before: DVec3,
        dt: f64,
    ) -> ContactForce {
        let separation = normal.dot(velocity);
        let force = self.normal_force(depth, separation);
        if force <= 0.0 {
            return ContactForce::default();
        }
        let sliding = velocity - normal * separation;
        let stretch = self.stretched(normal, force, before, sliding * dt);
        let pull = stretch * self.tangential_stiffness + sliding * (self.damping * depth);
        let cut = within(pull, self.friction * force);
        ContactForce { normal: force, force: normal * force - cut, stretch }
    }

    /// The stretch (m, world) after a slip by `slip` under the normal force `force` (N): laid into the tangent plane,
    /// added, and cut where the contact slides, `k_t |ξ| ≤ μ f_n`.
    #[inline]
    pub(crate) fn stretched(&self, normal: DVec3, force: f64, before: DVec3, slip: DVec3) -> DVec3 {
        if self.tangential_stiffness <= 0.0 {
            return DVec3::ZERO;
        }
        let sum = before + slip;
        within(sum - normal * normal.dot(sum), self.friction * force / self.tangential_stiffness)
    }

    fn soft_speed(&self, sliding: DVec3) -> f64 {
        (sliding.length_squared() + self.slip_speed * self.slip_speed).sqrt()
    }
}

/// `v`, or the vector of length `limit` along it if that is shorter.
#[inline]
pub(crate) fn within(v: DVec3, limit: f64) -> DVec3 {
    let length = v.length();
    if length > limit { v * (limit / length) } else { v }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
