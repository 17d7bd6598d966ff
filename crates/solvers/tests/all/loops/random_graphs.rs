//! Random trees with independent, redundant and compliant loops agree with a dense solve.

use super::graphs::{Reference, Tree, difference, independent_blocks, pushed};
use sinew_solvers::{LoopMethod, LoopSettings};
use sinew_testkit::{Rng, soak_scale};

fn methods() -> Vec<LoopMethod> {
    vec![
        LoopMethod::ConjugateResidual,
        LoopMethod::ConjugateGradient,
        LoopMethod::BiConjugateGradient,
        LoopMethod::Dense,
    ]
}

#[test]
fn motions_agree_with_a_dense_solve_soak() {
    let (mut redundant, mut compliant, mut rows_seen) = (0, 0, 0);
    for seed in 0..400 * soak_scale() as u64 {
        let rng = &mut Rng::new(seed);
        let n = 2 + rng.below(14);
        let tree = Tree::random(rng, n, |rng| rng.below(7));
        let reference = Reference::new(&tree);
        let wanted = 1 + rng.below(5);
        let mut blocks = independent_blocks(rng, &tree, &reference, wanted, 0.4);
        let expected = reference.motions(&blocks);
        // Rigid joints that say again, and louder, what is said already.
        for k in 0..blocks.len() {
            if blocks[k].rows[0].compliance == 0.0 && rng.chance(0.3) {
                let mut again = blocks[k].clone();
                let scale = if again.arms.is_some() { 1.0 } else { rng.uniform(0.5, 2.0) };
                for row in &mut again.rows {
                    (row.on1, row.on2, row.rhs) = (row.on1 * scale, row.on2 * scale, row.rhs * scale);
                }
                blocks.push(again);
                redundant += 1;
            }
        }
        compliant += blocks.iter().filter(|block| block.rows[0].compliance > 0.0).count();
        let rows = pushed(&blocks);
        rows_seen += rows.len();
        for method in methods() {
            for precondition in [true, false] {
                let settings = LoopSettings {
                    method,
                    precondition,
                    precision: 1e-12,
                    iterations: 2000,
                    ..LoopSettings::default()
                };
                let mut lambda = vec![0.0; rows.len()];
                let (report, motions) = tree.refine(&rows, &mut lambda, &settings);
                let error = difference(&motions, &expected);
                assert!(error < 1e-8, "seed {seed}, {settings:?}: {report:?}, off by {error}");
            }
        }
    }
    assert!(redundant > 100 && compliant > 100 && rows_seen > 1000, "{redundant} {compliant} {rows_seen}");
}
