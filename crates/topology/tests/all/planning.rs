//! Hand-checked plans.

use crate::{c, graph, prioritized, v};
use sinew_topology::{GraphBuilder, GraphNode, NONE, Priority, Role, check, plan};

#[test]
fn empty_graph() {
    let graph = GraphBuilder::new().finish().unwrap();
    let plan = plan(&graph).unwrap();
    assert!(plan.pairs().is_empty() && plan.islands().is_empty());
    assert!(plan.schedule(8).tasks.is_empty());
    assert_eq!(check(&graph, &plan), Ok(()));
}

#[test]
fn branching_tree_is_post_ordered() {
    // 0 hangs from the world and holds 1 and 2; 2 holds 3 and 4: the golden tree.
    let graph = graph(5, &[(1, 0), (2, 0), (3, 2), (4, 2), (0, 5)]);
    let plan = plan(&graph).unwrap();
    let order: Vec<usize> = plan.pairs().iter().map(|pair| pair.variable.index()).collect();
    assert_eq!(order, [1, 3, 4, 2, 0]);
    let parents: Vec<u32> = plan.pairs().iter().map(|pair| pair.parent).collect();
    assert_eq!(parents, [4, 3, 3, 4, NONE]);
    assert_eq!(plan.nodes().len(), 10);
    assert_eq!(plan.nodes()[9].node, GraphNode::Constraint(c(4)));
    assert_eq!((plan.parent(2), plan.grandparent(2)), (Some(3), Some(6)));
    assert_eq!((plan.parent(9), plan.grandparent(8)), (None, None));
    assert_eq!((0..5).map(|pair| plan.depth(pair)).collect::<Vec<_>>(), [1, 2, 2, 1, 0]);
    assert_eq!((plan.position_of(v(2)), plan.node_of_variable(v(2))), (3, 6));
    assert_eq!((plan.role(c(1)), plan.node_of_constraint(c(1))), (Role::Forest(3), Some(7)));
    assert_eq!(check(&graph, &plan), Ok(()));
}

#[test]
fn free_tree_is_rooted_where_nothing_is_flipped() {
    let graph = graph(4, &[(0, 1), (1, 2), (3, 2)]);
    let plan = plan(&graph).unwrap();
    let root = plan.pairs().last().unwrap();
    assert_eq!((root.variable, root.constraint), (v(2), None));
    assert!(plan.pairs().iter().all(|pair| !pair.flipped));
    assert_eq!(plan.nodes().len(), 7);
    assert_eq!(check(&graph, &plan), Ok(()));
}

#[test]
fn free_tree_is_rooted_at_the_first_variable_that_is_no_child() {
    for (links, expected) in [([(0, 2), (1, 2)], 2), ([(0, 1), (0, 2)], 1), ([(2, 0), (2, 1)], 0)] {
        let plan = plan(&graph(3, &links)).unwrap();
        assert_eq!(plan.pairs().last().unwrap().variable, v(expected), "{links:?}");
    }
}

#[test]
fn world_constraint_roots_its_tree_and_flips_what_points_away() {
    // Declared as a chain that hangs from 0, but held by the world at its other end.
    let graph = graph(3, &[(1, 0), (2, 1), (2, 3)]);
    let plan = plan(&graph).unwrap();
    let table: Vec<_> = plan.pairs().iter().map(|p| (p.variable.index(), p.parent, p.flipped)).collect();
    assert_eq!(table, [(0, 1, true), (1, 2, true), (2, NONE, false)]);
    assert_eq!(check(&graph, &plan), Ok(()));
}

#[test]
fn second_path_to_the_world_is_a_loop() {
    let graph = graph(3, &[(0, 3), (1, 0), (2, 1), (2, 3), (0, 3)]);
    let plan = plan(&graph).unwrap();
    assert_eq!(plan.loop_constraints(), [c(3), c(4)]);
    assert_eq!(plan.role(c(4)), Role::Loop(1));
    assert_eq!(plan.node_of_constraint(c(4)), None);
    assert_eq!(check(&graph, &plan), Ok(()));
}

#[test]
fn primary_goes_first_and_secondary_never() {
    let square = |priorities: [Priority; 4]| {
        let ends = [(1, 0), (2, 1), (3, 2), (0, 3)];
        let constraints: Vec<_> = ends.iter().zip(priorities).map(|(&(a, b), p)| (a, b, p)).collect();
        let graph = prioritized(4, &constraints);
        let plan = plan(&graph).unwrap();
        assert_eq!(check(&graph, &plan), Ok(()));
        plan.loop_constraints().to_vec()
    };
    use Priority::{Auto, Primary, Secondary};
    assert_eq!(square([Auto; 4]), [c(3)]);
    assert_eq!(square([Auto, Auto, Auto, Primary]), [c(2)]);
    assert_eq!(square([Auto, Secondary, Auto, Auto]), [c(1)]);
    assert_eq!(square([Secondary, Auto, Primary, Secondary]), [c(0), c(3)]);
}

#[test]
fn loop_partners_share_an_island_but_the_world_connects_nothing() {
    use Priority::{Auto, Secondary};
    // Trees {0, 1}, {2}, {3, 4}, {5}: a loop joins the first and the third, 2 and 5 hang from the world.
    let constraints =
        [(1, 0, Auto), (2, 6, Auto), (4, 3, Auto), (4, 1, Secondary), (5, 6, Auto), (5, 6, Secondary)];
    let graph = prioritized(6, &constraints);
    let plan = plan(&graph).unwrap();
    let order: Vec<usize> = plan.pairs().iter().map(|pair| pair.variable.index()).collect();
    assert_eq!(order, [1, 0, 4, 3, 2, 5]);
    let islands: Vec<_> =
        plan.islands().iter().map(|i| (i.pairs.clone(), i.trees.clone(), i.loops.clone())).collect();
    assert_eq!(islands, [(0..4, 0..2, 0..1), (4..5, 2..3, 1..1), (5..6, 3..4, 1..2)]);
    assert_eq!([0, 1, 2, 3, 4, 5].map(|i| plan.island_of(v(i))), [0, 0, 1, 0, 0, 2]);
    assert_eq!(check(&graph, &plan), Ok(()));
}

#[test]
fn check_refuses_the_plan_of_another_graph() {
    let right = graph(3, &[(0, 3), (1, 0), (2, 1)]);
    let other = plan(&graph(3, &[(0, 3), (2, 0), (1, 2)])).unwrap();
    assert!(check(&right, &other).is_err());
}
