//! One step of a wide tree on 1, 2, … threads. The results are the same bits, which the chain suite checks.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sinew_benches::{LinkJoint, Links, MechanismRun, Subject};
use sinew_mechanism::Settings;

fn threads(criterion: &mut Criterion) {
    let n_all = std::thread::available_parallelism().map_or(1, usize::from);
    let links = Links::comb(256, 256, LinkJoint::Hinge(10.0));
    let model = links.model().expect("a comb is a tree");
    let mut group = criterion.benchmark_group("threads");
    group.sample_size(10).throughput(Throughput::Elements(links.links.len() as u64));
    let counts = std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|&n| n < n_all).chain([n_all]);
    for n_threads in counts {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool of threads");
        let mut run = MechanismRun::new(model.clone(), Settings::default());
        run.save();
        group.bench_function(BenchmarkId::from_parameter(n_threads), |bencher| {
            run.restore();
            pool.install(|| bencher.iter(|| run.step()));
        });
    }
    group.finish();
}

criterion_group!(benches, threads);
criterion_main!(benches);
