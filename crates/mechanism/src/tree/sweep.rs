//! The two sweeps over the pair table: leaves → root eliminates, root → leaves substitutes.
//!
//! The table is in depth-first post-order, so the loads that wait for their parent form a stack: the first
//! child pushes, later children add, the parent pops. Independent subtrees run in parallel by the plan's
//! schedule; every load receives its children in the same order whatever the number of threads, so the bits
//! are the same.

use glam::{DMat3, DVec3};
use sinew_math::{Motion, quat_to_mat3};
use sinew_solvers::{Load, PairFactor, PairFactorView, PairJoint};
use sinew_topology::NONE;
#[cfg(feature = "parallel")]
use sinew_topology::Task;

use crate::model::records::{PairModel, PairPath, WORLD};
use crate::tree::body_terms::{add_extra, add_geometric, add_own};
use crate::tree::fused::{JointPlacement, ball, hinge};
use crate::tree::joint::{Linearized, reduce};
use crate::tree::point::Iterate;
use crate::tree::report::{Found, TreeReport};
use crate::tree::scratch::{SweepStack, TreeScratch};
use crate::tree::stack::{hand_up, hand_up_pull, pull_on};
use crate::tree::two_at_once::balls::TwoBalls;
use crate::tree::two_at_once::hinges::TwoHinges;
use crate::tree::two_at_once::joints::TwoJoints;
use crate::tree::two_at_once::pairs;
use crate::tree::two_at_once::pairs::TwoPairs;
use crate::watch::Stage;

/// Solves the tree at a linearization point: new twists and twist angles in `tree`, in elimination order.
pub(crate) fn solve(at: &Iterate<'_>, tree: &mut TreeScratch, done: &mut dyn FnMut(Stage)) -> TreeReport {
    let report = eliminate(at, tree);
    done(Stage::Eliminate);
    substitute(at, tree);
    done(Stage::Substitute);
    report
}

/// Leaves → root.
fn eliminate(at: &Iterate<'_>, tree: &mut TreeScratch) -> TreeReport {
    let TreeScratch { factor, twists, schedule, lanes, .. } = tree;
    #[cfg(feature = "parallel")]
    if schedule.tasks.len() > 1 && rayon::current_num_threads() > 1 {
        let (trunk_lane, task_lanes) = lanes.split_last_mut().expect("one lane belongs to the trunk");
        eliminate_tasks(
            at,
            &schedule.tasks,
            SweepSlice { factor: factor.view(), twists, first: 0 },
            task_lanes,
        );
        trunk_lane.report = TreeReport::default();
        trunk_lane.stack.clear();
        trunk_lane.pulls.clear();
        let mut part = SweepSlice { factor: factor.view(), twists, first: 0 };
        let mut last = PlacedBody::NOWHERE;
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
    lane.report = TreeReport::default();
    lane.stack.clear();
    lane.pulls.clear();
    let n = twists.len();
    eliminate_range(at, 0..n, &mut SweepSlice { factor: factor.view(), twists, first: 0 }, lane);
    lane.report
}

/// The part of the scratch that one thread writes.
struct SweepSlice<'a> {
    factor: PairFactorView<'a>,
    twists: &'a mut [f64],
    first: usize,
}

impl<'a> SweepSlice<'a> {
    #[cfg(feature = "parallel")]
    fn split_at(self, pair: usize) -> (Self, Self) {
        let (factor0, factor1) = self.factor.split_at(pair);
        let (twists0, twists1) = self.twists.split_at_mut(pair - self.first);
        let left = SweepSlice { factor: factor0, twists: twists0, first: self.first };
        (left, SweepSlice { factor: factor1, twists: twists1, first: pair })
    }
}

#[cfg(feature = "parallel")]
fn eliminate_tasks(at: &Iterate<'_>, tasks: &[Task], mut part: SweepSlice<'_>, lanes: &mut [SweepStack]) {
    match tasks {
        [] => {}
        [task] => {
            let lane = &mut lanes[0];
            lane.report = TreeReport::default();
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

fn eliminate_range(
    at: &Iterate<'_>,
    range: std::ops::Range<usize>,
    part: &mut SweepSlice<'_>,
    lane: &mut SweepStack,
) {
    let mut last = PlacedBody::NOWHERE;
    let by_two = pairs::applies(at);
    let mut k = range.start;
    while k < range.end {
        let path = match &at.model.pairs[k..range.end] {
            [a, b, ..] if by_two => pairs::path(a, b),
            _ => None,
        };
        match path {
            Some(PairPath::Hinge) => eliminate_two::<TwoHinges>(at, k, part, lane),
            Some(PairPath::Ball) => eliminate_two::<TwoBalls>(at, k, part, lane),
            _ => eliminate_pair(at, k, part, lane, &mut last),
        }
        k += if path.is_some() { 2 } else { 1 };
    }
}

/// [`eliminate_pair`] for two neighbours in the table.
#[inline]
fn eliminate_two<J: TwoJoints>(at: &Iterate<'_>, k: usize, part: &mut SweepSlice<'_>, lane: &mut SweepStack) {
    let pairs = [&at.model.pairs[k], &at.model.pairs[k + 1]];
    let pulls = pairs.map(|pair| {
        let pull = pull_on(at, pair, &mut lane.pulls);
        hand_up_pull(pair, &mut lane.pulls);
        pull
    });
    let twins = TwoPairs::<J>::new(at, pairs, pulls);
    eliminate_twin::<J, 0>(at, k, pairs[0], &twins, part, lane);
    eliminate_twin::<J, 1>(at, k + 1, pairs[1], &twins, part, lane);
}

#[inline(always)]
fn eliminate_twin<J: TwoJoints, const I: usize>(
    at: &Iterate<'_>,
    k: usize,
    pair: &PairModel,
    twins: &TwoPairs<J>,
    part: &mut SweepSlice<'_>,
    lane: &mut SweepStack,
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
struct PlacedBody {
    body: u32,
    rotation: DMat3,
    position: DVec3,
}

impl PlacedBody {
    const NOWHERE: Self = Self { body: WORLD, rotation: DMat3::IDENTITY, position: DVec3::ZERO };
}

#[inline]
fn eliminate_pair(
    at: &Iterate<'_>,
    k: usize,
    part: &mut SweepSlice<'_>,
    lane: &mut SweepStack,
    last: &mut PlacedBody,
) {
    let pair = &at.model.pairs[k];
    let pose = &at.poses[pair.body as usize];
    let rotation = if last.body == pair.body { last.rotation } else { quat_to_mat3(pose.rotation) };
    if !pair.has_children {
        lane.stack.push(Load::ZERO);
    }
    let load = lane.stack.last_mut().expect("children leave their load on the stack");
    add_own(at, k, pair, &rotation, load);
    place(at, pair.parent_body, last);
    let ends = JointPlacement {
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
    let path = if at.measured.is_some() && pair.joint != WORLD { PairPath::General } else { pair.path };
    let regularized = match path {
        PairPath::Hinge => part.factor.eliminate(k, load, &hinge(at, pair, &ends, &mut found)),
        PairPath::Ball => part.factor.eliminate_point(k, load, &ball(at, pair, &ends, &mut found)),
        PairPath::FreeRoot => part.factor.eliminate_root(k, load, &FREE),
        PairPath::General => eliminate_general(at, k, pair, load, &mut part.factor, &mut found),
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
fn place(at: &Iterate<'_>, body: u32, last: &mut PlacedBody) {
    if body == WORLD {
        *last = PlacedBody::NOWHERE;
    } else {
        let pose = &at.poses[body as usize];
        *last = PlacedBody { body, rotation: quat_to_mat3(pose.rotation), position: pose.translation };
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
