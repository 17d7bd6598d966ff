//! The two sweeps over the pair table: leaves → root eliminates, root → leaves substitutes.
//!
//! The table is in depth-first post-order, so the loads that wait for their parent form a stack: the first
//! child pushes, later children add, the parent pops. Independent subtrees run in parallel by the plan's
//! schedule; every load receives its children in the same order whatever the number of threads, so the bits
//! are the same.

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, quat_to_mat3};
use sinew_solvers::{Load, PairFactor, PairFactorView, PairJoint};
use sinew_topology::NONE;
#[cfg(feature = "parallel")]
use sinew_topology::Task;

use crate::fused::{Ends, Found, ball, hinge};
use crate::geometric;
use crate::iterate::{Iterate, Linearized, reduce};
use crate::model::{Anchor, PairModel, Path, WORLD};
use crate::twin::{self, Balls, Hinges, Joints, Twins};
use crate::workspace::{Lane, TreeScratch};
use crate::{Gyroscopic, Stage};

/// What the backward sweep saw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SweepReport {
    /// Squared largest anchor distance, m².
    pub(crate) gap_squared: f64,
    /// Squared largest rotation error, rad².
    pub(crate) lean_squared: f64,
    pub(crate) regularized: u32,
}

impl SweepReport {
    fn see(&mut self, found: &Found, regularized: u32) {
        self.gap_squared = self.gap_squared.max(found.gap_squared);
        self.lean_squared = self.lean_squared.max(found.lean_squared);
        self.regularized += regularized;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.gap_squared = self.gap_squared.max(other.gap_squared);
        self.lean_squared = self.lean_squared.max(other.lean_squared);
        self.regularized += other.regularized;
    }
}

/// Solves the tree at a linearization point: new twists and twist angles in `tree`, in elimination order.
pub(crate) fn solve(at: &Iterate<'_>, tree: &mut TreeScratch, done: &mut dyn FnMut(Stage)) -> SweepReport {
    let report = eliminate(at, tree);
    done(Stage::Eliminate);
    substitute(at, tree);
    done(Stage::Substitute);
    report
}

/// Leaves → root.
fn eliminate(at: &Iterate<'_>, tree: &mut TreeScratch) -> SweepReport {
    let TreeScratch { factor, twists, schedule, lanes, .. } = tree;
    #[cfg(feature = "parallel")]
    if schedule.tasks.len() > 1 && rayon::current_num_threads() > 1 {
        let (trunk_lane, task_lanes) = lanes.split_last_mut().expect("one lane belongs to the trunk");
        eliminate_tasks(at, &schedule.tasks, Part { factor: factor.view(), twists, first: 0 }, task_lanes);
        trunk_lane.report = SweepReport::default();
        trunk_lane.stack.clear();
        trunk_lane.pulls.clear();
        let mut part = Part { factor: factor.view(), twists, first: 0 };
        let mut last = Placed::NOWHERE;
        let mut joined =
            schedule.tasks.iter().zip(task_lanes.iter_mut()).filter(|(t, _)| t.join.is_some()).peekable();
        for &pair in &schedule.trunk {
            if let Some((_, lane)) = joined.next_if(|(t, _)| t.join == Some(pair)) {
                // All children of this pair were in the task; hand over what it gathered.
                trunk_lane.stack.extend(lane.stack.pop());
                trunk_lane.pulls.extend(lane.pulls.pop());
            }
            eliminate_pair(at, pair as usize, &mut part, trunk_lane, &mut last);
        }
        let mut report = trunk_lane.report;
        for lane in task_lanes.iter() {
            report.merge(&lane.report);
        }
        return report;
    }
    let _ = schedule;
    let lane = lanes.last_mut().expect("one lane belongs to the trunk");
    lane.report = SweepReport::default();
    lane.stack.clear();
    lane.pulls.clear();
    let n = twists.len();
    eliminate_range(at, 0..n, &mut Part { factor: factor.view(), twists, first: 0 }, lane);
    lane.report
}

/// The part of the scratch that one thread writes.
struct Part<'a> {
    factor: PairFactorView<'a>,
    twists: &'a mut [f64],
    first: usize,
}

impl<'a> Part<'a> {
    #[cfg(feature = "parallel")]
    fn split_at(self, pair: usize) -> (Self, Self) {
        let (factor0, factor1) = self.factor.split_at(pair);
        let (twists0, twists1) = self.twists.split_at_mut(pair - self.first);
        let left = Part { factor: factor0, twists: twists0, first: self.first };
        (left, Part { factor: factor1, twists: twists1, first: pair })
    }
}

#[cfg(feature = "parallel")]
fn eliminate_tasks(at: &Iterate<'_>, tasks: &[Task], mut part: Part<'_>, lanes: &mut [Lane]) {
    match tasks {
        [] => {}
        [task] => {
            let lane = &mut lanes[0];
            lane.report = SweepReport::default();
            lane.stack.clear();
            lane.pulls.clear();
            eliminate_range(at, task.pairs.start as usize..task.pairs.end as usize, &mut part, lane);
        }
        _ => {
            let middle = tasks.len() / 2;
            let (left, right) = part.split_at(tasks[middle].pairs.start as usize);
            let (lanes_left, lanes_right) = lanes.split_at_mut(middle);
            rayon::join(
                || eliminate_tasks(at, &tasks[..middle], left, lanes_left),
                || eliminate_tasks(at, &tasks[middle..], right, lanes_right),
            );
        }
    }
}

fn eliminate_range(at: &Iterate<'_>, range: std::ops::Range<usize>, part: &mut Part<'_>, lane: &mut Lane) {
    let mut last = Placed::NOWHERE;
    let by_two = twin::applies(at);
    let mut k = range.start;
    while k < range.end {
        let path = match &at.model.pairs[k..range.end] {
            [a, b, ..] if by_two => twin::path(a, b),
            _ => None,
        };
        match path {
            Some(Path::Hinge) => eliminate_two::<Hinges>(at, k, part, lane),
            Some(Path::Ball) => eliminate_two::<Balls>(at, k, part, lane),
            _ => eliminate_pair(at, k, part, lane, &mut last),
        }
        k += if path.is_some() { 2 } else { 1 };
    }
}

/// [`eliminate_pair`] for two neighbours in the table.
#[inline]
fn eliminate_two<J: Joints>(at: &Iterate<'_>, k: usize, part: &mut Part<'_>, lane: &mut Lane) {
    let pairs = [&at.model.pairs[k], &at.model.pairs[k + 1]];
    let pulls = pairs.map(|pair| {
        let pull = pull_on(at, pair, &mut lane.pulls);
        hand_up_pull(pair, &mut lane.pulls);
        pull
    });
    let twins = Twins::<J>::new(at, pairs, pulls);
    eliminate_twin::<J, 0>(at, k, pairs[0], &twins, part, lane);
    eliminate_twin::<J, 1>(at, k + 1, pairs[1], &twins, part, lane);
}

#[inline(always)]
fn eliminate_twin<J: Joints, const I: usize>(
    at: &Iterate<'_>,
    k: usize,
    pair: &PairModel,
    twins: &Twins<J>,
    part: &mut Part<'_>,
    lane: &mut Lane,
) {
    if !pair.has_children {
        lane.stack.push(Load::ZERO);
    }
    let load = lane.stack.last_mut().expect("children leave their load on the stack");
    twins.add_own::<I>(load);
    add_extra(at, k, load);
    if let Some(stiffness) = twins.own_stiffness::<I>() {
        load.mass.angular += stiffness;
    }
    let regularized = twins.eliminate::<I>(&mut part.factor, k, load);
    if let (Some(stiffness), true) = (twins.parent_stiffness::<I>(), pair.parent != NONE) {
        load.mass.angular += stiffness;
    }
    let found = twins.found::<I>();
    part.twists[k - part.first] = found.twist;
    lane.report.see(&found, regularized);
    hand_up(pair, &mut lane.stack);
}

/// Rotation of the body placed last; in a chain it is the next pair's own.
struct Placed {
    body: u32,
    rotation: DMat3,
    position: DVec3,
}

impl Placed {
    const NOWHERE: Self = Self { body: WORLD, rotation: DMat3::IDENTITY, position: DVec3::ZERO };
}

#[inline]
fn eliminate_pair(at: &Iterate<'_>, k: usize, part: &mut Part<'_>, lane: &mut Lane, last: &mut Placed) {
    let pair = &at.model.pairs[k];
    let pose = &at.poses[pair.body as usize];
    let rotation = if last.body == pair.body { last.rotation } else { quat_to_mat3(pose.rotation) };
    if !pair.has_children {
        lane.stack.push(Load::ZERO);
    }
    let load = lane.stack.last_mut().expect("children leave their load on the stack");
    add_own(at, k, pair, &rotation, load);
    place(at, pair.parent_body, last);
    let ends = Ends {
        rotation: &rotation,
        position: pose.translation,
        parent_rotation: &last.rotation,
        parent_position: last.position,
        arm: rotation * pair.point,
        parent_arm: last.rotation * pair.parent_point,
    };
    let mut parent_stiffness = None;
    if !at.pulls.is_empty() {
        let pull = pull_on(at, pair, &mut lane.pulls);
        let strength = pull.length();
        add_geometric(at, pair.body, load, (ends.arm, pair.own_end), (pull, strength));
        parent_stiffness = Some((pull, strength));
    }

    let mut found = Found::default();
    let path = if at.measured.is_some() && pair.joint != WORLD { Path::General } else { pair.path };
    let regularized = match path {
        Path::Hinge => part.factor.eliminate(k, load, &hinge(at, pair, &ends, &mut found)),
        Path::Ball => part.factor.eliminate_point(k, load, &ball(at, pair, &ends, &mut found)),
        Path::FreeRoot => part.factor.eliminate_root(k, load, &FREE),
        Path::General => eliminate_general(at, k, pair, load, &mut part.factor, &mut found),
    };
    if let (Some((pull, strength)), true) = (parent_stiffness, pair.parent != NONE) {
        // The load is the parent's now.
        add_geometric(at, pair.parent_body, load, (ends.parent_arm, pair.parent_end), (-pull, strength));
    }
    part.twists[k - part.first] = found.twist;
    lane.report.see(&found, regularized);
    hand_up(pair, &mut lane.stack);
    hand_up_pull(pair, &mut lane.pulls);
}

/// Makes `last` the place of a parent body.
#[inline]
fn place(at: &Iterate<'_>, body: u32, last: &mut Placed) {
    if body == WORLD {
        *last = Placed::NOWHERE;
    } else {
        let pose = &at.poses[body as usize];
        *last = Placed { body, rotation: quat_to_mat3(pose.rotation), position: pose.translation };
    }
}

/// The force that the joint of this pair transmits to its body: the balance of its whole subtree.
#[inline]
pub(crate) fn pull_on(at: &Iterate<'_>, pair: &PairModel, pulls: &mut Vec<DVec3>) -> DVec3 {
    let own = at.pulls[pair.body as usize];
    match pulls.last_mut() {
        Some(sum) if pair.has_children => {
            *sum += own;
            *sum
        }
        _ => {
            pulls.push(own);
            own
        }
    }
}

/// [`hand_up`] for the pulls.
#[inline]
pub(crate) fn hand_up_pull(pair: &PairModel, pulls: &mut Vec<DVec3>) {
    if !pair.first_child {
        let up = pulls.pop();
        if pair.parent != NONE
            && let (Some(up), Some(below)) = (up, pulls.last_mut())
        {
            *below += up;
        }
    }
}

/// Adds `h² K` of a joint force to a body's rotation, acting on what the pose does not contain yet.
#[inline]
pub(crate) fn add_geometric(
    at: &Iterate<'_>,
    body: u32,
    load: &mut Load,
    (arm, end): (DVec3, Anchor),
    (pull, strength): (DVec3, f64),
) {
    let spared = if at.displaced.is_some() { 0.0 } else { geometric::RESOLVED * end.inertia * at.per_square };
    if let Some(k) = geometric::stiffness(arm, end.reach, pull, strength, spared, at.square) {
        load.mass.angular += k;
        if let Some(displaced) = at.displaced {
            load.momentum.angular += k.mul_vec(displaced[body as usize].angular);
        }
    }
}

/// Leaves the load of an eliminated pair where its parent finds it.
#[inline]
pub(crate) fn hand_up(pair: &PairModel, stack: &mut Vec<Load>) {
    if !pair.first_child {
        // A root's load goes nowhere; a later child's joins that of its siblings below it on the stack.
        let up = stack.pop();
        if pair.parent != NONE
            && let (Some(up), Some(below)) = (up, stack.last_mut())
        {
            below.add(&up);
        }
    }
}

/// All six directions free, no force.
pub(crate) const FREE: PairJoint<6> = {
    PairJoint {
        shift: DVec3::ZERO,
        basis: [
            Motion { angular: DVec3::X, linear: DVec3::ZERO },
            Motion { angular: DVec3::Y, linear: DVec3::ZERO },
            Motion { angular: DVec3::Z, linear: DVec3::ZERO },
            Motion { angular: DVec3::ZERO, linear: DVec3::X },
            Motion { angular: DVec3::ZERO, linear: DVec3::Y },
            Motion { angular: DVec3::ZERO, linear: DVec3::Z },
        ],
        offset: Motion::ZERO,
        stiffness: [[0.0; 6]; 6],
        impulse: [0.0; 6],
    }
};

#[inline(never)]
fn eliminate_general(
    at: &Iterate<'_>,
    k: usize,
    pair: &PairModel,
    load: &mut Load,
    factor: &mut PairFactorView<'_>,
    found: &mut Found,
) -> u32 {
    let joint = at.general(pair);
    *found = Found {
        gap_squared: joint.position_error * joint.position_error,
        lean_squared: joint.rotation_error * joint.rotation_error,
        twist: joint.twist,
    };
    eliminate_linearized(factor, k, pair, load, &joint)
}

/// Reduces a joint in the general form to `free` directions and eliminates its pair.
pub(crate) fn eliminate_linearized(
    factor: &mut PairFactorView<'_>,
    k: usize,
    pair: &PairModel,
    load: &mut Load,
    joint: &Linearized,
) -> u32 {
    let is_root = pair.parent == NONE;
    fn sized<const F: usize>(
        factor: &mut PairFactorView<'_>,
        k: usize,
        is_root: bool,
        load: &mut Load,
        joint: &Linearized,
    ) -> u32 {
        let (reduced, held) = reduce::<F>(joint);
        held + if is_root {
            factor.eliminate_root(k, load, &reduced)
        } else {
            factor.eliminate(k, load, &reduced)
        }
    }
    match pair.free {
        0 => sized::<0>(factor, k, is_root, load, joint),
        1 => sized::<1>(factor, k, is_root, load, joint),
        2 => sized::<2>(factor, k, is_root, load, joint),
        3 => sized::<3>(factor, k, is_root, load, joint),
        4 => sized::<4>(factor, k, is_root, load, joint),
        5 => sized::<5>(factor, k, is_root, load, joint),
        _ => sized::<6>(factor, k, is_root, load, joint),
    }
}

/// The body's own mass, momentum, gravity, drag, and what the outside puts on it.
#[inline]
pub(crate) fn add_own(at: &Iterate<'_>, k: usize, pair: &PairModel, rotation: &DMat3, load: &mut Load) {
    let h = at.h;
    let inertia = pair.inertia.rotated_by(rotation);
    let base = &at.base[pair.body as usize];
    let omega = base.angular;
    let angular = match at.gyro {
        Gyroscopic::Auto
            if pair.spins_free && !at.is_second && !at.is_held(k) && !at.input.holds(at.model, pair.body) =>
        {
            inertia.mul_vec(omega)
        }
        Gyroscopic::Auto | Gyroscopic::Implicit if at.displaced.is_none() => {
            let r = rotation;
            let own = DVec3::new(r.x_axis.dot(omega), r.y_axis.dot(omega), r.z_axis.dot(omega));
            *rotation * (pair.inertia.implicit_step(own, h) * pair.inertia.moments)
        }
        Gyroscopic::Momentum if at.displaced.is_none() => inertia.mul_vec(omega),
        Gyroscopic::None => inertia.mul_vec(omega),
        _ => {
            // Torque at the linearization point, which the higher-order schemes have moved ahead.
            let ahead = at.motions[pair.body as usize].angular;
            inertia.mul_vec(omega) - ahead.cross(inertia.mul_vec(ahead)) * h
        }
    };
    let mass = pair.mass;
    load.mass.angular += inertia * (1.0 + h * pair.angular_damping);
    let linear = mass * (1.0 + h * pair.linear_damping);
    load.mass.linear.xx += linear;
    load.mass.linear.yy += linear;
    load.mass.linear.zz += linear;
    load.momentum += Force { angular, linear: (base.linear + at.gravity * h) * mass };
    add_extra(at, k, load);
}

/// What the outside puts on the body of a pair.
#[inline]
fn add_extra(at: &Iterate<'_>, k: usize, load: &mut Load) {
    let slot = at.extra_slots[k];
    if slot != NONE {
        load.add(&at.extras[slot as usize]);
    }
}

/// Root → leaves.
fn substitute(at: &Iterate<'_>, tree: &mut TreeScratch) {
    let TreeScratch { factor, motions, schedule, .. } = tree;
    #[cfg(feature = "parallel")]
    if schedule.tasks.len() > 1 && rayon::current_num_threads() > 1 {
        for &pair in schedule.trunk.iter().rev() {
            substitute_pair(at, factor, pair as usize, motions, 0);
        }
        substitute_tasks(at, factor, &schedule.tasks, motions, 0);
        return;
    }
    let _ = schedule;
    for k in (0..motions.len()).rev() {
        substitute_pair(at, factor, k, motions, 0);
    }
}

#[inline]
fn substitute_pair(at: &Iterate<'_>, factor: &PairFactor, k: usize, motions: &mut [Motion], first: usize) {
    let pair = &at.model.pairs[k];
    let parent = if pair.parent != NONE {
        motions[pair.parent as usize - first]
    } else {
        at.motion(at.motions, pair.parent_body)
    };
    motions[k - first] = factor.substitute(k, parent);
}

#[cfg(feature = "parallel")]
fn substitute_tasks(
    at: &Iterate<'_>,
    factor: &PairFactor,
    tasks: &[Task],
    motions: &mut [Motion],
    first: usize,
) {
    match tasks {
        [] => {}
        [task] => {
            for k in (task.pairs.start as usize..task.pairs.end as usize).rev() {
                substitute_pair(at, factor, k, motions, first);
            }
        }
        _ => {
            let middle = tasks.len() / 2;
            let start = tasks[middle].pairs.start as usize;
            let (left, right) = motions.split_at_mut(start - first);
            rayon::join(
                || substitute_tasks(at, factor, &tasks[..middle], left, first),
                || substitute_tasks(at, factor, &tasks[middle..], right, start),
            );
        }
    }
}
