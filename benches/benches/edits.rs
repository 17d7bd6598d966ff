//! Edits of a running world: a body that is added, and taken away again, beside others that rest; and the step after.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sinew_sim::{BodyDoc, ColliderDoc, DVec3, SceneDoc, Shape, World};

fn ball(name: impl Into<String>, at: DVec3) -> BodyDoc {
    BodyDoc::new(name).at(at).shape(Shape::Sphere { radius: 0.1 }).touching()
}

/// Balls on the ground, two diameters apart.
fn yard(n: usize) -> World {
    let mut scene = SceneDoc::new("yard").with(ColliderDoc::floor(0.0));
    for i in 0..n {
        let at = DVec3::new((i % 32) as f64 * 0.4, (i / 32) as f64 * 0.4, 0.1);
        scene = scene.with(ball(format!("ball_{i}"), at));
    }
    let mut world = World::from_scene(&scene).expect("a good scene");
    for _ in 0..10 {
        world.step();
    }
    world
}

/// Time of `part` of `iterations` rounds of an insertion, a step and a removal.
fn rounds(world: &mut World, iterations: u64, part: usize) -> Duration {
    let mut spent = [Duration::ZERO; 3];
    for _ in 0..iterations {
        let start = Instant::now();
        let added = world.insert(ball("", DVec3::new(-1.0, 0.0, 0.1))).expect("a good ball");
        spent[0] += start.elapsed();
        let start = Instant::now();
        world.step();
        spent[1] += start.elapsed();
        let start = Instant::now();
        world.remove(added).expect("nothing needs it");
        spent[2] += start.elapsed();
    }
    spent[part]
}

fn edits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("edits");
    group.sample_size(20);
    for n in [100, 1_000, 4_000] {
        for (part, name) in ["insert", "step", "remove"].into_iter().enumerate() {
            let mut world = yard(n);
            group.bench_function(BenchmarkId::new(name, n), |bencher| {
                bencher.iter_custom(|iterations| rounds(&mut world, iterations, part));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, edits);
criterion_main!(benches);
