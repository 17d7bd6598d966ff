//! Multipliers have one sign (docs/notation.md): what holds a hanging body pushes it up, by `+Jᵀλ`.

use glam::DVec3;
use sinew_math::Sym3;
use sinew_solvers::{
    BlockSystem, FreeBodies, FreeMass, LoopProblem, LoopRows, LoopScratch, LoopSettings, PairTree, TreeLdlt,
    TreeSolver, VariableProblem, VariableRows, refine, refine_variables,
};
use sinew_topology::{Endpoints, GraphBuilder, Priority, VariableId, plan};

/// Momentum that gravity gives a body of 2 kg in 0.1 s, N·s along z.
const WEIGHT: f64 = -1.962;

/// A rigid body whose height is held by one row of the tree, if `is_held`.
fn hanging(is_held: bool) -> (BlockSystem, TreeLdlt, PairTree) {
    let mut builder = GraphBuilder::new();
    let body = builder.add_variable(6);
    let pin = is_held.then(|| builder.add_constraint(1, Endpoints::World(body), Priority::Auto));
    let plan = plan(&builder.finish().unwrap()).unwrap();
    let mut system = BlockSystem::new(&plan);
    (0..6).for_each(|i| system.variable_mut(body)[7 * i] = 2.0);
    system.variable_rhs_mut(body)[5] = WEIGHT;
    pin.into_iter().for_each(|pin| system.set_jacobians(pin, &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0], &[]));
    (system, TreeLdlt::new(&plan), PairTree::new(&plan))
}

#[test]
fn trees_hold_a_hanging_body_up() {
    let (system, mut ldlt, mut pairs) = hanging(true);
    let solvers: [&mut dyn TreeSolver; 2] = [&mut ldlt, &mut pairs];
    for solver in solvers {
        solver.factor(&system).unwrap();
        let mut x = system.rhs().to_vec();
        solver.solve(&mut x);
        assert!((x[6] + WEIGHT).abs() < 1e-14 && x[5].abs() < 1e-14, "{x:?}");
    }
}

#[test]
fn loop_rows_hold_a_hanging_body_up() {
    let masses = [FreeMass { inverse_mass: 0.5, inverse_inertia: Sym3::ZERO }];
    let mut rows = LoopRows::new();
    rows.push_point([0, LoopRows::FIXED], [DVec3::ZERO; 2], DVec3::Z * -(0.5 * WEIGHT), 1.0);
    let mut lambda = [0.0; 3];
    let problem = LoopProblem {
        rows: &rows,
        responder: &mut FreeBodies { masses: &masses },
        free_mass: &|_| masses[0],
        rhs: rows.rhs(),
        graph: None,
    };
    let (settings, mut scratch) = (LoopSettings::default(), LoopScratch::new());
    refine(problem, &mut lambda, &settings, &mut scratch, &mut |_, _| true);
    assert!((lambda[2] + WEIGHT).abs() < 1e-9, "{lambda:?}");
    assert!((rows.impulse_on_first(0, &lambda).linear.z + WEIGHT).abs() < 1e-9);
}

#[test]
fn rows_on_variables_hold_a_hanging_body_up() {
    let (system, mut tree, _) = hanging(false);
    tree.factor(&system).unwrap();
    let mut rows = VariableRows::new();
    rows.push(&[(VariableId::new(0), &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0])], &[0.0], &[0.0], 1.0);
    let (rhs, mut lambda) = ([-0.5 * WEIGHT], [0.0]);
    let problem = VariableProblem { rows: &rows, system: &system, tree: &tree, rhs: &rhs };
    let (settings, mut scratch) = (LoopSettings::default(), LoopScratch::new());
    refine_variables(problem, &mut lambda, &settings, &mut scratch, &mut |_, _| true);
    assert!((lambda[0] + WEIGHT).abs() < 1e-9, "{lambda:?}");
}
