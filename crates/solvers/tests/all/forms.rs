//! Both forms of the tree factorization, through one interface, against a dense solve.

use crate::trees::{Recipe, Sample, sample};
use sinew_solvers::{BlockSystem, FactorError, PairTree, TreeLdlt, TreeSolver};
use sinew_testkit::{ForestShape, Rng, assert_close, soak_scale};
use sinew_topology::{Endpoints, GraphBuilder, GraphNode, LARGEST_BLOCK, Priority, VariableId, plan};

/// Rigid bodies with branches, islands, flipped joints, stiff couplings and mass ratios up to 10⁶.
fn random_recipe(rng: &mut Rng) -> Recipe {
    let shape = ForestShape {
        n_bodies: 1 + rng.below(24),
        root_chance: 0.1,
        world_chance: 0.5,
        chain_chance: rng.uniform(0.0, 1.0),
    };
    Recipe {
        shape,
        mass_decades: rng.below(7) as i32,
        stiffness_decades: rng.below(7) as i32,
        ..Recipe::rigid(0, 0.0)
    }
}

fn solution(solver: &mut impl TreeSolver, sample: &Sample) -> Vec<f64> {
    solver.factor(&sample.system).unwrap();
    let mut x = sample.system.rhs().to_vec();
    solver.solve(&mut x);
    x
}

/// The dense solution, refined: backward error at rounding.
fn dense_solution(sample: &Sample) -> Vec<f64> {
    let rhs = sample.system.rhs();
    let dense = sample.matrix.lu().unwrap();
    let mut x = dense.solve(rhs);
    let mut residual = x.clone();
    sample.system.fill_residual(rhs, &x, &mut residual);
    x.iter_mut().zip(dense.solve(&residual)).for_each(|(x, step)| *x += step);
    x
}

/// Largest difference of velocities and of multipliers, each relative to its own largest entry.
fn differences(sample: &Sample, x: &[f64], expected: &[f64]) -> [f64; 2] {
    let mut is_velocity = vec![false; x.len()];
    for pair in sample.plan.pairs() {
        is_velocity[sample.system.variable_range(pair.variable)].fill(true);
    }
    [true, false].map(|velocities| {
        let entries = || (0..x.len()).filter(|&i| is_velocity[i] == velocities);
        let difference = entries().map(|i| (x[i] - expected[i]).abs()).fold(0.0, f64::max);
        let size = entries().map(|i| expected[i].abs()).fold(0.0, f64::max);
        if size > 0.0 { difference / size } else { difference }
    })
}

/// What every form must do: velocities and multipliers of 1,000 random trees, to 10⁻⁸ of the dense solution,
/// with a backward error of at most 10⁻¹².
fn agrees_with_dense<S: TreeSolver>(make: impl Fn(&Sample) -> S) {
    for seed in 0..1_000 * soak_scale() as u64 {
        let rng = &mut Rng::new(seed);
        let recipe = random_recipe(rng);
        let sample = sample(rng, recipe);
        let x = solution(&mut make(&sample), &sample);
        let [velocities, multipliers] = differences(&sample, &x, &dense_solution(&sample));
        assert!(velocities <= 1e-8, "seed {seed}: velocities off by {velocities:e} with {recipe:?}");
        assert!(multipliers <= 1e-8, "seed {seed}: multipliers off by {multipliers:e} with {recipe:?}");
        let error = sample.matrix.backward_error(&x, sample.system.rhs());
        assert!(error <= 1e-12, "seed {seed}: backward error {error:e} with {recipe:?}");
    }
}

#[test]
fn block_form_agrees_with_dense_soak() {
    agrees_with_dense(|sample| TreeLdlt::new(&sample.plan));
}

/// Affine bodies, points, scalars and whatever else has up to 40 unknowns, with up to as many rows: to 10⁻¹⁰ of the dense solution.
#[test]
fn blocks_of_any_size_agree_with_dense_soak() {
    let mut n_large = 0;
    for seed in 0..500 * soak_scale() as u64 {
        let rng = &mut Rng::new(seed);
        let shape = ForestShape { n_bodies: 1 + rng.below(12), ..random_recipe(rng).shape };
        let largest = if seed % 5 == 0 { 40 } else { 12 };
        let recipe = Recipe {
            shape,
            rigid_chance: 0.2,
            largest,
            row_noise: 0.2,
            compliance_chance: 0.1,
            ..Recipe::rigid(0, 0.0)
        };
        let sample = sample(rng, recipe);
        let expected = dense_solution(&sample);
        let mut ldlt = TreeLdlt::new(&sample.plan);
        let x = solution(&mut ldlt, &sample);
        let errors = differences(&sample, &x, &expected);
        assert!(errors[0].max(errors[1]) <= 1e-10, "seed {seed}: off by {errors:?} with {recipe:?}");
        n_large += sample.plan.nodes().iter().filter(|node| node.dim > 6).count();

        // A refinement changes rounding only.
        let mut refined = x.clone();
        ldlt.refine(&sample.system, sample.system.rhs(), &mut refined);
        let errors = differences(&sample, &refined, &expected);
        assert!(errors[0].max(errors[1]) <= 1e-10, "seed {seed}: off by {errors:?} after refinement");
    }
    assert!(n_large > 1_000, "{n_large} blocks of more than six");
}

/// Three variables of the largest size, with rows of the largest number between them.
#[test]
fn the_largest_blocks_agree_with_dense() {
    let shape = ForestShape { n_bodies: 3, root_chance: 0.0, world_chance: 1.0, chain_chance: 1.0 };
    let recipe =
        Recipe { shape, rigid_chance: 0.0, largest: LARGEST_BLOCK, row_noise: 0.02, ..Recipe::rigid(0, 0.0) };
    let sample = (0..)
        .map(|seed| sample(&mut Rng::new(seed), recipe))
        .find(|sample| sample.plan.nodes().iter().any(|node| usize::from(node.dim) > LARGEST_BLOCK - 4));
    let sample = sample.unwrap();
    let x = solution(&mut TreeLdlt::new(&sample.plan), &sample);
    let errors = differences(&sample, &x, &dense_solution(&sample));
    assert!(errors[0].max(errors[1]) <= 1e-10, "{errors:?}");
}

#[test]
fn pair_form_agrees_with_dense_soak() {
    agrees_with_dense(|sample| PairTree::new(&sample.plan));
}

/// Factor once, solve many: every column of the identity comes back through the matrix, and a second factor in
/// the same storage leaves no trace of the first.
#[test]
fn pair_form_solves_many_and_can_be_reused() {
    let sample = sample(&mut Rng::new(9), Recipe::rigid(8, 0.3));
    let mut solver = PairTree::new(&sample.plan);
    let fresh = solution(&mut solver, &sample);
    for column in 0..sample.system.n_unknowns() {
        let mut x = vec![0.0; sample.system.n_unknowns()];
        x[column] = 1.0;
        let unit = x.clone();
        solver.solve(&mut x);
        assert_close!(sample.matrix.mul_vec(&x), unit, 1e-10, "column {column}");
    }
    let mut other = sample.system.clone();
    (0..8).for_each(|body| other.variable_mut(VariableId::new(body)).iter_mut().for_each(|a| *a *= 3.0));
    solver.factor(&other).unwrap();
    assert_eq!(solution(&mut solver, &sample), fresh);
}

/// The schedule decides who works when, never what comes out; nor which failure is reported.
#[test]
fn every_grain_gives_the_same_bits_and_the_first_bad_pivot() {
    for seed in 0..20 {
        let rng = &mut Rng::new(seed);
        let mut sample = sample(rng, Recipe::rigid(100, 0.6));
        let solvers = || [usize::MAX, 1, 3, 8, 40].map(|grain| PairTree::with_grain(&sample.plan, grain));
        let answers = solvers().map(|mut solver| {
            solution(&mut solver, &sample).into_iter().map(f64::to_bits).collect::<Vec<_>>()
        });
        answers.iter().for_each(|answer| assert_eq!(answer, &answers[0], "seed {seed}"));

        let mut failing = solvers();
        for _ in 0..3 {
            sample.system.variable_mut(VariableId::new(rng.below(100)))[..].fill(f64::NAN);
        }
        let failures = failing.each_mut().map(|solver| solver.factor(&sample.system).unwrap_err());
        let name = |error: &FactorError| error.to_string();
        failures.iter().for_each(|error| assert_eq!(name(error), name(&failures[0]), "seed {seed}"));
    }
}

#[test]
fn pair_form_does_not_allocate() {
    let sample = sample(&mut Rng::new(1), Recipe::rigid(100, 0.5));
    let mut solver = PairTree::new(&sample.plan);
    let mut x = sample.system.rhs().to_vec();
    let info = allocation_counter::measure(|| {
        solver.factor(&sample.system).unwrap();
        solver.solve(&mut x);
    });
    assert_eq!(info.count_total, 0);
}

/// Two bodies of unit mass; the second hangs from the first by two rows.
fn two_bodies(dim: usize) -> (BlockSystem, PairTree, [GraphNode; 3]) {
    let mut builder = GraphBuilder::new();
    let bodies = [6, dim].map(|dim| builder.add_variable(dim));
    let joint = builder.add_constraint(2, Endpoints::Pair(bodies[1], bodies[0]), Priority::Auto);
    let plan = plan(&builder.finish().unwrap()).unwrap();
    let mut system = BlockSystem::new(&plan);
    for (body, dim) in bodies.into_iter().zip([6, dim]) {
        (0..dim).for_each(|i| system.variable_mut(body)[(dim + 1) * i] = 1.0);
    }
    let rows = |dim: usize| {
        let mut rows = vec![0.0; 2 * dim];
        (rows[0], rows[dim + 1]) = (1.0, 1.0);
        rows
    };
    system.set_jacobians(joint, &rows(dim), &rows(6));
    (
        system,
        PairTree::new(&plan),
        [GraphNode::Variable(bodies[0]), GraphNode::Variable(bodies[1]), GraphNode::Constraint(joint)],
    )
}

#[test]
fn what_the_pair_form_cannot_take_is_named() {
    let (system, mut solver, [_, child, _]) = two_bodies(3);
    assert_eq!(solver.factor(&system), Err(FactorError::NoPairForm { node: child }));

    let (mut system, mut solver, [_, child, joint]) = two_bodies(6);
    let (GraphNode::Variable(body), GraphNode::Constraint(id)) = (child, joint) else { panic!() };
    assert_eq!(solver.factor(&system), Ok(()));
    system.compliance_mut(id)[3] = 1e-9;
    let error = solver.factor(&system).unwrap_err();
    assert_eq!(error, FactorError::NoPairForm { node: joint });
    assert!(error.to_string().starts_with("constraint 0 has no pair form"), "{error}");
    system.compliance_mut(id)[3] = 0.0;

    // The second row repeats the first up to 1e-12.
    let mut rows = [0.0; 12];
    (rows[0], rows[6], rows[7]) = (1.0, 1.0, 1e-12);
    system.set_jacobians(id, &rows, &rows);
    let FactorError::SingularPivot { node, magnitude } = solver.factor(&system).unwrap_err() else {
        panic!()
    };
    assert_eq!(node, joint);
    assert_close!(magnitude, 1e-12, 1e-15);

    // No mass in a free direction is an error, in a locked one it is not.
    (rows[6], rows[7]) = (0.0, 1.0);
    system.set_jacobians(id, &rows, &rows);
    system.variable_mut(body)[0] = 0.0;
    assert_eq!(solver.factor(&system), Ok(()));
    system.variable_mut(body)[7 * 5] = 0.0;
    let FactorError::SingularPivot { node, magnitude } = solver.factor(&system).unwrap_err() else {
        panic!()
    };
    assert_eq!((node, magnitude), (child, 0.0));
}

/// Of a chain: `6² + 3² + 3·6` numbers per link at least, and as many for each.
#[test]
fn memory_grows_with_the_chain() {
    let bytes = |n_links: usize| {
        let mut builder = GraphBuilder::new();
        let mut above = None;
        for _ in 0..n_links {
            let link = builder.add_variable(6);
            let ends = above.map_or(Endpoints::World(link), |above| Endpoints::Pair(link, above));
            builder.add_constraint(3, ends, Priority::Auto);
            above = Some(link);
        }
        let plan = plan(&builder.finish().unwrap()).unwrap();
        [BlockSystem::new(&plan).bytes(), TreeLdlt::new(&plan).bytes()]
    };
    let [small, middle, large] = [100, 200, 300].map(bytes);
    for (from, to) in [(small, middle), (middle, large)] {
        for form in 0..2 {
            let per_link = (to[form] - from[form]) / 100;
            assert!((8 * 63..8 * 4 * 63).contains(&per_link), "{per_link} bytes per link");
        }
    }
}
