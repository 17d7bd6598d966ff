//! Ids of variables and constraints: 32-bit indices from 0 without gaps, valid for one graph.

use std::fmt;

/// Largest number of unknowns of a variable, and of rows of a constraint.
pub const LARGEST_BLOCK: usize = 128;

/// Stands for "no parent" in `u32` positions.
pub const NONE: u32 = u32::MAX;

/// Index of a variable (a body), counted from 0 in the order of creation. Valid for one graph only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(u32);

/// Index of a constraint (a joint), counted from 0 in the order of creation. Valid for one graph only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstraintId(u32);

/// A variable or a constraint: one block row of the linear system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GraphNode {
    /// A variable (a body).
    Variable(VariableId),
    /// A constraint (a joint).
    Constraint(ConstraintId),
}

impl VariableId {
    /// The id with this index. Panics from 2³² on.
    pub fn new(index: usize) -> Self {
        Self(dense(index))
    }

    /// Position in arrays that hold one entry per variable in creation order.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ConstraintId {
    /// The id with this index. Panics from 2³² on.
    pub fn new(index: usize) -> Self {
        Self(dense(index))
    }

    /// Position in arrays that hold one entry per constraint in creation order.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Kind and index, as messages show them: `variable 3`.
impl fmt::Display for GraphNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(id) => write!(f, "variable {}", id.index()),
            Self::Constraint(id) => write!(f, "constraint {}", id.index()),
        }
    }
}

/// An index as stored: 32 bits.
pub(crate) fn dense(index: usize) -> u32 {
    u32::try_from(index).expect("a graph holds fewer than 2³² nodes")
}
