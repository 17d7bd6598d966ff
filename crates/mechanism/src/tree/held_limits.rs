//! Ends of joint coordinates as an assembly meets them: a displacement that would take a joint past an end takes it to that end.
//!
//! A displacement is first found as if there were no ends. TwoJoints that it takes past theirs are held there, those that want to come
//! back are let go, and it is found again, a few times if need be: an active set, made anew for every displacement. A joint is held by
//! a force along its coordinate `x`, inside the tree and without a row of its own:
//! ```text
//! q = K (x_end − x),  κ = K        K = 10⁶ m R² for turns, 10⁶ m for slides; m: mass of everything, R: its reach
//! ```
//! which moves it by `Δ = x_end − x` but for a millionth of what the rest would have it do; that rest, `x_end − x − Δ`, has the sign of
//! the force, and tells whether the end pushes or pulls. Twist and slide have two ends, the tilt of a ball joint one. rad, m. Cost:
//! a pass over the joints that have ends.

use glam::DVec3;
use sinew_math::{DriveCoordinate, Motion, Pose, ops};

use crate::forces::scalar::{Limit, ScalarForce};
use crate::measure::joint::relative_state;
use crate::model::ids::JointId;
use crate::model::mechanism::Model;
use crate::model::state::State;

/// How much firmer ends are than anything that moves.
const HARD: f64 = 1e6;

/// Coordinates of a joint that can have ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitedCoordinate {
    Twist,
    Slide,
    Tilt,
}

/// Ends at which joints are held.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldLimits {
    /// Per joint and coordinate; not a number where it is free.
    ends: Vec<[f64; 3]>,
    /// Of turns and of slides.
    hardness: [f64; 2],
}

impl HeldLimits {
    /// Holds nothing.
    pub(crate) fn clear(&mut self, model: &Model, poses: &[Pose]) {
        self.ends.clear();
        self.ends.resize(model.joints.len(), [f64::NAN; 3]);
        let bodies = || poses.iter().zip(&model.bodies);
        let mass: f64 = bodies().map(|(_, body)| body.mass).sum();
        let middle = bodies().map(|(pose, body)| pose.translation * body.mass).sum::<DVec3>() / mass;
        let reach = poses.iter().map(|pose| pose.translation.distance(middle)).fold(1e-3, f64::max);
        self.hardness = [HARD * mass * reach * reach, HARD * mass];
    }

    /// Impulse `q` and its loss `κ` per displacement that hold a coordinate.
    pub(crate) fn hold(&self, joint: u32, coordinate: LimitedCoordinate, value: f64) -> (f64, f64) {
        let end = self.ends[joint as usize][coordinate as usize];
        let hardness = self.hardness[usize::from(coordinate == LimitedCoordinate::Slide)];
        if end.is_nan() { (0.0, 0.0) } else { (hardness * (end - value), hardness) }
    }

    /// Holds joints that a displacement of the bodies takes past their ends, and lets go of those that it would have to pull there;
    /// false if nothing changes.
    pub(crate) fn settle(&mut self, model: &Model, state: &State, moved: impl Fn(u32) -> Motion) -> bool {
        let mut is_new = false;
        for_each_bounded(model, state, moved, |joint, coordinate, value, rate, limit| {
            let end = &mut self.ends[joint][coordinate as usize];
            let next = value + rate;
            if end.is_nan() && beyond(next, limit) > 0.0 {
                (*end, is_new) = (next.clamp(limit.min, limit.max), true);
            } else if !end.is_nan() {
                let pull = if *end >= limit.max { *end - next } else { next - *end };
                // Both ends in one place hold either way.
                if pull > 0.0 && limit.min < limit.max {
                    (*end, is_new) = (f64::NAN, true);
                }
            }
        });
        is_new
    }
}

/// How far joints of the tree, and all joints, are past their ends, at most (rad, m).
pub(crate) fn largest_excess(model: &Model, state: &State) -> [f64; 2] {
    let mut largest = [0.0; 2];
    for_each_bounded(
        model,
        state,
        |_| Motion::ZERO,
        |joint, _, value, _, limit| {
            let excess = beyond(value, limit);
            let is_tree = model.is_tree_joint(JointId::from_index(joint));
            largest[0] = if is_tree { f64::max(largest[0], excess) } else { largest[0] };
            largest[1] = f64::max(largest[1], excess);
        },
    );
    largest
}

fn beyond(value: f64, limit: &Limit) -> f64 {
    (value - limit.max).max(limit.min - value)
}

/// Visits coordinates that have ends: joint, coordinate, its value, and its change by a displacement of the bodies.
fn for_each_bounded(
    model: &Model,
    state: &State,
    moved: impl Fn(u32) -> Motion,
    mut visit: impl FnMut(usize, LimitedCoordinate, f64, f64, &Limit),
) {
    for (index, joint) in model.joints.iter().enumerate() {
        let forces = &model.forces[joint.forces as usize];
        let ends = |force: &Option<ScalarForce>| force.as_ref().and_then(|force| force.limit);
        // What is driven goes where it is told to.
        let (twist, slide) = (
            ends(&forces.twist).filter(|_| !joint.drives(DriveCoordinate::Twist)),
            ends(&forces.slide).filter(|_| !joint.drives(DriveCoordinate::Slide)),
        );
        let tilt = forces.rotation.as_ref().and_then(|rotation| rotation.cone);
        if twist.is_none() && slide.is_none() && tilt.is_none() {
            continue;
        }
        let relative = relative_state(model, state, index, &moved);
        if let Some(limit) = twist {
            visit(index, LimitedCoordinate::Twist, relative.twist, relative.twist_rate(), &limit);
        }
        if let Some(limit) = slide {
            visit(index, LimitedCoordinate::Slide, relative.slide(), relative.motion.linear.x, &limit);
        }
        if let Some(cone) = tilt {
            let lean = DVec3::X.cross(relative.axis());
            let angle = ops::atan2(lean.length(), relative.axis().x);
            let rate = lean.normalize_or_zero().dot(relative.motion.angular);
            visit(index, LimitedCoordinate::Tilt, angle, rate, &Limit { min: f64::NEG_INFINITY, ..cone });
        }
    }
}
