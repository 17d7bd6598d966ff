//! Composite bodies: all links at and below one, as sums over their points.
//!
//! With `r` the place of a point from the origin of the link frame, `u` its velocity, world axes:
//! ```text
//! P = Σ m u        Q = Σ m u rᵀ      per link: P = m v + ω × h,  Q = v hᵀ + [ω] Σ m r rᵀ
//! ```
//! If the twists of all these links change by `p = (ω_p, ·)` and their accelerations by `p × V`, the points accelerate by `2 ω_p × u`
//! more. The wrench of that, and its transpose on a twist `(a, b)`:
//! ```text
//! 𝓑 p = 2((tr Q − Q) ω_p, ω_p × P)        𝓑ᵀ(a, b) = 2((tr Q − Qᵀ) a + P × b)
//! ```
//! External wrenches `(n, f)` at points `c` that the links carry keep their world axes. Compared with wrenches that turn with the
//! links they change by `(N, F) = Σ (n + c × f, f)` and `E = Σ [f][c]`:
//! ```text
//! 𝓡 ω = (ω × N − E ω, ω × F)             𝓡ᵀ(a, b) = N × a + F × b − Eᵀ a
//! ```
//! To an origin from which the old one is at `d`: `P' = P`, `Q' = Q + P dᵀ`, `E' = E + [F][d]`. Constant cost; nothing fails.

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, shift_force};

use crate::link_motion::LinkMotion;

/// Sums over the links at and below one, about the origin of its link frame; their inertia is in `Dynamics`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompositeBody {
    /// `P`, kg·m/s.
    momentum: DVec3,
    /// `Q`, kg·m²/s.
    spread: DMat3,
    /// `(N, F)`.
    load: Force,
    /// `E`.
    lever: DMat3,
}

/// `a bᵀ`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl CompositeBody {
    pub(crate) const ZERO: Self =
        Self { momentum: DVec3::ZERO, spread: DMat3::ZERO, load: Force::ZERO, lever: DMat3::ZERO };

    /// A link alone, without loads.
    #[inline]
    pub(crate) fn of(here: &LinkMotion) -> Self {
        let (inertia, omega, v) = (here.inertia, here.velocity.angular, here.velocity.linear);
        let (x, y, z) = inertia.rotational.columns();
        let half = 0.5 * inertia.rotational.trace();
        let turned = [DVec3::X * half - x, DVec3::Y * half - y, DVec3::Z * half - z].map(|m| omega.cross(m));
        Self {
            momentum: v * inertia.mass + omega.cross(inertia.first_moment),
            spread: outer(v, inertia.first_moment) + DMat3::from_cols(turned[0], turned[1], turned[2]),
            ..Self::ZERO
        }
    }

    /// Adds an external wrench at the point `at`.
    pub(crate) fn add_load(&mut self, wrench: Force, at: DVec3) {
        self.load += shift_force(wrench, at);
        self.lever += lever(wrench.linear, at);
    }

    /// Adds a body whose origin is at `arm`, but for its loads.
    #[inline]
    pub(crate) fn add_shifted(&mut self, other: &Self, arm: DVec3) {
        self.momentum += other.momentum;
        self.spread += other.spread + outer(other.momentum, arm);
    }

    /// Adds the loads of a body whose origin is at `arm`.
    #[inline]
    pub(crate) fn add_shifted_load(&mut self, other: &Self, arm: DVec3) {
        self.load += shift_force(other.load, arm);
        self.lever += other.lever + lever(other.load.linear, arm);
    }

    /// `𝓑 p`.
    #[inline]
    pub(crate) fn turned(&self, turn: DVec3) -> Force {
        let (turn, q) = (2.0 * turn, &self.spread);
        Force::new(turn * trace(q) - *q * turn, turn.cross(self.momentum))
    }

    /// `𝓑ᵀ(a, b)`.
    #[inline]
    pub(crate) fn turned_transpose(&self, m: Motion) -> DVec3 {
        let q = &self.spread;
        2.0 * (m.angular * trace(q) - q.transpose() * m.angular + self.momentum.cross(m.linear))
    }

    /// `𝓡 ω`.
    #[inline]
    pub(crate) fn held(&self, turn: DVec3) -> Force {
        let (moment, force) = (self.load.angular, self.load.linear);
        Force::new(turn.cross(moment) - self.lever * turn, turn.cross(force))
    }

    /// `𝓡ᵀ(a, b)`.
    #[inline]
    pub(crate) fn held_transpose(&self, m: Motion) -> DVec3 {
        let carried = self.load.angular.cross(m.angular) + self.load.linear.cross(m.linear);
        carried - self.lever.transpose() * m.angular
    }
}

fn trace(m: &DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// `[f][c]`.
fn lever(force: DVec3, at: DVec3) -> DMat3 {
    outer(at, force) - DMat3::from_diagonal(DVec3::splat(at.dot(force)))
}
