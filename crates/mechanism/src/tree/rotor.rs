//! A body that spins fast about an axis of symmetry, in an implicit step (docs/maths/spatial.md).
//!
//! Its twist is split at its axis `a` into spin and swing, `ω = s a + w`, `w ⊥ a`. The orientation at the end of a step is
//! ```text
//! R⁺ = exp(h w) R̂ exp(h s e)      (R̂: orientation at the base of the step, e: axis in the body)
//! ```
//! so that the axis moves by the swing alone, however far the body spins within a step. The momentum is `L = I w + I₃ s a`. The
//! first-order scheme balances it in the middle of steps, `a = aₙ + ½ h w × aₙ`, which is reversible and keeps the energy; the
//! second-order scheme balances it at their ends. A solve is linear with the axis `a_k` of its linearization point: the rest,
//! `I₃ s (a_k − a)`, is on its right-hand side with an assumed twist, which iterations bring to the one that is found (`mixing`).
//! With the gyroscopic stiffness `g = ½ h I₃ |s|` (`h I₃ |s|` for second order) a plain iteration would multiply errors by `±i g/I`. So where that is not small, a solve
//! holds the swing at the assumed one with the inertia `β = g²/I`: errors are multiplied by `(β ± i g)/(I + β)`, less than 1. World axes.

use glam::{DQuat, DVec3};
use sinew_math::{Sym3, exp_so3, normalize_quat, ops};

use crate::model::{RotorModel, State};

/// `g/I` up to which nothing needs to hold the swing.
const WEAK: f64 = 0.25;

/// A body that spins, in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotor {
    pub(crate) model: RotorModel,
    /// Effective step, s.
    pub(crate) h: f64,
    /// Whether momentum is balanced at the ends of steps.
    pub(crate) is_second: bool,
    /// Axis at the start of the step.
    pub(crate) start: DVec3,
    /// `R̂` with its axis, and the spin from the start to there, rad.
    pub(crate) base: DQuat,
    pub(crate) base_axis: DVec3,
    pub(crate) base_spin: f64,
    /// Momentum at the base, kg·m²/s.
    pub(crate) known: DVec3,
    /// Axis at the linearization point, now and for the best solution.
    pub(crate) axis: DVec3,
    pub(crate) best_axis: DVec3,
    /// Twist with which the next solve takes the rest of the momentum for known.
    pub(crate) assumed: DVec3,
}

impl Rotor {
    /// Spin and swing of a twist.
    pub(crate) fn split(&self, angular: DVec3) -> (f64, DVec3) {
        split_along(angular, self.axis)
    }

    /// Orientation at the end of the step.
    pub(crate) fn end(&self, angular: DVec3) -> DQuat {
        let (spin, swing) = self.split(angular);
        self.turned(swing * self.h, spin * self.h)
    }

    /// The base with a swing in the world and a spin about the body's axis, rad.
    pub(crate) fn turned(&self, swing: DVec3, spin: f64) -> DQuat {
        normalize_quat(exp_so3(swing) * self.base * exp_so3(self.model.axis * spin))
    }

    /// Angular momentum on the right-hand side of a solve, the body moving with a twist.
    pub(crate) fn momentum(&self, angular: DVec3) -> DVec3 {
        let (spin, swing) = self.split(angular);
        let axis = if self.is_second {
            exp_so3(swing * self.h) * self.base_axis
        } else {
            self.base_axis + swing.cross(self.base_axis) * (0.5 * self.h)
        };
        self.known + (self.axis - axis) * (self.model.polar * spin)
    }

    /// `g`, kg·m².
    pub(crate) fn gyroscopic_inertia(&self) -> f64 {
        let share = if self.is_second { 1.0 } else { 0.5 };
        (share * self.h * self.model.polar * self.assumed.dot(self.axis)).abs()
    }

    /// Whether a plain iteration would be slow, or diverge.
    pub(crate) fn is_strong(&self) -> bool {
        self.gyroscopic_inertia() > WEAK * self.model.equator
    }

    /// `β`.
    fn hold(&self) -> f64 {
        let g = self.gyroscopic_inertia();
        if self.is_strong() { g * g / self.model.equator } else { 0.0 }
    }

    /// What holds the swing in a solve: inertia and momentum; nothing where nothing needs to.
    pub(crate) fn holding(&self) -> Option<(Sym3, DVec3)> {
        let (hold, a) = (self.hold(), self.axis);
        let across = Sym3 {
            xx: hold * (1.0 - a.x * a.x),
            yy: hold * (1.0 - a.y * a.y),
            zz: hold * (1.0 - a.z * a.z),
            xy: -hold * a.x * a.y,
            xz: -hold * a.x * a.z,
            yz: -hold * a.y * a.z,
        };
        (hold > 0.0).then(|| (across, self.split(self.assumed).1 * hold))
    }

    /// Momentum that the last solve has left unbalanced with the twist it found.
    pub(crate) fn imbalance(&self, found: DVec3) -> DVec3 {
        let swing = self.split(found - self.assumed).1;
        self.momentum(found) - self.momentum(self.assumed) + swing * self.hold()
    }

    /// The twist with the same spin and swing about another axis.
    pub(crate) fn carried(&self, angular: DVec3, axis: DVec3) -> DVec3 {
        angular + (axis - self.axis) * angular.dot(self.axis)
    }

    /// Remembers the axis with which the best solution was found.
    pub(crate) fn keep_axis(&mut self) {
        self.best_axis = self.axis;
    }

    /// Takes it up.
    pub(crate) fn take_axis(&mut self) {
        self.axis = self.best_axis;
    }

    /// Writes the end of the step into the state, reached by a twist.
    pub(crate) fn finish(&self, state: &mut State, keeps_history: bool) {
        let body = self.model.body as usize;
        let angular = state.motions[body].angular;
        let end = self.end(angular);
        let axis = end * self.model.axis;
        state.poses[body].rotation = end;
        state.motions[body].angular = self.carried(angular, axis);
        if keeps_history {
            // About the axis of the end, to which the shortest swing leads.
            let spin = self.base_spin + angular.dot(self.axis) * self.h;
            state.history.increments[body].angular = arc(self.start, axis) + axis * spin;
        }
    }
}

/// Part of a vector along a unit axis, and the rest.
pub(crate) fn split_along(vector: DVec3, axis: DVec3) -> (f64, DVec3) {
    let along = vector.dot(axis);
    (along, vector - axis * along)
}

/// Rotation vector of the shortest turn from one unit vector to another.
fn arc(from: DVec3, to: DVec3) -> DVec3 {
    let (cross, cosine) = (from.cross(to), from.dot(to));
    let sine = cross.length();
    if sine > 0.0 { cross * (ops::atan2(sine, cosine) / sine) } else { DVec3::ZERO }
}
