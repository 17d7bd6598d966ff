//! One, two and three threads give the bits of a serial run.

use crate::trees::{Recipe, Sample, sample};
use sinew_solvers::{PairTree, TreeLdlt, TreeSolver};
use sinew_testkit::{ForestShape, Rng};

fn bits(solver: &mut impl TreeSolver, sample: &Sample) -> Vec<u64> {
    solver.factor(&sample.system).unwrap();
    let mut x = sample.system.rhs().to_vec();
    solver.solve(&mut x);
    x.into_iter().map(f64::to_bits).collect()
}

#[test]
fn thread_count_does_not_change_bits() {
    let islands = ForestShape { n_bodies: 900, root_chance: 0.05, world_chance: 0.5, chain_chance: 0.5 };
    let recipes = [
        Recipe::rigid(900, 0.2),
        Recipe::rigid(900, 0.9),
        Recipe { shape: islands, ..Recipe::rigid(900, 0.5) },
    ];
    for (seed, recipe) in recipes.into_iter().enumerate() {
        let sample = sample(&mut Rng::new(seed as u64), recipe);
        let answers = |grain: usize| {
            [
                bits(&mut TreeLdlt::with_grain(&sample.plan, grain), &sample),
                bits(&mut PairTree::with_grain(&sample.plan, grain), &sample),
            ]
        };
        let serial = answers(usize::MAX);
        for n_threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            for grain in [4, 64, 256] {
                let parallel = pool.install(|| answers(grain));
                assert_eq!(parallel, serial, "{n_threads} threads, grain {grain}");
            }
        }
    }
}
