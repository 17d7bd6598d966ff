//! Dynamics, matrices and derivatives of two trees of thirty hinges: a chain on the world, and five limbs on a free base, open and with two pairs
//! of limbs held together by hinges. Kinematics included.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::DVec3;
use sinew_benches::{ROBOT_HINGES, robot, robot_state};
use sinew_recursive::{Dynamics, HybridCommand, JointMatrices, LoopDynamics, LoopedTree, Tree, TreeLoads};
use std::hint::black_box;

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

fn joint_space(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("joint_space");
    group.throughput(Throughput::Elements(ROBOT_HINGES as u64));
    for (name, limbs, is_floating) in [("chain", 1, false), ("limbs", 5, true)] {
        let tree = Tree::from_model(&robot(limbs, is_floating, 0)).expect("a tree");
        let (state, n) = (robot_state(&tree), tree.n_dofs());
        let (mut dynamics, mut matrices) = (Dynamics::new(&tree), JointMatrices::new(&tree));
        let (mut matrix, mut vector, given) = (vec![0.0; n * n], vec![0.0; n], vec![0.5; n]);
        let command = HybridCommand { values: given.clone(), ..HybridCommand::passive(&tree) };
        let mut run = |what: &str, call: &mut dyn FnMut(&mut Dynamics)| {
            group.bench_function(BenchmarkId::new(what, name), |bencher| {
                bencher.iter(|| {
                    dynamics.kinematics(&tree, black_box(&state));
                    call(&mut dynamics);
                });
            });
        };
        run("kinematics", &mut |_| ());
        run("forward", &mut |dynamics| {
            let _ = black_box(dynamics.respond(&tree, &command, GRAVITY, &[]));
        });
        run("inverse", &mut |dynamics| dynamics.fill_inverse(&tree, &given, GRAVITY, &[], &mut vector));
        run("mass_matrix", &mut |dynamics| dynamics.fill_mass_matrix(&tree, &mut matrix));
        run("inverse_mass_matrix", &mut |dynamics| {
            let _ = black_box(matrices.invert_mass(&tree, dynamics));
        });
        run("inverse_derivatives", &mut |dynamics| {
            matrices.inverse(&tree, dynamics, &given, GRAVITY, &[]);
        });
        run("forward_derivatives", &mut |dynamics| {
            let _ = black_box(matrices.forward(&tree, dynamics, &given, GRAVITY, &[]));
        });
        run("coriolis", &mut |dynamics| {
            black_box(matrices.coriolis(&tree, dynamics));
        });
    }
    let looped = LoopedTree::from_model(&robot(5, true, 2)).expect("a tree with loops");
    let (tree, mut loops) = (looped.tree(), LoopDynamics::new(&looped));
    let (state, mut dynamics, command) =
        (robot_state(tree), Dynamics::new(tree), HybridCommand::passive(tree));
    group.bench_function(BenchmarkId::new("closed_forward", "limbs"), |bencher| {
        bencher.iter(|| {
            dynamics.kinematics(tree, black_box(&state));
            black_box(loops.respond(&looped, &mut dynamics, &command, &TreeLoads::gravity(GRAVITY)))
        });
    });
    group.finish();
}

criterion_group!(benches, joint_space);
criterion_main!(benches);
