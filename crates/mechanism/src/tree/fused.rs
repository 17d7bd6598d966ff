//! Hinges and balls without the row library: the same algebra as [`LinearizedJoint`], written out.
//!
//! In world axes, `i₁, i₂` the hinge axes, `r₁, r₂` the arms, `C_t = P₁ − P₂`, `σ = (α/sin α)(i₂ × i₁)`:
//! ```text
//! hinge  S = (i₁, r₁ × i₁)   c_ω = −σ/h   c_v = −C_t/h − c_ω × r₁   K = κ i₂i₂ᵀ on the rotation
//! ball   S = (1, [r₁])       c_ω = 0      c_v = −C_t/h              K = h²k S(φ) + h c 1
//! ```
//! plus the displaced twist when the poses contain one. About 150 flops for a hinge with a spring, against 450 in general.

use std::f64::consts::PI;

use glam::{DMat3, DVec3};
use sinew_math::{Motion, Sym3, log_so3, ops, shift_motion};
use sinew_solvers::{PairJoint, PointJoint};

use crate::forces::{Coordinate, HeldLimits, LimitedCoordinate, ScalarImpulse, linearized_spring};
use crate::joints::{RowForm, unwrap_angle};
use crate::model::{PairModel, motion_of, pose_of};
use crate::tree::{Found, LinearizationPoint};

/// Placement of the two ends of a joint.
#[derive(Clone, Copy)]
pub(crate) struct JointPlacement<'a> {
    /// Of the body, `world_from_central`.
    pub(crate) rotation: &'a DMat3,
    /// Of its centre of mass, m.
    pub(crate) position: DVec3,
    pub(crate) parent_rotation: &'a DMat3,
    pub(crate) parent_position: DVec3,
    /// Anchor from the body's centre of mass, world axes.
    pub(crate) arm: DVec3,
    /// Anchor from the parent's centre of mass, world axes.
    pub(crate) parent_arm: DVec3,
}

impl JointPlacement<'_> {
    /// Distance of the anchors, m.
    #[inline]
    fn gap(&self) -> DVec3 {
        (self.position - self.parent_position) + (self.arm - self.parent_arm)
    }
}

/// The hinge of a pair, with the directions of its first placement and the errors of its second; errors and twist angle go
/// to `found`.
#[inline(always)]
pub(crate) fn hinge(
    at: &LinearizationPoint<'_>,
    pair: &PairModel,
    [ends, seen]: [&JointPlacement<'_>; 2],
    found: &mut Found,
) -> PairJoint<1> {
    let (arm, parent_arm) = (ends.arm, ends.parent_arm);
    let axis = *ends.rotation * pair.own.axis;
    let parent_axis = *ends.parent_rotation * pair.other.axis;
    let shift = ends.position - ends.parent_position;
    let gap = seen.gap();
    let seen_axis = *seen.rotation * pair.own.axis;
    let seen_parent_axis = *seen.parent_rotation * pair.other.axis;
    // The rows turn about P₁ and i₁ (i₂ if they are to remove large errors at once) and the spring about i₂, wherever
    // body 1 is.
    let (arm, exact_axis, force_axis) =
        if pair.flipped { (parent_arm - shift, parent_axis, axis) } else { (arm, axis, parent_axis) };
    let row_axis = if at.form == RowForm::SmallError { force_axis } else { exact_axis };
    let lean = seen_parent_axis.cross(seen_axis);
    let sine_squared = lean.length_squared();
    let cosine = seen_parent_axis.dot(seen_axis);
    let ratio = angle_over_sine(sine_squared, cosine);

    let turn = lean * (-ratio * at.step.per_h);
    let mut offset = Motion { angular: turn, linear: gap * -at.step.per_h - turn.cross(arm) };
    let displaced = match at.displaced {
        Some(motions) => relative(motions, pair, shift),
        None => Motion::ZERO,
    };
    if at.displaced.is_some() {
        offset += displaced;
    }
    found.gap_squared = gap.length_squared();
    found.lean_squared = lean_squared(sine_squared, cosine, ratio);

    let (mut kappa, mut q) = (0.0, 0.0);
    if pair.forces.tracks_twist {
        let sign = if pair.flipped { -1.0 } else { 1.0 };
        let angle = sign * twist(pair, seen, seen_axis, seen_parent_axis);
        let mut turned = 0.0;
        let lead = at.lead[usize::from(at.measured.is_some())];
        if lead > 0.0 {
            turned = lead * sign * force_axis.dot(relative_angular(at.motions, pair));
        }
        found.twist = unwrap_angle(angle, at.twists[pair.joint as usize] + turned);
        let impulse = twist_force(at, pair, found.twist, force_axis * sign, displaced.angular);
        (q, kappa) = (sign * impulse.q, impulse.kappa);
    }
    PairJoint {
        shift,
        basis: [Motion { angular: row_axis, linear: arm.cross(row_axis) }],
        offset,
        stiffness: [[kappa * cosine * cosine]],
        impulse: [cosine * (q - kappa * force_axis.dot(offset.angular))],
    }
}

/// Impulse `q` at rest and its loss `κ` per rate of the forces on the twist angle of a hinge about `along`, where the
/// pose contains the rotation `h · displaced`.
#[inline]
pub(crate) fn twist_force(
    at: &LinearizationPoint<'_>,
    pair: &PairModel,
    value: f64,
    along: DVec3,
    displaced: DVec3,
) -> ScalarImpulse {
    let h = at.step.h;
    let displaced = along.dot(displaced);
    if pair.forces.is_complex {
        let rate = |m: &[Motion]| along.dot(relative_angular(m, pair));
        let x = Coordinate { value, rate: rate(at.motions), displaced, base: rate(at.base.motions) };
        let force = at.model.forces[pair.forces.set as usize].twist.as_ref();
        let impulse = force.map_or_else(ScalarImpulse::default, |force| {
            force.linearized(&x, (at.target(pair.joint), at.laws(pair.joint)[0]), at.spring_scale, h)
        });
        let hold = |limits: &HeldLimits| limits.hold(pair.joint, LimitedCoordinate::Twist, value, impulse);
        at.laws.held.map_or(impulse, hold)
    } else {
        pair.forces.spring.linearized_alone(value, displaced, at.spring_scale, h)
    }
}

/// Twist of the body's frame about the parent's axis: `atan2(R_zy − R_yz, R_yy + R_zz)` of the relative rotation.
#[inline]
fn twist(pair: &PairModel, ends: &JointPlacement<'_>, axis: DVec3, parent_axis: DVec3) -> f64 {
    let j1 = *ends.rotation * pair.own.reference;
    let j2 = *ends.parent_rotation * pair.other.reference;
    let k1 = axis.cross(j1);
    let k2 = parent_axis.cross(j2);
    ops::atan2(k2.dot(j1) - j2.dot(k1), j2.dot(j1) + k2.dot(k1))
}

/// Below this `sin²α` the series [`ANGLE_OVER_SINE`] is used, which a working joint never leaves.
pub(crate) const SMALL_LEAN: f64 = 1e-3;

/// `α/sin α − 1` by powers of `sin²α`, from the first.
pub(crate) const ANGLE_OVER_SINE: [f64; 5] =
    [1.0 / 6.0, 3.0 / 40.0, 15.0 / 336.0, 105.0 / 3456.0, 945.0 / 42240.0];

/// `α / sin α` from `sin²α` and `cos α`.
#[inline]
pub(crate) fn angle_over_sine(sine_squared: f64, cosine: f64) -> f64 {
    if sine_squared < SMALL_LEAN && cosine > 0.0 {
        let (s, [a, b, c, d, e]) = (sine_squared, ANGLE_OVER_SINE);
        1.0 + s * (a + s * (b + s * (c + s * (d + s * e))))
    } else {
        let sine = sine_squared.sqrt();
        if sine > 0.0 { ops::atan2(sine, cosine) / sine } else { 0.0 }
    }
}

/// `α²`. An axis turned right round has no direction to lean back in, but it is half a turn off.
#[inline]
pub(crate) fn lean_squared(sine_squared: f64, cosine: f64, ratio: f64) -> f64 {
    let is_reversed = sine_squared == 0.0 && cosine < 0.0;
    if is_reversed { PI * PI } else { sine_squared * ratio * ratio }
}

/// The ball of a pair, with the directions of its first placement and the errors of its second; its error goes to `found`.
#[inline]
pub(crate) fn ball(
    at: &LinearizationPoint<'_>,
    pair: &PairModel,
    [ends, seen]: [&JointPlacement<'_>; 2],
    found: &mut Found,
) -> PointJoint {
    let h = at.step.h;
    let shift = ends.position - ends.parent_position;
    let gap = seen.gap();
    let arm = if pair.flipped { ends.parent_arm - shift } else { ends.arm };
    let mut offset = Motion { angular: DVec3::ZERO, linear: gap * -at.step.per_h };
    let mut displaced = Motion::ZERO;
    if let Some(motions) = at.displaced {
        displaced = relative(motions, pair, shift);
        offset += displaced;
    }
    found.gap_squared = gap.length_squared();
    let (mut stiffness, mut impulse) = (Sym3::ZERO, DVec3::ZERO);
    if pair.has_spring() {
        let (k, c) =
            (pair.forces.spring.stiffness * at.spring_scale, pair.forces.spring.damping * at.spring_scale);
        // B_a B_bᵀ, with the two constant frame rotations as one.
        let [own, parent] =
            [pair.body, pair.parent_body].map(|body| pose_of(at.measured_poses(), body).rotation);
        let phi = log_so3(own * pair.frame_from_parent_frame * parent.conjugate());
        (stiffness, impulse) = linearized_spring(phi, displaced.angular, k, h);
        stiffness += Sym3::IDENTITY * (h * c);
        impulse -= stiffness.mul_vec(offset.angular);
    }
    PointJoint { shift, arm, offset, stiffness, impulse }
}

/// `v_a − X v_b` of a set of twists.
#[inline]
fn relative(motions: &[Motion], pair: &PairModel, shift: DVec3) -> Motion {
    motions[pair.body as usize] - shift_motion(motion_of(motions, pair.parent_body), shift)
}

/// Relative angular velocity in a set of twists.
#[inline]
fn relative_angular(motions: &[Motion], pair: &PairModel) -> DVec3 {
    motions[pair.body as usize].angular - motion_of(motions, pair.parent_body).angular
}
