//! What has no reduced form is refused by name.

use glam::DVec3;
use sinew_math::{MassProperties, Pose, Sym3, exp_so3};
use sinew_mechanism::{BodyId, BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder};
use sinew_recursive::{Dynamics, HybridCommand, JointMatrices, RecursiveError, Tree};

fn frames() -> JointFrames {
    JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &Pose::IDENTITY)
}

fn body(builder: &mut MechanismBuilder, name: &str) -> BodyId {
    let mass = MassProperties::cuboid(DVec3::ONE, 1.0);
    builder.add_body(BodySpec::dynamic(name, Pose::IDENTITY, mass))
}

fn refused(builder: MechanismBuilder) -> RecursiveError {
    Tree::from_model(&builder.build().expect("a valid mechanism")).expect_err("not a tree")
}

#[test]
fn loops() {
    let mut builder = MechanismBuilder::new();
    let (a, b) = (body(&mut builder, "a"), body(&mut builder, "b"));
    builder.add_joint(JointSpec::new("one", JointKind::Hinge, a, None, frames()));
    builder.add_joint(JointSpec::new("two", JointKind::Hinge, b, Some(a), frames()));
    builder.add_joint(
        JointSpec::new("three", JointKind::Ball, b, None, frames())
            .with_priority(sinew_topology::Priority::Secondary),
    );
    assert_eq!(refused(builder), RecursiveError::Loop { joint: "three".into() });
}

#[test]
fn kinematic_bases() {
    let mut builder = MechanismBuilder::new();
    let hand = builder.add_body(BodySpec::kinematic("hand", Pose::IDENTITY));
    let tool = body(&mut builder, "tool");
    builder.add_joint(JointSpec::new("grip", JointKind::Hinge, tool, Some(hand), frames()));
    let error = refused(builder);
    assert_eq!(error, RecursiveError::KinematicBase { joint: "grip".into(), body: "hand".into() });
    assert!(error.to_string().contains("hand"));
}

#[test]
fn needles_that_turn_about_themselves() {
    let thin = Sym3::diagonal(DVec3::new(1e-25, 1.0, 1.0));
    let mass = MassProperties { mass: 1.0, com: DVec3::ZERO, inertia: thin };
    let mut builder = MechanismBuilder::new();
    let needle = builder.add_body(BodySpec::dynamic("needle", Pose::IDENTITY, mass));
    let tilted = exp_so3(DVec3::new(0.3, 0.5, -0.4));
    let frames = JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &Pose::from_rotation(tilted));
    builder.add_joint(JointSpec::new("pin", JointKind::Ball, needle, None, frames));
    assert_eq!(refused(builder), RecursiveError::Singular { body: "needle".into(), direction: 2 });
}

#[test]
fn mass_that_makes_no_sense() {
    let mut builder = MechanismBuilder::new();
    let bone = body(&mut builder, "bone");
    let model = builder.build().expect("valid");
    let mut tree = Tree::from_model(&model).expect("a tree");
    let link = tree.link(bone).expect("dynamic");
    let before = tree.inertia(link);
    for mass in [-1.0, f64::NAN] {
        let bad = MassProperties { mass, com: DVec3::ZERO, inertia: Sym3::ZERO };
        let error = tree.add_mass(link, &bad).expect_err("no mass");
        assert!(matches!(&error, RecursiveError::InvalidMass { body, .. } if body == "bone"));
    }
    assert_eq!(tree.inertia(link), before);
}

#[test]
fn numbers_that_are_not_finite_are_reported_not_fatal() {
    let mut builder = MechanismBuilder::new();
    let bone = body(&mut builder, "bone");
    builder.add_joint(JointSpec::new("pin", JointKind::Hinge, bone, None, frames()));
    let tree = Tree::from_model(&builder.build().expect("valid")).expect("a tree");
    let mut state = tree.neutral_state();
    state.coordinates[0] = f64::NAN;
    assert!(!state.is_finite());
    let mut dynamics = Dynamics::new(&tree);
    let report = dynamics.hybrid(&tree, &state, &HybridCommand::passive(&tree), DVec3::NEG_Z, &[]);
    assert_eq!(report.singular.map(|(link, _)| link), tree.link(bone));
    let mut matrices = JointMatrices::new(&tree);
    let report = matrices.forward(&tree, &mut dynamics, &[0.0], DVec3::NEG_Z, &[]);
    assert_eq!(report.singular.map(|(link, _)| link), tree.link(bone));
}
