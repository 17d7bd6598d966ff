//! Derivatives by the state, the Coriolis matrix and its kin, against differences and identities.

use glam::DVec3;
use sinew_math::{Force, Motion, shift_force};
use sinew_mechanism::JointKind;
use sinew_recursive::{
    Derivatives, Dynamics, HybridCommand, JointMatrices, JointMode, Tree, TreeLoads, TreeState,
};
use sinew_testkit::{Dense, Rng, assert_close};

use crate::support::{Case, GRAVITY, all_kinds, random_case, random_command, random_vector};

/// Differences of fourth order, of a function of a displacement along one direction.
fn difference(mut f: impl FnMut(f64) -> Vec<f64>) -> Vec<f64> {
    const H: f64 = 1e-3;
    let mut at = |x: f64| f(x * H);
    let (a, b, c, d) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
    (0..a.len()).map(|i| (a[i] - d[i] + 8.0 * (c[i] - b[i])) / (12.0 * H)).collect()
}

/// A state moved along the coordinate (or the rate) of a dof.
fn moved(tree: &Tree, state: &TreeState, dof: usize, x: f64, is_rate: bool) -> TreeState {
    let mut state = state.clone();
    if is_rate {
        state.rates[dof] += x;
    } else {
        let mut step = vec![0.0; tree.n_dofs()];
        step[dof] = x;
        tree.advance(&mut state.coordinates, &step, 1.0);
    }
    state
}

fn column(matrix: &[f64], n: usize, dof: usize) -> Vec<f64> {
    (0..n).map(|i| matrix[i * n + dof]).collect()
}

/// Largest difference, relative to the largest entry of the matrix.
fn assert_column(found: &[f64], n: usize, dof: usize, expected: &[f64], tolerance: f64, what: &str) {
    let largest = found.iter().fold(1e-3f64, |most, x| most.max(x.abs()));
    for (i, (x, y)) in column(found, n, dof).iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= tolerance * largest, "{what}: entry {i}, {dof}: {x:e}, expected {y:e}");
    }
}

fn check_derivatives(case: &mut Case, rng: &mut Rng, external: &[Force], label: &str) {
    let Case { tree, state, dynamics, .. } = case;
    let n = tree.n_dofs();
    let mut matrices = JointMatrices::new(tree);
    let (values, mut probe) = (random_vector(rng, n, 2.0), Dynamics::new(tree));
    dynamics.kinematics(tree, state);
    matrices.inverse(tree, dynamics, &values, GRAVITY, external);
    let mut inverse = |state: &TreeState| {
        let mut out = vec![0.0; n];
        probe.kinematics(tree, state);
        probe.fill_inverse(tree, &values, GRAVITY, external, &mut out);
        out
    };
    assert_close!(matrices.torques().to_vec(), inverse(state), 1e-12, "{label}");
    for dof in 0..n {
        for (is_rate, found) in
            [(false, matrices.torques_by_coordinates()), (true, matrices.torques_by_rates())]
        {
            let expected = difference(|x| inverse(&moved(tree, state, dof, x, is_rate)));
            let kind = tree.joint_kind(tree.links().find(|l| tree.dofs(*l).contains(&dof)).expect("a link"));
            assert_column(found, n, dof, &expected, 1e-7, &format!("{label} ∂τ rate {is_rate} {kind:?}"));
        }
    }
    let mut command = HybridCommand::passive(tree);
    command.values.copy_from_slice(&values);
    let report = matrices.forward(tree, dynamics, &values, GRAVITY, external);
    assert_eq!(report.singular, None);
    let mut forward = |state: &TreeState, command: &HybridCommand| {
        assert_eq!(probe.hybrid(tree, state, command, GRAVITY, external).singular, None);
        probe.accelerations().to_vec()
    };
    assert_close!(matrices.accelerations().to_vec(), forward(state, &command), 1e-9, "{label}");
    for dof in 0..n {
        let by_coordinate = difference(|x| forward(&moved(tree, state, dof, x, false), &command));
        assert_column(matrices.accelerations_by_coordinates(), n, dof, &by_coordinate, 1e-7, label);
        let by_rate = difference(|x| forward(&moved(tree, state, dof, x, true), &command));
        assert_column(matrices.accelerations_by_rates(), n, dof, &by_rate, 1e-7, label);
        let by_torque = difference(|x| {
            let mut command = command.clone();
            command.values[dof] += x;
            forward(state, &command)
        });
        assert_column(matrices.inverse_mass_matrix(), n, dof, &by_torque, 1e-7, label);
    }
}

#[test]
fn derivatives_by_the_state_are_differences_for_every_kind() {
    let mut rng = Rng::new(61);
    for kind in all_kinds() {
        if kind == JointKind::Fixed {
            continue;
        }
        for round in 0..6 {
            let mut case = random_case(&mut rng, 1 + round % 3, &[kind]);
            let external = if round < 3 { Vec::new() } else { case.external.clone() };
            check_derivatives(&mut case, &mut rng, &external, &format!("{kind:?} {round}"));
        }
    }
}

#[test]
fn derivatives_by_the_state_are_differences_on_random_trees() {
    let mut rng = Rng::new(62);
    for round in 0..40 {
        let mut case = random_case(&mut rng, 1 + round % 12, &all_kinds());
        let external = if round % 2 == 0 { Vec::new() } else { case.external.clone() };
        check_derivatives(&mut case, &mut rng, &external, &format!("round {round}"));
    }
}

#[test]
fn the_inverse_of_the_mass_matrix_is_its_inverse() {
    let mut rng = Rng::new(63);
    for round in 0..50 {
        let Case { tree, state, mut dynamics, .. } = random_case(&mut rng, 1 + round % 12, &all_kinds());
        let n = tree.n_dofs();
        let (mut mass, mut matrices) = (vec![7.0; n * n], JointMatrices::new(&tree));
        dynamics.kinematics(&tree, &state);
        dynamics.fill_mass_matrix(&tree, &mut mass);
        assert_eq!(matrices.invert_mass(&tree, &mut dynamics).singular, None);
        let inverse = matrices.inverse_mass_matrix().to_vec();
        let product = Dense::from_rows(n, n, &mass).mul(&Dense::from_rows(n, n, &inverse));
        let identity: Vec<f64> = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect();
        assert_close!(product.entries(), identity.as_slice(), 1e-9, "round {round}");
        let _ = matrices.forward(&tree, &mut dynamics, &vec![0.0; n], GRAVITY, &[]);
        assert_close!(matrices.mass_matrix(), mass.as_slice(), 1e-13, "round {round}");
        assert_close!(matrices.inverse_mass_matrix(), inverse.as_slice(), 1e-13, "round {round}");
    }
}

#[test]
fn the_rate_of_the_mass_matrix_less_twice_coriolis_is_skew() {
    let mut rng = Rng::new(64);
    for round in 0..40 {
        let Case { tree, state, mut dynamics, .. } = random_case(&mut rng, 1 + round % 9, &all_kinds());
        let n = tree.n_dofs();
        dynamics.kinematics(&tree, &state);
        let mut matrices = JointMatrices::new(&tree);
        let coriolis = matrices.coriolis(&tree, &mut dynamics).to_vec();
        let mut bias = vec![0.0; n];
        dynamics.fill_bias(&tree, DVec3::ZERO, &[], &mut bias);
        assert_close!(Dense::from_rows(n, n, &coriolis).mul_vec(&state.rates), bias, 1e-11, "round {round}");
        let mass_rate = difference(|t| {
            let (mut state, mut out) = (state.clone(), vec![0.0; n * n]);
            tree.advance(&mut state.coordinates, &state.rates, t);
            dynamics.kinematics(&tree, &state);
            dynamics.fill_mass_matrix(&tree, &mut out);
            out
        });
        for i in 0..n {
            for j in 0..=i {
                let sum = mass_rate[i * n + j] - coriolis[i * n + j] - coriolis[j * n + i];
                assert!(sum.abs() < 1e-8, "round {round}: {i}, {j}: {sum:e}");
            }
        }
    }
}

#[test]
fn the_rate_of_a_jacobian_is_a_difference_and_gives_the_velocity_product() {
    let mut rng = Rng::new(65);
    for round in 0..40 {
        let Case { tree, state, mut dynamics, .. } = random_case(&mut rng, 1 + round % 9, &all_kinds());
        let n = tree.n_dofs();
        let (mut rate, mut columns) = (vec![Motion::ZERO; n], vec![Motion::ZERO; n]);
        let link = tree.links().last().expect("a link");
        dynamics.kinematics(&tree, &state);
        let point = rng.vec3(-1.0, 1.0);
        let carried = dynamics.joint_pose(link).inverse().transform_point(point);
        dynamics.fill_jacobian_rate(&tree, link, point, &mut rate);
        let product = dynamics.velocity_product_at(&tree, link, point);
        let sum = rate.iter().zip(&state.rates).fold(Motion::ZERO, |sum, (m, v)| sum + *m * *v);
        assert_close!(sum.to_array(), product.to_array(), 1e-12, "round {round}");
        let expected = difference(|t| {
            let mut state = state.clone();
            tree.advance(&mut state.coordinates, &state.rates, t);
            dynamics.kinematics(&tree, &state);
            let point = dynamics.joint_pose(link).transform_point(carried);
            dynamics.fill_jacobian(&tree, link, point, &mut columns);
            columns.iter().flat_map(|m| m.to_array()).collect()
        });
        let found: Vec<f64> = rate.iter().flat_map(|m| m.to_array()).collect();
        assert_close!(found, expected, 1e-8, "round {round}");
    }
}

#[test]
fn the_centroidal_matrix_gives_the_momentum_about_the_moving_centre() {
    let mut rng = Rng::new(66);
    for round in 0..40 {
        let Case { tree, state, mut dynamics, .. } = random_case(&mut rng, 1 + round % 9, &all_kinds());
        let mut matrix = vec![Force::ZERO; tree.n_dofs()];
        dynamics.kinematics(&tree, &state);
        dynamics.fill_centroidal_matrix(&tree, &mut matrix);
        let sum = matrix.iter().zip(&state.rates).fold(Force::ZERO, |sum, (h, v)| sum + *h * *v);
        let (momentum, centre) = (dynamics.centroidal_momentum(), dynamics.centre_of_mass());
        assert_close!(sum.to_array(), momentum.to_array(), 1e-12, "round {round}");
        let about_world = shift_force(momentum, centre);
        assert_close!(about_world.to_array(), dynamics.momentum().to_array(), 1e-12, "round {round}");
        let mass = dynamics.total_inertia().mass;
        let velocity = difference(|t| {
            let mut state = state.clone();
            tree.advance(&mut state.coordinates, &state.rates, t);
            dynamics.kinematics(&tree, &state);
            dynamics.centre_of_mass().to_array().to_vec()
        });
        assert_close!(velocity, (momentum.linear / mass).to_array().to_vec(), 1e-9, "round {round}");
    }
}

#[test]
fn gravity_is_the_bias_at_rest() {
    let mut rng = Rng::new(67);
    for round in 0..20 {
        let Case { tree, mut state, mut dynamics, .. } = random_case(&mut rng, 1 + round % 9, &all_kinds());
        let (mut gravity, mut bias) = (vec![0.0; tree.n_dofs()], vec![0.0; tree.n_dofs()]);
        dynamics.kinematics(&tree, &state);
        dynamics.fill_gravity(&tree, GRAVITY, &mut gravity);
        state.rates.fill(0.0);
        dynamics.kinematics(&tree, &state);
        dynamics.fill_bias(&tree, GRAVITY, &[], &mut bias);
        assert_close!(gravity, bias, 1e-13, "round {round}");
    }
}

#[test]
fn columns_of_the_inverse_mass_matrix_are_derivatives_by_commands_of_large_trees() {
    let mut rng = Rng::new(68);
    for kinds in [vec![JointKind::Hinge], all_kinds()] {
        let Case { tree, state, mut dynamics, .. } = random_case(&mut rng, 200, &kinds);
        let n = tree.n_dofs();
        let mut matrices = JointMatrices::new(&tree);
        dynamics.kinematics(&tree, &state);
        assert_eq!(matrices.forward(&tree, &mut dynamics, &vec![0.5; n], GRAVITY, &[]).singular, None);
        let mut derivatives = Derivatives::new(&tree);
        for dof in (0..n).step_by(7) {
            derivatives.command(&tree, &dynamics, dof);
            let expected = derivatives.accelerations();
            assert_column(matrices.inverse_mass_matrix(), n, dof, expected, 1e-11, "∂q̈/∂τ");
        }
    }
}

#[test]
fn derivatives_with_prescribed_joints_and_armatures_are_differences() {
    let mut rng = Rng::new(69);
    for round in 0..40 {
        let Case { tree, state, mut dynamics, external, .. } =
            random_case(&mut rng, 2 + round % 9, &all_kinds());
        let n = tree.n_dofs();
        let (command, mut matrices) = (random_command(&mut rng, &tree, 0.4), JointMatrices::new(&tree));
        let resistance: Vec<f64> = (0..n).map(|_| rng.uniform(0.0, 1.0)).collect();
        let external = if round % 2 == 0 { &[] } else { external.as_slice() };
        let loads = TreeLoads { gravity: GRAVITY, external, resistance: &resistance, ..TreeLoads::default() };
        dynamics.kinematics(&tree, &state);
        assert_eq!(matrices.hybrid(&tree, &mut dynamics, &command, &loads).singular, None);
        let known: Vec<bool> = tree
            .links()
            .flat_map(|link| tree.dofs(link).map(move |_| link))
            .map(|link| command.mode(link) == JointMode::Prescribed)
            .collect();
        // M and the bias of inverse dynamics do not know of armatures
        let mut found = dynamics.torques().to_vec();
        assert_close!(matrices.torques(), found.as_slice(), 1e-9, "round {round}");
        let mut probe = Dynamics::new(&tree);
        let mut response = |state: &TreeState| {
            probe.kinematics(&tree, state);
            let _ = probe.respond_resisted(&tree, &command, &resistance, GRAVITY, external);
            (probe.accelerations().to_vec(), probe.torques().to_vec())
        };
        let mass = Dense::from_rows(n, n, matrices.mass_matrix());
        for dof in 0..n {
            for (is_rate, by_inverse, by_forward) in [
                (false, matrices.torques_by_coordinates(), matrices.accelerations_by_coordinates()),
                (true, matrices.torques_by_rates(), matrices.accelerations_by_rates()),
            ] {
                let expected = difference(|x| response(&moved(&tree, &state, dof, x, is_rate)).0);
                assert_column(by_forward, n, dof, &expected, 1e-7, &format!("∂q̈ round {round}"));
                let expected = difference(|x| response(&moved(&tree, &state, dof, x, is_rate)).1);
                let along = mass.mul_vec(&column(by_forward, n, dof));
                found.copy_from_slice(&column(by_inverse, n, dof));
                for e in 0..n {
                    let total = found[e] + along[e];
                    let scale = expected.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                    // of passive joints, what their resistance takes
                    let given =
                        if known[e] { expected[e] } else { -resistance[e] * column(by_forward, n, dof)[e] };
                    assert!((total - given).abs() < 1e-7 * scale, "dτ round {round}: {total} for {given}");
                }
            }
        }
        let mut derivatives = Derivatives::new(&tree);
        for dof in (0..n).filter(|dof| !known[*dof]) {
            derivatives.command(&tree, &dynamics, dof);
            assert_column(
                matrices.inverse_mass_matrix(),
                n,
                dof,
                derivatives.accelerations(),
                1e-10,
                "∂q̈/∂τ",
            );
        }
        for dof in (0..n).filter(|dof| known[*dof]) {
            assert_column(matrices.inverse_mass_matrix(), n, dof, &vec![0.0; n], 1e-15, "prescribed");
        }
    }
}
