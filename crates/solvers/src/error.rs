//! Errors of a factorization; each names the variable or constraint.

use sinew_topology::GraphNode;
use thiserror::Error;

/// Why a system could not be factored.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FactorError {
    /// A pivot is not definite enough: a variable without mass, or a constraint whose rows are dependent.
    #[error(
        "the pivot of {node} is zero or nearly so ({magnitude:e}): \
         add mass to a variable; remove dependent rows of a constraint, or add compliance"
    )]
    SingularPivot {
        /// The variable or constraint whose block has no factor.
        node: GraphNode,
        /// The pivot, positive when definite, in the units of the diagonal block.
        magnitude: f64,
    },
    /// The node does not fit the pair form.
    #[error(
        "{node} has no pair form, which needs variables of six unknowns and up to six rows without compliance: use TreeLdlt"
    )]
    NoPairForm {
        /// The variable of another size, or the constraint with compliance or more rows.
        node: GraphNode,
    },
}
