//! Compact groups of nodes: the coarse unknowns of the two-level preconditioner.
//!
//! By recursive coordinate bisection: each connected piece of the mesh is halved across the longest side of its
//! bounding box (at rest) until a group has about the given size. The order of the groups keeps neighbours close, so
//! that the coarse matrix has a narrow envelope. Fixed nodes belong to no group.
//!
//! Cost `O(n log n)`, once. Any coordinates are accepted; nodes with equal ones are ordered by index.

use super::pattern::SparsePattern;
use glam::DVec3;
use sinew_topology::DisjointSets;

/// A partition of the free nodes.
#[derive(Clone, Debug)]
pub(crate) struct Aggregates {
    /// Group of each node; the number of groups for fixed ones.
    pub(crate) of: Vec<u32>,
    /// Nodes of all groups, one after the other, each by rising index.
    members: Vec<u32>,
    /// First member of each group, and their number.
    start: Vec<u32>,
}

impl Aggregates {
    /// Groups of about `size` nodes.
    pub(crate) fn new(pattern: &SparsePattern, rest: &[DVec3], is_fixed: &[bool], size: usize) -> Self {
        let piece = pieces(pattern, is_fixed);
        let mut members: Vec<u32> = (0..rest.len() as u32).filter(|&i| !is_fixed[i as usize]).collect();
        members.sort_by_key(|&i| piece[i as usize]);
        let mut start = vec![0];
        for nodes in members.chunk_by_mut(|&a, &b| piece[a as usize] == piece[b as usize]) {
            halve(nodes, rest, size.max(1), &mut start);
        }
        let mut of = vec![start.len() as u32 - 1; rest.len()];
        for g in 0..start.len() - 1 {
            for &node in &members[start[g] as usize..start[g + 1] as usize] {
                of[node as usize] = g as u32;
            }
        }
        Self { of, members, start }
    }

    pub(crate) fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// The nodes of a group.
    pub(crate) fn group(&self, group: usize) -> &[u32] {
        &self.members[self.start[group] as usize..self.start[group + 1] as usize]
    }
}

/// A representative of the connected piece of each free node: the smallest index in it.
fn pieces(pattern: &SparsePattern, is_fixed: &[bool]) -> Vec<u32> {
    let mut sets = DisjointSets::new(is_fixed.len());
    for i in 0..is_fixed.len() {
        for (_, j) in pattern.upper_row(i) {
            if !is_fixed[i] && !is_fixed[j] {
                sets.join(i as u32, j as u32);
            }
        }
    }
    (0..is_fixed.len() as u32).map(|i| sets.first(i)).collect()
}

/// Splits `nodes` into groups of about `size`, sorts each and appends its end to `start`.
fn halve(nodes: &mut [u32], rest: &[DVec3], size: usize, start: &mut Vec<u32>) {
    let n_groups = (nodes.len() + size / 2) / size;
    if n_groups <= 1 {
        nodes.sort_unstable();
        let end = start[start.len() - 1] + nodes.len() as u32;
        start.push(end);
        return;
    }
    let (low, high) = nodes.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &i| {
        (low.min(rest[i as usize]), high.max(rest[i as usize]))
    });
    let axis = (high - low).max_position();
    let at = nodes.len() * (n_groups / 2) / n_groups;
    nodes.select_nth_unstable_by(at, |&a, &b| {
        rest[a as usize][axis].total_cmp(&rest[b as usize][axis]).then(a.cmp(&b))
    });
    let (left, right) = nodes.split_at_mut(at);
    halve(left, rest, size, start);
    halve(right, rest, size, start);
}
