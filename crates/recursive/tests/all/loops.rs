//! Trees with closed loops against dense algebra, differences and the rows of the mechanism.

use sinew_math::{Force, Pose, shift_force};
use sinew_mechanism::{
    BodyId, BodySpec, JointKind, JointSpec, MechanismBuilder, Model, PairState, RelativeState, RowForm,
    State, evaluate_rows,
};
use sinew_recursive::{
    DerivativeRow, Dynamics, HybridCommand, JointMode, LoopDerivatives, LoopDynamics, LoopedTree, Tree,
    TreeLoads, TreeState,
};
use sinew_testkit::{Dense, Rng, assert_close, soak_scale};

use crate::support::{
    Case, GRAVITY, all_kinds, dense, random_command, random_frames, random_mass, random_state, random_vector,
};

fn acting(external: &[Force]) -> TreeLoads<'_> {
    TreeLoads { gravity: GRAVITY, external, ..TreeLoads::default() }
}

/// A random mechanism with loops, and everything of its spanning tree.
struct Looped {
    case: Case,
    looped: LoopedTree,
    loops: LoopDynamics,
}

/// A tree of `n` bodies on the world or free, and closures of given kinds between random bodies, some of them on the world.
fn random_looped(rng: &mut Rng, n: usize, kinds: &[JointKind], closing: &[JointKind]) -> Looped {
    let mut builder = MechanismBuilder::new();
    let mut bodies: Vec<BodyId> = Vec::new();
    for k in 0..n {
        let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
        let body = builder.add_body(BodySpec::dynamic("", pose, random_mass(rng)));
        let (kind, frames) = (kinds[rng.below(kinds.len())], random_frames(rng));
        if k == 0 || rng.chance(0.1) {
            if rng.chance(0.6) {
                builder.add_joint(JointSpec::new("", kind, body, None, frames));
            }
        } else {
            let parent = bodies[bodies.len() - 1 - rng.below(bodies.len().min(3))];
            let (one, two) = if rng.chance(0.3) { (parent, body) } else { (body, parent) };
            builder.add_joint(JointSpec::new("", kind, one, Some(two), frames));
        }
        bodies.push(body);
    }
    for kind in closing {
        let one = bodies[rng.below(n)];
        let two = bodies[rng.below(n)];
        let two = if one == two || rng.chance(0.2) { None } else { Some(two) };
        let spec = JointSpec::new("", *kind, one, two, random_frames(rng));
        builder.add_joint(spec.with_priority(sinew_topology::Priority::Secondary));
    }
    finish(rng, builder.build().expect("valid"))
}

/// A chain of eight bodies whose last one is tied to the world in a way that it can meet.
fn random_chain(rng: &mut Rng, kinds: &[JointKind], closing: JointKind) -> Looped {
    let mut builder = MechanismBuilder::new();
    let mut above = None;
    for _ in 0..8 {
        let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
        let body = builder.add_body(BodySpec::dynamic("", pose, random_mass(rng)));
        let (kind, frames) = (kinds[rng.below(kinds.len())], random_frames(rng));
        builder.add_joint(JointSpec::new("", kind, body, above, frames));
        above = Some(body);
    }
    let spec = JointSpec::new("", closing, above.expect("a body"), None, random_frames(rng));
    builder.add_joint(spec.with_priority(sinew_topology::Priority::Secondary));
    finish(rng, builder.build().expect("valid"))
}

fn finish(rng: &mut Rng, model: Model) -> Looped {
    let looped = LoopedTree::from_model(&model).expect("a tree with loops");
    let (tree, loops) = (looped.tree().clone(), LoopDynamics::new(&looped));
    let (state, dynamics) = (random_state(rng, &tree), Dynamics::new(&tree));
    let external =
        (0..tree.n_links()).map(|_| Force::new(rng.vec3(-1.0, 1.0), rng.vec3(-2.0, 2.0))).collect();
    Looped { case: Case { model, tree, state, dynamics, external }, looped, loops }
}

fn maximal_of(model: &Model, tree: &Tree, state: &TreeState) -> State {
    let mut maximal = model.initial_state();
    state.write_mechanism(tree, &mut Dynamics::new(tree), &mut maximal);
    maximal
}

/// Every kind that closes something.
fn closing_kinds() -> Vec<JointKind> {
    let mut kinds: Vec<JointKind> = all_kinds().into_iter().filter(|kind| kind.n_rows() > 0).collect();
    kinds.push(JointKind::Masked { translations: 0b101, rotations: 1 });
    kinds
}

/// Rates of all rows of the closures, by the twists of the bodies in maximal coordinates.
fn rates_of_rows(case: &mut Case, looped: &LoopedTree, state: &TreeState) -> Vec<f64> {
    let mut maximal = case.model.initial_state();
    state.write_mechanism(&case.tree, &mut case.dynamics, &mut maximal);
    let mut out = Vec::new();
    for joint in looped.joints() {
        let (one, two) = case.model.joint_bodies(joint);
        let mut pair = PairState::default();
        if let Some(body) = one {
            (pair.pose1, pair.motion1) = (maximal.poses[body.index()], maximal.motions[body.index()]);
        }
        if let Some(body) = two {
            (pair.pose2, pair.motion2) = (maximal.poses[body.index()], maximal.motions[body.index()]);
        }
        let relative = RelativeState::new(&case.model.joint_frames(joint), &pair);
        let rows = evaluate_rows(case.model.joint_kind(joint), &relative, &[], RowForm::Acceleration);
        out.extend_from_slice(&rows.rate_error(&pair.motion1, &pair.motion2)[..rows.n]);
    }
    out
}

/// `J` by unit rates.
fn dense_jacobian(case: &mut Case, looped: &LoopedTree) -> Dense {
    let n = case.tree.n_dofs();
    let mut out = Dense::zeros(looped.n_rows(), n);
    for dof in 0..n {
        let mut state = case.state.clone();
        state.rates.fill(0.0);
        state.rates[dof] = 1.0;
        for (row, rate) in rates_of_rows(case, looped, &state).into_iter().enumerate() {
            out[(row, dof)] = rate;
        }
    }
    out
}

fn jacobian(looped: &LoopedTree, loops: &LoopDynamics, dynamics: &Dynamics) -> Dense {
    let (m, n) = (looped.n_rows(), looped.tree().n_dofs());
    let mut out = vec![7.0; m * n];
    loops.fill_jacobian(looped, dynamics, &mut out);
    Dense::from_rows(m, n, &out)
}

/// Central difference with two steps extrapolated.
fn difference(mut f: impl FnMut(f64) -> Vec<f64>) -> Vec<f64> {
    let mut along =
        |h: f64| -> Vec<f64> { f(h).iter().zip(f(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect() };
    let (fine, coarse) = (along(1e-3), along(2e-3));
    fine.iter().zip(coarse).map(|(a, b)| (4.0 * a - b) / 3.0).collect()
}

#[test]
fn rows_are_derivatives_for_every_kind() {
    let mut rng = Rng::new(71);
    for kind in closing_kinds() {
        for round in 0..10 {
            let mut system = random_looped(&mut rng, 2 + round % 5, &all_kinds(), &[kind, kind]);
            let expected = dense_jacobian(&mut system.case, &system.looped);
            let Looped { case, looped, loops } = &mut system;
            let Case { tree, state, dynamics, .. } = case;
            dynamics.kinematics(tree, state);
            loops.kinematics(looped, dynamics);
            let found = jacobian(looped, loops, dynamics);
            assert_close!(found.entries(), expected.entries(), 1e-12, "{kind:?} {round}");
            let mut drift = vec![0.0; looped.n_rows()];
            loops.fill_drift(looped, dynamics, &mut drift);
            // J̇v: how J v changes along the motion at constant rates
            let mut probe = Dynamics::new(tree);
            let by_difference = difference(|t| {
                let mut state = state.clone();
                tree.advance(&mut state.coordinates, &state.rates, t);
                probe.kinematics(tree, &state);
                loops.kinematics(looped, &probe);
                jacobian(looped, loops, &probe).mul_vec(&state.rates)
            });
            assert_close!(drift, by_difference, 1e-7, "{kind:?} {round}");
            if !kind.is_holonomic() {
                continue;
            }
            let rates = difference(|t| {
                let mut state = state.clone();
                tree.advance(&mut state.coordinates, &state.rates, t);
                probe.kinematics(tree, &state);
                loops.kinematics(looped, &probe);
                loops.violation().to_vec()
            });
            assert_close!(found.mul_vec(&state.rates), rates, 1e-7, "{kind:?} {round}");
        }
    }
}

/// `q̈` (torques where prescribed) and `λ` of `M q̈ + bias = τ + Jᵀλ`, `J q̈ = rhs`.
fn dense_closed(
    (mass, bias): (&Dense, &[f64]),
    j: &Dense,
    rhs: &[f64],
    values: &[f64],
    known: &[bool],
) -> Option<(Vec<f64>, Vec<f64>)> {
    let (n, m) = (bias.len(), rhs.len());
    let mut matrix = Dense::zeros(n + m, n + m);
    let mut right: Vec<f64> = bias.iter().map(|b| -b).chain(rhs.iter().copied()).collect();
    for i in 0..n {
        for k in 0..n {
            if known[k] {
                matrix[(i, k)] = if i == k { -1.0 } else { 0.0 };
                right[i] -= mass[(i, k)] * values[k];
            } else {
                matrix[(i, k)] = mass[(i, k)];
            }
        }
        right[i] += if known[i] { 0.0 } else { values[i] };
        for r in 0..m {
            matrix[(i, n + r)] = -j[(r, i)];
            if known[i] {
                right[n + r] -= j[(r, i)] * values[i];
            } else {
                matrix[(n + r, i)] = j[(r, i)];
            }
        }
    }
    let x = matrix.solve(&right)?;
    Some((x[..n].to_vec(), x[n..].to_vec()))
}

#[test]
fn soak_closed_trees_are_the_dense_solution() {
    let (mut rng, mut checked) = (Rng::new(72), 0);
    let closing = closing_kinds();
    let rounds = 600 * soak_scale();
    for round in 0..rounds {
        let kinds: Vec<JointKind> =
            (0..1 + round % 3).map(|k| closing[(round + 5 * k) % closing.len()]).collect();
        let mut system = random_looped(&mut rng, 4 + round % 7, &all_kinds(), &kinds);
        let (mut mass, bias) = dense(&mut system.case, GRAVITY);
        let j = dense_jacobian(&mut system.case, &system.looped);
        let Looped { case, looped, loops } = &mut system;
        let Case { tree, state, dynamics, external, .. } = case;
        let mut command = random_command(&mut rng, tree, if round % 2 == 0 { 0.0 } else { 0.2 });
        command.modes[0] = JointMode::Passive;
        let resistance: Vec<f64> = (0..tree.n_dofs()).map(|_| rng.uniform(0.0, 0.3)).collect();
        let mut known = vec![false; tree.n_dofs()];
        for link in tree.links() {
            let prescribed = command.mode(link) == JointMode::Prescribed;
            tree.dofs(link).for_each(|dof| known[dof] = prescribed);
        }
        (loops.settings.rate_gain, loops.settings.position_gain) =
            (rng.uniform(0.0, 5.0), rng.uniform(0.0, 9.0));
        dynamics.kinematics(tree, state);
        loops.kinematics(looped, dynamics);
        let mut rhs = vec![0.0; looped.n_rows()];
        loops.fill_drift(looped, dynamics, &mut rhs);
        let (rates, phi) = (j.mul_vec(&state.rates), loops.violation().to_vec());
        for k in 0..rhs.len() {
            rhs[k] = -rhs[k] - loops.settings.rate_gain * rates[k] - loops.settings.position_gain * phi[k];
        }
        let report = loops.respond(
            looped,
            dynamics,
            &command,
            &TreeLoads { gravity: GRAVITY, external, resistance: &resistance, ..TreeLoads::default() },
        );
        assert_eq!(report.open.singular, None);
        if report.dependent > 0 {
            continue;
        }
        checked += 1;
        (0..tree.n_dofs()).filter(|dof| !known[*dof]).for_each(|dof| mass[(dof, dof)] += resistance[dof]);
        let solution = dense_closed((&mass, &bias), &j, &rhs, &command.values, &known);
        let (x, multipliers) = solution.expect("independent rows");
        let found: Vec<f64> = (0..tree.n_dofs())
            .map(|dof| if known[dof] { dynamics.torques()[dof] } else { dynamics.accelerations()[dof] })
            .collect();
        assert_close!(found, x, 1e-8, "round {round} {kinds:?}");
        assert_close!(loops.multipliers(), multipliers.as_slice(), 1e-8, "round {round} {kinds:?}");
        let scale = multipliers.iter().chain(&x).fold(1.0f64, |m, x| m.max(x.abs()));
        assert!(report.unmet < 1e-10 * scale, "round {round}: {} of {scale}", report.unmet);
    }
    assert!(2 * checked > rounds, "only {checked} of {rounds} had independent rows");
}

#[test]
fn wrenches_of_the_loops_move_an_open_tree_alike() {
    let mut rng = Rng::new(73);
    for round in 0..50 {
        let kinds = [JointKind::Hinge, JointKind::Ball, JointKind::PointOnLine];
        let mut system = random_looped(&mut rng, 9, &kinds, &[JointKind::Ball, JointKind::PointOnPlane]);
        let Looped { case, looped, loops } = &mut system;
        let Case { tree, state, dynamics, external, model } = case;
        let command = random_command(&mut rng, tree, 0.0);
        dynamics.kinematics(tree, state);
        let _ = loops.respond(looped, dynamics, &command, &acting(external));
        let closed = dynamics.accelerations().to_vec();
        let reactions: Vec<Force> = tree.links().map(|link| dynamics.reaction(link)).collect();
        let mut all = external.clone();
        loops.add_wrenches(looped, &mut all);
        let _ = dynamics.respond(tree, &command, GRAVITY, &all);
        assert_close!(dynamics.accelerations(), closed.as_slice(), 1e-8, "round {round}");
        for (link, reaction) in tree.links().zip(reactions) {
            assert_close!(dynamics.reaction(link).to_array(), reaction.to_array(), 1e-8, "round {round}");
        }
        // the wrench of the first closure on its body 1 is among them
        let joint = looped.joints().next().expect("a closure");
        let on = loops.reaction(looped, joint).expect("closes a loop");
        assert_eq!(looped.rows(joint), Some(0..model.joint_kind(joint).n_rows()));
        let only_one = looped.joints().nth(1).is_none_or(|other| {
            let touches = |body| [model.joint_bodies(other).0, model.joint_bodies(other).1].contains(&body);
            !touches(model.joint_bodies(joint).0)
        });
        if let (true, Some(body)) = (only_one, model.joint_bodies(joint).0) {
            let link = tree.link(body).expect("dynamic");
            let origin = model.joint_anchors(&maximal_of(model, tree, state), joint).0;
            let centre = dynamics.central_pose(tree, link).translation;
            let added = shift_force(all[link.index()] - external[link.index()], centre - origin);
            assert_close!(added.to_array(), on.to_array(), 1e-9, "round {round}");
        }
    }
}

#[test]
fn rows_given_twice_share_their_load() {
    let mut rng = Rng::new(74);
    for kind in [JointKind::Ball, JointKind::Hinge, JointKind::Fixed] {
        let mut builder = MechanismBuilder::new();
        let mut above = None;
        for _ in 0..5 {
            let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
            let body = builder.add_body(BodySpec::dynamic("", pose, random_mass(&mut rng)));
            builder.add_joint(JointSpec::new("", JointKind::Ball, body, above, random_frames(&mut rng)));
            above = Some(body);
        }
        let body = above.expect("a body");
        let closing = JointSpec::new("", kind, body, None, random_frames(&mut rng))
            .with_priority(sinew_topology::Priority::Secondary);
        let mut twice = builder.clone();
        builder.add_joint(closing.clone());
        twice.add_joint(closing.clone());
        twice.add_joint(closing);
        let mut single = finish(&mut rng, builder.build().expect("valid"));
        let mut double = finish(&mut rng, twice.build().expect("valid"));
        double.case.state = single.case.state.clone();
        let mut found = Vec::new();
        for system in [&mut single, &mut double] {
            let Looped { case, looped, loops } = system;
            let command = HybridCommand::passive(&case.tree);
            case.dynamics.kinematics(&case.tree, &case.state);
            let report = loops.respond(looped, &mut case.dynamics, &command, &acting(&[]));
            assert!(report.unmet < 1e-9);
            let m = loops.multipliers().to_vec();
            found.push((case.dynamics.accelerations().to_vec(), m, report.dependent));
        }
        let n = kind.n_rows();
        assert_eq!((found[0].2, found[1].2), (0, n));
        assert_close!(found[0].0, found[1].0, 1e-9, "{kind:?}");
        let half: Vec<f64> = found[0].1.iter().map(|x| 0.5 * x).collect();
        assert_close!(found[1].1[..n].to_vec(), half, 1e-9, "{kind:?}");
        assert_close!(found[1].1[n..].to_vec(), half, 1e-9, "{kind:?}");
    }
}

#[test]
fn projections_are_the_least_changes() {
    let mut rng = Rng::new(75);
    let open = [JointKind::Ball, JointKind::Universal, JointKind::Cylindrical, JointKind::Free];
    for round in 0..60 {
        let closing = closing_kinds();
        let mut system = random_chain(&mut rng, &open, closing[round % closing.len()]);
        let (looped, loops) = (&system.looped, &mut system.loops);
        let Case { tree, state, dynamics, .. } = &mut system.case;
        let passive = HybridCommand::passive(tree);
        let left = loops.project_coordinates(looped, dynamics, &passive, state);
        assert!(left < 1e-11, "round {round} {:?}: {left:e} left", closing[round % closing.len()]);
        dynamics.kinematics(tree, state);
        loops.kinematics(looped, dynamics);
        assert!(loops.violation().iter().all(|x| x.abs() < 1e-11));

        // M Δv = p + JᵀΛ and J v⁺ = 0
        let (before, impulses) = (state.rates.clone(), random_vector(&mut rng, tree.n_dofs(), 1.0));
        let left = loops.project_rates(looped, dynamics, &passive, &impulses, state);
        assert!(left < 1e-11, "round {round}: {left:e}");
        let (mut mass, n) = (vec![0.0; tree.n_dofs() * tree.n_dofs()], tree.n_dofs());
        dynamics.fill_mass_matrix(tree, &mut mass);
        let j = jacobian(looped, loops, dynamics);
        assert!(j.mul_vec(&state.rates).iter().all(|x| x.abs() < 1e-11));
        let change: Vec<f64> = state.rates.iter().zip(&before).map(|(a, b)| a - b).collect();
        let by_loops = j.transpose().mul_vec(loops.multipliers());
        let expected: Vec<f64> = impulses.iter().zip(by_loops).map(|(p, l)| p + l).collect();
        assert_close!(Dense::from_rows(n, n, &mass).mul_vec(&change), expected, 1e-9, "round {round}");
    }
}

#[test]
fn prescribed_joints_stay_where_they_are() {
    let mut rng = Rng::new(76);
    let mut system = random_chain(&mut rng, &[JointKind::Ball], JointKind::Ball);
    let (looped, loops) = (&system.looped, &mut system.loops);
    let Case { tree, state, dynamics, .. } = &mut system.case;
    let mut command = HybridCommand::passive(tree);
    let held = tree.links().nth(3).expect("a link");
    command.modes[held.index()] = JointMode::Prescribed;
    let before = state.clone();
    assert!(loops.project_coordinates(looped, dynamics, &command, state) < 1e-11);
    assert!(loops.project_rates(looped, dynamics, &command, &[], state) < 1e-11);
    assert_close!(
        state.coordinates[tree.coordinates(held)],
        before.coordinates[tree.coordinates(held)],
        1e-15
    );
    assert_close!(state.rates[tree.dofs(held)], before.rates[tree.dofs(held)], 1e-15);
    assert_ne!(state.rates, before.rates);
}

#[test]
fn loops_allocate_nothing_and_fresh_buffers_change_no_bit() {
    let mut rng = Rng::new(77);
    let closing = [JointKind::Hinge, JointKind::Ball, JointKind::Hinge];
    let mut system = random_looped(&mut rng, 12, &all_kinds(), &closing);
    let (looped, loops) = (&system.looped, &mut system.loops);
    let Case { tree, state, dynamics, external, .. } = &mut system.case;
    let command = HybridCommand::passive(tree);
    let (mut matrix, mut drift) = (vec![0.0; looped.n_rows() * tree.n_dofs()], vec![0.0; looped.n_rows()]);
    let start = state.clone();
    dynamics.kinematics(tree, state);
    let _ = loops.respond(looped, dynamics, &command, &acting(external));
    let first = (dynamics.accelerations().to_vec(), loops.multipliers().to_vec());
    let info = allocation_counter::measure(|| {
        dynamics.kinematics(tree, state);
        let _ = loops.respond(looped, dynamics, &command, &acting(external));
        loops.fill_jacobian(looped, dynamics, &mut matrix);
        loops.fill_drift(looped, dynamics, &mut drift);
        let _ = loops.project_coordinates(looped, dynamics, &command, state);
        let _ = loops.project_rates(looped, dynamics, &command, &[], state);
    });
    assert_eq!(info.count_total, 0);
    dynamics.kinematics(tree, &start);
    let _ = loops.respond(looped, dynamics, &command, &acting(external));
    assert_eq!(first, (dynamics.accelerations().to_vec(), loops.multipliers().to_vec()));
}

#[test]
fn a_tree_without_loops_has_no_rows() {
    let mut rng = Rng::new(78);
    let mut system = random_looped(&mut rng, 6, &all_kinds(), &[]);
    let (looped, loops) = (&system.looped, &mut system.loops);
    let Case { tree, state, dynamics, external, .. } = &mut system.case;
    let command = random_command(&mut rng, tree, 0.3);
    let _ = dynamics.hybrid(tree, state, &command, GRAVITY, external);
    let open = dynamics.accelerations().to_vec();
    let report = loops.respond(looped, dynamics, &command, &acting(external));
    assert_eq!((looped.n_rows(), report.dependent), (0, 0));
    assert_eq!(dynamics.accelerations(), open.as_slice());
}

#[test]
fn inverse_dynamics_has_the_least_torques_that_do_it() {
    let (mut rng, mut checked) = (Rng::new(79), 0);
    for round in 0..60 {
        let mut system = random_chain(
            &mut rng,
            &[JointKind::Ball, JointKind::Hinge, JointKind::Universal],
            JointKind::Hinge,
        );
        let (looped, loops) = (&system.looped, &mut system.loops);
        let Case { tree, state, dynamics, external, .. } = &mut system.case;
        let n = tree.n_dofs();
        dynamics.kinematics(tree, state);
        // accelerations that keep the loop closed, by torques at the actuated joints
        let actuated: Vec<bool> = (0..n).map(|_| round % 3 == 0 || rng.chance(0.7)).collect();
        let mut command = random_command(&mut rng, tree, 0.0);
        command.values.iter_mut().zip(&actuated).for_each(|(x, is)| *x = if *is { *x } else { 0.0 });
        let report = loops.respond(looped, dynamics, &command, &acting(external));
        if report.dependent > 0 {
            continue;
        }
        checked += 1;
        let accelerations = dynamics.accelerations().to_vec();
        let unmet = loops.inverse(looped, dynamics, &accelerations, &actuated, &acting(external));
        let torques = loops.torques().to_vec();
        assert!(unmet < 1e-7, "round {round}: {unmet:e}");
        assert!(torques.iter().zip(&actuated).all(|(x, is)| *is || *x == 0.0));
        // they do it
        let multipliers = loops.multipliers().to_vec();
        let again = HybridCommand { values: torques.clone(), ..HybridCommand::passive(tree) };
        let _ = loops.respond(looped, dynamics, &again, &acting(external));
        assert_close!(dynamics.accelerations(), accelerations.as_slice(), 1e-7, "round {round}");
        assert_close!(loops.multipliers(), multipliers.as_slice(), 1e-6, "round {round}");
        // no other does it with less: what changes nothing, (Jᵀz with no part at passive joints), is at right angles to them
        let given = &command.values;
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let change: f64 = torques.iter().zip(given).map(|(t, g)| t * (g - t)).sum();
        assert!(norm(&torques) <= norm(given) * (1.0 + 1e-9), "round {round}");
        assert!(change.abs() < 1e-6 * norm(given).max(1.0), "round {round}: {change:e}");
    }
    assert!(checked > 50, "only {checked} had independent rows");
}

#[test]
fn derivatives_by_commands_are_differences_of_closed_responses() {
    let mut rng = Rng::new(57);
    let (mut n_demands, mut n_rows) = (0, 0);
    for _ in 0..100 * soak_scale() {
        let kinds = closing_kinds();
        let closing = [kinds[rng.below(kinds.len())], kinds[rng.below(kinds.len())]];
        let Looped { case, looped, mut loops } = random_looped(&mut rng, 6, &all_kinds(), &closing);
        let Case { tree, state, mut dynamics, external, .. } = case;
        let command = random_command(&mut rng, &tree, 0.5);
        dynamics.kinematics(&tree, &state);
        let link = sinew_recursive::LinkId::from_index(rng.below(tree.n_links()));
        let (point, angular, linear) = (rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
        let passive = tree
            .links()
            .find(|link| command.mode(*link) == JointMode::Passive && !tree.dofs(*link).is_empty());
        // what is differentiated, and all that the loops lack
        let respond = |command: &HybridCommand, loops: &mut LoopDynamics, dynamics: &mut Dynamics| {
            let _ = loops.respond(&looped, dynamics, command, &acting(&external));
            let moved = dynamics.acceleration_at(link, point);
            let joint = passive.map_or(0.0, |link| dynamics.accelerations()[tree.dofs(link).start]);
            ([angular.dot(moved.angular) + linear.dot(moved.linear), joint], loops.lack().to_vec())
        };
        let (before, lack) = respond(&command, &mut loops, &mut dynamics);
        let mut derivatives = LoopDerivatives::new(&looped);
        derivatives.prepare(&looped, &dynamics, &loops);
        let at_point = DerivativeRow::Point { link, point, angular, linear };
        let mut rows = vec![derivatives.row(&looped, &dynamics, &mut loops, &at_point).to_vec()];
        if let Some(link) = passive {
            let joint = DerivativeRow::Acceleration(tree.dofs(link).start);
            rows.push(derivatives.row(&looped, &dynamics, &mut loops, &joint).to_vec());
        }
        let demands: Vec<Option<Vec<f64>>> = (0..looped.n_rows())
            .map(|row| derivatives.demand(&looped, &mut loops, row).map(<[f64]>::to_vec))
            .collect();
        for dof in 0..tree.n_dofs() {
            let mut changed = command.clone();
            changed.values[dof] += 1.0;
            let (after, lacking) = respond(&changed, &mut loops, &mut dynamics);
            let scale =
                1e-9 * (1.0 + before.iter().chain(&after).fold(0.0, |most: f64, x| most.max(x.abs())));
            for (k, row) in rows.iter().enumerate() {
                assert!(
                    (row[dof] - (after[k] - before[k])).abs() < scale,
                    "{k}: {} {}",
                    row[dof],
                    after[k] - before[k]
                );
            }
            for (row, demand) in demands.iter().enumerate() {
                // what is lacking is the opposite of what is there
                let change = lack[row] - lacking[row];
                let expected = demand.as_ref().map_or(0.0, |demand| demand[dof]);
                let prescribed = command.mode(tree.link_of_dof(dof)) == JointMode::Prescribed;
                assert!(
                    !prescribed || (change - expected).abs() < 1e-3,
                    "row {row}: {change} for {expected}"
                );
                if demand.is_some() {
                    assert!(
                        (change - expected).abs() < 1e-8 * (1.0 + lack[row].abs()),
                        "row {row}: {change} for {expected}"
                    );
                }
            }
        }
        n_rows += demands.len();
        n_demands += demands.iter().flatten().count();
    }
    assert!(n_demands > 50 && n_rows > n_demands + 50, "{n_demands} of {n_rows}");
}
