//! Which subtrees can be eliminated at the same time.
//!
//! Whole trees up to the grain are grouped into tasks. In a larger tree every maximal subtree of at least two
//! pairs and at most the grain becomes a task that eliminates all its pairs *but the root*: its writes stay
//! inside its own positions, the root's included. The roots and everything above them are the trunk, which
//! one thread eliminates in order after all tasks. Each block therefore receives its updates in the same
//! order as in a serial run, and the results are the same bits.
//!
//! The schedule depends on the plan and the grain only, never on the number of threads. Cost: linear.

use crate::id::{NONE, dense};
use crate::plan::EliminationPlan;
use std::ops::Range;

/// Pairs that one thread eliminates without waiting for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The positions of the pairs to eliminate, in order.
    pub pairs: Range<u32>,
    /// The pair that receives the updates of the task, always the one after `pairs`; it belongs to the
    /// trunk. `None` when the task is made of whole trees.
    pub join: Option<u32>,
}

/// A split of the pair table into independent tasks and a serial rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Tasks in order of position. They touch disjoint positions: `pairs` and, if there is one, `join`.
    pub tasks: Vec<Task>,
    /// The remaining pairs in elimination order, to be eliminated after all tasks.
    pub trunk: Vec<u32>,
}

impl EliminationPlan {
    /// Splits the elimination into tasks of at most `max_grain` pairs.
    pub fn schedule(&self, max_grain: usize) -> Schedule {
        let sizes = self.subtree_sizes();
        let mut schedule = Schedule::default();
        let mut is_group_open = false;
        for tree in self.trees() {
            let size = tree.pairs.len();
            if size > max_grain {
                self.split_tree(tree.pairs.clone(), max_grain, &sizes, &mut schedule);
                is_group_open = false;
                continue;
            }
            match schedule
                .tasks
                .last_mut()
                .filter(|task| is_group_open && task.pairs.len() + size <= max_grain)
            {
                Some(task) => task.pairs.end = tree.pairs.end,
                None => schedule.tasks.push(Task { pairs: tree.pairs.clone(), join: None }),
            }
            is_group_open = true;
        }
        schedule
    }

    /// Number of pairs in the subtree of each pair, itself included.
    fn subtree_sizes(&self) -> Vec<u32> {
        let mut sizes = vec![1; self.pairs().len()];
        for (position, pair) in self.pairs().iter().enumerate() {
            if pair.parent != NONE {
                sizes[pair.parent as usize] += sizes[position];
            }
        }
        sizes
    }

    /// Walks a tree from its root, jumping over the subtrees that become tasks.
    fn split_tree(&self, tree: Range<u32>, max_grain: usize, sizes: &[u32], schedule: &mut Schedule) {
        let (first_task, first_trunk) = (schedule.tasks.len(), schedule.trunk.len());
        let mut end = tree.end;
        while end > tree.start {
            let root = end - 1;
            schedule.trunk.push(root);
            let size = sizes[root as usize];
            if (2..=dense(max_grain)).contains(&size) {
                schedule.tasks.push(Task { pairs: end - size..root, join: Some(root) });
                end -= size;
            } else {
                end = root;
            }
        }
        schedule.tasks[first_task..].reverse();
        schedule.trunk[first_trunk..].reverse();
    }
}
