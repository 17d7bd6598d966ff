//! How far springs between points are from what a solve took them for.
//!
//! A solve is linear: it takes the length of a spring at the end of the step for `l + h a·(u − u_d)` (the whole gap, without a rest
//! length), with its direction `a`, the relative velocity `u` of its ends, and what the measured pose contains of it, `u_d`. Bodies that turn by `hω` bend away from that by `½ (hω)²` of
//! their size, and a stiff spring makes energy of it. The error `δ` counts as its energy does next to that of motion,
//! ```text
//! √(h²k/m) δ/size,    m: reduced mass of the two bodies
//! ```
//! Cost: one pass over the springs, before and after the end of the step is moved.

use glam::DVec3;
use sinew_math::{Motion, shift_motion};

use crate::State;
use crate::forces::PointSpring;
use crate::model::{motion_of, pose_of};
use crate::steppers::StepPoint;

impl StepPoint<'_> {
    /// Remembers what the last solve, with the twists `motions` (per pair), takes springs and slides for at the end of the step.
    pub(crate) fn predict_ends(&mut self, state: &State, motions: &[Motion]) {
        self.predict_springs(state, motions);
        self.predict_slides(state, motions);
    }

    /// Largest error of a spring or slide at the end just found.
    pub(crate) fn expected_error(&self) -> f64 {
        self.spring_error().max(self.slide_error())
    }

    /// Remembers the gap that the last solve, with the twists `motions` (per pair), gives each spring at the end of the step.
    fn predict_springs(&mut self, state: &State, motions: &[Motion]) {
        let model = self.task.model;
        if model.derived.spring_rates.is_empty() {
            return;
        }
        let mut gaps = std::mem::take(&mut self.points.expected.gaps);
        gaps.clear();
        let problem = self.problem(state);
        let (points, given) = (problem.point.by_island(), problem.point.motions);
        let found = |body: u32| model.found_motion(motions, given, body);
        gaps.extend(model.springs.iter().map(|spring| {
            let bodies = [spring.body1, spring.body2];
            let at = points.at(&bodies);
            let [pose1, pose2] = bodies.map(|body| pose_of(at.poses, body));
            let arm = pose1.rotation * spring.point1;
            // Both ends are seen at the first point, as in the solve.
            let arms = [arm, pose1.translation + arm - pose2.translation];
            let moved = [0, 1].map(|end: usize| {
                let carried = at.displaced.map_or(Motion::ZERO, |d| motion_of(d, bodies[end]));
                shift_motion(found(bodies[end]) - carried, arms[end]).linear
            });
            let gap = at.spring_gap(spring);
            let change = (moved[0] - moved[1]) * at.step.h;
            if spring.rest_length > 0.0 {
                gap + change.project_onto_normalized(gap.normalize_or_zero())
            } else {
                gap + change
            }
        }));
        self.points.expected.gaps = gaps;
    }

    /// Largest error of a spring at the end just found.
    fn spring_error(&self) -> f64 {
        let model = self.task.model;
        let of_spring = |((spring, expected), (rate, size)): ((&PointSpring, &DVec3), &(f64, f64))| {
            let gap = spring.gap([spring.body1, spring.body2].map(|body| pose_of(&self.points.ends, body)));
            let error = match spring.rest_length > 0.0 {
                true => (gap.length() - expected.length()).abs(),
                false => gap.distance(*expected),
            };
            error * (rate.sqrt() * self.scheme.longest() / size)
        };
        let springs = model.springs.iter().zip(&self.points.expected.gaps).zip(&model.derived.spring_rates);
        springs.map(of_spring).fold(0.0, f64::max)
    }

    /// Whether springs keep their lengths within a tolerance while their ends pass each other at `u_⊥`, whether bodies turn or not: `½ h² u_⊥²/l`.
    pub(crate) fn springs_bend_little(&self, state: &State, motions: &[Motion], tolerance: f64) -> bool {
        let (model, h) = (self.task.model, self.scheme.longest());
        let velocity = |body: u32, point: DVec3| {
            let motion = model.found_motion(motions, &state.motions, body);
            shift_motion(motion, pose_of(&state.poses, body).rotation * point).linear
        };
        model.springs.iter().zip(&model.derived.spring_rates).all(|(spring, (rate, size))| {
            let gap = spring.gap([spring.body1, spring.body2].map(|body| pose_of(&state.poses, body)));
            let passing = velocity(spring.body1, spring.point1) - velocity(spring.body2, spring.point2);
            let across = passing.cross(gap).length_squared();
            let bend = 0.5 * h * h * across / (gap.length_squared() * gap.length()).max(f64::MIN_POSITIVE);
            spring.rest_length == 0.0 || bend * rate.sqrt() * h <= tolerance * size
        })
    }

    /// How much more than an error of a joint that of the stiffest spring counts, at least 1.
    pub(crate) fn stiffness(&self) -> f64 {
        let rates =
            self.task.model.derived.spring_rates.iter().map(|(rate, _)| rate.sqrt() * self.scheme.longest());
        rates.fold(1.0, f64::max)
    }
}
