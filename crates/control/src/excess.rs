//! Displacement limits: in which direction they lie, how far beyond them a joint is, and how it should arrive.
//!
//! Coordinates without a rotation in space have an interval. A rotation in space has the length `θ = |φ|` of its rotation vector
//! limited: the direction is `n = φ/θ` in its three rates, `θ̇ = n·ω` exactly, as `φᵀ Jr⁻¹ = φᵀ`, and
//!
//! ```text
//! θ̈ = n·ω̇ + ½ cot(θ/2) (|ω|² − θ̇²)
//! ```
//!
//! as `ṅ = ½ cot(θ/2) (ω − θ̇ n) ± ½ n×ω`: a joint that swings around at its limit is flung out. Near `θ = 0` that is steep but short:
//! over a step of length `h` it brings `θ̇` to `|ω|` at most, and counts for `(|ω| − θ̇)/h` at most.
//!
//! A joint arrives at its limit without passing it if `ė ≤ −λ e` for the excess `e`, negative inside, with `λ = 2 k_p/k_d`. Where it would
//! be faster it gets `ë = −k_p e − k_d ė`, the pull of KP08 §3.1 for joints beyond; with critical gains this ends on that line.

use glam::{DQuat, DVec3};
use sinew_math::{log_so3, ops};
use sinew_recursive::{LinkId, Tree};

use crate::actuation::Actuation;
use crate::goal::Gains;

/// A limit of a joint, and where the joint is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Excess {
    /// Whose joint it limits.
    pub(crate) link: LinkId,
    /// First rate concerned.
    pub(crate) dof: usize,
    /// Unit direction that leads further out, in `n` rates from `dof` on.
    pub(crate) direction: [f64; 3],
    pub(crate) n: usize,
    /// Displacement along the direction beyond the limit (rad, m); negative inside.
    pub(crate) beyond: f64,
    /// Outward acceleration per square of the rates across the direction (1/rad).
    pub(crate) curvature: f64,
}

impl Excess {
    /// The rate along the direction.
    pub(crate) fn rate(&self, rates: &[f64]) -> f64 {
        (0..self.n).map(|k| self.direction[k] * rates[self.dof + k]).sum()
    }

    /// The acceleration along the direction (in rates) with which the joint arrives at the limit, or returns to it.
    pub(crate) fn arrival(&self, gains: &Gains, rates: &[f64], dt: f64) -> f64 {
        -gains.stiffness * self.beyond - gains.damping * self.rate(rates) - self.flung(rates, dt)
    }

    /// Whether a step with these accelerations takes the joint out faster than it could still arrive.
    pub(crate) fn is_passed(&self, gains: &Gains, rates: &[f64], accelerations: &[f64], dt: f64) -> bool {
        let out = self.rate(accelerations);
        let speed = self.rate(rates) + dt * (out + self.flung(rates, dt));
        out > self.arrival(gains, rates, dt) && gains.damping * speed > -2.0 * gains.stiffness * self.beyond
    }

    /// Acceleration out of a joint that turns across the direction, over a step.
    fn flung(&self, rates: &[f64], dt: f64) -> f64 {
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

/// Calls `found` for every limit of a link's joint that the coordinates exceed, or are nearer to than `slack` (rad, m).
pub(crate) fn for_each_excess(
    tree: &Tree,
    actuation: &Actuation,
    link: LinkId,
    coordinates: &[f64],
    slack: f64,
    mut found: impl FnMut(Excess),
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
                found(Excess { link, dof: dofs.start, direction, n: 3, beyond: angle - limit, curvature });
            }
        }
    }
    for dof in plain..dofs.end {
        let [lower, upper] = actuation.limits(dof);
        let at = q[dof - dofs.start + offset];
        for (beyond, outward) in [(at - upper, 1.0), (lower - at, -1.0)] {
            if beyond > -slack {
                found(Excess { link, dof, direction: [outward, 0.0, 0.0], n: 1, beyond, curvature: 0.0 });
            }
        }
    }
}
