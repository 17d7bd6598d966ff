//! Loops over variables of any size: the dense saddle-point system, and the rows on twists.

use super::graphs::LEAST_SQUARES;
use crate::trees::{Recipe, Sample, sample};
use glam::DVec3;
use sinew_math::Sym3;
use sinew_solvers::{
    BlockSystem, FreeBodies, FreeMass, LoopMethod, LoopProblem, LoopReport, LoopRow, LoopRows, LoopScratch,
    LoopSettings, LoopStop, TreeLdlt, VariableProblem, VariableRows, refine, refine_variables,
};
use sinew_testkit::{Dense, ForestShape, Rng, norm};
use sinew_topology::{GraphBuilder, VariableId, plan};

/// A loop constraint: `J` on its variables, `b`, `D` and weight.
struct Closure {
    on: Vec<(VariableId, Dense)>,
    rhs: Vec<f64>,
    compliance: Vec<f64>,
}

/// Up to four constraints of 1 to `most` rows on one to three variables.
fn random_closures(rng: &mut Rng, sample: &Sample, most: usize) -> Vec<Closure> {
    let n_variables = sample.plan.pairs().len();
    let closure = |rng: &mut Rng| {
        let mut variables: Vec<usize> = (0..1 + rng.below(3)).map(|_| rng.below(n_variables)).collect();
        variables.sort_unstable();
        variables.dedup();
        let n_rows = 1 + rng.below(most);
        let on = variables.into_iter().map(|index| {
            let variable = VariableId::new(index);
            let dim = sample.system.variable_range(variable).len();
            (variable, Dense::from_fn(n_rows, dim, |_, _| rng.uniform(-1.0, 1.0)))
        });
        let on = on.collect();
        let is_soft = rng.chance(0.5);
        Closure {
            on,
            rhs: (0..n_rows).map(|_| rng.uniform(-1.0, 1.0)).collect(),
            compliance: (0..n_rows).map(|_| if is_soft { rng.uniform(0.1, 1.0) } else { 0.0 }).collect(),
        }
    };
    (0..1 + rng.below(4)).map(|_| closure(rng)).collect()
}

fn pushed(closures: &[Closure]) -> VariableRows {
    let mut rows = VariableRows::new();
    for closure in closures {
        let on: Vec<_> = closure.on.iter().map(|(variable, j)| (*variable, j.entries())).collect();
        rows.push(&on, &closure.rhs, &closure.compliance, 1.0);
    }
    rows
}

/// `[H, −Jᵀ; J, D]` with the matrix `H` of the tree; `None` unless the rows are clearly independent.
fn dense_solution(sample: &Sample, closures: &[Closure]) -> Option<Vec<f64>> {
    let n = sample.system.n_unknowns();
    let n_rows: usize = closures.iter().map(|closure| closure.rhs.len()).sum();
    let mut matrix = Dense::zeros(n + n_rows, n + n_rows);
    matrix.add_block(0, 0, &sample.matrix);
    let mut rhs = sample.system.rhs().to_vec();
    for closure in closures {
        let first = rhs.len();
        for (variable, j) in &closure.on {
            let columns = sample.system.variable_range(*variable);
            matrix.add_block(first, columns.start, j);
            let against = Dense::from_fn(j.n_cols(), j.n_rows(), |r, c| -j[(c, r)]);
            matrix.add_block(columns.start, first, &against);
        }
        for (i, d) in closure.compliance.iter().enumerate() {
            matrix[(first + i, first + i)] = *d;
        }
        rhs.extend(&closure.rhs);
    }
    let x = matrix.lu()?.solve(&rhs);
    (norm(&x) < 1e3 * norm(&rhs)).then_some(x)
}

/// Multipliers, and the solution of the tree with their impulses.
fn refined(
    sample: &Sample,
    tree: &TreeLdlt,
    rows: &VariableRows,
    settings: &LoopSettings,
) -> (LoopReport, Vec<f64>, Vec<f64>) {
    let mut x = sample.system.rhs().to_vec();
    tree.solve(&mut x);
    let mut rhs = vec![0.0; rows.len()];
    rows.gather(&sample.system, &x, &mut rhs);
    rhs.iter_mut().zip(rows.rhs()).for_each(|(along, b)| *along = b - *along);
    let mut lambda = vec![0.0; rows.len()];
    let problem = VariableProblem { rows, system: &sample.system, tree, rhs: &rhs };
    let report = refine_variables(problem, &mut lambda, settings, &mut LoopScratch::new(), &mut |_, _| true);
    x.copy_from_slice(sample.system.rhs());
    rows.scatter(&sample.system, &lambda, &mut x);
    tree.solve(&mut x);
    (report, x, lambda)
}

fn methods() -> impl Iterator<Item = LoopSettings> {
    let iterative = [LoopMethod::ConjugateGradient, LoopMethod::BiConjugateGradient];
    let all = LEAST_SQUARES.iter().copied().chain(iterative).chain([LoopMethod::Auto, LoopMethod::Direct]);
    all.map(|method| LoopSettings {
        method,
        precision: 1e-12,
        iterations: 2000,
        openness: 0.0,
        ..LoopSettings::default()
    })
}

/// Trees and loops of variables of `dims` unknowns, against the dense solution.
fn agrees_with_dense(rigid_chance: f64, largest: usize, fixed: Option<usize>) -> usize {
    let mut n_solved = 0;
    for seed in 0..150 {
        let rng = &mut Rng::new(seed);
        let shape = ForestShape {
            n_bodies: 2 + rng.below(6),
            root_chance: 0.1,
            world_chance: 0.5,
            chain_chance: 0.5,
        };
        let recipe = Recipe { shape, rigid_chance, largest, fixed, row_noise: 0.2, ..Recipe::rigid(0, 0.0) };
        let sample = sample(rng, recipe);
        let closures = random_closures(rng, &sample, largest.min(8));
        let Some(expected) = dense_solution(&sample, &closures) else { continue };
        let mut tree = TreeLdlt::new(&sample.plan);
        tree.factor(&sample.system).unwrap();
        let rows = pushed(&closures);
        n_solved += 1;
        for settings in methods() {
            let (report, x, lambda) = refined(&sample, &tree, &rows, &settings);
            let found: Vec<f64> = x.into_iter().chain(lambda).collect();
            let error: Vec<f64> = found.iter().zip(&expected).map(|(x, y)| x - y).collect();
            let error = norm(&error) / norm(&expected);
            assert!(error <= 1e-8, "seed {seed} {settings:?} {report:?}: off by {error:e}");
        }
    }
    n_solved
}

#[test]
fn loops_of_affine_bodies_agree_with_dense() {
    assert!(agrees_with_dense(0.0, 12, Some(12)) > 50);
}

#[test]
fn loops_of_mixed_sizes_agree_with_dense() {
    assert!(agrees_with_dense(0.3, 14, None) > 50);
}

/// Rows on twists and the same rows on variables of six unknowns: the same solution, by every method.
#[test]
fn six_unknowns_give_what_twists_give() {
    let rng = &mut Rng::new(5);
    let masses: Vec<FreeMass> = (0..4)
        .map(|_| FreeMass {
            inverse_mass: rng.uniform(0.5, 2.0),
            inverse_inertia: Sym3::diagonal(rng.vec3(1.0, 5.0)),
        })
        .collect();
    let mut builder = GraphBuilder::new();
    let bodies = [6; 4].map(|dim| builder.add_variable(dim));
    let plan = plan(&builder.finish().unwrap()).unwrap();
    let mut system = BlockSystem::new(&plan);
    for (&body, mass) in bodies.iter().zip(&masses) {
        let DVec3 { x, y, z } = mass.inverse_inertia.diagonal_entries();
        let m = mass.inverse_mass;
        for (i, inverse) in [x, y, z, m, m, m].into_iter().enumerate() {
            system.variable_mut(body)[7 * i] = 1.0 / inverse;
        }
    }
    let mut tree = TreeLdlt::new(&plan);
    tree.factor(&system).unwrap();
    let (mut twists, mut variables) = (LoopRows::new(), VariableRows::new());
    for k in 0..3_usize {
        let rows: Vec<LoopRow> = (0..2)
            .map(|_| LoopRow {
                on1: super::graphs::force(rng),
                on2: super::graphs::force(rng),
                rhs: rng.uniform(-1.0, 1.0),
                compliance: 0.1 * k as f64,
            })
            .collect();
        twists.push([k as u32, k as u32 + 1], &rows, 1.0);
        let jacobian = |on: fn(&LoopRow) -> [f64; 6]| rows.iter().flat_map(on).collect::<Vec<f64>>();
        let (on1, on2) = (jacobian(|row| row.on1.to_array()), jacobian(|row| row.on2.to_array()));
        let rhs: Vec<f64> = rows.iter().map(|row| row.rhs).collect();
        let compliance: Vec<f64> = rows.iter().map(|row| row.compliance).collect();
        variables.push(&[(bodies[k], &on1), (bodies[k + 1], &on2)], &rhs, &compliance, 1.0);
    }
    for settings in methods() {
        let mut found = [vec![0.0; twists.len()], vec![0.0; twists.len()]];
        let problem = LoopProblem {
            rows: &twists,
            responder: &mut FreeBodies { masses: &masses },
            free_mass: &|port| masses[port as usize],
            rhs: twists.rhs(),
            graph: None,
        };
        let mut scratch = LoopScratch::new();
        let first = refine(problem, &mut found[0], &settings, &mut scratch, &mut |_, _| true);
        let problem =
            VariableProblem { rows: &variables, system: &system, tree: &tree, rhs: variables.rhs() };
        let second = refine_variables(problem, &mut found[1], &settings, &mut scratch, &mut |_, _| true);
        assert_eq!((first.stop, second.stop), (LoopStop::Converged, LoopStop::Converged), "{settings:?}");
        assert!(first.iterations.abs_diff(second.iterations) <= 1, "{first:?} {second:?}");
        for (a, b) in found[0].iter().zip(&found[1]) {
            assert!((a - b).abs() < 1e-9, "{settings:?}: {found:?}");
        }
    }
}

#[test]
fn rows_are_split_and_emptied() {
    let sample = sample(&mut Rng::new(5), Recipe { fixed: Some(12), ..Recipe::rigid(3, 0.5) });
    let mut rows = pushed(&random_closures(&mut Rng::new(6), &sample, 8));
    assert!(!rows.is_empty() && rows.rhs().len() == rows.len() && rows.compliance().len() == rows.len());
    rows.clear();
    assert!(rows.is_empty() && rows.rhs().is_empty() && rows.compliance().is_empty());
    let j = [1.0; 24];
    rows.push(&[(VariableId::new(1), &j)], &[1.0, 2.0], &[0.5, -0.5], 1.0);
    assert_eq!((rows.rhs(), rows.compliance()), (&[1.0, 2.0][..], &[0.5, 0.0][..]));
}

#[test]
fn a_second_solve_of_the_same_size_does_not_allocate() {
    let sample = sample(&mut Rng::new(3), Recipe { fixed: Some(12), ..Recipe::rigid(8, 0.5) });
    let mut tree = TreeLdlt::new(&sample.plan);
    tree.factor(&sample.system).unwrap();
    let rows = pushed(&random_closures(&mut Rng::new(4), &sample, 3));
    let (mut lambda, mut scratch) = (vec![0.0; rows.len()], LoopScratch::new());
    for method in [LoopMethod::Direct, LoopMethod::ConjugateResidual] {
        let settings = LoopSettings { method, ..LoopSettings::default() };
        let mut solve = || {
            lambda.fill(0.0);
            let problem =
                VariableProblem { rows: &rows, system: &sample.system, tree: &tree, rhs: rows.rhs() };
            refine_variables(problem, &mut lambda, &settings, &mut scratch, &mut |_, _| true)
        };
        let first = solve();
        let mut second = first;
        let info = allocation_counter::measure(|| second = solve());
        assert_eq!((info.count_total, second), (0, first));
    }
}
