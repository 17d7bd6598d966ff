//! The laws of bounded forces and limits in an implicit step (`forces::bounded`, `forces::limit`).
//!
//! They are guessed from the motion before a solve and reviewed after it. Joints with bounded forces are always looked at; one with limits
//! only if it may come beyond them in the step: its distance from the nearer limit is compared with what its bodies move at most. Cost: one
//! joint each, some 30 flops where limits are far.

use sinew_math::{DriveCoordinate, Motion};

use crate::State;
use crate::forces::CoordinateLaws;
use crate::model::pose_of;
use crate::steppers::ImplicitStep;
use crate::tree::{JointAt, LinearizationPoint};

impl ImplicitStep<'_> {
    /// Forgets the laws of the step before.
    pub(crate) fn start_laws(&mut self) {
        let model = self.here.task.model;
        let derived = &model.derived;
        if !(derived.bounded_joints.is_empty() && derived.limited_joints.is_empty()) {
            self.here.points.laws.clear();
            self.here.points.laws.resize(model.joints.len(), Default::default());
        }
    }

    /// Replaces the laws that do not hold; true if there are any.
    pub(crate) fn review_laws(&mut self, state: &State) -> bool {
        let derived = &self.here.task.model.derived;
        if derived.bounded_joints.is_empty() && derived.limited_joints.is_empty() {
            return false;
        }
        let problem = self.here.problem(state);
        let (points, motions) = (problem.point.by_island(), &self.solver.tree.motions);
        let at = |joint: u32| {
            let model = &problem.point.model.joints[joint as usize];
            points.at(&[model.body1, model.body2])
        };
        let mut next = std::mem::take(self.next_laws);
        next.clear();
        let limited = derived.limited_joints.iter().filter(|&&joint| may_pass(at(joint), joint, motions));
        let reviewed = |&joint: &u32| (joint, JointAt::new(at(joint), joint).review(motions));
        let is_there = |joint: &&u32| !problem.point.input.releases(**joint);
        next.extend(derived.bounded_joints.iter().chain(limited).filter(is_there).map(reviewed));
        let laws = &mut self.here.points.laws;
        let mut has_changed = false;
        for &(joint, next) in &next {
            has_changed |= laws[joint as usize] != next;
            laws[joint as usize] = next;
        }
        *self.next_laws = next;
        has_changed
    }
}

/// Whether a joint may come beyond its limits with the twists found (per pair), or is held there.
fn may_pass(at: &LinearizationPoint<'_>, joint: u32, motions: &[Motion]) -> bool {
    if at.laws(joint) != <[CoordinateLaws; 2]>::default() {
        return true;
    }
    let model = &at.model.joints[joint as usize];
    let forces = &at.model.forces[model.forces as usize];
    let found = |body: u32| at.model.found_motion(motions, at.motions, body);
    let (motion1, motion2) = (found(model.body1), found(model.body2));
    let limit = |along| forces.along(along).and_then(|force| force.limit);
    // What the twist angle was before the last step may differ from what it is by as much again.
    let reach = 2.0 * at.step.h;
    if let Some(limit) = limit(DriveCoordinate::Twist) {
        let speed = motion1.angular.distance(motion2.angular);
        if limit.excess(at.twists[joint as usize]) + reach * speed > limit.passed() {
            return true;
        }
    }
    limit(DriveCoordinate::Slide).is_some_and(|limit| {
        let (pose1, pose2) = (pose_of(at.poses, model.body1), pose_of(at.poses, model.body2));
        let arms = [pose1.rotation * model.frames.point1, pose2.rotation * model.frames.point2];
        let gap = pose1.translation + arms[0] - pose2.translation - arms[1];
        let slide = gap.dot(pose2.rotation * (model.frames.rotation2 * glam::DVec3::X));
        let speed = motion1.linear.distance(motion2.linear)
            + motion1.angular.length() * arms[0].length()
            + motion2.angular.length() * (arms[1].length() + gap.length());
        limit.excess(slide) + reach * speed > limit.passed()
    })
}
