//! The stack on which loads and joint forces wait for the parent of their body.

use glam::DVec3;
use sinew_solvers::Load;
use sinew_topology::NONE;

use crate::model::records::PairModel;
use crate::tree::point::Iterate;

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
