//! The same links in Rapier, tied by impulse joints, with its default settings.
//!
//! Bodies have no colliders, so that only dynamics is timed, and never sleep.

use crate::{LinkJoint, Links, Subject};
use rapier3d_f64::prelude::{
    GenericJoint, MassProperties, MotorModel, PhysicsWorld, Pose, RevoluteJointBuilder, RigidBodyBuilder,
    RigidBodyHandle, Rotation, SphericalJointBuilder, Vector,
};
use sinew_mechanism::Settings;

/// Links in a Rapier world.
pub(crate) struct RapierRun {
    world: PhysicsWorld,
    n_links: usize,
}

impl RapierRun {
    /// At the beginning of its motion, with Sinew's default gravity and step length.
    ///
    /// # Panics
    /// Balls with springs are not offered: Rapier has motors along single angles only.
    pub(crate) fn new(links: &Links) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = vector(Settings::default().gravity);
        world.integration_parameters.dt = Settings::default().dt;
        let ground = world.insert_body(RigidBodyBuilder::fixed());
        let mut bodies: Vec<RigidBodyHandle> = Vec::with_capacity(links.links.len());
        for link in &links.links {
            // The axes of a box are principal.
            let inertia = link.mass.inertia.diagonal_entries();
            let mass = MassProperties::new(Vector::ZERO, link.mass.mass, vector(inertia));
            let rotation = link.pose.rotation;
            let rotation = Rotation::from_xyzw(rotation.x, rotation.y, rotation.z, rotation.w);
            let pose = Pose::from_parts(vector(link.pose.translation), rotation);
            let body =
                RigidBodyBuilder::dynamic().pose(pose).additional_mass_properties(mass).can_sleep(false);
            let body = world.insert_body(body);
            let parent = link.parent.map_or(ground, |parent| bodies[parent]);
            let joint = joint(links.joint, vector(link.parent_anchor), vector(link.anchor));
            world.insert_impulse_joint(parent, body, joint);
            bodies.push(body);
        }
        Self { world, n_links: links.links.len() }
    }

    /// Largest distance between the two anchors of a joint, m.
    pub(crate) fn anchor_error(&self) -> f64 {
        let distances = self.world.impulse_joints().map(|(_, joint)| {
            let place = |body: RigidBodyHandle, anchor: Vector| *self.world.bodies[body].position() * anchor;
            let on_parent = place(joint.body1(), joint.data.local_anchor1());
            on_parent.distance(place(joint.body2(), joint.data.local_anchor2()))
        });
        distances.fold(0.0, |largest, distance| if distance <= largest { largest } else { distance })
    }
}

impl Subject for RapierRun {
    fn n_links(&self) -> usize {
        self.n_links
    }

    /// Nothing: without contacts the cost of a step does not depend on the motion, which simply goes on.
    fn save(&mut self) {}

    /// Nothing, see [`Subject::save`].
    fn restore(&mut self) {}

    fn step(&mut self) {
        self.world.step();
    }

    fn digest(&self) -> Option<u64> {
        None
    }
}

fn joint(joint: LinkJoint, anchor1: Vector, anchor2: Vector) -> GenericJoint {
    match joint {
        LinkJoint::Hinge(stiffness) => {
            let hinge = RevoluteJointBuilder::new(Vector::Y).local_anchor1(anchor1).local_anchor2(anchor2);
            if stiffness > 0.0 {
                let hinge = hinge.motor_model(MotorModel::ForceBased);
                hinge.motor_position(0.0, stiffness, joint.damping()).into()
            } else {
                hinge.into()
            }
        }
        LinkJoint::Ball(stiffness) => {
            assert!(stiffness <= 0.0, "Rapier's spherical joints have no angle-axis spring");
            SphericalJointBuilder::new().local_anchor1(anchor1).local_anchor2(anchor2).into()
        }
    }
}

fn vector(v: glam::DVec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}
