//! The kinematic graph: variables (bodies) and the constraints (joints) between them or to the world.
//!
//! A graph holds dimensions and connections, no geometry. It is immutable once built; [`crate::replan`]
//! derives a changed one. Names are optional and serve error messages and [`crate::dot`] only. Storage is
//! about 15 bytes per node. Building fails with an error that names the variable or constraint.

use crate::error::TopologyError;
use crate::id::{ConstraintId, GraphNode, LARGEST_BLOCK, VariableId};
use std::collections::BTreeMap;

/// What a constraint connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoints {
    /// One variable and the world.
    World(VariableId),
    /// Two variables, the child first.
    Pair(VariableId, VariableId),
}

/// Preference of a constraint: in the spanning forest, whose rows hold to rounding, or in the loop set, whose rows are
/// solved by iteration (the constraint hierarchy of Fau99 §3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// In the forest if it closes no cycle, in order of creation and after all primary ones; else in the
    /// loop set.
    #[default]
    Auto,
    /// In the forest; it is an error if primary constraints alone close a cycle.
    Primary,
    /// In the loop set.
    Secondary,
}

/// Collects variables and constraints; [`GraphBuilder::finish`] checks them.
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    graph: Graph,
}

/// A checked, immutable kinematic graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    pub(crate) variables: Vec<u8>,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) variable_names: BTreeMap<VariableId, String>,
    pub(crate) constraint_names: BTreeMap<ConstraintId, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Constraint {
    pub(crate) endpoints: Endpoints,
    pub(crate) priority: Priority,
    pub(crate) dim: u8,
}

impl Endpoints {
    /// The variable that was declared as the child.
    pub fn child(self) -> VariableId {
        match self {
            Self::World(child) | Self::Pair(child, _) => child,
        }
    }

    /// The variable that was declared as the parent; `None` for the world.
    pub fn parent(self) -> Option<VariableId> {
        match self {
            Self::World(_) => None,
            Self::Pair(_, parent) => Some(parent),
        }
    }

    /// The one or two variables at the ends, the child first.
    pub fn variables(self) -> impl Iterator<Item = VariableId> {
        std::iter::once(self.child()).chain(self.parent())
    }
}

impl GraphBuilder {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a variable with 1 to [`LARGEST_BLOCK`] unknowns: a point has 3, a rigid body 6, an affine body 12.
    pub fn add_variable(&mut self, dim: usize) -> VariableId {
        let id = VariableId::new(self.graph.variables.len());
        self.graph.variables.push(clamped(dim));
        id
    }

    /// Adds a constraint with 0 to [`LARGEST_BLOCK`] rows. Its endpoints may be added later, but before
    /// [`GraphBuilder::finish`].
    pub fn add_constraint(&mut self, dim: usize, endpoints: Endpoints, priority: Priority) -> ConstraintId {
        let id = ConstraintId::new(self.graph.constraints.len());
        self.graph.constraints.push(Constraint { endpoints, priority, dim: clamped(dim) });
        id
    }

    /// Names a variable. Names of variables must differ from each other.
    pub fn name_variable(&mut self, id: VariableId, name: impl Into<String>) {
        self.graph.variable_names.insert(id, name.into());
    }

    /// Names a constraint. Names of constraints must differ from each other.
    pub fn name_constraint(&mut self, id: ConstraintId, name: impl Into<String>) {
        self.graph.constraint_names.insert(id, name.into());
    }

    /// Checks dimensions, endpoints and names.
    ///
    /// # Errors
    /// The first fault found, naming its culprit; never [`TopologyError::PrimaryCycle`], which
    /// [`crate::plan`] finds.
    pub fn finish(self) -> Result<Graph, TopologyError> {
        self.graph.checked()
    }
}

impl Graph {
    /// Number of variables.
    pub fn n_variables(&self) -> usize {
        self.variables.len()
    }

    /// Number of constraints, in the forest or not.
    pub fn n_constraints(&self) -> usize {
        self.constraints.len()
    }

    /// All variables in order of creation.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = VariableId> + use<> {
        (0..self.variables.len()).map(VariableId::new)
    }

    /// All constraints in order of creation.
    pub fn constraints(&self) -> impl ExactSizeIterator<Item = ConstraintId> + use<> {
        (0..self.constraints.len()).map(ConstraintId::new)
    }

    /// Number of unknowns of a variable, 1 to [`LARGEST_BLOCK`].
    pub fn variable_dim(&self, id: VariableId) -> usize {
        usize::from(self.variables[id.index()])
    }

    /// Number of rows of a constraint, 0 to [`LARGEST_BLOCK`].
    pub fn constraint_dim(&self, id: ConstraintId) -> usize {
        usize::from(self.constraints[id.index()].dim)
    }

    /// What a constraint connects.
    pub fn endpoints(&self, id: ConstraintId) -> Endpoints {
        self.constraints[id.index()].endpoints
    }

    /// The priority a constraint was declared with.
    pub fn priority(&self, id: ConstraintId) -> Priority {
        self.constraints[id.index()].priority
    }

    /// The graph with names, for messages; empty ones are left out. Names of variables must differ from each other, and so must those of constraints.
    #[must_use]
    pub fn with_names<'a>(
        mut self,
        variable: impl Fn(VariableId) -> &'a str,
        constraint: impl Fn(ConstraintId) -> &'a str,
    ) -> Self {
        let variables = self.variables().map(|id| (id, variable(id).to_owned()));
        self.variable_names = variables.filter(|(_, name)| !name.is_empty()).collect();
        let constraints = self.constraints().map(|id| (id, constraint(id).to_owned()));
        self.constraint_names = constraints.filter(|(_, name)| !name.is_empty()).collect();
        self
    }

    /// The name of a variable, if it was given one.
    pub fn variable_name(&self, id: VariableId) -> Option<&str> {
        self.variable_names.get(&id).map(String::as_str)
    }

    /// The name of a constraint, if it was given one.
    pub fn constraint_name(&self, id: ConstraintId) -> Option<&str> {
        self.constraint_names.get(&id).map(String::as_str)
    }

    /// How messages call a node: kind, index and, if there is one, name.
    pub fn label(&self, node: GraphNode) -> String {
        let name = match node {
            GraphNode::Variable(id) => self.variable_name(id),
            GraphNode::Constraint(id) => self.constraint_name(id),
        };
        name.map_or_else(|| node.to_string(), |name| format!("{node} \"{name}\""))
    }

    /// Hands the graph back if it obeys all rules.
    pub(crate) fn checked(self) -> Result<Self, TopologyError> {
        self.check_variables()?;
        self.check_constraints()?;
        self.check_names()?;
        Ok(self)
    }

    fn check_variables(&self) -> Result<(), TopologyError> {
        match self.variables.iter().position(|&dim| dim == 0 || usize::from(dim) > LARGEST_BLOCK) {
            Some(index) => {
                let variable = self.label(GraphNode::Variable(VariableId::new(index)));
                Err(TopologyError::VariableDimension { variable })
            }
            None => Ok(()),
        }
    }

    fn check_constraints(&self) -> Result<(), TopologyError> {
        for (index, constraint) in self.constraints.iter().enumerate() {
            let label = || self.label(GraphNode::Constraint(ConstraintId::new(index)));
            if usize::from(constraint.dim) > LARGEST_BLOCK {
                return Err(TopologyError::ConstraintDimension { constraint: label() });
            }
            if let Some(missing) = constraint.endpoints.variables().find(|v| v.index() >= self.n_variables())
            {
                let variable = missing.index();
                return Err(TopologyError::DanglingEndpoint { constraint: label(), variable });
            }
            if constraint.endpoints.parent() == Some(constraint.endpoints.child()) {
                let variable = self.label(GraphNode::Variable(constraint.endpoints.child()));
                return Err(TopologyError::SelfLoop { constraint: label(), variable });
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), TopologyError> {
        let variables = self.variable_names.iter().map(|(&id, name)| (GraphNode::Variable(id), name));
        let constraints = self.constraint_names.iter().map(|(&id, name)| (GraphNode::Constraint(id), name));
        let mut seen: BTreeMap<(bool, &str), GraphNode> = BTreeMap::new();
        for (node, name) in variables.chain(constraints) {
            let (is_variable, exists) = match node {
                GraphNode::Variable(id) => (true, id.index() < self.n_variables()),
                GraphNode::Constraint(id) => (false, id.index() < self.n_constraints()),
            };
            if !exists {
                return Err(TopologyError::DanglingName { name: name.clone() });
            }
            if let Some(first) = seen.insert((is_variable, name), node) {
                let (first, second) = (self.label(first), self.label(node));
                return Err(TopologyError::DuplicateName { first, second });
            }
        }
        Ok(())
    }
}

/// A dimension as stored; every value above the valid range stays above it.
pub(crate) fn clamped(dim: usize) -> u8 {
    u8::try_from(dim).unwrap_or(u8::MAX)
}
