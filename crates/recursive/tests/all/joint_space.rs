//! Six robots against numbers of Pinocchio (`benches/peers/pinocchio_joint_space.py`).

use glam::{DQuat, DVec3};
use sinew_math::{Force, MassProperties, Motion, Pose, Sym3};
use sinew_mechanism::{
    BodyId, BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, rotation_to_axis,
};
use sinew_recursive::{Dynamics, HybridCommand, JointMatrices, Tree, TreeState};
use sinew_testkit::golden::{Value, array, case, list, number, numbers, vector};
use sinew_testkit::{Dense, worst_difference};

/// Of the largest entry.
const TOLERANCE: f64 = 1e-10;

/// A robot and its state, with the places of the reference's dofs in ours.
struct Robot {
    tree: Tree,
    bodies: Vec<BodyId>,
    state: TreeState,
    /// Our dof of each dof of the reference.
    dofs: Vec<usize>,
    gravity: DVec3,
    input: Value,
    out: Value,
}

impl Robot {
    fn new(name: &str) -> Self {
        let mut golden = case("joint_space", name);
        let (input, out) = (golden["in"].take(), golden["out"].take());
        let mut builder = MechanismBuilder::new();
        let mut bodies = Vec::new();
        for given in list(&input["bodies"]) {
            add_body(&mut builder, &mut bodies, given);
        }
        let tree = Tree::from_model(&builder.build().expect("valid")).expect("a tree");
        let (coordinates, rates) = (numbers(&input["coordinates"]), numbers(&input["rates"]));
        let (mut state, mut dofs) = (tree.neutral_state(), Vec::new());
        let mut first = 0;
        for body in &bodies {
            let link = tree.link(*body).expect("dynamic");
            let (q, v) = (tree.coordinates(link), tree.dofs(link));
            state.coordinates[q.clone()].copy_from_slice(&coordinates[first..first + q.len()]);
            first += q.len();
            state.rates[v.clone()].copy_from_slice(&rates[dofs.len()..dofs.len() + v.len()]);
            dofs.extend(v);
        }
        Self { gravity: vector(&input["gravity"]), tree, bodies, state, dofs, input, out }
    }

    /// A vector of the reference in our order.
    fn ours(&self, values: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; values.len()];
        self.dofs.iter().zip(values).for_each(|(dof, value)| out[*dof] = *value);
        out
    }

    fn check_vector(&self, found: &[f64], name: &str) {
        assert_near(found, &self.ours(&numbers(&self.out[name])), name);
    }

    /// Compares a square matrix; the reference may have its lower triangle only.
    fn check_matrix(&self, found: &[f64], name: &str) {
        let n = self.dofs.len();
        let rows: Vec<Vec<f64>> = list(&self.out[name]).iter().map(numbers).collect();
        let mut expected = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let entry = rows[i].get(j).unwrap_or_else(|| &rows[j][i]);
                expected[self.dofs[i] * n + self.dofs[j]] = *entry;
            }
        }
        assert_near(found, &expected, name);
    }

    /// Compares six rows.
    fn check_columns(&self, found: impl Iterator<Item = [f64; 6]>, name: &str) {
        let rows: Vec<Vec<f64>> = (0..6).map(|row| self.ours(&numbers(&self.out[name][row]))).collect();
        let expected: Vec<f64> =
            (0..self.dofs.len()).flat_map(|dof| rows.iter().map(move |row| row[dof])).collect();
        assert_near(&found.flatten().collect::<Vec<_>>(), &expected, name);
    }
}

fn assert_near(found: &[f64], expected: &[f64], name: &str) {
    let largest = expected.iter().fold(1e-6f64, |most, x| most.max(x.abs()));
    let difference = worst_difference(found, expected) / largest;
    assert!(difference <= TOLERANCE, "{name}: {difference:e} of the largest entry");
}

fn add_body(builder: &mut MechanismBuilder, bodies: &mut Vec<BodyId>, given: &Value) {
    let [xx, xy, yy, xz, yz, zz] = array(&given["inertia"]);
    let inertia = Sym3 { xx, yy, zz, xy, xz, yz };
    let mass = MassProperties { mass: number(&given["mass"]), com: vector(&given["com"]), inertia };
    let body = builder.add_body(BodySpec::dynamic(format!("body {}", bodies.len()), Pose::IDENTITY, mass));
    let turn = rotation_to_axis(vector(&given["axis"])).expect("not zero");
    let (kind, turn) = match given["joint"].as_str() {
        Some("hinge") => (JointKind::Hinge, turn),
        Some("prismatic") => (JointKind::Prismatic, turn),
        Some("screw") => (JointKind::Screw { pitch: number(&given["pitch"]) }, turn),
        Some("ball") => (JointKind::Ball, DQuat::IDENTITY),
        Some("free") => (JointKind::Free, DQuat::IDENTITY),
        other => panic!("no joint {other:?}"),
    };
    let [x, y, z, qw, qx, qy, qz] = array(&given["pose"]);
    let frames = JointFrames {
        rotation1: turn,
        point1: DVec3::ZERO,
        rotation2: DQuat::from_xyzw(qx, qy, qz, qw).normalize() * turn,
        point2: DVec3::new(x, y, z),
    };
    let parent = usize::try_from(given["parent"].as_i64().expect("an index")).ok().map(|p| bodies[p]);
    builder.add_joint(JointSpec::new("", kind, body, parent, frames));
    bodies.push(body);
}

fn check(name: &str) {
    let robot = Robot::new(name);
    let Robot { tree, state, gravity, input, .. } = &robot;
    let n = tree.n_dofs();
    let (mut matrix, mut torques) = (vec![0.0; n * n], vec![0.0; n]);
    let accelerations = robot.ours(&numbers(&input["accelerations"]));
    let given = robot.ours(&numbers(&input["torques"]));
    let mut dynamics = Dynamics::new(tree);
    dynamics.kinematics(tree, state);

    dynamics.fill_mass_matrix(tree, &mut matrix);
    robot.check_matrix(&matrix, "mass_matrix");
    dynamics.fill_bias(tree, *gravity, &[], &mut torques);
    robot.check_vector(&torques, "bias");
    dynamics.fill_gravity(tree, *gravity, &mut torques);
    robot.check_vector(&torques, "gravity");
    dynamics.fill_inverse(tree, &accelerations, *gravity, &[], &mut torques);
    robot.check_vector(&torques, "inverse");
    let mut command = HybridCommand::passive(tree);
    command.values.copy_from_slice(&given);
    assert_eq!(dynamics.respond(tree, &command, *gravity, &[]).singular, None);
    robot.check_vector(dynamics.accelerations(), "forward");

    let mut matrices = JointMatrices::new(tree);
    assert_eq!(matrices.invert_mass(tree, &mut dynamics).singular, None);
    robot.check_matrix(matrices.inverse_mass_matrix(), "inverse_mass_matrix");
    matrices.inverse(tree, &mut dynamics, &accelerations, *gravity, &[]);
    robot.check_matrix(matrices.mass_matrix(), "mass_matrix");
    robot.check_vector(matrices.torques(), "inverse");
    robot.check_matrix(matrices.torques_by_coordinates(), "torques_by_coordinates");
    robot.check_matrix(matrices.torques_by_rates(), "torques_by_rates");
    assert_eq!(matrices.forward(tree, &mut dynamics, &given, *gravity, &[]).singular, None);
    robot.check_vector(matrices.accelerations(), "forward");
    robot.check_matrix(matrices.accelerations_by_coordinates(), "accelerations_by_coordinates");
    robot.check_matrix(matrices.accelerations_by_rates(), "accelerations_by_rates");
    robot.check_matrix(matrices.inverse_mass_matrix(), "inverse_mass_matrix");
    let coriolis = Dense::from_rows(n, n, matrices.coriolis(tree, &mut dynamics));
    robot.check_vector(&coriolis.mul_vec(&state.rates), "coriolis_product");

    check_frame(&robot, &mut dynamics);
    check_centroid(&robot, &mut dynamics);
}

fn check_frame(robot: &Robot, dynamics: &mut Dynamics) {
    let (tree, last) = (&robot.tree, robot.bodies.len() - 1);
    let link = tree.link_named(&format!("body {last}")).expect("a body");
    assert_eq!(tree.link(robot.bodies[last]), Some(link));
    let (mut columns, given) = (vec![Motion::ZERO; tree.n_dofs()], &robot.input["bodies"][last]);
    let axis_frame = match tree.joint_kind(link) {
        JointKind::Ball | JointKind::Free => DQuat::IDENTITY,
        _ => rotation_to_axis(vector(&given["axis"])).expect("not zero"),
    };
    let point =
        dynamics.joint_pose(link).transform_point(axis_frame.conjugate() * vector(&robot.input["frame"]));
    dynamics.fill_jacobian(tree, link, point, &mut columns);
    robot.check_columns(columns.iter().map(|m| m.to_array()), "jacobian");
    dynamics.fill_jacobian_rate(tree, link, point, &mut columns);
    robot.check_columns(columns.iter().map(|m| m.to_array()), "jacobian_rate");
}

fn check_centroid(robot: &Robot, dynamics: &mut Dynamics) {
    let mut columns = vec![Force::ZERO; robot.tree.n_dofs()];
    let reference = |name: &str| numbers(&robot.out[name]);
    assert_near(&dynamics.centre_of_mass().to_array(), &reference("centre_of_mass"), "centre");
    let momentum = dynamics.centroidal_momentum().to_array();
    assert_near(&momentum, &reference("centroidal_momentum"), "momentum");
    dynamics.fill_centroidal_matrix(&robot.tree, &mut columns);
    robot.check_columns(columns.iter().map(|h| h.to_array()), "centroidal_matrix");
}

#[test]
fn an_arm_of_six_hinges() {
    check("arm_6");
}

#[test]
fn an_arm_of_seven_hinges() {
    check("arm_7");
}

#[test]
fn a_scara_with_a_slide() {
    check("scara");
}

#[test]
fn a_quadruped_on_a_free_base() {
    check("quadruped");
}

#[test]
fn a_humanoid_on_a_free_base() {
    check("humanoid");
}

#[test]
fn a_tree_with_tilted_axes_balls_and_screws() {
    check("odd_tree");
}
