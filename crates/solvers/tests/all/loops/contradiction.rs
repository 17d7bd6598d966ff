//! Joints that say different things: least squares, exact trees, least norms.

use super::graphs::{Block, LEAST_SQUARES, Reference, Tree, difference, independent_blocks, pushed};
use sinew_math::{Motion, shift_motion};
use sinew_solvers::{LoopMethod, LoopSettings, LoopStop};
use sinew_testkit::{Dense, Rng};

/// Blocks whose last one repeats an earlier rigid one with another right-hand side, and the same with the mean.
pub(super) fn contradictory(rng: &mut Rng, weights: [f64; 2]) -> Option<(Tree, Vec<Block>, Vec<Block>)> {
    let n = 4 + rng.below(8);
    let tree = Tree::random(rng, n, |rng| 1 + rng.below(3));
    let reference = Reference::new(&tree);
    let mut blocks = independent_blocks(rng, &tree, &reference, 4, 0.2);
    let k = blocks.iter().position(|block| block.rows[0].compliance == 0.0)?;
    let (mut again, mut mean) = (blocks[k].clone(), blocks.clone());
    (blocks[k].weight, again.weight) = (weights[0], weights[1]);
    for (other, mean) in again.rows.iter_mut().zip(&mut mean[k].rows) {
        let first = mean.rhs;
        other.rhs += rng.uniform(-1.0, 1.0);
        mean.rhs = (weights[0] * first + weights[1] * other.rhs) / (weights[0] + weights[1]);
    }
    blocks.push(again);
    Some((tree, blocks, mean))
}

fn samples() -> impl Iterator<Item = (Tree, Vec<Block>, Vec<Block>)> {
    (0..100).filter_map(|seed| contradictory(&mut Rng::new(seed), [1.0, 1.0]))
}

/// Half of the contradiction, the least-squares residual.
fn least_squares(blocks: &[Block], mean: &[Block]) -> f64 {
    let rhs = |blocks: &[Block]| blocks.iter().flat_map(|b| &b.rows).map(|row| row.rhs).collect::<Vec<_>>();
    rhs(blocks).iter().zip(rhs(mean)).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}

/// The part of `v_a − X v_b` outside the free directions.
fn tree_violation(tree: &Tree, motions: &[Motion]) -> f64 {
    let mut worst: f64 = 0.0;
    for (k, joint) in tree.joints.iter().enumerate() {
        let parent = motions.get(tree.parents[k] as usize).copied().unwrap_or_default();
        let relative = (motions[k] - shift_motion(parent, joint.shift)).to_array();
        let s = Dense::from_fn(6, joint.free(), |i, j| joint.basis[j].to_array()[i]);
        let st = s.transpose();
        let along = st.mul(&s).solve(&st.mul_vec(&relative)).unwrap();
        let size = 1.0 + relative.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        for (a, b) in relative.iter().zip(s.mul_vec(&along)) {
            worst = worst.max((a - b).abs() / size);
        }
    }
    worst
}

#[test]
fn the_residual_is_that_of_least_squares_and_trees_stay_exact() {
    let mut seen = 0;
    for (tree, blocks, mean) in samples() {
        let rows = pushed(&blocks);
        let expected = Reference::new(&tree).motions(&mean);
        let residual = least_squares(&blocks, &mean);
        for precondition in [false, true] {
            for &method in LEAST_SQUARES {
                let settings =
                    LoopSettings { method, precondition, iterations: 2000, ..LoopSettings::default() };
                let mut lambda = vec![0.0; rows.len()];
                let (report, motions) = tree.refine(&rows, &mut lambda, &settings);
                assert_eq!(report.stop, LoopStop::LeastSquares, "{settings:?} {report:?}");
                assert!((report.residual / residual - 1.0).abs() < 1e-6, "{report:?}, expected {residual}");
                let error = difference(&motions, &expected);
                assert!(error < 1e-6, "{settings:?} {report:?}: off by {error}");
                assert!(tree_violation(&tree, &motions) < 1e-10);
            }
        }
        seen += 1;
    }
    assert!(seen > 50);
}

#[test]
fn gradient_methods_end_bounded() {
    for (tree, blocks, mean) in samples() {
        let rows = pushed(&blocks);
        let residual = least_squares(&blocks, &mean);
        let start = rows.rhs().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        for method in [LoopMethod::ConjugateGradient, LoopMethod::BiConjugateGradient] {
            for precondition in [false, true] {
                let settings = LoopSettings { method, precondition, ..LoopSettings::default() };
                let mut lambda = vec![0.0; rows.len()];
                let (report, motions) = tree.refine(&rows, &mut lambda, &settings);
                assert!(report.residual <= start + 1e-9 && report.residual >= residual * (1.0 - 1e-9));
                assert!(motions.iter().all(|v| v.is_finite()) && tree_violation(&tree, &motions) < 1e-10);
            }
        }
    }
}

#[test]
fn redundant_rows_share_the_impulse_of_least_norm() {
    let mut seen = 0;
    for (tree, _, mean) in samples() {
        let k = mean.iter().position(|block| block.rows[0].compliance == 0.0).unwrap();
        let mut blocks = mean.clone();
        blocks.push(mean[k].clone());
        let single = pushed(&mean);
        let double = pushed(&blocks);
        for &method in [&[LoopMethod::ConjugateGradient], LEAST_SQUARES].into_iter().flatten() {
            let settings = LoopSettings {
                method,
                precondition: false,
                precision: 1e-12,
                iterations: 2000,
                ..LoopSettings::default()
            };
            let mut alone = vec![0.0; single.len()];
            let (_, expected) = tree.refine(&single, &mut alone, &settings);
            let mut shared = vec![0.0; double.len()];
            let (_, motions) = tree.refine(&double, &mut shared, &settings);
            let size = 1.0 + alone.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let again = double.blocks()[mean.len()].rows();
            for (i, j) in double.blocks()[k].rows().zip(again.clone()) {
                assert!((shared[i] - shared[j]).abs() < 1e-8 * size, "{} {}", shared[i], shared[j]);
                assert!((shared[i] + shared[j] - alone[i]).abs() < 1e-6 * size);
            }
            // From a warm start the split stays, the motion does not change.
            let mut warm = shared.clone();
            again.for_each(|j| warm[j] += 1.0);
            let (_, same) = tree.refine(&double, &mut warm, &settings);
            let expected: Vec<f64> = expected.iter().flat_map(|v| v.to_array()).collect();
            assert!(difference(&motions, &expected) < 1e-8 && difference(&same, &expected) < 1e-8);
        }
        seen += 1;
    }
    assert!(seen > 50);
}
