//! Errors of graphs. Every message names the variable or constraint by index and, if it has one, by name.

use crate::id::LARGEST_BLOCK;
use thiserror::Error;

/// Why a graph was refused or could not be planned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// A variable has no unknowns or too many.
    #[error("{variable} must have 1 to {} unknowns", LARGEST_BLOCK)]
    VariableDimension {
        /// Index and name of the variable.
        variable: String,
    },
    /// A constraint has too many rows.
    #[error("{constraint} must have 0 to {} rows", LARGEST_BLOCK)]
    ConstraintDimension {
        /// Index and name of the constraint.
        constraint: String,
    },
    /// A constraint refers to a variable that does not exist.
    #[error("{constraint} refers to variable {variable}, which does not exist: add the variable first")]
    DanglingEndpoint {
        /// Index and name of the constraint.
        constraint: String,
        /// Index of the missing variable.
        variable: usize,
    },
    /// Both ends of a constraint are the same variable.
    #[error("{constraint} connects {variable} to itself: use two different variables, or the world")]
    SelfLoop {
        /// Index and name of the constraint.
        constraint: String,
        /// Index and name of the variable.
        variable: String,
    },
    /// Two variables, or two constraints, have the same name.
    #[error("{first} and {second} have the same name: rename one of them")]
    DuplicateName {
        /// Index and name of the first holder.
        first: String,
        /// Index and name of the second holder.
        second: String,
    },
    /// A name was given to a variable or constraint that does not exist.
    #[error("the name \"{name}\" was given to a variable or constraint that does not exist: add it first")]
    DanglingName {
        /// The name.
        name: String,
    },
    /// An edit removes something that does not exist.
    #[error("the edit removes {node}, which does not exist: remove each node once")]
    DanglingRemoval {
        /// Index of the missing variable or constraint.
        node: String,
    },
    /// Primary constraints close a cycle, so they cannot all be in the tree.
    #[error("primary constraints close a cycle: {}; make one of them auto or secondary", cycle.join(" – "))]
    PrimaryCycle {
        /// Variables and constraints around the cycle in order, by index and name; the last one is the
        /// constraint that closed it.
        cycle: Vec<String>,
    },
}
