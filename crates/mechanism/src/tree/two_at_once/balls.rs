//! Two balls at once: gaps and angle-axis springs, to the bit as `fused::ball`.
//!
//! If only one of the two has a spring, the other gets a spring of stiffness zero. Units and failures as there.

use glam::DVec3;
use sinew_math::{Motion, Quatx2, Sym3x2, Vec3x2, both, log_so3_x2, twice};
use sinew_solvers::{Load, PairFactorView, PointJoint};

use crate::forces::linearized_spring_x2;
use crate::model::PairModel;
use crate::tree::{LinearizationPoint, PlacementX2, TwoJoints};

/// Two linearized balls.
pub(crate) struct TwoBalls {
    arm: Vec3x2,
    /// Velocity that closes the gaps, m/s.
    drift: Vec3x2,
    /// `K` and `q` of the springs.
    stiffness: Sym3x2,
    impulse: Vec3x2,
}

impl TwoJoints for TwoBalls {
    #[inline(always)]
    fn new(at: &LinearizationPoint<'_>, pairs: [&PairModel; 2], ends: &PlacementX2) -> Self {
        let [a, b] = pairs;
        let (mut stiffness, mut impulse) = (Sym3x2::isotropic(twice(0.0)), Vec3x2::ZERO);
        if pairs.iter().any(|p| p.has_spring()) {
            let scale = twice(at.spring_scale);
            let k = both(a.forces.spring.stiffness, b.forces.spring.stiffness) * scale;
            let c = both(a.forces.spring.damping, b.forces.spring.damping) * scale;
            let frame = Quatx2::new(a.frame_from_parent_frame, b.frame_from_parent_frame);
            let phi = log_so3_x2(ends.orientation * frame * ends.parent_orientation.conjugate());
            (stiffness, impulse) = linearized_spring_x2(phi, k, at.step.h);
            stiffness = stiffness + Sym3x2::isotropic(twice(at.step.h) * c);
        }
        Self { arm: ends.arm, drift: ends.gap * twice(-at.step.per_h), stiffness, impulse }
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
