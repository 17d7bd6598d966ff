//! Flat storage layout of the blocks and unknowns of a plan.
//!
//! Node after node in elimination order: the diagonal block, then one block with the columns of the parent
//! followed, for variables, by those of the grandparent; all row-major. A factorization streams forward through
//! it and a back-substitution backward. With six unknowns per variable and `r` rows per constraint, a link takes
//! `72 + r² + 12 r` numbers. Cost: linear, once per plan.

use sinew_topology::{ConstraintId, EliminationPlan, GraphNode, NONE, VariableId};
use std::ops::Range;

/// Offsets of every node, and the node of every id.
#[derive(Clone, Debug)]
pub(crate) struct BlockLayout {
    pub(crate) nodes: Vec<NodeLayout>,
    node_of_variable: Vec<u32>,
    node_of_constraint: Vec<u32>,
    /// First node of each pair, and one past the last node.
    first_node: Vec<u32>,
    pub(crate) n_unknowns: usize,
    pub(crate) n_entries: usize,
}

/// One block row: sizes, and where its blocks and unknowns start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeLayout {
    pub(crate) node: GraphNode,
    /// Position of the parent node, or [`NONE`].
    pub(crate) parent: u32,
    /// Number of rows.
    pub(crate) dim: u8,
    /// Columns of the block to the parent; 0 without one.
    pub(crate) parent_dim: u8,
    /// Columns of the block to the grandparent; 0 for constraints, which never couple to each other.
    pub(crate) grandparent_dim: u8,
    /// True for a constraint that the tree uses against its declaration.
    pub(crate) flipped: bool,
    /// First entry of the diagonal block.
    pub(crate) start: usize,
    /// First unknown.
    pub(crate) unknown: usize,
}

impl BlockLayout {
    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let ids = self.node_of_variable.len() + self.node_of_constraint.len() + self.first_node.len();
        self.nodes.len() * size_of::<NodeLayout>() + 4 * ids
    }

    pub(crate) fn new(plan: &EliminationPlan) -> Self {
        let dim_at = |position: Option<usize>| position.map_or(0, |p| plan.nodes()[p].dim);
        let n_constraints = plan.loop_constraints().len() + plan.nodes().len() - plan.pairs().len();
        let mut layout = Self {
            nodes: Vec::with_capacity(plan.nodes().len()),
            node_of_variable: vec![NONE; plan.pairs().len()],
            node_of_constraint: vec![NONE; n_constraints],
            first_node: Vec::with_capacity(plan.pairs().len() + 1),
            n_unknowns: 0,
            n_entries: 0,
        };
        for pair in plan.pairs() {
            let position = layout.nodes.len();
            let slot = u32::try_from(position).expect("a plan holds fewer than 2³² nodes");
            layout.first_node.push(slot);
            layout.node_of_variable[pair.variable.index()] = slot;
            layout.push(plan, position, dim_at(plan.grandparent(position)), false);
            if let Some(id) = pair.constraint {
                layout.node_of_constraint[id.index()] = slot + 1;
                layout.push(plan, position + 1, 0, pair.flipped);
            }
        }
        layout.first_node.push(u32::try_from(layout.nodes.len()).expect("a plan holds fewer than 2³² nodes"));
        layout
    }

    fn push(&mut self, plan: &EliminationPlan, position: usize, grandparent_dim: u8, flipped: bool) {
        let node = plan.nodes()[position];
        let parent_dim = plan.parent(position).map_or(0, |parent| plan.nodes()[parent].dim);
        let layout = NodeLayout {
            node: node.node,
            parent: node.parent,
            dim: node.dim,
            parent_dim,
            grandparent_dim,
            flipped,
            start: self.n_entries,
            unknown: self.n_unknowns,
        };
        self.n_entries = layout.end();
        self.n_unknowns += usize::from(node.dim);
        self.nodes.push(layout);
    }

    /// The node of a variable.
    pub(crate) fn variable(&self, id: VariableId) -> &NodeLayout {
        &self.nodes[self.node_of_variable[id.index()] as usize]
    }

    /// The node of a forest constraint. Panics for one of the loop set.
    pub(crate) fn constraint(&self, id: ConstraintId) -> &NodeLayout {
        &self.nodes[self.constraint_position(id)]
    }

    /// Position of a forest constraint; its variable is the node before. Panics for one of the loop set.
    pub(crate) fn constraint_position(&self, id: ConstraintId) -> usize {
        let position = self.node_of_constraint[id.index()];
        assert!(position != NONE, "constraint {} is in the loop set, not in the tree", id.index());
        position as usize
    }

    /// The unknowns of parent and grandparent that a node couples to, each with its first column.
    pub(crate) fn off_diagonals(&self, node: &NodeLayout) -> impl Iterator<Item = (Range<usize>, usize)> {
        let (_, p, g) = node.dims();
        let parent = self.nodes.get(node.parent as usize);
        let grandparent = parent.filter(|_| g > 0).map(|parent| &self.nodes[parent.parent as usize]);
        let parent = parent.map(|parent| (parent.unknowns(), 0));
        parent.into_iter().chain(grandparent.map(|node| (node.unknowns(), p)))
    }

    /// The nodes of the pairs in a range.
    pub(crate) fn nodes_of_pairs(&self, pairs: Range<u32>) -> Range<usize> {
        self.first_node[pairs.start as usize] as usize..self.first_node[pairs.end as usize] as usize
    }

    /// The variable of a pair, and the constraint above it.
    #[inline]
    pub(crate) fn pair(&self, pair: u32) -> (&NodeLayout, Option<&NodeLayout>) {
        let nodes = &self.nodes[self.nodes_of_pairs(pair..pair + 1)];
        (&nodes[0], nodes.get(1))
    }

    /// First entry of the blocks of the node at `position`, which may be one past the last.
    pub(crate) fn entry_of(&self, position: usize) -> usize {
        self.nodes.get(position).map_or(self.n_entries, |node| node.start)
    }

    /// First unknown of the node at `position`, which may be one past the last.
    pub(crate) fn unknown_of(&self, position: usize) -> usize {
        self.nodes.get(position).map_or(self.n_unknowns, |node| node.unknown)
    }
}

impl NodeLayout {
    /// Rows, columns to the parent, columns to the grandparent.
    #[inline]
    pub(crate) fn dims(&self) -> (usize, usize, usize) {
        (usize::from(self.dim), usize::from(self.parent_dim), usize::from(self.grandparent_dim))
    }

    /// Entries of the diagonal block.
    pub(crate) fn diagonal(&self) -> Range<usize> {
        let (n, _, _) = self.dims();
        self.start..self.start + n * n
    }

    /// Index of the entry in row `i` and column `j` off the diagonal: parent columns first.
    pub(crate) fn off_diagonal(&self, i: usize, j: usize) -> usize {
        let (n, p, g) = self.dims();
        self.start + n * n + i * (p + g) + j
    }

    /// One past the last entry.
    pub(crate) fn end(&self) -> usize {
        let (n, p, g) = self.dims();
        self.start + n * (n + p + g)
    }

    /// The unknowns.
    pub(crate) fn unknowns(&self) -> Range<usize> {
        self.unknown..self.unknown + usize::from(self.dim)
    }
}
