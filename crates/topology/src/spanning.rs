//! Splits the constraints into a spanning forest and the loop set.
//!
//! Union–find over the variables plus one node for the world (docs/maths, elimination): primary constraints
//! first, then auto ones, each in order of creation; a constraint that closes a cycle, a second path to the
//! world included, belongs to the loop set. Secondary ones always do. Cost: almost linear. A cycle of primary
//! constraints is an error that lists it.

use crate::graph::{Endpoints, Graph, Priority};
use crate::id::{ConstraintId, GraphNode, VariableId};
use crate::{error::TopologyError, sets::DisjointSets};
use std::collections::VecDeque;

/// For each constraint, whether it is in the spanning forest.
pub(crate) fn split(graph: &Graph) -> Result<Vec<bool>, TopologyError> {
    let world = graph.n_variables();
    let mut sets = DisjointSets::new(world + 1);
    let mut in_forest = vec![false; graph.n_constraints()];
    for priority in [Priority::Primary, Priority::Auto] {
        for id in graph.constraints().filter(|&id| graph.priority(id) == priority) {
            let (child, parent) = ends(graph, id);
            let is_new = sets.join(child as u32, parent as u32);
            if !is_new && priority == Priority::Primary {
                return Err(TopologyError::PrimaryCycle { cycle: cycle_of(graph, &in_forest, id) });
            }
            in_forest[id.index()] = is_new;
        }
    }
    Ok(in_forest)
}

/// Both ends as indices, the world being the index after the last variable.
fn ends(graph: &Graph, id: ConstraintId) -> (usize, usize) {
    match graph.endpoints(id) {
        Endpoints::World(child) => (child.index(), graph.n_variables()),
        Endpoints::Pair(child, parent) => (child.index(), parent.index()),
    }
}

/// Labels around the cycle that `closing` makes with the forest: breadth-first from its parent to its child.
fn cycle_of(graph: &Graph, in_forest: &[bool], closing: ConstraintId) -> Vec<String> {
    let mut neighbours = vec![Vec::new(); graph.n_variables() + 1];
    for id in graph.constraints().filter(|id| in_forest[id.index()]) {
        let (a, b) = ends(graph, id);
        neighbours[a].push((b, id));
        neighbours[b].push((a, id));
    }
    let (start, goal) = ends(graph, closing);
    let mut reached_by: Vec<Option<(usize, ConstraintId)>> = vec![None; neighbours.len()];
    let mut queue = VecDeque::from([goal]);
    while let Some(here) = queue.pop_front() {
        for &(next, id) in &neighbours[here] {
            if next != goal && reached_by[next].is_none() {
                reached_by[next] = Some((here, id));
                queue.push_back(next);
            }
        }
    }
    let label = |index: usize| match index < graph.n_variables() {
        true => graph.label(GraphNode::Variable(VariableId::new(index))),
        false => "world".to_owned(),
    };
    let mut cycle = vec![label(start)];
    let mut here = start;
    while let Some((next, id)) = reached_by[here] {
        cycle.extend([graph.label(GraphNode::Constraint(id)), label(next)]);
        here = next;
    }
    cycle.push(graph.label(GraphNode::Constraint(closing)));
    cycle
}
