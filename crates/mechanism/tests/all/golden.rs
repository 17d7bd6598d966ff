//! Reference steps computed outside this project's code (Her11 with the corrections of docs/errata.md).

use glam::{DMat3, DVec3};
use serde_json::Value;
use sinew_math::{Motion, Pose, Sym3, exp_so3, quat_to_mat3, spin_step};
use sinew_mechanism::{
    BodyId, BodySpec, Gyroscopic, JointFrames, JointKind, JointSpec, MechanismBuilder, RotationForce,
};
use sinew_testkit::assert_close;

use crate::support::{
    Run, lump, settings, with_gravity, with_gyroscopic, without_geometric_stiffness, without_gravity,
};

const TOLERANCE: f64 = 1e-10;

#[test]
fn two_bodies_with_a_sprung_hinge_and_joint_error() {
    let golden = fixture();
    let case = &golden["two_body_step"];
    let input = &case["in"];
    let mass = lump(number(&input["m"]), vector(&input["I0"]));
    let mut builder = MechanismBuilder::new();
    let [a, b] = ["a", "b"].map(|name| {
        let pose =
            Pose::new(exp_so3(vector(&input[format!("phi_{name}")])), vector(&input[format!("x_{name}")]));
        let motion = motion(&input[format!("V_{name}")]);
        builder.add_body(BodySpec::dynamic(name, pose, mass).with_motion(motion))
    });
    let frames = JointFrames {
        rotation1: exp_so3(vector(&input["q1"])),
        point1: vector(&input["p1"]),
        rotation2: exp_so3(vector(&input["q2"])),
        point2: vector(&input["p2"]),
    };
    let spring = RotationForce::spring(number(&input["k"]), number(&input["c"]));
    builder.add_joint(JointSpec::new("hinge", JointKind::Hinge, a, Some(b), frames).with_rotation(spring));

    let settings = with_gravity(settings(number(&input["h"])), vector(&input["g"]));
    let mut run = Run::new(builder, with_gyroscopic(settings, Gyroscopic::Explicit));
    let report = run.step();
    assert_close!(run.state.motions[a.index()].to_array(), motion(&case["out"]["v_a"]).to_array(), TOLERANCE);
    assert_close!(run.state.motions[b.index()].to_array(), motion(&case["out"]["v_b"]).to_array(), TOLERANCE);
    // The report speaks of the state the step began with.
    let error: Vec<f64> = (0..5).map(|i| number(&case["out"]["C"][i])).collect();
    let length = |values: &[f64]| values.iter().map(|c| c * c).sum::<f64>().sqrt();
    assert_close!(report.position_error, length(&error[..3]), TOLERANCE);
    assert_close!(report.rotation_error, length(&error[3..]), TOLERANCE);
}

#[test]
fn a_rod_swings_for_a_hundred_steps() {
    let golden = fixture();
    let case = &golden["rod_100_steps"];
    let (input, out) = (&case["in"], &case["out"]);
    let half = DVec3::X * (0.5 * number(&input["length"]));
    let mut builder = MechanismBuilder::new();
    let mass = lump(number(&input["mass"]), vector(&input["I0"]));
    let rod = builder.add_body(BodySpec::dynamic("rod", Pose::from_translation(half), mass));
    let frames = JointFrames::coincident(&Pose::from_translation(half), &Pose::IDENTITY, &Pose::IDENTITY);
    builder.add_joint(JointSpec::new("pin", JointKind::Ball, rod, None, frames));
    let settings = with_gravity(settings(number(&input["h"])), vector(&input["g"]));
    let mut run = Run::new(builder, without_geometric_stiffness(settings));

    let mut worst = 0.0f64;
    for step in 0..100 {
        run.step();
        worst = worst.max(run.worst_anchor());
        if step == 0 {
            assert_close!(run.state.motions[0].angular, vector(&out["first_step"]["w"]), TOLERANCE);
            assert_close!(run.state.motions[0].linear, vector(&out["first_step"]["v"]), TOLERANCE);
        }
    }
    assert_close!(rotation(&run), matrix(&out["R"]), TOLERANCE);
    assert_close!(run.state.poses[0].translation, vector(&out["x"]), TOLERANCE);
    assert_close!(run.state.motions[0].angular, vector(&out["w"]), TOLERANCE);
    assert_close!(run.state.motions[0].linear, vector(&out["v"]), TOLERANCE);
    assert_close!(worst, number(&out["max_abs_C"]), 1e-12);
}

#[test]
fn free_rotation_follows_the_chosen_gyroscopic_treatment() {
    let golden: Value = serde_json::from_str(include_str!("../../../../fixtures/golden/rotation.json"))
        .expect("valid fixture");
    for (name, gyroscopic) in [
        ("free_rotation_implicit_body_1newton", Gyroscopic::Implicit),
        ("free_rotation_momentum", Gyroscopic::Momentum),
    ] {
        let case = &golden["cases"][name];
        let (input, out) = (&case["in"], &case["out"]);
        let mut builder = MechanismBuilder::new();
        let motion = Motion::new(vector(&input["w"]), DVec3::ZERO);
        let body = BodySpec::dynamic("body", Pose::IDENTITY, lump(1.0, vector(&input["I0"])));
        builder.add_body(body.with_motion(motion));
        let settings = without_gravity(settings(number(&input["h"])));
        let mut run = Run::new(builder, with_gyroscopic(settings, gyroscopic));
        run.steps(input["steps"].as_u64().expect("a count") as usize);
        assert_close!(rotation(&run), matrix(&out["R"]), TOLERANCE, "{name}");
        assert_close!(run.state.motions[0].angular, vector(&out["w"]), TOLERANCE, "{name}");
        assert_close!(run.energy().kinetic, number(&out["energy"]), TOLERANCE, "{name}");
    }
}

#[test]
fn free_bodies_make_spin_steps() {
    let mut builder = MechanismBuilder::new();
    let motion = Motion::new(DVec3::new(3.0, 20.0, -8.0), DVec3::ZERO);
    let body = BodySpec::dynamic("body", Pose::IDENTITY, lump(1.0, DVec3::new(0.1, 0.2, 0.25)));
    builder.add_body(body.with_motion(motion));
    let mut run = Run::new(builder, without_gravity(settings(0.01)));
    let inertia = Sym3::diagonal(run.model.principal_moments(BodyId::from_index(0)));
    let (mut turned, mut omega) = (run.state.poses[0].rotation, motion.angular);
    for _ in 0..100 {
        (turned, omega) = spin_step(&inertia, turned, omega, 0.01);
    }
    run.steps(100);
    assert_close!(quat_to_mat3(run.state.poses[0].rotation), quat_to_mat3(turned), 1e-11);
    assert_close!(run.state.motions[0].angular, omega, 1e-10);
}

/// Body axes of the first body; the state itself is in principal axes.
fn rotation(run: &Run) -> DMat3 {
    quat_to_mat3(run.model.body_pose(&run.state, BodyId::from_index(0)).rotation)
}

fn fixture() -> Value {
    serde_json::from_str(include_str!("../../../../fixtures/golden/stiff_joints.json"))
        .expect("valid fixture")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn vector(value: &Value) -> DVec3 {
    DVec3::new(number(&value[0]), number(&value[1]), number(&value[2]))
}

fn motion(value: &Value) -> Motion {
    Motion::from_array(std::array::from_fn(|i| number(&value[i])))
}

/// Given as a list of rows.
fn matrix(value: &Value) -> DMat3 {
    DMat3::from_cols(vector(&value[0]), vector(&value[1]), vector(&value[2])).transpose()
}
