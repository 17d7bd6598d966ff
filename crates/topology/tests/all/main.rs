//! All tests of sinew-topology that use its public interface.
#![expect(clippy::unwrap_used, reason = "a test that cannot build its input has failed")]

mod dot;
mod editing;
mod errors;
mod large;
mod planning;
mod random;
mod scheduling;

use sinew_topology::{ConstraintId, Endpoints, Graph, GraphBuilder, Priority, VariableId};

/// A graph of `n` six-dimensional variables and three-row auto constraints; the parent `n` is the world.
fn graph(n: usize, constraints: &[(usize, usize)]) -> Graph {
    prioritized(n, &constraints.iter().map(|&(a, b)| (a, b, Priority::Auto)).collect::<Vec<_>>())
}

fn prioritized(n: usize, constraints: &[(usize, usize, Priority)]) -> Graph {
    let mut builder = GraphBuilder::new();
    (0..n).for_each(|_| _ = builder.add_variable(6));
    for &(child, parent, priority) in constraints {
        builder.add_constraint(3, ends(n, child, parent), priority);
    }
    builder.finish().unwrap()
}

fn ends(n: usize, child: usize, parent: usize) -> Endpoints {
    if parent == n { Endpoints::World(v(child)) } else { Endpoints::Pair(v(child), v(parent)) }
}

fn v(index: usize) -> VariableId {
    VariableId::new(index)
}

fn c(index: usize) -> ConstraintId {
    ConstraintId::new(index)
}
