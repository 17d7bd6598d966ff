//! The two sweeps over the pair table: elimination from leaves to root, substitution from root to leaves.
//!
//! The table is in depth-first post-order, so the loads that wait for their parent form a stack (`scratch`).
//! Independent subtrees run in parallel by the plan's schedule. Every load receives its children in the same order
//! whatever the number of threads, so the bits are the same.

use glam::{DMat3, DVec3};
use sinew_math::{Motion, Pose, quat_to_mat3};
use sinew_solvers::{Load, PairFactor, PairFactorView, PairJoint};
use sinew_topology::NONE;
#[cfg(feature = "parallel")]
use sinew_topology::Task;

use crate::Stage;
use crate::model::{PairModel, PairPath, WORLD, motion_of, pose_of};
use crate::tree::two_at_once::pairs;
use crate::tree::{
    Found, JointPlacement, LinearizedJoint, PairLoad, SweepStack, TreeReport, TreeScratch, TreeSystem,
    TwoBalls, TwoHinges, TwoJoints, TwoPairs, add_extra, add_geometric, add_own, ball, hand_up, hinge,
    transmitted_force, waiting_load,
};

/// Solves the tree at a linearization point: new twists and twist angles in `tree`, in elimination order.
pub(crate) fn solve(at: &TreeSystem<'_>, tree: &mut TreeScratch, done: &mut dyn FnMut(Stage)) -> TreeReport {
    let report = eliminate(at, tree);
    done(Stage::Eliminate);
    substitute(at, tree);
    done(Stage::Substitute);
    report
}

/// Leaves → root.
fn eliminate(at: &TreeSystem<'_>, tree: &mut TreeScratch) -> TreeReport {
    let TreeScratch { factor, twists, schedule, stacks, .. } = tree;
    #[cfg(feature = "parallel")]
    if schedule.tasks.len() > 1 && rayon::current_num_threads() > 1 {
        let (trunk_stack, task_stacks) = stacks.split_last_mut().expect("one stack belongs to the trunk");
        eliminate_tasks(
            at,
            &schedule.tasks,
            SweepSlice { factor: factor.view(), twists, first: 0 },
            task_stacks,
        );
        trunk_stack.clear();
        let mut part = SweepSlice { factor: factor.view(), twists, first: 0 };
        let mut last = PlacedBody::NOWHERE;
        let mut joined =
            schedule.tasks.iter().zip(task_stacks.iter_mut()).filter(|(t, _)| t.join.is_some()).peekable();
        for &pair in &schedule.trunk {
            if let Some((_, stack)) = joined.next_if(|(t, _)| t.join == Some(pair)) {
                // All children of this pair were in the task; hand over what it gathered.
                trunk_stack.loads.extend(stack.loads.pop());
                trunk_stack.joint_forces.extend(stack.joint_forces.pop());
            }
            let fallen = at.fallen_at(pair as usize);
            eliminate_pair(fallen.as_ref().unwrap_or(at), pair as usize, &mut part, trunk_stack, &mut last);
        }
        let mut report = trunk_stack.report;
        for stack in task_stacks.iter() {
            report.merge(&stack.report);
        }
        return report;
    }
    let _ = schedule;
    let stack = TreeScratch::trunk(stacks);
    stack.clear();
    let n = twists.len();
    eliminate_range(at, 0..n, &mut SweepSlice { factor: factor.view(), twists, first: 0 }, stack);
    stack.report
}

/// The part of the scratch that one thread writes.
struct SweepSlice<'a> {
    factor: PairFactorView<'a>,
    twists: &'a mut [f64],
    /// Number of its first pair.
    first: usize,
}

impl<'a> SweepSlice<'a> {
    /// Two parts, for two threads: before a pair and from it on.
    #[cfg(feature = "parallel")]
    fn split_at(self, pair: usize) -> (Self, Self) {
        let (factor0, factor1) = self.factor.split_at(pair);
        let (twists0, twists1) = self.twists.split_at_mut(pair - self.first);
        let left = SweepSlice { factor: factor0, twists: twists0, first: self.first };
        (left, SweepSlice { factor: factor1, twists: twists1, first: pair })
    }
}

/// Halves the tasks until each thread has one.
#[cfg(feature = "parallel")]
fn eliminate_tasks(at: &TreeSystem<'_>, tasks: &[Task], mut part: SweepSlice<'_>, stacks: &mut [SweepStack]) {
    match tasks {
        [] => {}
        [task] => {
            let stack = &mut stacks[0];
            stack.clear();
            eliminate_range(at, task.pairs.start as usize..task.pairs.end as usize, &mut part, stack);
        }
        _ => {
            let middle = tasks.len() / 2;
            let (left, right) = part.split_at(tasks[middle].pairs.start as usize);
            let (stacks_left, stacks_right) = stacks.split_at_mut(middle);
            rayon::join(
                || eliminate_tasks(at, &tasks[..middle], left, stacks_left),
                || eliminate_tasks(at, &tasks[middle..], right, stacks_right),
            );
        }
    }
}

/// Eliminates neighbouring pairs, each island at its own linearization point.
fn eliminate_range(
    at: &TreeSystem<'_>,
    range: std::ops::Range<usize>,
    part: &mut SweepSlice<'_>,
    stack: &mut SweepStack,
) {
    let mut first = range.start;
    while first < range.end {
        let end = at.point.run_end(first, range.end);
        let fallen = at.fallen_at(first);
        eliminate_run(fallen.as_ref().unwrap_or(at), first..end, part, stack);
        first = end;
    }
}

/// Eliminates neighbouring pairs at one linearization point, two at once where both are of a kind that allows it.
fn eliminate_run(
    at: &TreeSystem<'_>,
    range: std::ops::Range<usize>,
    part: &mut SweepSlice<'_>,
    stack: &mut SweepStack,
) {
    let mut last = PlacedBody::NOWHERE;
    let by_two = pairs::applies(at);
    let mut k = range.start;
    while k < range.end {
        let path = match &at.point.model.pairs[k..range.end] {
            [a, b, ..] if by_two => pairs::path(a, b),
            _ => None,
        };
        match path {
            Some(PairPath::Hinge) => eliminate_two::<TwoHinges>(at, k, part, stack),
            Some(PairPath::Ball) => eliminate_two::<TwoBalls>(at, k, part, stack),
            _ => eliminate_pair(at, k, part, stack, &mut last),
        }
        k += if path.is_some() { 2 } else { 1 };
    }
}

/// [`eliminate_pair`] for two neighbours in the table.
#[inline]
fn eliminate_two<J: TwoJoints>(
    at: &TreeSystem<'_>,
    k: usize,
    part: &mut SweepSlice<'_>,
    stack: &mut SweepStack,
) {
    let pairs = [&at.point.model.pairs[k], &at.point.model.pairs[k + 1]];
    let pulls = pairs.map(|pair| {
        let pull = transmitted_force(at.joint_forces, pair, &mut stack.joint_forces);
        hand_up(pair, &mut stack.joint_forces, |sum, force| *sum += *force);
        pull
    });
    let twins = TwoPairs::<J>::new(at, pairs, pulls);
    eliminate_twin::<J, 0>(at, k, pairs[0], &twins, part, stack);
    eliminate_twin::<J, 1>(at, k + 1, pairs[1], &twins, part, stack);
}

/// One of two pairs that were linearized together. Inlined, so that the lanes stay in registers.
#[inline(always)]
fn eliminate_twin<J: TwoJoints, const I: usize>(
    at: &TreeSystem<'_>,
    k: usize,
    pair: &PairModel,
    twins: &TwoPairs<J>,
    part: &mut SweepSlice<'_>,
    stack: &mut SweepStack,
) {
    let load = waiting_load(pair, &mut stack.loads);
    twins.add_own::<I>(load);
    add_extra(at, k, load);
    twins.stiffen_own::<I>(load);
    let regularized = twins.eliminate::<I>((&mut part.factor, k, load));
    if pair.parent != NONE {
        twins.stiffen_parent::<I>(load);
    }
    let found = twins.found::<I>();
    part.twists[k - part.first] = found.twist;
    stack.report.see(&found, regularized);
    hand_up(pair, &mut stack.loads, Load::add);
}

/// Rotation of the body placed last; in a chain it is the next pair's own.
struct PlacedBody {
    body: u32,
    rotation: DMat3,
    position: DVec3,
}

impl PlacedBody {
    /// No body: the identity of the world.
    const NOWHERE: Self = Self { body: WORLD, rotation: DMat3::IDENTITY, position: DVec3::ZERO };
}

/// Linearizes a body with its tree joint and eliminates both.
#[inline]
fn eliminate_pair(
    at: &TreeSystem<'_>,
    k: usize,
    part: &mut SweepSlice<'_>,
    stack: &mut SweepStack,
    last: &mut PlacedBody,
) {
    let pair = &at.point.model.pairs[k];
    let pose = &at.point.poses[pair.body as usize];
    // In a chain the parent of the last pair is the body of this one: its matrix is at hand.
    let rotation = if last.body == pair.body { last.rotation } else { quat_to_mat3(pose.rotation) };
    let load = waiting_load(pair, &mut stack.loads);
    add_own(at, k, pair, &rotation, load);
    place(at.point.poses, pair.parent_body, last);
    let ends = JointPlacement {
        rotation: &rotation,
        position: pose.translation,
        parent_rotation: &last.rotation,
        parent_position: last.position,
        arm: rotation * pair.own.point,
        parent_arm: last.rotation * pair.other.point,
    };
    let mut parent_stiffness = None;
    if !at.joint_forces.is_empty() {
        let pull = transmitted_force(at.joint_forces, pair, &mut stack.joint_forces);
        let strength = pull.length();
        add_geometric(&at.point, pair.body, load, (ends.arm, pair.own.anchor), (pull, strength));
        parent_stiffness = Some((pull, strength));
    }

    let mut found = Found::default();
    let at_end = at.point.measured.map(|poses| {
        [pair.body, pair.parent_body].map(|body| {
            let pose = pose_of(poses, body);
            (quat_to_mat3(pose.rotation), pose.translation)
        })
    });
    let seen = at_end.as_ref().map_or(ends, |[own, parent]| JointPlacement {
        rotation: &own.0,
        position: own.1,
        parent_rotation: &parent.0,
        parent_position: parent.1,
        arm: own.0 * pair.own.point,
        parent_arm: parent.0 * pair.other.point,
    });
    let regularized = match pair.path {
        PairPath::Hinge => {
            part.factor.eliminate(k, load, &hinge(&at.point, pair, [&ends, &seen], &mut found))
        }
        PairPath::Ball => {
            part.factor.eliminate_point(k, load, &ball(&at.point, pair, [&ends, &seen], &mut found))
        }
        PairPath::FreeRoot => part.factor.eliminate_root(k, load, &FREE),
        PairPath::General => eliminate_general(at, pair, (&mut part.factor, k, load), &mut found),
    };
    if let (Some((pull, strength)), true) = (parent_stiffness, pair.parent != NONE) {
        // The load is the parent's now.
        let end = (ends.parent_arm, pair.other.anchor);
        add_geometric(&at.point, pair.parent_body, load, end, (-pull, strength));
    }
    part.twists[k - part.first] = found.twist;
    stack.report.see(&found, regularized);
    hand_up(pair, &mut stack.loads, Load::add);
    hand_up(pair, &mut stack.joint_forces, |sum, force| *sum += *force);
}

/// Makes `last` the place of a parent body.
#[inline]
fn place(poses: &[Pose], body: u32, last: &mut PlacedBody) {
    if body == WORLD {
        *last = PlacedBody::NOWHERE;
    } else {
        let pose = &poses[body as usize];
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

/// Any joint, through the row library. Out of line: the fused paths stay small.
#[inline(never)]
fn eliminate_general(at: &TreeSystem<'_>, pair: &PairModel, to: PairLoad<'_, '_>, found: &mut Found) -> u32 {
    let joint = LinearizedJoint::new(&at.point, pair);
    *found = joint.found;
    eliminate_linearized(pair, &joint, to)
}

/// Reduces a joint in the general form to its free directions and eliminates its pair.
pub(crate) fn eliminate_linearized(pair: &PairModel, joint: &LinearizedJoint, to: PairLoad<'_, '_>) -> u32 {
    let is_root = pair.parent == NONE;
    match pair.free {
        0 => eliminate_reduced::<0>(is_root, joint, to),
        1 => eliminate_reduced::<1>(is_root, joint, to),
        2 => eliminate_reduced::<2>(is_root, joint, to),
        3 => eliminate_reduced::<3>(is_root, joint, to),
        4 => eliminate_reduced::<4>(is_root, joint, to),
        5 => eliminate_reduced::<5>(is_root, joint, to),
        _ => eliminate_reduced::<6>(is_root, joint, to),
    }
}

/// [`eliminate_linearized`] with `F` free directions.
fn eliminate_reduced<const F: usize>(is_root: bool, joint: &LinearizedJoint, to: PairLoad<'_, '_>) -> u32 {
    let (factor, k, load) = to;
    let (reduced, held) = joint.reduce::<F>();
    held + if is_root {
        factor.eliminate_root(k, load, &reduced)
    } else {
        factor.eliminate(k, load, &reduced)
    }
}

/// Root → leaves.
fn substitute(at: &TreeSystem<'_>, tree: &mut TreeScratch) {
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

/// The twist of a body from that of its parent, which is known or prescribed.
#[inline]
fn substitute_pair(at: &TreeSystem<'_>, factor: &PairFactor, k: usize, motions: &mut [Motion], first: usize) {
    let pair = &at.point.model.pairs[k];
    let parent = if pair.parent != NONE {
        motions[pair.parent as usize - first]
    } else {
        motion_of(at.point.motions, pair.parent_body)
    };
    motions[k - first] = factor.substitute(k, parent);
}

/// Subtrees below the trunk are independent once their roots are known.
#[cfg(feature = "parallel")]
fn substitute_tasks(
    at: &TreeSystem<'_>,
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
