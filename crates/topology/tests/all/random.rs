//! Random graphs: every plan passes the check, and the forest is a spanning one.

use crate::ends;
use proptest::prelude::*;
use sinew_testkit::Rng;
use sinew_topology::{Graph, GraphBuilder, GraphNode, Priority, Role, check, plan};

/// Connected components of the graph with the marked constraints, the world counting as a node, by flooding.
fn n_components(graph: &Graph, marked: impl Fn(usize) -> bool) -> usize {
    let n = graph.n_variables();
    let mut label: Vec<usize> = (0..=n).collect();
    loop {
        let mut changed = false;
        for id in graph.constraints().filter(|id| marked(id.index())) {
            let a = graph.endpoints(id).child().index();
            let b = graph.endpoints(id).parent().map_or(n, |parent| parent.index());
            let low = label[a].min(label[b]);
            changed |= label[a] != low || label[b] != low;
            (label[a], label[b]) = (low, low);
        }
        if !changed {
            label.sort_unstable();
            label.dedup();
            return label.len();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn plans_are_valid_and_forests_span(seed: u64, n in 1usize..40, density in 0.0f64..2.0) {
        let rng = &mut Rng::new(seed);
        let mut builder = GraphBuilder::new();
        (0..n).for_each(|_| _ = builder.add_variable(1 + rng.below(6)));
        for _ in 0..(density * n as f64) as usize {
            let child = rng.below(n);
            let parent = (child + 1 + rng.below(n)) % (n + 1);
            let priorities = [Priority::Auto, Priority::Auto, Priority::Primary, Priority::Secondary];
            builder.add_constraint(rng.below(7), ends(n, child, parent), priorities[rng.below(4)]);
        }
        let graph = builder.finish().unwrap();
        let n_marked = |test: &dyn Fn(Priority) -> bool| {
            let count = graph.constraints().filter(|&id| test(graph.priority(id))).count();
            (count, n_components(&graph, |i| test(graph.priority(crate::c(i)))))
        };
        let (n_primary, primary_parts) = n_marked(&|p| p == Priority::Primary);
        let has_primary_cycle = n_primary + primary_parts > n + 1;
        match plan(&graph) {
            Err(_) => prop_assert!(has_primary_cycle),
            Ok(plan) => {
                prop_assert!(!has_primary_cycle);
                prop_assert_eq!(check(&graph, &plan), Ok(()));
                // A forest with as many components as all candidates together spans them.
                let (_, parts) = n_marked(&|p| p != Priority::Secondary);
                let in_forest = |i: usize| matches!(plan.role(crate::c(i)), Role::Forest(_));
                prop_assert_eq!(n_components(&graph, in_forest), parts);
                for node in plan.nodes() {
                    let dim = match node.node {
                        GraphNode::Variable(id) => graph.variable_dim(id),
                        GraphNode::Constraint(id) => graph.constraint_dim(id),
                    };
                    prop_assert_eq!(dim, usize::from(node.dim));
                }
            }
        }
    }
}
