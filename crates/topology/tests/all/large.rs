//! A million links: no recursion, no quadratic step.

use crate::graph;
use sinew_topology::{GraphEdit, check, plan, replan};

const N: usize = 1_000_000;

#[test]
fn million_link_chain() {
    let mut constraints: Vec<_> = (1..N).map(|i| (i, i - 1)).collect();
    constraints.push((0, N));
    let graph = graph(N, &constraints);
    let plan = plan(&graph).unwrap();
    assert_eq!(plan.depth(0), N - 1);
    assert_eq!(plan.pairs()[0].variable.index(), N - 1);
    assert_eq!(check(&graph, &plan), Ok(()));
    let schedule = plan.schedule(1024);
    assert_eq!((schedule.tasks.len(), schedule.trunk.len()), (1, N - 1023));
}

#[test]
fn million_leaf_star() {
    let constraints: Vec<_> = (1..N).map(|i| (i, 0)).collect();
    let graph = graph(N, &constraints);
    let plan = plan(&graph).unwrap();
    assert_eq!(plan.depth(0), 1);
    assert_eq!(check(&graph, &plan), Ok(()));
}

#[test]
fn million_free_bodies_and_one_edit() {
    let graph = graph(N, &[]);
    let old = plan(&graph).unwrap();
    assert_eq!(old.islands().len(), N);
    let mut edit = GraphEdit::new(&graph);
    edit.remove_variable(crate::v(N / 2));
    let done = replan(&old, &graph, &edit).unwrap();
    assert_eq!((done.n_replanned, done.plan.pairs().len()), (0, N - 1));
}
