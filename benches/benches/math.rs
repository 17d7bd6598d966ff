//! Small kernels of sinew-math, 256 different arguments per iteration: times are for all of them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use glam::{DMat3, DVec3};
use sinew_math::{Block, Sym3, exp_so3, log_so3, ops, signed_svd, symmetric_eigen};
use std::hint::black_box;

const N: usize = 256;

/// Numbers spread evenly over (−1, 1), the same in every run.
fn spread(index: usize) -> f64 {
    let golden = 0.618_033_988_749_894_8;
    2.0 * (index as f64 * golden).fract() - 1.0
}

fn vector(index: usize) -> DVec3 {
    DVec3::new(spread(3 * index), spread(3 * index + 1), spread(3 * index + 2))
}

fn matrix(index: usize) -> DMat3 {
    DMat3::from_cols(vector(3 * index), vector(3 * index + 1), vector(3 * index + 2))
}

/// A positive definite block: `1 + BBᵀ`.
fn positive_block(index: usize) -> Block<6, 6> {
    let entry = |row, column| spread(36 * index + 6 * row + column);
    let rows = std::array::from_fn(|row| std::array::from_fn(|column| entry(row, column)));
    let factor = Block::<6, 6> { rows };
    let mut block = factor.mul_transpose(&factor);
    for i in 0..6 {
        block.rows[i][i] += 1.0;
    }
    block
}

fn kernels(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("math");
    group.throughput(Throughput::Elements(N as u64));
    let mut kernel = |name: &str, run: &mut dyn FnMut(usize)| {
        group.bench_function(name, |bencher| bencher.iter(|| (0..N).for_each(&mut *run)));
    };

    let angles: Vec<DVec3> = (0..N).map(|i| 2.0 * vector(i)).collect();
    kernel("exp_so3", &mut |i| {
        black_box(exp_so3(black_box(angles[i])));
    });
    let rotations: Vec<_> = angles.iter().map(|&angle| exp_so3(angle)).collect();
    kernel("log_so3", &mut |i| {
        black_box(log_so3(black_box(rotations[i])));
    });
    kernel("atan2", &mut |i| {
        black_box(ops::atan2(black_box(angles[i].x), black_box(angles[i].y)));
    });
    kernel("sin_cos", &mut |i| {
        black_box(ops::sin_cos(black_box(angles[i].x)));
    });
    let matrices: Vec<DMat3> = (0..N).map(matrix).collect();
    kernel("signed_svd", &mut |i| {
        black_box(signed_svd(black_box(matrices[i])));
    });
    let symmetric: Vec<Sym3> = matrices.iter().map(|m| Sym3::from_mat3(&(*m + m.transpose()))).collect();
    kernel("symmetric_eigen", &mut |i| {
        black_box(symmetric_eigen(black_box(symmetric[i])));
    });
    let blocks: Vec<Block<6, 6>> = (0..N).map(positive_block).collect();
    kernel("cholesky_6x6", &mut |i| {
        black_box(black_box(&blocks[i]).cholesky().is_ok());
    });
    kernel("cholesky_6x6_solve", &mut |i| {
        let factor = black_box(&blocks[i]).cholesky().expect("the block is positive definite");
        black_box(factor.solve(black_box([1.0, -2.0, 3.0, 0.5, 0.25, -1.0])));
    });
    group.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
