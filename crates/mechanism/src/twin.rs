//! Two hinges at once: everything that does not wait for the elimination, for two pairs in the halves of SIMD registers.
//!
//! The linearization of a pair reads the state only, so two neighbours in the pair table are independent up to the
//! elimination itself. Computed here, to the bit as `sweep::add_own`, `sweep::add_geometric` and `fused::hinge` do it
//! for one: own mass and momentum with the gyroscopic step, rows, spring, twist angle, and the geometric stiffness of
//! both ends. World axes at centres of mass; no allocation; never fails. Only plain hinges (`eligible`) at an
//! undisplaced linearization point (`applies`); others go one by one. About 1,250 instructions for two (SSE2).

use glam::{DQuat, DVec3};
use sinew_math::{F64x2, Force, Mat3x2, Motion, PrincipalInertia, Sym3, Sym3x2, Vec3x2, both, ops, twice};
use sinew_solvers::{Load, PairJoint};

use crate::Gyroscopic;
use crate::fused::{ANGLE_OVER_SINE, Found, SMALL_LEAN, angle_over_sine, lean_squared};
use crate::geometric::RESOLVED;
use crate::iterate::Iterate;
use crate::model::{PairModel, Path};
use crate::rows::{RowForm, unwrap_angle};

/// Whether pairs may be taken two by two at this linearization point.
#[inline]
pub(crate) fn applies(at: &Iterate<'_>) -> bool {
    at.displaced.is_none()
        && at.measured.is_none()
        && at.form == RowForm::Position
        && !at.pulls.is_empty()
        && matches!(at.gyro, Gyroscopic::Auto | Gyroscopic::Implicit)
}

/// Whether a pair may be one of two.
#[inline]
pub(crate) fn eligible(pair: &PairModel) -> bool {
    pair.path == Path::Hinge && pair.tracks_twist && !pair.complex && !pair.flipped
}

/// Two linearized pairs.
pub(crate) struct Twins {
    inertia: Sym3x2,
    mass: F64x2,
    momentum_angular: Vec3x2,
    momentum_linear: Vec3x2,
    /// Geometric stiffness of the own end and of the parent's, and which of them there are.
    own_end: (Sym3x2, u32),
    parent_end: (Sym3x2, u32),
    shift: Vec3x2,
    axis: Vec3x2,
    moment: Vec3x2,
    turn: Vec3x2,
    drift: Vec3x2,
    stiffness: F64x2,
    impulse: F64x2,
    gap_squared: F64x2,
    lean_squared: F64x2,
    twist: F64x2,
}

impl Twins {
    /// Linearizes two pairs whose joints transmit `pulls` to their bodies.
    #[inline(always)]
    pub(crate) fn new(at: &Iterate<'_>, pairs: [&PairModel; 2], pulls: [DVec3; 2]) -> Self {
        let [a, b] = pairs;
        let h = twice(at.h);
        let vectors = |of: fn(&PairModel) -> DVec3| Vec3x2::new(of(a), of(b));
        let numbers = |of: fn(&PairModel) -> f64| both(of(a), of(b));

        // Where the two bodies and their parents are.
        let poses = pairs.map(|p| &at.poses[p.body as usize]);
        let parents = pairs.map(|p| at.poses.get(p.parent_body as usize));
        let [parent_a, parent_b] = parents.map(|p| p.map_or(DQuat::IDENTITY, |p| p.rotation));
        let rotation = Mat3x2::from_quats(poses[0].rotation, poses[1].rotation);
        let parent_rotation = Mat3x2::from_quats(parent_a, parent_b);
        let [parent_a, parent_b] = parents.map(|p| p.map_or(DVec3::ZERO, |p| p.translation));
        let shift = Vec3x2::new(poses[0].translation, poses[1].translation) - Vec3x2::new(parent_a, parent_b);

        // Own mass and momentum.
        let base = pairs.map(|p| &at.base[p.body as usize]);
        let omega = rotation.transpose_mul(Vec3x2::new(base[0].angular, base[1].angular));
        let inertias = [&a.inertia, &b.inertia];
        let stepped = PrincipalInertia::implicit_step_x2(inertias, omega, at.h);
        let moments = Vec3x2::new(a.inertia.moments, b.inertia.moments);
        let momentum_angular = &rotation * stepped.times(moments);
        let inertia = PrincipalInertia::rotated_by_x2(inertias, &rotation);
        let mass = numbers(|p| p.mass);
        let fall = Vec3x2::splat(at.gravity * at.h);
        let momentum_linear = (Vec3x2::new(base[0].linear, base[1].linear) + fall) * mass;

        // Geometric stiffness.
        let arm = &rotation * vectors(|p| p.point);
        let parent_arm = &parent_rotation * vectors(|p| p.parent_point);
        let pull = Vec3x2::new(pulls[0], pulls[1]);
        let strength = pull.dot(pull).sqrt();
        let reach = [numbers(|p| p.own_end.reach), numbers(|p| p.parent_end.reach)];
        let about = [numbers(|p| p.own_end.inertia), numbers(|p| p.parent_end.inertia)];
        let own_end = geometric(at, (arm, reach[0], about[0]), pull, strength);
        let parent_end = geometric(at, (parent_arm, reach[1], about[1]), -pull, strength);

        // Rows.
        let axis = &rotation * vectors(|p| p.axis);
        let parent_axis = &parent_rotation * vectors(|p| p.parent_axis);
        let gap = shift + (arm - parent_arm);
        let lean = parent_axis.cross(axis);
        let sine_squared = lean.dot(lean);
        let cosine = parent_axis.dot(axis);
        let ratio = angle_over_sine_x2(sine_squared, cosine);
        let turn = lean * (-ratio * twice(at.per_h));
        let drift = gap * twice(-at.per_h) - turn.cross(arm);

        // Spring.
        let j1 = &rotation * vectors(|p| p.reference);
        let j2 = &parent_rotation * vectors(|p| p.parent_reference);
        let (k1, k2) = (axis.cross(j1), parent_axis.cross(j2));
        let angle = ops::atan2_x2(k2.dot(j1) - j2.dot(k1), j2.dot(j1) + k2.dot(k1));
        let previous = both(at.twists[a.joint as usize], at.twists[b.joint as usize]);
        let twist = unwrap_x2(angle, previous);
        let (k, scale) = (numbers(|p| p.stiffness), twice(at.spring_scale));
        let kappa = h * h * k * scale + h * numbers(|p| p.damping) * scale;
        let q = -(h * k * scale * (twist - numbers(|p| p.rest)));

        let unit = twice(1.0);
        Self {
            inertia: inertia * (unit + h * numbers(|p| p.angular_damping)),
            mass: mass * (unit + h * numbers(|p| p.linear_damping)),
            momentum_angular,
            momentum_linear,
            own_end,
            parent_end,
            shift,
            axis,
            moment: arm.cross(axis),
            turn,
            drift,
            stiffness: kappa * cosine * cosine,
            impulse: cosine * (q - kappa * parent_axis.dot(turn)),
            gap_squared: gap.dot(gap),
            lean_squared: lean_squared_x2(sine_squared, cosine, ratio),
            twist,
        }
    }

    /// Adds the own mass and momentum of one of the two to a load.
    #[inline(always)]
    pub(crate) fn add_own<const I: usize>(&self, load: &mut Load) {
        load.mass.angular += self.inertia.half::<I>();
        let linear = self.mass.to_array()[I];
        load.mass.linear.xx += linear;
        load.mass.linear.yy += linear;
        load.mass.linear.zz += linear;
        load.momentum +=
            Force { angular: self.momentum_angular.half::<I>(), linear: self.momentum_linear.half::<I>() };
    }

    /// `h²K` on the own body of one of the two, if any.
    #[inline(always)]
    pub(crate) fn own_stiffness<const I: usize>(&self) -> Option<Sym3> {
        (self.own_end.1 >> I & 1 != 0).then(|| self.own_end.0.half::<I>())
    }

    /// `h²K` on the parent of one of the two, if any.
    #[inline(always)]
    pub(crate) fn parent_stiffness<const I: usize>(&self) -> Option<Sym3> {
        (self.parent_end.1 >> I & 1 != 0).then(|| self.parent_end.0.half::<I>())
    }

    /// The joint of one of the two.
    #[inline(always)]
    pub(crate) fn joint<const I: usize>(&self) -> PairJoint<1> {
        PairJoint {
            shift: self.shift.half::<I>(),
            basis: [Motion { angular: self.axis.half::<I>(), linear: self.moment.half::<I>() }],
            offset: Motion { angular: self.turn.half::<I>(), linear: self.drift.half::<I>() },
            stiffness: [[self.stiffness.to_array()[I]]],
            impulse: [self.impulse.to_array()[I]],
        }
    }

    /// Errors and twist angle of one of the two.
    #[inline(always)]
    pub(crate) fn found<const I: usize>(&self) -> Found {
        Found {
            gap_squared: self.gap_squared.to_array()[I],
            lean_squared: self.lean_squared.to_array()[I],
            twist: self.twist.to_array()[I],
        }
    }
}

/// `geometric::stiffness` of two ends, with a mask of those that have one.
#[inline(always)]
fn geometric(
    at: &Iterate<'_>,
    (arm, reach, inertia): (Vec3x2, F64x2, F64x2),
    pull: Vec3x2,
    strength: F64x2,
) -> (Sym3x2, u32) {
    let spared = twice(RESOLVED) * inertia * twice(at.per_square);
    let m = reach * strength;
    let bound = twice(0.5) * (arm.dot(pull) + m);
    let is_nothing = m.simd_le(twice(f64::MIN_POSITIVE)) | bound.simd_le(spared);
    let left = (bound - spared) * twice(at.h * at.h);
    let s = arm * strength + pull * reach;
    let t = s * (twice(0.25) * left / (bound * m));
    let k = Sym3x2 {
        xx: left - t.x * s.x,
        yy: left - t.y * s.y,
        zz: left - t.z * s.z,
        xy: -t.x * s.y,
        xz: -t.x * s.z,
        yz: -t.y * s.z,
    };
    (k, !is_nothing.to_bitmask())
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
