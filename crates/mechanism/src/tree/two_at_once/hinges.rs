//! Two hinges at once: rows, twist angles and the forces on them, to the bit as `fused::hinge`.
//!
//! Springs and dampers in lanes, all other forces one by one. Units and failures as there.

use glam::DVec3;
use sinew_math::{F64x2, Motion, Vec3x2, both, ops, twice};
use sinew_solvers::PairJoint;

use crate::forces::ScalarImpulse;
use crate::model::PairModel;
use crate::tree::{
    ANGLE_OVER_SINE, LinearizationPoint, PairLoad, PlacementX2, SMALL_LEAN, TwoJoints, angle_over_sine,
    lean_squared, twist_force,
};
use crate::{Spring, unwrap_angle};

/// Two linearized hinges.
pub(crate) struct TwoHinges {
    /// Free direction: angular and linear part.
    axis: Vec3x2,
    moment: Vec3x2,
    /// Velocity that closes the errors: angular and linear part.
    turn: Vec3x2,
    drift: Vec3x2,
    /// `κ` and `q` along the free direction.
    stiffness: F64x2,
    impulse: F64x2,
    lean_squared: F64x2,
    twist: F64x2,
}

impl TwoJoints for TwoHinges {
    #[inline(always)]
    fn new(at: &LinearizationPoint<'_>, pairs: [&PairModel; 2], ends: &PlacementX2) -> Self {
        let [a, b] = pairs;
        let vectors = |of: fn(&PairModel) -> DVec3| Vec3x2::new(of(a), of(b));
        let PlacementX2 { rotation, parent_rotation, arm, gap, .. } = ends;
        let axis = rotation * vectors(|p| p.own.axis);
        let parent_axis = parent_rotation * vectors(|p| p.other.axis);
        let lean = parent_axis.cross(axis);
        let sine_squared = lean.dot(lean);
        let cosine = parent_axis.dot(axis);
        let ratio = angle_over_sine_x2(sine_squared, cosine);
        let turn = lean * (-ratio * twice(at.step.per_h));
        let drift = *gap * twice(-at.step.per_h) - turn.cross(*arm);

        let j1 = rotation * vectors(|p| p.own.reference);
        let j2 = parent_rotation * vectors(|p| p.other.reference);
        let (k1, k2) = (axis.cross(j1), parent_axis.cross(j2));
        let angle = ops::atan2_x2(k2.dot(j1) - j2.dot(k1), j2.dot(j1) + k2.dot(k1));
        let previous = both(at.twists[a.joint as usize], at.twists[b.joint as usize]);
        let (twist, q, kappa) = forces(at, pairs, unwrap_x2(angle, previous), parent_axis);
        Self {
            axis,
            moment: arm.cross(axis),
            turn,
            drift,
            stiffness: kappa * cosine * cosine,
            impulse: cosine * (q - kappa * parent_axis.dot(turn)),
            lean_squared: lean_squared_x2(sine_squared, cosine, ratio),
            twist,
        }
    }

    #[inline(always)]
    fn eliminate<const I: usize>(&self, shift: DVec3, (factor, k, load): PairLoad<'_, '_>) -> u32 {
        let joint = PairJoint {
            shift,
            basis: [Motion { angular: self.axis.half::<I>(), linear: self.moment.half::<I>() }],
            offset: Motion { angular: self.turn.half::<I>(), linear: self.drift.half::<I>() },
            stiffness: [[self.stiffness.to_array()[I]]],
            impulse: [self.impulse.to_array()[I]],
        };
        factor.eliminate(k, load, &joint)
    }

    #[inline(always)]
    fn found<const I: usize>(&self) -> (f64, f64) {
        (self.lean_squared.to_array()[I], self.twist.to_array()[I])
    }
}

/// Twist angles, where they are tracked, and `fused::twist_force` of two hinges.
#[inline(always)]
fn forces(
    at: &LinearizationPoint<'_>,
    pairs: [&PairModel; 2],
    twist: F64x2,
    parent_axis: Vec3x2,
) -> (F64x2, F64x2, F64x2) {
    let [a, b] = pairs;
    if pairs.iter().all(|p| p.forces.tracks_twist && !p.forces.is_complex) {
        let springs = [&a.forces.spring, &b.forces.spring];
        let [q, kappa] = Spring::linearized_alone_x2(springs, twist, at.spring_scale, at.step.h);
        return (twist, q, kappa);
    }
    let (axes, twist) = ([parent_axis.half::<0>(), parent_axis.half::<1>()], twist.to_array());
    let [(twist_a, q_a, kappa_a), (twist_b, q_b, kappa_b)] =
        [0, 1].map(|i| force(at, pairs[i], twist[i], axes[i]));
    (both(twist_a, twist_b), both(q_a, q_b), both(kappa_a, kappa_b))
}

/// Twist angle and `fused::twist_force` of one hinge, zero where the angle is not tracked. Out of line, so that plain
/// springs keep their registers.
#[inline(never)]
fn force(at: &LinearizationPoint<'_>, pair: &PairModel, twist: f64, parent_axis: DVec3) -> (f64, f64, f64) {
    if !pair.forces.tracks_twist {
        return (0.0, 0.0, 0.0);
    }
    let ScalarImpulse { q, kappa } = twist_force(at, pair, twist, parent_axis, DVec3::ZERO);
    (twist, q, kappa)
}

/// `fused::angle_over_sine` of two hinges.
#[inline(always)]
fn angle_over_sine_x2(sine_squared: F64x2, cosine: F64x2) -> F64x2 {
    let is_small = sine_squared.simd_lt(twice(SMALL_LEAN)) & cosine.simd_gt(twice(0.0));
    if is_small.all() {
        let (s, [a, b, c, d, e]) = (sine_squared, ANGLE_OVER_SINE.map(twice));
        return twice(1.0) + s * (a + s * (b + s * (c + s * (d + s * e))));
    }
    let (s, c) = (sine_squared.to_array(), cosine.to_array());
    both(angle_over_sine(s[0], c[0]), angle_over_sine(s[1], c[1]))
}

/// `fused::lean_squared` of two hinges.
#[inline(always)]
fn lean_squared_x2(sine_squared: F64x2, cosine: F64x2, ratio: F64x2) -> F64x2 {
    if cosine.simd_gt(twice(0.0)).all() {
        return sine_squared * ratio * ratio;
    }
    let (s, c, r) = (sine_squared.to_array(), cosine.to_array(), ratio.to_array());
    both(lean_squared(s[0], c[0], r[0]), lean_squared(s[1], c[1], r[1]))
}

/// `unwrap_angle` of two joints.
#[inline(always)]
fn unwrap_x2(angle: F64x2, previous: F64x2) -> F64x2 {
    let turns = (previous - angle) / twice(std::f64::consts::TAU);
    if turns.abs().simd_le(twice(0.5)).all() {
        return angle;
    }
    let (angle, previous) = (angle.to_array(), previous.to_array());
    both(unwrap_angle(angle[0], previous[0]), unwrap_angle(angle[1], previous[1]))
}
