//! Re-planning after an edit equals planning from scratch.

use crate::{c, ends, graph, v};
use proptest::prelude::*;
use sinew_testkit::Rng;
use sinew_topology::{Endpoints, Graph, GraphBuilder, GraphEdit, Priority, check, plan, replan};

#[test]
fn only_touched_islands_are_planned_again() {
    let chains = [(1, 0), (2, 1), (4, 3), (5, 4), (7, 6), (8, 7)];
    let graph = graph(9, &chains);
    let old = plan(&graph).unwrap();
    let mut edit = GraphEdit::new(&graph);
    let extra = edit.add_variable(6);
    let link = edit.add_constraint(3, Endpoints::Pair(extra, v(5)), Priority::Auto);
    let done = replan(&old, &graph, &edit).unwrap();
    assert_eq!(done.n_replanned, 4);
    assert_eq!(done.plan, plan(&done.graph).unwrap());
    assert_eq!((done.ids.variable(extra), done.ids.constraint(link)), (Some(v(9)), Some(c(6))));
}

#[test]
fn removing_a_variable_splits_its_island_and_frees_its_names() {
    let mut builder = GraphBuilder::new();
    let bodies: Vec<_> = (0..4).map(|_| builder.add_variable(6)).collect();
    let joints: Vec<_> = (1..4)
        .map(|i| builder.add_constraint(5, Endpoints::Pair(bodies[i], bodies[i - 1]), Priority::Auto))
        .collect();
    builder.name_variable(bodies[1], "gone");
    builder.name_variable(bodies[3], "last");
    builder.name_constraint(joints[0], "elbow");
    let graph = builder.finish().unwrap();
    let mut edit = GraphEdit::new(&graph);
    edit.remove_variable(bodies[1]);
    edit.name_variable(bodies[0], "gone");
    edit.name_constraint(joints[2], "elbow");
    let done = replan(&plan(&graph).unwrap(), &graph, &edit).unwrap();
    assert_eq!(done.ids.variable(bodies[1]), None);
    assert_eq!([0, 1, 2].map(|i| done.ids.constraint(joints[i])), [None, None, Some(c(0))]);
    assert_eq!(done.graph.variable_name(v(0)), Some("gone"));
    assert_eq!(done.graph.variable_name(v(2)), Some("last"));
    assert_eq!(done.graph.constraint_name(c(0)), Some("elbow"));
    assert_eq!(done.plan.islands().len(), 2);
    assert_eq!(done.plan, plan(&done.graph).unwrap());
}

#[test]
fn what_an_edit_adds_it_can_take_back() {
    let graph = graph(2, &[(1, 0)]);
    let old = plan(&graph).unwrap();
    let mut edit = GraphEdit::new(&graph);
    let link = edit.add_constraint(3, Endpoints::World(v(0)), Priority::Auto);
    edit.remove_constraint(link);
    let done = replan(&old, &graph, &edit).unwrap();
    assert_eq!((done.ids.constraint(link), &done.plan, &done.graph), (None, &old, &graph));
}

#[test]
fn an_empty_edit_copies_everything() {
    let graph = graph(4, &[(1, 0), (3, 2), (3, 4)]);
    let old = plan(&graph).unwrap();
    let done = replan(&old, &graph, &GraphEdit::new(&graph)).unwrap();
    assert_eq!((done.n_replanned, &done.plan, &done.graph), (0, &old, &graph));
}

fn random_graph(rng: &mut Rng, n: usize, n_constraints: usize) -> Graph {
    let mut builder = GraphBuilder::new();
    (0..n).for_each(|_| _ = builder.add_variable(1 + rng.below(6)));
    for _ in 0..n_constraints {
        let child = rng.below(n);
        let parent = (child + 1 + rng.below(n)) % (n + 1);
        let priority = if rng.chance(0.2) { Priority::Secondary } else { Priority::Auto };
        builder.add_constraint(rng.below(7), ends(n, child, parent), priority);
    }
    builder.finish().unwrap()
}

fn random_edit(rng: &mut Rng, graph: &Graph) -> GraphEdit {
    let mut edit = GraphEdit::new(graph);
    let mut alive: Vec<_> = graph.variables().collect();
    for _ in 0..rng.below(3) {
        if alive.len() > 1 {
            edit.remove_variable(alive.swap_remove(rng.below(alive.len())));
        }
    }
    for _ in 0..rng.below(3).min(graph.n_constraints()) {
        edit.remove_constraint(c(rng.below(graph.n_constraints())));
    }
    (0..rng.below(3)).for_each(|_| alive.push(edit.add_variable(6)));
    for _ in 0..rng.below(4) {
        let (a, b) = (alive[rng.below(alive.len())], alive[rng.below(alive.len())]);
        let endpoints = if a == b { Endpoints::World(a) } else { Endpoints::Pair(a, b) };
        edit.add_constraint(rng.below(7), endpoints, Priority::Auto);
    }
    edit
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// A whole history of edits: after each one the plan is the plan from scratch, and ids point at what they
    /// pointed at before.
    #[test]
    fn histories_of_edits(seed: u64, n in 1usize..30, density in 0.0f64..1.5) {
        let rng = &mut Rng::new(seed);
        let mut graph = random_graph(rng, n, (density * n as f64) as usize);
        let mut current = plan(&graph).unwrap();
        for _ in 0..4 {
            let edit = random_edit(rng, &graph);
            let done = replan(&current, &graph, &edit).unwrap();
            prop_assert_eq!(&done.plan, &plan(&done.graph).unwrap());
            prop_assert_eq!(check(&done.graph, &done.plan), Ok(()));
            for id in graph.constraints() {
                let Some(new) = done.ids.constraint(id) else { continue };
                prop_assert_eq!(graph.constraint_dim(id), done.graph.constraint_dim(new));
                let old_ends = graph.endpoints(id).variables().map(|end| done.ids.variable(end));
                prop_assert!(old_ends.eq(done.graph.endpoints(new).variables().map(Some)));
            }
            (graph, current) = (done.graph, done.plan);
        }
    }
}
