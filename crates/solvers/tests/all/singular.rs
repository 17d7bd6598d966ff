//! Singular pivots are errors that name the node; compliance cures dependent rows.

use crate::trees::{Recipe, sample};
use sinew_solvers::{BlockSystem, FactorError, TreeLdlt};
use sinew_testkit::Rng;
use sinew_topology::{ConstraintId, Endpoints, GraphBuilder, GraphNode, Priority, VariableId, plan};

/// Two bodies of unit mass; the second hangs from the first by three rows, the last of which repeats the second.
fn dependent_rows() -> (BlockSystem, TreeLdlt, [VariableId; 2], ConstraintId) {
    let mut builder = GraphBuilder::new();
    let bodies = [6, 6].map(|dim| builder.add_variable(dim));
    let joint = builder.add_constraint(3, Endpoints::Pair(bodies[1], bodies[0]), Priority::Auto);
    let plan = plan(&builder.finish().unwrap()).unwrap();
    let mut system = BlockSystem::new(&plan);
    for body in bodies {
        (0..6).for_each(|i| system.variable_mut(body)[7 * i] = 1.0);
    }
    let mut rows = [0.0; 18];
    for (row, column) in [(0, 0), (1, 1), (2, 1)] {
        rows[6 * row + column] = 1.0;
    }
    system.set_jacobians(joint, &rows, &rows.map(|entry| -entry));
    (system, TreeLdlt::new(&plan), bodies, joint)
}

#[test]
fn dependent_rows_are_named_and_compliance_cures_them() {
    let (mut system, mut ldlt, _, joint) = dependent_rows();
    let error = ldlt.factor(&system).unwrap_err();
    let FactorError::SingularPivot { node, magnitude } = error else { panic!("{error}") };
    assert_eq!(node, GraphNode::Constraint(joint));
    assert!(magnitude.abs() < 1e-15);
    assert!(error.to_string().starts_with("the pivot of constraint 0 is zero or nearly so"), "{error}");
    for i in 0..3 {
        system.compliance_mut(joint)[4 * i] = 1e-9;
    }
    assert_eq!(ldlt.factor(&system), Ok(()));
}

#[test]
fn massless_and_broken_bodies_are_named() {
    for broken in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let (mut system, mut ldlt, bodies, joint) = dependent_rows();
        system.compliance_mut(joint)[8] = 1.0;
        system.variable_mut(bodies[1])[0] = broken;
        let FactorError::SingularPivot { node, .. } = ldlt.factor(&system).unwrap_err() else { panic!() };
        assert_eq!(node, GraphNode::Variable(bodies[1]), "{broken}");
    }
}

/// With several bad pivots, the first in elimination order is reported, whatever the schedule.
#[test]
fn the_first_bad_pivot_is_reported() {
    for seed in 0..200 {
        let rng = &mut Rng::new(seed);
        let mut sample = sample(rng, Recipe::rigid(60, 0.5));
        let bad: Vec<VariableId> = (0..3).map(|_| VariableId::new(rng.below(60))).collect();
        for &body in &bad {
            sample.system.variable_mut(body)[0] = -1e9;
        }
        let first = bad.iter().copied().min_by_key(|&body| sample.plan.position_of(body));
        for grain in [1, 7, 20, usize::MAX] {
            let mut ldlt = TreeLdlt::with_grain(&sample.plan, grain);
            let FactorError::SingularPivot { node, .. } = ldlt.factor(&sample.system).unwrap_err() else {
                panic!()
            };
            assert_eq!(Some(node), first.map(GraphNode::Variable), "seed {seed}, grain {grain}");
        }
    }
}

#[test]
#[should_panic(expected = "constraint 1 is in the loop set")]
fn loop_constraints_have_no_block() {
    let mut builder = GraphBuilder::new();
    let body = builder.add_variable(6);
    builder.add_constraint(3, Endpoints::World(body), Priority::Auto);
    let second = builder.add_constraint(3, Endpoints::World(body), Priority::Auto);
    let plan = plan(&builder.finish().unwrap()).unwrap();
    BlockSystem::new(&plan).compliance_mut(second);
}
