//! Multipliers and joint wrenches have one sign (docs/notation.md): what holds a hanging body points up wherever it is told.

use glam::DVec3;
use sinew_math::{MassProperties, Pose};
use sinew_mechanism::{BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder};
use sinew_recursive::{Dynamics, HybridCommand, LoopDynamics, LoopedTree, TreeLoads, TreeState};
use sinew_topology::Priority;

/// A body of 2 kg on a ball joint of the tree, or of a loop; what holds it, by each way to ask.
fn holding(priority: Priority) -> Vec<DVec3> {
    let mut builder = MechanismBuilder::new();
    let mass = MassProperties::cuboid(DVec3::ONE, 2.0);
    let body = builder.add_body(BodySpec::dynamic("body", Pose::IDENTITY, mass));
    let frames = JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &Pose::IDENTITY);
    let pin = JointSpec::new("pin", JointKind::Ball, body, None, frames).with_priority(priority);
    let pin = builder.add_joint(pin);
    let model = builder.build().expect("valid");
    let looped = LoopedTree::from_model(&model).expect("a tree with loops");
    let (tree, mut loops) = (looped.tree(), LoopDynamics::new(&looped));
    let mut dynamics = Dynamics::new(tree);
    dynamics.kinematics(tree, &TreeState::from_mechanism(tree, &model.initial_state()));
    let loads = TreeLoads::gravity(DVec3::Z * -9.81);
    let _ = loops.respond(&looped, &mut dynamics, &HybridCommand::passive(tree), &loads);
    match loops.reaction(&looped, pin) {
        Some(reaction) => vec![reaction.linear, DVec3::from_slice(loops.multipliers())],
        None => vec![dynamics.reaction(tree.link(body).expect("dynamic")).linear],
    }
}

#[test]
fn joints_hold_a_hanging_body_up() {
    for (priority, n_ways) in [(Priority::Primary, 1), (Priority::Secondary, 2)] {
        let forces = holding(priority);
        assert_eq!(forces.len(), n_ways);
        for force in forces {
            assert!((force - DVec3::Z * 19.62).length() < 1e-9, "{priority:?}: {force}");
        }
    }
}
