//! The elimination plan: everything symbolic that a solver needs, computed once per graph.
//!
//! A plan has two tables. *Pairs*, one per variable: a variable together with the constraint that
//! ties it to its parent, for solvers that eliminate both at once. *Nodes*: variables and constraints
//! interleaved, for the block factorization (Her11 §4). Both are in elimination order: children before
//! parents, subtrees contiguous, each variable directly followed by the constraint to its parent.
//!
//! Cost: linear in nodes; about 60 bytes per variable. Every lookup is O(1) unless stated otherwise.

use crate::graph::Graph;
use crate::id::{ConstraintId, GraphNode, NONE, VariableId, dense};
use std::ops::Range;

/// A variable and the constraint to its parent: one row of the pair table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanPair {
    /// The variable.
    pub variable: VariableId,
    /// The constraint to the parent or to the world; `None` at the root of a free tree.
    pub constraint: Option<ConstraintId>,
    /// Position of the parent's pair; [`NONE`] when the parent is the world or there is none.
    pub parent: u32,
    /// True if the tree uses the constraint against its declaration: `variable` is its declared parent.
    pub flipped: bool,
}

/// One block row: a variable or a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanNode {
    /// The variable or constraint of the row.
    pub node: GraphNode,
    /// Position of the parent node; [`NONE`] at a root.
    pub parent: u32,
    /// Number of scalar rows, 0 to [`crate::LARGEST_BLOCK`].
    pub dim: u8,
}

/// One tree of the spanning forest: the root is the last of its pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanTree {
    /// The positions of its pairs.
    pub pairs: Range<u32>,
}

/// Variables that influence each other: a connected component over forest and loop constraints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Island {
    /// The smallest variable of the island; islands are sorted by it.
    pub first_variable: VariableId,
    /// The positions of its pairs.
    pub pairs: Range<u32>,
    /// Its trees, as indices into [`EliminationPlan::trees`].
    pub trees: Range<u32>,
    /// Its loop constraints, as indices into [`EliminationPlan::loop_constraints`].
    pub loops: Range<u32>,
}

/// Whether a constraint is in the forest or in the loop set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// In the forest, in the pair at this position.
    Forest(u32),
    /// In the loop set, at this index of [`EliminationPlan::loop_constraints`].
    Loop(u32),
}

/// The order in which a graph is eliminated, with its trees, islands and loop set.
///
/// Two plans are equal when every table is: planning is canonical, so equal graphs give equal plans.
#[derive(Clone, Debug, PartialEq)]
pub struct EliminationPlan {
    tables: PlanTables,
    depths: Vec<u32>,
    nodes: Vec<PlanNode>,
    first_node: Vec<u32>,
    positions: Vec<u32>,
    roles: Vec<Role>,
}

/// The tables from which all others follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlanTables {
    pub(crate) pairs: Vec<PlanPair>,
    pub(crate) trees: Vec<PlanTree>,
    pub(crate) islands: Vec<Island>,
    pub(crate) loops: Vec<ConstraintId>,
}

impl EliminationPlan {
    /// Derives the lookup tables.
    pub(crate) fn from_tables(graph: &Graph, tables: PlanTables) -> Self {
        let n_pairs = tables.pairs.len();
        let mut plan = Self {
            depths: vec![0; n_pairs],
            nodes: Vec::with_capacity(n_pairs + graph.n_constraints() - tables.loops.len()),
            first_node: Vec::with_capacity(n_pairs),
            positions: vec![NONE; graph.n_variables()],
            roles: vec![Role::Loop(NONE); graph.n_constraints()],
            tables,
        };
        plan.fill_lookups();
        plan.fill_nodes(graph);
        plan
    }

    fn fill_lookups(&mut self) {
        for (position, pair) in self.tables.pairs.iter().enumerate() {
            self.positions[pair.variable.index()] = dense(position);
            if let Some(constraint) = pair.constraint {
                self.roles[constraint.index()] = Role::Forest(dense(position));
            }
        }
        for (index, constraint) in self.tables.loops.iter().enumerate() {
            self.roles[constraint.index()] = Role::Loop(dense(index));
        }
        for (position, pair) in self.tables.pairs.iter().enumerate().rev() {
            if pair.parent != NONE {
                self.depths[position] = self.depths[pair.parent as usize] + 1;
            }
        }
    }

    fn fill_nodes(&mut self, graph: &Graph) {
        let mut next = 0;
        for pair in &self.tables.pairs {
            self.first_node.push(next);
            next += 1 + u32::from(pair.constraint.is_some());
        }
        for pair in &self.tables.pairs {
            let parent_body = if pair.parent == NONE { NONE } else { self.first_node[pair.parent as usize] };
            let dim = graph.variables[pair.variable.index()];
            let own_constraint = if pair.constraint.is_some() { dense(self.nodes.len() + 1) } else { NONE };
            self.nodes.push(PlanNode {
                node: GraphNode::Variable(pair.variable),
                parent: own_constraint,
                dim,
            });
            if let Some(id) = pair.constraint {
                let dim = graph.constraints[id.index()].dim;
                self.nodes.push(PlanNode { node: GraphNode::Constraint(id), parent: parent_body, dim });
            }
        }
    }

    pub(crate) fn tables(&self) -> &PlanTables {
        &self.tables
    }

    /// The pair table, in elimination order: one entry per variable.
    pub fn pairs(&self) -> &[PlanPair] {
        &self.tables.pairs
    }

    /// The node table, in elimination order: every variable and every forest constraint.
    pub fn nodes(&self) -> &[PlanNode] {
        &self.nodes
    }

    /// Position of the parent of the node at `position`: a variable's parent is its constraint, a
    /// constraint's the variable it hangs from.
    pub fn parent(&self, position: usize) -> Option<usize> {
        let parent = self.nodes[position].parent;
        (parent != NONE).then_some(parent as usize)
    }

    /// Position of the parent's parent of the node at `position`: of a variable, the parent variable.
    pub fn grandparent(&self, position: usize) -> Option<usize> {
        self.parent(self.parent(position)?)
    }

    /// The trees of the forest, in order of their pairs.
    pub fn trees(&self) -> &[PlanTree] {
        &self.tables.trees
    }

    /// The islands, in order of their pairs.
    pub fn islands(&self) -> &[Island] {
        &self.tables.islands
    }

    /// The index of the island that holds a variable; logarithmic in the number of islands.
    pub fn island_of(&self, variable: VariableId) -> usize {
        let position = self.positions[variable.index()];
        self.tables.islands.partition_point(|island| island.pairs.end <= position)
    }

    /// Constraints outside the forest, grouped by island and ascending inside each.
    pub fn loop_constraints(&self) -> &[ConstraintId] {
        &self.tables.loops
    }

    /// Position of a variable in the pair table.
    pub fn position_of(&self, variable: VariableId) -> usize {
        self.positions[variable.index()] as usize
    }

    /// Whether a constraint is in the forest or in the loop set, and where.
    pub fn role(&self, constraint: ConstraintId) -> Role {
        self.roles[constraint.index()]
    }

    /// Position of a variable in the node table.
    pub fn node_of_variable(&self, variable: VariableId) -> usize {
        self.first_node_of_pair(self.position_of(variable))
    }

    /// Position of a constraint in the node table; `None` if it is in the loop set.
    pub fn node_of_constraint(&self, constraint: ConstraintId) -> Option<usize> {
        match self.role(constraint) {
            Role::Forest(pair) => Some(self.first_node_of_pair(pair as usize) + 1),
            Role::Loop(_) => None,
        }
    }

    /// Position in the node table of the variable of the pair at `pair`; its constraint, if any, follows.
    pub fn first_node_of_pair(&self, pair: usize) -> usize {
        self.first_node[pair] as usize
    }

    /// Number of forest constraints between the pair at `pair` and the root of its tree.
    pub fn depth(&self, pair: usize) -> usize {
        self.depths[pair] as usize
    }
}
