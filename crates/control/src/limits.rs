//! Displacement limits of joints: direction and excess, and the acceleration with which a joint arrives at a limit.
//!
//! A plain coordinate is limited to an interval. For a rotation in space the angle `θ = |φ|` of the rotation vector is
//! limited. Its direction is `n = φ/θ` in the three rates, and `θ̇ = n·ω` exactly, because `φᵀ Jr⁻¹ = φᵀ`, and
//!
//! ```text
//! θ̈ = n·ω̇ + ½ cot(θ/2) (|ω|² − θ̇²)
//! ```
//!
//! because `ṅ = ½ cot(θ/2) (ω − θ̇ n) ± ½ n×ω`. The last term is centrifugal: it pushes a joint that swings around at
//! its limit outwards. It grows without bound near `θ = 0`; over a step of length `h` it raises `θ̇` to at most `|ω|`
//! and is therefore cut to `(|ω| − θ̇)/h`.
//!
//! A joint arrives at its limit without passing it if `ė ≤ −λ e` with `λ = 2 k_p/k_d`, where `e` is the excess,
//! negative inside. A joint that would be faster gets `ë = −k_p e − k_d ė`, the pull of KP08 §3.1 on joints beyond
//! their limit; with critical gains it then stays on the line `ė = −λ e`. Units: rad, m, s. Constant cost; nothing
//! fails.

use glam::{DQuat, DVec3};
use sinew_math::{log_so3, ops};
use sinew_recursive::{LinkId, Tree};

use crate::{actuation::Actuation, goal::Gains};

/// A limit of a joint, and the state of the joint relative to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LimitState {
    /// Link whose joint is limited.
    pub(crate) link: LinkId,
    /// First rate concerned.
    pub(crate) dof: usize,
    /// Unit direction outwards, in `n` rates from `dof` on.
    pub(crate) direction: [f64; 3],
    pub(crate) n: usize,
    /// Displacement along the direction beyond the limit (rad, m); negative inside.
    pub(crate) beyond: f64,
    /// Outward acceleration per square of the rates across the direction (1/rad).
    pub(crate) curvature: f64,
}

impl LimitState {
    /// The rate along the direction.
    pub(crate) fn rate(&self, rates: &[f64]) -> f64 {
        (0..self.n).map(|k| self.direction[k] * rates[self.dof + k]).sum()
    }

    /// Acceleration along the direction (in rates) with which the joint arrives at the limit, or returns to it.
    pub(crate) fn arrival(&self, gains: &Gains, rates: &[f64], dt: f64) -> f64 {
        -gains.stiffness * self.beyond - gains.damping * self.rate(rates) - self.centrifugal(rates, dt)
    }

    /// Whether a joint that takes a step with these accelerations is too fast to arrive without passing the limit.
    pub(crate) fn is_passed(&self, gains: &Gains, rates: &[f64], accelerations: &[f64], dt: f64) -> bool {
        let out = self.rate(accelerations);
        let speed = self.rate(rates) + dt * (out + self.centrifugal(rates, dt));
        out > self.arrival(gains, rates, dt) && gains.damping * speed > -2.0 * gains.stiffness * self.beyond
    }

    /// Centrifugal acceleration outwards over a step, of a joint that turns across the direction.
    fn centrifugal(&self, rates: &[f64], dt: f64) -> f64 {
        let out = self.rate(rates);
        let square: f64 = rates[self.dof..self.dof + self.n].iter().map(|v| v * v).sum();
        (self.curvature * (square - out * out).max(0.0)).min((square.sqrt() - out).max(0.0) / dt)
    }
}

/// Whether the first four coordinates of a joint are a quaternion.
pub(crate) fn turns_in_space(tree: &Tree, link: LinkId) -> bool {
    tree.coordinates(link).len() > tree.dofs(link).len()
}

/// The quaternion of a joint that turns in space.
pub(crate) fn quaternion(q: &[f64]) -> DQuat {
    DQuat::from_xyzw(q[1], q[2], q[3], q[0])
}

/// Calls `found` for every limit of a link's joint that the coordinates exceed or are within `slack` of (rad, m).
pub(crate) fn for_each_limit(
    tree: &Tree,
    actuation: &Actuation,
    link: LinkId,
    coordinates: &[f64],
    slack: f64,
    mut found: impl FnMut(LimitState),
) {
    let (q, dofs) = (&coordinates[tree.coordinates(link)], tree.dofs(link));
    let mut plain = dofs.start;
    let mut offset = 0;
    if turns_in_space(tree, link) {
        (plain, offset) = (dofs.start + 3, 1);
        let limit = actuation.turn_limit(link);
        if limit.is_finite() {
            let turn: DVec3 = log_so3(quaternion(q));
            let angle = turn.length();
            if angle > limit - slack {
                let direction = turn.normalize_or_zero().to_array();
                let half = 0.5 * angle;
                let curvature = if half > 0.0 { 0.5 * ops::cos(half) / ops::sin(half) } else { 0.0 };
                found(LimitState {
                    link,
                    dof: dofs.start,
                    direction,
                    n: 3,
                    beyond: angle - limit,
                    curvature,
                });
            }
        }
    }
    for dof in plain..dofs.end {
        let [lower, upper] = actuation.limits(dof);
        let at = q[dof - dofs.start + offset];
        for (beyond, outward) in [(at - upper, 1.0), (lower - at, -1.0)] {
            if beyond > -slack {
                found(LimitState { link, dof, direction: [outward, 0.0, 0.0], n: 1, beyond, curvature: 0.0 });
            }
        }
    }
}
