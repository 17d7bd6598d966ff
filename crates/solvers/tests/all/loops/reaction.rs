//! The tree responder is the dense reaction `G H⁻¹Gᵀ`, for all free dimensions and any touched bodies.

use super::graphs::{Tree, difference, force};
use sinew_math::{Force, Motion};
use sinew_solvers::{ActivePairs, Responder, TreeReaction};
use sinew_testkit::Rng;

fn dense_reaction(tree: &Tree, impulses: &[Force]) -> Vec<f64> {
    let (g, h) = tree.dense();
    let f: Vec<f64> = impulses.iter().flat_map(|f| f.to_array()).collect();
    g.mul_vec(&h.solve(&g.transpose().mul_vec(&f)).unwrap())
}

#[test]
fn every_free_dimension_reacts_as_the_dense_matrix() {
    for free in 0..=6 {
        for seed in 0..20 {
            let rng = &mut Rng::new(seed);
            let n = 1 + rng.below(8);
            let tree = Tree::random(rng, n, |_| free);
            let impulses: Vec<Force> = (0..n).map(|_| force(rng)).collect();
            let expected = if free == 0 { vec![0.0; 6 * n] } else { dense_reaction(&tree, &impulses) };
            let error = difference(&tree.react(&impulses), &expected);
            assert!(error < 1e-9, "{free} free, seed {seed}: off by {error}");
        }
    }
}

#[test]
fn untouched_branches_are_skipped_and_left_alone() {
    let mut reaction = None;
    let mut active = ActivePairs::default();
    for seed in 0..100 {
        let rng = &mut Rng::new(seed);
        let n = 5 + rng.below(20);
        let tree = Tree::random(rng, n, |rng| 1 + rng.below(6));
        let touched: Vec<u32> = (0..1 + rng.below(4)).map(|_| rng.below(n) as u32).collect();
        active.refill(&tree.parents, touched.iter().copied());
        assert_eq!(active.pairs(), ActivePairs::new(&tree.parents, touched.iter().copied()).pairs());
        assert!(active.pairs().is_sorted());

        let nonsense = Force::from_array([f64::NAN; 6]);
        let (mut impulses, mut all) = (vec![nonsense; n], vec![Force::ZERO; n]);
        for &port in &touched {
            impulses[port as usize] = force(rng);
            all[port as usize] = impulses[port as usize];
        }
        let untouched = Motion::from_array([7.0; 6]);
        let mut motions = vec![untouched; n];
        let reaction = reaction.insert(TreeReaction::new(&tree.factor));
        for _ in 0..2 {
            tree.responder(&active, reaction).respond(&impulses, &mut motions);
        }
        let expected = tree.react(&all);
        for port in 0..n {
            let expected = if touched.contains(&(port as u32)) { expected[port] } else { untouched };
            assert_eq!(motions[port], expected, "seed {seed}, port {port}");
        }
    }
}
