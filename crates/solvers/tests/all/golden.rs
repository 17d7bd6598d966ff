//! The golden case `tree_ldlt`: five bodies, five ball joints, stiff couplings.

use sinew_math::ops;
use sinew_solvers::{BlockSystem, TreeLdlt};
use sinew_testkit::golden::{file, list, numbers};
use sinew_testkit::{Dense, assert_close};
use sinew_topology::{Endpoints, GraphBuilder, Priority, plan};

/// The block of the recipe: entry (i, j) is cos(s + 1.3 i + 0.7 j + 0.21 i j).
fn block(n_rows: usize, n_columns: usize, s: f64) -> Dense {
    Dense::from_fn(n_rows, n_columns, |i, j| {
        let (i, j) = (i as f64, j as f64);
        ops::cos(s + 1.3 * i + 0.7 * j + 0.21 * i * j)
    })
}

fn jacobian(joint: usize, body: usize, sign: f64) -> Dense {
    let unit = Dense::from_fn(3, 6, |i, j| if i == j % 3 { sign } else { 0.0 });
    block(3, 6, (10 + 3 * joint + body) as f64).plus(&unit, 1.0)
}

#[test]
fn tree_ldlt() {
    let golden = file("tree_ldlt");
    let joints: Vec<(usize, Option<usize>)> = list(&golden["in"]["joints"])
        .iter()
        .map(|ends| {
            let [a, b] = [0, 1].map(|i| ends[i].as_i64().unwrap());
            (a as usize, usize::try_from(b).ok())
        })
        .collect();
    let mut builder = GraphBuilder::new();
    let bodies = [0; 5].map(|_| builder.add_variable(6));
    let ids: Vec<_> = joints
        .iter()
        .map(|&(first, second)| {
            let world = Endpoints::World(bodies[first]);
            let endpoints = second.map_or(world, |second| Endpoints::Pair(bodies[first], bodies[second]));
            builder.add_constraint(3, endpoints, Priority::Auto)
        })
        .collect();
    let plan = plan(&builder.finish().unwrap()).unwrap();

    let mut system = BlockSystem::new(&plan);
    for (i, &body) in bodies.iter().enumerate() {
        let b = block(6, 6, i as f64);
        let mass = b.mul(&b.transpose()).plus(&Dense::identity(6), 2.0);
        system.variable_mut(body).copy_from_slice(mass.entries());
        for (row, value) in system.variable_rhs_mut(body).iter_mut().enumerate() {
            *value = (row + 1) as f64 * (0.1 + 0.01 * i as f64);
        }
    }
    for (k, (&id, &(first, second))) in ids.iter().zip(&joints).enumerate() {
        let parent_rows = second.map_or(Dense::zeros(3, 0), |second| jacobian(k, second, -1.0));
        system.set_jacobians(id, jacobian(k, first, 1.0).entries(), parent_rows.entries());
        if let Some(second) = second {
            let g = block(2, 12, (30 + k) as f64);
            let stiffness = g.transpose().mul(&g);
            let quadrant = |i0: usize, j0: usize| Dense::from_fn(6, 6, |i, j| stiffness[(i0 + i, j0 + j)]);
            for (body, corner) in [(first, 0), (second, 6)] {
                let target = system.variable_mut(bodies[body]);
                target.iter_mut().zip(quadrant(corner, corner).entries()).for_each(|(t, k)| *t += k);
            }
            system.set_coupling(id, quadrant(0, 6).entries());
        }
        for (row, value) in system.constraint_rhs_mut(id).iter_mut().enumerate() {
            *value = (row + 1) as f64 * (0.1 + 0.01 * (k + 20) as f64);
        }
    }

    let mut ldlt = TreeLdlt::new(&plan);
    ldlt.factor(&system).unwrap();
    let mut x = system.rhs().to_vec();
    ldlt.solve(&mut x);
    let expected = |name: String| numbers(&golden["out"][&name]);
    for (i, &body) in bodies.iter().enumerate() {
        assert_close!(x[system.variable_range(body)].to_vec(), expected(format!("body_{i}")), 1e-12);
    }
    for (k, &id) in ids.iter().enumerate() {
        // Her11 has the other sign of multipliers.
        let against: Vec<f64> = expected(format!("joint_{k}")).iter().map(|l| -l).collect();
        assert_close!(x[system.constraint_range(id)].to_vec(), against, 1e-12);
    }
}
