//! Plans a graph: spanning forest and loop set first, then the order of elimination. Cost: linear.

use crate::{error::TopologyError, graph::Graph, order::order, plan::EliminationPlan, spanning::split};

/// Plans the elimination of a graph.
///
/// # Errors
/// [`TopologyError::PrimaryCycle`] when primary constraints close a cycle.
pub fn plan(graph: &Graph) -> Result<EliminationPlan, TopologyError> {
    let in_forest = split(graph)?;
    Ok(EliminationPlan::from_tables(graph, order(graph, &in_forest)))
}
