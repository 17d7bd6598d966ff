//! Motion in time: conserved quantities, orders of the integrators, stiff springs, particles.

use glam::DVec3;
use sinew_math::{Force, MassProperties, Motion, Pose, Sym3, log_so3};
use sinew_mechanism::{BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder};
use sinew_recursive::{
    Action, Dynamics, HybridCommand, Integrator, Particle, ParticleBone, ParticleState, Springs, Tree,
    TreeState, add_reactions,
};
use sinew_testkit::{Rng, assert_close};

use crate::support::{
    Case, GRAVITY, all_kinds, finish, random_case, random_command, random_frames, random_mass,
};

/// A floating chain with ball, hinge, universal and cylindrical joints.
fn floating(rng: &mut Rng) -> Case {
    let mut builder = MechanismBuilder::new();
    let mut above = None;
    let kinds = [JointKind::Ball, JointKind::Hinge, JointKind::Universal, JointKind::Cylindrical];
    for k in 0..5 {
        let body = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, random_mass(rng)));
        if let Some(parent) = above {
            builder.add_joint(JointSpec::new("", kinds[k % 4], body, Some(parent), random_frames(rng)));
        }
        above = Some(body);
    }
    finish(rng, builder)
}

#[test]
fn momentum_of_a_floating_tree_changes_by_external_wrenches_only() {
    let mut rng = Rng::new(51);
    for _ in 0..100 {
        let mut case = floating(&mut rng);
        let mut command = random_command(&mut rng, &case.tree, 0.5);
        // the root is not actuated
        command.modes[0] = sinew_recursive::JointMode::Passive;
        command.values[..6].fill(0.0);
        let Case { model, tree, state, dynamics, external } = &mut case;
        let _ = dynamics.hybrid(tree, state, &command, GRAVITY, external);
        let mut maximal = model.initial_state();
        let (mut rate, mut outside) = (Force::ZERO, Force::ZERO);
        state.clone().write_mechanism(tree, &mut dynamics.clone(), &mut maximal);
        for link in tree.links() {
            let body = tree.body(link);
            let (inertia, mass) = crate::support::central_inertia(model, &maximal, body);
            let (x, v) = (maximal.poses[body.index()].translation, maximal.motions[body.index()]);
            let a = dynamics.acceleration_at(link, x);
            let spin = inertia.mul_vec(a.angular) + v.angular.cross(inertia.mul_vec(v.angular));
            rate += Force::new(spin + x.cross(a.linear * mass), a.linear * mass);
            let force = external[link.index()].linear + GRAVITY * mass;
            outside += Force::new(external[link.index()].angular + x.cross(force), force);
        }
        assert_close!(rate.to_array(), outside.to_array(), 1e-10);
    }
}

/// State after one second in steps of `h`.
fn run(
    case: &Case,
    h: f64,
    gravity: DVec3,
    step: impl Fn(&mut Integrator, &Tree, &mut Dynamics, &mut TreeState, &Action<'_>),
) -> (TreeState, Dynamics) {
    let (mut state, mut dynamics) = (case.state.clone(), Dynamics::new(&case.tree));
    let mut integrator = Integrator::new(&case.tree);
    let command = HybridCommand::passive(&case.tree);
    let action = Action { h, command: &command, gravity, external: &[] };
    for _ in 0..(0.5 / h).round() as usize {
        step(&mut integrator, &case.tree, &mut dynamics, &mut state, &action);
    }
    dynamics.kinematics(&case.tree, &state);
    (state, dynamics)
}

fn euler(
    integrator: &mut Integrator,
    tree: &Tree,
    dynamics: &mut Dynamics,
    state: &mut TreeState,
    action: &Action<'_>,
) {
    let _ = integrator.symplectic_euler(tree, dynamics, state, action);
}

fn runge_kutta(
    integrator: &mut Integrator,
    tree: &Tree,
    dynamics: &mut Dynamics,
    state: &mut TreeState,
    action: &Action<'_>,
) {
    let _ = integrator.runge_kutta(tree, dynamics, state, action);
}

/// Largest difference of place and orientation (m, rad).
fn distance(tree: &Tree, a: &Dynamics, b: &Dynamics) -> f64 {
    let gap = |link| {
        let (x, y) = (a.central_pose(tree, link), b.central_pose(tree, link));
        (x.translation - y.translation).length() + log_so3(x.rotation * y.rotation.conjugate()).length()
    };
    tree.links().map(gap).fold(0.0, f64::max)
}

#[test]
fn what_the_midpoint_rule_misses_is_of_fourth_order() {
    let mut rng = Rng::new(53);
    let mut builder = MechanismBuilder::new();
    let [a, b] =
        [0; 2].map(|_| builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, random_mass(&mut rng))));
    builder.add_joint(JointSpec::new("", JointKind::Ball, a, None, random_frames(&mut rng)));
    builder.add_joint(JointSpec::new("", JointKind::Hinge, b, Some(a), random_frames(&mut rng)));
    let case = finish(&mut rng, builder);
    let command = HybridCommand::passive(&case.tree);
    let unresolved = |h: f64, gravity: DVec3| {
        let (mut integrator, mut dynamics) = (Integrator::new(&case.tree), Dynamics::new(&case.tree));
        let mut state = case.state.clone();
        let action = Action { h, command: &command, gravity, external: &[] };
        let _ = integrator.runge_kutta(&case.tree, &mut dynamics, &mut state, &action);
        integrator.unresolved()
    };
    let order = ops_log2(unresolved(1.0 / 256.0, GRAVITY) / unresolved(1.0 / 512.0, GRAVITY));
    assert!((3.7..4.3).contains(&order), "{order}");
    assert!(unresolved(0.01, DVec3::NAN).is_infinite());
}

#[test]
fn integrators_have_their_order_with_every_kind_of_joint() {
    let mut rng = Rng::new(52);
    for kind in all_kinds() {
        let mut builder = MechanismBuilder::new();
        let [a, b] =
            [0; 2].map(|_| builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, random_mass(&mut rng))));
        builder.add_joint(JointSpec::new("", kind, a, None, random_frames(&mut rng)));
        builder.add_joint(JointSpec::new("", JointKind::Ball, b, Some(a), random_frames(&mut rng)));
        let case = finish(&mut rng, builder);
        let exact = run(&case, 1.0 / 2048.0, GRAVITY, runge_kutta).1;
        let error = |h: f64, fourth: bool| {
            let end =
                if fourth { run(&case, h, GRAVITY, runge_kutta) } else { run(&case, h, GRAVITY, euler) };
            distance(&case.tree, &end.1, &exact)
        };
        let order = ops_log2(error(1.0 / 64.0, true) / error(1.0 / 128.0, true));
        assert!((3.5..5.0).contains(&order), "{kind:?}, Runge–Kutta: {order}");
        let order = ops_log2(error(1.0 / 512.0, false) / error(1.0 / 1024.0, false));
        assert!((0.8..1.2).contains(&order), "{kind:?}, Euler: {order}");

        // no joint does work: the energy stays
        let energy = |dynamics: &Dynamics| {
            dynamics.kinetic_energy() - GRAVITY.dot(dynamics.total_inertia().first_moment)
        };
        let mut start = Dynamics::new(&case.tree);
        start.kinematics(&case.tree, &case.state);
        assert_close!(energy(&exact), energy(&start), 1e-8, "{kind:?}");
    }
}

fn ops_log2(x: f64) -> f64 {
    sinew_math::ops::ln(x) / sinew_math::ops::ln(2.0)
}

#[test]
fn energy_drifts_at_the_order_of_the_integrator_and_momentum_stays() {
    let mut rng = Rng::new(53);
    let case = floating(&mut rng);
    let measure = |dynamics: &Dynamics| {
        let energy = dynamics.kinetic_energy() - GRAVITY.dot(dynamics.total_inertia().first_moment);
        (energy, dynamics.momentum().angular)
    };
    let mut start = Dynamics::new(&case.tree);
    start.kinematics(&case.tree, &case.state);
    let drift = |h: f64, gravity: DVec3, fourth: bool| {
        let end =
            if fourth { run(&case, h, gravity, runge_kutta).1 } else { run(&case, h, gravity, euler).1 };
        let (energy, spin) = measure(&end);
        let (energy0, spin0) = measure(&start);
        ((energy - energy0).abs(), (spin - spin0).length())
    };
    // energy under gravity, angular momentum without it
    let (coarse, fine) = (drift(1.0 / 64.0, GRAVITY, true).0, drift(1.0 / 128.0, GRAVITY, true).0);
    assert!(fine < 1e-6 && ops_log2(coarse / fine) > 3.5, "{coarse:e} {fine:e}");
    for fourth in [true, false] {
        let lost = drift(1.0 / 64.0, DVec3::ZERO, fourth).1;
        assert!(lost < 1e-13, "{lost:e}");
    }
}

#[test]
fn stiff_springs_are_stable_at_any_stiffness() {
    let mut rng = Rng::new(54);
    let mut builder = MechanismBuilder::new();
    let mut above = None;
    for k in 0..6 {
        let body = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, random_mass(&mut rng)));
        let kind = [JointKind::Hinge, JointKind::Ball, JointKind::Universal][k % 3];
        builder.add_joint(JointSpec::new("", kind, body, above, random_frames(&mut rng)));
        above = Some(body);
    }
    let case = finish(&mut rng, builder);
    for stiffness in [1e3, 1e5, 1e8] {
        let mut springs = Springs::none(&case.tree);
        springs.stiffness.fill(stiffness);
        springs.damping.fill(0.05 * stiffness);
        let (mut state, mut dynamics) = (case.state.clone(), Dynamics::new(&case.tree));
        let mut integrator = Integrator::new(&case.tree);
        let command = HybridCommand::passive(&case.tree);
        let action = Action { h: 1.0 / 60.0, command: &command, gravity: GRAVITY, external: &[] };
        for _ in 0..1200 {
            let report = integrator.implicit(&case.tree, &mut dynamics, &mut state, &action, &springs);
            assert_eq!(report.singular, None);
            assert!(state.is_finite());
        }
        // it has come to rest where the springs carry the load: K(q ⊖ q₀) + bias = 0
        assert!(state.rates.iter().all(|v| v.abs() < 1e-3), "k = {stiffness:e}: {:?}", state.rates);
        let mut stretch = vec![0.0; case.tree.n_dofs()];
        case.tree.difference(&state.coordinates, &springs.rest, &mut stretch);
        let mut bias = vec![0.0; case.tree.n_dofs()];
        dynamics.kinematics(&case.tree, &state);
        dynamics.fill_bias(&case.tree, GRAVITY, &[], &mut bias);
        for (x, b) in stretch.iter().zip(&bias) {
            assert!((stiffness * x + b).abs() < 1e-2, "k = {stiffness:e}: {} against {b}", stiffness * x);
        }
    }
}

#[test]
fn stiff_springs_without_dampers_gain_no_energy() {
    let mut rng = Rng::new(57);
    let case = random_case(&mut rng, 6, &[JointKind::Hinge, JointKind::Ball, JointKind::Universal]);
    let mut springs = Springs::none(&case.tree);
    springs.stiffness.fill(1e8);
    let (mut state, mut dynamics) = (case.state.clone(), Dynamics::new(&case.tree));
    dynamics.kinematics(&case.tree, &state);
    let energy = |state: &TreeState, dynamics: &Dynamics| {
        dynamics.kinetic_energy() + springs.energy(&case.tree, &state.coordinates)
    };
    let start = energy(&state, &dynamics);
    let mut integrator = Integrator::new(&case.tree);
    let command = HybridCommand::passive(&case.tree);
    let action = Action { h: 1.0 / 60.0, command: &command, gravity: DVec3::ZERO, external: &[] };
    for _ in 0..300 {
        let _ = integrator.implicit(&case.tree, &mut dynamics, &mut state, &action, &springs);
        dynamics.kinematics(&case.tree, &state);
        assert!(energy(&state, &dynamics) < 1.01 * start);
    }
}

#[test]
fn implicit_springs_tend_to_explicit_ones() {
    let mut rng = Rng::new(55);
    let case = random_case(&mut rng, 4, &[JointKind::Hinge, JointKind::Ball]);
    let mut springs = Springs::none(&case.tree);
    springs.stiffness.fill(3.0);
    springs.damping.fill(0.2);
    let mut stretch = vec![0.0; case.tree.n_dofs()];
    case.tree.difference(&case.state.coordinates, &springs.rest, &mut stretch);
    let mut command = HybridCommand::passive(&case.tree);
    for dof in 0..case.tree.n_dofs() {
        command.values[dof] = -3.0 * stretch[dof] - 0.2 * case.state.rates[dof];
    }
    let (mut explicit, mut implicit) = (Dynamics::new(&case.tree), Dynamics::new(&case.tree));
    let _ = explicit.hybrid(&case.tree, &case.state, &command, GRAVITY, &[]);
    let passive = HybridCommand::passive(&case.tree);
    let action = Action { h: 1e-9, command: &passive, gravity: GRAVITY, external: &[] };
    let mut state = case.state.clone();
    let _ = Integrator::new(&case.tree).implicit(&case.tree, &mut implicit, &mut state, &action, &springs);
    assert_close!(implicit.accelerations(), explicit.accelerations(), 1e-6);
    // the torque reported is that of the springs at the end of the step
    assert_close!(implicit.torques(), command.values.as_slice(), 1e-6);
}

#[test]
fn a_particle_is_a_leaf_that_slides_freely() {
    let mut rng = Rng::new(56);
    for _ in 0..20 {
        // a bone on a ball joint, and a point mass on it, free to move in the central axes of the bone
        let bone_mass = random_mass(&mut rng);
        let (anchor, rest, mass) = (random_frames(&mut rng), rng.vec3(-0.4, 0.4), 0.3);
        let build = |with_point: bool| {
            let mut builder = MechanismBuilder::new();
            let bone = builder.add_body(BodySpec::dynamic("bone", Pose::IDENTITY, bone_mass));
            builder.add_joint(JointSpec::new("root", JointKind::Ball, bone, None, anchor));
            if with_point {
                let point =
                    MassProperties { mass, com: DVec3::ZERO, inertia: Sym3::diagonal(DVec3::splat(1e-14)) };
                let body = builder.add_body(BodySpec::dynamic("point", Pose::IDENTITY, point));
                let (turn, com) = (bone_mass.principal_axes().0, bone_mass.com);
                let frames = JointFrames {
                    rotation1: turn,
                    point1: DVec3::ZERO,
                    rotation2: turn,
                    point2: com + turn * rest,
                };
                builder.add_joint(JointSpec::new("slide", JointKind::Orientation, body, Some(bone), frames));
            }
            let model = builder.build().expect("valid");
            let tree = Tree::from_model(&model).expect("a tree");
            (model, tree)
        };
        let (full_model, full) = build(true);
        let (_, alone) = build(false);
        let bone = |tree: &Tree| tree.link(full_model.body("bone").expect("there")).expect("dynamic");
        let point = full.link(full_model.body("point").expect("there")).expect("dynamic");
        let state = crate::support::random_state(&mut rng, &full);
        let (tie, other) = (rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));

        let mut reference = Dynamics::new(&full);
        reference.kinematics(&full, &state);
        let mut command = HybridCommand::passive(&full);
        command.values[full.dofs(point)].copy_from_slice(&tie.to_array());
        let mut external = vec![Force::ZERO; 2];
        let central = reference.central_pose(&full, bone(&full));
        external[point.index()].linear = central.rotation * other;
        let _ = reference.respond(&full, &command, GRAVITY, &external);

        let copy = |from: &[f64], range: std::ops::Range<usize>| from[range].to_vec();
        let small = TreeState {
            coordinates: copy(&state.coordinates, full.coordinates(bone(&full))),
            rates: copy(&state.rates, full.dofs(bone(&full))),
        };
        let particle = Particle { link: bone(&alone), mass, rest };
        let slide = ParticleState {
            displacement: DVec3::from_slice(&state.coordinates[full.coordinates(point)]),
            rate: DVec3::from_slice(&state.rates[full.dofs(point)]),
        };
        let mut dynamics = Dynamics::new(&alone);
        dynamics.kinematics(&alone, &small);
        let mut external = [Force::ZERO];
        add_reactions(&alone, &dynamics, &[particle], &[slide], &[tie], &mut external);
        let _ = dynamics.respond(&alone, &HybridCommand::passive(&alone), GRAVITY, &external);
        let expected = copy(reference.accelerations(), full.dofs(bone(&full)));
        assert_close!(dynamics.accelerations(), expected.as_slice(), 1e-11);
        let seen = ParticleBone::new(&alone, &dynamics, particle.link);
        let found = particle.acceleration(&seen, &slide, tie, other);
        let expected = DVec3::from_slice(&reference.accelerations()[full.dofs(point)]);
        assert_close!(found, expected, 1e-11);
        let velocity: Motion = reference.central_motion(&full, point);
        assert_close!(central.rotation * particle.velocity(&seen, &slide), velocity.linear, 1e-12);
    }
}

#[test]
#[should_panic(expected = "one wrench per link")]
fn wrenches_of_another_tree_are_refused() {
    let Case { tree, mut state, mut dynamics, .. } = floating(&mut Rng::new(56));
    let command = HybridCommand::passive(&tree);
    let action = Action { h: 1e-3, command: &command, gravity: GRAVITY, external: &[Force::ZERO; 2] };
    let _ = Integrator::new(&tree).runge_kutta(&tree, &mut dynamics, &mut state, &action);
}

/// Momentum, and angular momentum about the centre of mass.
fn about_center(dynamics: &Dynamics) -> (Force, DVec3) {
    let (Force { angular, linear }, whole) = (dynamics.momentum(), dynamics.total_inertia());
    let center = whole.first_moment / whole.mass;
    (Force::new(angular - center.cross(linear), linear), center)
}

/// One step of a scheme.
type Scheme = fn(&mut Integrator, &Tree, &mut Dynamics, &mut TreeState, &Action<'_>);

fn implicit(
    integrator: &mut Integrator,
    tree: &Tree,
    dynamics: &mut Dynamics,
    state: &mut TreeState,
    action: &Action<'_>,
) {
    let mut springs = Springs::none(tree);
    springs.stiffness[6..].fill(1e3);
    springs.damping[6..].fill(1.0);
    let _ = integrator.implicit(tree, dynamics, state, action, &springs);
}

#[test]
fn floating_trees_keep_their_momentum_in_every_scheme() {
    let mut rng = Rng::new(58);
    for round in 0..6 {
        let case = floating(&mut rng);
        let mut command = HybridCommand::passive(&case.tree);
        // motors inside, and one joint whose acceleration is given
        command.values[6..].iter_mut().for_each(|torque| *torque = rng.uniform(-0.5, 0.5));
        if round % 2 == 1 {
            command.modes[2] = sinew_recursive::JointMode::Prescribed;
            command.values[case.tree.dofs(case.tree.links().nth(2).expect("five links"))].fill(0.0);
        }
        // Euler falls by h g more in every step
        for (scheme, late) in [(euler as Scheme, 1.0), (runge_kutta, 0.0), (implicit, 1.0)] {
            check_fall(&case, &command, scheme, late);
        }
    }
}

/// Momentum and centre of mass of a tree that falls freely.
fn check_fall(case: &Case, command: &HybridCommand, scheme: Scheme, late: f64) {
    let (mut state, mut dynamics) = (case.state.clone(), Dynamics::new(&case.tree));
    let mut integrator = Integrator::new(&case.tree);
    dynamics.kinematics(&case.tree, &state);
    let (start, center) = about_center(&dynamics);
    let (steps, h) = (500, 1.0 / 240.0);
    let action = Action { h, command, gravity: GRAVITY, external: &[] };
    for _ in 0..steps {
        scheme(&mut integrator, &case.tree, &mut dynamics, &mut state, &action);
    }
    dynamics.kinematics(&case.tree, &state);
    let ((end, place), mass) = (about_center(&dynamics), dynamics.total_inertia().mass);
    let time = h * f64::from(steps);
    let scale = start.angular.length() + start.linear.length();
    let fallen = start.linear + GRAVITY * (mass * time);
    assert!((end.angular - start.angular).length() < 1e-11 * scale, "{} of {}", end.angular, start.angular);
    assert!((end.linear - fallen).length() < 1e-11 * (scale + fallen.length()));
    let flown = center + start.linear * (time / mass) + GRAVITY * (0.5 * time * (time + late * h));
    assert!((place - flown).length() < 1e-10, "{:e}", (place - flown).length());
}

#[test]
fn momentum_changes_by_pushes_on_links_only() {
    let mut rng = Rng::new(59);
    let case = floating(&mut rng);
    let command = HybridCommand::passive(&case.tree);
    let external: Vec<Force> = (0..5).map(|_| Force::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0))).collect();
    let (mut state, mut dynamics) = (case.state.clone(), Dynamics::new(&case.tree));
    let mut integrator = Integrator::new(&case.tree);
    let action = Action { h: 0.01, command: &command, gravity: GRAVITY, external: &external };
    for _ in 0..50 {
        dynamics.kinematics(&case.tree, &state);
        let mut wanted = dynamics.momentum();
        for link in case.tree.links() {
            let place = dynamics.central_pose(&case.tree, link).translation;
            let Force { angular, linear } = external[link.index()];
            wanted += Force::new(angular + place.cross(linear), linear) * action.h;
        }
        let whole = dynamics.total_inertia();
        wanted += Force::new(whole.first_moment.cross(GRAVITY), GRAVITY * whole.mass) * action.h;
        euler(&mut integrator, &case.tree, &mut dynamics, &mut state, &action);
        dynamics.kinematics(&case.tree, &state);
        assert_close!(dynamics.momentum().to_array(), wanted.to_array(), 1e-12);
    }
}

/// Largest change of the energy in each quarter of some steps of Euler, and the largest kinetic energy.
fn energy_swings(case: &Case, h: f64, gravity: DVec3, steps: usize) -> ([f64; 4], f64) {
    let command = HybridCommand::passive(&case.tree);
    let (mut state, mut dynamics) = (case.state.clone(), Dynamics::new(&case.tree));
    let mut integrator = Integrator::new(&case.tree);
    dynamics.kinematics(&case.tree, &state);
    let energy =
        |dynamics: &Dynamics| dynamics.kinetic_energy() - gravity.dot(dynamics.total_inertia().first_moment);
    let start = energy(&dynamics);
    let action = Action { h, command: &command, gravity, external: &[] };
    let (mut swing, mut most) = ([0.0_f64; 4], dynamics.kinetic_energy());
    for step in 0..steps {
        euler(&mut integrator, &case.tree, &mut dynamics, &mut state, &action);
        dynamics.kinematics(&case.tree, &state);
        most = most.max(dynamics.kinetic_energy());
        let quarter = &mut swing[4 * step / steps];
        *quarter = quarter.max((energy(&dynamics) - start).abs());
    }
    (swing, most)
}

#[test]
fn energy_of_trees_in_motion_does_not_grow() {
    let mut rng = Rng::new(60);
    let kinds = [JointKind::Hinge, JointKind::Ball, JointKind::Universal];
    for round in 0..12 {
        // joints of the first ones slide apart, which the others cannot
        let (case, bound) =
            if round < 6 { (floating(&mut rng), 2e-2) } else { (random_case(&mut rng, 4, &kinds), 2e-4) };
        let (swing, kinetic) = energy_swings(&case, 1.0 / 240.0, DVec3::ZERO, 10_000);
        let most = swing.into_iter().fold(0.0, f64::max);
        assert!(most < bound * kinetic, "round {round}: {swing:?} J of {kinetic} J");
        // of second order
        let (finer, _) = energy_swings(&case, 1.0 / 480.0, DVec3::ZERO, 5_000);
        let coarse = energy_swings(&case, 1.0 / 240.0, DVec3::ZERO, 2_500).0;
        let [finer, coarse] = [finer, coarse].map(|swing| swing.into_iter().fold(0.0, f64::max));
        assert!(finer < 0.3 * coarse, "round {round}: {finer} J of {coarse} J");
    }
}

#[test]
fn a_body_that_nothing_turns_keeps_momentum_and_energy() {
    let moments = Sym3::diagonal(DVec3::new(1.0, 2.0, 3.0));
    let mass = MassProperties { mass: 1.5, com: DVec3::ZERO, inertia: moments };
    for arm in [None, Some(DVec3::new(0.1, -0.2, 0.3))] {
        let mut builder = MechanismBuilder::new();
        let start = Pose::from_translation(arm.unwrap_or(DVec3::ZERO));
        let body = builder.add_body(BodySpec::dynamic("", start, mass));
        if arm.is_some() {
            let frames = JointFrames::coincident(&start, &Pose::IDENTITY, &Pose::IDENTITY);
            builder.add_joint(JointSpec::new("", JointKind::Ball, body, None, frames));
        }
        let tree = Tree::from_model(&builder.build().expect("valid")).expect("a tree");
        let mut state = tree.neutral_state();
        // near the middle axis, which is not stable: 0.83 rad a step
        state.rates[..3].copy_from_slice(&[0.01, 50.0, 0.02]);
        let (mut integrator, mut dynamics) = (Integrator::new(&tree), Dynamics::new(&tree));
        let command = HybridCommand::passive(&tree);
        let action = Action { h: 1.0 / 60.0, command: &command, gravity: DVec3::ZERO, external: &[] };
        dynamics.kinematics(&tree, &state);
        let (spin, energy) = (dynamics.momentum().angular, dynamics.kinetic_energy());
        for _ in 0..1000 {
            euler(&mut integrator, &tree, &mut dynamics, &mut state, &action);
            dynamics.kinematics(&tree, &state);
            let (now, kinetic) = (dynamics.momentum().angular, dynamics.kinetic_energy());
            assert!((now - spin).length() < 1e-7 * spin.length(), "{arm:?}: {now} of {spin}");
            assert!((kinetic / energy - 1.0).abs() < 1e-7, "{arm:?}: {kinetic} J of {energy} J");
        }
    }
}
