//! The cone limit of a joint: a limit on the angle between the axes `i₁` and `i₂` of its two frames.
//!
//! The tilt `α = atan2(|i₂ × i₁|, i₁·i₂)` has the gradient `n = (i₂ × i₁)/|i₂ × i₁|` on the relative rotation. Beyond
//! [`Limit::max`] the cone is a one-sided limit along `n`, see `limit`. Where the axes coincide or are opposite `n` is
//! undefined and there is no force. Axes may be given in any frame; the normal is in the same one. Units: rad, N·m.

use glam::DVec3;
use sinew_math::ops;

use crate::forces::{Coordinate, Limit, Response, ScalarImpulse};

/// Below this sine the two axes have no common normal.
const DEGENERATE: f64 = 1e-8;

/// The tilt of a joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tilt {
    /// `i₂ × i₁`.
    lean: DVec3,
    sine: f64,
    /// `α`, rad.
    pub(crate) angle: f64,
}

impl Tilt {
    /// From the axes `i₂` and `i₁` and their cosine.
    pub(crate) fn new(axis2: DVec3, axis1: DVec3, cosine: f64) -> Self {
        let lean = axis2.cross(axis1);
        let sine = lean.length();
        Self { lean, sine, angle: ops::atan2(sine, cosine) }
    }

    /// From `i₁` in frame 2; the normal is in frame 2, too.
    pub(crate) fn of_axis(axis: DVec3) -> Self {
        Self::new(DVec3::X, axis, axis.x)
    }

    /// `n`, or `None` where it is undefined.
    pub(crate) fn normal(&self) -> Option<DVec3> {
        (self.sine > DEGENERATE).then(|| self.lean / self.sine)
    }

    /// Rate of the angle at a relative angular velocity.
    pub(crate) fn rate(&self, angular: DVec3) -> f64 {
        self.lean.normalize_or_zero().dot(angular)
    }
}

/// Implicit: the impulse along `n`.
pub(crate) fn linearized(cone: &Limit, tilt: &Coordinate, h: f64) -> ScalarImpulse {
    let mut impulse = ScalarImpulse::default();
    cone.linearize_side(tilt.predicted(h) - cone.max, -1.0, tilt.rate, h, &mut impulse);
    impulse
}

/// Explicit torque on body 2 at a relative angular velocity; its opposite acts on body 1.
pub(crate) fn explicit(cone: &Limit, tilt: &Tilt, rate: DVec3) -> Option<DVec3> {
    let (normal, force, slope) = beyond(cone, tilt)?;
    let damping = cone.damping * slope / cone.stiffness * normal.dot(rate);
    Some(normal * (force + damping))
}

/// Elastic energy, J.
pub(crate) fn energy(cone: &Limit, tilt: &Tilt) -> f64 {
    cone.energy_beyond(tilt.angle - cone.max)
}

/// Response over a step of length `h`: adds to that of the other forces on the rotation. `to_frame` turns the normal into the
/// frame of the response.
pub(crate) fn add_response(
    cone: &Limit,
    tilt: &Tilt,
    to_frame: impl Fn(DVec3) -> DVec3,
    rate: DVec3,
    h: f64,
    sum: &mut Response<DVec3>,
) {
    if let Some((normal, force, slope)) = beyond(cone, tilt) {
        let normal = to_frame(normal);
        let damping = cone.damping * slope / cone.stiffness + h * slope;
        sum.torque -= normal * (force + damping * normal.dot(rate));
        sum.resistance += h * damping;
    }
}

/// Normal, force and slope, if the tilt is beyond the limit.
fn beyond(cone: &Limit, tilt: &Tilt) -> Option<(DVec3, f64, f64)> {
    let excess = tilt.angle - cone.max;
    let (force, slope) = cone.law(excess);
    tilt.normal().filter(|_| excess > 0.0).map(|normal| (normal, force, slope))
}
