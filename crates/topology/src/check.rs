//! Verifies a plan against the adjacency of its graph.
//!
//! What must hold (docs/maths, elimination):
//! 1. every variable is in exactly one pair, every constraint in exactly one pair or in the loop set;
//! 2. children come before parents, and each variable is directly followed by the constraint of its pair;
//! 3. no constraint is a leaf, a world constraint roots its tree, a tree without one is rooted at a variable;
//! 4. eliminating in order fills no zero block, although stiff forces couple the two variables of each forest constraint;
//! 5. trees and islands are contiguous and cover the pair table; the variables of a loop constraint share an island.
//!
//! Cost: linear. Meant for tests and debug builds. The first violation is an error.

use crate::graph::{Endpoints, Graph, Priority};
use crate::id::{ConstraintId, GraphNode, NONE};
use crate::plan::{EliminationPlan, Role};
use std::ops::Range;
use thiserror::Error;

/// A violated property of a plan; positions are those of the node or pair table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanDefect {
    /// A table misses a node, lists one twice or disagrees with another table.
    #[error(
        "{node} must occur exactly once in the elimination plan, at the same place in each of its tables: make the plan anew"
    )]
    Listing {
        /// Label of the node.
        node: String,
    },
    /// A node comes after its parent, or a variable is not directly followed by its constraint.
    #[error("the node at position {position} comes after its parent or away from its constraint")]
    Order {
        /// Position in the node table.
        position: usize,
    },
    /// A constraint would be eliminated before the variable that gives it a pivot.
    #[error("the constraint at position {position} is a leaf: a child must come before it")]
    LeafConstraint {
        /// Position in the node table.
        position: usize,
    },
    /// A pair does not match the endpoints or the priority of its constraint.
    #[error("the pair at position {position} does not match the endpoints or the priority of its constraint")]
    Mismatch {
        /// Position in the pair table.
        position: usize,
    },
    /// Eliminating a node couples two later ones that no forest constraint connects.
    #[error("eliminating the node at position {position} fills the block ({row}, {column}), which was zero")]
    Fill {
        /// Position of the eliminated node.
        position: usize,
        /// Row of the new block.
        row: usize,
        /// Column of the new block.
        column: usize,
    },
    /// Trees or islands do not tile the pair table, or a constraint crosses their border.
    #[error("trees or islands overlap, have a gap, or are crossed by a constraint at pair {position}")]
    Grouping {
        /// Position in the pair table.
        position: usize,
    },
}

/// Checks every property of the module header.
///
/// # Errors
/// The first violated property.
pub fn check(graph: &Graph, plan: &EliminationPlan) -> Result<(), PlanDefect> {
    check_listing(graph, plan)?;
    check_nodes(plan)?;
    check_pairs(graph, plan)?;
    check_fill(graph, plan)?;
    check_grouping(graph, plan)
}

fn check_listing(graph: &Graph, plan: &EliminationPlan) -> Result<(), PlanDefect> {
    let defect = |node| Err(PlanDefect::Listing { node: graph.label(node) });
    for id in graph.variables() {
        let listed = plan.pairs().get(plan.position_of(id)).is_some_and(|pair| pair.variable == id);
        if !listed || plan.nodes()[plan.node_of_variable(id)].node != GraphNode::Variable(id) {
            return defect(GraphNode::Variable(id));
        }
    }
    for id in graph.constraints() {
        let listed = match plan.role(id) {
            Role::Forest(pair) => plan.pairs().get(pair as usize).is_some_and(|p| p.constraint == Some(id)),
            Role::Loop(index) => plan.loop_constraints().get(index as usize) == Some(&id),
        };
        let node = plan.node_of_constraint(id).map(|position| plan.nodes()[position].node);
        if !listed || node.is_some_and(|node| node != GraphNode::Constraint(id)) {
            return defect(GraphNode::Constraint(id));
        }
    }
    let n_forest = plan.pairs().iter().filter(|pair| pair.constraint.is_some()).count();
    let is_complete = plan.pairs().len() == graph.n_variables()
        && n_forest + plan.loop_constraints().len() == graph.n_constraints()
        && plan.nodes().len() == graph.n_variables() + n_forest;
    if is_complete { Ok(()) } else { Err(PlanDefect::Listing { node: "some node".to_owned() }) }
}

fn check_pairs(graph: &Graph, plan: &EliminationPlan) -> Result<(), PlanDefect> {
    for (position, pair) in plan.pairs().iter().enumerate() {
        let parent = plan.pairs().get(pair.parent as usize).map(|parent| parent.variable);
        let agrees = match pair.constraint.map(|id| graph.endpoints(id)) {
            None => pair.parent == NONE,
            Some(Endpoints::World(child)) => pair.parent == NONE && child == pair.variable && !pair.flipped,
            Some(Endpoints::Pair(child, other)) => {
                let (below, above) = if pair.flipped { (other, child) } else { (child, other) };
                below == pair.variable && Some(above) == parent
            }
        };
        let is_secondary = pair.constraint.is_some_and(|id| graph.priority(id) == Priority::Secondary);
        let is_deeper = pair.parent == NONE || plan.depth(position) == plan.depth(pair.parent as usize) + 1;
        if !agrees || is_secondary || !is_deeper {
            return Err(PlanDefect::Mismatch { position });
        }
    }
    let primary_loop = |id: &&ConstraintId| graph.priority(**id) == Priority::Primary;
    match plan.loop_constraints().iter().find(primary_loop) {
        Some(&id) => Err(PlanDefect::Listing { node: graph.label(GraphNode::Constraint(id)) }),
        None => Ok(()),
    }
}

fn check_nodes(plan: &EliminationPlan) -> Result<(), PlanDefect> {
    let mut has_child = vec![false; plan.nodes().len()];
    for (position, node) in plan.nodes().iter().enumerate() {
        match (plan.parent(position), node.node) {
            (Some(parent), _) if parent <= position => return Err(PlanDefect::Order { position }),
            (Some(parent), GraphNode::Variable(_)) if parent != position + 1 => {
                return Err(PlanDefect::Order { position });
            }
            (_, GraphNode::Constraint(_)) if !has_child[position] => {
                return Err(PlanDefect::LeafConstraint { position });
            }
            (Some(parent), _) => has_child[parent] = true,
            (None, _) => {}
        }
    }
    Ok(())
}

/// Symbolic elimination: the later neighbours of each eliminated node must be coupled already.
fn check_fill(graph: &Graph, plan: &EliminationPlan) -> Result<(), PlanDefect> {
    let mut later: Vec<Vec<usize>> = vec![Vec::new(); plan.nodes().len()];
    let mut couple = |a: usize, b: usize| later[a.min(b)].push(a.max(b));
    for id in graph.constraints() {
        let Some(row) = plan.node_of_constraint(id) else { continue };
        let ends = graph.endpoints(id);
        ends.variables().for_each(|end| couple(row, plan.node_of_variable(end)));
        if let Some(parent) = ends.parent() {
            couple(plan.node_of_variable(ends.child()), plan.node_of_variable(parent));
        }
    }
    for (position, neighbours) in later.iter().enumerate() {
        for (&a, &b) in neighbours.iter().flat_map(|a| neighbours.iter().map(move |b| (a, b))) {
            if a < b && !later[a].contains(&b) {
                return Err(PlanDefect::Fill { position, row: a, column: b });
            }
        }
        let expected = [plan.parent(position), plan.grandparent(position)];
        if let Some(&column) = neighbours.iter().find(|&&n| !expected.contains(&Some(n))) {
            return Err(PlanDefect::Fill { position, row: position, column });
        }
    }
    Ok(())
}

fn check_grouping(graph: &Graph, plan: &EliminationPlan) -> Result<(), PlanDefect> {
    let n_pairs = plan.pairs().len();
    check_tiling(plan.trees().iter().map(|tree| tree.pairs.clone()), n_pairs)?;
    check_tiling(plan.islands().iter().map(|island| island.pairs.clone()), n_pairs)?;
    for tree in plan.trees() {
        for position in tree.pairs.start as usize..tree.pairs.end as usize {
            let parent = plan.pairs()[position].parent;
            let is_last = position + 1 == tree.pairs.end as usize;
            if is_last != (parent == NONE) || !is_last && !tree.pairs.contains(&parent) {
                return Err(PlanDefect::Grouping { position });
            }
        }
    }
    for (number, island) in plan.islands().iter().enumerate() {
        let trees = &plan.trees()[island.trees.start as usize..island.trees.end as usize];
        let spans = trees.first().zip(trees.last()).map(|(first, last)| first.pairs.start..last.pairs.end);
        let loops = &plan.loop_constraints()[island.loops.start as usize..island.loops.end as usize];
        let mut partners = loops.iter().flat_map(|&id| graph.endpoints(id).variables());
        if spans.as_ref() != Some(&island.pairs) || partners.any(|end| plan.island_of(end) != number) {
            return Err(PlanDefect::Grouping { position: island.pairs.start as usize });
        }
    }
    Ok(())
}

fn check_tiling(ranges: impl Iterator<Item = Range<u32>>, n_pairs: usize) -> Result<(), PlanDefect> {
    let mut end = 0;
    for range in ranges {
        if range.start as usize != end || range.is_empty() {
            return Err(PlanDefect::Grouping { position: end });
        }
        end = range.end as usize;
    }
    if end == n_pairs { Ok(()) } else { Err(PlanDefect::Grouping { position: end }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::plan::PlanTables;
    use crate::planner::plan;

    /// The verdict on the plan of a three-link chain from the world after `damage`.
    fn verdict(damage: impl FnOnce(&mut PlanTables)) -> Result<(), PlanDefect> {
        let mut builder = GraphBuilder::new();
        let links = [6, 6, 6].map(|dim| builder.add_variable(dim));
        builder.add_constraint(3, Endpoints::World(links[0]), Priority::Auto);
        builder.add_constraint(3, Endpoints::Pair(links[1], links[0]), Priority::Auto);
        builder.add_constraint(3, Endpoints::Pair(links[2], links[1]), Priority::Auto);
        builder.add_constraint(3, Endpoints::World(links[2]), Priority::Secondary);
        let graph = builder.finish().unwrap();
        let mut tables = plan(&graph).unwrap().tables().clone();
        damage(&mut tables);
        check(&graph, &EliminationPlan::from_tables(&graph, tables))
    }

    #[test]
    fn finds_each_kind_of_damage() {
        assert_eq!(verdict(|_| ()), Ok(()));
        let swapped = verdict(|tables| {
            tables.pairs.swap(0, 1);
            tables.pairs[1].parent = 0;
        });
        assert_eq!(swapped, Err(PlanDefect::Order { position: 3 }));
        let twice = verdict(|tables| tables.pairs[0] = tables.pairs[1]);
        assert!(matches!(twice, Err(PlanDefect::Listing { .. })));
        let flipped = verdict(|tables| tables.pairs[0].flipped = true);
        assert_eq!(flipped, Err(PlanDefect::Mismatch { position: 0 }));
        let torn = verdict(|tables| tables.trees[0].pairs.end -= 1);
        assert_eq!(torn, Err(PlanDefect::Grouping { position: 2 }));
        let shrunk = verdict(|tables| tables.islands[0].pairs.start += 1);
        assert_eq!(shrunk, Err(PlanDefect::Grouping { position: 0 }));
    }

    #[test]
    fn finds_constraints_in_wrong_places() {
        let exchanged = verdict(|tables| tables.pairs[0].constraint = tables.pairs[1].constraint);
        assert!(matches!(exchanged, Err(PlanDefect::Listing { .. })), "{exchanged:?}");
        let two_loops = verdict(|tables| tables.loops.push(tables.loops[0]));
        assert!(matches!(two_loops, Err(PlanDefect::Listing { .. })), "{two_loops:?}");
        let flipped = verdict(|tables| tables.pairs[2].flipped = true);
        assert_eq!(flipped, Err(PlanDefect::Mismatch { position: 2 }));
        let hung_higher = verdict(|tables| tables.pairs[0].parent = 2);
        assert_eq!(hung_higher, Err(PlanDefect::Mismatch { position: 0 }));
        let parted = verdict(|tables| {
            let first = tables.trees[0].pairs.clone();
            tables.trees[0].pairs.end = first.start + 1;
            tables.trees.push(tables.trees[0].clone());
            tables.trees[1].pairs = first.start + 1..first.end;
            tables.islands[0].trees.end = 2;
        });
        assert_eq!(parted, Err(PlanDefect::Grouping { position: 0 }));
    }

    #[test]
    fn finds_trees_that_are_mixed_up() {
        let mut builder = GraphBuilder::new();
        for _ in 0..2 {
            let body = builder.add_variable(6);
            builder.add_constraint(3, Endpoints::World(body), Priority::Auto);
        }
        let graph = builder.finish().unwrap();
        let verdict = |damage: fn(&mut PlanTables)| {
            let mut tables = plan(&graph).unwrap().tables().clone();
            damage(&mut tables);
            check(&graph, &EliminationPlan::from_tables(&graph, tables))
        };
        assert_eq!(verdict(|_| ()), Ok(()));
        assert_eq!(verdict(|tables| tables.pairs[0].parent = 1), Err(PlanDefect::Mismatch { position: 0 }));
        let wide = verdict(|tables| tables.islands[0].trees.end = 2);
        assert_eq!(wide, Err(PlanDefect::Grouping { position: 0 }));
    }
}
