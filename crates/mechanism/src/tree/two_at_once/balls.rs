//! Two balls at once: gaps and angle-axis springs, to the bit as `fused::ball`.
//!
//! A ball without a spring beside one with a spring gets a spring of stiffness zero, two without none at all. Units and
//! failures as there.

use glam::DVec3;
use sinew_math::{Motion, Quatx2, Sym3x2, Vec3x2, both, left_jacobian_inverse_sym_x2, log_so3_x2, twice};
use sinew_solvers::{Load, PairFactorView, PointJoint};

use crate::forces::rotation::{NEAR_HALF_TURN, rotation_tangent};
use crate::model::records::PairModel;
use crate::tree::point::Iterate;
use crate::tree::two_at_once::joints::{PlacementX2, TwoJoints};

/// Two linearized balls.
pub(crate) struct TwoBalls {
    arm: Vec3x2,
    drift: Vec3x2,
    stiffness: Sym3x2,
    impulse: Vec3x2,
}

impl TwoJoints for TwoBalls {
    #[inline(always)]
    fn new(at: &Iterate<'_>, pairs: [&PairModel; 2], ends: &PlacementX2) -> Self {
        let [a, b] = pairs;
        let (mut stiffness, mut impulse) = (Sym3x2::isotropic(twice(0.0)), Vec3x2::ZERO);
        if pairs.iter().any(|p| p.stiffness != 0.0 || p.damping != 0.0) {
            let (h, scale) = (twice(at.h), twice(at.spring_scale));
            let k = both(a.stiffness, b.stiffness) * scale;
            let c = both(a.damping, b.damping) * scale;
            let frame = Quatx2::new(a.frame_from_parent_frame, b.frame_from_parent_frame);
            let phi = log_so3_x2(ends.orientation * frame * ends.parent_orientation.conjugate());
            stiffness = rotation_tangent_x2(phi) * (h * h * k) + Sym3x2::isotropic(h * c);
            impulse = Vec3x2::ZERO - phi * (h * k);
        }
        Self { arm: ends.arm, drift: ends.gap * twice(-at.per_h), stiffness, impulse }
    }

    #[inline(always)]
    fn eliminate<const I: usize>(
        &self,
        shift: DVec3,
        factor: &mut PairFactorView<'_>,
        k: usize,
        load: &mut Load,
    ) -> u32 {
        let joint = PointJoint {
            shift,
            arm: self.arm.half::<I>(),
            offset: Motion { angular: DVec3::ZERO, linear: self.drift.half::<I>() },
            stiffness: self.stiffness.half::<I>(),
            impulse: self.impulse.half::<I>(),
        };
        factor.eliminate_point(k, load, &joint)
    }

    #[inline(always)]
    fn found<const I: usize>(&self) -> (f64, f64) {
        (0.0, 0.0)
    }
}

/// `iterate::rotation_tangent` of two rotation vectors.
#[inline(always)]
fn rotation_tangent_x2(phi: Vec3x2) -> Sym3x2 {
    if phi.dot(phi).simd_le(twice(NEAR_HALF_TURN * NEAR_HALF_TURN)).all() {
        left_jacobian_inverse_sym_x2(phi)
    } else {
        Sym3x2::new(rotation_tangent(phi.half::<0>()), rotation_tangent(phi.half::<1>()))
    }
}
