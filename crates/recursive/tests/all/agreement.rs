//! Forward, inverse and hybrid dynamics against dense algebra and against maximal coordinates.

use glam::DVec3;
use sinew_math::{Force, Motion};
use sinew_mechanism::{Explicit, Input, JointKind, RungeKutta, Scheme, Settings, Workspace, step};
use sinew_recursive::{HybridCommand, JointMode};
use sinew_testkit::{Dense, Rng, assert_close, soak_scale};

use crate::support::{
    Case, GRAVITY, all_kinds, dense, dense_hybrid, random_case, random_command, random_vector,
};

#[test]
fn soak_hybrid_is_the_partitioned_dense_solution() {
    let mut rng = Rng::new(11);
    for round in 0..1000 * soak_scale() {
        let mut case = random_case(&mut rng, 1 + round % 7, &all_kinds());
        let (mass, bias) = dense(&mut case, GRAVITY);
        for share in [0.0, 0.5, 1.0] {
            let command = random_command(&mut rng, &case.tree, share);
            let Case { tree, state, dynamics, external, .. } = &mut case;
            let report = dynamics.hybrid(tree, state, &command, GRAVITY, external);
            assert_eq!(report.singular, None);
            let (accelerations, torques) = dense_hybrid(tree, &mass, &bias, &command);
            assert_close!(dynamics.accelerations(), accelerations.as_slice(), 1e-9, "round {round}");
            assert_close!(dynamics.torques(), torques.as_slice(), 1e-9, "round {round}");
        }
    }
}

#[test]
fn soak_maximal_coordinates_accelerate_alike() {
    let mut rng = Rng::new(12);
    for round in 0..1000 * soak_scale() {
        let mut case = random_case(&mut rng, 1 + round % 9, &all_kinds());
        let command = random_command(&mut rng, &case.tree, 0.4);
        let Case { model, tree, state, dynamics, external } = &mut case;
        let mut maximal = model.initial_state();
        state.write_mechanism(tree, dynamics, &mut maximal);
        let _ = dynamics.hybrid(tree, state, &command, GRAVITY, external);

        // joint torques as pairs of wrenches W = S (SᵀS)⁻¹ τ, external ones as they are
        let mut wrenches = vec![Force::ZERO; model.n_bodies()];
        for link in tree.links() {
            let body = tree.body(link);
            wrenches[body.index()] += external[link.index()];
            let dofs = tree.dofs(link);
            let gram = Dense::from_fn(dofs.len(), dofs.len(), |i, j| {
                let (a, b) = (dynamics.column(dofs.start + i), dynamics.column(dofs.start + j));
                a.angular.dot(b.angular) + a.linear.dot(b.linear)
            });
            let share = gram.solve(&dynamics.torques()[dofs.clone()]).expect("independent columns");
            let mut wrench = Force::ZERO;
            for (weight, dof) in share.iter().zip(dofs) {
                let column = dynamics.column(dof);
                wrench += Force::new(column.angular, column.linear) * *weight;
            }
            let origin = dynamics.origin(link);
            let mut push = |body: sinew_mechanism::BodyId, wrench: Force| {
                let arm = origin - maximal.poses[body.index()].translation;
                wrenches[body.index()] +=
                    Force::new(wrench.angular + arm.cross(wrench.linear), wrench.linear);
            };
            push(body, wrench);
            if let Some(parent) = tree.parent(link) {
                push(tree.body(parent), -wrench);
            }
        }
        let mut input = Input::default();
        for link in tree.links() {
            input.wrenches.push((tree.body(link), wrenches[tree.body(link).index()]));
        }
        let mut settings = Settings::default();
        let mut explicit = Explicit::default();
        explicit.method = RungeKutta::First;
        explicit.most_substeps = 1;
        settings.scheme = Scheme::Explicit(explicit);
        settings.gravity = GRAVITY;
        settings.dt = 1.0;
        let before = maximal.motions.clone();
        let mut after = maximal.clone();
        step(model, &mut after, &input, &settings, &mut Workspace::new(model));
        for link in tree.links() {
            let body = tree.body(link).index();
            let expected: Motion = after.motions[body] - before[body];
            let found = dynamics.acceleration_at(link, maximal.poses[body].translation);
            assert_close!(found.to_array(), expected.to_array(), 1e-8, "round {round}");
        }
    }
}

#[test]
fn inverse_undoes_forward() {
    let mut rng = Rng::new(13);
    for round in 0..200 {
        let mut case = random_case(&mut rng, 1 + round % 12, &all_kinds());
        let Case { tree, state, dynamics, external, .. } = &mut case;
        let mut command = HybridCommand::passive(tree);
        command.values = random_vector(&mut rng, tree.n_dofs(), 3.0);
        let _ = dynamics.hybrid(tree, state, &command, GRAVITY, external);
        let mut inverse = HybridCommand::prescribed(tree);
        inverse.values.copy_from_slice(dynamics.accelerations());
        let _ = dynamics.hybrid(tree, state, &inverse, GRAVITY, external);
        assert_close!(dynamics.torques(), command.values.as_slice(), 1e-10, "round {round}");
    }
}

#[test]
fn resistance_is_a_diagonal_of_the_mass_matrix() {
    let mut rng = Rng::new(15);
    for round in 0..100 {
        let mut case = random_case(&mut rng, 1 + round % 8, &all_kinds());
        let (mut mass, bias) = dense(&mut case, GRAVITY);
        let Case { tree, dynamics, external, .. } = &mut case;
        let command = random_command(&mut rng, tree, 0.4);
        let resistance: Vec<f64> = (0..tree.n_dofs()).map(|_| rng.uniform(0.0, 2.0)).collect();
        for link in tree.links().filter(|link| command.mode(*link) == JointMode::Passive) {
            tree.dofs(link).for_each(|dof| mass[(dof, dof)] += resistance[dof]);
        }
        let _ = dynamics.respond_resisted(tree, &command, &resistance, GRAVITY, external);
        let (accelerations, mut torques) = dense_hybrid(tree, &mass, &bias, &command);
        for link in tree.links().filter(|link| command.mode(*link) == JointMode::Passive) {
            tree.dofs(link).for_each(|dof| torques[dof] -= resistance[dof] * accelerations[dof]);
        }
        assert_close!(dynamics.accelerations(), accelerations.as_slice(), 1e-9, "round {round}");
        assert_close!(dynamics.torques(), torques.as_slice(), 1e-9, "round {round}");
    }
}

#[test]
fn long_chains_keep_their_digits() {
    let mut rng = Rng::new(16);
    let mut case = random_case(&mut rng, 400, &[JointKind::Hinge, JointKind::Ball, JointKind::Universal]);
    let Case { tree, state, dynamics, external, .. } = &mut case;
    let mut command = HybridCommand::passive(tree);
    command.values = random_vector(&mut rng, tree.n_dofs(), 3.0);
    let _ = dynamics.hybrid(tree, state, &command, GRAVITY, external);
    let accelerations = dynamics.accelerations().to_vec();
    let mut torques = vec![0.0; tree.n_dofs()];
    dynamics.fill_inverse(tree, &accelerations, GRAVITY, external, &mut torques);
    // the torques are small differences of the forces that the joints carry
    let carried = tree.links().map(|link| dynamics.reaction(link).angular.length()).fold(1.0, f64::max);
    for (found, given) in torques.iter().zip(&command.values) {
        assert!((found - given).abs() < 1e-12 * carried, "{found} for {given}, carried {carried:e}");
    }
}

#[test]
fn the_joint_carries_the_subtree() {
    // F of a root is the momentum rate of everything below minus gravity and external wrenches; here a static load
    let mut rng = Rng::new(14);
    let mut case = random_case(&mut rng, 6, &all_kinds());
    let Case { tree, state, dynamics, model, .. } = &mut case;
    state.rates.fill(0.0);
    let mut command = HybridCommand::prescribed(tree);
    command.modes.fill(JointMode::Prescribed);
    let _ = dynamics.hybrid(tree, state, &command, GRAVITY, &[]);
    let mut load = DVec3::ZERO;
    let mut held = DVec3::ZERO;
    for link in tree.links() {
        load -= GRAVITY * model.body_mass(tree.body(link));
        if tree.parent(link).is_none() {
            held += dynamics.reaction(link).linear;
        }
    }
    assert_close!(held, load, 1e-12);
}
