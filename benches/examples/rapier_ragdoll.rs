//! The ragdoll of `crates/sim/examples/ragdoll.rs` in Rapier, for comparison: the same limbs, joints, limits and mouse.

use rapier3d_f64::prelude::{
    ColliderBuilder, GenericJoint, JointAxis, PhysicsWorld, RevoluteJointBuilder, RigidBodyBuilder,
    RigidBodyHandle, SharedShape, SphericalJointBuilder, Vector,
};

/// Name, parent, where it begins and ends (m), radius (m). The joint is where it begins.
type Limb = (&'static str, &'static str, [f64; 3], [f64; 3], f64);

const LIMBS: [Limb; 15] = [
    ("pelvis", "", [0.0, -0.1, 1.0], [0.0, 0.1, 1.0], 0.12),
    ("belly", "pelvis", [0.0, 0.0, 1.1], [0.0, 0.0, 1.2], 0.12),
    ("chest", "belly", [0.0, 0.0, 1.3], [0.0, 0.0, 1.4], 0.14),
    ("head", "chest", [0.0, 0.0, 1.6], [0.0, 0.0, 1.7], 0.1),
    ("left arm", "chest", [0.0, 0.2, 1.5], [0.0, 0.5, 1.5], 0.05),
    ("left forearm", "left arm", [0.0, 0.5, 1.5], [0.0, 0.75, 1.5], 0.04),
    ("left hand", "left forearm", [0.0, 0.75, 1.5], [0.0, 0.85, 1.5], 0.04),
    ("right arm", "chest", [0.0, -0.2, 1.5], [0.0, -0.5, 1.5], 0.05),
    ("right forearm", "right arm", [0.0, -0.5, 1.5], [0.0, -0.75, 1.5], 0.04),
    ("right hand", "right forearm", [0.0, -0.75, 1.5], [0.0, -0.85, 1.5], 0.04),
    ("left thigh", "pelvis", [0.0, 0.1, 0.9], [0.0, 0.1, 0.55], 0.08),
    ("left shin", "left thigh", [0.0, 0.1, 0.5], [0.0, 0.1, 0.15], 0.06),
    ("right thigh", "pelvis", [0.0, -0.1, 0.9], [0.0, -0.1, 0.55], 0.08),
    ("right shin", "right thigh", [0.0, -0.1, 0.5], [0.0, -0.1, 0.15], 0.06),
    ("left foot", "left shin", [0.0, 0.1, 0.08], [0.15, 0.1, 0.08], 0.05),
];

fn vector(v: [f64; 3]) -> Vector {
    Vector::new(v[0], v[1], v[2])
}

/// Knees and elbows bend one way, everything else is a ball with limits about its three axes.
fn joint(name: &str, on_parent: Vector) -> GenericJoint {
    let bends = |axis: Vector| {
        let hinge = RevoluteJointBuilder::new(axis).limits([0.0, 2.4]);
        hinge.local_anchor1(on_parent).contacts_enabled(false).into()
    };
    match name {
        "left shin" | "right shin" => bends(Vector::Y),
        "left forearm" => bends(-Vector::Z),
        "right forearm" => bends(Vector::Z),
        _ => {
            let ball = SphericalJointBuilder::new().local_anchor1(on_parent).contacts_enabled(false);
            let axes = [JointAxis::AngX, JointAxis::AngY, JointAxis::AngZ];
            axes.into_iter().fold(ball, |ball, axis| ball.limits(axis, [-0.8, 0.8])).into()
        }
    }
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters.dt = 1.0 / 60.0;
    world.insert_collider(ColliderBuilder::new(SharedShape::halfspace(Vector::Z)), None);
    let mut placed: Vec<(&str, RigidBodyHandle, Vector)> = Vec::new();
    for (name, parent, from, to, radius) in LIMBS {
        let at = vector(from) + Vector::Z * 0.5;
        let shape = ColliderBuilder::capsule_from_endpoints(Vector::ZERO, vector(to) - vector(from), radius);
        let (body, _) = world.insert(RigidBodyBuilder::dynamic().translation(at), shape.density(1000.0));
        if let Some(&(_, parent, parent_at)) = placed.iter().find(|(known, ..)| *known == parent) {
            world.insert_impulse_joint(parent, body, joint(name, at - parent_at));
        }
        placed.push((name, body, at));
    }
    let Some(&(_, hand, _)) = placed.iter().find(|(name, ..)| *name == "right hand") else { return };
    let mut mouse: Option<(RigidBodyHandle, Vector)> = None;
    for step in 0..300 {
        if step >= 90 {
            let here = world.bodies[hand].translation();
            let (held, at) = mouse.get_or_insert_with(|| {
                let held = world.insert_body(RigidBodyBuilder::kinematic_position_based().translation(here));
                world.insert_impulse_joint(held, hand, SphericalJointBuilder::new());
                (held, here)
            });
            *at += (Vector::new(1.0, 0.0, 2.5) - *at) * 0.02;
            world.bodies[*held].set_next_kinematic_translation(*at);
        }
        world.step();
    }
    println!("after 5 s the hand is {:.2} m up", world.bodies[hand].translation().z);
}
