//! The interface of two joints of the same kind in SIMD lanes, and the poses of their ends. World axes.

use glam::{DQuat, DVec3};
use sinew_math::{Mat3x2, Pose, Quatx2, Vec3x2};
use sinew_solvers::{Load, PairFactorView};

use crate::model::PairModel;
use crate::tree::LinearizationPoint;

/// Two joints of a kind.
pub(crate) trait TwoJoints: Sized {
    /// Linearizes the joints of two pairs.
    fn new(at: &LinearizationPoint<'_>, pairs: [&PairModel; 2], ends: &PlacementX2) -> Self;
    /// Eliminates the pair `k`, the half `I`; see [`PairFactorView::eliminate`].
    fn eliminate<const I: usize>(
        &self,
        shift: DVec3,
        factor: &mut PairFactorView<'_>,
        k: usize,
        load: &mut Load,
    ) -> u32;
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
