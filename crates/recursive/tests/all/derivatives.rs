//! Derivatives with respect to commands: against dense algebra, differences, and each other.

use glam::DVec3;
use sinew_recursive::{DerivativeRow, Derivatives, HybridCommand, JointMode};
use sinew_testkit::{Dense, Rng, assert_close};

use crate::support::{Case, GRAVITY, all_kinds, dense, dense_hybrid, random_case, random_command};

/// Derivatives of all accelerations and torques with respect to one command value, by dense algebra: the solution
/// without bias.
fn dense_column(case: &Case, mass: &Dense, modes: &[JointMode], dof: usize) -> (Vec<f64>, Vec<f64>) {
    let n = case.tree.n_dofs();
    let mut values = vec![0.0; n];
    values[dof] = 1.0;
    let command = HybridCommand { modes: modes.to_vec(), values };
    dense_hybrid(&case.tree, mass, &vec![0.0; n], &command)
}

#[test]
fn columns_and_rows_are_the_dense_jacobian() {
    let mut rng = Rng::new(31);
    for round in 0..100 {
        let mut case = random_case(&mut rng, 1 + round % 8, &all_kinds());
        let (mass, _) = dense(&mut case, GRAVITY);
        let command = random_command(&mut rng, &case.tree, 0.4);
        let _ = case.dynamics.hybrid(&case.tree, &case.state, &command, GRAVITY, &case.external);
        let n = case.tree.n_dofs();
        let mut derivatives = Derivatives::new(&case.tree);
        let mut columns = Vec::new();
        for dof in 0..n {
            derivatives.command(&case.tree, &case.dynamics, dof);
            let (accelerations, torques) = dense_column(&case, &mass, &command.modes, dof);
            assert_close!(derivatives.accelerations(), accelerations.as_slice(), 1e-10, "round {round}");
            assert_close!(derivatives.torques(), torques.as_slice(), 1e-10, "round {round}");
            columns.push(derivatives.clone());
        }
        for dof in 0..n {
            let of = |column: &Derivatives| (column.accelerations()[dof], column.torques()[dof]);
            let row = derivatives.row(&case.tree, &case.dynamics, &DerivativeRow::Acceleration(dof)).to_vec();
            let expected: Vec<f64> = columns.iter().map(|c| of(c).0).collect();
            assert_close!(row, expected, 1e-11, "round {round}");
            let row = derivatives.row(&case.tree, &case.dynamics, &DerivativeRow::Torque(dof)).to_vec();
            let expected: Vec<f64> = columns.iter().map(|c| of(c).1).collect();
            assert_close!(row, expected, 1e-11, "round {round}");
        }
        for link in case.tree.links() {
            let point = rng.vec3(-1.0, 1.0);
            let (angular, linear) = (rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
            let row = DerivativeRow::Point { link, point, angular, linear };
            let row = derivatives.row(&case.tree, &case.dynamics, &row).to_vec();
            let expected: Vec<f64> = columns
                .iter()
                .map(|c| {
                    let change = c.acceleration_at(&case.dynamics, link, point);
                    angular.dot(change.angular) + linear.dot(change.linear)
                })
                .collect();
            assert_close!(row, expected, 1e-11, "round {round}");
        }
    }
}

#[test]
fn columns_are_differences_of_hybrid_dynamics() {
    let mut rng = Rng::new(32);
    for round in 0..30 {
        let case = random_case(&mut rng, 1 + round % 8, &all_kinds());
        let Case { tree, state, mut dynamics, external, .. } = case;
        let command = random_command(&mut rng, &tree, 0.4);
        dynamics.kinematics(&tree, &state);
        let points: Vec<DVec3> = tree.links().map(|_| rng.vec3(-1.0, 1.0)).collect();
        let at = |value: f64, dof: usize, dynamics: &mut sinew_recursive::Dynamics| {
            let mut changed = command.clone();
            changed.values[dof] += value;
            let _ = dynamics.respond(&tree, &changed, GRAVITY, &external);
            let mut all = dynamics.accelerations().to_vec();
            all.extend_from_slice(dynamics.torques());
            for link in tree.links() {
                all.extend(dynamics.acceleration_at(link, points[link.index()]).to_array());
            }
            all
        };
        let mut derivatives = Derivatives::new(&tree);
        for dof in 0..tree.n_dofs() {
            let (plus, minus) = (at(0.5, dof, &mut dynamics), at(-0.5, dof, &mut dynamics));
            let expected: Vec<f64> = plus.iter().zip(&minus).map(|(a, b)| a - b).collect();
            derivatives.command(&tree, &dynamics, dof);
            let mut found = derivatives.accelerations().to_vec();
            found.extend_from_slice(derivatives.torques());
            for link in tree.links() {
                found.extend(derivatives.acceleration_at(&dynamics, link, points[link.index()]).to_array());
            }
            assert_close!(found, expected, 1e-7, "round {round}");
        }
    }
}

#[test]
fn with_every_joint_prescribed_a_torque_row_is_one_of_the_mass_matrix() {
    let mut rng = Rng::new(33);
    let mut case = random_case(&mut rng, 9, &all_kinds());
    let (mass, _) = dense(&mut case, GRAVITY);
    let Case { tree, dynamics, .. } = &mut case;
    let _ = dynamics.respond(tree, &HybridCommand::prescribed(tree), GRAVITY, &[]);
    let mut derivatives = Derivatives::new(tree);
    for dof in 0..tree.n_dofs() {
        let expected: Vec<f64> = (0..tree.n_dofs()).map(|j| mass[(dof, j)]).collect();
        assert_close!(
            derivatives.row(tree, dynamics, &DerivativeRow::Torque(dof)),
            expected.as_slice(),
            1e-12
        );
    }
}
