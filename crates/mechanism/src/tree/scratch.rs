//! Scratch memory of a tree solve.

use glam::DVec3;
use sinew_math::Motion;
use sinew_solvers::{Load, PairFactor};
use sinew_topology::Schedule;

use crate::model::mechanism::Model;
use crate::tree::report::TreeReport;

/// Factor and solution of the tree, in elimination order.
#[derive(Clone, Debug)]
pub(crate) struct TreeScratch {
    pub(crate) factor: PairFactor,
    pub(crate) motions: Vec<Motion>,
    pub(crate) twists: Vec<f64>,
    pub(crate) schedule: Schedule,
    /// One stack, slot and report per task, and one more for the trunk.
    pub(crate) lanes: Vec<SweepStack>,
}

/// What one task of the backward sweep owns.
#[derive(Clone, Debug, Default)]
pub(crate) struct SweepStack {
    pub(crate) stack: Vec<Load>,
    /// Force that the joint above must transmit, in step with `stack`.
    pub(crate) pulls: Vec<DVec3>,
    pub(crate) report: TreeReport,
}

/// Largest number of loads that wait on the stack at once.
pub(crate) fn stack_depth(model: &Model) -> usize {
    let (mut open, mut deepest) = (0usize, 1usize);
    for pair in &model.pairs {
        open -= usize::from(pair.has_children);
        open += usize::from(pair.first_child);
        deepest = deepest.max(open);
    }
    deepest
}
