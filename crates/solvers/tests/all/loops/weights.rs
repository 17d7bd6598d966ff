//! Weights: heavy joints give way least, consistent joints do not notice, weight 0 switches off.

use super::contradiction::contradictory;
use super::graphs::{LEAST_SQUARES, Reference, difference, pushed};
use sinew_solvers::{LoopSettings, LoopStop};
use sinew_testkit::Rng;

fn settings(precondition: bool) -> impl Iterator<Item = LoopSettings> {
    LEAST_SQUARES.iter().map(move |&method| LoopSettings {
        method,
        precondition,
        precision: 1e-11,
        iterations: 2000,
        ..LoopSettings::default()
    })
}

#[test]
fn contradictory_joints_meet_at_the_weighted_mean() {
    for seed in 0..60 {
        let Some((tree, blocks, mean)) = contradictory(&mut Rng::new(seed), [1.0, 9.0]) else { continue };
        let rows = pushed(&blocks);
        let expected = Reference::new(&tree).motions(&mean);
        for settings in [true, false].into_iter().flat_map(settings) {
            let (report, motions) = tree.refine(&rows, &mut vec![0.0; rows.len()], &settings);
            assert_eq!(report.stop, LoopStop::LeastSquares, "seed {seed} {settings:?} {report:?}");
            let error = difference(&motions, &expected);
            assert!(error < 1e-6, "seed {seed} {settings:?} {report:?}: off by {error}");
        }
    }
}

#[test]
fn consistent_joints_do_not_depend_on_weights() {
    for seed in 0..60 {
        let rng = &mut Rng::new(seed);
        let Some((tree, _, mut blocks)) = contradictory(rng, [1.0, 1.0]) else { continue };
        let expected = Reference::new(&tree).motions(&blocks);
        blocks.iter_mut().for_each(|block| block.weight = rng.power_of_ten(-1, 2));
        let rows = pushed(&blocks);
        for settings in [true, false].into_iter().flat_map(settings) {
            let (report, motions) = tree.refine(&rows, &mut vec![0.0; rows.len()], &settings);
            let error = difference(&motions, &expected);
            assert!(error < 1e-7, "seed {seed} {settings:?} {report:?}: off by {error}");
        }
    }
}

/// After two iterations a heavy joint is, on the whole, closer to its goal than with equal weights.
#[test]
fn early_iterates_favour_heavy_joints() {
    let (mut better, mut seen, mut sums) = (0, 0, [0.0; 2]);
    for seed in 0..60 {
        let Some((tree, _, mut blocks)) = contradictory(&mut Rng::new(seed), [1.0, 1.0]) else { continue };
        if blocks.len() < 2 {
            continue;
        }
        let error = |blocks: &[super::graphs::Block]| {
            let rows = pushed(blocks);
            let settings = LoopSettings { iterations: 2, ..LoopSettings::default() };
            let mut lambda = vec![0.0; rows.len()];
            let (_, motions) = tree.refine(&rows, &mut lambda, &settings);
            let mut along = vec![0.0; rows.len()];
            rows.gather(&motions, &mut along);
            rows.blocks()[0]
                .rows()
                .map(|i| (along[i] + rows.compliance()[i] * lambda[i] - rows.rhs()[i]).powi(2))
                .sum::<f64>()
        };
        let equal = error(&blocks);
        blocks[0].weight = 100.0;
        let heavy = error(&blocks);
        better += usize::from(heavy <= equal);
        sums[0] += equal;
        sums[1] += heavy;
        seen += 1;
    }
    assert!(seen > 30 && better * 3 > seen * 2 && sums[1] < 0.5 * sums[0], "{better} of {seen}, {sums:?}");
}

#[test]
fn weight_zero_switches_off() {
    for seed in 0..60 {
        let Some((tree, mut blocks, _)) = contradictory(&mut Rng::new(seed), [1.0, 1.0]) else { continue };
        let last = blocks.len() - 1;
        let expected = Reference::new(&tree).motions(&blocks[..last]);
        blocks[last].weight = 0.0;
        let rows = pushed(&blocks);
        for settings in [true, false].into_iter().flat_map(settings) {
            let mut lambda = vec![1.0; rows.len()];
            let (report, motions) = tree.refine(&rows, &mut lambda, &settings);
            assert_eq!(report.stop, LoopStop::Converged, "seed {seed} {settings:?} {report:?}");
            let error = difference(&motions, &expected);
            assert!(error < 1e-7, "seed {seed} {settings:?}: off by {error}");
            assert!(rows.blocks()[last].rows().all(|i| lambda[i] == 0.0));
        }
    }
}
