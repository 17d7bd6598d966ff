//! Planning the elimination of chains and of wide trees: is it linear?

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sinew_topology::{Endpoints, Graph, GraphBuilder, Priority, VariableId, plan};

/// Hinges in chains of `arm` links that start at the first body.
fn hinges(n: usize, arm: usize) -> Graph {
    let mut builder = GraphBuilder::new();
    let bodies: Vec<VariableId> = (0..n).map(|_| builder.add_variable(6)).collect();
    builder.add_constraint(5, Endpoints::World(bodies[0]), Priority::Auto);
    for (i, &body) in bodies.iter().enumerate().skip(1) {
        let parent = if (i - 1).is_multiple_of(arm) { bodies[0] } else { bodies[i - 1] };
        builder.add_constraint(5, Endpoints::Pair(body, parent), Priority::Auto);
    }
    builder.finish().expect("the graph is a tree")
}

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    group.sample_size(10);
    for n in [1_000, 10_000, 100_000, 1_000_000] {
        group.throughput(Throughput::Elements(n as u64));
        for (shape, arm) in [("chain", n), ("comb", 100)] {
            let graph = hinges(n, arm);
            group.bench_function(BenchmarkId::new(shape, n), |bencher| bencher.iter(|| plan(&graph)));
        }
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
