//! Joint coordinates from and to maximal ones, and the calculus of coordinates.

use sinew_math::{Motion, Pose, log_so3};
use sinew_mechanism::{BodySpec, Input, JointKind, JointSpec, MechanismBuilder, violation};
use sinew_recursive::{Tree, TreeState};
use sinew_testkit::{Rng, assert_close, worst_difference};

use crate::support::{Case, all_kinds, finish, random_case, random_frames, random_mass, random_vector};

/// A body on the world and a body on it, the second joint declared either way.
fn two_bodies(rng: &mut Rng, kind: JointKind, flipped: bool) -> Case {
    let mut builder = MechanismBuilder::new();
    let [a, b] =
        ["a", "b"].map(|name| builder.add_body(BodySpec::dynamic(name, Pose::IDENTITY, random_mass(rng))));
    builder.add_joint(JointSpec::new("root", JointKind::Ball, a, None, random_frames(rng)));
    let (one, two) = if flipped { (a, b) } else { (b, a) };
    builder.add_joint(JointSpec::new("tested", kind, one, Some(two), random_frames(rng)));
    finish(rng, builder)
}

#[test]
fn states_make_the_round_trip_for_every_kind_both_ways_round() {
    let mut rng = Rng::new(21);
    for kind in all_kinds() {
        for flipped in [false, true] {
            for _ in 0..20 {
                let mut case = two_bodies(&mut rng, kind, flipped);
                let Case { model, tree, state, dynamics, .. } = &mut case;
                let mut maximal = model.initial_state();
                state.write_mechanism(tree, dynamics, &mut maximal);
                let gap = violation(model, &maximal, &Input::default());
                assert!(gap.position < 1e-14 && gap.rotation < 1e-14, "{kind:?} {flipped} {gap:?}");
                let back = TreeState::from_mechanism(tree, &maximal);
                let mut change = vec![0.0; tree.n_dofs()];
                tree.difference(&back.coordinates, &state.coordinates, &mut change);
                assert_close!(change, vec![0.0; tree.n_dofs()], 1e-13, "{kind:?} {flipped}");
                assert_close!(back.rates, state.rates, 1e-13, "{kind:?} {flipped}");

                // the sign of a quaternion is kept, too
                maximal.poses[1].rotation = -maximal.poses[1].rotation;
                let mut again = maximal.clone();
                back.write_mechanism(tree, dynamics, &mut again);
                for body in model.bodies() {
                    let (x, y) = (maximal.poses[body.index()], again.poses[body.index()]);
                    assert_close!(x.rotation, y.rotation, 1e-14, "{kind:?}");
                    assert_close!(x.translation, y.translation, 1e-14, "{kind:?}");
                    let (v, w) = (maximal.motions[body.index()], again.motions[body.index()]);
                    assert_close!(v.to_array(), w.to_array(), 1e-13, "{kind:?}");
                }
            }
        }
    }
}

#[test]
fn whole_turns_survive() {
    let mut rng = Rng::new(22);
    for kind in [JointKind::Hinge, JointKind::Cylindrical, JointKind::Planar, JointKind::Screw { pitch: 0.1 }]
    {
        for flipped in [false, true] {
            let mut case = two_bodies(&mut rng, kind, flipped);
            let Case { model, tree, state, dynamics, .. } = &mut case;
            let tested = tree.links().find(|l| tree.joint_kind(*l) == kind).expect("there");
            let at = tree.coordinates(tested).start;
            for angle in [3.5, -20.0, 100.0] {
                state.coordinates[at] = angle;
                let mut maximal = model.initial_state();
                state.write_mechanism(tree, dynamics, &mut maximal);
                let back = TreeState::from_mechanism(tree, &maximal);
                assert_close!(back.coordinates[at], angle, 1e-13, "{kind:?}");
            }
        }
    }
}

#[test]
fn rates_are_the_derivatives_of_poses_and_columns_of_twists() {
    let mut rng = Rng::new(23);
    for round in 0..60 {
        let mut case = random_case(&mut rng, 5, &all_kinds());
        let Case { tree, state, dynamics, .. } = &mut case;
        let h = 1e-4;
        let at = |t: f64, dynamics: &mut sinew_recursive::Dynamics| {
            let mut moved = state.clone();
            tree.advance(&mut moved.coordinates, &state.rates, t);
            dynamics.kinematics(tree, &moved);
            tree.links()
                .map(|l| (dynamics.central_pose(tree, l), dynamics.central_motion(tree, l)))
                .collect::<Vec<_>>()
        };
        let (minus, plus, here) = (at(-h, dynamics), at(h, dynamics), at(0.0, dynamics));
        let mut columns = vec![Motion::ZERO; tree.n_dofs()];
        for link in tree.links() {
            let k = link.index();
            let spin = log_so3(plus[k].0.rotation * minus[k].0.rotation.conjugate()) / (2.0 * h);
            let velocity = (plus[k].0.translation - minus[k].0.translation) / (2.0 * h);
            assert_close!(here[k].1.angular, spin, 1e-6, "round {round}");
            assert_close!(here[k].1.linear, velocity, 1e-6, "round {round}");

            let center = here[k].0.translation;
            dynamics.fill_jacobian(tree, link, center, &mut columns);
            let mut sum = Motion::ZERO;
            for (column, rate) in columns.iter().zip(&state.rates) {
                sum += *column * *rate;
            }
            assert_close!(sum.to_array(), here[k].1.to_array(), 1e-13);

            // J̇v at constant rates is the derivative of the twist
            let product = dynamics.velocity_product_at(tree, link, center);
            let change = (plus[k].1 - minus[k].1) * (0.5 / h);
            assert_close!(product.to_array(), change.to_array(), 1e-6, "round {round}");
        }
    }
}

#[test]
fn advance_and_difference_are_inverse() {
    let mut rng = Rng::new(24);
    let case = random_case(&mut rng, 14, &all_kinds());
    let tree: &Tree = &case.tree;
    for _ in 0..50 {
        let step = random_vector(&mut rng, tree.n_dofs(), 1.2);
        let mut moved = case.state.coordinates.clone();
        tree.advance(&mut moved, &step, 1.0);
        let mut back = vec![0.0; tree.n_dofs()];
        tree.difference(&moved, &case.state.coordinates, &mut back);
        assert!(worst_difference(&back, &step) < 1e-13);
    }
}

#[test]
fn coordinate_rates_are_the_derivative_of_advance() {
    let mut rng = Rng::new(25);
    let case = random_case(&mut rng, 14, &all_kinds());
    let mut found = vec![0.0; case.tree.n_coordinates()];
    case.tree.coordinate_rates(&case.state, &mut found);
    let at = |t: f64| {
        let mut q = case.state.coordinates.clone();
        case.tree.advance(&mut q, &case.state.rates, t);
        q
    };
    let (plus, minus) = (at(1e-5), at(-1e-5));
    let expected: Vec<f64> = plus.iter().zip(&minus).map(|(a, b)| (a - b) / 2e-5).collect();
    assert_close!(found, expected, 1e-9);
}

#[test]
fn body_poses_are_those_of_the_mechanism() {
    let mut rng = Rng::new(29);
    for round in 0..40 {
        let mut case = random_case(&mut rng, 6, &all_kinds());
        let Case { model, tree, state, dynamics, .. } = &mut case;
        let mut maximal = model.initial_state();
        state.write_mechanism(tree, dynamics, &mut maximal);
        for link in tree.links() {
            let (own, other) = (dynamics.body_pose(tree, link), model.body_pose(&maximal, tree.body(link)));
            assert_close!(own.translation, other.translation, 1e-12, "round {round}");
            assert!(own.rotation.angle_between(other.rotation) < 1e-7, "round {round}");
            let central = dynamics.central_pose(tree, link);
            assert_close!(central.translation, maximal.poses[tree.body(link).index()].translation, 1e-12);
        }
    }
}
