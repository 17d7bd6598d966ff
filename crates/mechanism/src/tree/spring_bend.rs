//! How far a spring between points is from what a solve takes it for over a step.
//!
//! A solve moves the ends of a spring along straight lines, with the relative velocity `u`. Ends that turn about something leave their circle
//! that way: the length (of a spring without a rest length the whole gap) changes by `h (u + b)`, `b = ½ h ω² r` for an end at `r` that turns by
//! `ω`. Dampers act on what the length does. Foreseen from the motion at the start of a step of first order,
//! and measured at the end that was found. (The length itself is measured by the Newton iterations.) World axes, m/s; cost: two poses.

use glam::DVec3;
use sinew_math::{Motion, Pose};

use crate::forces::PointSpring;
use crate::model::{motion_of, pose_of};
use crate::prepare::move_pose;
use crate::tree::LinearizationPoint;

impl LinearizationPoint<'_> {
    /// The bend `b` of a spring, where a solve takes its ends to move with `linear` of a set of twists.
    pub(crate) fn spring_bend(&self, spring: &PointSpring, linear: impl Fn(&[Motion]) -> DVec3) -> DVec3 {
        let h = self.step.h;
        if !self.step.bends || spring.damping == 0.0 {
            return DVec3::ZERO;
        }
        let bodies = [spring.body1, spring.body2];
        let gap = |poses: &[Pose]| spring.gap(bodies.map(|body| pose_of(poses, body)));
        let start = gap(self.base.poses);
        let (end, moved, share) = match self.displaced {
            Some(displaced) => (gap(self.measured_poses()), linear(displaced), 1.0),
            None => {
                let end = |body| move_pose(&pose_of(self.poses, body), motion_of(self.motions, body) * h);
                (spring.gap(bodies.map(end)), linear(self.motions), self.foreseen_share(bodies))
            }
        };
        if spring.rest_length > 0.0 {
            let along = gap(self.poses).normalize_or_zero();
            along * (((end.length() - start.length()) / h - along.dot(moved)) * share)
        } else {
            ((end - start) / h - moved) * share
        }
    }

    /// Share of a bend that is foreseen from the motion of two bodies at the start of the step: next to all of it where they turn little, none
    /// where they turn by more than a radian and the start tells nothing of the end.
    pub(crate) fn foreseen_share(&self, bodies: [u32; 2]) -> f64 {
        let fastest = bodies.map(|body| motion_of(self.base.motions, body).angular.length_squared());
        let turn_squared = self.step.square * fastest[0].max(fastest[1]);
        1.0 / (1.0 + turn_squared * turn_squared)
    }
}
