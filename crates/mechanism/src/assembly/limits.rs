//! Joint limits during assembly: a displacement that would take a joint past a limit takes it to that limit.
//!
//! A displacement is first found as if there were no limits. Joints that it takes past theirs are held there (`held`), joints
//! that would have to be pulled back to theirs are let go, and the displacement is found again, a few times if need be. This is
//! an active-set method; the set is made anew for every displacement. Twist and slide have two limits, the tilt of a joint with a
//! cone limit has one. Units: rad, m. Cost: one pass over the joints that have limits.
//!
//! In steps limits are stiff springs, which give way; [`past_limit`] tells where they give way by more than is meant.

use glam::DVec3;
use sinew_math::{DriveCoordinate, Motion, Pose};

use crate::forces::{HeldLimits, Limit, LimitedCoordinate, ScalarForce, Tilt};
use crate::joints::RelativeState;
use crate::model::{JointId, JointModel, Model, State, motion_of};

/// How far a joint may be past a limit before that is told: an angle, rad; a slide, as a share of the size of its bodies; either, as a share of
/// its range.
const PAST_ANGLE: f64 = 0.05;
const PAST_SLIDE: f64 = 0.05;
const PAST_RANGE: f64 = 0.05;

/// Cosine of the lean of a main axis beyond which the forces on its twist fade out.
const REVERSED: f64 = -0.97;

/// Smallest radius of a mechanism, m: keeps the stiffness of a single body above zero.
const SMALLEST_RADIUS: f64 = 1e-3;

/// Holds nothing yet; the stiffness fits the mass and size of the mechanism.
pub(crate) fn release_all(limits: &mut HeldLimits, model: &Model, poses: &[Pose]) {
    let bodies = || poses.iter().zip(&model.bodies);
    let mass: f64 = bodies().map(|(_, body)| body.mass).sum();
    let middle = bodies().map(|(pose, body)| pose.translation * body.mass).sum::<DVec3>() / mass;
    let radius = poses.iter().map(|pose| pose.translation.distance(middle)).fold(SMALLEST_RADIUS, f64::max);
    limits.clear(model.joints.len(), mass, radius);
}

/// Holds joints that a displacement of the bodies takes past their limits, and lets go of those that it would have to pull there;
/// false if nothing changes.
pub(crate) fn update(
    limits: &mut HeldLimits,
    model: &Model,
    state: &State,
    moved: impl Fn(u32) -> Motion,
) -> bool {
    let mut is_new = false;
    for_each_limited(model, state, moved, |at| {
        let Limited { joint, coordinate, value, rate, limit } = at;
        let held = limits.value_mut(joint, coordinate);
        let next = value + rate;
        if held.is_nan() && limit.excess(next) > 0.0 {
            (*held, is_new) = (next.clamp(limit.min, limit.max), true);
        } else if !held.is_nan() {
            let pull = if *held >= limit.max { *held - next } else { next - *held };
            // Two limits in one place hold either way.
            if pull > 0.0 && limit.min < limit.max {
                (*held, is_new) = (f64::NAN, true);
            }
        }
    });
    is_new
}

/// How far joints of the tree, and all joints, are past their limits, at most (rad, m).
pub(crate) fn largest_excess(model: &Model, state: &State) -> [f64; 2] {
    let mut largest = [0.0; 2];
    for_each_limited(
        model,
        state,
        |_| Motion::ZERO,
        |at| {
            let excess = at.limit.excess(at.value);
            let is_tree = model.is_tree_joint(JointId::from_index(at.joint));
            largest[0] = if is_tree { f64::max(largest[0], excess) } else { largest[0] };
            largest[1] = f64::max(largest[1], excess);
        },
    );
    largest
}

/// The joint that is furthest past a limit, beside what limits give: more than 0.05 rad or a twentieth of the size of its bodies, more than a
/// twentieth of its range, and all that beyond the ramp of the limit. Joints that are broken have no limits. The state is the end of a step of `dt` seconds: joints
/// that turned too little in it to get past their limits are not measured.
pub fn past_limit(model: &Model, state: &State, dt: f64) -> Option<JointId> {
    let limits = |joint: u32| limits_of(model, &model.joints[joint as usize]);
    let has_limits = |joint: &&u32| limits(**joint).iter().any(Option::is_some);
    let mut worst = (1.0, None);
    let may_be_past = |&&index: &&u32| !stays_within(model, state, dt, (index, limits(index)));
    for &index in model.derived.elastic_joints.iter().filter(has_limits).filter(may_be_past) {
        let (joint, id) = (&model.joints[index as usize], JointId::from_index(index as usize));
        let relative = joint.relative_at_rest(&state.poses, state.twists[index as usize]);
        let leans = model.forces[joint.forces as usize].leans && relative.axis().x < REVERSED;
        for (limit, coordinate) in limits(index).into_iter().zip(COORDINATES) {
            let Some(limit) = limit else { continue };
            let is_undefined = leans && matches!(coordinate, LimitedCoordinate::Twist);
            let excess = limit.excess(value_and_rate(&relative, coordinate).0) - limit.ramp;
            if excess <= 0.0 || is_undefined || state.is_broken(id) {
                continue;
            }
            let past = excess / largest_past(model, index, &limit, coordinate);
            if past > worst.0 {
                worst = (past, Some(id));
            }
        }
    }
    worst.1
}

/// Whether a joint that turns about a fixed axis was too far from its limits to get past them in a step of `dt` seconds.
fn stays_within(model: &Model, state: &State, dt: f64, (index, limits): (u32, [Option<Limit>; 3])) -> bool {
    let joint = &model.joints[index as usize];
    let [Some(limit), None, None] = limits else { return false };
    let omega = |body: u32| motion_of(&state.motions, body).angular;
    // The angle is one within the step: it may differ from that at its end by as much again.
    let reach = 2.0 * dt * omega(joint.body1).distance(omega(joint.body2));
    let leans = model.forces[joint.forces as usize].leans;
    !leans && limit.excess(state.twists[index as usize]) + reach <= limit.ramp
}

/// How far a coordinate may be past a limit, beside its ramp, rad or m.
fn largest_past(model: &Model, joint: u32, limit: &Limit, coordinate: LimitedCoordinate) -> f64 {
    let (least, range) = match coordinate {
        LimitedCoordinate::Twist => (PAST_ANGLE, limit.max - limit.min),
        LimitedCoordinate::Slide => (PAST_SLIDE * model.joint_size(joint), limit.max - limit.min),
        LimitedCoordinate::Tilt => (PAST_ANGLE, limit.max),
    };
    least.max(PAST_RANGE * range)
}

/// A coordinate that has limits, and its change by a displacement of the bodies.
struct Limited {
    joint: usize,
    coordinate: LimitedCoordinate,
    /// rad or m.
    value: f64,
    rate: f64,
    limit: Limit,
}

/// Visits every coordinate that has limits.
fn for_each_limited(
    model: &Model,
    state: &State,
    moved: impl Fn(u32) -> Motion,
    mut visit: impl FnMut(Limited),
) {
    for (index, joint) in model.joints.iter().enumerate() {
        let limits = limits_of(model, joint);
        if limits.iter().all(Option::is_none) {
            continue;
        }
        let relative = joint.relative(&state.poses, &moved, state.twists[index]);
        for (limit, coordinate) in limits.into_iter().zip(COORDINATES) {
            if let Some(limit) = limit {
                let (value, rate) = value_and_rate(&relative, coordinate);
                visit(Limited { joint: index, coordinate, value, rate, limit });
            }
        }
    }
}

/// In the order of [`limits_of`].
const COORDINATES: [LimitedCoordinate; 3] =
    [LimitedCoordinate::Twist, LimitedCoordinate::Slide, LimitedCoordinate::Tilt];

/// Limits of twist, slide and tilt. A driven coordinate goes where its drive says and has none.
fn limits_of(model: &Model, joint: &JointModel) -> [Option<Limit>; 3] {
    let forces = &model.forces[joint.forces as usize];
    let free = |coordinate: DriveCoordinate| {
        let limit = |force: &ScalarForce| force.limit;
        forces.along(coordinate).and_then(limit).filter(|_| !joint.drives(coordinate))
    };
    let cone = forces.rotation.as_ref().and_then(|rotation| rotation.cone);
    let tilt = cone.map(|cone| Limit { min: f64::NEG_INFINITY, ..cone });
    [free(DriveCoordinate::Twist), free(DriveCoordinate::Slide), tilt]
}

/// A coordinate, and its change by the displacement that the relative motion stands for.
fn value_and_rate(relative: &RelativeState, coordinate: LimitedCoordinate) -> (f64, f64) {
    match coordinate {
        LimitedCoordinate::Twist => (relative.twist, relative.twist_rate()),
        LimitedCoordinate::Slide => (relative.slide(), relative.motion.linear.x),
        LimitedCoordinate::Tilt => {
            let tilt = Tilt::of_axis(relative.axis());
            (tilt.angle, tilt.rate(relative.motion.angular))
        }
    }
}
