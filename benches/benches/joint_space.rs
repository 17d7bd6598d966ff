//! Dynamics, matrices and derivatives of two trees of thirty hinges: a chain on the world, and five limbs on a free base, open and with two pairs
//! of limbs held together by hinges. Kinematics included.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::DVec3;
use sinew_math::{MassProperties, Pose, ops};
use sinew_mechanism::{
    BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, Model, rotation_to_axis,
};
use sinew_recursive::{
    Dynamics, HybridCommand, JointMatrices, LoopDynamics, LoopedTree, Tree, TreeLoads, TreeState,
};
use std::hint::black_box;

const HINGES: usize = 30;
const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// Rods of 0.2 m in a row on hinges about x, y and z in turn, and the way they hang: `limbs` rows on the world, or on a free body; the tips of
/// some pairs of limbs are held together by hinges.
fn model(limbs: usize, is_floating: bool, n_loops: usize) -> Model {
    let rod = MassProperties::cuboid(DVec3::new(0.05, 0.06, 0.2), 1000.0);
    let mut builder = MechanismBuilder::new();
    let base = is_floating.then(|| builder.add_body(BodySpec::dynamic("base", Pose::IDENTITY, rod)));
    let mut tips = Vec::new();
    for limb in 0..limbs {
        let mut above = base;
        for k in 0..HINGES / limbs {
            let place = DVec3::new(0.1 * limb as f64, 0.02 * k as f64, -0.2 * k as f64);
            let pose = Pose::from_translation(place - DVec3::Z * 0.1);
            let parent = above.map_or(Pose::IDENTITY, |body| builder.body_pose(body));
            let body = builder.add_body(BodySpec::dynamic("", pose, rod));
            let axis = rotation_to_axis(DVec3::AXES[k % 3]).expect("not zero");
            let frames = JointFrames::coincident(&pose, &parent, &Pose::new(axis, place));
            builder.add_joint(JointSpec::new("", JointKind::Hinge, body, above, frames));
            above = Some(body);
        }
        tips.extend(above);
    }
    for pair in tips.chunks_exact(2).take(n_loops) {
        let [one, two] = [pair[0], pair[1]].map(|tip| builder.body_pose(tip));
        let frames = JointFrames::coincident(&one, &two, &Pose::from_translation(one.translation));
        builder.add_joint(JointSpec::new("", JointKind::Hinge, pair[0], Some(pair[1]), frames));
    }
    builder.build().expect("a tree")
}

/// A state away from zero.
fn state(tree: &Tree) -> TreeState {
    let mut state = tree.neutral_state();
    let wave = |k: usize, step: f64| ops::sin_cos(k as f64 * step).0;
    let turn: Vec<f64> = (0..tree.n_dofs()).map(|k| wave(k, 0.7)).collect();
    tree.advance(&mut state.coordinates, &turn, 1.0);
    state.rates = (0..tree.n_dofs()).map(|k| wave(k, 1.3)).collect();
    state
}

fn joint_space(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("joint_space");
    group.throughput(Throughput::Elements(HINGES as u64));
    for (name, limbs, is_floating) in [("chain", 1, false), ("limbs", 5, true)] {
        let tree = Tree::from_model(&model(limbs, is_floating, 0)).expect("a tree");
        let (state, n) = (state(&tree), tree.n_dofs());
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
    let looped = LoopedTree::from_model(&model(5, true, 2)).expect("a tree with loops");
    let (tree, mut loops) = (looped.tree(), LoopDynamics::new(&looped));
    let (state, mut dynamics, command) = (state(tree), Dynamics::new(tree), HybridCommand::passive(tree));
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
