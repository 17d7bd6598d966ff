//! One step of each fixture with its recorded inputs: warmed up, saved, restored for every run.

use criterion::{Criterion, criterion_group, criterion_main};
use sinew_benches::{SceneRun, Subject};
use std::time::{Duration, Instant};

const SCENES: [&str; 9] = [
    "pendulum",
    "double_pendulum",
    "chain_10",
    "chain_100",
    "chain_1000",
    "hand",
    "robot",
    "branching_tree",
    "showcase",
];
/// Steps of one run: 2 s.
const RUN_STEPS: u64 = 120;

fn scenes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scenes");
    group.sample_size(20);
    for name in SCENES {
        let mut run = SceneRun::fixture(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        (0..60).for_each(|_| run.step());
        run.save();
        group.bench_function(name, |bencher| bencher.iter_custom(|n| time(&mut run, n)));
    }
    group.finish();
}

/// Time of `n` steps in runs from the saved state; restoring is not counted.
fn time(run: &mut SceneRun, n: u64) -> Duration {
    let (mut rest, mut sum) = (n, Duration::ZERO);
    while rest > 0 {
        run.restore();
        let start = Instant::now();
        (0..rest.min(RUN_STEPS)).for_each(|_| run.step());
        sum += start.elapsed();
        rest = rest.saturating_sub(RUN_STEPS);
    }
    sum
}

criterion_group!(benches, scenes);
criterion_main!(benches);
