//! Roots the forest, orders it for elimination, and groups it into islands.
//!
//! Roots (docs/maths, elimination): a world constraint roots its tree. A tree without one is rooted at a *variable*,
//! never at a constraint, because stiff forces across a root constraint would couple siblings. The root is the first
//! variable that no constraint declares as a child, so a tree declared consistently from its root keeps that root and
//! no constraint is flipped.
//!
//! The order is the depth-first post-order of each tree, children by ascending constraint id. So children come before
//! parents, every subtree is contiguous, and each variable is followed by the constraint to its parent. An island is a
//! connected component over forest and loop edges; the world does not connect. Trees in an island, and islands, are
//! sorted by their smallest variable.
//!
//! Cost: linear, with explicit stacks: a chain of a million links does not recurse.

use crate::graph::{Endpoints, Graph};
use crate::id::{ConstraintId, NONE, VariableId, dense};
use crate::plan::{Island, PlanPair, PlanTables, PlanTree};
use crate::sets::DisjointSets;
use std::ops::Range;

/// Orders the forest marked by `in_forest`.
pub(crate) fn order(graph: &Graph, in_forest: &[bool]) -> PlanTables {
    let adjacency = Adjacency::new(graph, in_forest);
    let components = Components::new(graph, &adjacency);
    let island_of_tree = components.islands(graph, in_forest);
    let mut emission: Vec<usize> = (0..components.roots.len()).collect();
    emission.sort_by_key(|&tree| island_of_tree[tree]);

    let mut tables = PlanTables { pairs: Vec::with_capacity(graph.n_variables()), ..PlanTables::default() };
    let mut stack = Vec::new();
    for tree in emission {
        if dense(tables.islands.len()) == island_of_tree[tree] {
            let first_variable = components.first_variable[tree];
            let (pair, tree) = (dense(tables.pairs.len()), dense(tables.trees.len()));
            tables.islands.push(Island { first_variable, pairs: pair..pair, trees: tree..tree, loops: 0..0 });
        }
        let start = dense(tables.pairs.len());
        push_tree(graph, &adjacency, components.roots[tree], &mut stack, &mut tables.pairs);
        tables.trees.push(PlanTree { pairs: start..dense(tables.pairs.len()) });
        let island = tables.islands.last_mut().expect("an island was opened for this tree");
        island.pairs.end = dense(tables.pairs.len());
        island.trees.end = dense(tables.trees.len());
    }
    push_loops(graph, in_forest, &components, &island_of_tree, &mut tables);
    tables
}

/// Forest constraints at each variable, ascending, in compressed rows.
struct Adjacency {
    offsets: Vec<u32>,
    constraints: Vec<ConstraintId>,
}

impl Adjacency {
    fn new(graph: &Graph, in_forest: &[bool]) -> Self {
        let forest = || graph.constraints().filter(|id| in_forest[id.index()]);
        let mut offsets = vec![0u32; graph.n_variables() + 1];
        for variable in forest().flat_map(|id| graph.endpoints(id).variables()) {
            offsets[variable.index() + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let n_ends = offsets[graph.n_variables()] as usize;
        let mut next = offsets.clone();
        let mut constraints = vec![ConstraintId::new(0); n_ends];
        for id in forest() {
            for variable in graph.endpoints(id).variables() {
                let slot = &mut next[variable.index()];
                constraints[*slot as usize] = id;
                *slot += 1;
            }
        }
        Self { offsets, constraints }
    }

    fn at(&self, variable: VariableId) -> &[ConstraintId] {
        let range = self.offsets[variable.index()]..self.offsets[variable.index() + 1];
        &self.constraints[range.start as usize..range.end as usize]
    }
}

/// The trees of the forest, sorted by their smallest variable.
struct Components {
    roots: Vec<Root>,
    first_variable: Vec<VariableId>,
    tree_of: Vec<u32>,
}

/// Where a tree hangs: its root variable and, if there is one, the constraint to the world.
#[derive(Clone, Copy)]
struct Root {
    variable: VariableId,
    constraint: Option<ConstraintId>,
}

impl Components {
    fn new(graph: &Graph, adjacency: &Adjacency) -> Self {
        let tree_of = vec![NONE; graph.n_variables()];
        let mut components = Self { roots: Vec::new(), first_variable: Vec::new(), tree_of };
        let mut members = Vec::new();
        for variable in graph.variables() {
            if components.tree_of[variable.index()] == NONE {
                let root = components.gather(graph, adjacency, variable, &mut members);
                components.roots.push(root);
                components.first_variable.push(variable);
            }
        }
        components
    }

    /// Marks the tree that holds `first` and chooses its root.
    fn gather(
        &mut self,
        graph: &Graph,
        adjacency: &Adjacency,
        first: VariableId,
        stack: &mut Vec<VariableId>,
    ) -> Root {
        let tree = dense(self.roots.len());
        let mut world_root = None;
        let mut free_root: Option<VariableId> = None;
        self.tree_of[first.index()] = tree;
        stack.push(first);
        while let Some(variable) = stack.pop() {
            let mut is_child = false;
            for &id in adjacency.at(variable) {
                match graph.endpoints(id) {
                    Endpoints::World(_) => world_root = Some(Root { variable, constraint: Some(id) }),
                    Endpoints::Pair(child, parent) => {
                        is_child |= child == variable;
                        let other = if child == variable { parent } else { child };
                        if self.tree_of[other.index()] == NONE {
                            self.tree_of[other.index()] = tree;
                            stack.push(other);
                        }
                    }
                }
            }
            if !is_child && free_root.is_none_or(|best| variable < best) {
                free_root = Some(variable);
            }
        }
        // n variables hold n − 1 forest constraints with one child each, so one variable is no child.
        world_root.unwrap_or(Root { variable: free_root.unwrap_or(first), constraint: None })
    }

    /// The island of each tree; islands are numbered in order of their first tree.
    fn islands(&self, graph: &Graph, in_forest: &[bool]) -> Vec<u32> {
        let n_trees = self.roots.len();
        let mut sets = DisjointSets::new(n_trees);
        for id in graph.constraints().filter(|id| !in_forest[id.index()]) {
            if let Endpoints::Pair(child, parent) = graph.endpoints(id) {
                sets.join(self.tree_of[child.index()], self.tree_of[parent.index()]);
            }
        }
        sets.numbered().0
    }
}

/// Appends one tree in post-order.
///
/// A pre-order that visits the children of each variable in descending order is, reversed, the post-order
/// with ascending children; a stack gives that pre-order when children are pushed ascending.
fn push_tree(
    graph: &Graph,
    adjacency: &Adjacency,
    root: Root,
    stack: &mut Vec<PlanPair>,
    pairs: &mut Vec<PlanPair>,
) {
    let start = pairs.len();
    stack.push(PlanPair {
        variable: root.variable,
        constraint: root.constraint,
        parent: NONE,
        flipped: false,
    });
    while let Some(pair) = stack.pop() {
        let here = dense(pairs.len());
        pairs.push(pair);
        for &id in adjacency.at(pair.variable) {
            if Some(id) == pair.constraint {
                continue;
            }
            if let Endpoints::Pair(child, parent) = graph.endpoints(id) {
                let flipped = child == pair.variable;
                let variable = if flipped { parent } else { child };
                stack.push(PlanPair { variable, constraint: Some(id), parent: here, flipped });
            }
        }
    }
    pairs[start..].reverse();
    let last = dense(pairs.len() - 1);
    for pair in &mut pairs[start..] {
        if pair.parent != NONE {
            pair.parent = last - (pair.parent - dense(start));
        }
    }
}

/// Appends the loop constraints, grouped by island and ascending inside each.
fn push_loops(
    graph: &Graph,
    in_forest: &[bool],
    components: &Components,
    island_of_tree: &[u32],
    tables: &mut PlanTables,
) {
    let island_of = |id: ConstraintId| {
        let tree = components.tree_of[graph.endpoints(id).child().index()];
        island_of_tree[tree as usize]
    };
    tables.loops = graph.constraints().filter(|id| !in_forest[id.index()]).collect();
    tables.loops.sort_by_key(|&id| island_of(id));
    let mut start = 0;
    for (number, island) in (0u32..).zip(&mut tables.islands) {
        let n_loops = tables.loops[start..].iter().take_while(|&&id| island_of(id) == number).count();
        island.loops = range(start, start + n_loops);
        start += n_loops;
    }
}

fn range(start: usize, end: usize) -> Range<u32> {
    dense(start)..dense(end)
}
