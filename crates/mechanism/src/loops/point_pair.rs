//! Two points of two bodies that a joint or a hard grab holds together, at a linearization point. World axes.

use glam::DVec3;
use sinew_math::{Motion, shift_motion};
use sinew_topology::NONE;

use crate::model::{motion_of, pose_of};
use crate::tree::LinearizationPoint;

/// Two points that are held together.
pub(crate) struct PointPair {
    /// From the centres of mass to the point where they meet, m.
    pub(crate) arms: [DVec3; 2],
    /// Velocity between them that the rows do not see, m/s.
    pub(crate) given: DVec3,
    /// Where it is measured, m.
    pub(crate) gap: DVec3,
}

impl PointPair {
    /// Of two bodies (central frames, or world).
    pub(crate) fn new(
        at: &LinearizationPoint<'_>,
        ports: [u32; 2],
        bodies: [u32; 2],
        points: [DVec3; 2],
    ) -> Self {
        let (pose1, pose2) = (pose_of(at.poses, bodies[0]), pose_of(at.poses, bodies[1]));
        // Both bodies are seen at the first point, so that action meets reaction across a gap.
        let meeting = pose1.transform_point(points[0]);
        let arms = [meeting - pose1.translation, meeting - pose2.translation];
        let given = |i: usize| {
            let velocity = |motions: &[Motion]| shift_motion(motion_of(motions, bodies[i]), arms[i]).linear;
            let moved = at.displaced.map_or(DVec3::ZERO, velocity);
            if ports[i] == NONE { moved - velocity(at.motions) } else { moved }
        };
        let gap = match at.measured {
            None => meeting - pose2.transform_point(points[1]),
            Some(ends) => {
                let end = |i: usize| pose_of(ends, bodies[i]).transform_point(points[i]);
                end(0) - end(1)
            }
        };
        Self { arms, given: given(0) - given(1), gap }
    }
}
