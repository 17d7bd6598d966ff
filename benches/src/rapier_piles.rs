//! Piles of boxes in Rapier, with its default settings and impulse joints. Boxes never sleep.

use glam::{DQuat, DVec3};
use rapier3d_f64::prelude::{
    ColliderBuilder, GenericJoint, PhysicsWorld, Pose, RevoluteJointBuilder, RigidBodyBuilder,
    RigidBodyHandle, Rotation, SharedShape, SphericalJointBuilder, Vector,
};
use sinew_mechanism::Settings;
use sinew_soak::{DENSITY, FRICTION, PileJoint, PileParts, PileWorld, PlacedBox};

/// A pile in a Rapier world.
pub(crate) struct RapierPile {
    world: PhysicsWorld,
    boxes: Vec<RigidBodyHandle>,
}

impl RapierPile {
    /// Boxes above the ground, and their joints.
    pub(crate) fn new(parts: &PileParts) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = vector(Settings::default().gravity);
        world.integration_parameters.dt = Settings::default().dt;
        world.insert_collider(
            ColliderBuilder::new(SharedShape::halfspace(Vector::Z)).friction(FRICTION),
            None,
        );
        let boxes = parts.boxes.iter().map(|PlacedBox { pose, half }| {
            let q = pose.rotation;
            let pose = Pose::from_parts(vector(pose.translation), Rotation::from_xyzw(q.x, q.y, q.z, q.w));
            let body = RigidBodyBuilder::dynamic().pose(pose).can_sleep(false);
            let shape = ColliderBuilder::cuboid(half.x, half.y, half.z).density(DENSITY).friction(FRICTION);
            world.insert(body, shape).0
        });
        let boxes: Vec<RigidBodyHandle> = boxes.collect();
        for joint in &parts.joints {
            let made = made(joint, &parts.boxes);
            world.insert_impulse_joint(boxes[joint.parent], boxes[joint.child], made);
        }
        Self { world, boxes }
    }
}

/// A joint; the boxes of a joint have parallel axes at the start.
fn made(joint: &PileJoint, boxes: &[PlacedBox]) -> GenericJoint {
    let [parent, child] = [joint.parent, joint.child].map(|i| boxes[i].pose.inverse());
    let [on_parent, on_child] = [parent, child].map(|local| vector(local.transform_point(joint.anchor)));
    match joint.axis {
        Some(axis) => {
            let hinge = RevoluteJointBuilder::new(vector(child.rotation * axis));
            hinge.local_anchor1(on_parent).local_anchor2(on_child).contacts_enabled(false).into()
        }
        None => {
            let ball = SphericalJointBuilder::new();
            ball.local_anchor1(on_parent).local_anchor2(on_child).contacts_enabled(false).into()
        }
    }
}

fn vector(v: DVec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

impl PileWorld for RapierPile {
    fn step(&mut self) {
        self.world.step();
    }

    fn poses(&self) -> Vec<sinew_math::Pose> {
        let pose = |&it: &RigidBodyHandle| {
            let pose = self.world.bodies[it].position();
            let (p, q) = (pose.translation, pose.rotation);
            sinew_math::Pose::new(DQuat::from_xyzw(q.x, q.y, q.z, q.w), DVec3::new(p.x, p.y, p.z))
        };
        self.boxes.iter().map(pose).collect()
    }

    fn energy(&self) -> f64 {
        let of = |&it: &RigidBodyHandle| {
            let body = &self.world.bodies[it];
            let height = body.center_of_mass().z;
            body.kinetic_energy() - body.mass() * self.world.gravity.z * height
        };
        self.boxes.iter().map(of).sum()
    }

    fn speed(&self) -> f64 {
        self.boxes.iter().map(|&it| self.world.bodies[it].linvel().length()).fold(0.0, f64::max)
    }
}
