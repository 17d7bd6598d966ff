//! Mass matrix, bias and inverse dynamics for users of matrices.

use glam::DVec3;
use sinew_math::{Force, MassProperties, Motion, Sym3};
use sinew_recursive::{Dynamics, HybridCommand, JointMatrices, LinkId};
use sinew_testkit::{Dense, Rng, assert_close};

use crate::support::{Case, GRAVITY, all_kinds, dense, random_case, random_state, random_vector};

#[test]
fn composite_bodies_and_newton_euler_are_the_dense_system() {
    let mut rng = Rng::new(41);
    for round in 0..100 {
        let mut case = random_case(&mut rng, 1 + round % 9, &all_kinds());
        let (mass, bias) = dense(&mut case, GRAVITY);
        let Case { tree, dynamics, external, .. } = &mut case;
        let n = tree.n_dofs();
        let (mut entries, mut found) = (vec![7.0; n * n], vec![7.0; n]);
        dynamics.fill_mass_matrix(tree, &mut entries);
        assert_close!(entries.as_slice(), mass.entries(), 1e-12, "round {round}");
        dynamics.fill_bias(tree, GRAVITY, external, &mut found);
        assert_close!(found, bias, 1e-12, "round {round}");

        let accelerations = random_vector(&mut rng, n, 2.0);
        dynamics.fill_inverse(tree, &accelerations, GRAVITY, external, &mut found);
        let inertial = Dense::from_rows(n, n, &entries).mul_vec(&accelerations);
        let expected: Vec<f64> = inertial.iter().zip(&bias).map(|(a, b)| a + b).collect();
        assert_close!(found, expected, 1e-12, "round {round}");
    }
}

#[test]
fn kinetic_energy_is_the_quadratic_form_and_momentum_that_of_the_mechanism() {
    let mut rng = Rng::new(42);
    for _ in 0..50 {
        let mut case = random_case(&mut rng, 6, &all_kinds());
        let Case { model, tree, state, dynamics, .. } = &mut case;
        let mut maximal = model.initial_state();
        state.write_mechanism(tree, dynamics, &mut maximal);
        let n = tree.n_dofs();
        let mut entries = vec![0.0; n * n];
        dynamics.fill_mass_matrix(tree, &mut entries);
        let product = Dense::from_rows(n, n, &entries).mul_vec(&state.rates);
        let half: f64 = product.iter().zip(&state.rates).map(|(a, b)| 0.5 * a * b).sum();
        assert_close!(dynamics.kinetic_energy(), half, 1e-13);
        let energy = sinew_mechanism::energy(model, &maximal, GRAVITY, 1.0);
        assert_close!(dynamics.kinetic_energy(), energy.kinetic, 1e-13);
        assert_close!(-dynamics.total_inertia().first_moment.dot(GRAVITY), energy.gravity, 1e-13);
        let momentum = sinew_mechanism::momentum(model, &maximal);
        assert_close!(dynamics.momentum().to_array(), momentum.to_array(), 1e-13);
    }
}

#[test]
fn added_mass_is_as_if_the_body_had_been_heavier() {
    let mut rng = Rng::new(43);
    let mut case = random_case(&mut rng, 5, &all_kinds());
    let link = case.tree.links().nth(2).expect("five links");
    let points: Vec<_> = (0..4).map(|_| (rng.uniform(0.1, 0.5), rng.vec3(-0.5, 0.5))).collect();
    let Case { tree, state, dynamics, .. } = &mut case;
    dynamics.kinematics(tree, state);
    let before = dynamics.kinetic_energy();
    let mut expected = before;
    for &(mass, at) in &points {
        let world = dynamics.central_pose(tree, link).transform_point(at);
        expected += 0.5 * mass * dynamics.motion_at(link, world).linear.length_squared();
        let point = MassProperties { mass, com: at, inertia: Sym3::ZERO };
        tree.add_mass(link, &point).expect("a point mass");
    }
    dynamics.kinematics(tree, state);
    assert_close!(dynamics.kinetic_energy(), expected, 1e-13);
    assert!(expected > before);
}

#[test]
fn sweeps_allocate_nothing() {
    let mut rng = Rng::new(44);
    let mut case = random_case(&mut rng, 20, &all_kinds());
    let Case { model, tree, state, dynamics, external } = &mut case;
    let mut derivatives = sinew_recursive::Derivatives::new(tree);
    let mut integrator = sinew_recursive::Integrator::new(tree);
    let springs = sinew_recursive::Springs::none(tree);
    let mut matrices = JointMatrices::new(tree);
    let (mut columns, mut momenta) = (vec![Motion::ZERO; tree.n_dofs()], vec![Force::ZERO; tree.n_dofs()]);
    let mut command = HybridCommand::passive(tree);
    command.modes[3] = sinew_recursive::JointMode::Prescribed;
    let n = tree.n_dofs();
    let (mut matrix, mut vector) = (vec![0.0; n * n], vec![0.0; n]);
    let mut maximal = model.initial_state();
    let info = allocation_counter::measure(|| {
        let action = sinew_recursive::Action { h: 1e-3, command: &command, gravity: GRAVITY, external };
        let _ = dynamics.hybrid(tree, state, &command, GRAVITY, external);
        derivatives.command(tree, dynamics, n - 1);
        let _ = derivatives.row(tree, dynamics, &sinew_recursive::DerivativeRow::Torque(0));
        dynamics.fill_mass_matrix(tree, &mut matrix);
        dynamics.fill_bias(tree, GRAVITY, external, &mut vector);
        dynamics.fill_gravity(tree, GRAVITY, &mut vector);
        dynamics.fill_jacobian_rate(tree, LinkId::from_index(5), GRAVITY, &mut columns);
        dynamics.fill_centroidal_matrix(tree, &mut momenta);
        let _ = matrices.forward(tree, dynamics, &vector, GRAVITY, external);
        let _ = matrices.invert_mass(tree, dynamics);
        let _ = matrices.coriolis(tree, dynamics);
        let _ = integrator.symplectic_euler(tree, dynamics, state, &action);
        let _ = integrator.runge_kutta(tree, dynamics, state, &action);
        let _ = integrator.implicit(tree, dynamics, state, &action, &springs);
        state.write_mechanism(tree, dynamics, &mut maximal);
        state.read_mechanism(tree, &maximal);
        dynamics.path_kinematics(tree, state, LinkId::from_index(5));
        dynamics.kinematics_at_rest(tree, &state.coordinates);
    });
    assert_eq!(info.count_total, 0);
}

#[test]
fn a_fresh_workspace_changes_no_bit() {
    let mut rng = Rng::new(45);
    let mut case = random_case(&mut rng, 12, &all_kinds());
    let Case { tree, state, dynamics, external, .. } = &mut case;
    let command = HybridCommand::passive(tree);
    let other = crate::support::random_state(&mut rng, tree);
    let _ = dynamics.hybrid(tree, &other, &HybridCommand::prescribed(tree), GRAVITY, external);
    let _ = dynamics.hybrid(tree, state, &command, GRAVITY, external);
    let mut fresh = Dynamics::new(tree);
    let _ = fresh.hybrid(tree, state, &command, GRAVITY, external);
    let bits = |x: &[f64]| x.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(fresh.accelerations()), bits(dynamics.accelerations()));
}

#[test]
fn at_rest_everything_is_as_with_rates_of_zero() {
    let mut rng = Rng::new(48);
    for n in [1, 2, 5, 9, 14] {
        let Case { tree, mut state, dynamics: mut rest, external, .. } =
            random_case(&mut rng, n, &all_kinds());
        // what moved before leaves nothing behind
        rest.kinematics(&tree, &state);
        rest.kinematics_at_rest(&tree, &state.coordinates);
        state.rates.fill(0.0);
        let mut whole = Dynamics::new(&tree);
        whole.kinematics(&tree, &state);
        let n = tree.n_dofs();
        let command = HybridCommand { values: vec![0.5; n], ..HybridCommand::passive(&tree) };
        let [rest, whole] = [rest, whole].map(|mut dynamics| {
            let (mut matrix, mut vectors, mut momenta) =
                (vec![0.0; n * n], vec![0.0; 2 * n], vec![Force::ZERO; n]);
            let mut matrices = JointMatrices::new(&tree);
            dynamics.fill_mass_matrix(&tree, &mut matrix);
            dynamics.fill_gravity(&tree, GRAVITY, &mut vectors[..n]);
            dynamics.fill_bias(&tree, GRAVITY, &external, &mut vectors[n..]);
            dynamics.fill_centroidal_matrix(&tree, &mut momenta);
            let _ = matrices.invert_mass(&tree, &mut dynamics);
            let _ = dynamics.respond(&tree, &command, GRAVITY, &external);
            let points = [dynamics.centre_of_mass(), dynamics.total_inertia().first_moment];
            let momentum = dynamics.centroidal_momentum();
            let places = tree.links().map(|link| (dynamics.joint_pose(link), dynamics.joint_motion(link)));
            let (places, inverse) = (places.collect::<Vec<_>>(), matrices.inverse_mass_matrix().to_vec());
            (matrix, vectors, momenta, inverse, dynamics.accelerations().to_vec(), points, momentum, places)
        });
        assert_eq!(rest, whole);
    }
}

#[test]
fn jacobians_need_the_path_to_their_link_alone() {
    let mut rng = Rng::new(41);
    for n in [1, 2, 5, 9, 14] {
        let Case { tree, state, dynamics: mut whole, .. } = random_case(&mut rng, n, &all_kinds());
        let mut path = Dynamics::new(&tree);
        path.kinematics(&tree, &random_state(&mut rng, &tree));
        whole.kinematics(&tree, &state);
        let zeros = vec![Motion::ZERO; tree.n_dofs()];
        for link in tree.links() {
            path.path_kinematics(&tree, &state, link);
            assert_eq!(path.joint_pose(link), whole.joint_pose(link));
            assert_eq!(path.joint_motion(link), whole.joint_motion(link));
            let point = whole.origin(link) + DVec3::new(0.1, -0.2, 0.3);
            let [mut found, mut expected] = [zeros.clone(), zeros.clone()];
            path.fill_jacobian(&tree, link, point, &mut found);
            whole.fill_jacobian(&tree, link, point, &mut expected);
            assert_eq!(found, expected);
            path.fill_jacobian_rate(&tree, link, point, &mut found);
            whole.fill_jacobian_rate(&tree, link, point, &mut expected);
            assert_eq!(found, expected);
        }
    }
}
