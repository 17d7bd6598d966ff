//! Reference numbers computed outside this project's code (KP08 Tables 3, 5 and 6 with the corrections of
//! docs/errata.md).

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{
    Force, MassProperties, Motion, Pose, Sym3, exp_so3, left_jacobian_rate, mat3_to_quat, right_jacobian,
};
use sinew_mechanism::{
    BodyId, BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, rotation_to_axis,
};
use sinew_recursive::{
    DerivativeRow, Derivatives, Dynamics, HybridCommand, JointMode, LinkId, Particle, ParticleBone,
    ParticleState, Tree,
};
use sinew_testkit::golden::{Value, array, case, number, numbers, vector};
use sinew_testkit::{Dense, assert_close};

const TOLERANCE: f64 = 1e-10;

#[test]
fn hybrid_dynamics_on_five_bodies() {
    let golden = case("recursive", "hybrid_dynamics");
    let (input, out) = (&golden["in"], &golden["out"]);
    let reference = Reference::new(input);
    let Reference { tree, bodies, rates_from, .. } = &reference;
    let link = |body: usize| tree.link(bodies[body]).expect("dynamic");
    let gravity = vector(&input["g"]);
    let (qd, qdd) = (numbers(&input["qd"]), numbers(&out["qdd"]));
    let (state, products) = reference.state(&numbers(&input["q"]), &qd);

    let mut dynamics = Dynamics::new(tree);
    dynamics.kinematics(tree, &state);
    let mut external = vec![Force::ZERO; tree.n_links()];
    for body in 0..5 {
        // given in body axes at the frame origin, wanted in world axes at the centre of mass
        let wrench = Force::from_array(array(&input["fext"][body]));
        let pose = reference.body_frame(&dynamics, link(body), body);
        let linear = pose.rotation * wrench.linear;
        let arm = pose.translation - dynamics.central_pose(tree, link(body)).translation;
        external[link(body).index()] = Force::new(pose.rotation * wrench.angular + arm.cross(linear), linear);
    }
    let mut command = HybridCommand::passive(tree);
    let transposed = rates_from.transpose();
    command.values = transposed.solve(&numbers(&input["tau"])).expect("regular");
    let hinge = link(1);
    command.modes[hinge.index()] = JointMode::Prescribed;
    command.values[tree.dofs(hinge).start] = 1.0;
    assert_eq!(dynamics.respond(tree, &command, gravity, &external).singular, None);

    let expected: Vec<f64> = rates_from.mul_vec(&qdd).iter().zip(&products).map(|(x, a)| x + a).collect();
    assert_close!(dynamics.accelerations(), expected.as_slice(), TOLERANCE);
    assert_close!(transposed.mul_vec(dynamics.torques()), numbers(&out["tau"]), TOLERANCE);
    for body in 0..5 {
        let rate = Motion::from_array(array(&out["Vdot_gravity_augmented"][body]));
        let pose = reference.body_frame(&dynamics, link(body), body);
        let velocity = dynamics.motion_at(link(body), pose.translation);
        let linear = pose.rotation * rate.linear + velocity.angular.cross(velocity.linear) + gravity;
        let found = dynamics.acceleration_at(link(body), pose.translation);
        assert_close!(found.angular, pose.rotation * rate.angular, TOLERANCE, "body {body}");
        assert_close!(found.linear, linear, TOLERANCE, "body {body}");
    }
    let last = reference.body_frame(&dynamics, link(4), 4);
    let world = dynamics.acceleration_at(link(4), last.translation).to_array();
    assert_close!(world.to_vec(), numbers(&out["world_acc_last"]), TOLERANCE);

    // mass matrix and bias
    let n = tree.n_dofs();
    let (mut entries, mut bias) = (vec![0.0; n * n], vec![0.0; n]);
    dynamics.fill_mass_matrix(tree, &mut entries);
    dynamics.fill_bias(tree, gravity, &external, &mut bias);
    let mass = Dense::from_rows(n, n, &entries);
    let expected: Vec<f64> = (0..n).flat_map(|i| numbers(&out["mass_matrix"][i])).collect();
    let found = transposed.mul(&mass).mul(rates_from);
    assert_close!(found.entries(), expected.as_slice(), TOLERANCE);
    let drift = mass.mul_vec(&products);
    let with_drift: Vec<f64> = bias.iter().zip(&drift).map(|(b, a)| b + a).collect();
    assert_close!(transposed.mul_vec(&with_drift), numbers(&out["bias"]), TOLERANCE);

    // derivatives with respect to the acceleration of the hinge
    let mut derivatives = Derivatives::new(tree);
    let dof = tree.dofs(hinge).start;
    derivatives.command(tree, &dynamics, dof);
    let expected = rates_from.mul_vec(&numbers(&out["dqdd_dz"]));
    assert_close!(derivatives.accelerations(), expected.as_slice(), TOLERANCE);
    assert_close!(transposed.mul_vec(derivatives.torques()), numbers(&out["dtau_dz"]), TOLERANCE);
    let found = derivatives.acceleration_at(&dynamics, link(4), last.translation);
    let expected = Motion::from_array(array(&out["dVdot_last_dz"]));
    let expected = Motion::new(last.rotation * expected.angular, last.rotation * expected.linear);
    assert_close!(found.to_array(), expected.to_array(), TOLERANCE);
    for (axis, angular, linear) in [(0, DVec3::X, DVec3::ZERO), (4, DVec3::ZERO, DVec3::Y)] {
        let row = DerivativeRow::Point { link: link(4), point: last.translation, angular, linear };
        assert_close!(derivatives.row(tree, &dynamics, &row)[dof], expected.to_array()[axis], TOLERANCE);
    }
}

#[test]
fn a_horizontal_rod_starts_at_three_halves_of_gravity() {
    let case = case("recursive", "rod_pendulum");
    let (length, mass) = (number(&case["in"]["length"]), number(&case["in"]["mass"]));
    let across = mass * length * length / 12.0;
    let rod = MassProperties {
        mass,
        com: DVec3::X * (0.5 * length),
        inertia: Sym3::diagonal(DVec3::new(1e-6, across, across)),
    };
    let mut builder = MechanismBuilder::new();
    let body = builder.add_body(BodySpec::dynamic("rod", Pose::IDENTITY, rod));
    let axis = Pose::from_rotation(rotation_to_axis(DVec3::Y).expect("not zero"));
    let frames = JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &axis);
    builder.add_joint(JointSpec::new("pivot", JointKind::Hinge, body, None, frames));
    let tree = Tree::from_model(&builder.build().expect("valid")).expect("a tree");
    let mut dynamics = Dynamics::new(&tree);
    let gravity = DVec3::new(0.0, 0.0, -9.81);
    let _ = dynamics.hybrid(&tree, &tree.neutral_state(), &HybridCommand::passive(&tree), gravity, &[]);
    assert_close!(dynamics.accelerations()[0], number(&case["out"]["closed_form"]), 1e-14);
    assert_close!(dynamics.accelerations().to_vec(), numbers(&case["out"]["qdd"]), TOLERANCE);
}

#[test]
fn a_particle_on_a_moving_bone() {
    let golden = case("recursive", "particle");
    let (input, out) = (&golden["in"], &golden["out"]);
    let bone = ParticleBone {
        velocity: Motion::new(vector(&input["w"]), vector(&input["v"])),
        rate: Motion::new(vector(&input["wd"]), vector(&input["vd"])),
    };
    let particle = Particle {
        link: LinkId::from_index(0),
        mass: number(&input["m"]),
        rest: vector(&input["p"]) - DVec3::new(0.1, 0.2, 0.3),
    };
    let state = ParticleState { displacement: DVec3::new(0.1, 0.2, 0.3), rate: vector(&input["qd"]) };
    let (tie, other) = (vector(&input["tau"]), vector(&input["fext"]));
    assert_close!(particle.velocity(&bone, &state), vector(&out["v_i"]), TOLERANCE);
    assert_close!(particle.acceleration(&bone, &state, tie, other), vector(&out["qdd"]), TOLERANCE);
    assert_close!(
        particle.reaction(&state, tie).to_array().to_vec(),
        numbers(&out["wrench_on_bone"]),
        TOLERANCE
    );
}

/// The reference tree, and the map from the derivatives of its coordinates (rotation vectors) to our rates.
struct Reference {
    tree: Tree,
    bodies: Vec<BodyId>,
    /// Joint frame on each body, seen from its frame.
    joint_frames: Vec<DQuat>,
    rates_from: Dense,
}

/// Kinds of the five joints and where their coordinates begin in the reference.
const KINDS: [(JointKind, usize); 5] = [
    (JointKind::Free, 0),
    (JointKind::Hinge, 6),
    (JointKind::Universal, 7),
    (JointKind::Ball, 9),
    (JointKind::Orientation, 12),
];

impl Reference {
    fn new(input: &Value) -> Self {
        let mut builder = MechanismBuilder::new();
        let (mut bodies, mut joint_frames): (Vec<BodyId>, Vec<DQuat>) = (Vec::new(), Vec::new());
        for (k, (kind, _)) in KINDS.into_iter().enumerate() {
            let given = &input["bodies"][k];
            // a point mass of the reference has almost no inertia here
            let inertia = Sym3::diagonal(vector(&given["Ic"]).max(DVec3::splat(1e-13)));
            let mass = MassProperties { mass: number(&given["m"]), com: vector(&given["com"]), inertia };
            let body = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, mass));
            let turn = match kind {
                JointKind::Hinge => rotation_to_axis(DVec3::Y).expect("not zero"),
                // Rx(a) Rz(b) = C Ry(a) Rx(b) Cᵀ
                JointKind::Universal => mat3_to_quat(&DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Y)),
                _ => DQuat::IDENTITY,
            };
            let base = Pose::exp(Motion::from_array(array(&given["T0_xi"])));
            let frames = JointFrames {
                rotation1: turn,
                point1: DVec3::ZERO,
                rotation2: base.rotation * turn,
                point2: base.translation,
            };
            let parent = usize::try_from(given["parent"].as_i64().expect("an index")).ok().map(|p| bodies[p]);
            builder.add_joint(JointSpec::new("", kind, body, parent, frames));
            bodies.push(body);
            joint_frames.push(turn);
        }
        let tree = Tree::from_model(&builder.build().expect("valid")).expect("a tree");
        let mut reference = Self { rates_from: Dense::zeros(15, 15), tree, bodies, joint_frames };
        reference.fill_map(&numbers(&input["q"]));
        reference
    }

    fn first_dof(&self, k: usize) -> usize {
        self.tree.dofs(self.tree.link(self.bodies[k]).expect("dynamic")).start
    }

    /// `Ŝ`: `Jr` for rotations, `Rᵀ` for the velocity of the free joint, an exchange for the universal joint.
    fn fill_map(&mut self, q: &[f64]) {
        for (k, (kind, first)) in KINDS.into_iter().enumerate() {
            let at = self.first_dof(k);
            let phi = DVec3::from_slice(&q[first..]);
            let mut add = |row: usize, col: usize, block: DMat3| {
                for i in 0..3 {
                    for j in 0..3 {
                        self.rates_from[(at + row + i, first + col + j)] = block.col(j)[i];
                    }
                }
            };
            match kind {
                JointKind::Free => {
                    add(0, 0, right_jacobian(phi));
                    add(3, 3, DMat3::from_quat(exp_so3(phi)).transpose());
                }
                JointKind::Ball => add(0, 0, right_jacobian(phi)),
                JointKind::Orientation => add(0, 0, DMat3::IDENTITY),
                JointKind::Universal => {
                    self.rates_from[(at, first + 1)] = 1.0;
                    self.rates_from[(at + 1, first)] = 1.0;
                }
                _ => self.rates_from[(at, first)] = 1.0,
            }
        }
    }

    /// Our state, and the velocity products `(dŜ/dt) q̇`.
    fn state(&self, q: &[f64], qd: &[f64]) -> (sinew_recursive::TreeState, Vec<f64>) {
        let mut state = self.tree.neutral_state();
        state.rates = self.rates_from.mul_vec(qd);
        let mut products = vec![0.0; 15];
        for (k, (kind, first)) in KINDS.into_iter().enumerate() {
            let link = self.tree.link(self.bodies[k]).expect("dynamic");
            let place = &mut state.coordinates[self.tree.coordinates(link)];
            let at = self.first_dof(k);
            if matches!(kind, JointKind::Ball | JointKind::Free) {
                let phi = DVec3::from_slice(&q[first..]);
                let rate = DVec3::from_slice(&qd[first..]);
                let rotation = exp_so3(phi);
                place[..4].copy_from_slice(&[rotation.w, rotation.x, rotation.y, rotation.z]);
                let product = left_jacobian_rate(-phi, -rate) * rate;
                products[at..at + 3].copy_from_slice(&product.to_array());
                if kind == JointKind::Free {
                    place[4..].copy_from_slice(&q[first + 3..first + 6]);
                    let velocity = rotation.conjugate() * DVec3::from_slice(&qd[first + 3..]);
                    let omega = DVec3::from_slice(&state.rates[at..]);
                    products[at + 3..at + 6].copy_from_slice(&velocity.cross(omega).to_array());
                }
            } else if kind == JointKind::Universal {
                place.copy_from_slice(&[q[first + 1], q[first]]);
            } else {
                let n = place.len();
                place.copy_from_slice(&q[first..first + n]);
            }
        }
        (state, products)
    }

    /// World pose of a body's frame in the reference.
    fn body_frame(&self, dynamics: &Dynamics, link: LinkId, k: usize) -> Pose {
        let joint = dynamics.joint_pose(link);
        Pose::new(joint.rotation * self.joint_frames[k].conjugate(), joint.translation)
    }
}
