//! Changes of a graph, and the maps from old to new ids.
//!
//! An edit uses *extended* ids: those of the old graph, followed by those of its additions. Applying
//! it closes the gaps left by removals; the order of the survivors stays, additions come last. Removing a
//! variable removes the constraints that touch it.

use crate::error::TopologyError;
use crate::graph::{Constraint, Endpoints, Graph, Priority, clamped};
use crate::id::{ConstraintId, GraphNode, NONE, VariableId, dense};
use std::collections::{BTreeMap, BTreeSet};

/// A list of additions and removals to apply to one graph with [`crate::replan`].
#[derive(Clone, Debug)]
pub struct GraphEdit {
    n_old_variables: usize,
    n_old_constraints: usize,
    pub(crate) added: Graph,
    pub(crate) removed_variables: BTreeSet<VariableId>,
    pub(crate) removed_constraints: BTreeSet<ConstraintId>,
}

/// Maps ids of the old graph, and ids handed out by the edit, to ids of the new graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdMap {
    variables: Vec<u32>,
    constraints: Vec<u32>,
}

impl GraphEdit {
    /// No changes yet to `graph`.
    pub fn new(graph: &Graph) -> Self {
        Self {
            n_old_variables: graph.n_variables(),
            n_old_constraints: graph.n_constraints(),
            added: Graph::default(),
            removed_variables: BTreeSet::new(),
            removed_constraints: BTreeSet::new(),
        }
    }

    /// Adds a variable with 1 to [`crate::LARGEST_BLOCK`] unknowns; the id is an extended one.
    pub fn add_variable(&mut self, dim: usize) -> VariableId {
        self.added.variables.push(clamped(dim));
        VariableId::new(self.n_old_variables + self.added.variables.len() - 1)
    }

    /// Adds a constraint with 0 to [`crate::LARGEST_BLOCK`] rows between old or added variables; the id is an extended one.
    pub fn add_constraint(&mut self, dim: usize, endpoints: Endpoints, priority: Priority) -> ConstraintId {
        self.added.constraints.push(Constraint { endpoints, priority, dim: clamped(dim) });
        ConstraintId::new(self.n_old_constraints + self.added.constraints.len() - 1)
    }

    /// Names or renames an old or added variable.
    pub fn name_variable(&mut self, id: VariableId, name: impl Into<String>) {
        self.added.variable_names.insert(id, name.into());
    }

    /// Names or renames an old or added constraint.
    pub fn name_constraint(&mut self, id: ConstraintId, name: impl Into<String>) {
        self.added.constraint_names.insert(id, name.into());
    }

    /// Removes a variable together with every constraint that touches it.
    pub fn remove_variable(&mut self, id: VariableId) {
        self.removed_variables.insert(id);
    }

    /// Removes a constraint.
    pub fn remove_constraint(&mut self, id: ConstraintId) {
        self.removed_constraints.insert(id);
    }

    /// The changed graph and the maps into it.
    pub(crate) fn apply(&self, old: &Graph) -> Result<(Graph, IdMap), TopologyError> {
        assert_eq!(
            (old.n_variables(), old.n_constraints()),
            (self.n_old_variables, self.n_old_constraints),
            "the edit was made for another graph"
        );
        let mut extended = old.clone();
        extended.variables.extend(&self.added.variables);
        extended.constraints.extend(&self.added.constraints);
        let ids = self.id_map(&extended);
        // Names of what goes are free again before the edit's names come in.
        extended.variable_names.retain(|&id, _| ids.variable(id).is_some());
        extended.constraint_names.retain(|&id, _| ids.constraint(id).is_some());
        extended.variable_names.extend(self.added.variable_names.clone());
        extended.constraint_names.extend(self.added.constraint_names.clone());
        self.check_removals(&extended)?;
        self.check_endpoints(&extended)?;
        Ok((ids.restricted(&extended.checked()?), ids))
    }

    /// Added constraints must not hang on removed variables.
    fn check_endpoints(&self, extended: &Graph) -> Result<(), TopologyError> {
        for (offset, constraint) in self.added.constraints.iter().enumerate() {
            let gone = constraint.endpoints.variables().find(|id| self.removed_variables.contains(id));
            if let Some(gone) = gone {
                let id = ConstraintId::new(self.n_old_constraints + offset);
                let constraint = extended.label(GraphNode::Constraint(id));
                return Err(TopologyError::DanglingEndpoint { constraint, variable: gone.index() });
            }
        }
        Ok(())
    }

    fn check_removals(&self, extended: &Graph) -> Result<(), TopologyError> {
        let variable = self.removed_variables.iter().find(|id| id.index() >= extended.n_variables());
        let constraint = self.removed_constraints.iter().find(|id| id.index() >= extended.n_constraints());
        let missing =
            variable.map(|&id| GraphNode::Variable(id)).or(constraint.map(|&id| GraphNode::Constraint(id)));
        missing.map_or(Ok(()), |node| Err(TopologyError::DanglingRemoval { node: extended.label(node) }))
    }

    fn id_map(&self, extended: &Graph) -> IdMap {
        let stays = |id: &VariableId| !self.removed_variables.contains(id);
        IdMap::keeping(extended, stays, |id| {
            !self.removed_constraints.contains(id)
                && extended.endpoints(*id).variables().all(|end| stays(&end))
        })
    }
}

impl IdMap {
    /// Closes the gaps between the ids that stay.
    pub(crate) fn keeping(
        graph: &Graph,
        variable_stays: impl Fn(&VariableId) -> bool,
        constraint_stays: impl Fn(&ConstraintId) -> bool,
    ) -> Self {
        Self {
            variables: compact(graph.variables(), variable_stays),
            constraints: compact(graph.constraints(), constraint_stays),
        }
    }

    /// The map back from the new ids.
    pub(crate) fn inverse(&self) -> Self {
        Self { variables: inverted(&self.variables), constraints: inverted(&self.constraints) }
    }

    /// What stays of a graph, renumbered. Constraints must stay only with both endpoints.
    pub(crate) fn restricted(&self, graph: &Graph) -> Graph {
        let variables = graph.variables().filter(|&id| self.variable(id).is_some());
        let constraints = graph.constraints().filter(|&id| self.constraint(id).is_some());
        Graph {
            variables: variables.map(|id| graph.variables[id.index()]).collect(),
            constraints: constraints.map(|id| self.moved(graph.constraints[id.index()])).collect(),
            variable_names: renumbered(&graph.variable_names, |id| self.variable(id)),
            constraint_names: renumbered(&graph.constraint_names, |id| self.constraint(id)),
        }
    }

    /// The new id of an old or added variable; `None` if it was removed.
    pub fn variable(&self, id: VariableId) -> Option<VariableId> {
        let new = self.variables[id.index()];
        (new != NONE).then(|| VariableId::new(new as usize))
    }

    /// The new id of an old or added constraint; `None` if it was removed.
    pub fn constraint(&self, id: ConstraintId) -> Option<ConstraintId> {
        let new = self.constraints[id.index()];
        (new != NONE).then(|| ConstraintId::new(new as usize))
    }

    fn moved(&self, constraint: Constraint) -> Constraint {
        let new = |id| self.variable(id).expect("a constraint stays only with its endpoints");
        let endpoints = match constraint.endpoints {
            Endpoints::World(child) => Endpoints::World(new(child)),
            Endpoints::Pair(child, parent) => Endpoints::Pair(new(child), new(parent)),
        };
        Constraint { endpoints, ..constraint }
    }
}

/// New indices of the ids that stay; [`NONE`] for the others.
fn compact<I>(ids: impl Iterator<Item = I>, stays: impl Fn(&I) -> bool) -> Vec<u32> {
    let mut next = 0;
    ids.map(|id| {
        let new = if stays(&id) { dense(next) } else { NONE };
        next += usize::from(new != NONE);
        new
    })
    .collect()
}

/// The old index of each new one.
fn inverted(new_of_old: &[u32]) -> Vec<u32> {
    (0..new_of_old.len()).filter(|&old| new_of_old[old] != NONE).map(dense).collect()
}

fn renumbered<I: Copy + Ord>(
    names: &BTreeMap<I, String>,
    new: impl Fn(I) -> Option<I>,
) -> BTreeMap<I, String> {
    names.iter().filter_map(|(&id, name)| Some((new(id)?, name.clone()))).collect()
}
