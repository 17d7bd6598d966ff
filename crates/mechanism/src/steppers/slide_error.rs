//! How far slides with forces are from what a solve took them for.
//!
//! A solve of first order moves them along straight lines. On a body that turns by `hω` a slide at `r` ends `½ (hω)² r` further out. Its forces foresee
//! that (docs/maths/stiff-joints.md), but where directions are those of the start the geometric stiffness of what it pulls at damps the turn, as long
//! as nothing tells that a second solve is needed: a joint that slides is open nowhere. So the error of a slide counts as that of a joint. m,
//! relative to the size of its bodies. Cost: one pass over the joints that slide, before and after the end of the step is moved.

use sinew_math::Motion;

use crate::steppers::StepPoint;
use crate::tree::JointAt;
use crate::{Model, State};

/// Joints that slide against a force.
fn forced(model: &Model) -> impl Iterator<Item = u32> {
    let has_force = |&index: &u32| {
        let forces = model.joints[index as usize].forces as usize;
        model.forces[forces].slide.is_some()
    };
    model.derived.sliding_joints.iter().copied().filter(has_force)
}

impl StepPoint<'_> {
    /// Remembers where the last solve, with the twists `motions` (per pair), takes each slide to be at the end of the step.
    pub(super) fn predict_slides(&mut self, state: &State, motions: &[Motion]) {
        let model = self.task.model;
        let mut slides = std::mem::take(&mut self.points.expected.slides);
        slides.clear();
        if self.scheme.bends {
            let problem = self.problem(state);
            let found = |body: u32| model.found_motion(motions, problem.point.motions, body);
            slides
                .extend(forced(model).map(|index| JointAt::new(&problem.point, index).straight_slide(found)));
        }
        self.points.expected.slides = slides;
    }

    /// Largest error of a slide at the end just found.
    pub(super) fn slide_error(&self) -> f64 {
        let model = self.task.model;
        let error = |(index, expected): (u32, &f64)| {
            let joint = &model.joints[index as usize];
            let slide = joint.relative(&self.points.ends, |_| Motion::ZERO, 0.0).slide();
            (slide - expected).abs() / model.derived.joint_sizes[index as usize]
        };
        forced(model).zip(&self.points.expected.slides).map(error).fold(0.0, f64::max)
    }
}
