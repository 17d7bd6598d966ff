//! One factorization and one solve of a hinge chain, block form beside pair form, without assembly: is it linear?

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::DVec3;
use sinew_math::{Force, Motion, Sym3, Sym6, skew};
use sinew_solvers::{BlockSystem, Load, PairFactor, PairJoint, TreeLdlt};
use sinew_topology::{EliminationPlan, Endpoints, GraphBuilder, Priority, plan};
use std::hint::black_box;

/// Half the length of a link, m; links lie along x, hinges turn about y.
const HALF: DVec3 = DVec3::new(0.25, 0.0, 0.0);
const INERTIA: Sym3 = Sym3::diagonal(DVec3::new(0.0004, 0.021, 0.021));
const WEIGHT: Force = Force { angular: DVec3::ZERO, linear: DVec3::new(0.0, 0.0, -0.1635) };
/// h²·stiffness + h·damping of a hinge.
const STIFFNESS: f64 = 0.01;

/// The chain as a block system.
fn chain(n: usize) -> (EliminationPlan, BlockSystem) {
    let mut builder = GraphBuilder::new();
    let (mut bodies, mut joints) = (Vec::new(), Vec::new());
    for i in 0..n {
        bodies.push(builder.add_variable(6));
        let ends =
            if i == 0 { Endpoints::World(bodies[0]) } else { Endpoints::Pair(bodies[i], bodies[i - 1]) };
        joints.push(builder.add_constraint(5, ends, Priority::Auto));
    }
    let plan = plan(&builder.finish().expect("a chain is a tree")).expect("a chain has a plan");
    let mut system = BlockSystem::new(&plan);
    let (child, parent) = (hinge_rows(-HALF, 1.0), hinge_rows(HALF, -1.0));
    for i in 0..n {
        let mass = system.variable_mut(bodies[i]);
        for (k, value) in [0.0004, 0.021, 0.021, 1.0, 1.0, 1.0].into_iter().enumerate() {
            mass[7 * k] = value;
        }
        let n_springs = if i + 1 < n { 2.0 } else { 1.0 };
        mass[7] += n_springs * STIFFNESS;
        system.set_jacobians(joints[i], &child, if i == 0 { &[] } else { &parent });
        if i > 0 {
            let mut coupling = [0.0; 36];
            coupling[7] = -STIFFNESS;
            system.set_coupling(joints[i], &coupling);
        }
        system.variable_rhs_mut(bodies[i])[5] = WEIGHT.linear.z;
    }
    (plan, system)
}

/// Rows of a hinge at `arm` from the centre of mass: no sliding, no turning about x and z.
fn hinge_rows(arm: DVec3, sign: f64) -> [f64; 30] {
    let mut rows = [0.0; 30];
    let turning = skew(-arm);
    for i in 0..3 {
        for j in 0..3 {
            rows[6 * i + j] = sign * turning.col(j)[i];
        }
        rows[6 * i + 3 + i] = sign;
    }
    rows[18] = sign;
    rows[26] = sign;
    rows
}

/// Pair elimination and substitution of the chain.
fn solve_pairs(factor: &mut PairFactor, motions: &mut [Motion]) {
    let n = factor.len();
    let joint = PairJoint {
        shift: 2.0 * HALF,
        basis: [Motion { angular: DVec3::Y, linear: DVec3::Y.cross(HALF) }],
        offset: Motion::ZERO,
        stiffness: [[STIFFNESS]],
        impulse: [0.0],
    };
    let own = Load { mass: Sym6::rigid(INERTIA, 1.0), momentum: WEIGHT };
    let mut load = Load::ZERO;
    let mut view = factor.view();
    for pair in 0..n {
        load.add(&own);
        view.eliminate(pair, &mut load, black_box(&joint));
    }
    let mut motion = Motion::ZERO;
    for pair in (0..n).rev() {
        motion = factor.substitute(pair, motion);
        motions[pair] = motion;
    }
}

fn forms(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tree_ldlt");
    for n in [10, 100, 1_000, 10_000] {
        group.throughput(Throughput::Elements(n as u64));
        let (plan, system) = chain(n);
        let mut ldlt = TreeLdlt::new(&plan);
        let mut x = system.rhs().to_vec();
        group.bench_function(BenchmarkId::new("block_factor", n), |bencher| {
            bencher.iter(|| ldlt.factor(black_box(&system)));
        });
        ldlt.factor(&system).expect("the chain is not singular");
        group.bench_function(BenchmarkId::new("block_solve", n), |bencher| {
            bencher.iter(|| {
                x.copy_from_slice(system.rhs());
                ldlt.solve(black_box(&mut x));
            });
        });
        let mut factor = PairFactor::new(std::iter::repeat_n(1, n));
        let mut motions = vec![Motion::ZERO; n];
        group.bench_function(BenchmarkId::new("pair_factor_and_solve", n), |bencher| {
            bencher.iter(|| solve_pairs(&mut factor, black_box(&mut motions)));
        });
        assert_same_motion(&plan, &system, &x, &motions);
    }
    group.finish();
}

/// Both forms must have solved the same chain.
fn assert_same_motion(plan: &EliminationPlan, system: &BlockSystem, x: &[f64], motions: &[Motion]) {
    let size = x.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    for (pair, motion) in plan.pairs().iter().zip(motions) {
        for (one, other) in x[system.variable_range(pair.variable)].iter().zip(motion.to_array()) {
            assert!((one - other).abs() <= 1e-6 * size, "block form {one}, pair form {other}");
        }
    }
}

criterion_group!(benches, forms);
criterion_main!(benches);
