//! Two neighbouring pairs of the table linearized at once in SIMD lanes.
//!
//! The linearization of a pair reads the state only, so two pairs are independent up to the elimination. This computes
//! own mass and momentum with the gyroscopic step and the geometric stiffness of both ends, to the bit as `body_terms`
//! does for one pair; the joints are `hinges` or `balls`, to the bit as in `fused`.
//! Only pairs of the same kind ([`path`]) at an undisplaced linearization point ([`applies`]); others go one by one.
//! World axes at centres of mass; no allocation; never fails. About 1,250 instructions for two hinges with springs,
//! 1,500 for two balls (SSE2).

use glam::{DQuat, DVec3};
use sinew_math::{F64x2, Force, Mat3x2, Pose, PrincipalInertia, Quatx2, Sym3x2, Vec3x2, both, twice};
use sinew_solvers::Load;

use crate::model::{PairModel, PairPath};
use crate::tree::{Found, LinearizationPoint, PairLoad, RESOLVED, StepLength, TreeSystem};
use crate::{Gyroscopic, RowForm};

/// Whether pairs may be taken two by two at this linearization point.
#[inline]
pub(crate) fn applies(at: &TreeSystem<'_>) -> bool {
    at.point.displaced.is_none()
        && at.point.measured.is_none()
        && at.point.form == RowForm::Position
        && !at.joint_forces.is_empty()
        && at.loads.spinning.is_empty()
        && matches!(at.gyroscopic, Gyroscopic::Auto | Gyroscopic::Implicit)
}

/// How two pairs may be taken together: hinges, balls, or not at all.
#[inline]
pub(crate) fn path(a: &PairModel, b: &PairModel) -> Option<PairPath> {
    let is_joined = matches!(a.path, PairPath::Hinge | PairPath::Ball) && a.path == b.path;
    (is_joined && !(a.flipped || b.flipped || a.is_skew || b.is_skew)).then_some(a.path)
}

/// Two linearized pairs.
pub(crate) struct TwoPairs<J> {
    /// Own mass with drag, and momentum.
    inertia: Sym3x2,
    mass: F64x2,
    momentum_angular: Vec3x2,
    momentum_linear: Vec3x2,
    /// Geometric stiffness of the own end and of the parent's, and which of them there are.
    own_end: (Sym3x2, u32),
    parent_end: (Sym3x2, u32),
    /// From the parents' centres of mass to the bodies'.
    shift: Vec3x2,
    gap_squared: F64x2,
    joints: J,
}

impl<J: TwoJoints> TwoPairs<J> {
    /// Linearizes two pairs whose joints transmit the forces `pulls` to their bodies.
    #[inline(always)]
    pub(crate) fn new(at: &TreeSystem<'_>, pairs: [&PairModel; 2], pulls: [DVec3; 2]) -> Self {
        let [a, b] = pairs;
        let (h, unit) = (twice(at.point.step.h), twice(1.0));
        let numbers = |of: fn(&PairModel) -> f64| both(of(a), of(b));
        let ends = PlacementX2::new(at.point.poses, pairs);
        let PlacementX2 { rotation, arm, parent_arm, shift, gap, .. } = &ends;

        // Own mass and momentum.
        let base = pairs.map(|p| &at.point.base.motions[p.body as usize]);
        let omega = rotation.transpose_mul(Vec3x2::new(base[0].angular, base[1].angular));
        let inertias = [&a.inertial.inertia, &b.inertial.inertia];
        let stepped = PrincipalInertia::implicit_step_x2(inertias, omega, at.point.step.h);
        let moments = Vec3x2::new(a.inertial.inertia.moments, b.inertial.inertia.moments);
        let mass = numbers(|p| p.inertial.mass);
        let fall = Vec3x2::splat(at.gravity * at.point.step.h);

        // Geometric stiffness.
        let pull = Vec3x2::new(pulls[0], pulls[1]);
        let strength = pull.dot(pull).sqrt();
        let reach = [numbers(|p| p.own.anchor.reach), numbers(|p| p.other.anchor.reach)];
        let about = [numbers(|p| p.own.anchor.inertia), numbers(|p| p.other.anchor.inertia)];

        Self {
            inertia: PrincipalInertia::rotated_by_x2(inertias, rotation)
                * (unit + h * numbers(|p| p.inertial.angular_damping)),
            mass: mass * (unit + h * numbers(|p| p.inertial.linear_damping)),
            momentum_angular: rotation * stepped.times(moments),
            momentum_linear: (Vec3x2::new(base[0].linear, base[1].linear) + fall) * mass,
            own_end: geometric(&at.point.step, (*arm, reach[0], about[0]), pull, strength),
            parent_end: geometric(&at.point.step, (*parent_arm, reach[1], about[1]), -pull, strength),
            shift: *shift,
            gap_squared: gap.dot(*gap),
            joints: J::new(&at.point, pairs, &ends),
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

    /// Adds `h²K` on the own body of one of the two, if any.
    #[inline(always)]
    pub(crate) fn stiffen_own<const I: usize>(&self, load: &mut Load) {
        stiffen::<I>(&self.own_end, load);
    }

    /// Adds `h²K` on the parent of one of the two, if any.
    #[inline(always)]
    pub(crate) fn stiffen_parent<const I: usize>(&self, load: &mut Load) {
        stiffen::<I>(&self.parent_end, load);
    }

    /// Eliminates one of the two; see [`sinew_solvers::PairFactorView::eliminate`].
    #[inline(always)]
    pub(crate) fn eliminate<const I: usize>(&self, pair: PairLoad<'_, '_>) -> u32 {
        self.joints.eliminate::<I>(self.shift.half::<I>(), pair)
    }

    /// Errors and twist angle of one of the two.
    #[inline(always)]
    pub(crate) fn found<const I: usize>(&self) -> Found {
        let (lean_squared, twist) = self.joints.found::<I>();
        Found { gap_squared: self.gap_squared.to_array()[I], lean_squared, twist }
    }
}

/// Adds one half of the stiffness of two ends to a rotation, if it is there.
#[inline(always)]
fn stiffen<const I: usize>(&(stiffness, mask): &(Sym3x2, u32), load: &mut Load) {
    if mask >> I & 1 != 0 {
        load.mass.angular += stiffness.half::<I>();
    }
}

/// `geometric::ArmForce::stiffness` of two ends, with a mask of those that have one.
#[inline(always)]
fn geometric(
    step: &StepLength,
    (arm, reach, inertia): (Vec3x2, F64x2, F64x2),
    pull: Vec3x2,
    strength: F64x2,
) -> (Sym3x2, u32) {
    let spared = twice(RESOLVED) * inertia * twice(step.per_square);
    let m = reach * strength;
    let bound = twice(0.5) * (arm.dot(pull) + m);
    let is_nothing = m.simd_le(twice(f64::MIN_POSITIVE)) | bound.simd_le(spared);
    let left = (bound - spared) * twice(step.h * step.h);
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

/// Two joints of a kind.
pub(crate) trait TwoJoints: Sized {
    /// Linearizes the joints of two pairs.
    fn new(at: &LinearizationPoint<'_>, pairs: [&PairModel; 2], ends: &PlacementX2) -> Self;
    /// Eliminates the half `I`; see [`sinew_solvers::PairFactorView::eliminate`].
    fn eliminate<const I: usize>(&self, shift: DVec3, pair: PairLoad<'_, '_>) -> u32;
    /// Squared misalignment (rad²) and twist angle (rad) of the half `I`.
    fn found<const I: usize>(&self) -> (f64, f64);
}

/// Where the ends of two joints are.
pub(crate) struct PlacementX2 {
    /// Rotations as quaternions and as matrices.
    pub(crate) orientation: Quatx2,
    pub(crate) parent_orientation: Quatx2,
    pub(crate) rotation: Mat3x2,
    pub(crate) parent_rotation: Mat3x2,
    /// Anchors from the centres of mass.
    pub(crate) arm: Vec3x2,
    pub(crate) parent_arm: Vec3x2,
    /// From the parents' centres of mass to the bodies'.
    pub(crate) shift: Vec3x2,
    /// From the parents' anchors to the bodies'.
    pub(crate) gap: Vec3x2,
}

impl PlacementX2 {
    /// Places the bodies of two pairs and their parents.
    #[inline(always)]
    pub(crate) fn new(poses: &[Pose], pairs: [&PairModel; 2]) -> Self {
        let [a, b] = pairs;
        let parents = pairs.map(|p| poses.get(p.parent_body as usize));
        let poses = pairs.map(|p| &poses[p.body as usize]);
        let orientation = Quatx2::new(poses[0].rotation, poses[1].rotation);
        let [parent_a, parent_b] = parents.map(|p| p.map_or(DQuat::IDENTITY, |p| p.rotation));
        let parent_orientation = Quatx2::new(parent_a, parent_b);
        let [parent_a, parent_b] = parents.map(|p| p.map_or(DVec3::ZERO, |p| p.translation));
        let shift = Vec3x2::new(poses[0].translation, poses[1].translation) - Vec3x2::new(parent_a, parent_b);
        let (rotation, parent_rotation) =
            (Mat3x2::from_quats(orientation), Mat3x2::from_quats(parent_orientation));
        let arm = &rotation * Vec3x2::new(a.own.point, b.own.point);
        let parent_arm = &parent_rotation * Vec3x2::new(a.other.point, b.other.point);
        let gap = shift + (arm - parent_arm);
        Self { orientation, parent_orientation, rotation, parent_rotation, arm, parent_arm, shift, gap }
    }
}
