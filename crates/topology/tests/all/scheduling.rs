//! Tasks and trunk cover the pairs, and tasks keep to themselves.

use crate::graph;
use proptest::prelude::*;
use sinew_testkit::{ForestShape, Rng, random_forest};
use sinew_topology::{EliminationPlan, NONE, plan};

fn assert_valid(plan: &EliminationPlan, max_grain: usize) {
    let schedule = plan.schedule(max_grain);
    let mut owner = vec![usize::MAX; plan.pairs().len()];
    for (number, task) in schedule.tasks.iter().enumerate() {
        assert!(task.pairs.len() <= max_grain && !task.pairs.is_empty());
        assert!(task.join.is_none_or(|join| join == task.pairs.end));
        for position in task.pairs.clone() {
            assert_eq!(owner[position as usize], usize::MAX, "eliminated twice");
            owner[position as usize] = number;
        }
    }
    for (number, task) in schedule.tasks.iter().enumerate() {
        for position in task.pairs.clone() {
            let parent = plan.pairs()[position as usize].parent;
            let inside = parent == NONE || task.pairs.contains(&parent);
            assert!(inside || Some(parent) == task.join, "task {number} writes outside");
        }
    }
    assert!(schedule.trunk.windows(2).all(|w| w[0] < w[1]), "trunk is in order");
    let n_in_tasks: usize = schedule.tasks.iter().map(|task| task.pairs.len()).sum();
    assert_eq!(n_in_tasks + schedule.trunk.len(), plan.pairs().len());
    assert!(schedule.trunk.iter().all(|&position| owner[position as usize] == usize::MAX));
}

#[test]
fn arms_of_a_body_run_apart() {
    // A torso 0 with three arms of four links each.
    let mut constraints = Vec::new();
    for arm in 0..3 {
        let first = 1 + 4 * arm;
        constraints.push((first, 0));
        constraints.extend((1..4).map(|i| (first + i, first + i - 1)));
    }
    let plan = plan(&graph(13, &constraints)).unwrap();
    let schedule = plan.schedule(4);
    let tasks: Vec<_> = schedule.tasks.iter().map(|task| (task.pairs.clone(), task.join)).collect();
    assert_eq!(tasks, [(0..3, Some(3)), (4..7, Some(7)), (8..11, Some(11))]);
    assert_eq!(schedule.trunk, [3, 7, 11, 12]);
}

#[test]
fn small_trees_share_a_task() {
    let plan = plan(&graph(7, &[(1, 0), (3, 2), (5, 4)])).unwrap();
    let schedule = plan.schedule(4);
    let tasks: Vec<_> = schedule.tasks.iter().map(|task| task.pairs.clone()).collect();
    assert_eq!(tasks, [0..4, 4..7]);
    assert!(schedule.trunk.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn random_forests(seed: u64, n_bodies in 1usize..200, max_grain in 1usize..50, chain_chance in 0.0..1.0) {
        let shape = ForestShape { n_bodies, root_chance: 0.05, world_chance: 0.5, chain_chance };
        let links = random_forest(&mut Rng::new(seed), shape);
        let constraints: Vec<_> = links.iter().map(|l| (l.child, l.parent.unwrap_or(n_bodies))).collect();
        assert_valid(&plan(&graph(n_bodies, &constraints)).unwrap(), max_grain);
    }
}
