//! A tree with closed loops reacts as the dense saddle-point system does.

use super::graphs::{Block, Reference, Tree, difference, force, independent_blocks, pushed};
use sinew_math::{Force, Motion};
use sinew_solvers::{
    ActivePairs, ClosedScratch, ClosedTree, LoopMethod, LoopProblem, LoopScratch, LoopSettings, Responder,
    TreeReaction, refine,
};
use sinew_testkit::Rng;

/// The reactions of a tree with closed loops to several impulses, each on every body.
fn react(tree: &Tree, blocks: &[Block], impulses: &[Vec<Force>]) -> Vec<Vec<Motion>> {
    let mut rows = pushed(blocks);
    rows.reserve_ports(tree.len());
    let active = ActivePairs::all(tree.len());
    let mut reaction = TreeReaction::new(&tree.factor);
    let mut responder = tree.responder(&active, &mut reaction);
    let settings = LoopSettings { method: LoopMethod::Direct, openness: 0.0, ..LoopSettings::default() };
    let mut factored = LoopScratch::new();
    let problem = LoopProblem {
        rows: &rows,
        responder: &mut responder,
        free_mass: &|port| tree.free_mass(port),
        rhs: rows.rhs(),
        graph: None,
    };
    let mut lambda = vec![0.0; rows.len()];
    refine(problem, &mut lambda, &settings, &mut factored, &mut |_, _| true);
    assert!(factored.is_factored());
    let ports: Vec<u32> = (0..tree.len() as u32).collect();
    let mut scratch = ClosedScratch::default();
    let mut closed = ClosedTree {
        tree: &mut responder,
        rows: &rows,
        factored: &mut factored,
        ports: &ports,
        scratch: &mut scratch,
    };
    let mut react = |impulses: &Vec<Force>| {
        let mut motions = vec![Motion::ZERO; tree.len()];
        closed.respond(impulses, &mut motions);
        motions
    };
    impulses.iter().map(&mut react).collect()
}

fn work(impulses: &[Force], motions: &[Motion]) -> f64 {
    impulses.iter().zip(motions).map(|(f, v)| f.dot(*v)).sum()
}

#[test]
fn a_closed_tree_reacts_as_the_dense_matrix() {
    let (mut redundant, mut compliant) = (0, 0);
    for seed in 0..300 {
        let rng = &mut Rng::new(seed);
        let n = 2 + rng.below(14);
        let tree = Tree::random(rng, n, |rng| rng.below(7));
        let reference = Reference::new(&tree);
        let wanted = 1 + rng.below(5);
        let mut blocks = independent_blocks(rng, &tree, &reference, wanted, 0.4);
        if blocks.is_empty() {
            continue;
        }
        let impulses: Vec<Vec<Force>> = (0..3).map(|_| (0..n).map(|_| force(rng)).collect()).collect();
        let expected: Vec<_> = impulses.iter().map(|f| reference.closed_reaction(&blocks, f)).collect();
        let free: Vec<_> = impulses.iter().map(|f| tree.react(f)).collect();
        compliant += blocks.iter().filter(|block| block.rows[0].compliance > 0.0).count();
        if blocks[0].rows[0].compliance == 0.0 && rng.chance(0.3) {
            blocks.push(blocks[0].clone());
            redundant += 1;
        }
        let found = react(&tree, &blocks, &impulses);
        for ((found, expected), free) in found.iter().zip(&expected).zip(&free) {
            // Where loops leave nothing, digits are those of the free tree.
            let scale = free.iter().flat_map(|v| v.to_array()).fold(0.0, |m: f64, v| m.max(v.abs()));
            let size = expected.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let error = difference(found, expected) * size.max(f64::MIN_POSITIVE) / scale;
            assert!(error < 1e-8, "seed {seed}: off by {error}");
        }
        // Symmetric and positive semidefinite.
        let size = work(&impulses[0], &free[0]).max(work(&impulses[1], &free[1]));
        let [one, other] = [work(&impulses[0], &found[1]), work(&impulses[1], &found[0])];
        assert!((one - other).abs() < 1e-9 * size, "seed {seed}: {one} and {other}");
        assert!(work(&impulses[2], &found[2]) > -1e-12 * work(&impulses[2], &free[2]), "seed {seed}");
    }
    assert!(redundant > 20 && compliant > 100, "{redundant} {compliant}");
}
